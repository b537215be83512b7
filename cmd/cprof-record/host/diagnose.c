#include "cmd/cprof-record/host/diagnose.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/host/refusal.h"

/* Older headers lack the last two. */
enum { SYS_ADMIN = 21, SYSLOG = 34, PERFMON = 38, BPF = 39 };

static const uint64_t initial_user_namespace = 0xEFFFFFFD; /* its inode, the same on every boot */

static bool in_initial_user_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/user", &st) != 0 || st.st_ino == initial_user_namespace;
}

static bool is_effective(int cap)
{
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct d[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (cap < 0 || cap / 32 >= _LINUX_CAPABILITY_U32S_3 || syscall(SYS_capget, &h, d) != 0)
		return false;
	return d[cap / 32].effective >> cap % 32 & 1;
}

bool have_capability(int cap)
{
	return is_effective(cap) && in_initial_user_namespace();
}

static bool read_number(const char *path, long *v)
{
	struct buf text = { 0 };
	bool ok = host_read(path, &text) && text.n > 0;

	if (ok)
		*v = strtol(buf_cstr(&text), NULL, 10);
	buf_release(&text);
	return ok;
}

/* Returns true if this kernel has CAP_PERFMON and CAP_BPF (5.8); before, both were part of CAP_SYS_ADMIN. */
static bool fine_capabilities(void)
{
	long last;

	return read_number("/proc/sys/kernel/cap_last_cap", &last) && last >= BPF;
}

static bool perfmon_capable(void)
{
	return have_capability(SYS_ADMIN) || (fine_capabilities() && have_capability(PERFMON));
}

static bool bpf_capable(void)
{
	return have_capability(SYS_ADMIN) || (fine_capabilities() && have_capability(BPF));
}

static bool seccomp_filters(void)
{
	struct buf text = { 0 };
	const char *p;
	bool yes;

	host_read("/proc/self/status", &text);
	p = strstr(buf_cstr(&text), "\nSeccomp:\t");
	yes = p && p[10] == '2';
	buf_release(&text);
	return yes;
}

/* The file has "integrity" or "confidentiality" in brackets if the kernel is locked down. */
static bool locked_down(struct buf *mode)
{
	struct buf text = { 0 };
	const char *open, *close;

	host_read("/sys/kernel/security/lockdown", &text);
	open = strchr(buf_cstr(&text), '[');
	close = open ? strchr(open, ']') : NULL;
	if (close && memcmp(open, "[none", 5) != 0)
		buf_bytes(mode, open + 1, (size_t)(close - open - 1));
	buf_release(&text);
	return mode->n > 0;
}

bool locked_confidential(void)
{
	struct buf mode = { 0 };
	bool yes = locked_down(&mode) && strcmp(buf_cstr(&mode), "confidentiality") == 0;

	buf_release(&mode);
	return yes;
}

/* Capabilities of a user namespace do not count, although they look like the real ones. */
static bool say_user_namespace(int cap, struct buf *s)
{
	if (!is_effective(cap) || in_initial_user_namespace())
		return false;
	buf_text(s, "the capabilities here are those of a user namespace, and only those of the initial one count");
	return true;
}

/* Lists all rights that BPF sampling needs and that are missing. Returns false if none is missing. */
static bool say_missing_bpf(struct buf *s)
{
	bool fine = fine_capabilities(), bpf = bpf_capable(), perfmon = perfmon_capable();
	long disabled = 0;

	if (bpf && perfmon)
		return false;
	if (say_user_namespace(fine ? BPF : SYS_ADMIN, s) || say_user_namespace(SYS_ADMIN, s))
		return true;
	if (!fine)
		buf_text(s, "CAP_SYS_ADMIN is missing (this kernel has no CAP_BPF and CAP_PERFMON yet)");
	else
		buf_printf(s, "%s missing", !bpf && !perfmon ? "CAP_BPF and CAP_PERFMON are" :
				      !bpf	      ? "CAP_BPF is" :
							"CAP_PERFMON is");
	if (!bpf && read_number("/proc/sys/kernel/unprivileged_bpf_disabled", &disabled) && disabled)
		buf_printf(s, ", and kernel.unprivileged_bpf_disabled is %ld", disabled);
	return true;
}

static void say_memory_limit(struct buf *s)
{
	struct rlimit limit;

	buf_text(s, "every capability is there, so a security module forbids it");
	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		buf_printf(s, ", or RLIMIT_MEMLOCK, %" PRIu64 " bytes, is too low (it applies before Linux 5.11)",
			   (uint64_t)limit.rlim_cur);
}

void diagnose_bpf(int err, struct buf *s)
{
	struct buf mode = { 0 };

	buf_text(s, "cannot use BPF: ");
	if (err == ENOSYS && !seccomp_filters())
		buf_text(s, "this kernel was built without CONFIG_BPF_SYSCALL");
	else if ((err == EPERM || err == EACCES) && say_missing_bpf(s))
		;
	else if ((err == EPERM || err == ENOSYS) && seccomp_filters())
		buf_text(s, "a seccomp filter, such as Docker's default, forbids the system call bpf");
	else if ((err == EPERM || err == EACCES || err == EINVAL) && locked_down(&mode))
		buf_printf(s, "the kernel is locked down (/sys/kernel/security/lockdown: %s)", buf_cstr(&mode));
	else if (err == EPERM)
		say_memory_limit(s);
	else if (refusal_program() && (err == EACCES || err == EINVAL || err == E2BIG || err == ENOSPC))
		buf_printf(s, "the verifier refuses the program \"%s\"%s", refusal_program(),
			   refusal_reported() ? "" : " (-v shows the reason)");
	else if (err == EACCES)
		buf_text(s, "every capability is there, but the kernel's verifier does not accept the program");
	else if (err == EINVAL || err == E2BIG)
		buf_printf(s, "%s: this kernel is older than 5.8, or lacks something that the program requires", strerror(err));
	else if (err == ESRCH || err == ENOENT)
		buf_text(s, "this kernel has no type information (CONFIG_DEBUG_INFO_BTF, /sys/kernel/btf/vmlinux)");
	else
		buf_text(s, strerror(err));
	buf_release(&mode);
}

/* The kernel's own checks return EACCES; EPERM comes from elsewhere (or from old kernels). */
static void say_paranoid(bool system_wide, struct buf *s)
{
	const char *cap = fine_capabilities() ? "CAP_PERFMON" : "CAP_SYS_ADMIN";
	long paranoid = 2, needed = system_wide ? 0 : 2;

	if (say_user_namespace(fine_capabilities() ? PERFMON : SYS_ADMIN, s) || say_user_namespace(SYS_ADMIN, s))
		return;
	read_number("/proc/sys/kernel/perf_event_paranoid", &paranoid);
	if (paranoid > needed)
		buf_printf(s, "%s is missing and kernel.perf_event_paranoid is %ld, but %s requires %ld or less", cap,
			   paranoid, system_wide ? "sampling whole CPUs" : "sampling one's own processes", needed);
	else if (paranoid > 1)
		buf_printf(s,
			   "%s is missing, and at kernel.perf_event_paranoid %ld one can sample only one's own "
			   "processes, without the kernel",
			   cap, paranoid);
	else
		buf_printf(s, "%s is missing, and the process belongs to another user, or may not be traced", cap);
}

void diagnose_perf(int err, bool system_wide, struct buf *s)
{
	bool denied = err == EPERM || err == EACCES;
	struct buf mode = { 0 };

	buf_text(s, "cannot open a perf event: ");
	if (err == ENOSYS && !seccomp_filters())
		buf_text(s, "this kernel was built without CONFIG_PERF_EVENTS");
	else if ((err == EPERM || err == ENOSYS) && seccomp_filters())
		buf_text(s, "a seccomp filter, such as Docker's default, forbids the system call perf_event_open");
	else if (denied && !perfmon_capable())
		say_paranoid(system_wide, s);
	else if (denied && locked_down(&mode))
		buf_printf(s, "the kernel is locked down (/sys/kernel/security/lockdown: %s)", buf_cstr(&mode));
	else if (denied)
		buf_text(s, "every capability is there, so a security module forbids it");
	else if (err == ENOENT || err == EOPNOTSUPP)
		buf_text(s, "this machine has no such event (a virtual machine often has no hardware counters)");
	else if (err == ENODEV)
		buf_text(s, "this CPU has no such event, or is offline");
	else if (err == ESRCH)
		buf_text(s, "there is no such process any more");
	else if (err == EMFILE)
		buf_text(s, "too many open files (ulimit -n): each CPU and thread takes one");
	else
		buf_text(s, strerror(err));
	buf_release(&mode);
}

void diagnose_kallsyms(struct buf *s)
{
	long restricted = 0, paranoid = 2;

	read_number("/proc/sys/kernel/kptr_restrict", &restricted);
	read_number("/proc/sys/kernel/perf_event_paranoid", &paranoid);
	buf_text(s, "kernel frames get no names: /proc/kallsyms shows no addresses, since ");
	if (restricted >= 2)
		buf_printf(s, "kernel.kptr_restrict is %ld (needed: 1 with CAP_SYSLOG, or 0)", restricted);
	else if (say_user_namespace(SYSLOG, s))
		;
	else if (have_capability(SYSLOG))
		buf_text(s, "a security module forbids it");
	else if (restricted == 1)
		buf_text(s, "CAP_SYSLOG is missing and kernel.kptr_restrict is 1");
	else
		buf_printf(s, "CAP_SYSLOG is missing and kernel.perf_event_paranoid is %ld (needed without it: 1)",
			   paranoid);
}
