#!/bin/sh
# Threads without a user stack are not truncated stacks: io_uring workers, and threads inside
# exit(2) and execve(2).
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
uring=$BUILD/tests/uring
[ -x "$uring" ] || make -s -C "$top" BUILD="$BUILD" "$uring" >"$tmp/make" 2>&1

samples() { awk '{ n += $NF } END { print n + 0 }' "$@"; }
# few DESCRIPTION REGEX FILE: of more than 20 samples, at most one in 20 has a line like this
few() {
	bad=$(grep -E -- "$2" "$3" | samples) all=$(samples "$3")
	if [ "$all" -gt 20 ] && [ $((bad * 20)) -le "$all" ]; then pass "$1"; else
		fail "$1"
		diag "$bad of $all:"
		diag "$(grep -E -- "$2" "$3" | cut -c1-300 | head -5)"
	fi
}

"$uring" 0.01 2>"$tmp/err"
has_uring=$?
for unwind in auto fp; do
	if [ $has_uring = 77 ]; then
		skip "workers of io_uring, --unwind $unwind" "$(cat "$tmp/err")"
		continue
	fi
	for seconds in 1 3 9; do # longer, if other programs left the workers too little CPU time
		cprof-record -q -F 999 --unwind $unwind -o "$tmp/uring.bin" -- "$uring" $seconds
		cprof-fold --truncated "$tmp/uring.bin" | grep '^iou-wrk' >"$tmp/uring"
		[ "$(samples "$tmp/uring")" -le 20 ] || break
	done
	few "workers of io_uring have no user stack, --unwind $unwind" '\[truncated' "$tmp/uring"
done
cprof-top -n 1 "$tmp/uring.bin" >"$tmp/top"
[ $has_uring = 77 ] || unlike "  nor is that a reason that is told" "$(cat "$tmp/top")" 'no-regs'

# Many that begin and end at once, until there is enough of both to judge by
i=0
while [ $i -lt 5 ]; do
	cprof-record -q -F 1999 -o "$tmp/exec.bin" -- sh -c 'i=0; while [ $i -lt 500 ]; do /bin/true; i=$((i + 1)); done'
	cprof-fold --truncated "$tmp/exec.bin" >"$tmp/exec"
	grep ';do_exit[; ]' "$tmp/exec" >"$tmp/exit"
	grep -E ';(begin_new_exec|load_elf_binary)[; ]' "$tmp/exec" >"$tmp/image"
	[ "$(samples "$tmp/exit")" -gt 20 ] && [ "$(samples "$tmp/image")" -gt 20 ] && break
	i=$((i + 1))
done
few "inside exit" '\[truncated: (unreadable|no-regs)' "$tmp/exit"
few "inside execve" '\[truncated: (unreadable|no-regs)' "$tmp/image"
# Without kernel stacks, nothing but the address shows that the sample is of neither image.
cprof-record -q -F 1999 -U -o "$tmp/exec.bin" -- \
	sh -c 'i=0; while [ $i -lt 500 ]; do /bin/true; i=$((i + 1)); done'
cprof-fold --truncated "$tmp/exec.bin" | grep '^true' >"$tmp/image"
few "  nor with -U" '\[unknown\]' "$tmp/image"
done_testing
