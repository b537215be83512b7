/*
 * Samples without BPF: perf's own records carry the call chain, and the same ring carries the side-band.
 *
 * Recording the system requires CAP_PERFMON. Single processes need no privilege if perf_event_paranoid is 2
 * or lower (user stacks only). Children inherit the events of single tasks, and each child's period starts
 * again: a child that lives shorter than the period is never sampled.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/cprof-record/host/diagnose.h"
#include "cmd/cprof-record/source/engine.h"
#include "cmd/cprof-record/rings/sideband.h"
#include "common/base/array.h"
#include "common/base/idmap.h"
#include "common/walk/state.h"

enum {
	TRAILER = 24, TIME_AT = 16, /* each record ends with {pid, tid}, {time}, {cpu, res} */
	STACK_BYTES = 16 << 10,
	REGS = 0xff01ff, /* arch/x86/include/uapi/asm/perf_regs.h: ax bx cx dx si di bp sp ip, r8 to r15 */
};

struct perf_engine {
	struct engine base;
	struct perf_event_attr attr;
	struct perf_ring *rings; /* one per CPU */
	size_t n, cap;
	uint32_t *places;   /* by CPU: index of its ring, plus 1; used for each thread's event on each CPU */
	size_t n_places, cap_places;
	int *others;        /* further events that write to these rings */
	size_t n_others, cap_others;
	struct idmap processes; /* selected ones, and all that they have started; the values mean nothing */
	struct idle_ranges idle;
	struct queue *queue;
	struct buf record;  /* the current sample in the queue's format */
	void **shards;      /* the store's memory */
	size_t n_shards, cap_shards;
	uint64_t idle_seen, throttled, lost;
};

static struct perf_engine *perf_of(struct engine *e)
{
	return (struct perf_engine *)e;
}

/* On a CPU that is not sampled, the event only delivers the side-band. */
static int open_event(const struct perf_engine *p, pid_t pid, unsigned int cpu)
{
	struct perf_event_attr attr = p->attr;

	if (!options_samples(p->base.options, cpu)) {
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_DUMMY;
		attr.freq = 0;
		attr.sample_period = 0;
	}
	return event_open(&attr, pid, (int)cpu);
}

/* Opens an event. Gives up kernel samples without the privilege, and newer attributes on older kernels. */
static bool open_with_fallbacks(struct perf_engine *p, pid_t pid, unsigned int cpu, int *fd)
{
	while ((*fd = open_event(p, pid, cpu)) < 0) {
		if ((errno == EACCES || errno == EPERM) && !p->attr.exclude_kernel && !p->base.options->kernel_only)
			p->attr.exclude_kernel = p->attr.exclude_callchain_kernel = 1;
		else if (errno != EINVAL || !sideband_attr_older(&p->attr))
			return false;
	}
	return true;
}

static struct perf_ring *ring_of(struct perf_engine *p, unsigned int cpu)
{
	return cpu < p->n_places && p->places[cpu] ? &p->rings[p->places[cpu] - 1] : NULL;
}

static void close_ring(struct perf_engine *p, unsigned int cpu)
{
	struct perf_ring *r = ring_of(p, cpu);

	if (!r)
		return;
	p->places[p->rings[p->n - 1].cpu] = p->places[cpu];
	p->places[cpu] = 0;
	perf_ring_close(r);
	*r = p->rings[--p->n];
}

static bool reserve_place(struct perf_engine *p, unsigned int cpu)
{
	while (p->n_places <= cpu) {
		if (!grow_array(&p->places, &p->cap_places, p->n_places, sizeof(*p->places)))
			return false;
		p->places[p->n_places++] = 0;
	}
	return true;
}

