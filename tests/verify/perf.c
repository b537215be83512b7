/*
 * States by perf events: the command's and its children's user registers and up to 64 KiB of stack.
 *
 * All records are kept until the command ends, then sorted by time: side-band records and samples use
 * separate rings, so that no mapping is lost if samples come too fast. Files are opened at once.
 */
#include <asm/perf_regs.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/rings/perf_ring.h"
#include "cmd/cprof-record/rings/sideband.h"
#include "tests/verify/state.h"

enum { SAMPLE_RING = 16 << 20, LEAST_RING = 256 << 10, STACK_BYTES = 65528, TICK_MS = 20 };

struct process {
	pid_t pid;
	struct maps maps;
	size_t image; /* number of the image of the mappings, while fresh */
	bool fresh;
};

struct collector {
	struct states *states;
	struct queue queue;
	struct perf_ring *samples, *side; /* one a CPU */
	size_t n;
	size_t n_samples;
	struct process *processes;
	size_t n_processes, cap_processes;
};

/* DWARF's number of each register in the order of the bits in sample_regs_user. */
static const struct { unsigned int perf, dwarf; } registers[] = {
	{ PERF_REG_X86_AX, 0 }, { PERF_REG_X86_BX, 3 }, { PERF_REG_X86_CX, 2 }, { PERF_REG_X86_DX, 1 },
	{ PERF_REG_X86_SI, 4 }, { PERF_REG_X86_DI, 5 }, { PERF_REG_X86_BP, 6 }, { PERF_REG_X86_SP, 7 },
	{ PERF_REG_X86_IP, 16 }, { PERF_REG_X86_R8, 8 }, { PERF_REG_X86_R9, 9 }, { PERF_REG_X86_R10, 10 },
	{ PERF_REG_X86_R11, 11 }, { PERF_REG_X86_R12, 12 }, { PERF_REG_X86_R13, 13 }, { PERF_REG_X86_R14, 14 },
	{ PERF_REG_X86_R15, 15 },
};

static struct perf_event_attr sample_attr(unsigned int frequency)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000 / frequency,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_stack_user = STACK_BYTES,
		.disabled = 1, .inherit = 1, .enable_on_exec = 1, .use_clockid = 1, .clockid = CLOCK_MONOTONIC,
	};

	for (size_t i = 0; i < sizeof(registers) / sizeof(*registers); i++)
		attr.sample_regs_user |= 1ull << registers[i].perf;
	return attr;
}

static struct perf_event_attr side_attr(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME, .sample_id_all = 1,
		.mmap = 1, .mmap2 = 1, .mmap_data = 1, .comm = 1, .comm_exec = 1, .task = 1,
		.disabled = 1, .inherit = 1, .enable_on_exec = 1, .use_clockid = 1, .clockid = CLOCK_MONOTONIC,
	};
}

/* Returns false if there is no memory for so large a ring. */
static bool open_ring(struct perf_ring *r, struct perf_event_attr attr, pid_t pid, unsigned int cpu, size_t bytes)
{
	int fd = event_open(&attr, pid, (int)cpu);

	if (fd < 0 && (errno == EACCES || errno == EPERM)) {
		attr.exclude_kernel = 1;
		fd = event_open(&attr, pid, (int)cpu);
	}
	if (fd < 0)
		die("perf_event_open: %s", strerror(errno));
	if (perf_ring_map(r, fd, cpu, bytes) && r->size >= bytes)
		return true;
	r->fd = fd;
	return false;
}

static void close_rings(struct collector *c)
{
	for (size_t i = 0; i < c->n; i++) {
		perf_ring_close(&c->samples[i]);
		perf_ring_close(&c->side[i]);
	}
	memset(c->samples, 0, c->n * sizeof(*c->samples));
	memset(c->side, 0, c->n * sizeof(*c->side));
	c->n = 0;
}

static bool open_all(struct collector *c, const struct cpu_list *cpus, pid_t pid, unsigned int hertz,
		     size_t bytes)
{
	for (; c->n < cpus->n; c->n++) {
		struct perf_ring *side = &c->side[c->n], *samples = &c->samples[c->n];
		unsigned int cpu = cpus->items[c->n];

		samples->fd = -1;
		if (!open_ring(side, side_attr(), pid, cpu, bytes / 4) ||
		    !open_ring(samples, sample_attr(hertz), pid, cpu, bytes)) {
			c->n++;
			return false;
		}
	}
	return true;
}

