#include "common/foreign/foreign_process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/array.h"
#include "common/foreign/helper.h"

#define PATIENCE UINT64_C(2000000000) /* ns without a sign of life */
#define LONGEST UINT64_C(20000000000) /* ns: time limit of a work that shows signs of life */

enum {
	BUSY_TIMES = 5,  /* factor on the patience for a process that runs or waits for a CPU */
	BLIND_MOST = 8,  /* works that were silent on an unknown device; with more, none is begun any more */
	DEVICES_MOST = 16, /* with more silent ones, no file of an unknown device is opened any more */
	CLOSE_MOST = 65536,
	USERS = 0x7fffffff, /* stands for a device: the minor number is a user */
};

#ifndef SYS_close_range
#define SYS_close_range 436 /* Linux 5.9, on all architectures */
#endif

enum kind { PROGRESS, TOUCHES, ANSWER };

struct message {
	enum kind kind;
	uint64_t major, minor; /* of TOUCHES */
	int error;
	bool has_fd;
	uint8_t answer[FOREIGN_ANSWER];
};

struct question {
	foreign_work_function *work;
	bool has_fd;
	size_t n;
	uint8_t bytes[FOREIGN_QUESTION];
};

static struct {
	struct helper h;
	int sock; /* in the process */
	struct mounts mounts;
	struct mount_device silent[DEVICES_MOST];
	size_t n_silent, blind;
} self = { .h = HELPER_NONE };

enum mount_kind foreign_process_kind(const struct statx *st)
{
	return mounts_kind(&self.mounts, st);
}

static bool is_silent(uint64_t major, uint64_t minor)
{
	for (size_t i = 0; i < self.n_silent; i++)
		if (self.silent[i].major == major && self.silent[i].minor == minor)
			return true;
	return false;
}

/* --- the process ------------------------------------------------------------------------------ */

bool foreign_process_touch(const struct statx *st)
{
	struct message m = { .kind = TOUCHES, .major = st->stx_dev_major, .minor = st->stx_dev_minor };

	if (is_silent(m.major, m.minor) ||
	    (self.n_silent == DEVICES_MOST && foreign_process_kind(st) == MOUNT_UNKNOWN)) {
		errno = ETIMEDOUT;
		return false;
	}
	return helper_send(self.sock, &m, sizeof(m), -1, 0);
}

bool foreign_process_touch_user(uid_t user)
{
	return foreign_process_touch(&(struct statx){ .stx_dev_major = USERS, .stx_dev_minor = user });
}

void foreign_process_progress(void)
{
	static const struct message m = { .kind = PROGRESS };

	(void)!helper_send(self.sock, &m, sizeof(m), -1, 0);
}

static bool do_work(const struct question *q, int fd)
{
	static struct foreign_work w;
	struct message m = { .kind = ANSWER };
	int found;
	bool sent;

	w.fd = fd;
	w.n = q->n;
	memcpy(w.question, q->bytes, q->n);
	memset(w.answer, 0, sizeof(w.answer));
	found = q->work(&w);
	m.error = found < 0 ? errno : 0;
	m.has_fd = found >= 0;
	memcpy(m.answer, w.answer, sizeof(m.answer));
	sent = helper_send(self.sock, &m, sizeof(m), found, 0);
	if (found >= 0)
		close(found);
	if (fd >= 0)
		close(fd);
	return sent;
}

/* Before Linux 5.9 */
static bool close_all(void)
{
	long end = sysconf(_SC_OPEN_MAX);

	for (int fd = 1; fd < end && fd < CLOSE_MOST; fd++)
		close(fd);
	return true;
}

static void run_process(void *arg, int sock, pid_t parent, bool again)
{
	static struct question q;
	size_t n = sizeof(q);
	int fd;

	(void)arg;
	(void)again;
	signal(SIGINT, SIG_IGN); /* The terminal sends it to both; the caller decides. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != parent)
		_exit(1);
	/* Others are to see the end of pipes even while this process cannot end. */
	if (dup2(sock, 0) != 0 || (syscall(SYS_close_range, 1, ~0U, 0) != 0 && !close_all()))
		_exit(1);
	self.sock = 0;
	while (helper_take(self.sock, &q, &n, &fd, 0) && n == sizeof(q) && q.has_fd == (fd >= 0) &&
	       do_work(&q, fd))
		n = sizeof(q);
	_exit(0);
}

/* --- the caller's side ------------------------------------------------------------------------ */

static bool begin_process(void)
{
	if (self.h.sock >= 0)
		return true;
	if (helper_begin(&self.h, run_process, NULL))
		return true;
	helper_end(&self.h);
	return false;
}

static void give_up(const struct message *touched)
{
	bool silent = errno == ETIMEDOUT;

	(void)helper_kill(&self.h); /* it is gone once its file system answers */
	if (!silent || touched->kind != TOUCHES)
		self.blind++;
	else if (self.n_silent < DEVICES_MOST)
		self.silent[self.n_silent++] =
			(struct mount_device){ .major = touched->major, .minor = touched->minor };
	else
		self.blind++;
}

/* Waits for a message. False: errno is ETIMEDOUT, or the process is lost. */
static bool take_message(struct message *m, int *fd, uint64_t begun)
{
	struct pollfd p = { self.h.sock, POLLIN, 0 };
	uint64_t since = helper_mono_ns();
	size_t n = sizeof(*m);

	while (poll(&p, 1, (int)(PATIENCE / 1000000)) <= 0 || begun + LONGEST < helper_mono_ns()) {
		uint64_t now = helper_mono_ns();

		if (now - begun > LONGEST || (now - since >= PATIENCE && !helper_is_running(&self.h)) ||
		    now - since > BUSY_TIMES * PATIENCE) {
			errno = ETIMEDOUT;
			return false;
		}
	}
	if (helper_take(self.h.sock, m, &n, fd, MSG_DONTWAIT) && n == sizeof(*m))
		return true;
	errno = EPIPE;
	return false;
}

static int await_answer(struct foreign_work *w)
{
	struct message m, touched = { .kind = PROGRESS };
	uint64_t begun = helper_mono_ns();
	int fd = -1;

	for (;;) {
		if (!take_message(&m, &fd, begun)) {
			int error = errno;

			give_up(&touched);
			errno = error;
			return -1;
		}
		if (m.kind == ANSWER)
			break;
		if (m.kind == TOUCHES)
			touched = m;
	}
	memcpy(w->answer, m.answer, sizeof(w->answer));
	errno = m.has_fd ? EMFILE : m.error; /* EMFILE: if fd did not arrive */
	return fd;
}

int foreign_process_run(foreign_work_function *work, struct foreign_work *w)
{
	static struct question q;

	if (self.blind >= BLIND_MOST) {
		errno = ETIMEDOUT;
		return -1;
	}
	if (!begin_process())
		return -1;
	q.work = work;
	q.has_fd = w->fd >= 0;
	q.n = w->n;
	memcpy(q.bytes, w->question, w->n);
	if (!helper_send(self.h.sock, &q, sizeof(q), w->fd, 0)) {
		(void)helper_kill(&self.h);
		return -1;
	}
	return await_answer(w);
}
