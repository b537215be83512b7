/*
 * Works on stacks of its own making: coroutines KIND MS.
 *
 *	ucontext	by makecontext(3), with a context to go on with
 *	assembly	by a switch in assembly without call frame information, whose contexts begin as
 *			Boost.Context's: by a jump, with an address after it as the return address
 *
 * Each of four contexts calls down(DEPTH), which calls work(). So a whole stack is main's, or work, DEPTH + 1
 * times down, run_context and then the function that the kind begins at.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { CONTEXTS = 4, STACK = 64 << 10, DEPTH = 8, SPINS = 20000 };

static volatile unsigned long sink;

/* --- switches ---------------------------------------------------------------------------------- */

/* switch_to(&old, new): saves the registers on this stack, and restores those of the other one. */
void switch_to(void **from, void *to);
/* begin_context: rbx has the function of a new context. */
void begin_context(void);
void context_ended(void);

__asm__(".text\n"
	".globl switch_to, begin_context, context_ended\n"
	".type switch_to, @function\n"
	"switch_to:\n"
	"	push %rbp\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	push %r13\n"
	"	push %r14\n"
	"	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15\n"
	"	pop %r14\n"
	"	pop %r13\n"
	"	pop %r12\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n"
	".size switch_to, . - switch_to\n"
	".balign 16\n"
	".type begin_context, @function\n"
	"begin_context:\n"
	"	lea end_context(%rip), %rax\n"
	"	push %rax\n"
	"	jmp *%rbx\n"
	"end_context:\n"
	"	xor %edi, %edi\n"
	"	call context_ended\n"
	"	hlt\n"
	".size begin_context, . - begin_context\n");

static void *main_stack, *stacks[CONTEXTS];
static ucontext_t main_context, contexts[CONTEXTS];
static int current, by_assembly;

static void yield(void)
{
	if (by_assembly)
		switch_to(&stacks[current], main_stack);
	else
		swapcontext(&contexts[current], &main_context);
}

static void resume(int i)
{
	current = i;
	if (by_assembly)
		switch_to(&main_stack, stacks[i]);
	else
		swapcontext(&main_context, &contexts[i]);
}

/* --- the work ----------------------------------------------------------------------------------- */

__attribute__((noinline)) static void work(void)
{
	for (unsigned long i = 0; i < SPINS; i++)
		sink += i;
}

__attribute__((noinline)) static void down(int n)
{
	if (n)
		down(n - 1);
	else
		work();
	__asm__ volatile(""); /* no tail calls */
}

static void run_context(void)
{
	for (;;) {
		down(DEPTH);
		yield();
	}
}

void context_ended(void)
{
	_exit(1);
}

/* --- beginning ---------------------------------------------------------------------------------- */

static void make_context(int i)
{
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *top = (uint64_t *)(stack + STACK);

	if (stack == MAP_FAILED)
		exit(1);
	memset(stack, 0x55, STACK); /* words above a stack's first frame are not zero */
	if (by_assembly) {
		top -= 4;
		*--top = (uint64_t)begin_context;
		*--top = 0x123456; /* rbp */
		*--top = (uint64_t)run_context; /* rbx */
		top -= 4;
		stacks[i] = top;
		return;
	}
	getcontext(&contexts[i]);
	contexts[i].uc_stack.ss_sp = stack;
	contexts[i].uc_stack.ss_size = STACK;
	contexts[i].uc_link = &main_context;
	makecontext(&contexts[i], run_context, 0);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	double end;

	if (argc != 3) {
		fputs("usage: coroutines ucontext|assembly MS\n", stderr);
		return 2;
	}
	by_assembly = strcmp(argv[1], "assembly") == 0;
	for (int i = 0; i < CONTEXTS; i++)
		make_context(i);
	for (end = now() + atof(argv[2]); now() < end;)
		for (int i = 0; i < CONTEXTS; i++)
			resume(i);
	return 0;
}