/* Adds an event. The first one on a CPU gets a ring, and later ones write to it. Returns false with errno. */
static bool add_event(struct perf_engine *p, pid_t pid, unsigned int cpu)
{
	struct perf_ring *ring;
	int fd;

	if (!reserve_place(p, cpu) || !grow_array(&p->rings, &p->cap, p->n, sizeof(*p->rings)) ||
	    !grow_array(&p->others, &p->cap_others, p->n_others, sizeof(*p->others))) {
		errno = ENOMEM;
		return false;
	}
	ring = ring_of(p, cpu); /* only after the array has grown */
	if (!open_with_fallbacks(p, pid, cpu, &fd))
		return false;
	if (ring) {
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) == 0) {
			p->others[p->n_others++] = fd;
			return true;
		}
	} else if (perf_ring_map(&p->rings[p->n], fd, cpu, p->base.options->memory.sideband)) {
		p->places[cpu] = (uint32_t)++p->n;
		return true;
	}
	close(fd);
	return false;
}

/* Adds every thread that the process has now; threads created later inherit the events. */
static bool add_process(struct perf_engine *p, pid_t pid, const struct cpu_list *online)
{
	char path[64];
	struct dirent *e;
	bool any = false;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	if (!d) {
		errno = ESRCH;
		return false;
	}
	while ((e = readdir(d))) {
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);

		for (size_t i = 0; tid > 0 && i < online->n; i++) {
			if (add_event(p, tid, online->items[i])) {
				any = true;
			} else if (errno != ESRCH) {
				closedir(d);
				return false;
			}
		}
	}
	closedir(d);
	errno = ESRCH;
	return any;
}

/* Adds what still exists of the targets on a CPU that came online later. False: errno; nothing is added. */
static bool add_targets_later(struct perf_engine *p, unsigned int cpu)
{
	const struct options *o = p->base.options;
	const struct cpu_list one = { &cpu, 1, 1 };
	size_t others = p->n_others;
	bool good = true;
	int saved;

	for (size_t i = 0; good && p->processes.n && i <= p->processes.mask; i++)
		good = !p->processes.values[i] || add_process(p, (pid_t)p->processes.keys[i], &one) ||
		       errno == ESRCH;
	for (size_t i = 0; good && i < o->n_tids; i++)
		good = add_event(p, o->tids[i], cpu) || errno == ESRCH;
	if (good)
		return true;
	saved = errno;
	while (p->n_others > others)
		close(p->others[--p->n_others]);
	close_ring(p, cpu);
	errno = saved;
	return false;
}

static bool add_targets(struct perf_engine *p, const struct cpu_list *online)
{
	const struct options *o = p->base.options;

	for (size_t i = 0; i < o->n_pids; i++) {
		if (!add_process(p, o->pids[i], online) || !idmap_set(&p->processes, (uint64_t)o->pids[i], 1))
			return false;
	}
	for (size_t i = 0; i < o->n_tids; i++) {
		for (size_t c = 0; c < online->n; c++) {
			if (!add_event(p, o->tids[i], online->items[c]))
				return false;
		}
	}
	for (size_t c = 0; !options_targeted(o) && c < online->n; c++) {
		if (!add_event(p, -1, online->items[c]) && errno != ENODEV)
			return false;
	}
	return p->n > 0;
}

static bool is_idle(const struct perf_engine *p, uint64_t ip)
{
	return (ip >= p->idle.start[0] && ip < p->idle.end[0]) || (ip >= p->idle.start[1] && ip < p->idle.end[1]);
}

/* Copies one half of a call chain, found by its context markers. Returns its length. */
static short copy_half(struct cursor c, uint64_t n, uint64_t context, struct buf *out)
{
	bool in = false;
	short got = 0;

	for (; n > 0 && cursor_left(&c) >= 8; n--) {
		uint64_t ip;

		memcpy(&ip, c.p, sizeof(ip));
		c.p += sizeof(ip);
		if (ip >= PERF_CONTEXT_MAX) {
			in = ip == context;
		} else if (in && got < SAMPLE_DEPTH_MAX) {
			buf_bytes(out, &ip, sizeof(ip));
			got++;
		}
	}
	return got;
}

