#!/bin/sh
# Events other than the clock: counted exactly, at the function that causes them; and each has an outcome.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
events=$BUILD/tests/events
trace=syscalls:sys_enter_getppid
has_tracepoint $trace || { trace= ; diag "no tracepoints here"; }

# count EVENT PATTERN FILE [OPTION...]: counts the events with PATTERN in their stack
count() { e=$1 p=$2 f=$3; shift 3; cprof-fold --event "$e" "$@" "$f" | grep -e "$p" | awk '{ n += $NF } END { print n + 0 }'; }
# tallies FILE: prints "NAME OUTCOME COUNT", the last value of each segment, added up
tallies() {
	cprof-dump "$@" | awk '{ for (i = 2; i <= NF; i++) { split($i, a, "="); f[a[1]] = a[2] } }
		function flush() { for (k in v) sum[k] += v[k]; split("", v) }
		$1 == "segment" { flush() } $1 == "event" { gsub("\"", "", f["name"]); name[f["id"]] = f["name"] }
		$1 == "tally" { v[name[f["event"]] " " f["outcome"]] = f["count"] }
		END { flush(); for (k in sum) print k, sum[k] }' | sort
}
# uneven FILE: prints the difference between outcomes and expected count for each event that has one
uneven() { tallies "$@" | awk '{ n[$1] += $2 == "expected" ? $3 : -$3 } END { for (k in n) if (n[k]) print k, n[k] }'; }
tally() { tallies "$3" | awk -v e="$1" -v o="$2" '$1 == e && $2 == o { n = $3 } END { print n + 0 }'; }
weights() { cprof-dump "$2" | awk -v e="$1" '{ for (i = 2; i <= NF; i++) { split($i, a, "="); f[a[1]] = a[2] } }
	$1 == "event" { gsub("\"", "", f["name"]); name[f["id"]] = f["name"] }
	$1 == "sample" && name[f["event"]] == e { n += f["weight"] } END { print n + 0 }'; }

# Every event has its own sample while there is room for that.
status "page faults, context switches and a tracepoint" 0 \
	cprof-record -F 20000 -e page-faults,context-switches${trace:+,$trace} -o "$tmp/raw.bin" -- "$events" 1500 777 0.2
cp "$tmp/err" "$tmp/said"
cprof-sym "$tmp/raw.bin" >"$tmp/one.bin" 2>/dev/null
is "each page at the function that touches it" "$(count page-faults ';main;touch_pages 1500$' "$tmp/one.bin")" 1500
if [ "$trace" ]; then
	is "each call at the function that calls" "$(count $trace ';main;call_kernel.*;syscall[; ]' "$tmp/one.bin" -U)" 777
	is "and no other" "$(count $trace '' "$tmp/one.bin")" 777
	like "by the kernel's functions" "$(cprof-fold --event $trace "$tmp/one.bin")" ';syscall;entry_SYSCALL_64.* [0-9]+$'
fi
slept=$(count context-switches 'sleep_often;.*nanosleep' "$tmp/one.bin")
is "a switch for each sleep, where it sleeps" "$([ "$slept" -ge 20 ] && [ "$slept" -le 30 ] && echo 20)" 20
like "the recorder says so" "$(cat "$tmp/said")" '^cprof-record: [0-9]+ samples of page-faults, [0-9]+ of context-switches'
is "the account is even" "$(uneven "$tmp/raw.bin")" ""
for e in page-faults context-switches $trace; do
	is "$e: samples weigh what was emitted" "$(weights "$e" "$tmp/raw.bin")" "$(tally "$e" emitted "$tmp/raw.bin")"
done

# By default one of them is shown; without the clock the first.
fold() { cprof-fold "$@" | cksum; }
is "the first event is what is shown" "$(fold "$tmp/one.bin")" "$(fold --event page-faults "$tmp/one.bin")"
like "and called events" "$(cprof-top "$tmp/one.bin")" '^Total: +[0-9]+ events'
like "the others are counted" "$(cprof-top -v "$tmp/one.bin")" '^Samples: +[0-9]+ in .* and [0-9]+ of other events$'
like "the account is shown" "$(cprof-top -v "$tmp/one.bin")" '^Events: +[0-9]+ happened: [0-9]+ emitted'
status "with the clock" 0 cprof-record -q -F 499 -e cpu-clock -e page-faults -o "$tmp/raw.bin" -- "$events" 0 0 0.5
touched=$(cat "$tmp/out")
cprof-sym "$tmp/raw.bin" >"$tmp/both.bin" 2>/dev/null
is "time is what is shown" "$(fold "$tmp/both.bin")" "$(fold --event cpu-clock "$tmp/both.bin")"
unlike "in samples" "$(cprof-top "$tmp/both.bin")" '^Total: .* events'
is "of ticks the account is even, but for one or two a CPU" "$(cprof-dump "$tmp/raw.bin" | sed -n 's/^ledger .*cpu=\([0-9]*\) outcome=\([a-z-]*\) count=\([0-9]*\).*/\1 \2 \3/p' |
	awk '{ v[$1 " " $2] = $3 } END { for (k in v) { split(k, a, " "); n += a[2] == "expected" ? v[k] : a[2] ~ /lost$/ ? 0 : -v[k] } print (n > -5 && n < 5) ? "even" : n }')" even

