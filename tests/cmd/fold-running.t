#!/bin/sh
# --wall on a capture that records how long threads ran: time without samples is shown, and excess samples
# are scaled down.
. "$(dirname "$0")/../lib/lib.sh"

# capture: two threads of one command, and one of another; their records are on stdin
capture() {
	cat <<'X'
segment major=1 minor=3 least=1
meta key="clock" value="monotonic"
meta key="start-realtime-ns" value="1700000000000001000"
meta key="start-monotonic-ns" value="1000"
event id=1 name="cpu-clock" unit="ns" period=100 millihertz=99000
event id=2 name="off-cpu:sleep" unit="ns" period=0 millihertz=0
flush
process id=1 time=1000 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=1000 process=1 tid=42
comm time=1000 thread=1 comm="x"
thread id=2 time=1000 process=1 tid=43
comm time=1000 thread=2 comm="x"
process id=2 time=1000 pid=50 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=3 time=1000 process=2 tid=50
comm time=1000 thread=3 comm="y"
frame id=1 process=1 kind=exact address=0x1000
node id=16 parent=0 frame=1
X
	cat
	echo "end time=9000 reason=closed samples=9"
	echo flush
}
tick() { echo "sample time=$2 event=1 cpu=0 thread=$1 user=0 kernel=0 weight=${3:-100}"; }
slept() { echo "sample time=$2 event=2 cpu=0 thread=$1 user=0 kernel=0 weight=$3"; }
ran() { echo "ran time=$2 thread=$1 ns=$3 span=$4"; }
# wall OPTION...: the folded capture from stdin, in one line
wall() { cprof-dump -r - | cprof-fold --wall "$@" - | xargs; }

both() { tick 1 1100; tick 1 1200; slept 1 1900 700; ran 1 2000 "$1" 1000; }
is "as long as it was sampled" "$(both 200 | capture | wall)" "x 200 x;[sleeping] 700"
is "longer" "$(both 300 | capture | wall)" "x 200 x;[running, not sampled] 100 x;[sleeping] 700"
is "less long" "$(both 150 | capture | wall)" "x 150 x;[sleeping] 700"
is "  by slices of it, too, whatever is left over" "$( (tick 1 1100 1; tick 1 1200 1; tick 1 1300 1; ran 1 2000 1 1000) | capture | wall)" "x 1"
is "never sampled" "$( (slept 1 1200 1; ran 1 2000 3 1000) | capture | wall)" "x;[running, not sampled] 3 x;[sleeping] 1"
is "not said" "$( (tick 1 1100; tick 3 1200; ran 1 2000 120 1000) | capture | wall)" "x 100 x;[running, not sampled] 20 y 100"
is "not said yet" "$( (tick 1 1100; ran 1 2000 120 1000; tick 1 2100) | capture | wall)" "x 200 x;[running, not sampled] 20"
is "one thread a sample too many, another too few: no error of their command's" \
	"$( (tick 1 1100; tick 1 1200; ran 1 2000 100 1000; ran 2 2000 100 1000) | capture | wall)" "x 200"
is "  each for itself" "$( (tick 1 1100; tick 1 1200; ran 1 2000 100 1000; ran 2 2000 100 1000) | capture | wall -t)" "x-42/42 100 x-42/43;[running, not sampled] 100"
is "one thread of them" "$( (tick 1 1100; tick 1 1200; ran 1 2000 100 1000; ran 2 2000 90 1000) | capture | wall --tid 43 2>&1)" "x;[running, not sampled] 90"
is "a span that began before the segment counts in part" "$( (tick 1 1100; ran 1 2000 300 2000) | capture | wall)" "x 100 x;[running, not sampled] 50"
first() { slept 1 3000 2000; tick 1 3100; }
is "what is before the first sample" "$(first | capture | wall --from 0)" "x 100 x;[sleeping] 2000"
is "  in its parts" "$(first | capture | wall --to 0.0000005), $(first | capture | wall --from 0.0000005 --to 0.0000015)" "x;[sleeping] 500, x;[sleeping] 1000"
is "  without waits counts from the sample" "$( (tick 1 2000; tick 1 3000) | capture | sed '/off-cpu/d' |
	cprof-dump -r - | cprof-fold --weight ns --from 0 --to 0.0000009 - | xargs)" "x 100"