/* Reads the user's registers. Returns false if the sample has none, or those of 32-bit code. */
static bool take_regs(struct cursor *c, struct sample_state *state)
{
	static const uint8_t dwarf[] = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15 };
	uint64_t abi = cursor_take64(c);

	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return false;
	*state = (struct sample_state){ .exact = 1, .inner = 1, .bx_known = 1 };
	for (size_t i = 0; i < sizeof(dwarf); i++)
		state->regs[dwarf[i]] = cursor_take64(c);
	return abi == PERF_SAMPLE_REGS_ABI_64 && state->regs[UNWIND_RIP];
}

/* Reads the copied part of the user stack: {size, bytes, number of valid bytes}, or only a size of 0. */
static struct slice take_stack(struct cursor *c)
{
	uint64_t size = cursor_take64(c), used;
	struct slice s = { c->p, 0 };

	if (size == 0 || size > cursor_left(c))
		return s;
	c->p += size;
	used = cursor_take64(c);
	s.n = used < size ? used : size;
	return s;
}

/* Appends the user stack: the leaf, and the registers and stack bytes to walk on from there. */
static void put_state(struct buf *out, struct sample_head *head, const struct sample_state *state, struct slice stack)
{
	uint64_t leaf = state->regs[UNWIND_RIP] | SAMPLE_EXACT;

	buf_bytes(out, &leaf, sizeof(leaf));
	buf_bytes(out, state, sizeof(*state));
	buf_bytes(out, stack.p, stack.n);
	head->user_n = 1;
	head->user_by = SAMPLE_BY_TABLE;
	head->user_end = WALK_ASK;
	head->deferred = head->has_state = 1;
	head->stack_n = (uint32_t)stack.n;
}

/*
 * Queues a sample. Its fields, in the order of perf_event_open(2): IP TID TIME CPU PERIOD CALLCHAIN, and
 * optionally REGS_USER, STACK_USER, CGROUP.
 */
static void take_sample(struct perf_engine *p, const struct perf_event_header *h)
{
	struct { uint64_t ip; uint32_t pid, tid; uint64_t time; uint32_t cpu, res; uint64_t period, n; } fixed;
	struct cursor c = cursor_over(h + 1, h->size - sizeof(*h)), chain;
	struct sample_head head = { 0 };
	struct sample_state state;
	struct slice stack = { NULL, 0 };
	bool regs = false;

	if (cursor_left(&c) < sizeof(fixed)) {
		p->queue->lost[ITEM_SAMPLE]++;
		return;
	}
	memcpy(&fixed, c.p, sizeof(fixed));
	c.p += sizeof(fixed);
	if (fixed.pid == 0 && is_idle(p, fixed.ip)) {
		p->idle_seen++;
		return;
	}
	if (fixed.n > cursor_left(&c) / 8) {
		p->queue->lost[ITEM_SAMPLE]++;
		return;
	}
	head.time = fixed.time;
	head.pid = fixed.pid;
	head.tid = fixed.tid;
	head.cpu = fixed.cpu;
	head.weight = p->base.options->cycles ? fixed.period : 0;
	chain = c;
	c.p += fixed.n * 8;
	if (p->base.by_tables) {
		regs = take_regs(&c, &state);
		stack = take_stack(&c);
	}
	if (p->attr.sample_type & PERF_SAMPLE_CGROUP)
		head.cgroup = cursor_take64(&c);
	buf_clear(&p->record);
	buf_bytes(&p->record, &head, sizeof(head));
	head.kernel_n = copy_half(chain, fixed.n, PERF_CONTEXT_KERNEL, &p->record);
	if (regs)
		put_state(&p->record, &head, &state, stack);
	else
		head.user_n = copy_half(chain, fixed.n, PERF_CONTEXT_USER, &p->record);
	if (p->record.failed) {
		p->queue->lost[ITEM_SAMPLE]++;
		return;
	}
	memcpy(p->record.p, &head, sizeof(head));
	queue_push(p->queue, ITEM_SAMPLE, fixed.time, p->record.p, p->record.n);
}

