/*
 * The sampled program of bench/victim.sh; the work it no longer gets done is the cost of sampling.
 *
 *	bench-victim spin FILE
 *		a victim on each CPU, pinned, which counts its turns in FILE; until it is killed
 *	bench-victim window FILE SECONDS [PID...]
 *		prints for SECONDS: turns, and nanoseconds of wall time, of the victims' CPU time, and of CPU
 *		time of the processes PID, summed; and the percentage of time that blocks of turns take over a
 *		good one
 *	bench-victim timer HZ
 *		a cpu-clock event on each CPU without a consumer: no program, no ring to write to, no field to
 *		record; until it is killed
 *	bench-victim program HZ
 *		the same with a BPF program that does nothing
 *	bench-victim stack HZ
 *		the same with a BPF program that takes the user's stack and throws it away
 *
 * A turn is some 10 us of work on 16 KiB of memory, at the end of a dozen calls that vary from turn to turn:
 * a stack has some 18 frames, and there are many stacks. Built with frame pointers here, without in
 * frameless/victim.c.
 *
 * A block is four turns, so that the cache misses after an interrupt fall mostly into the block that it hit.
 * A good block's duration is the 10th percentile of all. The time over it is computed in slices of a quarter
 * of a second, each with its own good block: a CPU that is slower for a while, as those of virtual machines
 * are, is not a cost of sampling. Nor are blocks in which something else ran; a sampler's own processes have
 * their CPU time. The result is the mean over the quarter of the slices with the least: an interrupt of a
 * virtual machine costs half as much again while the neighbours work.
 */
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CPUS = CPU_SETSIZE, CALLS = 12, STACKS = 64, WORDS = 4096 };
enum { BLOCK = 4, BUCKETS = 16384, BUCKET_NS = 16, LONGEST = 60000 / BUCKET_NS }; /* or something else ran */
enum { SLICE_NS = 250000000 };

/* Kept apart by two cache lines, because the CPU prefetches the next line along with each. */
struct victim {
	volatile uint64_t turns;
	pid_t pid;
	char pad[128 - sizeof(uint64_t) - sizeof(pid_t)];
	volatile uint32_t blocks[BUCKETS]; /* by duration; the last one holds all longer ones */
};

static uint32_t words[WORDS];
static volatile uint32_t sink;

static uint32_t left(unsigned int path, int calls);

static __attribute__((noinline)) uint32_t work(uint32_t x)
{
	for (int i = 0; i < WORDS; i++) {
		x = x * 1664525 + words[x >> 20];
		words[i] = x;
	}
	return x;
}

static __attribute__((noinline)) uint32_t right(unsigned int path, int calls)
{
	uint32_t x;

	if (calls == 0)
		return work(path) + 1;
	x = path & 1 ? left(path >> 1, calls - 1) : right(path >> 1, calls - 1);
	__asm__ volatile("" : "+r"(x)); /* no tail call */
	return x + 2;
}

static __attribute__((noinline)) uint32_t left(unsigned int path, int calls)
{
	uint32_t x;

	if (calls == 0)
		return work(path) + 3;
	x = path & 1 ? right(path >> 1, calls - 1) : left(path >> 1, calls - 1);
	__asm__ volatile("" : "+r"(x));
	return x + 4;
}

static uint64_t ns_of(clockid_t clock)
{
	struct timespec t = { 0, 0 };

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void be_victim(struct victim *v)
{
	uint64_t before = ns_of(CLOCK_MONOTONIC), now, at;

	for (unsigned int n = 1;; n++) {
		sink = left(n * 7 % STACKS, CALLS);
		v->turns++;
		if (n % BLOCK)
			continue;
		now = ns_of(CLOCK_MONOTONIC);
		at = (now - before) / BUCKET_NS;
		v->blocks[at < BUCKETS ? at : BUCKETS - 1]++;
		before = now;
	}
}

static struct victim *share(const char *name, int flags)
{
	int fd = open(name, flags, 0600);
	void *at;

	if (fd < 0 || ((flags & O_CREAT) && ftruncate(fd, (off_t)sizeof(struct victim) * CPUS) < 0))
		return NULL;
	at = mmap(NULL, sizeof(struct victim) * CPUS, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return at == MAP_FAILED ? NULL : at;
}

static int spin(const char *name)
{
	struct victim *victims = share(name, O_RDWR | O_CREAT | O_TRUNC);
	pid_t parent = getpid(), child;
	cpu_set_t may, one;

	if (!victims || sched_getaffinity(0, sizeof(may), &may) < 0)
		return 1;
	for (int cpu = 0; cpu < CPUS; cpu++) {
		if (!CPU_ISSET(cpu, &may))
			continue;
		child = fork();
		if (child < 0)
			return 1;
		if (child) {
			victims[cpu].pid = child;
			continue;
		}
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent || sched_setaffinity(0, sizeof(one), &one) < 0)
			_exit(1);
		be_victim(&victims[cpu]);
	}
	for (;;)
		pause();
}

static uint64_t cpu_of(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) ? 0 : ns_of(clock);
}

/* Turns, wall time, the victims' CPU time, CPU time of the other processes. */
struct look {
	uint64_t n[4];
};

