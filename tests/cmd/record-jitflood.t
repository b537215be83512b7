#!/bin/sh
# A perf map as large as its user likes: only the user's budget of it goes into captures.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
command -v setpriv >/dev/null || skip_all "no setpriv"
jit='' other=''
trap 'kill $jit $other 2>/dev/null; rm -rf "$tmp" /tmp/perf-$jit.map /tmp/perf-$other.map' EXIT

# as_user UID OUTPUT: starts a process with code in memory, whose perf map is read; its PID is in $pid
as_user() {
	setpriv --reuid "$1" --regid "$1" --clear-groups "$BUILD/tests/stallfs" run - >"$2" 2>&1 &
	pid=$!
	until [ -s "$2" ]; do sleep 0.05; done
}
as_user 4712 "$tmp/jit"
jit=$pid
as_user 4713 "$tmp/other"
other=$pid
is "two users' processes" "$(cat "$tmp/jit" "$tmp/other" | tr '\n' ' ')" "running running "
setpriv --reuid 4712 --regid 4712 --clear-groups sh -c 'yes "1000 10 a_function_of_the_first_user" | head -c 260000000 >"/tmp/perf-$1.map"' sh $jit
setpriv --reuid 4713 --regid 4713 --clear-groups sh -c '{ echo "1000 10 the_other_ones"; echo "2000 10 and_its_last"; } >"/tmp/perf-$1.map"' sh $other

status "they are recorded" 0 cprof-record -a -F 199 --metrics "$tmp/metrics" -o "$tmp/cap" 4
size=$(stat -c %s "$tmp/cap")
is "the capture has no more than the budget" "$([ "$size" -lt 120000000 ] && echo yes || echo "$size bytes")" yes
is "... but that" "$([ "$size" -gt 60000000 ] && echo yes || echo "$size bytes")" yes
like "whose it is is said" "$(cat "$tmp/err")" "perf map of process $jit: its user writes more than 2 MiB of names a second"
like "what is left out is counted" "$(cat "$tmp/err")" "[0-9]{8,} bytes of perf maps and jitdump files left out"
like "... also as a metric" "$(cat "$tmp/metrics")" "^cprof_record_jit_left_out_bytes_total [1-9]"
like "the other user's is whole" "$(cprof-dump "$tmp/cap" | grep -a '^jitmap .*the_other_ones')" 'and_its_last'
done_testing
