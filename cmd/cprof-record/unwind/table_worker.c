#include "cmd/cprof-record/unwind/table_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cprof-record/helper/sandbox.h"
#include "common/foreign/helper.h"
#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/host/priority.h"
#include "common/base/array.h"
#include "common/base/full_write.h"
#include "common/base/le.h"
#include "common/lang/runtime.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U /* Linux 6.3 */
#endif

enum {
	MAGIC = 0x74777063,
	HEAD = 16, /* first bytes of the output: magic, result, 64 bits for the length of the table */
	IMAGE = TABLE_BUILD_IMAGE, /* then: 1 and an image; or 0 and nothing that counts */
	ANSWER_HEAD = HEAD + IMAGE,
	TABLE_MAX = UNWIND_TABLE_ROWS * sizeof(uint32_t) + UNWIND_TABLE_PAGES * 32 +
		    UNWIND_TABLE_RULES * sizeof(struct unwind_rule) + 4096,
	MEMORY = 1 << 30, FILES = 16, CPU_S = 10, WALL_MS = 20000, /* limits of a worker */
	READY_S = 2,     /* until another fork server has given up its privileges */
	GRACE_MS = 2000, /* until a killed worker is given up: the kernel may be waiting for a dead disk */
	MS_LEAST = 500, MS_PER_MB = 20, /* CPU time by a file's size */
	KEEP_BYTES = 1 << 20,
	ON_THEIR_WAY = 16, /* questions and tables in the sockets: the kernel limits descriptors in them */
	STATUS_CONFINE = 101, STATUS_WRITE = 102, /* exit statuses */
};

/* The recorder talks to the fork server over its socket; the fork server forks the workers. */
struct question {
	uint32_t id;
	uint64_t memory; /* bytes that the worker may take */
};

enum ended { ENDED, TOOK_TOO_LONG, CANNOT_BE_KILLED, NOT_BEGUN };

/* Comes with the memfd if the process ended. Both sides are our own code. */
struct report {
	uint32_t id;
	enum ended ended;
	int status; /* from wait(2); for NOT_BEGUN errno */
	uint64_t cpu_ns;
};

struct fork_server {
	const struct table_worker_setup *setup;
	int sock;     /* to the recorder */
	int children; /* a signalfd */
	int score;    /* a descriptor, see priority_open_score */
	uint64_t size; /* bytes that it has itself, and each worker with it; 0: unknown */
};

struct asked {
	uint32_t id;
	int fd; /* not sent yet; otherwise -1 */
};

struct worker {
	struct table_worker_setup setup;
	struct helper server;
	int poll; /* epoll descriptor for its socket */
	uint64_t losses, memory;
	struct asked *asked; /* in order: `lost` ones await their report, up to `sent` the server has them */
	size_t n, cap, sent, lost;
	struct buf table, why;
};

/* False with errno; 0: the other side is gone, or is not ours. */
static bool take_message(int sock, void *p, size_t n, int *fd, int flags)
{
	size_t got = n;
	bool good = helper_take(sock, p, &got, fd, flags);

	if (good && got != n)
		errno = 0;
	return good && got == n;
}

/* The worker: one file, one table. */

/* Counts the bytes that are on the disk: holes cost their maker nothing. */
static uint64_t cpu_limit_ms(const struct table_worker_setup *s, int file)
{
	uint64_t most = s->cpu_s * UINT64_C(1000), ms;
	struct stat st;

	if (!s->by_size || fstat(file, &st) != 0)
		return most;
	ms = ((uint64_t)st.st_blocks * 512 >> 20) * MS_PER_MB;
	ms = ms < MS_LEAST ? MS_LEAST : ms;
	return ms < most ? ms : most;
}

/* Sets a fine limit, and one of whole seconds beyond it that nobody can take back. */
static bool limit_cpu(uint64_t ms)
{
	struct itimerval t = { .it_value = { .tv_sec = (time_t)(ms / 1000), .tv_usec = (suseconds_t)(ms % 1000 * 1000) } };
	uint64_t s = (ms + 999) / 1000;

	return sandbox_limit(RLIMIT_CPU, s, s + 1) && (ms % 1000 == 0 || setitimer(ITIMER_PROF, &t, NULL) == 0);
}

/* Memory files that the recorder has filled with others' bytes are its own, but not meant. */
static bool is_of_root(const struct table_worker_setup *s, int file)
{
	struct stat st;

	return !s->build_codes && fstat(file, &st) == 0 && st.st_uid == 0 && st.st_nlink > 0;
}

