/*
 * Hits probes a known number of times, and counts them itself:
 *
 *	probes HITS [THREADS]
 *
 * Each thread calls hit_function HITS times, with 0, 1, 2 ... and the texts "alpha", "beta" and "gamma" in
 * turn. That hits the static probe cprof:once; every second call hits cprof:both at one place, the others at
 * another; and each hits cprof:asked, which has a semaphore, while a tracer has set it. At the end it prints
 * how often each was hit, by its own counters, and in how many calls of step_leaf a tracer wrote into the
 * stack of this leaf function.
 *
 * The notes are those of <sys/sdt.h>, which may not be installed.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__x86_64__)
#define NUMBER "-4@%k0"
#define TEXT "8@%1"
#else
#define NUMBER "-4@%w0"
#define TEXT "8@%1"
#endif

/* A probe with two arguments: a number and a text. */
#define PROBE(name, semaphore, number, text)                                              \
	__asm__ volatile("990:	nop\n"                                                    \
			 "	.pushsection .note.stapsdt,\"?\",%%note\n"                  \
			 "	.balign 4\n"                                                \
			 "	.4byte 992f-991f, 994f-993f, 3\n"                           \
			 "991:	.asciz \"stapsdt\"\n"                                       \
			 "992:	.balign 4\n"                                                \
			 "993:	.8byte 990b\n"                                              \
			 "	.8byte _.stapsdt.base\n"                                    \
			 "	.8byte " semaphore "\n"                                     \
			 "	.asciz \"cprof\"\n"                                         \
			 "	.asciz \"" name "\"\n"                                      \
			 "	.asciz \"" NUMBER " " TEXT "\"\n"                           \
			 "994:	.balign 4\n"                                                \
			 "	.popsection\n"                                              \
			 "	.ifndef _.stapsdt.base\n"                                   \
			 "	.pushsection .stapsdt.base,\"aG\",%%progbits,.stapsdt.base,comdat\n" \
			 "	.weak _.stapsdt.base\n"                                     \
			 "	.hidden _.stapsdt.base\n"                                   \
			 "_.stapsdt.base: .space 1\n"                                       \
			 "	.size _.stapsdt.base, 1\n"                                  \
			 "	.popsection\n"                                              \
			 "	.endif\n" ::"r"(number), "r"(text))

unsigned short asked_semaphore __attribute__((section(".probes"), used, visibility("hidden")));

static __thread long once, both, asked, harmed;
static long sums[4];
static long hits;

static __attribute__((noinline)) void hit_function(int n, const char *text)
{
	PROBE("once", "0", n, text);
	once++;
	if (n % 2)
		PROBE("both", "0", n, text);
	else
		PROBE("both", "0", n + 1, text);
	both++;
	if (*(volatile unsigned short *)&asked_semaphore) {
		PROBE("asked", "asked_semaphore", n, text);
		asked++;
	}
}

#if defined(__x86_64__)
/*
 * A leaf function keeps its variables below the stack pointer. This one has an instruction that the kernel
 * replaces by a call.
 */
long step_leaf(long v);
__asm__(".text\n	.globl step_leaf\n	.type step_leaf, @function\n	.balign 16\n"
	"step_leaf:	movq %rdi, -8(%rsp)\n"
	"	.globl step_nop\n	.type step_nop, @function\n"
	"step_nop:	.byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
	"	movq -8(%rsp), %rax\n	ret\n	.size step_leaf, .-step_leaf\n");
#else
static long step_leaf(long v)
{
	return v;
}
#endif

static void *run(void *arg)
{
	static const char *const texts[] = { "alpha", "beta", "gamma" };

	for (int i = 0; i < hits; i++) {
		(void)*(const volatile char *)texts[i % 3]; /* so that its page is in memory */
		hit_function(i, texts[i % 3]);
		harmed += step_leaf(i) != i;
	}
	__atomic_fetch_add(&sums[0], once, __ATOMIC_RELAXED);
	__atomic_fetch_add(&sums[1], both, __ATOMIC_RELAXED);
	__atomic_fetch_add(&sums[2], asked, __ATOMIC_RELAXED);
	__atomic_fetch_add(&sums[3], harmed, __ATOMIC_RELAXED);
	return arg;
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t ids[64];

	if (argc < 2 || threads < 1 || threads > 64)
		return 2;
	hits = atol(argv[1]);
	for (int i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, run, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	printf("once %ld\nboth %ld\nasked %ld\nharmed %ld\n", sums[0], sums[1], sums[2], sums[3]);
	return 0;
}