# Far more events than samples allowed: the weights still add up to the number, except for those after
# the last sample.
samples=$(count page-faults '' "$tmp/both.bin" --weight samples) got=$(count page-faults '' "$tmp/both.bin")
rest=$(tally page-faults rest "$tmp/raw.bin") missed=$(tally page-faults missed "$tmp/raw.bin")
diag "$touched pages touched, $got counted in $samples samples, ${rest:-0} behind the last"
is "the account is even, too" "$(uneven "$tmp/raw.bin")" ""
is "all are counted" "$([ $((got + ${rest:-0} + ${missed:-0})) -ge "$touched" ] && [ $((got + ${rest:-0})) -lt $((touched + 500)) ] && echo all)" all
# 499 on each of two CPUs, and until the period is found 250 for each time that it doubles
is "in samples as few as asked for" "$([ "$samples" -lt 6000 ] && echo few)" few
is "at the function that touches them" "$(count page-faults touch_pages "$tmp/both.bin" | awk -v n="$got" '{ print ($1 > n * 0.99 - 200) }')" 1

# A fixed number of events a sample
status "page-faults/100" 0 cprof-record -q -F 20000 -e page-faults/100 -o "$tmp/raw.bin" -- "$events" 5000 0
is "a sample for a hundred" "$(cprof-dump "$tmp/raw.bin" | sed -n 's/^sample .* weight=//p' | sort -u)" 100
total=$(weights page-faults "$tmp/raw.bin")
is "and the rest behind them" "$([ "$total" -ge 4900 ] && [ "$total" -le 5400 ] && uneven "$tmp/raw.bin")" ""
diag "$total in hundreds"

# The same counts as perf's, on the whole system: the same program under both
if perf stat -x, -e page-faults true >/dev/null 2>&1; then
	cprof-record -q -F 20000 -e page-faults${trace:+,$trace} -o "$tmp/raw.bin" -- \
		perf stat -x, -o "$tmp/stat" -e page-faults:u${trace:+,$trace} "$events" 3000 500 >"$tmp/out" 2>"$tmp/err"
	cprof-sym "$tmp/raw.bin" >"$tmp/days.bin" 2>/dev/null
	perf_said() { awk -F, -v e="$1" 'index($3, e) == 1 { print $1 }' "$tmp/stat"; }
	if [ "$trace" ]; then
		is "perf stat counts the tracepoint as we do, and at the same time" \
			"$(perf_said $trace)" "$(count $trace '' "$tmp/days.bin" --comm events)"
	fi
	# perf counts from the exec on, which is partly recorded under the old name.
	near=$(($(perf_said page-faults) - $(count page-faults '' "$tmp/days.bin" --comm events)))
	is "and page faults" "$([ $near -ge -60 ] && [ $near -le 60 ] && echo near)" near
	diag "a difference of $near"
