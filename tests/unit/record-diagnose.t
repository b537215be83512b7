#!/bin/sh
# The recorder reports the true reason of a kernel's refusal.
. "$(dirname "$0")/../lib/lib.sh"
side=$BUILD/tests/record-side

says() { "$side" diagnose "$@"; }
eperm=1 esrch=3 eacces=13 enodev=19 emfile=24 enosys=38

if grep -q '^Seccomp:	0' /proc/self/status; then
	is "no BPF in the kernel" "$(says bpf $enosys)" "cannot use BPF: this kernel was built without CONFIG_BPF_SYSCALL"
	is "no perf events in the kernel" "$(says perf $enosys)" \
		"cannot open a perf event: this kernel was built without CONFIG_PERF_EVENTS"
else
	like "a system call that is not there, under seccomp" "$(says bpf $enosys)" 'seccomp filter'
fi
like "no type information" "$(says bpf $esrch)" 'CONFIG_DEBUG_INFO_BTF'
like "no such event" "$(says perf 2)" 'no such event'
like "an offline CPU" "$(says perf-wide $enodev)" 'offline'
like "too many files" "$(says perf-wide $emfile)" 'ulimit -n'
is "any other error" "$(says perf 12)" "cannot open a perf event: Cannot allocate memory"

[ "$(id -u)" = 0 ] || { skip "capabilities" "needs root"; done_testing; }
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
cp "$side" "$tmp/side"
chmod 755 "$tmp" "$tmp/side"
nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$tmp/side" "$@"; }
without() { caps=$1; shift; setpriv --bounding-set="$caps" "$tmp/side" "$@"; }

is "CAP_SYS_ADMIN as root" "$("$tmp/side" capability 21)" yes
is "  and as nobody" "$(nobody capability 21)" no
is "a capability that there is not" "$("$tmp/side" capability 999)" no
if unshare --user --map-root-user true 2>/dev/null; then
	is "  nor in a user namespace" "$(unshare --user --map-root-user "$tmp/side" capability 21)" no
	like "  which is the reason then" "$(unshare --user --map-root-user "$tmp/side" diagnose bpf $eperm)" 'user namespace'
	like "  for perf" "$(unshare --user --map-root-user "$tmp/side" diagnose perf $eacces)" 'user namespace'
fi
if [ "$(cat /proc/sys/kernel/cap_last_cap)" -ge 39 ]; then
	like "BPF as nobody" "$(nobody diagnose bpf $eperm)" '^cannot use BPF: CAP_BPF and CAP_PERFMON are missing'
	is "  with one of two" "$(without -sys_admin,-cap_perfmon diagnose bpf $eperm 2>/dev/null ||
		without -sys_admin,-perfmon diagnose bpf $eperm)" "cannot use BPF: CAP_PERFMON is missing"
	like "perf as nobody" "$(nobody diagnose perf-wide $eacces)" 'CAP_PERFMON is missing'
else
	like "BPF as nobody" "$(nobody diagnose bpf $eperm)" 'CAP_SYS_ADMIN is missing'
fi
if [ "$paranoid" -gt 0 ]; then
	like "  with the sysctl, its value and the one that is needed" "$(nobody diagnose perf-wide $eacces)" \
		"kernel.perf_event_paranoid is $paranoid, but sampling whole CPUs requires 0 or less\$"
fi
like "root and still refused" "$(says perf $eacces)" 'security module|locked down|seccomp'
like "  BPF" "$(says bpf $eperm)" 'security module|locked down|seccomp'
like "kernel symbols as nobody" "$(nobody diagnose kallsyms)" 'CAP_SYSLOG is missing|kptr_restrict is 2'

# A seccomp filter that forbids one system call, as in a container
cat >"$tmp/filter.c" <<X
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { 4, f };
	(void)argc;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		return 1;
	execv(argv[1], argv + 1);
	return 1;
}
X
gcc -o "$tmp/filter" "$tmp/filter.c"
like "a seccomp filter" "$("$tmp/filter" "$tmp/side" diagnose perf $eperm)" 'a seccomp filter, such as Docker'
like "  for BPF" "$("$tmp/filter" "$tmp/side" diagnose bpf $eperm)" 'a seccomp filter, such as Docker'
unlike "  not where capabilities lack" "$("$tmp/filter" "$tmp/side" diagnose bpf $eacces)" 'seccomp'
done_testing
