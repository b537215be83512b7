#include "cmd/shared/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Whether the file is a capture without names, of this machine. Leaves the file at its beginning. */
static bool is_unnamed(int fd, const char *path)
{
	uint8_t start[BLOCK_SYNC_BYTES];
	struct reader *r;
	struct stat st;
	bool unnamed;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    pread(fd, start, sizeof(start), 0) != sizeof(start) ||
	    memcmp(start, BLOCK_SYNC, sizeof(start)) != 0)
		return false;
	r = reader_new(fd, path);
	if (!r)
		cli_no_memory();
	unnamed = lacks_names(r);
	reader_free(r);
	return lseek(fd, 0, SEEK_SET) == 0 && unnamed;
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

	return t->match || t->focus || t->exclude || t->base || f->view.whole ||
	       view_has_key(&f->view, BY_SYSCALL) ||
	       (view_frame_keys(&f->view) & ~(1u << BY_MODULE | 1u << BY_LANGUAGE));
}

int naming_open(struct naming *n, const struct filters *f, const char *path)
{
	int fd = cli_open(path), named;

	*n = (struct naming){ 0 };
	if (!f->names || f->watch || !wants_names(f) || fd == STDIN_FILENO || !is_unnamed(fd, path))
		return fd;
	named = start_sym(n, &f->view, fd);
	if (named < 0) {
		lseek(fd, 0, SEEK_SET);
		return fd;
	}
	close(fd);
	cli_warn("%s: no names: read through cprof-sym (--no-names prevents it)", path);
	return named;
}

void naming_close(struct naming *n, int fd)
{
	int status = 0;

	if (fd != STDIN_FILENO)
		close(fd);
	if (!n->pid)
		return;
	while (waitpid(n->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_SYSTEM)
		cli_warn("cprof-sym failed: some names may be missing");
}

void naming_hint(const struct filters *f, const char *name, const struct gather_sums *sums)
{
	if (f->hints && !sums->symbols && sums->unresolved && wants_names(f))
		cli_warn("%s: no names: run cprof-sym", name);
}
