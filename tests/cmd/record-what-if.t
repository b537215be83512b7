#!/bin/sh
# cprof-top --what-if: the interval holds the time of a program in which the function really takes less.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
. "$tests/lib/what-if-lib.sh"
faster=$BUILD/tests/faster

# holds SHAPE: the time of the fast program is in the interval, which is narrower than 15 % of the time
holds() {
	cprof-sym "$tmp/raw.bin" >"$tmp/got" 2>/dev/null
	cprof-top --what-if f_fast=-50% --comm faster -n 1 "$tmp/got" >"$tmp/table"
	sed 's/^/# /' "$tmp/table"
	cprof-top --what-if f_fast=-50% --comm faster -n 1 -o tsv "$tmp/got" >"$tmp/tsv"
	sed 's/^/# really: /' "$tmp/slow" "$tmp/fast"
	cat "$tmp/slow" "$tmp/fast" "$tmp/tsv" | awk '
		NR == 1 { slow = $1 }
		NR == 2 { saved = slow - $1 }
		END {
			slack = slow / 200
			exit !(NR == 4 && saved >= $3 - slack && saved <= $4 + slack && $4 - $3 < 0.15 * slow)
		}'
	is "$1: the interval holds the time" $? 0
}

for shape in serial:500 join:80 lock:500 sockets:400 timer:300; do
	if measure "$faster" "${shape%:*}" "${shape#*:}"; then
		holds "${shape%:*}"
	else
		skip "${shape%:*}" "the machine is busy"
	fi
	[ "${shape%:*}" != join ] ||
		cprof-top --what-if g_other=off --comm faster -n 1 "$tmp/got" >"$tmp/other"
done
like "timer: no effect" "$(cat "$tmp/table")" ' no effect  faster-[0-9]+$'
like "join: no effect of the thread that ends first" "$(cat "$tmp/other" 2>/dev/null)" \
	' no effect  faster-[0-9]+$'
done_testing
