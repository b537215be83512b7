#include "cmd/cprof-record/config/code_files.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cprof-record/config/probe_spec.h"
#include "common/elf/parts.h"

enum { SCRIPTS_MOST = 4, LINE = 256 };

/* Joins a directory and a name. Returns true if such a file can be read; to is its path. */
static bool is_in(const char *dir, size_t n, const char *name, struct buf *to)
{
	buf_clear(to);
	buf_printf(to, "%.*s/%s", (int)n, n ? dir : ".", name);
	return !to->failed && access(buf_cstr(to), R_OK) == 0;
}

static bool is_on_path(const char *dirs, const char *name, struct buf *to)
{
	while (dirs) {
		size_t n = strcspn(dirs, ":");

		if (is_in(dirs, n, name, to))
			return true;
		dirs = dirs[n] ? dirs + n + 1 : NULL;
	}
	return false;
}

/* Finds a command as execvp(3) does. */
static bool find_command(const char *name, struct buf *to)
{
	if (!strchr(name, '/'))
		return is_on_path(getenv("PATH"), name, to);
	buf_clear(to);
	buf_text(to, name);
	return !to->failed;
}

/* Takes the interpreter from a script's first line: of env(1), its argument. False: there is none. */
static bool take_interpreter(char *line, struct buf *to)
{
	char *rest = line + 2, *word, *first = NULL;

	while ((word = strsep(&rest, " \t\n"))) {
		bool is_env =
			first && strcmp(strrchr(first, '/') ? strrchr(first, '/') + 1 : first, "env") == 0;

		if (!*word || (first && (*word == '-' || strchr(word, '='))))
			continue;
		if (first && !is_env)
			break;
		if (first)
			return find_command(word, to);
		first = word;
	}
	return first && find_command(first, to);
}

/* Follows scripts to an executable. */
static bool find_executable(const char *name, struct buf *to)
{
	struct buf unused = { 0 };
	bool good = find_command(name, to);

	for (int i = 0; good && i < SCRIPTS_MOST; i++) {
		char line[LINE + 1];
		ssize_t n;
		int fd;

		buf_clear(&unused);
		if (probe_open_file(buf_cstr(to), &fd, &unused) != EVENT_FOUND) {
			good = false;
			break;
		}
		n = pread(fd, line, LINE, 0);
		close(fd);
		if (n < 2 || line[0] != '#' || line[1] != '!')
			break;
		line[n] = '\0';
		line[strcspn(line, "\n")] = '\0';
		good = take_interpreter(line, to);
	}
	buf_release(&unused);
	return good;
}

struct libraries {
	const char *executable;
	char *own; /* its own directories, or NULL */
	code_files_fn *look;
	void *arg;
};

static bool is_library(const struct libraries *l, const char *name, struct buf *to)
{
	static const char usual[] =
		"/usr/local/lib:/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:"
		"/lib/aarch64-linux-gnu:/usr/lib/aarch64-linux-gnu:/lib64:/usr/lib64:/lib:"
		"/usr/lib";

	return is_on_path(l->own, name, to) || is_on_path(getenv("LD_LIBRARY_PATH"), name, to) ||
	       is_on_path(usual, name, to);
}

/* Takes DT_RUNPATH with $ORIGIN as the executable's directory. */
static char *own_directories(const struct libraries *l, const char *text)
{
	const char *slash = strrchr(l->executable, '/'), *origin;
	struct buf out = { 0 };
	char *copy;

	while ((origin = strstr(text, "$ORIGIN"))) {
		buf_printf(&out, "%.*s%.*s", (int)(origin - text), text,
			   (int)(slash ? slash - l->executable : 1), slash ? l->executable : ".");
		text = origin + strlen("$ORIGIN");
	}
	buf_text(&out, text);
	copy = out.failed ? NULL : strdup(buf_cstr(&out));
	buf_release(&out);
	return copy;
}

static bool look_at_libraries(struct libraries *l, Elf *elf)
{
	GElf_Shdr sh;
	Elf_Scn *scn = elf_find_section(elf, ".dynamic", &sh);
	Elf_Data *data = scn && sh.sh_type == SHT_DYNAMIC && sh.sh_entsize ? elf_getdata(scn, NULL) : NULL;
	struct buf path = { 0 };
	bool found = false;
	GElf_Dyn d;

	/* The directories first: they may come after the names. */
	for (int pass = 0; data && pass < 2; pass++) {
		for (int i = 0; !found && i < INT16_MAX && gelf_getdyn(data, i, &d) && d.d_tag != DT_NULL;
		     i++) {
			const char *text = elf_strptr(elf, sh.sh_link, d.d_un.d_val);

			if (pass == 0 && text && !l->own && (d.d_tag == DT_RUNPATH || d.d_tag == DT_RPATH))
				l->own = own_directories(l, text);
			else if (pass == 1 && text && d.d_tag == DT_NEEDED && !strchr(text, '/'))
				found = is_library(l, text, &path) && l->look(l->arg, buf_cstr(&path));
		}
	}
	buf_release(&path);
	return found;
}

bool code_files_of_command(const char *name, code_files_fn *look, void *arg)
{
	struct buf path = { 0 }, unused = { 0 };
	struct libraries l = { .look = look, .arg = arg };
	struct elf_file *f = NULL;
	bool found = false;
	int fd = -1;

	if (find_executable(name, &path)) {
		l.executable = buf_cstr(&path);
		found = look(arg, l.executable);
	}
	if (!found && l.executable && probe_open_file(l.executable, &fd, &unused) == EVENT_FOUND &&
	    probe_open_elf(l.executable, fd, &f, &unused) == EVENT_FOUND)
		found = look_at_libraries(&l, f->elf);
	elf_close(f);
	if (fd >= 0)
		close(fd);
	free(l.own);
	buf_release(&path);
	buf_release(&unused);
	return found;
}
