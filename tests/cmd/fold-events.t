#!/bin/sh
# Events of several kinds in a capture: which of them a view shows, and which are added up
. "$(dirname "$0")/../lib/lib.sh"

# capture ID...: prints the header with these events, and the tally of page faults
capture() {
	echo "segment major=1 minor=2 least=1"
	for id; do
		case $id in
		1) echo 'event id=1 name="cpu-clock" unit="ns" period=1000 millihertz=99000' ;;
		3) echo 'event id=3 name="off-cpu:sleep" unit="ns" period=0 millihertz=0' ;;
		5) echo 'event id=5 name="page-faults" unit="events" period=1 millihertz=0' ;;
		6) echo 'event id=6 name="sched:sched_switch" unit="events" period=1 millihertz=0' ;;
		esac
	done
	cat <<'X'
flush
process id=1 time=10 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=10 process=1 tid=42
comm time=10 thread=1 comm="x"
frame id=1 process=1 kind=exact address=0x1000
node id=16 parent=0 frame=1
X
	for id; do
		case $id in
		1) echo "sample time=100 event=1 cpu=0 thread=1 user=16 kernel=0 weight=1000"
		   echo "sample time=110 event=1 cpu=0 thread=1 user=16 kernel=0 weight=1000" ;;
		3) echo "sample time=120 event=3 cpu=0 thread=1 user=16 kernel=0 weight=77" ;;
		5) echo "sample time=130 event=5 cpu=0 thread=1 user=16 kernel=0 weight=1"
		   echo "sample time=140 event=5 cpu=0 thread=1 user=16 kernel=0 weight=40"
		   echo "tally time=150 event=5 outcome=expected count=50"
		   echo "tally time=150 event=5 outcome=emitted count=41"
		   echo "tally time=150 event=5 outcome=filtered count=9" ;;
		6) echo "sample time=160 event=6 cpu=0 thread=1 user=16 kernel=0 weight=3" ;;
		esac
	done
	echo "end time=170 reason=closed samples=9"
	echo flush
}
# sum FILE [OPTION...]
sum() { f=$1; shift; cprof-fold "$@" "$f" 2>/dev/null | awk '{ n += $NF } END { print n + 0 }'; }
for of in "1 3 5 6" "5 6" "3 5" "6 5" "1" "5" "6"; do
	# shellcheck disable=SC2086 # the numbers are words
	capture $of >"$tmp/text"
	cprof-dump -r "$tmp/text" >"$tmp/$(echo "$of" | tr -d ' ').bin"
done

is "time, where it is there" "$(sum "$tmp/1356.bin")" 2
is "  as nanoseconds" "$(sum "$tmp/1356.bin" --weight ns)" 2000
is "page faults, as many as there were" "$(sum "$tmp/1356.bin" --event page-faults)" 41
is "  or as often as they were sampled" "$(sum "$tmp/1356.bin" --event page-faults --weight samples)" 2
is "  which are no time" "$(sum "$tmp/1356.bin" --event page-faults --weight ns)" 0
is "a tracepoint by its name" "$(sum "$tmp/1356.bin" --event sched:sched_switch)" 3
is "  and by its family's" "$(sum "$tmp/1356.bin" --event sched)" 3
is "two of them" "$(sum "$tmp/1356.bin" --event page-faults,sched:sched_switch)" 44
status "ticks and counted events are no sum" 2 cprof-fold --event page-faults,cpu-clock "$tmp/1356.bin"
is "  which is one sentence" "$(cat "$tmp/err")" \
	"cprof-fold: --event: cannot add cpu-clock (samples) and page-faults (events): choose one of them, or use --weight samples"
status "  nor are those and waiting time" 2 cprof-flame --event page-faults,off-cpu "$tmp/35.bin"
is "    of which none is left out silently" "$(cat "$tmp/out"; sed 's/: choose.*//' "$tmp/err")" \
	"cprof-flame: --event: cannot add off-cpu:sleep (ns) and page-faults (events)"
status "  nor when they are in two captures" 2 cprof-diff --event page-faults,cpu-clock "$tmp/1.bin" "$tmp/56.bin"
is "  as samples they are" "$(sum "$tmp/1356.bin" --event page-faults,cpu-clock --weight samples)" 4
is "  and where there is but one of them" "$(sum "$tmp/56.bin" --event page-faults,cpu-clock)" 41
is "all time adds up" "$(sum "$tmp/1356.bin" --event cpu-clock,off-cpu)" 2077
is "a short name" "$(sum "$tmp/1356.bin" --event faults)" 41
is "  is one of its own, too" "$(capture 5 6 | sed 's/name="page-faults"/name="faults"/' | cprof-dump -r - | sum - --event faults)" 41
is "--wall is time alone" "$(sum "$tmp/1356.bin" --wall)" 2077
is "without time the first one" "$(sum "$tmp/56.bin")" 41
is "  and that is the one of the lowest number" "$(sum "$tmp/65.bin")" 41
is "waiting time is not what stands in for it" "$(sum "$tmp/35.bin")" 41
cat "$tmp/1.bin" "$tmp/56.bin" >"$tmp/1+56.bin"
is "captures one after the other have each their own, as samples" "$(sum "$tmp/1+56.bin" --weight samples)" 4
is "  of which one kind adds up" "$(sum "$tmp/1+56.bin" --weight ns) $(sum "$tmp/1+56.bin" --event page-faults)" "2000 41"

