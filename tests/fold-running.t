#!/bin/sh
# --wall where the capture says how long threads ran: what samples lack is shown, what they have too much is taken from them.
. "$(dirname "$0")/lib.sh"

# capture: two threads of one command, and one of another; what follows them is on stdin
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
# wall OPTION...: of the capture on stdin, in one line
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
spans() { tick 1 1100; ran 1 2000 150 900; tick 1 2100; ran 1 3000 170 1000; tick 1 3100; ran 1 4000 190 1000; }
is "three spans" "$(spans | capture | wall)" "x 300 x;[running, not sampled] 210"
is "one that --from cuts is left out" "$(spans | capture | wall --from 0.000000500)" "x 200 x;[running, not sampled] 160"
is "  so is what --to cuts" "$(spans | capture | wall --to 0.000002500)" "x 300 x;[running, not sampled] 120"
is "  by the clock, too" "$(spans | capture | wall --from @1700000000.0000015)" "x 200 x;[running, not sampled] 160"
is "  on both sides" "$(spans | capture | wall --from @1700000000.0000015 --to @1700000000.0000025)" "x 100"
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
