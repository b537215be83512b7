#!/bin/sh
# Waiting time: the reasons and lengths of waits, against the threads' own report; and the views keep it apart
# from CPU time.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
waits=$BUILD/tests/waits
status "--off-cpu" 0 cprof-record -q --off-cpu -F 997 -o "$tmp/raw.bin" -- "$waits" 3
[ -s "$tmp/raw.bin" ] || { skip "waiting time" "$(head -1 "$tmp/err")"; done_testing; }
cp "$tmp/out" "$tmp/said"
cprof-sym "$tmp/raw.bin" >"$tmp/days.bin" 2>/dev/null

# folded TID [PATTERN [OPTION...]]: nanoseconds of a thread with PATTERN in its stack
folded() { tid=$1 what=${2-}; shift; [ $# = 0 ] || shift; cprof-fold --weight ns --tid "$tid" "$@" "$tmp/days.bin" | grep -e "$what" | awk '{ n += $NF } END { printf "%.0f\n", n }'; }
# near PART OTHER WHOLE POINTS
near() { awk -v a="$1" -v b="$2" -v w="$3" -v p="$4" 'BEGIN { d = 100 * (a - b) / w; print (d < p && d > -p) ? "near" : d " % off: " a " for " b }'; }
n=0
while read -r tid wall cpu queued sleep lock pipe; do
	n=$((n + 1))
	is "thread $n: on CPU, off it and in the queue make its time" "$(near "$(folded "$tid" '' --wall)" "$wall" "$wall" 2)" near
	is "thread $n: computing" "$(near "$(folded "$tid")" "$cpu" "$wall" 3)" near
	is "thread $n: sleeping" "$(near "$(folded "$tid" phase_sleep --event off-cpu)" "$sleep" "$wall" 3)" near
	is "thread $n: a lock" "$(near "$(folded "$tid" phase_lock --event off-cpu)" "$lock" "$wall" 3)" near
	is "thread $n: a pipe" "$(near "$(folded "$tid" phase_pipe --event off-cpu)" "$pipe" "$wall" 3)" near
	is "thread $n: the queue while it computes" \
		"$(near "$(folded "$tid" phase_compute --event off-cpu:run-queue)" "$queued" "$wall" 3)" near
done <"$tmp/said"
is "three threads" "$n" 3
unlike "no place was forgotten" "$(cprof-top -v --event off-cpu "$tmp/days.bin")" forgotten
like "a lock by its name, in the function that waits" "$(cprof-fold --event off-cpu:sleep "$tmp/days.bin")" \
	'phase_lock;.*;[a-z_0-9]*futex[a-z_0-9]* [0-9]+$'
unlike "the scheduler's own frames are left out" "$(cprof-fold --event off-cpu "$tmp/days.bin")" ';(__schedule|bpf_[a-z0-9_]*) [0-9]+$'

# The views
ticks=$(cprof-dump "$tmp/days.bin" | grep -c '^sample .* event=1 ')
is "by default they show what ran" "$(cprof-fold "$tmp/days.bin" | awk '{ n += $NF } END { print n }')" "$ticks"
is "as --event cpu-clock does" "$(cprof-fold --event cpu-clock "$tmp/days.bin" | cksum)" "$(cprof-fold "$tmp/days.bin" | cksum)"
like "cprof-top counts it apart" "$(cprof-top -v "$tmp/days.bin")" "^Samples: +$ticks in"
like "and says how much was waited" "$(cprof-top -v "$tmp/days.bin")" '^Waiting: +[0-9.]+ s asleep, [0-9.]+ s uninterruptible, [0-9.]+ s for a CPU'
whole() { cprof-fold --weight ns "$@" "$tmp/days.bin" | awk '{ n += $NF } END { printf "%.0f\n", n }'; }
ran=$(cprof-dump "$tmp/days.bin" | sed -n 's/^ran .* ns=\([0-9]*\) .*/\1/p' | awk '{ n += $1 } END { printf "%.0f", n }')
is "--wall is all of it: what was waited, and what ran by the scheduler's own account" "$(whole --wall)" "$(echo "$ran $(whole --event off-cpu)" | awk '{ printf "%.0f", $1 + $2 }')"
is "a family is its members" "$(whole --event off-cpu)" "$(whole --event off-cpu:sleep,off-cpu:run-queue,off-cpu:uninterruptible)"
like "--wall says why" "$(cprof-fold --wall "$tmp/days.bin")" 'phase_pipe;.*;\[sleeping\] [0-9]+$'
is "an event that is not there" "$(cprof-fold --event page-faults "$tmp/days.bin")" ""
status "--wall and --event" 2 cprof-fold --wall --event off-cpu "$tmp/days.bin"

cprof-fold "$tmp/days.bin" >"$tmp/folded"
status "folded text has no events" 2 cprof-fold --event off-cpu "$tmp/folded"
is "the account of ticks is even" "$(cprof-dump "$tmp/raw.bin" | sed -n 's/^ledger .*cpu=\([0-9]*\) outcome=\([a-z-]*\) count=\([0-9]*\).*/\1 \2 \3/p' |
	awk '{ v[$1 " " $2] = $3 } END { for (k in v) { split(k, a, " "); n += a[2] == "expected" ? v[k] : a[2] ~ /^(sideband|waits)-lost$/ ? 0 : -v[k] } print n }')" 0

# A CPU's ticks count from when it started to report them, although tracing of waits takes time to start and
# end.
"$BUILD/tests/burn" threads 20 >/dev/null &
busy=$!
sleep 0.3
cprof-record -q -a --off-cpu -F 19999 -o "$tmp/fast.bin" 1
kill $busy
is "no CPU tells of more ticks than it had time for" "$(cprof-dump "$tmp/fast.bin" |
	sed -n 's/^ledger .*cpu=\([0-9][0-9]*\) outcome=\([a-z-]*\) count=\([0-9]*\).*/\1 \2 \3/p' | awk '$1 { v[$1 " " $2] = $3; cpus[$1] }
	END { for (c in cpus) { n = -v[c " expected"]; for (k in v) { split(k, a, " "); if (a[1] == c && a[2] != "expected") n += v[k] }
		if (n > 5) print "CPU " c ": " n " more" } }')" ""

# MIN: nothing is left out, whatever its value.
for min in 0 10us 1s; do
	status "--off-cpu=$min" 0 cprof-record -q --off-cpu=$min -F 997 -o "$tmp/raw.bin" -- "$waits" 1
	cp "$tmp/out" "$tmp/said"
	cprof-sym "$tmp/raw.bin" >"$tmp/days.bin" 2>/dev/null
	read -r tid wall cpu queued sleep lock pipe <"$tmp/said"
	is "makes a thread's time" "$(near "$(folded "$tid" '' --wall)" "$wall" "$wall" 4)" near
done
status "a time that is none" 2 cprof-record -q --off-cpu=soon -a 1
status "with plain perf" 2 cprof-record -q --off-cpu --engine perf -a 1

# Many short waits: all their time, in few records.
status "a byte back and forth" 0 cprof-record -q --off-cpu -o "$tmp/days.bin" -- "$BUILD/tests/pingpong" 1
trips=$(awk '{ print $1 }' "$tmp/out")
records=$(cprof-dump "$tmp/days.bin" | grep -c '^sample .* event=2 ')
if [ "$records" -lt $((trips / 2)) ]; then pass "is few records"; else fail "is few records"; diag "$records for $trips round trips"; fi
is "that make two seconds" "$(near "$(whole --wall --comm pingpong)" 2000000000 2000000000 8)" near

# Short runs, which the timer hardly meets: the missing time is added.
for nap in 50000 1000000; do
	status "asleep for $((nap / 1000)) us at a time" 0 cprof-record -q --off-cpu -o "$tmp/days.bin" -- "$waits" naps $nap 2
	read -r tid wall cpu <"$tmp/out"
	is "  its time is all there" "$(near "$(folded "$tid" '' --wall)" "$wall" "$wall" 2)" near
	[ $nap = 1000000 ] || like "  where no sample is, that is said" "$(cprof-fold --wall "$tmp/days.bin")" '^waits;\[running, not sampled\] [0-9]+$'
done

# Threads that share a CPU are switched often, and some kernels do not report each switch: none of that
# time is missing.
loops=
for _ in $(seq $(($(nproc) + 1))); do sh -c 'while :; do :; done' & loops="$loops $!"; done
status "more loops than CPUs" 0 cprof-record -q --off-cpu -p "${loops##* }" -o "$tmp/loop.bin" 4
kill $loops
is "  all the time of one of them is there" "$(cprof-dump "$tmp/loop.bin" | awk '/^ran / || /^sample .* event=[2-5] / {
	for (i = 2; i <= NF; i++) { split($i, a, "="); f[a[1]] = a[2] } if ($1 == "ran") { n += f["ns"]; span += f["span"] } else n += f["weight"] }
	END { d = span ? 100 * (n / span - 1) : 100; print (d < 0.2 && d > -0.2) ? "near" : d " % off" }')" near