# The default event must be the same kind in all captures.
apart="cannot add or compare page-faults (events) here and cpu-clock (samples) earlier: choose with --event, or use --weight samples"
for c in cprof-top cprof-fold "cprof-fold -o tsv" "cprof-flame -o svg" cprof-flame "cprof-flame --diff" cprof-diff "cprof-diff --folded" \
	"cprof-convert -t callgrind" "cprof-convert -t tsv"; do
	status "$c of ticks and page faults, in two captures" 2 $c "$tmp/1.bin" "$tmp/56.bin"
	is "  is refused in one sentence" "$(wc -c <"$tmp/out") $(sed 's|: .*/|: |' "$tmp/err")" "0 ${c%% *}: 56.bin: $apart"
done
for c in cprof-top "cprof-top -w 1" cprof-fold "cprof-convert -t callgrind"; do
	status "$c of one behind the other" 2 $c "$tmp/1+56.bin"
	is "  likewise" "$(sed 's|: .*/|: |' "$tmp/err")" "${c%% *}: 1+56.bin: $apart"
done
status "the other way round" 2 cprof-fold "$tmp/56.bin" "$tmp/1.bin"
like "  with the names turned round" "$(cat "$tmp/err")" 'cannot add or compare cpu-clock .samples. here and page-faults .events. earlier: '
status "counts of two things" 2 cprof-fold "$tmp/56.bin" "$tmp/6.bin"
like "  are no sum unless they are asked for" "$(cat "$tmp/err")" 'cannot add or compare sched:sched_switch .events. here and page-faults .events. earlier: '
is "  as here" "$(cprof-fold --event page-faults,sched "$tmp/56.bin" "$tmp/6.bin" | awk '{ n += $NF } END { print n }')" 47
two() { n=$1; shift; is "$1" "$(shift; cprof-fold "$@" 2>&1 | awk '{ n += $NF } END { print n }')" "$n"; }
two 82 "page faults of two captures add up" "$tmp/56.bin" "$tmp/5.bin"
two 4 "  and so does time of any rate" "$tmp/1.bin" "$tmp/1356.bin"
capture 1 | sed 's/name="cpu-clock" unit="ns"/name="cycles" unit="cycles"/' | cprof-dump -r >"$tmp/cycles.bin"
two 4 "  and with cycles" "$tmp/1.bin" "$tmp/cycles.bin"
capture 5 6 | sed 's/comm="x"/comm="y"/' | cprof-dump -r >"$tmp/y.bin"
two 2 "what other options leave out does no harm, as samples of another command" --comm x "$tmp/1.bin" "$tmp/y.bin"
capture 3 | cprof-dump -r >"$tmp/3.bin"
two 2 "  or waits, of which there is nothing to show" "$tmp/3.bin" "$tmp/1.bin"

like "cprof-top calls them events" "$(cprof-top "$tmp/56.bin")" '^Total: +41 events'
like "  but samples are samples" "$(cprof-top --weight samples "$tmp/56.bin")" '^Total: +2 samples'
like "it counts the samples of each kind" "$(cprof-top -v "$tmp/1356.bin")" '^Samples: +2 in .* and 3 of other events$'
like "it has the account" "$(cprof-top -v "$tmp/1356.bin")" '^Events: +50 happened: 41 emitted, 9 filtered$'
like "cprof-flame calls them so" "$(cprof-flame -o svg "$tmp/56.bin")" '41 events'
unlike "  and one of them, too" "$(cprof-flame -o svg --event sched:sched_switch,page-faults "$tmp/56.bin" |
	grep -v -e '>Samples: ' -e 'aution')" '[0-9] samples?\b'
is "  by their names, with the account" "$(cprof-flame "$tmp/56.bin" | "$here/flame-block.py" head | grep -E '^ledger Events? ')" \
	"ledger Event = page-faults
ledger Events = 50: 41 emitted, 9 filtered"
is "  which are all that were chosen" "$(cprof-flame --event sched,page-faults "$tmp/1356.bin" | "$here/flame-block.py" head |
	sed -n 's/^ledger Event = //p')" "page-faults, sched:sched_switch"
is "  and none where it is the clock's" "$(cprof-flame "$tmp/1.bin" | "$here/flame-block.py" head | grep -c '^ledger Event')" 0
is "the dump is the text again" "$(cprof-dump "$tmp/65.bin" | cksum)" "$(capture 6 5 | cksum)"

is "callgrind has as many as there were" "$(cprof-convert -t callgrind --event page-faults "$tmp/1356.bin" | sed -n 's/^summary: //p')" 41
is "  and time by default" "$(cprof-convert -t callgrind "$tmp/1356.bin" | sed -n 's/^summary: //p')" 2
is "perf script has all that is no waiting time" \
	"$(cprof-convert -t perfscript "$tmp/1356.bin" | sed -n 's/^x .* \([0-9]*\) \([a-z:_-]*\):$/\2 \1/p' | sort | xargs)" \
	"cpu-clock 1000 cpu-clock 1000 page-faults 1 page-faults 40 sched:sched_switch 3"
is "  or one" "$(cprof-convert -t perfscript --event sched:sched_switch "$tmp/1356.bin" | grep -c '^x ')" 1
# An event that is not there: an empty table, status 0, and a message that lists the events there; the same
# in each view.
for c in cprof-top cprof-fold "cprof-flame -o svg" "cprof-convert -t callgrind" "cprof-convert -t tsv" "cprof-convert -t perf" \
	"cprof-convert -t perfscript"; do
	status "$c --event of none" 0 $c --event page-fault "$tmp/56.bin"
	like "  is told" "$(cat "$tmp/err")" "^${c%% *}: no samples selected, .*; none of 3 samples matches the options; recorded events: page-faults, sched:sched_switch(; did you mean --event page-faults\?)?\$"
done
capture 5 | sed 's/^tally time=150 event=5/tally time=150 event=64/' | cprof-dump -r - >"$tmp/bad.bin" 2>/dev/null
status "the tally of an impossible event" 3 cprof-fold "$tmp/bad.bin"
done_testing
