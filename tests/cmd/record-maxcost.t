#!/bin/sh
# A limit on the recorder's cost: the rate goes down, and the weights of samples stay right.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
"$BUILD/tests/burn" threads 120 >/dev/null &
one=$!
"$BUILD/tests/burn" threads 120 >/dev/null &
two=$!
trap 'kill $one $two 2>/dev/null; rm -rf "$tmp"' EXIT

status "at a rate that it cannot pay for" 0 cprof-record -q -a -F 19999 --max-cost 0.5% -o "$tmp/s.bin" 14
cprof-dump "$tmp/s.bin" >"$tmp/dump"
is "it begins with what was asked for" "$(sed -n 's/^event .*millihertz=//p' "$tmp/dump" | head -1)" 19999000
like "and goes down" "$(sed -n 's/^event .*millihertz=//p' "$tmp/dump" | tail -1)" '^[0-9]{4,7}$'
like "in a segment of its own" "$(grep -c '^segment' "$tmp/dump")" '^[2-9]$'
# The period is dithered, so single samples weigh more or less.
is "samples weigh on the mean what their segment's rate says" "$(awk '/^event/ { for (i = 1; i <= NF; i++) if ($i ~ /^period=/) p = substr($i, 8) }
	/^sample/ { for (i = 1; i <= NF; i++) if ($i ~ /^weight=/) { w += substr($i, 8); all += p } }
	END { part = all ? w / all : 0; print (part > 0.97 && part < 1.03) ? "within 3 %" : part }' "$tmp/dump")" "within 3 %"
# expected ticks, each weighing its period, add up to the time of the CPUs
account=$(awk '/^segment/ { close_it() } /^event/ { for (i = 1; i <= NF; i++) if ($i ~ /^period=/) p = substr($i, 8) }
	/^ledger/ { split($3, c, "="); split($4, o, "="); split($5, n, "="); v[c[2] " " o[2]] = n[2] }
	/^sample/ { split($2, t, "="); if (!from) from = t[2]; to = t[2] }
	function close_it(k, a) { for (k in v) { split(k, a, " "); if (a[2] == "expected") ns += v[k] * p } split("", v) }
	END { close_it(); printf "%d", 100 * ns / (to - from) }' "$tmp/dump")
cpus=$(nproc)
if [ "$account" -ge $((cpus * 96)) ] && [ "$account" -le $((cpus * 106)) ]; then pass "the account of ticks covers the time"; else
	fail "the account of ticks covers the time"; diag "$account % of a CPU, of $cpus CPUs"; fi
# An event that costs too much loses its own rate, not the clock's. The more CPUs, the smaller is its share of
# their time, and so the limit.
trace=raw_syscalls:sys_enter
if has_tracepoint $trace; then
	kill $one $two
	"$BUILD/tests/events" 1 100000000000 &
	one=$!
	status "a tracepoint that is hit all the time" 0 cprof-record -F 99 -p $one -e cpu-clock,$trace \
		--max-cost "$(awk -v n="$cpus" 'BEGIN { print 2 / n }')" -o "$tmp/t.bin" 14
	kill $one
	cprof-dump "$tmp/t.bin" >"$tmp/dump"
	is "the clock keeps its rate" "$(sed -n 's/^event .*"cpu-clock".*millihertz=//p' "$tmp/dump" | sort -u)" 99000
	like "it is told that the event costs too much, once" "$(grep -c "^cprof-record: $trace costs more than --max-cost allows" "$tmp/err")" '^1$'
	# samples in its first two seconds and in two of its last
	a=$(TRACE=$trace awk '{ for (i = 2; i <= NF; i++) { split($i, a, "="); f[a[1]] = a[2] } } $1 == "event" && index(f["name"], ENVIRON["TRACE"]) { id = f["id"] }
		$1 == "sample" { if (!from) from = f["time"]; s = int((f["time"] - from) / 1e9); if (f["event"] == id) { n[s]++; w += f["weight"] } }
		END { print n[0] + n[1], n[11] + n[12], w }' "$tmp/dump")
	diag "samples in the first two seconds, in the twelfth and thirteenth, weight of all: $a"
	is "there are fewer samples of it" "$(echo "$a" | awk '{ print ($2 < $1 / 3) ? "fewer" : "" }')" fewer
	is "which weigh what it was" "$(echo "$a" | awk -v t="$(sed -n 's/^tally .*outcome=emitted count=\([0-9]*\).*/\1/p' "$tmp/dump" | tail -1)" '{ print $3 - t }')" 0
else
	skip "a tracepoint that is hit all the time" "no tracepoints here"
fi

status "a limit that is easy to keep" 0 cprof-record -q -a -F 49 --max-cost 50 -o "$tmp/e.bin" 1
is "changes nothing" "$(cprof-dump "$tmp/e.bin" | grep -c '^event')" 1
status "more than all" 2 cprof-record -a --max-cost 101% 1
status "nothing" 2 cprof-record -a --max-cost 0 1
status "by plain perf" 1 cprof-record -q -a --engine perf --max-cost 1% -o "$tmp/x" 1
done_testing
