/*
 * Assembly without unwind tables, for tests/cmd/record-gap.t: burns SECONDS of CPU time with rbp as
 *
 *	gap zero SECONDS	a register that holds 0
 *	gap data SECONDS	a pointer to two words; the second is a code address that no call returns to
 *	gap frame SECONDS	a frame pointer, as the psABI has it
 *	gap code SECONDS	a register that counts
 *
 * burn_with, of the first three, moves rsp about in a way that is not followed. The other functions are.
 * One between burn_outer and burn_inner has no symbol.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
void burn_with(uint64_t turns, uint64_t rbp, uint64_t is_frame);

__asm__(".text\n"
	".globl burn_with\n"
	".type burn_with, @function\n"
	"burn_with:\n"
	"	push %rbp\n"
	"	mov %rsp, %rcx\n"
	"	mov %rcx, %rsp\n"
	"	test %rdx, %rdx\n"
	"	jz 1f\n"
	"	mov %rsp, %rsi\n"
	"1:	mov %rsi, %rbp\n"
	"2:	dec %rdi\n"
	"	jnz 2b\n"
	"	pop %rbp\n"
	"	ret\n"
	".size burn_with, .-burn_with\n"
	"	.skip 32, 0xcc\n" /* more than is padding between functions with tables */
	".globl burn_outer\n"
	".type burn_outer, @function\n"
	"burn_outer:\n"
	"	push %rbx\n"
	"	push %rbp\n"
	"	sub $24, %rsp\n"
	"	mov %rdi, %rbp\n"
	"	mov $10, %ebx\n"
	"1:	mov %rbp, %rdi\n"
	"	call .Lmiddle\n"
	"	dec %ebx\n"
	"	jnz 1b\n"
	"	add $24, %rsp\n"
	"	pop %rbp\n"
	"	pop %rbx\n"
	"	ret\n"
	".size burn_outer, .-burn_outer\n"
	"	.p2align 4\n"
	".Lmiddle:\n"
	"	push %r12\n"
	"	sub $64, %rsp\n"
	"	call burn_inner\n"
	"	add $64, %rsp\n"
	"	pop %r12\n"
	"	ret\n"
	"	.p2align 4\n"
	".type burn_inner, @function\n"
	"burn_inner:\n"
	"	push %rbp\n"
	"	lea 1f(%rip), %rdx\n"
	"	jmp *%rdx\n"
	"1:	xor %ebp, %ebp\n"
	"2:	inc %rbp\n"
	"	cmp %rdi, %rbp\n"
	"	jb 2b\n"
	"	pop %rbp\n"
	"	ret\n"
	".size burn_inner, .-burn_inner\n"
	"	.skip 32, 0xcc\n");

void burn_outer(uint64_t turns);
#else
static void burn_with(uint64_t turns, uint64_t rbp, uint64_t is_frame)
{
	(void)rbp;
	(void)is_frame;
	while (turns--)
		__asm__ volatile("");
}

static void burn_outer(uint64_t turns)
{
	burn_with(turns * 10, 0, 0);
}
#endif

static volatile int sink;

int main(int argc, char **argv)
{
	uint64_t words[2] = { 0, (uint64_t)(uintptr_t)&main + 1 };
	double until = argc == 3 ? strtod(argv[2], NULL) : 0;

	if (!(until > 0))
		return 2;
	while ((double)clock() / CLOCKS_PER_SEC < until) {
		if (strcmp(argv[1], "code") == 0)
			burn_outer(1000000);
		else
			burn_with(10000000, strcmp(argv[1], "data") == 0 ? (uint64_t)(uintptr_t)words : 0,
				  strcmp(argv[1], "frame") == 0);
		sink++; /* no tail call */
	}
	return 0;
}
