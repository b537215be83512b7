#!/bin/sh
# The results of recordings that end badly
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
burn=$BUILD/tests/burn

# kill -9: everything but the last second is there
"$burn" brief 60000 &
work=$!
cprof-record -q -F 499 -p $work -o "$tmp/cut.bin" &
recorder=$!
sleep 3.6
kill -9 $recorder
died=$(awk '{ printf "%.0f", $1 * 1e9 }' /proc/uptime)
wait $recorder 2>/dev/null
for tool in cprof-dump cprof-sym cprof-fold cprof-top; do
	status "$tool of a recorder that was killed" 3 $tool "$tmp/cut.bin"
	like "$tool tells" "$(grep -v -e 'frames named' -e 'no names' "$tmp/err")" "^$tool: $tmp/cut.bin: .*cut|the stream ends|no end"
	is "$tool in one sentence" "$(grep -vc -e 'frames named' -e 'no names' "$tmp/err")" 1
done
last=$(cprof-dump "$tmp/cut.bin" 2>/dev/null | sed -n 's/^sample time=\([0-9]*\) .*/\1/p' | tail -1)
missing=$(((died - last) / 1000000))
if [ "$missing" -lt 1300 ]; then pass "no more than the last second is missing"; else
	fail "no more than the last second is missing"; diag "$missing ms"; fi
like "the ledger is there" "$(cprof-top -v "$tmp/cut.bin" 2>/dev/null)" '^Ledger: +[0-9]+ expected: [0-9]+ emitted'
like "and the names" "$(cprof-sym "$tmp/cut.bin" 2>/dev/null | cprof-fold 2>/dev/null)" '^burn;.*main;brief_work [0-9]+$'

# While a table is late: stacks that wait for it are written within the promised second, too. The workers are
# stopped, so no table is made.
chain=$BUILD/frameless/chain
[ -x "$chain" ] || make -s -C "$top" BUILD="$BUILD" "$BUILD/frameless/chain" >"$tmp/make" 2>&1
if ! cprof-record -q -a --unwind table -o "$tmp/try.bin" 0.1 2>"$tmp/err"; then
	skip "a kill while stacks wait for a table" "no walk by tables here: $(cat "$tmp/err")"
else
	workers() { pgrep -P "$recorder" cprof-tables; }
	for attempt in 1 2 3 4; do # a busy machine delays the recorder itself
		rm -f "$tmp/late.bin" "$tmp/cold"
		cp "$chain" "$tmp/cold"
		cprof-record -q -a -F 499 -o "$tmp/late.bin" &
		recorder=$!
		until [ -s "$tmp/late.bin" ]; do sleep 0.05; done
		sleep 2.5 # in the first three seconds stacks wait for longer
		stopped=$(workers)
		kill -STOP $stopped
		"$tmp/cold" deep 20 60 &
		cold=$!
		sleep 1.8 # later on, stacks do not wait for this file any more
		kill -9 $recorder
		died=$(awk '{ printf "%.0f", $1 * 1e9 }' /proc/uptime)
		kill -9 $cold $stopped
		wait $recorder $cold 2>/dev/null
		last=$(cprof-dump "$tmp/late.bin" 2>/dev/null | sed -n 's/^sample time=\([0-9]*\) .*/\1/p' |
			tail -n 1)
		missing=$(((died - last) / 1000000))
		diag "killed $attempt times while a table was late: $missing ms are missing"
		[ "$missing" -ge 1300 ] || break
	done
	like "the process that makes tables was stopped" "$(echo $stopped)" '^[0-9]+( [0-9]+)?$'
	is "while a table is late, no more than the last second is missing" "$((missing < 1300))" 1
	cprof-fold -U --truncated --comm cold "$tmp/late.bin" >"$tmp/folded" 2>/dev/null
	like "  the stacks that wait are cut" "$(cat "$tmp/folded")" '\[truncated: no-table\].* [0-9]+$'

	# After the end nothing newer waits: there is more time for the table of a short program.
	cprof-record -F 499 -o "$tmp/short.bin" -- sh -c 'while [ ! -e "$1.go" ]; do sleep 0.02; done
		"$1" deep 20 0.4; : >"$1.done"' sh "$tmp/cold" 2>"$tmp/short.err" &
	recorder=$!
	until stopped=$(workers); do sleep 0.02; done
	kill -STOP $stopped
	: >"$tmp/cold.go"
	until [ -e "$tmp/cold.done" ]; do sleep 0.02; done
	sleep 0.9
	kill -CONT $stopped
	wait $recorder
	is "a table that comes after a short program's end" $? 0
	unlike "  is waited for" "$(cat "$tmp/short.err")" 'a table was late'
fi

# The reader exits, the disk is full.
cprof-record -a -q -F 999 >/dev/full 2>"$tmp/err"
is "> /dev/full" $? 1
like "is said" "$(cat "$tmp/err")" '^cprof-record: standard output: .*No space left on device$'
cprof-record -a -q -F 999 -o /dev/full 2>"$tmp/err"
is "-o /dev/full" $? 1
like "is said with the file's name" "$(cat "$tmp/err")" '^cprof-record: /dev/full: .*No space left on device$'
# No descriptor that the recorder opens itself replaces a closed one.
cprof-record -a -q 0.2 2>"$tmp/err" >&-
is ">&-" $? 1
is "is said" "$(cat "$tmp/err")" "cprof-record: standard output: cannot write: Bad file descriptor"
cprof-record -a -F 999 -o "$tmp/closed.bin" 0.2 <&- >&- 2>&-
is "<&- >&- 2>&- with -o" $? 0
is "  nothing of it is in the file" "$(cprof-dump "$tmp/closed.bin" >/dev/null 2>"$tmp/err"; echo $?)$(cat "$tmp/err")" 0
{ cprof-record -a -F 999 10 2>"$tmp/err"; echo $? >"$tmp/status"; } | head -c 100 >/dev/null
is "| head is quiet" "$(cat "$tmp/err")" ""
is "| head ends it" "$(cat "$tmp/status")" 141

# Ctrl-C goes to the whole pipeline: the recorder ends, and its samples come out at the other end.
setsid sh -c 'cprof-record -q -F 499 -p $1 | cprof-sym 2>/dev/null | cprof-fold >"$2"; echo done >"$2.done"' sh $work "$tmp/int.folded" &
pipeline=$!
sleep 1.5
pkill -INT -s "$pipeline" cprof-
wait $pipeline
like "Ctrl-C in a pipeline loses nothing" "$(cat "$tmp/int.folded")" '^burn;.*main;brief_work [0-9]+$'

# Two recordings one after another are one capture.
for i in 1 2; do cprof-record -q -p $work -F 499 0.5; done >"$tmp/two.bin"
kill $work
wait 2>/dev/null
ok "two recordings in one file" cprof-dump "$tmp/two.bin"
is "are two segments" "$(cprof-dump "$tmp/two.bin" | grep -c '^segment ')" 2
is "and one profile" "$(cprof-sym "$tmp/two.bin" 2>/dev/null | cprof-fold | cut -d' ' -f1 | grep -c 'main;brief_work$')" 1
done_testing