static _Noreturn void run_worker(const struct fork_server *f, const struct question *q, int file, int answer,
				 pid_t server)
{
	const struct table_worker_setup *s = f->setup;
	uint64_t most = f->size && !SANDBOX_SANITIZED ? f->size + q->memory : RLIM_INFINITY;
	int keep[] = { answer, file };
	struct buf out = { 0 };
	uint8_t head[ANSWER_HEAD] = { 0 };
	enum unwind_built result;

	sandbox_signals();
	if (!is_of_root(s, file))
		priority_highest(false);
	if (!sandbox_parent(server) || !sandbox_descriptors(keep, 2) ||
	    !limit_cpu(cpu_limit_ms(s, SANDBOX_FIRST + 1)) || !sandbox_limit(RLIMIT_NPROC, 0, 0) ||
	    !sandbox_limit(RLIMIT_NOFILE, FILES, FILES) || !sandbox_limit(RLIMIT_AS, most, most) ||
	    (!sandbox_calls() && geteuid() == 0))
		_exit(STATUS_CONFINE);
	result = s->build_codes ? table_build_codes(s->build_codes, SANDBOX_FIRST + 1, &out) :
				  table_build_file(s->build, SANDBOX_FIRST + 1, head + HEAD, &out);
	if (out.n > TABLE_MAX)
		result = UNWIND_TOO_LARGE;
	if (result != UNWIND_BUILT)
		out.n = 0;
	le32_store(head, MAGIC);
	le32_store(head + 4, result);
	le64_store(head + 8, out.n);
	_exit(full_write(SANDBOX_FIRST, head, sizeof(head)) && full_write(SANDBOX_FIRST, out.p, out.n)
		      ? 0
		      : STATUS_WRITE);
}

/* The fork server: forks and waits. If memory is out, the kernel takes its workers first. */

