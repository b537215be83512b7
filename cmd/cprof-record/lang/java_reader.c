#include "cmd/cprof-record/lang/java_reader.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/foreign/helper.h"
#include "cmd/cprof-record/helper/sandbox.h"
#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/host/priority.h"

enum {
	KILLED_MOST = 16, /* processes that may still hang in a read; with more, none is begun */
	BEAT_MS = 500,	  /* between two signs of life */
	SELDOM_MS = 50,	  /* between two tries of a question that is old */
};

#define OLD 1000000000ull
#define ALONE 30000000000ull /* ns after a hanging read during which questions are asked one at a time */

/* A question, and when the process got it. */
struct pending {
	struct java_question q;
	uint64_t since;
};

struct java_reader {
	struct helper h;
	int poll;
	uint64_t asked[JAVA_ASKED_MOST]; /* ids of questions without an answer */
	size_t n, lost;			 /* so many of them are lost with their process */
	uint64_t heard;			 /* the time of the last sign of life, or of the first question */
	uint64_t alone;			 /* until then, questions are asked one at a time */
	pid_t killed[KILLED_MOST];
	size_t n_killed;
	uint64_t silent;
	uint64_t cpu_before, cpu_ns; /* lost processes; this one */
	struct java_answer answer;
};

/* --- the process ----------------------------------------------------------------------------- */

struct target {
	pid_t pid;
	int error; /* errno: the last read that found nothing */
};

static size_t read_memory(void *target, uint64_t from, void *to, size_t n)
{
	struct target *t = target;
	struct iovec into = { to, n }, at = { (void *)(uintptr_t)from, n };
	ssize_t got = process_vm_readv(t->pid, &into, 1, &at, 1, 0);

	if (got < 0)
		t->error = errno;
	return got > 0 ? (size_t)got : 0;
}

/* A sign of life. */
struct beat {
	uint64_t cpu_ns;
};

static void read_jvm(const struct java_question *q, struct java_answer *a)
{
	static struct java_blob blobs[JAVA_BLOBS_MOST];
	struct target t = { (pid_t)q->pid, 0 };
	const struct java_memory m = { read_memory, &t };
	struct lang_image image = { .state = q->state };
	struct java_build b;

	memcpy(image.at, q->at, sizeof(q->at));
	memset(a, 0, sizeof(*a));
	a->id = q->id;
	a->found = java_layout_read(&m, &image, q->bias, &b, a->why);
	if (a->found == JAVA_FOUND)
		a->found = java_process_read(&m, &b, &a->process, a->why);
	a->error = a->found == JAVA_UNREADABLE ? t.error : 0;
	if (a->found != JAVA_FOUND)
		return;
	a->layout = b.layout;
	java_blobs(&m, &b.layout, &a->process, blobs, JAVA_BLOBS_MOST); /* for the return barrier */
}

static void send_or_exit(const void *p, size_t n)
{
	if (!helper_send(SANDBOX_FIRST, p, n, -1, 0))
		_exit(0);
}

/* Tries a question. Returns true if it is answered. */
static bool try_question(const struct pending *p, uint64_t now)
{
	struct java_answer a;

	read_jvm(&p->q, &a);
	if (a.found == JAVA_LATER && p->q.again && now - p->since < JAVA_AGAIN_MOST * UINT64_C(1000000))
		return false;
	a.cpu_ns = host_cpu_ns();
	send_or_exit(&a, sizeof(a));
	return true;
}

/* Only the right to read others' memory is left. */
static bool confine(int sock, pid_t recorder)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];
	const uint32_t ptrace = 1u << CAP_SYS_PTRACE;

	prctl(PR_SET_NAME, "cprof-java");
	priority_apart();
	sandbox_signals();
	if (!sandbox_descriptors(&sock, 1) || syscall(SYS_capget, &head, caps) != 0)
		return false;
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++) {
		if (cap != CAP_SYS_PTRACE)
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	}
	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		caps[i].effective &= i == 0 ? ptrace : 0;
		caps[i].permitted &= i == 0 ? ptrace : 0;
		caps[i].inheritable = 0;
	}
	return syscall(SYS_capset, &head, caps) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && sandbox_parent(recorder) &&
	       sandbox_limit(RLIMIT_CORE, 0, 0) && sandbox_limit(RLIMIT_NPROC, 0, 0) &&
	       (SANDBOX_SANITIZED || sandbox_limit(RLIMIT_FSIZE, 0, 0));
}

/* Returns the ms until the next try. */
static int next_try(const struct pending *asked, size_t n, uint64_t now)
{
	for (size_t i = 0; i < n; i++) {
		if (now - asked[i].since < OLD)
			return JAVA_AGAIN_MS;
	}
	return n ? SELDOM_MS : -1;
}

/* Takes questions that have come; waits for one if there is none. False: the recorder is gone. */
static bool take_questions(int sock, struct pending *asked, size_t *n)
{
	struct pollfd p = { sock, POLLIN, 0 };

	poll(&p, 1, next_try(asked, *n, host_mono_ns()));
	while (*n < JAVA_ASKED_MOST) {
		struct pending *to = &asked[*n];
		size_t got = sizeof(to->q);
		int fd;

		if (!helper_take(sock, &to->q, &got, &fd, MSG_DONTWAIT))
			return errno == EAGAIN || errno == EINTR;
		if (fd >= 0)
			close(fd);
		if (got != sizeof(to->q))
			return false;
		to->since = host_mono_ns();
		++*n;
	}
	return true;
}

