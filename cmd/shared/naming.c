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
#include "common/locate/identity.h"
#include "common/stream/block.h"
#include "common/stream/reader.h"

enum { ID_MAX = 64 };

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

/* The messages of cprof-sym are left out: the view has its own counts of frames without a name. */
static void run_sym(const struct view *v, int fd, int to)
{
	const char *argv[] = { "cprof-sym", NULL, NULL, NULL };
	size_t n = 1;
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (v->inlined)
		argv[n++] = "-i";
	if (v->lines || view_has_key(v, BY_LINE) || view_has_key(v, BY_FILE))
		argv[n++] = "-l";
	dup2(null, STDERR_FILENO);
	dup2(fd, STDIN_FILENO);
	dup2(to, STDOUT_FILENO);
	sibling_exec((char **)argv);
}

/* Starts cprof-sym. Returns the descriptor of its output, -1 if it cannot run. */
static int start_sym(struct naming *n, const struct view *v, int fd)
{
	struct pollfd ready = { .events = POLLIN };
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	n->pid = fork();
	if (n->pid == 0)
		run_sym(v, fd, ends[1]);
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

int naming_open(struct naming *n, const struct filters *f, const char *path)
{
	int fd = operand_open(path), named;

	*n = (struct naming){ 0 };
	if (!f->names || f->watch || !wants_names(f) || !is_unnamed(&fd, path))
		return fd;
	named = start_sym(n, &f->view, fd);
	if (named < 0) {
		lseek(fd, 0, SEEK_SET);
		return fd;
	}
	operand_pass(fd, named);
	cli_warn("%s: no names: read through cprof-sym (--no-names prevents it)", path);
	return named;
}

enum status naming_close(struct naming *n, int fd)
{
	enum status closed = operand_close(fd);
	int status = 0;

	if (!n->pid)
		return closed;
	while (waitpid(n->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_SYSTEM)
		cli_warn("cprof-sym failed: some names may be missing");
	return closed;
}

void naming_hint(const struct filters *f, const char *name, const struct gather_sums *sums)
{
	if (f->hints && !sums->symbols && sums->unresolved && wants_names(f))
		cli_warn("%s: no names: run cprof-sym", name);
}
