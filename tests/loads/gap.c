/*
 * Assembly without unwind tables, for tests/cmd/record-gap.t: burns SECONDS of CPU time with rbp as
 *
 *	gap zero SECONDS	a register that holds 0
 *	gap data SECONDS	a pointer to two words; the second is a code address that no call returns to
 *	gap frame SECONDS	a frame pointer, as the psABI has it
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
	"	test %rdx, %rdx\n"
	"	jz 1f\n"
	"	mov %rsp, %rsi\n"
	"1:	mov %rsi, %rbp\n"
	"2:	dec %rdi\n"
	"	jnz 2b\n"
	"	pop %rbp\n"
	"	ret\n"
	".size burn_with, .-burn_with\n");
#else
static void burn_with(uint64_t turns, uint64_t rbp, uint64_t is_frame)
{
	(void)rbp;
	(void)is_frame;
	while (turns--)
		__asm__ volatile("");
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
		burn_with(10000000, strcmp(argv[1], "data") == 0 ? (uint64_t)(uintptr_t)words : 0, strcmp(argv[1], "frame") == 0);
		sink++; /* no tail call */
	}
	return 0;
}