spans() { tick 1 1100; ran 1 2000 150 900; tick 1 2100; ran 1 3000 170 1000; tick 1 3100; ran 1 4000 190 1000; }
is "three spans" "$(spans | capture | wall)" "x 300 x;[running, not sampled] 210"
is "of one that --from cuts its share" "$(spans | capture | wall --from 0.000000600)" "x 200 x;[running, not sampled] 227"
is "  of what --to cuts, too" "$(spans | capture | wall --to 0.000002600)" "x 300 x;[running, not sampled] 134"
is "  by the clock, too" "$(spans | capture | wall --from @1700000000.0000015)" "x 200 x;[running, not sampled] 244"
is "  on both sides" "$(spans | capture | wall --from @1700000000.0000015 --to @1700000000.0000025)" "x 100 x;[running, not sampled] 69"
is "  inside of one" "$(spans | capture | wall --from @1700000000.0000022 --to @1700000000.0000024)" "x;[running, not sampled] 34"
waited() { tick 1 1100; slept 1 1600 500; ran 1 2000 150 900; slept 1 2001 101; tick 1 2100; }
is "the share is of the time that it did not wait" "$(waited | capture | wall --to @1700000000.0000018)" "x 100 x;[sleeping] 500"
is "  even if a wait goes on and is recorded after the window" "$(waited | capture | wall --from @1700000000.0000018)" "x 100 x;[running, not sampled] 50 x;[sleeping] 101"
is "  where it ran for longer than that, of the rest" "$( (slept 1 1900 800; slept 1 2000 50; ran 1 2000 300 1000) | capture | wall --from @1700000000.0000015)" \
	"x;[running, not sampled] 130 x;[sleeping] 450"
is "  where it is all waits, of the time" "$( (slept 1 2000 1000; ran 1 2000 300 1000) | capture | wall --from @1700000000.0000015)" \
	"x;[running, not sampled] 150 x;[sleeping] 500"
is "a sample of a time in which it did not run" "$( (tick 1 1100; slept 1 1900 850; ran 1 2000 20 1000) | capture | wall --from @1700000000.00000105 --to @1700000000.0000018)" \
	"x;[sleeping] 750"
since() { sed '/start-mono/a meta key="waits-since-monotonic-ns" value="900"' | wall "$@"; }
is "what ran before a segment, but not before all was told" "$( (tick 1 1100; ran 1 2000 300 2000) | capture | since)" "x 100 x;[running, not sampled] 173"
is "a name until there is another" "$( (tick 1 1100; ran 1 1200 120 200; echo 'comm time=1200 thread=1 comm="z"'; tick 1 1300) | capture | wall)" \
	"x 100 x;[running, not sampled] 20 z 100"
# A process that moves from one control group to another: a span belongs to the group in force where
# its record is.
moves() { echo 'cgroup id=7 path="/a"'; echo 'cgroup id=8 path="/b"'; echo 'member time=1000 process=1 cgroup=7'; cat; }
to() { echo "member time=$1 process=1 cgroup=$2"; }
each() { tick 1 1100; ran 1 2000 120 1000; to 2000 8; tick 1 2100; ran 1 3000 150 1000; }
is "a group until there is another" "$(each | moves | capture | wall --by container)" "/a 120 /b 150"
is "  as --in has it: the first" "$(each | moves | capture | wall --by container --in /a)" "/a 120"
is "  the second" "$(each | moves | capture | wall --by container --in /b)" "/b 150"
is "  whose name is not shown" "$(each | moves | capture | wall)" "x 200 x;[running, not sampled] 70"
within() { tick 1 1100; to 1500 8; tick 1 1600; ran 1 2000 "$1" 1000; }
for n in 150 200 250; do
	is "a move within a span of $n" "$(within $n | moves | capture | wall --by container)" "/a 100 /b $((n - 100))"
	is "  as --in has it" "$(within $n | moves | capture | wall --by container --in /b)" "/b $((n - 100))"
	is "  a new name within it, as --comm has it" "$(within $n | sed 's/^member.*/comm time=1500 thread=1 comm="z"/' | capture | wall --comm z | tr ' ' '\n' | awk '/^[0-9]/ { n += $1 } END { print n }')" $((n - 100))
done
# In slices of a second, each slice has its share of the time.
is "slices" "$( (slept 1 500001000 1; ran 1 2500001000 2000000000 2500000000) | capture | cprof-dump -r - |
	cprof-fold --wall -o tsv --interval 1 - | awk -F'\t' '/not sampled/ { print $NF }' | xargs)" "799999200 800000000 400000800"

