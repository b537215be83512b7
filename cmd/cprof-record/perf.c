/*
 * Sampling without BPF: perf's own records carry the call chain, and the same ring the side-band.
 *
 * The system with CAP_PERFMON; single processes without any privilege where perf_event_paranoid is 2
 * or lower (user stacks only). Events of single tasks are inherited by their children, and each
 * child's period starts anew: a child that lives shorter than the period is never sampled.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/cprof-record/diagnose.h"
#include "cmd/cprof-record/engine.h"
#include "cmd/cprof-record/sideband.h"

enum { RING_ORDER = 6, TRAILER = 24, TIME_AT = 16 }; /* {pid, tid}, {time}, {cpu, res} behind each record */

struct perf_engine {
	struct engine base;
	struct perf_event_attr attr;
	struct ring *rings; /* one a CPU */
	size_t n, cap;
	int *others;        /* further events that write into those rings */
	size_t n_others, cap_others;
	struct idle_ranges idle;
	struct queue *queue;
	uint64_t idle_seen, throttled;
};

static struct perf_engine *of(struct engine *e)
{
	return (struct perf_engine *)e;
}

/* On a CPU that is not to be sampled the event only tells what happens there. */
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

static bool opens(struct perf_engine *p, pid_t pid, unsigned int cpu, int *fd)
{
	while ((*fd = open_event(p, pid, cpu)) < 0) {
		if ((errno == EACCES || errno == EPERM) && !p->attr.exclude_kernel && !p->base.options->kernel_only)
			p->attr.exclude_kernel = p->attr.exclude_callchain_kernel = 1;
		else if (errno != EINVAL || !sideband_attr_older(&p->attr))
			return false;
	}
	return true;
}

static struct ring *ring_of(struct perf_engine *p, unsigned int cpu)
{
	for (size_t i = 0; i < p->n; i++) {
		if (p->rings[i].cpu == cpu)
			return &p->rings[i];
	}
	return NULL;
}

/* One event; it brings a ring of its own, or writes into the CPU's. False: errno. */
static bool add_event(struct perf_engine *p, pid_t pid, unsigned int cpu)
{
	struct ring *ring = ring_of(p, cpu);
	int fd;

	if (!grow_array(&p->rings, &p->cap, p->n, sizeof(*p->rings)) ||
	    !grow_array(&p->others, &p->cap_others, p->n_others, sizeof(*p->others))) {
		errno = ENOMEM;
		return false;
	}
	ring = ring_of(p, cpu);
	if (!opens(p, pid, cpu, &fd))
		return false;
	if (ring) {
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) == 0) {
			p->others[p->n_others++] = fd;
			return true;
		}
	} else if (ring_map(&p->rings[p->n], fd, cpu, RING_ORDER)) {
		p->n++;
		return true;
	}
	close(fd);
	return false;
}

/* Every thread that the process has now; those that come are inherited. */
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

static bool add_targets(struct perf_engine *p, const struct cpu_list *online)
{
	const struct options *o = p->base.options;

	for (size_t i = 0; i < o->n_pids; i++) {
		if (!add_process(p, o->pids[i], online))
			return false;
	}
	for (size_t i = 0; i < o->n_tids; i++) {
		for (size_t c = 0; c < online->n; c++) {
			if (!add_event(p, o->tids[i], online->items[c]))
				return false;
		}
	}
	for (size_t c = 0; !options_targeted(o) && c < online->n; c++) {
		if (!add_event(p, -1, online->items[c]))
			return false;
	}
	return true;
}

static bool is_idle(const struct perf_engine *p, uint64_t ip)
{
	return (ip >= p->idle.start[0] && ip < p->idle.end[0]) || (ip >= p->idle.start[1] && ip < p->idle.end[1]);
}

/* Splits a call chain at its context markers; the addresses follow the head, kernel first. */
static size_t split_chain(struct cursor *c, uint64_t n, struct sample_head *head, uint64_t *out)
{
	short *count = NULL;
	size_t total = 0;

	for (; n > 0 && cursor_left(c) >= 8 && total < 2 * SAMPLE_DEPTH_MAX; n--) {
		uint64_t ip;

		memcpy(&ip, c->p, sizeof(ip));
		c->p += sizeof(ip);
		if (ip >= PERF_CONTEXT_MAX)
			count = ip == PERF_CONTEXT_KERNEL ? &head->kernel_n : ip == PERF_CONTEXT_USER ? &head->user_n : NULL;
		else if (count && *count < SAMPLE_DEPTH_MAX) {
			out[total++] = ip;
			++*count;
		}
	}
	return total;
}

/* IP TID TIME CPU PERIOD CALLCHAIN and maybe CGROUP, in the order of perf_event_open(2). */
static void take_sample(struct perf_engine *p, const struct perf_event_header *h)
{
	struct {
		struct sample_head head;
		uint64_t addresses[2 * SAMPLE_DEPTH_MAX];
	} s = { 0 };
	struct { uint64_t ip; uint32_t pid, tid; uint64_t time; uint32_t cpu, res; uint64_t period, n; } fixed;
	struct cursor c = cursor_over(h + 1, h->size - sizeof(*h)), behind;
	size_t total;

	if (cursor_left(&c) < sizeof(fixed))
		return;
	memcpy(&fixed, c.p, sizeof(fixed));
	c.p += sizeof(fixed);
	if (fixed.pid == 0 && is_idle(p, fixed.ip)) {
		p->idle_seen++;
		return;
	}
	s.head.time = fixed.time;
	s.head.pid = fixed.pid;
	s.head.tid = fixed.tid;
	s.head.cpu = fixed.cpu;
	s.head.weight = p->base.options->cycles ? fixed.period : 0;
	behind = c;
	if ((p->attr.sample_type & PERF_SAMPLE_CGROUP) && fixed.n < cursor_left(&c) / 8) {
		behind.p += fixed.n * 8;
		memcpy(&s.head.cgroup, behind.p, sizeof(s.head.cgroup));
	}
	total = split_chain(&c, fixed.n, &s.head, s.addresses);
	queue_push(p->queue, ITEM_SAMPLE, fixed.time, &s, sizeof(s.head) + total * 8);
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
	if (h->size < sizeof(*h) + TRAILER)
		return;
	memcpy(&time, (const uint8_t *)h + h->size - TIME_AT, sizeof(time));
	queue_push(p->queue, ITEM_SIDEBAND, time, h, h->size);
}

