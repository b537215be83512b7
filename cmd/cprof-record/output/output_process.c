#include "cmd/cprof-record/output/output_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cprof-record/helper/sandbox.h"
#include "cmd/cprof-record/host/host.h"
#include "common/foreign/mounts.h"

bool output_process_may_stall(int fd)
{
	enum { WANTED = STATX_TYPE | STATX_MNT_ID };
	struct mounts mounts = { 0 };
	struct statx st;
	bool may;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, WANTED, &st) != 0 ||
	    !(S_ISREG(st.stx_mode) || S_ISDIR(st.stx_mode)))
		return false;
	may = !mounts_is_written_locally(&mounts, &st);
	mounts_release(&mounts);
	return may;
}

/* --- the process ------------------------------------------------------------------------------ */

/* The process may have to wait in the lookup, where it should hold no pipe open: others wait for its end. */
static bool names_descriptor(const char *path)
{
	return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
}

static size_t size_of(const struct output_answer *a)
{
	return offsetof(struct output_answer, path) + strlen(a->path) + 1;
}

bool output_process_answer(int sock, const struct output_answer *a)
{
	return helper_send(sock, a, size_of(a), -1, 0);
}

static void run_process(void *arg, int sock, pid_t parent, bool again)
{
	const struct output_work *w = arg;
	struct output_answer a = { 0 };
	int keep[2] = { sock };

	prctl(PR_SET_NAME, "cprof-output");
	sandbox_signals();
	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error to report */
	if (!sandbox_parent(parent) || !sandbox_limit(RLIMIT_CORE, 0, 0) || (again && !helper_unmap_shared()))
		_exit(1);
	if (w->path && !names_descriptor(w->path)) {
		if (!sandbox_descriptors(keep, 1))
			_exit(1);
		sock = keep[0] = SANDBOX_FIRST;
	}
	host_user_begin(); /* for good */
	keep[1] = w->begin(w, &a.done);
	a.error = keep[1] < 0 ? errno : 0;
	a.stays = keep[1] >= 0 && output_process_may_stall(keep[1]);
	if (!helper_send(sock, &a, size_of(&a), a.stays ? -1 : keep[1], 0) || !a.stays ||
	    !sandbox_descriptors(keep, 2))
		_exit(1);
	w->serve(w, SANDBOX_FIRST, SANDBOX_FIRST + 1);
	_exit(0);
}

/* --- the recorder's side ---------------------------------------------------------------------- */

static void begin_question(struct output_process *p)
{
	p->busy = true;
	p->heard = helper_mono_ns();
}

bool output_process_begin(struct output_process *p, const struct output_work *w)
{
	bool good = helper_begin(&p->h, run_process, (void *)w);
	int error = errno;

	if (good)
		begin_question(p);
	else
		helper_end(&p->h);
	errno = error;
	return good;
}

static bool lose_process(struct output_process *p)
{
	helper_kill(&p->h);
	p->busy = false;
	errno = ECONNRESET;
	return false;
}

bool output_process_ask(struct output_process *p, const void *question, size_t n, int fd)
{
	if (p->h.sock < 0 || !helper_send(p->h.sock, question, n, fd, 0))
		return lose_process(p);
	begin_question(p);
	return true;
}

bool output_process_take(struct output_process *p, struct output_answer *a, int *fd, int ms)
{
	struct pollfd readable = { p->h.sock, POLLIN, 0 };
	size_t n = sizeof(*a);
	int ready;

	*fd = -1;
	if (p->h.sock < 0)
		return lose_process(p);
	while ((ready = poll(&readable, 1, ms)) < 0 && errno == EINTR)
		;
	if (ready == 0) {
		errno = ETIMEDOUT;
		return false;
	}
	if (!helper_take(p->h.sock, a, &n, fd, MSG_DONTWAIT) || n <= offsetof(struct output_answer, path))
		return lose_process(p);
	p->busy = a->more;
	p->heard = helper_mono_ns();
	return true;
}

bool output_process_is_silent(const struct output_process *p)
{
	return p->busy && helper_mono_ns() - p->heard >= OUTPUT_PROCESS_MS * (uint64_t)1000000;
}

void output_process_end(struct output_process *p)
{
	if (p->busy)
		helper_kill(&p->h);
	else
		helper_end(&p->h);
	p->busy = false;
}

const char *output_process_error(int error)
{
	return error == ETIMEDOUT   ? "its file system does not answer" :
	       error == ECONNRESET ? "the process that writes it was lost" :
				     strerror(error);
}