# Two threads of ten seconds, at a thousandth of the scale: one sleeps 50 us of every 64, with few waits
# recorded, several in one record, and is sampled rarely; the other sleeps for three seconds and computes for
# two. The run time of both is recorded every five.
days() {
	awk 'BEGIN {
		for (t = 2280; t < 10001000; t += 1280) { n++; printf "%d sample time=%d event=2 cpu=0 thread=1 user=0 kernel=0 weight=1000\n", t, t }
		for (t = 31000; t < 10001000; t += 40000) printf "%d sample time=%d event=1 cpu=0 thread=1 user=0 kernel=0 weight=5000\n", t, t
		for (d = 0; d < 2; d++) {
			t = d * 5000000 + 1000
			for (i = 1; i < 4; i++) printf "%d sample time=%d event=2 cpu=0 thread=3 user=0 kernel=0 weight=1000000\n", t + i * 1000000, t + i * 1000000
			for (i = 1; i < 200; i++) printf "%d sample time=%d event=1 cpu=0 thread=3 user=0 kernel=0 weight=10000\n", t + 3000000 + i * 10000, t + 3000000 + i * 10000
			for (i = 1; i < 4; i += 2) printf "%d ran time=%d thread=%d ns=%d span=5000000\n", t + 5000000, t + 5000000, i, i == 1 ? 1093750 : 2000000
		}
	}' | sort -n | cut -d' ' -f2-
}
days | capture | cprof-dump -r - >"$tmp/days.bin"
# window FROM TO: prints each thread's time in it, in millionths of ten seconds
window() { cprof-fold --wall -t --from "@1700000000.0$(printf %08d $(($1 + 1000)))" --to "@1700000000.0$(printf %08d $(($2 + 1000)))" ${3-"$tmp/days.bin"} |
	awk -F'[-;/ ]' '{ n[$3] += $NF } END { print n[42] + 0, n[50] + 0 }'; }
whole=$(window 0 10001000)
is "all of it" "$(echo "$whole" | awk '{ print ($1 > 9990000 && $1 < 10010000), $2 }')" "1 10000000"
for step in 1000000 400000 70001; do
	from=0
	while [ $from -lt 10000000 ]; do
		window $from $((from + step))
		from=$((from + step))
	done >"$tmp/windows"
	is "windows of $step have all of it together" "$(awk '{ a += $1; b += $2 } END { print a, b }' "$tmp/windows")" "$whole"
	[ $step -lt 400000 ] || is "  and each has what went by" "$(awk -v s=$step '{ for (i = 1; i < 3; i++) if ($i > 1.02 * s || $i < 0.98 * s) print NR, $0 }' "$tmp/windows")" ""
done
for from in 2500000 4999000 9700000; do
	a=@1700000000.0$(printf %08d $from) b=@1700000000.0$(printf %08d $((from + 400000)))
	is "cprof-sym passes on what ran in the time" "$(cprof-sym --from $a --to $b "$tmp/days.bin" 2>/dev/null | cprof-fold --wall -t --from $a --to $b -)" \
		"$(cprof-fold --wall -t --from $a --to $b "$tmp/days.bin")"
	is "  and no more" "$(cprof-sym --from $a --to $b "$tmp/days.bin" 2>/dev/null | cprof-fold --wall -t - | grep -v sleeping)" \
		"$(cprof-fold --wall -t --from $a --to $b "$tmp/days.bin" | grep -v sleeping)"
done

is "renamed, and the span of the old name is lost" \
	"$( (tick 1 1100; echo 'comm time=1150 thread=1 comm="z"'; tick 1 1200; ran 1 2000 10 1000) | capture | wall)" "x 100"
sum() { tr ' ' '\n' | awk '/^[0-9]+$/ { n += $1 } END { print n }'; }
is "with frames it is all as well" "$(both 300 | sed 's/user=0/user=16/' | capture | wall | sum)" 1000
is "of one half there is no account" "$(both 300 | sed 's/user=0/user=16/' | capture | wall -U | sum)" 900
is "samples are as many as they are" "$(both 300 | capture | wall --weight samples)" "x 2 x;[sleeping] 1"
is "without --wall they are what they are" "$(both 300 | capture | cprof-dump -r - | cprof-fold --weight ns - | xargs)" "x 200"
is "two segments" "$( (both 300 | capture; both 400 | capture) | wall)" "x 400 x;[running, not sampled] 300 x;[sleeping] 1400"
is "the dump is the text again" "$(both 300 | capture | cprof-dump -r - | cprof-dump | grep '^ran')" "$(ran 1 2000 300 1000)"
is "  behind other names as well" "$(both 300 | capture | cprof-dump -r - | cprof-sym | cprof-dump | grep '^ran')" "$(ran 1 2000 300 1000)"
both 300 | sed 's/^ran \(.*\) thread=1/ran \1 thread=9/' | capture | cprof-dump -r - >"$tmp/bad.bin" 2>/dev/null
status "a thread that is not there" 3 cprof-fold --wall "$tmp/bad.bin"
like "  in one sentence" "$(cat "$tmp/err")" 'the running time of an undefined thread'
both 18446744073709551615 | sed 's/span=1000/span=18446744073709551615/' | capture | cprof-dump -r - >"$tmp/bad.bin"
status "longer than all time" 0 cprof-fold --wall "$tmp/bad.bin"
is "  is no account" "$(xargs <"$tmp/out")" "x 200 x;[sleeping] 700"
done_testing