static void drain(struct engine *e, struct queue *q)
{
	struct perf_engine *p = of(e);

	p->queue = q;
	for (size_t i = 0; i < p->n; i++)
		ring_drain(&p->rings[i], take_record, p);
	p->queue = NULL;
}

static bool enable(struct engine *e, struct buf *error)
{
	(void)e;
	(void)error;
	return true; /* the events run from the start: what samples and what tells are the same here */
}

static bool add_cpu(struct engine *e, unsigned int cpu)
{
	return options_targeted(e->options) || add_event(of(e), -1, cpu);
}

static void drop_cpu(struct engine *e, unsigned int cpu)
{
	struct perf_engine *p = of(e);
	struct ring *r = ring_of(p, cpu);

	if (r && !options_targeted(e->options)) {
		ring_close(r);
		*r = p->rings[--p->n];
	}
}

static void watch(struct engine *e, int epoll)
{
	for (size_t i = 0; i < of(e)->n; i++)
		ring_watch(&of(e)->rings[i], epoll);
}

/* The clock of the tasks themselves: what they ran is what had to be sampled. */
static uint64_t clock_of(int fd)
{
	uint64_t ns = 0;

	return read(fd, &ns, sizeof(ns)) == sizeof(ns) ? ns : 0;
}

static void refresh(struct engine *e)
{
	(void)e; /* they are counted here */
}

static void counts(struct engine *e, unsigned int cpu, struct engine_counts *c)
{
	struct perf_engine *p = of(e);
	uint64_t ns = 0;

	(void)cpu;
	*c = (struct engine_counts){ .expects = options_targeted(e->options) && !e->options->cycles };
	c->outcomes[OUTCOME_IDLE] = p->idle_seen;
	c->outcomes[OUTCOME_THROTTLED] = p->throttled;
	if (!c->expects)
		return;
	for (size_t i = 0; i < p->n; i++)
		ns += clock_of(p->rings[i].fd);
	for (size_t i = 0; i < p->n_others; i++)
		ns += clock_of(p->others[i]);
	c->outcomes[OUTCOME_EXPECTED] = ns / engine_period(e->options);
}

static bool tell(struct engine *e, uint32_t pid, const struct unwind_space *space)
{
	(void)e; /* all stacks are walked where the mappings are known */
	(void)pid;
	(void)space;
	return true;
}

static void follow(struct engine *e, uint32_t parent, uint32_t child)
{
	(void)e; /* children inherit the event */
	(void)parent;
	(void)child;
}

static void forget(struct engine *e, uint32_t pid)
{
	(void)e;
	(void)pid;
}

static void stop(struct engine *e)
{
	struct perf_engine *p = of(e);

	for (size_t i = 0; i < p->n_others; i++)
		ioctl(p->others[i], PERF_EVENT_IOC_DISABLE, 0);
	for (size_t i = 0; i < p->n; i++)
		ioctl(p->rings[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

static void close_engine(struct engine *e)
{
	struct perf_engine *p = of(e);

	for (size_t i = 0; i < p->n_others; i++)
		close(p->others[i]);
	for (size_t i = 0; i < p->n; i++)
		ring_close(&p->rings[i]);
	free(p->others);
	free(p->rings);
	free(p);
}

static const struct engine_ops ops = {
	.name = "perf", .sample = enable, .add_cpu = add_cpu, .drop_cpu = drop_cpu, .drain = drain,
	.watch = watch, .refresh = refresh, .counts = counts, .tell = tell, .follow = follow, .forget = forget,
	.stop = stop, .close = close_engine,
};

struct engine *perf_engine_open(const struct options *o, const struct cpu_list *online,
				const struct idle_ranges *idle, struct buf *error)
{
	struct perf_engine *p = calloc(1, sizeof(*p));

	if (!p) {
		buf_text(error, "out of memory");
		return NULL;
	}
	host_raise_files(); /* an event a thread and CPU */
	p->base = (struct engine){ .ops = &ops, .options = o };
	p->idle = *idle;
	engine_attr(&p->attr, o);
	sideband_attr(&p->attr);
	p->attr.disabled = 0;
	p->attr.inherit = o->n_pids > 0; /* what a thread starts is not that thread */
	p->attr.exclude_idle = !idle->start[0];
	p->attr.exclude_guest = 1;
	p->attr.exclude_callchain_kernel = o->user_only;
	p->attr.exclude_callchain_user = o->kernel_only;
	p->attr.sample_max_stack = (uint16_t)o->chain_depth;
	p->attr.sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_CGROUP;
	p->attr.watermark = 1;
	p->attr.wakeup_watermark = (4096u << RING_ORDER) / 8;
	if (!add_targets(p, online)) {
		diagnose_perf(errno, !options_targeted(o), error);
		close_engine(&p->base);
		return NULL;
	}
	return &p->base;
}
