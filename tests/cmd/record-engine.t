#!/bin/sh
# Without BPF: the same stream from plain perf, for root and for unprivileged users
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
burn=$BUILD/tests/burn

folded() { cprof-sym "$1" 2>/dev/null | cprof-fold; }
meta() { cprof-dump "$1" | sed -n "s/^meta key=\"$2\" value=\"\(.*\)\"\$/\1/p" | head -1; }

# One process that computes, and one that is in the kernel: otherwise a sample finds kernel code
# only by chance.
"$burn" brief 60000 &
other=$!
dd if=/dev/zero of=/dev/null bs=1M 2>/dev/null &
other="$other $!"
status "the system, by plain perf" 0 cprof-record --engine perf -a -o "$tmp/perf.bin" 1
is "says so in the stream" "$(meta "$tmp/perf.bin" engine)" perf
status "the same by BPF" 0 cprof-record --engine bpf -a -o "$tmp/bpf.bin" 1
is "which says that" "$(meta "$tmp/bpf.bin" engine)" bpf
kill $other
wait 2>/dev/null
for e in perf bpf; do
	like "$e: the same stack" "$(folded "$tmp/$e.bin")" '^burn;.*main;brief_work [0-9]+$'
	like "$e: nothing lost" "$(cprof-top -v "$tmp/$e.bin")" '^Lost: +nothing$'
	# exits and vDSO samples of other processes are chance, and only BPF has users, and frames of languages
	# (prove's perl)
	cprof-dump "$tmp/$e.bin" | sed -n 's/ .*//p' |
		grep -vE '^(exit|image|script|function|lang-frame|user|owner)$' | sort -u >"$tmp/$e.kinds"
done
same "the same kinds of records" "$tmp/perf.kinds" "$tmp/bpf.kinds"

# Unprivileged users: own processes, user code
nobody() { setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }
if ! command -v setpriv >/dev/null || [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 2 ]; then
	skip "unprivileged" "setpriv or kernel.perf_event_paranoid"
	done_testing
fi
chmod 755 "$tmp"
mkdir -m 777 "$tmp/nobody"
cp "$burn" "$BIN/cprof-record" "$tmp/nobody"
cd "$tmp/nobody" || exit 1
nobody ./cprof-record -o own.bin -- sh -c './burn family 1; ./burn brief 300' 2>"$tmp/err"
is "unprivileged: the own command" $? 0
is "by plain perf" "$(meta own.bin engine)" perf
like "and it is said why" "$(cat "$tmp/err")" '^cprof-record: sampling by plain perf: cannot use BPF: CAP_BPF'
like "nothing lost" "$(cat "$tmp/err")" 'samples of [0-9]+ processes in .*; nothing lost'
for f in parent_work child_work brief_work; do
	like "$f is there" "$(folded own.bin)" "^burn;.*main;.*$f [0-9]+\$"
done
: >ids
nobody ./burn threads 60 >ids &
tries=0
while [ "$(wc -w <ids)" -lt 3 ] && [ $((tries = tries + 1)) -lt 200 ]; do sleep 0.05; done
read -r pid first second <ids
nobody ./cprof-record -q -p "$pid" -o own.bin 1 2>"$tmp/err"
is "unprivileged: an own process" $? 0
like "one thread of it" "$(folded own.bin)" '^burn;.*first_thread [0-9]+$'
like "and the other" "$(folded own.bin)" '^burn;.*second_thread [0-9]+$'
nobody ./cprof-record -q -t "$second" -o own.bin 1 2>"$tmp/err"
unlike "unprivileged: one own thread" "$(folded own.bin)" 'first_thread'
like "that one" "$(folded own.bin)" 'second_thread'
pkill -f 'burn threads 60'
wait 2>/dev/null
nobody ./cprof-record -a 1 >"$tmp/out" 2>"$tmp/err"
is "unprivileged: not the system" $? 1
like "in a sentence that names capability and sysctl" "$(cat "$tmp/err")" 'CAP_PERFMON.*perf_event_paranoid'
is "and nothing written" "$(wc -c <"$tmp/out")" 0
nobody ./cprof-record -p 1 1 >"$tmp/out" 2>"$tmp/err"
is "unprivileged: nor a process of others" $? 1
is "in one sentence" "$(grep -c . "$tmp/err")" 1

chown root burn && chmod 711 burn
nobody ./cprof-record -- ./burn brief 2500 2>"$tmp/err" >"$tmp/out"
like "what one may not read cannot be sampled, and that is said" "$(cat "$tmp/err")" 'sampling of process [0-9]+ ended before the process: it executed'
chmod 755 burn

# On a machine without ticks on sleeping CPUs, the last second of such a CPU is idle, too.
taskset -c 0 "$BUILD/tests/burn" threads 20 >/dev/null &
busy=$!
cprof-record -q -a -F 99 -o "$tmp/asleep.bin" 1
kill $busy
is "the last second of a CPU that sleeps is not missed" "$(cprof-dump "$tmp/asleep.bin" | awk '/ outcome=missed / { split($5, v, "="); n = v[2] }
	END { print (n > 40 ? n " ticks" : "few") }')" few