else
	skip "as perf counts them" "no perf"
fi

# Filters
"$events" 0 0 60 >/dev/null & one=$!
"$events" 0 0 60 >/dev/null & two=$!
sleep 0.3
cprof-record -q -e page-faults,cpu-clock -p $one -o "$tmp/pid.bin" 0.7 2>"$tmp/err"
is "-p: that process alone" "$(cprof-fold -p --event page-faults "$tmp/pid.bin" | sed 's/;.*//' | sort -u)" "events-$one"
is "the others are filtered" "$([ "$(tally page-faults filtered "$tmp/pid.bin")" -gt 1000 ] && uneven "$tmp/pid.bin")" ""
cprof-record -q -e page-faults${trace:+,sched:sched_switch} -C 0 -a -o "$tmp/cpu.bin" 0.5 2>"$tmp/err"
is "-C: that CPU alone" "$(cprof-dump "$tmp/cpu.bin" | sed -n 's/^sample .* cpu=\([0-9]*\) .*/\1/p' | sort -u)" 0
is "with an even account" "$(uneven "$tmp/cpu.bin")" ""
cprof-record -q -t $two -e page-faults -K -o "$tmp/tid.bin" 0.5 2>"$tmp/err"
is "-t: that thread alone" "$(cprof-fold -p "$tmp/tid.bin" | sed 's/[; ].*//' | sort -u)" "events-$two"
kill $one $two
wait 2>/dev/null

if root=$(awk '{ for (i = 7; $i != "-"; i++); if ($(i + 1) == "cgroup2") { print $5; exit } }' /proc/self/mountinfo) && [ -n "$root" ] &&
	mkdir "$root/cprof-events-$$" 2>/dev/null; then
	"$events" 0 0 60 >/dev/null & one=$!
	"$events" 0 0 60 >/dev/null & two=$!
	echo $one >"$root/cprof-events-$$/cgroup.procs"
	cprof-record -q -e page-faults${trace:+,sched:sched_switch} --cgroup "$root/cprof-events-$$" --metrics "$tmp/prom" -o "$tmp/group.bin" 0.5 2>"$tmp/err"
	is "--cgroup: what is in it alone" "$(cprof-fold -p --event page-faults "$tmp/group.bin" | sed 's/;.*//' | sort -u)" "events-$one"
	is "with an even account" "$(uneven "$tmp/group.bin")" ""
	is "which the metrics have, too" "$(sed -n 's/^cprof_record_events_total{event="page-faults",outcome="emitted",lost="0"} //p' "$tmp/prom")" \
		"$(tally page-faults emitted "$tmp/group.bin")"
	kill $one $two
	wait 2>/dev/null
	rmdir "$root/cprof-events-$$"
else
	skip "--cgroup" "no cgroup2 to make a group in"
fi

# With rotation, each file has an account of its own.
mkdir "$tmp/turns"
cprof-record -q -e page-faults,cpu-clock,context-switches --rotate 1s -o "$tmp/turns" -- "$events" 0 0 2.4 >"$tmp/out" 2>"$tmp/err"
is "--rotate: two files at least" "$([ "$(ls "$tmp"/turns | wc -l)" -ge 2 ] && echo yes)" yes
for f in "$tmp"/turns/*; do
	is "$(basename "$f" | sed 's/.*-//') is even" "$(uneven "$f")" ""
	for e in page-faults context-switches; do
		is "$e are what its samples weigh" "$(weights $e "$f")" "$(tally $e emitted "$f")"
	done
done
mkdir "$tmp/ring"
status "--ring and --max-cost" 0 cprof-record -q -e page-faults,cpu-clock --max-cost 5% --ring 1m \
	-o "$tmp/ring" -- sh -c '"$0" 0 0 1; kill -USR1 $PPID; sleep 1.2' "$events"
like "--ring writes them" "$(cat "$tmp"/ring/* | cprof-fold --event page-faults -)" '^events;'
for f in "$tmp"/ring/*; do is "which are what was emitted" "$(weights page-faults "$f")" "$(tally page-faults emitted "$f")"; done

# Other formats keep the events apart.
like "perf script has their names" "$(cprof-convert -t perfscript "$tmp/both.bin" | grep -E ' (page-faults|cpu-clock):' | sed 's/.* \([a-z-]*\):.*/\1/' | sort -u | xargs)" \
	'^cpu-clock page-faults$'
