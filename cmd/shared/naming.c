#include "cmd/shared/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/shared/operands/operand_file.h"
#include "cmd/shared/sibling.h"
#include "cmd/shared/symbol_files.h"
#include "common/capture/capture.h"
#include "common/locate/identity.h"
#include "common/profile/sanitize.h"
#include "common/stream/block.h"
#include "common/stream/reader.h"

enum { ID_MAX = 64, FILES_SHOWN = 3, ARGUMENTS = 16 };

/* The text of a header field, "" if it is unknown or too long. */
static void note_text(char to[ID_MAX], struct slice text)
{
	snprintf(to, ID_MAX, "%.*s", text.n < ID_MAX ? (int)text.n : 0, (const char *)text.p);
}

/* Reads to the first name or to a segment of another machine, and returns whether there is neither. */
static bool lacks_names(struct reader *r)
{
	char machine[ID_MAX] = "", boot[ID_MAX] = "";
	bool samples = false;
	struct record rec;

	while (reader_next(r, &rec) > 0) {
		if (rec.type == RECORD_SYMBOL || rec.type == RECORD_SOURCE)
			return false;
		if (rec.type == RECORD_SEGMENT)
			machine[0] = boot[0] = '\0';
		if (rec.type == RECORD_META && slice_is(rec.meta.key, "machine-id"))
			note_text(machine, rec.meta.value);
		if (rec.type == RECORD_META && slice_is(rec.meta.key, "boot-id"))
			note_text(boot, rec.meta.value);
		if (rec.type != RECORD_FRAME)
			continue;
		if (!samples && identity_host(slice_of(machine), slice_of(boot)) == HOST_OTHER)
			return false;
		samples = true;
	}
	return samples;
}

/*
 * Whether the operand is a file with a capture without names, of this machine. Leaves it at its beginning:
 * one that is being decompressed is opened again.
 */
