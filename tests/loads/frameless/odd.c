/*
 * Unusual code without frame pointers, each kind in turn for a fraction of a second: frames that are
 * realigned (DRAP), of variable size, of 90 KB, with variable arguments; other stacks by makecontext; vfork;
 * code generated at run time that keeps frame pointers, between native frames.
 */
#include <alloca.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static volatile uint64_t sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static APART uint64_t work(uint64_t seed)
{
	for (int i = 0; i < 500; i++)
		seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed;
}

static APART uint64_t sum_of(int n, ...)
{
	uint64_t sum = 0;
	va_list ap;

	va_start(ap, n);
	for (int i = 0; i < n; i++)
		sum += va_arg(ap, uint64_t);
	va_end(ap);
	return work(sum);
}

/* The arguments on the stack are reached by a register of their own: gcc's DRAP. */
static APART uint64_t realigned(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g,
				int depth)
{
	uint64_t room[8] __attribute__((aligned(64)));
	uint64_t *more = alloca((size_t)(a & 7) * 16 + 16);

	for (int i = 0; i < 8; i++)
		room[i] = a + (uint64_t)i * b;
	more[1] = room[c & 7];
	if (depth > 0)
		more[1] += realigned(b, c, d, e, f, g, a, depth - 1);
	more[0] = sum_of(8, a, b, c, d, e, f, g, room[3]);
	return more[0] + more[1] + room[d & 7];
}

static APART void realign(void)
{
	sink += realigned(1, 2, 3, sink, 5, 6, 7, 6);
}

static APART uint64_t large(uint64_t a, int depth)
{
	char room[90 << 10];

	room[a % sizeof(room)] = (char)a;
	a = work(a + (uint64_t)room[a % sizeof(room)]);
	return depth ? a + large(a, depth - 1) + (uint64_t)room[0] : a;
}

static APART void larger(void)
{
	sink += large(sink, 4);
}

static ucontext_t main_context, other_context;

static APART void hop(int depth)
{
	sink += work(sink);
	if (depth == 0)
		swapcontext(&other_context, &main_context);
	else
		hop(depth - 1);
	sink += work(sink);
}

static void other(void)
{
	for (;;)
		hop(10);
}

static APART void contexts(void)
{
	sink += work(sink);
	swapcontext(&main_context, &other_context);
	sink += work(sink);
}

static APART void vforks(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit((int)(sink & 1));
	waitpid(pid, NULL, 0);
}

static uint64_t (*compiled)(uint64_t);

/* Writes a function as a JIT compiler would: it keeps rbp, and calls back. */
static void compile(uint64_t (*target)(uint64_t))
{
	static const uint8_t head[] = {
		0x55,             /* push %rbp */
		0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
		0x48, 0x83, 0xec, 0x40, /* sub $64, %rsp */
		0xb9, 0, 4, 0, 0, /* mov $1024, %ecx */
		0xff, 0xc9,       /* dec %ecx */
		0x75, 0xfc,       /* jnz to the dec */
		0x48, 0xb8,       /* mov $..., %rax */
	}, tail[] = { 0xff, 0xd0, /* call *%rax */ 0xc9, /* leave */ 0xc3 /* ret */ };
	uint8_t *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	memcpy(p, head, sizeof(head));
	memcpy(p + sizeof(head), &target, sizeof(target));
	memcpy(p + sizeof(head) + sizeof(target), tail, sizeof(tail));
	if (mprotect(p, 4096, PROT_READ | PROT_EXEC) != 0)
		exit(1);
	memcpy(&compiled, &p, sizeof(compiled));
}

static APART uint64_t calls_again(uint64_t a);

/* Alternates native and generated code, four deep. */
static APART uint64_t back(uint64_t a)
{
	return a & 3 ? calls_again(a) + 1 : work(a);
}

static APART uint64_t calls_again(uint64_t a)
{
	return compiled(a - 1) ^ a;
}

static APART void calls_back(void)
{
	sink += compiled((sink & ~(uint64_t)3) + 3);
}

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*run)(void); } parts[] = {
		{ "realign", realign }, { "large", larger }, { "contexts", contexts }, { "vfork", vforks },
		{ "made", calls_back },
	};
	const char *only = argc > 2 ? argv[2] : NULL;

	getcontext(&other_context);
	other_context.uc_stack.ss_size = 256 << 10;
	other_context.uc_stack.ss_sp = malloc(256 << 10);
	makecontext(&other_context, other, 0);
	compile(back);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		double until = now() + (argc > 1 ? atof(argv[1]) : 1);

		while ((!only || strcmp(only, parts[i].name) == 0) && now() < until)
			parts[i].run();
	}
	return 0;
}
