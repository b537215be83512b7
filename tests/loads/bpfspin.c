/*
 * BPF programs that come and go: each is loaded, run for a while, and unloaded before the next.
 *
 *	bpfspin SECONDS NAME...		SECONDS of CPU time each; exits with 2 if BPF is not permitted
 */
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 4000, REPEAT = 2000 };

static int bpf(int command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int load(const char *name)
{
	static struct bpf_insn code[STEPS + 2];
	union bpf_attr attr;

	code[0] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 1 };
	for (int i = 1; i <= STEPS; i++)
		code[i] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MUL | BPF_K, .dst_reg = 0, .imm = 3 + i };
	code[STEPS + 1] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = STEPS + 2;
	attr.license = (uintptr_t)"GPL";
	snprintf(attr.prog_name, sizeof(attr.prog_name), "%s", name);
	return bpf(BPF_PROG_LOAD, &attr);
}

static int run(int prog)
{
	uint8_t packet[64] = { 0 };
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)prog;
	attr.test.data_in = (uintptr_t)packet;
	attr.test.data_size_in = sizeof(packet);
	attr.test.repeat = REPEAT;
	return bpf(BPF_PROG_TEST_RUN, &attr);
}

static double cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 0;

	for (int i = 2; i < argc; i++) {
		double until = cpu_time() + seconds;
		int prog = load(argv[i]);

		if (prog < 0)
			return 2;
		while (cpu_time() < until)
			if (run(prog) != 0)
				return 2;
		close(prog);
	}
	return argc < 3;
}