static void take_record(void *arg, unsigned int cpu, const struct perf_event_header *h)
{
	struct perf_engine *p = arg;
	uint64_t time;

	(void)cpu;
	if (h->type == PERF_RECORD_SAMPLE) {
		take_sample(p, h);
		return;
	}
	if (h->type == PERF_RECORD_THROTTLE)
		p->throttled++;
	if (h->type == PERF_RECORD_LOST) {
		struct cursor c = cursor_over(h + 1, h->size - sizeof(*h));

		cursor_take64(&c); /* id */
		p->lost += cursor_take64(&c);
	}
	if (h->size < sizeof(*h) + TRAILER)
		return;
	memcpy(&time, (const uint8_t *)h + h->size - TIME_AT, sizeof(time));
	queue_push(p->queue, ITEM_SIDEBAND, time, h, h->size);
}

static void drain(struct engine *e, struct queue *q)
{
	struct perf_engine *p = perf_of(e);

	p->queue = q;
	for (size_t i = 0; i < p->n; i++) {
		if (perf_ring_drain(&p->rings[i], take_record, p))
			continue;
		q->lost[ITEM_SAMPLE]++; /* at least one record of either kind */
		q->lost[ITEM_SIDEBAND]++;
	}
	p->queue = NULL;
}

static bool enable(struct engine *e, struct buf *error)
{
	(void)e;
	(void)error;
	return true; /* the events run from the start: the same ones sample and deliver the side-band */
}

static bool add_cpu(struct engine *e, unsigned int cpu)
{
	struct perf_engine *p = perf_of(e);

	if (!options_targeted(e->options))
		return add_event(p, -1, cpu);
	return ring_of(p, cpu) || add_targets_later(p, cpu);
}

/* Events of tasks stay: they go on when the CPU is back. */
static void drop_cpu(struct engine *e, unsigned int cpu)
{
	if (!options_targeted(e->options))
		close_ring(perf_of(e), cpu);
}

static bool has_cpu(struct engine *e, unsigned int cpu)
{
	return ring_of(perf_of(e), cpu) != NULL;
}

static void watch(struct engine *e, int epoll)
{
	for (size_t i = 0; i < perf_of(e)->n; i++)
		perf_ring_watch(&perf_of(e)->rings[i], epoll);
}

/* Returns the CPU time that an event counted for its task, all of which should have been sampled. */
static uint64_t clock_of(int fd)
{
	uint64_t ns = 0;

	return read(fd, &ns, sizeof(ns)) == sizeof(ns) ? ns : 0;
}

static void read_perf_counts(struct engine *e, unsigned int cpu, struct engine_counts *c)
{
	struct perf_engine *p = perf_of(e);
	uint64_t ns = 0;

	(void)cpu;
	*c = (struct engine_counts){ .expects = options_targeted(e->options) && !e->options->cycles };
	c->outcomes[OUTCOME_IDLE] = p->idle_seen;
	c->outcomes[OUTCOME_THROTTLED] = p->throttled;
	c->outcomes[OUTCOME_RING_FULL] = p->lost;
	if (!c->expects)
		return;
	for (size_t i = 0; i < p->n; i++)
		ns += clock_of(p->rings[i].fd);
	for (size_t i = 0; i < p->n_others; i++)
		ns += clock_of(p->others[i]);
	c->outcomes[OUTCOME_EXPECTED] = ns / engine_period(e);
}

/* Children inherit the events. They must be known if another CPU comes online. */
static void follow(struct engine *e, uint32_t parent, uint32_t child)
{
	struct perf_engine *p = perf_of(e);
	uint32_t value;

	if (idmap_find(&p->processes, parent, &value))
		idmap_set(&p->processes, child, 1); /* if out of memory, it is not sampled on such a CPU */
}

