#!/bin/sh
# cprof-top --what-if --requests: the interval holds the mean request time of a server in which the function
# really takes less.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
. "$tests/lib/what-if-lib.sh"
requests=$BUILD/tests/requests

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
	if measure "$requests" "$shape" 250; then
		holds "$shape"
	else
		skip "$shape" "the machine is busy"
		skip "  of the requests that there were" "the machine is busy"
	fi
done
like "after: no effect of work that comes after the answer" "$(cat "$tmp/table")" \
	' no effect  requests-[0-9]+$'
done_testing