static bool is_unnamed(int *fd, const char *path)
{
	bool plain = lseek(*fd, 0, SEEK_CUR) >= 0, unnamed = false;
	uint8_t start[BLOCK_SYNC_BYTES];
	struct slice taken = { start, 0 };
	struct stat st;

	if (strcmp(path, "-") == 0 || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	taken.n = operand_peek(*fd, path, start, sizeof(start), sizeof(start));
	if (taken.n == sizeof(start) && memcmp(start, BLOCK_SYNC, sizeof(start)) == 0) {
		struct reader *r = reader_new(*fd, path);

		if (!r)
			cli_no_memory();
		reader_unread(r, taken);
		unnamed = lacks_names(r);
		reader_free(r);
	}
	if (plain)
		return lseek(*fd, 0, SEEK_SET) == 0 && unnamed;
	operand_drop(*fd);
	*fd = operand_open(path);
	return unnamed;
}

/* Appends the options that say where files are. */
static size_t add_files(const struct symbol_files *s, const char **argv, size_t n)
{
	for (size_t i = 0; s && i < s->n_debug_dirs; i++) {
		argv[n++] = "--debug-dir";
		argv[n++] = s->debug_dirs[i];
	}
	if (s && s->symfs) {
		argv[n++] = "--symfs";
		argv[n++] = s->symfs;
	}
	if (s && s->debuginfod)
		argv[n++] = "--debuginfod";
	return n;
}

/* The messages of cprof-sym are left out: naming_report and the views have their own. */
static void run_sym(const struct filters *f, int fd, int to)
{
	const char *argv[ARGUMENTS + 2 * SYMBOL_FILES_DIRS_MAX] = { "cprof-sym" };
	const struct view *v = &f->view;
	size_t n = 1;
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (v->inlined)
		argv[n++] = "-i";
	if (v->lines || view_has_key(v, BY_LINE) || view_has_key(v, BY_FILE))
		argv[n++] = "-l";
	n = add_files(f->files, argv, n);
	dup2(null, STDERR_FILENO);
	dup2(fd, STDIN_FILENO);
	dup2(to, STDOUT_FILENO);
	sibling_exec((char **)argv);
}

/* Starts cprof-sym. Returns the descriptor of its output, -1 if it cannot run. */
static int start_sym(struct naming *n, const struct filters *f, int fd)
{
	struct pollfd ready = { .events = POLLIN };
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	n->pid = fork();
	if (n->pid == 0)
		run_sym(f, fd, ends[1]);
	close(ends[1]);
	ready.fd = ends[0];
	while (n->pid > 0 && poll(&ready, 1, -1) < 0 && errno == EINTR)
		;
	if (n->pid > 0 && (ready.revents & POLLIN))
		return ends[0];
	close(ends[0]);
	if (n->pid > 0)
		waitpid(n->pid, NULL, 0);
	n->pid = 0;
	return -1;
}

/* Other views, as those by process, show no names of functions, and expressions can match such names. */
static bool wants_names(const struct filters *f)
{
	const struct transform *t = &f->shape;

	return t->match || t->focus || t->exclude || t->base || view_names_functions(&f->view);
}

static void note_name(struct intern *names, struct slice name)
{
	uint32_t id;

	if (!intern_add(names, name, &id))
		cli_no_memory();
}

int naming_open(struct naming *n, struct filters *f, const char *path)
{
	int fd = operand_open(path), named;

	*n = (struct naming){ 0 };
	if (!f->names || !wants_names(f) || !is_unnamed(&fd, path))
		return fd;
	named = start_sym(n, f, fd);
	if (named < 0) {
		lseek(fd, 0, SEEK_SET);
		return fd;
	}
	operand_pass(fd, named);
	note_name(&f->notes.named, slice_of(path));
	f->notes.naming = true;
	return named;
}

enum status naming_close(struct naming *n, struct filters *f, int fd)
{
	enum status closed = operand_close(fd);
	int status = 0;

	f->notes.naming = false;
	if (!n->pid)
		return closed;
	while (waitpid(n->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_SYSTEM)
		cli_warn("cprof-sym failed: some names may be missing");
	return closed;
}

void naming_hint(struct filters *f, const char *name, const struct gather_sums *sums)
{
	if (f->hints && !sums->symbols && sums->unresolved && wants_names(f))
		note_name(&f->notes.unnamed, slice_of(name));
}

void naming_source(struct filters *f, const struct capture *c, const struct record_source *r)
{
	struct buf text = { 0 };

	if (!f->notes.naming || r->file >= c->n_files || !capture_path_is_file(c->files[r->file].path))
		return;
	if (r->status != SOURCE_NO_FILE && r->status != SOURCE_MISMATCH && r->status != SOURCE_CHANGED &&
	    r->status != SOURCE_PERMISSION && r->status != SOURCE_DAMAGED)
		return;
	sanitize_append(&text, c->files[r->file].path);
	buf_printf(&text, " (%s)", source_status_name(r->status));
	if (text.failed)
		cli_no_memory();
	note_name(&f->notes.missing, buf_view(&text));
	buf_release(&text);
}

/* Reports the operands and forgets them, for the next side. */
static void report_operands(struct intern *names, const char *what)
{
	if (names->n == 1)
		cli_warn("%s: no names: %s", (const char *)intern_get(names, 0).p, what);
	else if (names->n)
		cli_warn("%zu captures have no names: %s", (size_t)names->n, what);
	intern_release(names);
}

void naming_append_missing(const struct filters *f, struct buf *out)
{
	const struct intern *missing = &f->notes.missing;

	for (uint32_t i = 0; i < missing->n && i < FILES_SHOWN; i++)
		buf_printf(out, "%s%s", i ? ", " : "; names are missing: ",
			   (const char *)intern_get(missing, i).p);
	if (missing->n > FILES_SHOWN)
		buf_printf(out, " and %zu more files", (size_t)missing->n - FILES_SHOWN);
}

void naming_report(struct filters *f)
{
	struct buf missing = { 0 };

	report_operands(&f->notes.named, "read through cprof-sym (--no-names prevents it)");
	report_operands(&f->notes.unnamed, "run cprof-sym");
	naming_append_missing(f, &missing);
	if (missing.failed)
		cli_no_memory();
	if (missing.n)
		cli_warn("%s", buf_cstr(&missing) + strlen("; "));
	buf_release(&missing);
}
