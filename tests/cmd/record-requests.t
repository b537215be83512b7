#!/bin/sh
# cprof-top --what-if --requests: the interval holds the mean request time of a server in which the function
# really takes less.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
chrt -r 5 true 2>/dev/null || skip_all "no real-time scheduling here"
[ "$(nproc)" -ge 2 ] || skip_all "one CPU"
requests=$BUILD/tests/requests

# undisturbed FILE: the requests took hardly longer than on free CPUs, by the server's own clock
undisturbed() { awk '{ good = $1 < 1.06 * $2 } END { exit !good }' "$1"; }
# measure SHAPE: records the slow server and runs the fast one, until neither was disturbed; false: never
measure() {
	for _ in 1 2 3 4 5 6; do
		cprof-record -q --off-cpu -F 499 -o "$tmp/raw.bin" -- \
			chrt -r 5 "$requests" "$1" 250 100 >"$tmp/slow" 2>"$tmp/err" || diag "$(cat "$tmp/err")"
		undisturbed "$tmp/slow" || continue
		chrt -r 5 "$requests" "$1" 250 50 >"$tmp/fast"
		undisturbed "$tmp/fast" && return 0
	done
	return 1
}
# ask OPTION...: what the requests of the recorded server would take
ask() {
	cprof-top --what-if f_fast=-50% --requests next_request --comm requests "$@" "$tmp/got"
}
# holds SHAPE: the mean of the fast server is in the interval, which is narrower than 15 % of the mean. As far
# as the servers were disturbed, the mean may be off.
holds() {
	cprof-sym "$tmp/raw.bin" >"$tmp/got" 2>/dev/null
	ask >"$tmp/table"
	sed 's/^/# /' "$tmp/table"
	ask -o tsv >"$tmp/tsv"
	sed 's/^/# really: /' "$tmp/slow" "$tmp/fast"
	cat "$tmp/slow" "$tmp/fast" "$tmp/tsv" | awk '
		NR == 1 { slow = $1 }
		NR == 2 { saved = slow - $1 }
		NR <= 2 { slack += $1 > $2 ? $1 - $2 : $2 - $1 }
		END {
			exit !(NR == 4 && saved >= $3 - slack && saved <= $4 + slack && $4 - $3 < 0.15 * slow)
		}'
	is "$1: the interval holds the mean" $? 0
	case $1 in lock) n=500 ;; *) n=250 ;; esac
	is "  of the requests that there were" \
		"$(awk -F '\t' -v n=$n 'NR == 2 { print ($6 > 0.96 * n && $6 <= n) }' "$tmp/tsv")" 1
}

for shape in own mixed backend lock after; do
	if measure "$shape"; then
		holds "$shape"
	else
		skip "$shape" "the machine is busy"
		skip "  of the requests that there were" "the machine is busy"
	fi
done
like "after: no effect of work that comes after the answer" "$(cat "$tmp/table")" \
	' no effect  requests-[0-9]+$'
done_testing
