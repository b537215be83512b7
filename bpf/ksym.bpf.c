/*
 * Looks up names of kernel addresses one by one.
 *
 * Reading /proc/kallsyms makes the kernel format every symbol it has (53 ms of CPU, more than a minute
 * of sampling two CPUs costs); the handful that samples touch comes from here. Programs of type syscall
 * and these helpers need 5.16; below that the recorder reads kallsyms.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/ksym.h"

char text[KSYM_TEXT];            /* out: "name+0x10/0x40 [module]" */
char name[KSYM_NAME];            /* in, ends with NUL */
unsigned long long address = 0;  /* in for name_of, out for address_of */

SEC("syscall")
int name_of(void *ctx __attribute__((unused)))
{
	static const char fmt[] = "%pS";
	unsigned long long data[1] = { address };

	return (int)bpf_snprintf(text, sizeof(text), fmt, data, sizeof(data));
}

SEC("syscall")
int address_of(void *ctx __attribute__((unused)))
{
	return (int)bpf_kallsyms_lookup_name(name, sizeof(name), 0, &address);
}

char LICENSE[] SEC("license") = "GPL";