static void run_process(void *arg, int sock, pid_t recorder, bool again)
{
	static struct pending asked[JAVA_ASKED_MOST];
	uint64_t now, beat = host_mono_ns();
	size_t n = 0, left;

	(void)arg;
	if ((again && !helper_unmap_shared()) || !confine(sock, recorder))
		_exit(1);
	while (take_questions(SANDBOX_FIRST, asked, &n)) {
		now = host_mono_ns();
		left = 0;
		for (size_t i = 0; i < n; i++) {
			if (!try_question(&asked[i], now))
				asked[left++] = asked[i];
		}
		n = left;
		if (n && now - beat > BEAT_MS * UINT64_C(1000000)) {
			beat = now;
			send_or_exit(&(struct beat){ host_cpu_ns() }, sizeof(struct beat));
		}
	}
	_exit(0);
}

/* --- the recorder's side --------------------------------------------------------------------- */

struct java_reader *java_reader_new(void)
{
	struct java_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->h = (struct helper)HELPER_LATER;
	r->poll = epoll_create1(EPOLL_CLOEXEC);
	if (r->poll >= 0)
		return r;
	free(r);
	return NULL;
}

int java_reader_fd(const struct java_reader *r)
{
	return r->poll;
}

uint64_t java_reader_cpu_ns(const struct java_reader *r)
{
	return r->cpu_before + r->cpu_ns;
}

uint64_t java_reader_silent(const struct java_reader *r)
{
	return r->silent;
}

static void reap_killed(struct java_reader *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_killed; i++) {
		if (waitpid(r->killed[i], NULL, WNOHANG) == 0)
			r->killed[n++] = r->killed[i];
	}
	r->n_killed = n;
}

static void lose_process(struct java_reader *r)
{
	pid_t pid = helper_kill(&r->h);

	if (pid)
		r->killed[r->n_killed++] = pid; /* begin_process keeps room for it */
	r->lost = r->n;
	r->cpu_before += r->cpu_ns;
	r->cpu_ns = 0;
}

static bool begin_process(struct java_reader *r)
{
	bool first = r->h.began <= 1;

	reap_killed(r);
	if (r->n_killed == KILLED_MOST || (!first && !helper_may_begin(&r->h)))
		return false;
	if (helper_begin(&r->h, run_process, NULL) &&
	    epoll_ctl(r->poll, EPOLL_CTL_ADD, r->h.sock,
		      &(struct epoll_event){ EPOLLIN, { .fd = r->h.sock } }) == 0)
		return true;
	helper_end(&r->h);
	return false;
}

bool java_reader_ask(struct java_reader *r, const struct java_question *q)
{
	uint64_t now = host_mono_ns();

	if (r->lost || r->n == JAVA_ASKED_MOST || (r->n && now < r->alone) ||
	    (r->h.sock < 0 && !begin_process(r)) || !helper_send(r->h.sock, q, sizeof(*q), -1, MSG_DONTWAIT))
		return false;
	if (r->n == 0)
		r->heard = now;
	r->asked[r->n++] = q->id;
	return true;
}

static bool drop_asked(struct java_reader *r, uint64_t id)
{
	for (size_t i = 0; i < r->n; i++) {
		if (r->asked[i] == id) {
			r->asked[i] = r->asked[--r->n];
			return true;
		}
	}
	return false;
}

static bool check_answer(const struct java_answer *a, size_t n)
{
	return n == sizeof(*a) && a->found <= JAVA_REFUSED && memchr(a->why, 0, sizeof(a->why)) &&
	       (a->found != JAVA_FOUND || (java_layout_valid(&a->layout) && java_process_valid(&a->process)));
}

/* Answers a question whose process was lost. */
static const struct java_answer *answer_lost(struct java_reader *r, int error)
{
	memset(&r->answer, 0, sizeof(r->answer));
	r->answer.id = r->asked[--r->n];
	r->answer.found = JAVA_UNREADABLE;
	r->answer.error = error;
	r->lost--;
	return &r->answer;
}

/* Takes one message. Returns false if there is none. *answer: one that it had. */
static bool take_message(struct java_reader *r, uint64_t now, const struct java_answer **answer)
{
	size_t n = sizeof(r->answer);
	struct beat beat;
	int fd;

	*answer = NULL;
	if (!helper_take(r->h.sock, &r->answer, &n, &fd, MSG_DONTWAIT)) {
		if (errno != EAGAIN && errno != EINTR)
			lose_process(r);
		return false;
	}
	if (fd >= 0)
		close(fd);
	r->heard = now;
	if (n == sizeof(beat)) {
		memcpy(&beat, &r->answer, sizeof(beat));
		r->cpu_ns = beat.cpu_ns;
		return true;
	}
	if (!check_answer(&r->answer, n) || !drop_asked(r, r->answer.id)) {
		lose_process(r);
		return false;
	}
	r->cpu_ns = r->answer.cpu_ns;
	*answer = &r->answer;
	return true;
}

const struct java_answer *java_reader_take(struct java_reader *r, uint64_t now)
{
	const struct java_answer *answer;
	bool single = r->n == 1;

	while (!r->lost && r->h.sock >= 0 && take_message(r, now, &answer)) {
		if (answer)
			return answer;
	}
	if (r->lost)
		return answer_lost(r, EAGAIN);
	if (r->n == 0 || now - r->heard < JAVA_PATIENCE)
		return NULL;
	lose_process(r);
	r->alone = now + ALONE;
	r->silent += single;
	return answer_lost(r, single ? ETIMEDOUT : EAGAIN);
}

void java_reader_free(struct java_reader *r)
{
	if (!r)
		return;
	helper_kill(&r->h);
	close(r->poll);
	free(r);
}
