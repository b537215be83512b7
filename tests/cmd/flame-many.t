#!/bin/sh
# cprof-flame --heatmap: many waits of a thread before its run time is reported take time in proportion.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"

sanitized && skip_all "takes very long under the sanitizers"
{
	segment
	echo 'event id=2 name="off-cpu:sleep" unit="ns" period=0 millihertz=0'
	process 1
	awk 'BEGIN {
		for (i = 1; i <= 500000; i++)
			printf "sample time=%d event=2 cpu=0 thread=1 user=0 kernel=0 weight=5\n",
				1000 + i * 20
		for (i = 1; i <= 500000; i++)
			printf "ran time=%d thread=1 ns=10 span=20\n", 1000 + i * 20 + 1
	}'
	finish
} | cprof-dump -r >"$tmp/in"
timeout 300 cprof-flame --wall --heatmap "$tmp/in" >"$tmp/page" 2>"$tmp/err" # without a bound it takes hours
is "a heat map of many waits and spans of run time" "$?" 0
like "  has them" "$(cat "$tmp/page")" 'not sampled'
done_testing
