#!/bin/sh
# The targets of a recording: processes, threads, a command with its children, CPUs, halves of stacks;
# and its length
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
burn=$BUILD/tests/burn

record() { cprof-record -q -o "$tmp/c.bin" "$@" >"$tmp/out" 2>"$tmp/err"; }
# folded OPTION...: folds the capture with these options
folded() { cprof-sym "$tmp/c.bin" 2>/dev/null | cprof-fold "$@"; }
comms() { folded | cut -d';' -f1 | sort -u | tr '\n' ' '; }
cut_off() { cprof-top -v "$tmp/c.bin" | sed -n 's/^Stacks: .*[( ][0-9]* \(depth\)[,)].*/\1/p'; }
count() { folded "$@" 2>/dev/null | awk '{ n += $NF } END { print n + 0 }'; }
cpus=$(getconf _NPROCESSORS_ONLN)
# expected: the ticks that the recording should have had; samples depend on other load.
expected() {
	cprof-dump "$tmp/c.bin" | sed -n 's/^ledger .* cpu=\([0-9]*\) outcome=expected count=/\1 /p' |
		awk '{ v[$1] = $2 } END { for (k in v) n += v[k]; print n + 0 }'
}
between() { # DESCRIPTION VALUE LEAST MOST
	if [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; then pass "$1"; else fail "$1"; diag "$2, not $3 to $4"; fi
}

mkfifo "$tmp/ids"
"$burn" threads 60 >"$tmp/ids" &
read -r pid first second <"$tmp/ids"
"$burn" brief 60000 &
other=$!

# -p
record -p "$pid" 1
is "-p: only that process" "$(folded -p | cut -d';' -f1 | sort -u)" "burn-$pid"
like "with all its threads" "$(folded | tr ';' '\n' | grep -c '_thread ')" '^[2-9]'
like "filtered ticks are in the ledger" "$(cprof-dump "$tmp/c.bin")" '^ledger .*outcome=filtered count=[1-9]'
record -p "$pid,$other" 1
is "-p with two" "$(folded -p | cut -d';' -f1 | sort -u | tr '\n' ' ')" "$(printf '%s\n' "burn-$pid" "burn-$other" | sort | tr '\n' ' ')"

# -t
record -t "$second" 1
is "-t: only that thread" "$(folded -t | cut -d';' -f1 | sort -u)" "burn-$pid/$second"
unlike "and what it runs" "$(folded)" first_thread
like "by name" "$(folded)" second_thread
record -t "$first,$second" 1
like "-t with two" "$(folded -t | cut -d';' -f1 | sort -u | wc -l)" '^ *2$'

# -F, -C, SECONDS
record -F 499 -p "$pid" 1
between "-F 499 for a second" "$(expected)" $((480 * cpus)) $((600 * cpus))
record -F 99 -p "$pid" 2.5
between "99 Hz for two and a half" "$(expected)" $((245 * cpus)) $((270 * cpus))
like "the rate is in the capture" "$(cprof-dump "$tmp/c.bin")" '^event id=1 name="cpu-clock" unit="ns" period=10101010 '
record -C 0 -a 1
is "-C 0: no other CPU" "$(cprof-dump "$tmp/c.bin" | grep '^sample' | grep -cv ' cpu=0 ')" 0
like "but that one" "$(cprof-dump "$tmp/c.bin")" '^sample .* cpu=0 '
kill "$pid" "$other"
wait 2>/dev/null

# A command with another target only says when the recording ends.
"$burn" threads 60 >"$tmp/ids" &
read -r pid first second <"$tmp/ids"
status "-a and a command" 0 cprof-record -q -o "$tmp/c.bin" -a -- "$burn" brief 1500
like "the command is recorded" "$(folded -p | cut -d';' -f1 | grep '^burn-' | sort -u | wc -l)" '^ *2$'
like "and so are others" "$(folded -p | cut -d';' -f1 | sort -u | tr '\n' ' ')" "burn-$pid "
status "-p and a command" 0 cprof-record -q -o "$tmp/c.bin" -p "$pid" -- sleep 1
is "only the process is recorded" "$(folded -p | cut -d';' -f1 | sort -u)" "burn-$pid"
status "-t and a command" 0 cprof-record -q -o "$tmp/c.bin" -t "$second" -- sleep 1
is "only the thread is recorded" "$(folded -t | cut -d';' -f1 | sort -u)" "burn-$pid/$second"
status "-g, as perf has it" 0 cprof-record -q -g --call-graph dwarf -o "$tmp/c.bin" -- true
is "  needs no option" "$(cat "$tmp/err")" "cprof-record: -g is not needed: stacks are always recorded
cprof-record: --call-graph is not needed: stacks are always recorded"
kill "$pid"
wait 2>/dev/null

# Mappings made on a CPU that is not sampled are known anyway.
if [ "$cpus" -gt 1 ] && command -v taskset >/dev/null; then
	for e in bpf perf; do
		cprof-record -q --engine $e -C 0 -a -o "$tmp/c.bin" 2 &
		sleep 0.7
		taskset -c 1 "$burn" brief 60000 &
		other=$!
		sleep 0.3
		taskset -cp 0 $other >/dev/null
		wait %1
		kill $other
		like "-C by $e: what was mapped on another CPU" "$(folded --comm burn)" '^burn;.*main;brief_work [0-9]+$'
	done
else
	skip "-C: what was mapped on another CPU" "one CPU, or no taskset"
fi
wait 2>/dev/null

# Deeper than the kernel's limit
most=$(cat /proc/sys/kernel/perf_event_max_stack)
record --unwind fp --depth 1000 -- "$burn" deep $((most + 50))
is "a stack cut by the kernel's limit is marked" "$(cut_off)" depth
cprof-record --unwind fp -d 1023 -o "$tmp/c.bin" -- true 2>"$tmp/err"
is "who asks for more is told" "$(grep -c "^cprof-record: stacks are cut at $most addresses, .*perf_event_max_stack\$" "$tmp/err")" \
	"$((most < 1023))"
cprof-record --unwind fp -o "$tmp/c.bin" -- true 2>"$tmp/err"
is "and no one else is" "$(grep -c perf_event_max_stack "$tmp/err")" 0
record --depth 5 -- "$burn" deep 20
is "and one cut by --depth" "$(cut_off)" depth
record -- "$burn" deep 20
is "a whole one is not" "$(cut_off)" ""

# a command and its children
record -- sh -c '"$1" family 1; "$1" brief 200; i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done' sh "$burn"
is "a command: it and its children, no one else" "$(comms)" "burn sh "
like "the child" "$(folded)" '^burn;.*main;.*child_work [0-9]+$'
like "its parent" "$(folded)" '^burn;.*main;.*parent_work [0-9]+$'
like "and what came after" "$(folded)" '^burn;.*main;brief_work [0-9]+$'
for _ in 1 2 3; do # again if ticks did not come, as in a virtual machine that stood still
	record -- "$burn" brief 300
	[ "$(count)" -lt 26 ] || break
done
like "from its first instruction to its last" "$(count)" '^(2[6-9]|3[0-9])$'
cprof-record -o "$tmp/c.bin" -- sh -c 'exit 7' 2>"$tmp/err"
is "a command that fails does not fail the recording" $? 0
like "but is told" "$(cat "$tmp/err")" '^cprof-record: sh ended with status 7$'
status "with --exit-status its status is the recorder's" 7 \
	cprof-record -q --exit-status -o "$tmp/c.bin" -- sh -c 'exit 7'
status "  a signal counts from 128" 143 cprof-record -q --exit-status -o "$tmp/c.bin" -- sh -c 'kill -TERM $$'
is "  the capture is complete" "$(cprof-dump "$tmp/c.bin" | grep -c '^end .*reason=closed')" 1
status "  success is success" 0 cprof-record -q --exit-status -o "$tmp/c.bin" -- true
status "  and a command is required" 2 cprof-record --exit-status -a 1
is "  its sentence" "$(head -n 1 "$tmp/err")" 'cprof-record: --exit-status requires a command'
record -- sh -c 'echo out; echo err >&2; cat' </dev/null
is "with -o the command has its output" "$(cat "$tmp/out")" out
is "and its standard error" "$(cat "$tmp/err")" err
cprof-record -q -- sh -c 'echo out' >"$tmp/c.bin" 2>"$tmp/err"
is "without -o its output goes to standard error" "$(cat "$tmp/err")" out
ok "and the stream is a stream" cprof-dump "$tmp/c.bin"
record 1 -- sleep 60
between "seconds end a command" "$(cprof-dump "$tmp/c.bin" | grep -c '^flush')" 1 4

record -a -F 20000 0.3
like "as fast as can be it still ends in time" "$(cprof-dump "$tmp/c.bin" | tail -2)" '^end .*reason=closed'
record -a 0.2 -F 199
like "options behind the seconds" "$(cprof-dump "$tmp/c.bin")" '^event .* millihertz=199000$'
(ulimit -f 1; cprof-record -q -a -F 9999 -o "$tmp/limit.bin" 5) 2>"$tmp/err"
is "a file as large as it may be is status 1" $? 1
like "in a sentence" "$(cat "$tmp/err")" '^cprof-record: .*/limit.bin: .*File too large$'

# -p lasts as long as the processes that it has started
sh -c 'sleep 0.5; "$1" brief 600 & exit' sh "$burn" &
record -p $!
like "-p: until the last of its children ends" "$(folded)" '^burn;.*main;brief_work [0-9]+$'

# Ctrl-C, and a process that ends
"$burn" brief 500 & cprof-record -q -p $! -o "$tmp/c.bin"
like "a recording ends with its process" "$(cprof-dump "$tmp/c.bin" | tail -2)" '^end .*reason=closed'
"$burn" brief 60000 &
other=$!
cprof-record -a -q -o "$tmp/c.bin" &
recorder=$!
sleep 1
kill -INT $recorder
wait $recorder
is "an interrupted recording ends well" $? 0
kill $other
wait 2>/dev/null
like "and whole" "$(cprof-dump "$tmp/c.bin" | tail -2)" '^end .*reason=closed'

# halves of stacks
half() { record "$1" -- sh -c 'i=0; while [ $i -lt 4000 ]; do i=$((i + 1)); read -r x </proc/self/stat; done; "$1" brief 200' sh "$burn"; }
half -U
is "-U: no kernel frame" "$(folded -a | grep -c '_\[k\]')" 0
like "but user frames" "$(folded)" brief_work
half -K
like "-K: kernel frames" "$(folded -a)" '_\[k\]'
unlike "and no user frame" "$(folded)" brief_work

# refusals, a sentence each
refused() { # DESCRIPTION STATUS REGEX ARGUMENT...
	d=$1 s=$2 r=$3
	shift 3
	status "$d" "$s" cprof-record "$@"
	like "$d: its sentence" "$(head -1 "$tmp/err")" "$r"
	is "$d: nothing is written" "$(wc -c <"$tmp/out")" 0
}
refused "no target" 2 '^cprof-record: say what to record'
refused "a command without --" 2 '^cprof-record: a command comes after --: cprof-record -- sleep 1$' sleep 1
refused "the same after a time" 2 '^cprof-record: a command comes after --: cprof-record 5 -- make all$' 5 make all
refused "two targets" 2 '^cprof-record: -a, -p and -t are mutually exclusive$' -a -p 1
refused "no such process" 1 '^cprof-record: no process has the id 4194304$' -p 4194304
refused "no such thread" 1 '^cprof-record: no thread has the id 4194304$' -t 4194304
sh -c 'true & echo $!; exec sleep 1000' >"$tmp/exited" &
waits=$!
state() { sed 's/.*) \(.\).*/\1/' "/proc/$(cat "$tmp/exited")/stat" 2>/dev/null; }
tries=0
until [ "$(state)" = Z ] || [ $((tries += 1)) -gt 300 ]; do sleep 0.1; done
refused "a process that has exited, with its id still there" 1 \
	'^cprof-record: process [0-9]* has exited, and its parent has not waited for it yet$' \
	-p "$(cat "$tmp/exited")"
kill $waits
refused "not an id" 2 '^cprof-record: invalid -p "x" \(expected a number, as from pgrep x' -p x
refused "no such CPU" 2 '^cprof-record: -C: CPU 65535 is not online$' -a -C 65535
refused "a command that is not there" 1 '^cprof-record: /nonexistent/command: No such file or directory$' -- /nonexistent/command
refused "nor in PATH" 1 '^cprof-record: nonexistent-command: No such file or directory$' -- nonexistent-command
refused "faster than a machine can" 2 '^cprof-record: invalid -F "100000" \(expected a whole number from 1 to 20000\)$' -a -F 100000
refused "an empty id" 2 '^cprof-record: invalid -p "" \(expected a whole number' -p 1,,2
refused "-U with -K" 2 '^cprof-record: -U and -K' -a -U -K
refused "no time" 2 '^cprof-record: invalid duration "0" .expected seconds' -a 0
refused "a file that cannot be written" 1 "^cprof-record: $tmp/none/x: No such file or directory$" -o "$tmp/none/x" -a 1
echo keep >"$tmp/old"
status "a recording that fails" 1 cprof-record -o "$tmp/old" -p 4194304
is "leaves the file that was there" "$(cat "$tmp/old")" keep
if command -v script >/dev/null; then
	script -qec "$BIN/cprof-record -a 1" /dev/null </dev/null >"$tmp/tty" 2>&1
	like "a terminal gets no binary" "$(cat "$tmp/tty")" 'cprof-record: standard output is a terminal'
else
	skip "a terminal gets no binary" "script is not here"
fi
done_testing
