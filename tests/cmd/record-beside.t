#!/bin/sh
# The clock beside very frequent events: ticks lost because of them are counted as lost, and every
# tool reports them.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
events=$BUILD/tests/events
trace=syscalls:sys_enter_getppid
has_tracepoint $trace || skip_all "no tracepoints here"

# ticks OUTCOME FILE: prints the number of ticks with that outcome
ticks() { cprof-dump "$2" | sed -n "s/^ledger .*cpu=\([0-9]*\) outcome=$1 count=\([0-9]*\).*/\1 \2/p" | awk '{ v[$1] = $2 } END { for (k in v) n += v[k]; print n + 0 }'; }

# A sleeping CPU may have no ticks; the first one after that is on time anyway.
if [ "$(id -u)" = 0 ]; then
	for c in $(seq 0 $(($(nproc) - 1)) | head -n 4); do
		status "CPU $c, little to do" 0 cprof-record -a -C "$c" -e cpu-clock,page-faults -o "$tmp/sleeps.bin" 2
		n=$(ticks nested "$tmp/sleeps.bin") all=$(ticks expected "$tmp/sleeps.bin")
		diag "$n of $all nested"
		is "  what it sleeps is not lost" "$((n * 10 < all))" 1
	done
fi
"$events" 1 100000000000 & # asks for its parent's ID until it is killed
calls=$!
trap 'kill $calls 2>/dev/null; rm -rf "$tmp"' EXIT
status "the clock alone" 0 cprof-record -F 999 -a -o "$tmp/alone.bin" 2
like "loses nothing" "$(cat "$tmp/err")" '; nothing lost[,;]'
is "that would be inside something" "$(ticks nested "$tmp/alone.bin")" 0
if [ -r /sys/kernel/btf/vmlinux ]; then
	status "the clock beside all system calls" 0 cprof-record -F 999 -a -e cpu-clock,raw_syscalls:sys_enter -o "$tmp/raw.bin" 2
	hits=$(cprof-fold --event raw_syscalls:sys_enter --comm events "$tmp/raw.bin" | awk '{ n += $NF } END { print n + 0 }')
	diag "$hits of them, $(ticks missed "$tmp/raw.bin") ticks that did not come"
	is "of which there are many" "$([ "$hits" -gt 50000 ] && echo many)" many
	is "keeps no tick from us" "$(ticks nested "$tmp/raw.bin")" 0
	# Frames between a tracepoint and the program are left out of the stack, and no other frame is.
	cprof-fold -K --event raw_syscalls:sys_enter --comm events "$tmp/raw.bin" >"$tmp/folded"
	is "stacks end at the tracepoint" "$(grep -cE 'bpf_prog|bpf_trace|__traceiter|^events;[^;]*$' "$tmp/folded")" 0
	is "all of them" "$(sed 's/.*\(do_syscall_64.*\) [0-9]*$/\1/' "$tmp/folded" | sort -u | grep -cv '^do_syscall_64\(;syscall_trace_enter[^;]*\)*$')" 0
	cprof-record -q -F 99 -a -K -d 2 -e raw_syscalls:sys_enter -o "$tmp/two.bin" 1
	is "two frames are two at the tracepoint" "$(cprof-fold --comm events "$tmp/two.bin" | sed 's/ [0-9]*$//' | awk -F';' '{ print NF }' | sort -u | xargs)" 3
else
	skip "the clock beside all system calls" "no type information"
fi
status "the clock beside a system call" 0 cprof-record -F 999 -a -e cpu-clock,$trace -o "$tmp/both.bin" 2
kill $calls
wait 2>/dev/null
lost=$(ticks nested "$tmp/both.bin")
diag "$lost ticks lost, $(ticks missed "$tmp/both.bin") that did not come"
is "ticks are lost" "$([ "$lost" -ge 20 ] && echo many)" many
like "the recorder says so" "$(cat "$tmp/err")" "; lost: $lost nested"
like "cprof-top" "$(cprof-top -v "$tmp/both.bin")" "^Lost: +$lost of [0-9]+ expected samples lost \(nested $lost\)$"
cprof-fold "$tmp/both.bin" 2>&1 >"$tmp/folded" | grep lost >"$tmp/err"
like "cprof-fold" "$(cat "$tmp/err")" " $lost of [0-9]+ expected samples lost"
like "the flame graph" "$(cprof-flame -o svg "$tmp/both.bin" 2>/dev/null)" ">Lost: $lost of [0-9,]+ expected samples lost \(nested $lost\)<"
# All ticks have an outcome, except for one or two a CPU.
is "and the account is even" "$(cprof-dump "$tmp/both.bin" | sed -n 's/^ledger .*cpu=\([0-9]*\) outcome=\([a-z-]*\) count=\([0-9]*\).*/\1 \2 \3/p' |
	awk '{ v[$1 " " $2] = $3 } END { for (k in v) { split(k, a, " "); n += a[2] == "expected" ? v[k] : a[2] ~ /lost$/ ? 0 : -v[k] } print (n > -5 && n < 5) ? "even" : n }')" even
done_testing
