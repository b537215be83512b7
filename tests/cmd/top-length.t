#!/bin/sh
# Lengths are those of the recording, idle time at both ends too, in every view that says one.
. "$(dirname "$0")/../lib/lib.sh"

# capture BEGIN SECOND...: a minute from this second on, with samples in these seconds
capture() {
	begin=$1 end=$(($1 + 60))
	shift
	cat <<-X
	segment major=1 minor=0 least=1
	meta key="start-realtime-ns" value="$((1795694400 + begin))000000000"
	meta key="start-monotonic-ns" value="${begin}000000000"
	event id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000
	flush
	process id=1 time=${begin}000000000 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
	thread id=1 time=${begin}000000000 process=1 tid=42
	comm time=${begin}000000000 thread=1 comm="db"
	X
	for i; do
		echo "sample time=${i}000000000 event=1 cpu=0 thread=1 user=0 kernel=0 weight=10000000"
	done
	printf 'ledger time=%d cpu=1 outcome=%s\n' ${end}000000000 "expected count=6000" \
		${end}000000000 "emitted count=$#" ${end}000000000 "idle count=$((6000 - $#))"
}
end() { printf 'end time=%d000000000 reason=%s samples=%d\nflush\n' "$@"; }
{ capture 1 21 22; end 61 closed 2; } >"$tmp/c.txt"
cprof-dump -r "$tmp/c.txt" >"$tmp/c.bin" || exit 1
length() { cprof-top -v "$@" 2>/dev/null | sed -n 's/^Samples: *//p'; }
is "a recording of a minute with samples of a second" "$(length "$tmp/c.bin")" "2 in 60.00 s"
like "  in the title" "$(cprof-top "$tmp/c.bin" | head -n 1)" '60\.0 s at 100 Hz'
like "  in the brief" "$(cprof-top -o md "$tmp/c.bin")" 'Recorded in 60\.00 s'
is "  in rows" "$(cprof-top -o json "$tmp/c.bin" | grep -o '"seconds":[0-9.]*')" '"seconds":60.0'
like "  in a picture" "$(cprof-flame -o svg "$tmp/c.bin")" ', 60\.0 s, '
{ capture 1; end 61 closed 0; } | cprof-dump -r >"$tmp/idle.bin"
is "  without any sample" "$(length "$tmp/idle.bin")" "0 in 60.00 s"
capture 1 21 22 | cprof-dump -r >"$tmp/cut.bin"
is "cut short: until the last report" "$(length "$tmp/cut.bin")" "2 in 60.00 s"
sed '/start-monotonic/d' "$tmp/c.txt" | cprof-dump -r >"$tmp/unknown.bin"
is "an unknown begin: from the first sample" "$(length "$tmp/unknown.bin")" "2 in 40.00 s"
is "two captures add up" "$(length "$tmp/c.bin" "$tmp/idle.bin")" "2 in 120.00 s"
{ capture 1 21 22; end 61 continues 2; capture 61 100; end 121 closed 1; } | cprof-dump -r >"$tmp/series.bin"
is "  and the files of a series" "$(length "$tmp/series.bin")" "3 in 120.00 s"
done_testing
