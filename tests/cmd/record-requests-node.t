#!/bin/sh
# cprof-top --requests: the requests of a server in Node.js are as many and as long as its own log says.
# shellcheck disable=SC2154 # lib.sh sets tmp and tests
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
[ -f /sys/kernel/btf/vmlinux ] || skip_all "the kernel has no BTF"
[ "$(uname -m)" = x86_64 ] || skip_all "stacks are unwound by tables only on x86-64"
node=${NODE:-$(command -v node || :)}
[ -n "$node" ] && [ -x "$node" ] || skip_all "there is no node"
chrt -r 5 true 2>/dev/null || skip_all "no real-time scheduling here"
n=200

# record: the counts and lengths by the server's log are in $tmp/want, those of cprof-top in $tmp/got. The
# server's clock starts when its function runs, and the request when its thread is woken.
record() {
	cprof-record -q --off-cpu -F 499 -o "$tmp/raw.bin" -- \
		chrt -r 5 "$node" "$tests/loads/requests.js" $n >"$tmp/log"
	pid=$(head -n 1 "$tmp/log")
	tail -n +2 "$tmp/log" | sort -n | awk '
		{ v[NR] = $1; sum += $1 }
		function rank(q) { return v[int((NR * q + 99) / 100)] }
		END { printf "%d %.0f %.0f %.0f\n", NR, rank(50), rank(90), rank(99) }' >"$tmp/want"
	cprof-top -o tsv --what-if 'work=-50%' --requests 'epoll_*' --pid "$pid" "$tmp/raw.bin" \
		>"$tmp/tsv" 2>"$tmp/err"
	diag "$(cat "$tmp/err" "$tmp/tsv" "$tmp/want")"
	awk -F '\t' 'NR == 2 { print $6, $7, $8, $9 }' "$tmp/tsv" >"$tmp/got"
}
# near FIELD: the length is that of the log, and the parsing and writing of a request
near() {
	cat "$tmp/want" "$tmp/got" | awk -v f="$1" '
		{ v[NR] = $f }
		END { print (NR == 2 && v[2] > 0.98 * v[1] && v[2] < 1.05 * v[1] + 1000000) }'
}
# Again if the machine stood still between a wake-up and the server's clock in one of the longest requests
for _ in 1 2 3; do
	record
	[ "$(near 4)" = 0 ] || break
done
is "requests, and few other wake-ups" \
	"$(awk -v n=$n '{ print ($1 >= n && $1 < 1.1 * n) }' "$tmp/got")" 1
is "the median is that of the server's log" "$(near 2)" 1
is "  the 90th percentile" "$(near 3)" 1
is "  and the 99th" "$(near 4)" 1
done_testing