if perf version >/dev/null 2>&1; then
	cprof-convert -t perf "$tmp/both.bin" >"$tmp/pipe" 2>"$tmp/err"
	is "perf reads as many of each" "$(perf script -F event -i - <"$tmp/pipe" 2>/dev/null | sed -n 's/^ *\([a-z-]*\): *$/\1/p' | sort | uniq -c | awk '{ print $2, $1 }' | xargs)" \
		"cpu-clock $(cprof-dump "$tmp/both.bin" | grep -c '^sample .* event=1 ') page-faults $samples"
fi

# Refusals and their messages
# refused STATUS SENTENCE OPTION...
refused() { want=$1 like=$2; shift 2; status "refused: $*" "$want" cprof-record -q -o "$tmp/none.bin" -a "$@" 1; like "in a sentence" "$(head -1 "$tmp/err")" "$like"; }
refused 2 'invalid event "foo" .expected cpu-clock, page-faults' -e foo
refused 2 'invalid event "" .expected cpu-clock,' -e ''
refused 2 'invalid event "" .expected cpu-clock,' -e page-faults,
refused 2 'expected a number of events per sample' -e page-faults/0
refused 2 'expected a number of events per sample' -e page-faults/1k
refused 2 'expected cpu-clock without a count' -e cpu-clock/100
refused 2 'is given twice' -e cs -e context-switches
refused 2 'requires the BPF engine' -e page-faults --engine perf
refused 2 'expected a number of events per sample' -e sched:../../events/sched/sched_switch
[ -z "$trace" ] || refused 2 'expected a tracepoint of this kernel' -e sched:nothing
# tracefs is not mounted, or not yet.
if [ "$trace" ] && unshare -m true 2>/dev/null; then
	cat >"$tmp/unmounted" <<-'END'
		while umount /sys/kernel/tracing 2>/dev/null; do :; done
		mount -t tmpfs none /sys/kernel/debug
		"$@"
		st=$?
		grep -c tracefs /proc/mounts
		exit $st
	END
	status "a tracepoint where tracefs is not mounted" 0 unshare -m sh "$tmp/unmounted" cprof-record -q -e sched:sched_process_exec -o "$tmp/un.bin" -- sh -c 'ls >/dev/null; true'
	diag "$(cat "$tmp/err")"
	is "  nor is it afterwards" "$(cat "$tmp/out")" 0
	is "  is sampled all the same" "$(cprof-fold --event sched:sched_process_exec "$tmp/un.bin" | awk '{ n += $NF } END { print n + 0 }')" 2 # the shell and ls
else
	skip "a tracepoint where tracefs is not mounted" "no tracepoint, or no namespace to have none mounted in"
fi
if ! perf stat -e cache-misses true 2>&1 | grep -q 'not supported'; then
	skip "no hardware counters" "there are some"
else
	refused 1 'cache-misses: .*this machine has no such event .*hardware counters' -e cpu-clock,cache-misses
fi
status "nobody may" 1 setpriv --reuid 65534 --regid 65534 --clear-groups "$BIN/cprof-record" -q -e page-faults -a 1
like "and is told why" "$(cat "$tmp/err")" '(CAP_|BPF|paranoid|Permission)'
# If the period is larger than the number of events, all of them are after the last sample; the
# summary reports that.
status "a page fault of a hundred thousand" 0 cprof-record -e page-faults/100000 -o "$tmp/rest.bin" -- "$events" 1500 0 0
like "all of them are after the last sample" "$(cat "$tmp/err")" '[0-9]+ of [0-9]+ page-faults after their last sample'
done_testing
