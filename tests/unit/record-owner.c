/*
 * Prints the user to which the opener attributes a file that a process has mapped, and whether it is a copy.
 *	record-owner PID NAME
 * NAME is the end of its path. Prints "none" if it cannot be opened.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/cprof-record/helper/opener.h"
#include "cmd/cprof-record/host/host.h"

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n >= k && strcmp(text + n - k, end) == 0;
}

/* Finds the executable mapping. */
static bool find_mapping(const char *pid, const char *name, struct opener_question *q, char *path)
{
	char file[64], line[4096], prot[8];
	unsigned int major, minor;
	bool found = false;
	FILE *f;

	snprintf(file, sizeof(file), "/proc/%s/maps", pid);
	f = fopen(file, "r");
	while (!found && f && fgets(line, sizeof(line), f))
		found = sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*x %x:%x %" SCNu64 " %4095s",
			       &q->start, &q->end,
			       prot, &major, &minor, &q->inode, path) == 7 &&
			prot[2] == 'x' && ends_with(path, name);
	if (f)
		fclose(f);
	q->major = major;
	q->minor = minor;
	return found;
}

int main(int argc, char **argv)
{
	struct opener_question q = { .want = OPENER_FILE, .id = 1 };
	struct opener *o = opener_new();
	struct opener_answer a;
	char path[4096];

	if (argc != 3 || !o || !find_mapping(argv[1], argv[2], &q, path))
		return 2;
	q.pid = (uint32_t)strtoul(argv[1], NULL, 10);
	q.path = slice_of(path);
	if (!opener_wait(o, &q, &a) || a.fd < 0)
		puts("none");
	else
		printf("%u %s\n", (unsigned int)a.uid, a.copied ? "copy" : "file");
	opener_free(o);
	return 0;
}
