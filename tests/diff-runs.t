#!/bin/sh
# Verdicts on several runs a side by trying: what differs between runs decides where there are enough of them, phases
# within a run are no chance then, and one more run never makes blind.
. "$(dirname "$0")/lib.sh"
# among DESCRIPTION NUMBER LEAST MOST
among() { if [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; then pass "$1: $2"; else fail "$1: $2, not from $3 to $4"; fi; }

# trials TRIALS BEFORE AFTER MS JITTER GROWTH: sets what came of them
trials() {
	set -- $("$BUILD/tests/diff-runs" "$@")
	changed=$2 found=$4 differ=$6
}

# 5 of 100 are expected, and three standard deviations more.
same() { trials 200 "$@" 0; among "$1 runs against $2, bursts of $3 ms, phases that vary by $4 points: of 200 pairs so many have a change" "$changed" 0 19; }
for runs in '1 1' '2 1' '2 2' '3 2' '3 3' '5 5'; do
	same $runs 10 -1
	same $runs 50 -1
	same $runs 50 2
	is "  and no function another verdict than what calls it" "$differ" 0
done
same 3 3 200 -1
same 5 5 10 10

found() { trials 100 $1 $2 $3 $4; among "${2} ms: $4 points more are found by $1 runs, in so many of 100" "$found" $5 100; }
found '1 1' 10 -1 10 55
one=$found
found '2 1' 10 -1 10 70
among "  one more run does not make blind" "$found" "$one" 100
two=$found
found '2 2' 10 -1 10 85
among "  nor does the next" "$found" "$two" 100
found '3 3' 10 -1 10 95
found '3 3' 50 -1 25 95
found '3 3' 10 2 18 90
found '5 5' 10 2 18 95
done_testing