static int memory_file(void)
{
	int fd = memfd_create("cprof-table", MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	return fd >= 0 || errno != EINVAL ? fd : memfd_create("cprof-table", MFD_CLOEXEC);
}

/* False: the worker still lives at that time, or the recorder is gone, if that is watched. */
static bool reap_worker(const struct fork_server *f, pid_t pid, uint64_t until, bool watch, struct report *r)
{
	struct pollfd p[] = { { f->children, POLLIN, 0 }, { watch ? f->sock : -1, 0, 0 } };
	struct signalfd_siginfo s;
	struct rusage ru;
	uint64_t now;

	while (wait4(pid, &r->status, WNOHANG, &ru) != pid) {
		now = host_mono_ns();
		if (now >= until || p[1].revents)
			return false;
		poll(p, 2, (int)((until - now) / 1000000 + 1));
		(void)!read(f->children, &s, sizeof(s));
	}
	r->cpu_ns = (uint64_t)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000000 +
		    (uint64_t)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1000;
	return true;
}

static enum ended wait_for_worker(const struct fork_server *f, pid_t pid, struct report *r)
{
	if (reap_worker(f, pid, host_mono_ns() + f->setup->wall_ms * (uint64_t)1000000, true, r))
		return ENDED;
	kill(pid, SIGKILL);
	return reap_worker(f, pid, host_mono_ns() + GRACE_MS * (uint64_t)1000000, false, r) ? TOOK_TOO_LONG : CANNOT_BE_KILLED;
}

static bool serve_question(const struct fork_server *f, const struct question *q, int file)
{
	struct report r = { .id = q->id, .ended = NOT_BEGUN };
	pid_t self = getpid(), pid;
	bool sent;
	int table;

	while (waitpid(-1, NULL, WNOHANG) > 0)
		; /* workers that could not be killed */
	table = memory_file();
	priority_first(f->score, true);
	pid = table >= 0 ? fork() : -1;
	if (pid == 0)
		run_worker(f, q, file, table, self);
	r.status = errno;
	priority_first(f->score, false);
	if (file >= 0)
		close(file);
	if (pid > 0)
		r.ended = wait_for_worker(f, pid, &r);
	/* After the worker's end nobody else has the memfd, and it does not change any more. */
	sent = helper_send(f->sock, &r, sizeof(r), r.ended == ENDED ? table : -1, 0) ||
	       (errno == ETOOMANYREFS && helper_send(f->sock, &r, sizeof(r), -1, 0));
	if (table >= 0)
		close(table);
	return sent;
}

static bool confine_server(struct fork_server *f, int sock, pid_t recorder)
{
	prctl(PR_SET_NAME, "cprof-tables");
	priority_apart();
	priority_highest(true);
	sandbox_signals();
	if (!sandbox_descriptors(&sock, 1))
		return false;
	f->score = priority_open_score();
	f->size = sandbox_size();
	return sandbox_privileges() && sandbox_parent(recorder) &&
	       sandbox_limit(RLIMIT_CORE, 0, 0) &&
	       sandbox_limit(RLIMIT_FSIZE, ANSWER_HEAD + (uint64_t)TABLE_MAX, ANSWER_HEAD + (uint64_t)TABLE_MAX) &&
	       (SANDBOX_SANITIZED || sandbox_limit(RLIMIT_AS, MEMORY, MEMORY));
}

static void run_server(void *setup, int sock, pid_t recorder, bool again)
{
	struct fork_server f = { .setup = setup, .sock = SANDBOX_FIRST };
	bool confined = (!again || helper_unmap_shared()) && confine_server(&f, sock, recorder);
	struct question q;
	sigset_t child;
	int file;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	f.children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (!confined || f.children < 0 || !helper_send(f.sock, &(struct report){ 0 }, sizeof(struct report), -1, 0))
		_exit(STATUS_CONFINE);
	while (take_message(f.sock, &q, sizeof(q), &file, 0)) {
		if (!serve_question(&f, &q, file))
			break;
	}
	_exit(0);
}

/* The recorder's side. */

static bool begin_server(struct worker *w)
{
	const struct timeval most = { .tv_sec = READY_S };
	bool again = w->server.began, heard;
	struct report ready;
	int none;

	if (!helper_begin(&w->server, run_server, &w->setup))
		return false;
	/* The first one may take as long as a busy machine needs; a later one must not delay sampling. */
	if (again)
		(void)!setsockopt(w->server.sock, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
	do
		heard = take_message(w->server.sock, &ready, sizeof(ready), &none, 0);
	while (!heard && errno == EINTR);
	if (!heard)
		errno = EPERM; /* it could not give up its privileges */
	return heard && epoll_ctl(w->poll, EPOLL_CTL_ADD, w->server.sock,
				  &(struct epoll_event){ EPOLLIN, { .fd = w->server.sock } }) == 0;
}

static struct worker *new_worker(const struct table_worker_setup *s, bool later)
{
	struct worker *w = calloc(1, sizeof(*w));
	int error;

	if (!w)
		return NULL;
	w->setup = *s;
	w->memory = MEMORY;
	w->server = later ? (struct helper)HELPER_LATER : (struct helper)HELPER_NONE;
	w->poll = epoll_create1(EPOLL_CLOEXEC);
	if (w->poll >= 0 && (later || begin_server(w)))
		return w;
	error = errno;
	table_worker_free(w);
	errno = error;
	return NULL;
}

struct worker *table_worker_new_as(const struct table_worker_setup *s)
{
	return new_worker(s, false);
}

struct worker *table_worker_new(bool later)
{
	const struct table_worker_setup setup = { .build = unwind_build, .cpu_s = CPU_S, .wall_ms = WALL_MS,
						  .by_size = !SANDBOX_SANITIZED };

	return new_worker(&setup, later);
}

struct worker *table_worker_new_for_codes(void)
{
	const struct table_worker_setup setup = { .build_codes = unwind_build_codes, .cpu_s = CPU_S,
						  .wall_ms = WALL_MS, .by_size = !SANDBOX_SANITIZED };

	return new_worker(&setup, true);
}

int table_worker_fd(const struct worker *w)
{
	return w->poll;
}

void table_worker_limit(struct worker *w, uint64_t bytes)
{
	w->memory = bytes < MEMORY ? bytes : MEMORY;
}

uint64_t table_worker_losses(const struct worker *w)
{
	return w->losses;
}

/* Begins another fork server, if that is not too soon. */
static void begin_again(struct worker *w)
{
	if (helper_may_begin(&w->server) && !begin_server(w))
		helper_end(&w->server);
}

static bool send_question(const struct worker *w, uint32_t id, int fd)
{
	struct question q = { id, w->memory };

	if (w->sent == ON_THEIR_WAY) {
		errno = EAGAIN;
		return false;
	}
	return helper_send(w->server.sock, &q, sizeof(q), fd, MSG_DONTWAIT);
}

/* ETOOMANYREFS: a user without privileges has too many descriptors on their way. */
static bool is_full(const struct worker *w, int error)
{
	return w->sent > 0 && (error == EAGAIN || error == ENOBUFS || error == ENOMEM || error == ETOOMANYREFS);
}

bool table_worker_ask(struct worker *w, uint32_t id, int fd)
{
	struct asked a = { id, -1 };

	if (w->server.sock < 0)
		begin_again(w);
	if (w->server.sock < 0 || fd < 0) {
		errno = fd < 0 ? EBADF : EPIPE;
		return false;
	}
	if (!grow_array(&w->asked, &w->cap, w->n, sizeof(*w->asked))) {
		errno = ENOMEM;
		return false;
	}
	if (w->sent == w->n && send_question(w, id, fd)) {
		w->sent++;
	} else {
		if (w->sent == w->n && !is_full(w, errno))
			return false;
		a.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		if (a.fd < 0)
			return false;
	}
	w->asked[w->n++] = a;
	return true;
}

/* If the socket is full, an answer will come, and then this is called again. */
static void send_waiting(struct worker *w)
{
	while (w->sent < w->n && send_question(w, w->asked[w->sent].id, w->asked[w->sent].fd)) {
		close(w->asked[w->sent].fd);
		w->asked[w->sent++].fd = -1;
	}
}

/* Drops the first question, which has its answer. */
static void drop_first(struct worker *w)
{
	if (w->asked[0].fd >= 0)
		close(w->asked[0].fd);
	w->n--;
	w->sent -= w->sent > 0;
	w->lost -= w->lost > 0;
	memmove(w->asked, w->asked + 1, w->n * sizeof(*w->asked));
}

static void describe_status(struct worker *w, int status)
{
	if (WIFSIGNALED(status) && w->setup.by_size && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGPROF))
		buf_text(&w->why, "used more CPU time than a file of its size may");
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
		buf_printf(&w->why, "used more than %u s of CPU time", w->setup.cpu_s);
	else if (WIFSIGNALED(status))
		buf_printf(&w->why, "killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) == STATUS_CONFINE)
		buf_text(&w->why, "the helper cannot give up its privileges");
	else if (WEXITSTATUS(status) == STATUS_WRITE)
		buf_text(&w->why, "the helper cannot write its answer");
	else
		buf_printf(&w->why, "ended with status %d", WEXITSTATUS(status));
}

/* SIGKILL: memory ran out, or somebody sent it. CPU time has a signal of its own, and so do crashes. */
static bool is_passing(int status)
{
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGKILL;
	return WEXITSTATUS(status) == STATUS_CONFINE || WEXITSTATUS(status) == STATUS_WRITE;
}

static bool read_at(int fd, void *to, size_t n, off_t at)
{
	uint8_t *p = to;

	while (n > 0) {
		ssize_t got = pread(fd, p, n, at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		p += got;
		at += got;
		n -= (size_t)got;
	}
	return true;
}

/* Reads the worker's output, and trusts nothing in it. False: w->why says why. */
static bool read_answer(struct worker *w, int fd, struct table_worker_answer *a)
{
	static const char *const why[] = {
		[UNWIND_BUILT] = NULL, [UNWIND_NOTHING] = "no unwind information", [UNWIND_DAMAGED] = "damaged",
		[UNWIND_NO_MEMORY] = "out of memory", [UNWIND_TOO_LARGE] = "larger than a table may be",
	};
	uint8_t head[ANSWER_HEAD];
	struct stat st;
	uint64_t length;
	uint32_t result;

	if (fd < 0 || fstat(fd, &st) != 0) {
		a->passing = true;
		buf_text(&w->why, "no descriptor is left for the helper's answer");
		return false;
	}
	if (st.st_size < ANSWER_HEAD || st.st_size - ANSWER_HEAD > (off_t)TABLE_MAX || !read_at(fd, head, ANSWER_HEAD, 0))
		goto wrong;
	result = le32_load(head + 4);
	length = le64_load(head + 8);
	if (le32_load(head) != MAGIC || result > UNWIND_TOO_LARGE || length != (uint64_t)st.st_size - ANSWER_HEAD ||
	    (result == UNWIND_BUILT) != (length > 0))
		goto wrong;
	if (length > 0 && !buf_reserve(&w->table, length)) {
		a->passing = true;
		buf_text(&w->why, "no memory for the helper's answer");
		return false;
	}
	if (!read_at(fd, w->table.p, length, ANSWER_HEAD))
		goto wrong;
	a->result = result;
	a->passing = result == UNWIND_NO_MEMORY;
	a->table = (struct slice){ w->table.p, length };
	memcpy(&a->image, head + HEAD + 4, sizeof(a->image));
	a->has_image = le32_load(head + HEAD) == 1 && runtime_valid(&a->image);
	a->why = why[result];
	return true;
wrong:
	buf_text(&w->why, "the helper's answer is damaged");
	return false;
}

static enum table_worker_said judge_report(struct worker *w, const struct report *r, int table, struct table_worker_answer *a)
{
	a->id = r->id;
	a->cpu_ns = r->cpu_ns;
	a->has_image = false;
	switch (r->ended) {
	case ENDED:
		if (r->status == 0 && read_answer(w, table, a))
			return TABLE_WORKER_ANSWER;
		if (r->status != 0) {
			describe_status(w, r->status);
			a->passing = is_passing(r->status);
		}
		break;
	case TOOK_TOO_LONG:
	case CANNOT_BE_KILLED:
		a->passing = true;
		buf_printf(&w->why, "took more than %g s%s", w->setup.wall_ms / 1e3,
			   r->ended == TOOK_TOO_LONG ? "" : " and cannot be killed");
		break;
	case NOT_BEGUN:
		a->passing = true;
		buf_printf(&w->why, "cannot start the helper: %s", strerror(r->status));
		break;
	}
	a->why = buf_cstr(&w->why);
	return TABLE_WORKER_DIED;
}

/* The fork server is lost with its questions, or with all of them, until there is another server. */
static void lose_server(struct worker *w)
{
	helper_end(&w->server);
	w->losses++;
	w->lost = w->sent;
	begin_again(w);
	if (w->server.sock < 0)
		w->lost = w->n;
}

static enum table_worker_said take_loss(struct worker *w, struct table_worker_answer *a)
{
	if (w->n == 0)
		return TABLE_WORKER_NOTHING;
	a->id = w->asked[0].id;
	a->why = "the process that starts the helpers was lost";
	drop_first(w);
	return TABLE_WORKER_LOST;
}

/* False with EAGAIN or EINTR: nothing yet; with any other error: there will be nothing more. */
static bool take_report(const struct worker *w, int timeout_ms, struct report *r, int *table)
{
	struct pollfd p = { w->server.sock, POLLIN, 0 };
	bool got = take_message(w->server.sock, r, sizeof(*r), table, MSG_DONTWAIT);

	if (!got && errno == EAGAIN && w->n > 0 && timeout_ms != 0) {
		if (poll(&p, 1, timeout_ms) <= 0) {
			errno = EAGAIN;
			return false;
		}
		got = take_message(w->server.sock, r, sizeof(*r), table, MSG_DONTWAIT);
	}
	if (got && w->sent > 0 && w->asked[0].id == r->id)
		return true;
	if (*table >= 0)
		close(*table);
	errno = got ? EPROTO : errno;
	return false;
}

enum table_worker_said table_worker_take(struct worker *w, int timeout_ms, struct table_worker_answer *a)
{
	enum table_worker_said said;
	struct report r;
	int table;

	*a = (struct table_worker_answer){ 0 };
	buf_clear(&w->why);
	if (w->table.cap > KEEP_BYTES)
		buf_release(&w->table);
	buf_clear(&w->table);
	if (w->lost > 0)
		return take_loss(w, a);
	if (w->server.sock < 0)
		return TABLE_WORKER_NOTHING;
	send_waiting(w);
	if (!take_report(w, timeout_ms, &r, &table)) {
		if (errno == EAGAIN || errno == EINTR)
			return TABLE_WORKER_NOTHING;
		lose_server(w);
		return w->lost > 0 ? take_loss(w, a) : TABLE_WORKER_NOTHING;
	}
	said = judge_report(w, &r, table, a);
	if (table >= 0)
		close(table);
	drop_first(w);
	send_waiting(w);
	return said;
}

void table_worker_free(struct worker *w)
{
	if (!w)
		return;
	helper_end(&w->server);
	if (w->poll >= 0)
		close(w->poll);
	while (w->n > 0)
		drop_first(w);
	free(w->asked);
	buf_release(&w->table);
	buf_release(&w->why);
	free(w);
}
