#include "cmd/cprof-record/output/file_process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cprof-record/helper/sandbox.h"
#include "cmd/cprof-record/host/host.h"
#include "common/foreign/mounts.h"
#include "cmd/cprof-record/output/rotate.h"

enum { PIECE = 64 << 10 }; /* bytes of a message: a socket's buffer takes some 200 kB */

enum file_call { FILE_TRUNCATE, FILE_WRITE, FILE_CLOSE };

struct question {
	enum file_call call;
	uint8_t bytes[PIECE];
};

struct answer {
	int error; /* 0: none */
	size_t done;
};

enum { QUESTION_HEAD = offsetof(struct question, bytes) };

/* --- the process ------------------------------------------------------------------------------ */

struct opening {
	const char *path; /* NULL: standard output */
	mode_t mode;
};

static int open_path(const struct opening *o)
{
	int fd = rotate_create(AT_FDCWD, o->path, O_WRONLY, o->mode);

	if (fd < 0 && errno == EEXIST) /* also a link to a file that does not exist yet */
		fd = open(o->path, O_WRONLY | O_CREAT | O_CLOEXEC, o->mode);
	return fd;
}

bool file_process_may_stall(int fd)
{
	enum { WANTED = STATX_TYPE | STATX_MNT_ID };
	struct mounts mounts = { 0 };
	struct statx st;
	bool may;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, WANTED, &st) != 0 || !S_ISREG(st.stx_mode))
		return false;
	may = !mounts_is_written_locally(&mounts, &st);
	mounts_release(&mounts);
	return may;
}

static struct answer make_call(int fd, const struct question *q, size_t n)
{
	struct answer a = { 0 };
	ssize_t done = 0;

	if (q->call == FILE_TRUNCATE)
		done = ftruncate(fd, 0);
	else if (q->call == FILE_WRITE)
		done = write(fd, q->bytes, n - QUESTION_HEAD);
	else
		done = close(fd);
	a.error = done < 0 ? errno : 0;
	a.done = done > 0 ? (size_t)done : 0;
	return a;
}

static void serve(int sock, int fd)
{
	static struct question q;
	size_t n = sizeof(q);
	int none;

	while (helper_take(sock, &q, &n, &none, 0) && n >= QUESTION_HEAD) {
		struct answer a = make_call(fd, &q, n);

		if (!helper_send(sock, &a, sizeof(a), -1, 0) || q.call == FILE_CLOSE)
			break;
		n = sizeof(q);
	}
}

/* The process may have to wait in the lookup, where it should hold no pipe open: others wait for its end. */
static bool names_descriptor(const char *path)
{
	return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
}

static void run_process(void *arg, int sock, pid_t parent, bool again)
{
	const struct opening *o = arg;
	struct answer a = { 0 };
	int keep[2] = { sock };
	bool stays;

	(void)again;
	prctl(PR_SET_NAME, "cprof-output");
	sandbox_signals();
	if (!sandbox_parent(parent) || !sandbox_limit(RLIMIT_CORE, 0, 0))
		_exit(1);
	if (o->path && !names_descriptor(o->path)) {
		if (!sandbox_descriptors(keep, 1))
			_exit(1);
		sock = keep[0] = SANDBOX_FIRST;
	}
	host_user_begin(); /* for good */
	keep[1] = o->path ? open_path(o) : STDOUT_FILENO;
	a.error = keep[1] < 0 ? errno : 0;
	stays = keep[1] >= 0 && file_process_may_stall(keep[1]);
	a.done = stays;
	if (!helper_send(sock, &a, sizeof(a), stays ? -1 : keep[1], 0) || !stays ||
	    !sandbox_descriptors(keep, 2))
		_exit(1);
	serve(SANDBOX_FIRST, SANDBOX_FIRST + 1);
	_exit(0);
}

/* --- the recorder's side ---------------------------------------------------------------------- */

bool file_process_has(const struct file_process *p)
{
	return p->h.sock >= 0;
}

static bool take_answer(struct file_process *p, struct answer *a, int *fd, const char **why)
{
	size_t n = sizeof(*a);

	*fd = -1;
	*why = p->wait(p->arg, p->h.sock);
	if (!*why && helper_take(p->h.sock, a, &n, fd, MSG_DONTWAIT) && n == sizeof(*a)) {
		errno = a->error;
		return a->error == 0;
	}
	if (!*why)
		*why = "the process that writes it was lost";
	helper_kill(&p->h);
	return false;
}

bool file_process_open(struct file_process *p, const char *path, mode_t mode, int *fd, struct buf *error)
{
	const char *why = NULL;
	struct answer a;

	*fd = -1;
	if (!helper_begin(&p->h, run_process, &(struct opening){ path, mode }))
		buf_printf(error, "cannot start the process that opens it: %s", strerror(errno));
	else if (!take_answer(p, &a, fd, &why))
		buf_printf(error, "%s%s", why ? "cannot open: " : "", why ? why : strerror(errno));
	else if (a.done)
		return true;
	else if (*fd < 0)
		buf_text(error, strerror(EMFILE)); /* no number was left for the descriptor */
	helper_end(&p->h);
	return *fd >= 0;
}

static bool ask(struct file_process *p, const struct question *q, size_t n, struct answer *a,
		const char **why)
{
	int none;

	*why = NULL;
	if (p->h.sock >= 0 && helper_send(p->h.sock, q, QUESTION_HEAD + n, -1, 0))
		return take_answer(p, a, &none, why);
	*why = "the process that writes it was lost";
	return false;
}

bool file_process_truncate(struct file_process *p, const char **why)
{
	static const struct question q = { .call = FILE_TRUNCATE };
	struct answer a;

	return ask(p, &q, 0, &a, why);
}

ssize_t file_process_write(struct file_process *p, const void *bytes, size_t n, const char **why)
{
	static struct question q = { .call = FILE_WRITE };
	struct answer a;

	if (n > PIECE)
		n = PIECE;
	memcpy(q.bytes, bytes, n);
	return ask(p, &q, n, &a, why) ? (ssize_t)a.done : -1;
}

bool file_process_close(struct file_process *p, const char **why)
{
	static const struct question q = { .call = FILE_CLOSE };
	struct answer a;
	bool good = ask(p, &q, 0, &a, why);
	int error = errno;

	helper_end(&p->h);
	errno = error;
	return good;
}
