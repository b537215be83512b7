#!/bin/sh
# A permanent recorder must not grow: with unmapped memory, with large perf maps, with a slow reader.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
storm=$BUILD/tests/storm

# run ARGUMENT...: runs the storm in the background, and returns once it is ready
run() {
	"$storm" "$@" >"$tmp/ready" &
	busy=$!
	tries=0
	while [ ! -s "$tmp/ready" ] && [ $tries -lt 200 ]; do
		sleep 0.05
		tries=$((tries + 1))
	done
}
cost() { cprof-dump "$2" | sed -n "s/^cost .*what=$1 count=//p" | tail -1; }
count() { cprof-dump "$2" | grep -c "$1"; }
folded() { cprof-sym "$1" 2>/dev/null | cprof-fold -U --comm storm; }

# perf does not report unmapping, and each file is a different one: 200,000 more would be 20 MB and more. The
# memory for some 32,000 mappings and their files reaches its full size within the first 200,000.
first=$tmp/first.bin last=$tmp/last.bin
status "some mappings" 0 cprof-record -q -o "$first" -- "$storm" map 200000
status "as many as in a day" 0 cprof-record -q -o "$last" -- "$storm" map 400000
if sanitized; then
	skip "do not make the recorder grow" "freed memory is the sanitizer's"
elif [ "$(cost rss-bytes "$last")" -lt $(($(cost rss-bytes "$first") + 16000000)) ]; then
	pass "do not make the recorder grow"
else
	fail "do not make the recorder grow"
	diag "$(cost rss-bytes "$first") bytes, then $(cost rss-bytes "$last")"
fi
few=$(count '^file .*memfd:new-' "$last")
is "and few of those without a frame are told" "$([ "$few" -lt 2000 ] && echo yes || echo "$few")" yes

# A perf map of more than a segment's bytes is recorded once a segment: it must not end each of them.
run jit 50000000 5
status "a perf map of 50 MB" 0 cprof-record -q -a -o "$tmp/jit.bin" 3.5
kill $busy
wait $busy 2>/dev/null
rm -f "/tmp/perf-$busy.map"
like "does not end each segment" "$(count '^segment' "$tmp/jit.bin")" '^[12]$'
like "and the last line of it is there" "$(cprof-sym "$tmp/jit.bin" 2>/dev/null | cprof-fold --comm storm)" ';jitted [0-9]+$'
rm -f "$tmp/jit.bin"

# An exec by a thread other than the first: the new image has the first one's ID.
status "exec by a second thread" 0 cprof-record -q -F 999 -o "$tmp/exec.bin" -- "$storm" exec 20
like "each is an image of its own" "$(count '^process .*via=exec' "$tmp/exec.bin")" '^(1[89]|2[0-2])$'
like "with its names" "$(folded "$tmp/exec.bin")" '^storm;.*main;new_work [0-9]+$'

# Mappings after one whose path is too long for any reader
mkdir "$tmp/deep"
cd "$tmp/deep" || exit 1
run deep 60
cd "$top" || exit 1
status "a path of more than 4095 bytes" 0 cprof-record -q -p $busy -o "$tmp/deep.bin" 0.5
kill $busy
wait $busy 2>/dev/null
like "hides nothing behind it" "$(folded "$tmp/deep.bin")" '^storm;.*main;far_work [0-9]+$'
is "and has perf's name for such" "$(count '^file .*path="//toolong"' "$tmp/deep.bin")" 1

# A reader that stops reading: losses are counted, and the capture is whole.
mkfifo "$tmp/fifo"
"$BUILD/tests/burn" threads 60 >/dev/null &
busy=$!
cat "$tmp/fifo" >"$tmp/slow.bin" &
reader=$!
cprof-record -q -F 20000 -a 5 >"$tmp/fifo" 2>"$tmp/err" &
recorder=$!
sleep 0.5
kill -STOP $reader
sleep 4
kill -CONT $reader
wait $recorder
is "behind a reader that stood still" $? 0
wait $reader
kill $busy
wait $busy 2>/dev/null
status "the capture is whole" 0 cprof-dump "$tmp/slow.bin"
like "and counts what was lost" "$(grep '^ledger .*outcome=ring-full' "$tmp/out" | tail -1)" 'count=[1-9]'

# The recorder itself, stopped and continued
cprof-record -q -a -o "$tmp/stop.bin" 1.5 &
recorder=$!
sleep 0.5
kill -STOP $recorder
sleep 0.5
kill -CONT $recorder
wait $recorder
is "stopped and continued" $? 0
status "its capture is whole" 0 cprof-dump "$tmp/stop.bin"

# A stopped recorder is woken once, not by each sample: the interrupt for that costs the sampled processes
# more than the sample.
interrupts() { awk '$1 == "IWI:" { for (i = 2; i <= NF && $i ~ /^[0-9]+$/; i++) n += $i; print n }' /proc/interrupts; }
if [ -n "$(interrupts)" ]; then
	"$BUILD/tests/burn" threads 60 >/dev/null &
	busy=$!
	cprof-record -q -F 4999 -a -o "$tmp/woken.bin" 3 &
	recorder=$!
	sleep 0.8
	kill -STOP $recorder
	before=$(interrupts)
	sleep 1.2
	after=$(interrupts)
	kill -CONT $recorder
	wait $recorder
	is "stopped at a high rate" $? 0
	kill $busy
	wait $busy 2>/dev/null
	ok "it is not woken by each sample ($((after - before)) interrupts)" [ $((after - before)) -lt 500 ]
else
	skip "it is not woken by each sample" "the kernel does not count these interrupts"
fi

# Little memory: the recorder works, or ends with one sentence.
if ! sanitized; then
	wrong=
	for kb in 4000 5000 6000 8000 12000; do
		# The kernel kills a program that it has begun to load, and that does not fit.
		(ulimit -v $kb && cprof-record --version) >/dev/null 2>&1
		[ $? -lt 128 ] || continue
		(ulimit -v $kb && cprof-record -q -a -o "$tmp/little.bin" 0.2) 2>"$tmp/err"
		got=$?
		case $got-$(grep -c . "$tmp/err") in 0-* | 1-1 | 127-*) ;; *) wrong="$wrong $kb kB: status $got, $(cat "$tmp/err")" ;; esac
	done
	is "with little memory it works, or says so" "$wrong" ""
else
	skip "with little memory it works, or says so" "sanitizers want all memory"
fi
done_testing