# Both methods to take stacks. Only the one that requires ftrace has the right stacks of rare long waits.
export CPROF_OFF_CPU
for CPROF_OFF_CPU in exact adaptive; do
	cprof-record -q --off-cpu -o "$tmp/raw.bin" -- "$waits" rare 2 >"$tmp/out" 2>"$tmp/err"
	read -r tid wall cpu rare <"$tmp/out"
	cprof-sym "$tmp/raw.bin" >"$tmp/days.bin" 2>/dev/null
	got=$(cprof-dump "$tmp/raw.bin" | sed -n 's/^meta key="wait-stacks" value="\(.*\)"/\1/p')
	[ "$got" = $CPROF_OFF_CPU ] || { skip "stacks when a wait is over" "no program runs here when schedule() returns"; continue; }
	pass "stacks by the way that is $got"
	is "  a thread's time is all there" "$(near "$(folded "$tid" '' --wall)" "$wall" "$wall" 4)" near
	is "  all of it by its functions" "$(near "$(folded "$tid" 'phase_\(often\|rare\)' --event off-cpu)" $((wall - cpu)) "$wall" 5)" near
	[ $got = adaptive ] || is "  rare long waits" "$(near "$(folded "$tid" phase_rare --event off-cpu)" "$rare" "$wall" 3)" near
