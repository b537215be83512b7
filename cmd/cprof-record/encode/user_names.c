#include "cmd/cprof-record/encode/user_names.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { FILE_MOST = 1 << 20 }; /* bytes */

/* Takes a line "alice:x:1000:..."; any other is left out. */
static void take_line(struct user_names *u, char *line)
{
	char *password = strchr(line, ':'), *uid = password ? strchr(password + 1, ':') : NULL, *end;
	unsigned long number;
	uint32_t name, known;

	if (!uid || password == line)
		return;
	number = strtoul(uid + 1, &end, 10);
	if (end == uid + 1 || *end != ':' || number >= UINT32_MAX || idmap_find(&u->by_uid, number, &known))
		return;
	if (intern_add(&u->names, (struct slice){ (uint8_t *)line, (size_t)(password - line) }, &name))
		idmap_set(&u->by_uid, number, name);
}

/* Reads as much of the file as fits. Returns the number of bytes. */
static size_t read_text(int fd, char *text, size_t most)
{
	size_t n = 0;
	ssize_t got;

	while (n < most && (got = read(fd, text + n, most - n)) > 0)
		n += (size_t)got;
	return n;
}

void user_names_read(struct user_names *u)
{
	char *text = malloc(FILE_MOST + 1), *rest = text, *line;
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	intern_init(&u->names);
	idmap_init(&u->by_uid);
	if (fd >= 0 && text) {
		text[read_text(fd, text, FILE_MOST)] = '\0';
		while ((line = strsep(&rest, "\n")))
			take_line(u, line);
	}
	if (fd >= 0)
		close(fd);
	free(text);
}

void user_names_release(struct user_names *u)
{
	intern_release(&u->names);
	idmap_release(&u->by_uid);
}

struct slice user_names_find(const struct user_names *u, uint32_t uid)
{
	uint32_t name;

	return idmap_find(&u->by_uid, uid, &name) ? intern_get(&u->names, name) : (struct slice){ NULL, 0 };
}
