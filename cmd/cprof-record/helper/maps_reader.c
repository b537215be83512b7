#include "cmd/cprof-record/helper/maps_reader.h"

#include <errno.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cprof-record/helper/maps_process.h"
#include "cmd/cprof-record/helper/nsfile.h"
#include "cmd/cprof-record/host/host.h"

enum { BUSY_TIMES = 8, KEEP_BYTES = 1 << 20 };

void maps_reader_init(struct maps_reader *m)
{
	*m = (struct maps_reader){ .h = HELPER_NONE, .memory = -1 };
}

static void run_process(void *arg, int sock, pid_t parent, bool again)
{
	const struct maps_reader *m = arg;

	maps_process_run(m->memory, sock, parent, again);
}

/* A killed helper may wait for the memory's lock for a while before it is gone. */
static void reap_killed(struct maps_reader *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_killed; i++)
		if (waitpid(m->killed[i], NULL, WNOHANG) == 0)
			m->killed[n++] = m->killed[i];
	m->n_killed = n;
}

static void drop_process(struct maps_reader *m)
{
	pid_t pid = helper_kill(&m->h);

	reap_killed(m);
	if (pid && m->n_killed < MAPS_READER_KILLED)
		m->killed[m->n_killed++] = pid;
	if (m->memory >= 0)
		close(m->memory);
	m->memory = -1;
	m->helper_ns = 0;
}

bool maps_reader_begin(struct maps_reader *m)
{
	m->memory = memfd_create("cprof-maps", MFD_CLOEXEC);
	if (m->memory >= 0 && helper_begin(&m->h, run_process, m))
		return true;
	drop_process(m);
	return false;
}

void maps_reader_release(struct maps_reader *m)
{
	drop_process(m);
	reap_killed(m);
	buf_release(&m->bytes);
	buf_release(&m->complaint);
	maps_reader_init(m);
}

static uint64_t wait_ms(const struct maps_reader *m)
{
	return m->silent < MAPS_READER_PATIENT ? MAPS_READER_WAIT : MAPS_READER_HURRY;
}

/* Takes an answer that is there. False: the process is lost. */
static bool take_answer(struct maps_reader *m, struct maps_process_answer *a)
{
	size_t n = sizeof(*a);
	int none;

	if (!helper_take(m->h.sock, a, &n, &none, MSG_DONTWAIT) || n != sizeof(*a) || a->id != m->questions) {
		errno = EPIPE;
		return false;
	}
	m->cut += a->until != UINT64_MAX;
	m->cpu_ns += a->cpu_ns - m->helper_ns;
	m->helper_ns = a->cpu_ns;
	return true;
}

/* Waits for the answer. False: errno is ETIMEDOUT, or the process is lost. */
static bool await_answer(struct maps_reader *m, struct maps_process_answer *a)
{
	uint64_t ms = wait_ms(m);
	uint64_t begin = host_mono_ns(), until = begin + ms * 1000000;
	uint64_t last = begin + BUSY_TIMES * ms * 1000000;
	struct pollfd p = { m->h.sock, POLLIN, 0 };

	for (;;) {
		uint64_t now = host_mono_ns();

		if (now >= last || (now >= until && !helper_is_running(&m->h))) {
			errno = ETIMEDOUT;
			return false;
		}
		if (poll(&p, 1, now < until ? (int)((until - now) / 1000000 + 1) : (int)(ms / 4)) > 0)
			break;
	}
	return take_answer(m, a);
}

static void note_silent(struct maps_reader *m, uint32_t pid)
{
	m->silent++;
	silent_users_note(&m->users, (pid_t)pid, host_mono_ns());
	if (m->complaint.n == 0)
		buf_printf(&m->complaint, "cannot read the mappings of process %u: its memory has been "
			   "locked for %d ms", pid, MAPS_READER_WAIT);
}

static bool send_question(struct maps_reader *m, uint32_t pid, bool bare)
{
	struct maps_process_question q = { .id = ++m->questions, .pid = pid, .bare = bare, .all = m->all };

	return helper_send(m->h.sock, &q, sizeof(q), -1, MSG_DONTWAIT);
}

/* Asks the helper. A lost one is replaced once; somebody may have killed it. */
static bool ask_process(struct maps_reader *m, uint32_t pid, bool bare, struct maps_process_answer *a)
{
	bool timed_out;

	for (int tries = 0; tries < 2; tries++) {
		if (m->h.sock < 0 && !maps_reader_begin(m))
			return false;
		if (send_question(m, pid, bare) && await_answer(m, a))
			return true;
		timed_out = errno == ETIMEDOUT;
		drop_process(m);
		if (timed_out) {
			note_silent(m, pid);
			return false;
		}
	}
	return false;
}