done
unset CPROF_OFF_CPU

# Threads that sleep before and after the recording, threads that -p excludes, and threads killed asleep
"$waits" still & one=$!
"$waits" still & two=$!
sleep 0.3
cprof-record -q --off-cpu -p $one -o "$tmp/raw.bin" 2 2>"$tmp/err"
cprof-sym "$tmp/raw.bin" >"$tmp/days.bin" 2>/dev/null
is "asleep all the time, by its function" "$(near "$(folded $one 'main;phase_sleep;' --event off-cpu)" 2000000000 2000000000 5)" near
is "nobody else" "$(cprof-fold -p --event off-cpu "$tmp/days.bin" | cut -d';' -f1 | sort -u)" "waits-$one"
(sleep 1; kill -9 $two) &
cprof-record -q --off-cpu -p $one,$two -o "$tmp/days.bin" 2 2>"$tmp/err"
# The other process gives the start time: its wait, counted back from the end.
lived=$(cprof-dump "$tmp/days.bin" | awk -v whole="$(folded $one '' --event off-cpu)" -v tid=$two '
	{ for (i = 2; i <= NF; i++) { split($i, a, "="); f[a[1]] = a[2] } }
	$1 == "thread" && f["tid"] == tid { id = f["id"] } $1 == "exit" && f["thread"] == id { gone = f["time"] }
	$1 == "end" { printf "%.0f", gone - (f["time"] - whole) }')
is "killed asleep, all its time till then" "$(near "$(folded $two '' --event off-cpu)" "$lived" 1000000000 5)" near
kill -9 $one
wait 2>/dev/null

# -C: threads that leave that CPU to wait, once before the recording or often.
if [ "$(nproc)" -ge 2 ] && taskset -c 0 true 2>/dev/null && taskset -c 1 true; then
	taskset -c 0 sleep 100 & one=$!
	taskset -c 1 sleep 100 & two=$!
	taskset -c 0 sh -c 'while :; do sleep 0.05; done' & three=$!
	taskset -c 1 sh -c 'while :; do sleep 0.05; done' & four=$!
	sleep 0.5
	status "-C and --off-cpu" 0 cprof-record -q -a -C 1 --off-cpu -o "$tmp/cpu.bin" 2
	kill $one $two $three $four
	wait 2>/dev/null
	waits_of() { cprof-fold --event off-cpu --pid "$1" "$tmp/cpu.bin" 2>/dev/null | awk '{ n += $NF } END { print (n > 0) ? "waits" : "none" }'; }
	is "a process that sleeps on another CPU is not there" "$(waits_of $one) $(waits_of $three)" "none none"
	is "one that sleeps on that CPU is" "$(waits_of $two) $(waits_of $four)" "waits waits"
else
	skip "-C and --off-cpu" "one CPU"
fi

# A thread that waits all the time is in each file, however the file ends, and in flight buffer dumps.
seconds() { cprof-fold --wall --weight ns --pid "$1" "$2" | awk '{ n += $NF } END { printf "%.0f\n", n }'; }
# lasted FILE: nanoseconds from its first sample to its end
lasted() { cprof-dump "$1" | sed -n 's/^\(sample\|end\) time=\([0-9]*\) .*/\2/p' | awk 'NR == 1 { a = $1 } { z = $1 } END { printf "%.0f\n", z - a }'; }
all_of() { near "$(seconds $asleep "$1")" "$(lasted "$1")" "$(lasted "$1")" 25; }
ended() { # DIR: waits until a file has its name there
	tries=0
	while [ -z "$(ls "$1" 2>/dev/null)" ] && [ $tries -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
}
sleep 100 & asleep=$!
mkdir "$tmp/rng" "$tmp/rot" "$tmp/size" "$tmp/short"
cprof-record -q -a --off-cpu --ring 60s -o "$tmp/rng" 30 2>"$tmp/err" & ring=$!
cprof-record -q -a --off-cpu --rotate 60s -o "$tmp/rot" 30 2>"$tmp/err" & rotate=$!
sleep 3
kill -USR1 $ring
kill -HUP $rotate
ended "$tmp/rng"
ended "$tmp/rot"
kill -INT $ring $rotate
wait $ring $rotate
set -- "$tmp/rot"/*.cprof
is "what is dumped has the wait up to then" "$(all_of "$tmp"/rng/*.cprof)" near
is "so has a file that a signal ends" "$(all_of "$1")" near
is "of two files" $# 2
cat "$@" >"$tmp/days.bin"
is "which have it once" "$(near "$(seconds $asleep "$tmp/days.bin")" "$(lasted "$tmp/days.bin")" "$(lasted "$tmp/days.bin")" 12)" near
cprof-record -q -a -F 4999 --off-cpu --rotate 20K -o "$tmp/size" 5 2>"$tmp/err"
set -- "$tmp"/size/*.cprof
like "files that end by their size" $# '^[2-9]$'
# Check all files but the last together: when a file ends, its samples may still wait for unwind tables, and
# then go to the next.
for f; do [ "$f" = "$(ls -d "$@" | tail -1)" ] || cat "$f"; done >"$tmp/days.bin"
is "have it too" "$(all_of "$tmp/days.bin")" near
kill $asleep

# A dump has all its time in each of its parts.
"$waits" naps 50000 6 >"$tmp/napped" & naps=$!
cprof-record -q -a --off-cpu --ring 3s -o "$tmp/short" 30 2>"$tmp/err" & ring=$!
sleep 4.5
kill -USR1 $ring
ended "$tmp/short"
kill -INT $ring
wait $ring $naps
read -r tid wall cpu <"$tmp/napped"
set -- "$tmp/short"/*.cprof
is "of what is dumped all segments have" "$(cprof-dump "$1" | awk '/^segment/ { s++ } /^ran/ && !r[s]++ { n++ } END { print (s > 2 && n == s) }')" 1
of_naps=$(cprof-fold --wall --tid "$tid" "$1" | awk '{ n += $NF } END { printf "%.0f", n }')
is "  what short runs lack" "$(near "$of_naps" "$(lasted "$1")" "$(lasted "$1")" 2)" near

# The other reasons
cprof-record -q --off-cpu -o "$tmp/raw.bin" -- "$waits" vfork 0.5 2>"$tmp/err"
cprof-sym "$tmp/raw.bin" >"$tmp/days.bin" 2>/dev/null
got=$(cprof-fold --event off-cpu:uninterruptible "$tmp/days.bin" | awk '/phase_vfork/ { n += $NF } END { printf "%.0f", n }')
is "what cannot be interrupted" "$(near "$got" 500000000 500000000 15)" near
cprof-record -q --off-cpu -F 997 -o "$tmp/days.bin" -- "$waits" spin 1 2>"$tmp/err"
on=$(whole --comm waits) queued=$(whole --comm waits --event off-cpu:run-queue)
is "two on one CPU take two seconds" "$(near $((on + queued)) 2000000000 2000000000 6)" near
is "of which one at least in the queue" "$([ "$queued" -gt 900000000 ] && echo yes)" yes
done_testing