# BPF, without permission to see the address of the kernel's idle loop
if setpriv --inh-caps=-all --bounding-set=-syslog true 2>/dev/null; then
	setpriv --bounding-set=-syslog,-sys_admin --inh-caps=-all ./cprof-record -q --engine bpf -F 499 -a -o "$tmp/idle.bin" 1 2>"$tmp/err"
	unlike "without CAP_SYSLOG no idle tick is a sample" "$(cprof-dump "$tmp/idle.bin" | grep ^thread)" ' tid=0$'
fi
# A kernel without type information: the recorder works without it, and reports the consequences.
if unshare --mount sh -c 'mount -t tmpfs none /sys/kernel/btf' 2>/dev/null; then
	unshare --mount sh -c 'mount -t tmpfs none /sys/kernel/btf; for d in /boot /lib/modules; do [ ! -d $d ] || mount -t tmpfs none $d; done
		exec ./cprof-record --engine bpf -F 499 -o "$1" -- sh -c "./burn brief 600"' sh "$tmp/nobtf.bin" 2>"$tmp/err"
	is "without BTF" $? 0
	like "what is missing is said" "$(cat "$tmp/err")" '^cprof-record: the first quarter of a second of new processes .*CONFIG_DEBUG_INFO_BTF'
	is "in one sentence" "$(grep -vc ' samples of ' "$tmp/err")" 1
	like "and it samples" "$(folded "$tmp/nobtf.bin")" '^burn;.*main;brief_work [0-9]+$'
else
	skip "without BTF" "unshare or mount is refused"
fi
# An inner PID namespace
if unshare --pid --fork true 2>/dev/null; then
	unshare --pid --fork ./cprof-record --engine bpf -a 1 >"$tmp/out" 2>"$tmp/err"
	is "BPF in an inner PID namespace is refused" $? 1
	like "in a sentence" "$(cat "$tmp/err")" '^cprof-record: BPF sees the process IDs of the initial PID namespace'
fi
if unshare --pid --fork --mount-proc true 2>/dev/null; then
	unshare --pid --fork --mount-proc ./cprof-record -q -o "$tmp/inner.bin" -- ./burn brief 300 2>"$tmp/err"
	is "there plain perf samples" "$(meta "$tmp/inner.bin" engine)" perf
	like "with names" "$(folded "$tmp/inner.bin")" '^burn;.*main;brief_work [0-9]+$'
fi
# A kernel that is locked down for confidentiality
cat >"$tmp/locked.c" <<'X'
#include <dlfcn.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/syscall.h>

/* As a kernel that is locked down: it has no helper that reads its memory, so a program that would call one is refused. */
long syscall(long number, ...)
{
	static long (*next)(long, ...);
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (!next)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_bpf && a[0] == BPF_PROG_LOAD) {
		const union bpf_attr *attr = (const union bpf_attr *)a[1];
		struct bpf_insn *code = (struct bpf_insn *)(uintptr_t)attr->insns;

		for (uint32_t i = 0; i < attr->insn_cnt; i++) {
			if (code[i].code == (BPF_JMP | BPF_CALL) && code[i].src_reg == 0 &&
			    (code[i].imm == BPF_FUNC_probe_read_kernel || code[i].imm == BPF_FUNC_probe_read))
				code[i].imm = INT32_MAX;
		}
	}
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
X
cat >"$tmp/locked" <<'X'
mount -t tmpfs none /sys/kernel/security && echo 'none integrity [confidentiality]' >/sys/kernel/security/lockdown || exit
so=$1
shift
LD_PRELOAD=$so exec "$@"
X
locked() { unshare -m sh "$tmp/locked" "$tmp/locked.so" cprof-record "$@"; }
if [ -d /sys/kernel/security ] && ! sanitized &&
	${CC:-cc} -O2 -D_GNU_SOURCE -shared -fPIC -o "$tmp/locked.so" "$tmp/locked.c" -ldl 2>/dev/null; then
	status "a kernel that is locked down" 0 locked -o "$tmp/locked.bin" -- "$burn" brief 300
	lock='the kernel is locked down \(/sys/kernel/security/lockdown: confidentiality\), which keeps BPF programs from unwinding by tables$'
	like "  is sampled by perf, and the lock is named" "$(cat "$tmp/err")" "^cprof-record: sampling by plain perf: $lock"
	is "  as the stream says" "$(meta "$tmp/locked.bin" engine)" perf
	like "  with whole stacks by tables" "$(folded "$tmp/locked.bin")" '^burn;_start;.*main;brief_work [0-9]+$'
	status "  by BPF, if that is asked for" 0 locked --engine bpf -o "$tmp/locked.bin" -- "$burn" brief 100
	like "  with the reason for frame pointers" "$(cat "$tmp/err")" "unwound by frame pointers alone: $lock"
else
	skip "a kernel that is locked down" "nothing can be preloaded here"
fi
done_testing