/* Opens rings as large as locked memory allows: half a megabyte per CPU without privilege. */
static void open_rings(struct collector *c, pid_t pid, const struct source_options *o)
{
	struct cpu_list cpus = { 0 };

	if (!host_online_cpus(&cpus))
		die("which CPUs are online?");
	c->samples = calloc(cpus.n, sizeof(*c->samples));
	c->side = calloc(cpus.n, sizeof(*c->side));
	if (!c->samples || !c->side)
		die("out of memory");
	for (size_t bytes = SAMPLE_RING; !open_all(c, &cpus, pid, o->frequency, bytes); bytes /= 2) {
		close_rings(c);
		if (bytes == LEAST_RING)
			die("perf_event_open: no memory may be locked for rings");
	}
	cpu_list_release(&cpus);
}

/* Forks a child that waits for a byte before it executes the command. */
static pid_t prepare(char **argv, int *go)
{
	int pipes[2];
	pid_t pid;
	char c;

	if (pipe(pipes) < 0 || (pid = fork()) < 0)
		die("fork: %s", strerror(errno));
	if (pid == 0) {
		int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int fd = 0; fd < 3; fd++)
			dup2(nowhere, fd);
		close(pipes[1]);
		if (read(pipes[0], &c, 1) != 1)
			_exit(1);
		close(pipes[0]);
		execvp(argv[0], argv);
		_exit(127);
	}
	setpgid(pid, pid);
	close(pipes[0]);
	*go = pipes[1];
	return pid;
}

/* Keeps a side-band record with the number of its file in front, because later the file cannot be opened. */
static void take_side(void *arg, unsigned int cpu, const struct perf_event_header *h)
{
	struct collector *c = arg;
	struct change change;
	struct buf b = { 0 };
	uint64_t file = 0;

	(void)cpu;
	if (!sideband_decode(&change, h, 8, 8))
		return;
	if (change.kind == CHANGE_LOST)
		die("mappings were lost");
	if (change.kind == CHANGE_MMAP && (change.prot & 4)) {
		char *path = strndup((const char *)change.text.p, change.text.n);

		/* By the path alone: if others request build IDs, Linux 6.18 says that ours are there too. */
		if (path)
			file = states_file(c->states, (pid_t)change.pid, path);
		free(path);
	}
	buf_bytes(&b, &file, sizeof(file));
	buf_bytes(&b, h, h->size);
	queue_push(&c->queue, ITEM_SIDEBAND, change.time, b.p, b.n);
	buf_release(&b);
}

static void take_sample(void *arg, unsigned int cpu, const struct perf_event_header *h)
{
	struct collector *c = arg;
	uint64_t time;

	(void)cpu;
	if (h->type == PERF_RECORD_LOST) {
		memcpy(&time, (const uint8_t *)(h + 1) + 8, sizeof(time));
		c->states->lost += time;
	}
	if (h->type != PERF_RECORD_SAMPLE)
		return;
	memcpy(&time, (const uint8_t *)(h + 1) + 8, sizeof(time));
	queue_push(&c->queue, ITEM_SAMPLE, time, h, h->size);
	c->n_samples++;
}

static void drain(struct collector *c)
{
	for (size_t i = 0; i < c->n; i++) {
		perf_ring_drain(&c->side[i], take_side, c);
		perf_ring_drain(&c->samples[i], take_sample, c);
	}
}

static struct process *process_of(struct collector *c, pid_t pid)
{
	for (size_t i = c->n_processes; i-- > 0;) {
		if (c->processes[i].pid == pid)
			return &c->processes[i];
	}
	GROW(c->processes, c->cap_processes, c->n_processes);
	c->processes[c->n_processes] = (struct process){ .pid = pid };
	return &c->processes[c->n_processes++];
}

static void map(struct process *p, const struct change *c, uint32_t file)
{
	struct map m = { c->start, c->start + c->length, c->offset, file, c->prot };
	bool changed = false;

	if ((m.prot & 4) ? !maps_add(&p->maps, &m, &changed) : !maps_remove(&p->maps, m.start, m.end, &changed))
		die("out of memory");
	p->fresh &= !changed && !(m.prot & 4); /* maps_add does not count a new mapping as a change */
}