static void forget(struct engine *e, uint32_t pid)
{
	idmap_remove(&perf_of(e)->processes, pid);
}

static void stop(struct engine *e)
{
	struct perf_engine *p = perf_of(e);

	for (size_t i = 0; i < p->n_others; i++)
		ioctl(p->others[i], PERF_EVENT_IOC_DISABLE, 0);
	for (size_t i = 0; i < p->n; i++)
		ioctl(p->rings[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	e->ended = host_mono_ns();
}

static void close_engine(struct engine *e)
{
	struct perf_engine *p = perf_of(e);

	for (size_t i = 0; i < p->n_others; i++)
		close(p->others[i]);
	for (size_t i = 0; i < p->n; i++)
		perf_ring_close(&p->rings[i]);
	store_free(p->base.store);
	for (size_t i = 0; i < p->n_shards; i++)
		free(p->shards[i]);
	free(p->shards);
	buf_release(&p->record);
	idmap_release(&p->processes);
	free(p->others);
	free(p->places);
	free(p->rings);
	free(p);
}

static const struct engine_ops ops = {
	.name = "perf", .sample = enable, .add_cpu = add_cpu, .has_cpu = has_cpu, .drop_cpu = drop_cpu, .drain = drain,
	.watch = watch, .counts = read_perf_counts, .follow = follow, .forget = forget,
	.stop = stop, .close = close_engine,
};

static void *add_shard(void *arg, enum store_area area, uint32_t shard, size_t bytes)
{
	struct perf_engine *p = arg;

	(void)area;
	(void)shard;
	if (!grow_array(&p->shards, &p->cap_shards, p->n_shards, sizeof(void *)))
		return NULL;
	p->shards[p->n_shards] = calloc(1, bytes);
	return p->shards[p->n_shards] ? p->shards[p->n_shards++] : NULL;
}

/* Requests registers and a part of the stack, which are walked before the sample is written. */
static bool want_stacks(struct perf_engine *p)
{
	struct store_backing backing = { add_shard, p };

	p->base.by_tables = p->base.options->unwind != BY_FP && !p->base.options->kernel_only;
	if (!p->base.by_tables)
		return true;
	p->attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	p->attr.sample_regs_user = REGS;
	p->attr.sample_stack_user = STACK_BYTES;
	p->base.store = store_new(&backing, p->base.options->memory.unwind_mem);
	return p->base.store != NULL;
}

struct engine *perf_engine_open(const struct options *o, const struct cpu_list *online,
				const struct idle_ranges *idle, struct buf *error)
{
	struct perf_engine *p = calloc(1, sizeof(*p));

	if (!p) {
		buf_text(error, "out of memory");
		return NULL;
	}
	p->base = (struct engine){ .ops = &ops, .options = o, .rate = { o->hertz, o->most } };
	p->idle = *idle;
	idmap_init(&p->processes);
	engine_attr(&p->attr, &p->base);
	sideband_attr(&p->attr);
	p->attr.disabled = 0;
	p->attr.inherit = o->n_pids > 0; /* not with -t: a thread's children are not that thread */
	p->attr.exclude_idle = !idle->start[0];
	p->attr.exclude_guest = 1;
	p->attr.exclude_callchain_kernel = o->user_only;
	p->attr.exclude_callchain_user = o->kernel_only;
	p->attr.sample_max_stack = (uint16_t)o->chain_depth;
	p->attr.sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_CGROUP;
	p->attr.watermark = 1;
	p->attr.wakeup_watermark = 0; /* half of the ring */
	if (!want_stacks(p)) {
		buf_text(error, "out of memory");
		close_engine(&p->base);
		return NULL;
	}
	if (!add_targets(p, online)) {
		diagnose_perf(errno, !options_targeted(o), error);
		close_engine(&p->base);
		return NULL;
	}
	return &p->base;
}