static bool read_bytes(struct maps_reader *m, uint64_t n)
{
	if (m->bytes.cap > KEEP_BYTES)
		buf_release(&m->bytes);
	buf_clear(&m->bytes);
	if (n > 2 * (uint64_t)MAPS_PROCESS_MOST || !buf_reserve(&m->bytes, n)) {
		m->bytes.failed = false;
		return false;
	}
	m->bytes.n = n;
	return pread(m->memory, m->bytes.p, n, 0) == (ssize_t)n;
}

static void deliver_mappings(const struct buf *bytes, maps_reader_found *found, void *arg)
{
	struct maps_process_mapping r;
	size_t at = 0;

	while (bytes->n - at >= sizeof(r)) {
		const uint8_t *after = bytes->p + at + sizeof(r);
		size_t left = bytes->n - at - sizeof(r), n;

		memcpy(&r, bytes->p + at, sizeof(r));
		if (r.path_n > MAPS_PROCESS_PATH || r.id_n > MAPS_PROCESS_ID)
			return;
		n = (r.path_n + r.id_n + 7) & ~7u;
		if (n > left)
			return;
		found(arg, &(struct maps_reader_mapping){
			.start = r.start, .end = r.end, .offset = r.offset, .inode = r.inode,
			.major = r.major, .minor = r.minor, .prot = r.prot, .by_query = r.by_query,
			.path = { after, r.path_n }, .build_id = { after + r.path_n, r.id_n } });
		at += sizeof(r) + n;
	}
}

/* The caller may read another process while it takes the mappings of this one: that has a buffer of its own. */
static void deliver_answer(struct maps_reader *m, maps_reader_found *found, void *arg)
{
	struct buf bytes = m->bytes;

	m->bytes = (struct buf){ 0 };
	deliver_mappings(&bytes, found, arg);
	buf_release(&m->bytes);
	m->bytes = bytes;
}

bool maps_reader_read(struct maps_reader *m, uint32_t pid, bool bare, maps_reader_found *found, void *arg)
{
	struct maps_process_answer a;

	if (silent_users_has(&m->users, (pid_t)pid, host_mono_ns()) || !ask_process(m, pid, bare, &a)) {
		m->left_out++;
		return true;
	}
	if (read_bytes(m, a.bytes))
		deliver_answer(m, found, arg);
	else
		m->left_out++;
	return a.bytes > 0;
}

bool maps_reader_ask(struct maps_reader *m, uint32_t pid, bool bare)
{
	uint64_t now = host_mono_ns();

	if (silent_users_has(&m->users, (pid_t)pid, now)) {
		m->left_out++;
		return false;
	}
	for (int tries = 0; tries < 2; tries++) {
		if (m->h.sock < 0 && !maps_reader_begin(m))
			break;
		if (send_question(m, pid, bare)) {
			m->pending = (struct maps_pending){ pid, now, now + wait_ms(m) * 1000000, 0 };
			return true;
		}
		drop_process(m);
	}
	m->left_out++;
	return false;
}

/* Is the answer late? As in await_answer, a helper that only waits for a CPU has more time. */
static bool is_silent(struct maps_reader *m, uint64_t now)
{
	uint64_t ns = wait_ms(m) * 1000000;

	if (now < m->pending.look)
		return false;
	m->pending.look = now + ns / 4;
	return now >= m->pending.asked + BUSY_TIMES * ns || !helper_is_running(&m->h);
}

enum maps_reader_said maps_reader_take(struct maps_reader *m, uint64_t now, maps_reader_found *found,
				       void *arg, uint64_t *until)
{
	struct pollfd p = { m->h.sock, POLLIN, 0 };
	struct maps_process_answer a;

	if (poll(&p, 1, 0) <= 0) {
		if (!is_silent(m, now))
			return MAPS_READER_NOTHING;
		note_silent(m, m->pending.pid);
	} else if (take_answer(m, &a) && read_bytes(m, a.bytes)) {
		*until = a.until;
		m->pending.took = a.took;
		deliver_answer(m, found, arg);
		m->pending.pid = 0;
		return MAPS_READER_READ;
	}
	drop_process(m);
	m->pending.pid = 0;
	m->pending.took = now - m->pending.asked;
	m->left_out++;
	return MAPS_READER_LOST;
}