static void apply(struct collector *c, const struct change *change, uint32_t file)
{
	const struct process *parent = change->kind == CHANGE_FORK ? process_of(c, (pid_t)change->ppid) : NULL;
	struct process *p = process_of(c, (pid_t)change->pid);

	switch (change->kind) {
	case CHANGE_MMAP:
		map(p, change, file);
		break;
	case CHANGE_EXEC:
		maps_release(&p->maps);
		p->fresh = false;
		break;
	case CHANGE_FORK:
		if (change->pid == change->ppid)
			break;
		maps_release(&p->maps);
		parent = process_of(c, (pid_t)change->ppid); /* it may have moved */
		maps_copy(&p->maps, &parent->maps);
		p->fresh = false;
		break;
	default:
		break;
	}
}

/* Decodes {pid, tid}, time, abi, registers, stack size, stack, valid bytes of the stack. */
static void add_state(struct collector *c, const struct perf_event_header *h)
{
	const uint8_t *end = (const uint8_t *)h + h->size;
	const uint64_t *w = (const void *)(h + 1);
	uint64_t by_perf[64] = { 0 }, mask = sample_attr(1).sample_regs_user, stack, there;
	struct process *p;
	struct state *s;

	if (w[2] != PERF_SAMPLE_REGS_ABI_64)
		return; /* a 32-bit process, or no user registers */
	w += 3;
	for (unsigned int i = 0; i < 64; i++) {
		if (mask >> i & 1)
			by_perf[i] = *w++;
	}
	stack = *w++;
	if (stack == 0 || (const uint8_t *)w + stack + 8 > end)
		return;
	memcpy(&there, (const uint8_t *)w + stack, 8);
	s = states_add(c->states);
	memcpy(&s->pid, h + 1, 4);
	memcpy(&s->tid, (const uint8_t *)(h + 1) + 4, 4);
	memcpy(&s->time, (const uint8_t *)(h + 1) + 8, 8);
	for (size_t i = 0; i < sizeof(registers) / sizeof(*registers); i++)
		s->regs[registers[i].dwarf] = by_perf[registers[i].perf];
	s->stack_n = there <= stack ? there : stack;
	s->stack = malloc(s->stack_n + 1);
	if (!s->stack)
		die("out of memory");
	memcpy(s->stack, w, s->stack_n);
	p = process_of(c, (pid_t)s->pid);
	if (!p->fresh)
		p->image = states_image(c->states, &p->maps);
	p->fresh = true;
	s->image = p->image;
}

static void replay(struct collector *c)
{
	size_t n = queue_ripe(&c->queue, UINT64_MAX);

	for (size_t i = 0; i < n; i++) {
		const struct item *item = &c->queue.items[i];
		const uint8_t *p = queue_bytes(&c->queue, item);
		struct change change;
		uint64_t file;

		if (item->kind == ITEM_SAMPLE) {
			add_state(c, (const void *)p);
			continue;
		}
		memcpy(&file, p, sizeof(file));
		if (sideband_decode(&change, (const void *)(p + sizeof(file)), 8, 8))
			apply(c, &change, (uint32_t)file);
	}
}

static void run(struct collector *c, pid_t pid, const struct source_options *o)
{
	uint64_t until = host_mono_ns() + o->seconds * 1000000000ull;
	bool runs = true;

	while (runs) {
		poll(NULL, 0, TICK_MS);
		runs = waitpid(pid, NULL, WNOHANG) != pid;
		drain(c);
		if (c->n_samples >= o->most || host_mono_ns() >= until)
			break;
	}
	for (size_t i = 0; i < c->n; i++) {
		ioctl(c->samples[i].fd, PERF_EVENT_IOC_DISABLE, 0);
		ioctl(c->side[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	}
	kill(-pid, SIGKILL);
	while (runs && waitpid(pid, NULL, 0) != pid && errno == EINTR)
		;
	drain(c);
}

void perf_states(struct states *s, const struct source_options *o)
{
	struct collector c = { .states = s };
	int go;
	pid_t pid = prepare(o->argv, &go);

	open_rings(&c, pid, o);
	if (write(go, "", 1) != 1)
		die("the command is gone");
	close(go);
	run(&c, pid, o);
	replay(&c);
	close_rings(&c);
	for (size_t i = 0; i < c.n_processes; i++)
		maps_release(&c.processes[i].maps);
	queue_release(&c.queue);
	free(c.processes);
	free(c.samples);
	free(c.side);
}
