#!/bin/sh
# Many small blocks, and many places that wait for a name, take time in proportion to the size of the capture.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"

sanitized && skip_all "takes very long under the sanitizers"
# named: the summary of the capture on standard input. Without a bound, each of these takes hours.
named() {
	cprof-dump -r >"$tmp/in"
	timeout 300 cprof-sym "$tmp/in" 2>"$tmp/err" >"$tmp/out"
	head -n 1 "$tmp/err" | sed 's/;.*//'
}

{
	segment
	awk 'BEGIN {
		for (i = 1; i <= 100000; i++) {
			printf "ksym time=1 address=0x%x size=16 name=\"f\" module=\"\"\n", 1048576 + i * 16
			printf "frame id=%d process=0 kind=exact address=0x%x\nflush\n", i, 268435456 + i * 16
		}
	}'
	echo 'ksym time=2 address=0x10000050 size=32 name="late" module=""'
	finish
} | named >"$tmp/got"
is "kernel frames that no symbol names" "$(cat "$tmp/got")" 'cprof-sym: 2 of 100000 frames named (0.0 %)'
done_testing
