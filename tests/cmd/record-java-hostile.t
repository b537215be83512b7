#!/bin/sh
# cprof-record: programs that look like JVMs and hold hostile data cost little, are refused with a sentence,
# and neither stop nor harm the recording.
# shellcheck disable=SC2154 # lib.sh sets tmp
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
[ -f /sys/kernel/btf/vmlinux ] || skip_all "the kernel has no BTF"
[ "$(uname -m)" = x86_64 ] || skip_all "stacks are unwound by tables only on x86-64"
program=$BUILD/tests/lang-hostile-java

# record TRAP PATTERN: records until a line of the messages or of the stream is like PATTERN
record() {
	cprof-record -F 999 -o "$tmp/x.bin" -- "$program" "$1" 60 >"$tmp/out" 2>"$tmp/err" &
	recorder=$!
	for _ in $(seq 200); do
		sleep 0.2
		cprof-dump "$tmp/x.bin" >"$tmp/x" 2>/dev/null
		! grep -E -q "$2" "$tmp/err" "$tmp/x" || break
	done
	kill -INT $recorder
	wait $recorder
	is "$1: the recording goes on to the end" $? 0
	like "  and loses nothing" "$(cat "$tmp/err")" 'samples of .*; nothing lost'
	cprof-dump "$tmp/x.bin" >"$tmp/x"
	like "  it is refused, with a sentence or a state" "$(cat "$tmp/err" "$tmp/x")" "$2"
	cost() { sed -n "s/^cost .*what=$1 count=//p" "$tmp/x" | tail -n 1; }
	ok "  a sample costs less than 100 us ($(($(cost bpf-ns) / $(cost bpf-runs))) ns)" \
		[ $(($(cost bpf-ns) / $(cost bpf-runs))) -lt 100000 ]
	ok "  the recorder stays small ($(($(cost rss-bytes) >> 20)) MiB)" \
		[ "$(cost rss-bytes)" -lt $((96 << 20)) ]
	is "  no frame is of another language" \
		"$(grep '^lang-frame' "$tmp/x" | grep -v ' language=java ')" ""
	ok "  and the stream is small ($(wc -c <"$tmp/x.bin") bytes)" \
		[ "$(wc -c <"$tmp/x.bin")" -lt 4000000 ]
}
missing='frames of Java in process [0-9]+ are missing'

record missing "$missing: libjvm describes no HeapBlock"
is "  no frame has a function" "$(grep '^lang-frame' "$tmp/x" | grep -c state=ok)" 0
record endless "$missing: a table of libjvm has no end"
record noise '^lang-frame .* language=java .* state=unreadable'
like "  frames have names or states" \
	"$(grep '^lang-frame' "$tmp/x" | sed 's/.*state=\([a-z-]*\).*/\1/' | sort -u | tr '\n' ' ')" \
	'^((depth|lost|not-yet|ok|over-budget|unreadable) )*$'
"$program" silent 0
if [ $? -eq 77 ]; then
	skip "memory that does not answer" "no userfaultfd"
else
	record silent "$missing: its memory does not answer"
fi
done_testing
