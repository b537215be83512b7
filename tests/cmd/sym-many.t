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

{
	segment
	process 1
	mapping 1 0 0x10000000 0x10000000 0
	awk 'BEGIN { for (i = 0; i < 200000; i++) printf "0x%x\n", 268435456 + i * 16 }' | frames
	awk 'BEGIN {
		for (i = 1; i <= 200000; i++)
			printf "jitmap time=2000 process=1 generation=0 data=\"%x 10 f\\n\"\n", i * 16
	}'
	printf '%s\n' 'jitmap time=3000 process=1 generation=0 data="10000050 20 first\n"' \
		'jitmap time=4000 process=1 generation=0 data="10000040 20 second\n"'
	finish
} | named >"$tmp/got"
is "code that a perf map names late" "$(cat "$tmp/got")" 'cprof-sym: 3 of 200000 frames named (0.0 %)'
is "  by its first name" "$(names "$tmp/out" | grep -v -- '-$' | tr '\n' ' ')" \
	"0x10000040 second+0 perfmap 0x10000050 first+0 perfmap 0x10000060 first+16 perfmap "

{
	segment
	awk 'BEGIN {
		for (i = 1; i <= 300000; i++)
			print "process id=" i " time=1 pid=" i " nspid=0 parent=0 start=5 gen=0 via=snapshot"
	}'
	echo 'thread id=1 time=1 process=300000 tid=7'
	mapping 300000 0 0x10000000 0x1000 0
	echo 'jitcode time=2 process=300000 kind=load address=0x10000000 size=0x10 old=0x0 name="f"'
	awk 'BEGIN { for (i = 1; i <= 300000; i++) print "cost time=3 what=user-ns count=" i "\nflush" }'
	echo 0x10000004 | frames 300000 exact 1 1000 1
	finish
} | named >"$tmp/got"
is "blocks beside many processes" "$(cat "$tmp/got")" 'cprof-sym: 1 of 1 frames named (100.0 %)'
done_testing