static struct look look(const struct victim *victims, char **others)
{
	struct look l = { { 0, ns_of(CLOCK_MONOTONIC), 0, 0 } };

	for (int cpu = 0; cpu < CPUS; cpu++) {
		if (!victims[cpu].pid)
			continue;
		l.n[0] += victims[cpu].turns;
		l.n[2] += cpu_of(victims[cpu].pid);
	}
	for (; *others; others++)
		l.n[3] += cpu_of(atoi(*others));
	return l;
}

/* Returns the time over a good block since the last call, in percent; negative if there was none. */
static double excess(const struct victim *v, uint32_t *last)
{
	uint32_t now[BUCKETS];
	double blocks = 0, over = 0, time = 0, seen = 0;
	int good = 0;

	for (int i = 0; i < BUCKETS; i++) {
		now[i] = v->blocks[i] - last[i];
		last[i] += now[i];
		blocks += now[i];
	}
	while (good < BUCKETS && seen <= blocks / 10)
		seen += now[good++];
	good--;
	for (int i = 0; i < BUCKETS - 1 && i <= good + LONGEST; i++) {
		over += (double)now[i] * (i - good);
		time += (double)now[i] * i;
	}
	return time > 0 ? 100 * over / time : -1;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The mean of the lowest quarter. */
static double quietest(double *v, int n)
{
	double sum = 0;
	int few = n > 4 ? n / 4 : 1;

	qsort(v, (size_t)n, sizeof(*v), ascending);
	for (int i = 0; i < few; i++)
		sum += v[i];
	return sum / few;
}

/* Takes one slice after another until the end. */
static int take_slices(const struct victim *victims, double seconds, double *slices, int most)
{
	static uint32_t last[CPUS][BUCKETS];
	uint64_t next = ns_of(CLOCK_MONOTONIC), end = next + (uint64_t)(seconds * 1e9);
	int n = 0;

	for (bool begun = false; next <= end; begun = true, next += SLICE_NS) {
		struct timespec t = { (time_t)(next / 1000000000), (long)(next % 1000000000) };

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		for (int cpu = 0; cpu < CPUS; cpu++) {
			double of = victims[cpu].pid ? excess(&victims[cpu], last[cpu]) : -1;

			if (begun && of >= 0 && n < most)
				slices[n++] = of;
		}
	}
	return n;
}

static int window(const char *name, double seconds, char **others)
{
	static double slices[1 << 16];
	struct victim *victims = share(name, O_RDWR);
	struct look from, to;
	int n;

	if (!victims)
		return 1;
	from = look(victims, others);
	n = take_slices(victims, seconds, slices, (int)(sizeof(slices) / sizeof(*slices)));
	to = look(victims, others);
	for (int i = 0; i < 4; i++)
		printf("%llu ", (unsigned long long)(to.n[i] - from.n[i]));
	printf("%.4f\n", quietest(slices, n));
	return 0;
}

enum taken { NO_PROGRAM, NOTHING, STACK };

/*
 * Loads a program that for STACK calls bpf_get_stack(ctx, sixty addresses on its own stack,
 * BPF_F_USER_STACK), and returns 0. Written as instructions, so that nothing has to be compiled. Returns a
 * negative errno on failure.
 */
static int load(enum taken taken)
{
	enum { ROOM = 480, END = 2 };
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_2, .imm = -ROOM },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3, .imm = ROOM },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_4, .imm = BPF_F_USER_STACK },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_stack },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
	attr.insn_cnt = taken == STACK ? sizeof(code) / sizeof(*code) : END;
	attr.insns = (uintptr_t)(code + sizeof(code) / sizeof(*code) - attr.insn_cnt);
	attr.license = (uintptr_t)"GPL";
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int timer(double hz, enum taken taken)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = (uint64_t)(1e9 / hz),
	};
	int program = taken == NO_PROGRAM ? -1 : load(taken);

	if (taken != NO_PROGRAM && program < 0) {
		perror("bench-victim: BPF_PROG_LOAD");
		return 1;
	}
	for (int cpu = 0; cpu < (int)sysconf(_SC_NPROCESSORS_CONF); cpu++) {
		int event = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (event < 0 || (program >= 0 && ioctl(event, PERF_EVENT_IOC_SET_BPF, program) < 0)) {
			perror(event < 0 ? "bench-victim: perf_event_open" : "bench-victim: PERF_EVENT_IOC_SET_BPF");
			return 1;
		}
	}
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	static const char *const names[] = { [NO_PROGRAM] = "timer", [NOTHING] = "program", [STACK] = "stack" };

	if (argc == 3 && strcmp(argv[1], "spin") == 0)
		return spin(argv[2]);
	if (argc >= 4 && strcmp(argv[1], "window") == 0)
		return window(argv[2], strtod(argv[3], NULL), argv + 4);
	for (int i = NO_PROGRAM; argc == 3 && i <= STACK; i++)
		if (strcmp(argv[1], names[i]) == 0 && strtod(argv[2], NULL) > 0)
			return timer(strtod(argv[2], NULL), (enum taken)i);
	fprintf(stderr, "usage: bench-victim spin FILE | bench-victim window FILE SECONDS [PID...] | bench-victim timer|program|stack HZ\n");
	return 2;
}
