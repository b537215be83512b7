/*
 * Preloaded into the recorder: refuses to load BPF programs named in REFUSE, comma-separated, with a log like
 * the verifier's. tests/cmd/record-refused.t builds it as a library; run as a program, it prints that log. It
 * intercepts syscall(2), which libbpf calls.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char words[] = "0: R1=ctx() R10=fp0\n1: (61) r0 = *(u32 *)(r2 +0)\nR2 unbounded memory access, make sure to bounds check\n"
			    "verification time 73 usec\nstack depth 0\n"
			    "processed 2 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 mark_read 0\n";

static int is_refused(const char *name)
{
	const char *list = getenv("REFUSE");
	size_t n = strnlen(name, BPF_OBJ_NAME_LEN);

	for (; list && n && *list; list += strcspn(list, ","), list += *list == ',') {
		if (strcspn(list, ",") == n && memcmp(list, name, n) == 0)
			return 1;
	}
	return 0;
}

long syscall(long number, ...)
{
	long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	union bpf_attr *attr;
	va_list ap;
	long a[6];

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	attr = (union bpf_attr *)a[1];
	if (number != SYS_bpf || a[0] != BPF_PROG_LOAD || !is_refused(attr->prog_name))
		return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (attr->log_level && attr->log_size >= sizeof(words))
		memcpy((char *)(uintptr_t)attr->log_buf, words, sizeof(words));
	errno = EACCES;
	return -1;
}

int main(void)
{
	printf("%s", words);
	return 0;
}
