#!/bin/sh
# The budget for what JIT compilers write: some users who take all they may leave a share to every other one.
. "$(dirname "$0")/../lib/lib.sh"
jit=$BUILD/tests/record-jit

taken() { printf '%s\n' "$@" | "$jit" budget | tr '\n' ' '; }
is "one user has 64 MiB, then 2 MiB a second" "$(taken '0 7 99999999' '0 7 1' '1 7 9999999' '1 7 1')" \
	"7 67108864 7 0 7 2097152 7 0 "
is "root is not limited" "$(taken '0 0 999999999999' '0 0 999999999999')" "0 999999999999 0 999999999999 "

# Eight users want 16 MiB a second, four times a second, where there are 8 MiB for all of them; a ninth one,
# last in each round, wants 100 kB a second.
awk 'BEGIN {
	for (i = 0; i < 800; i++) {
		for (u = 1; u <= 8; u++)
			print i / 4, u, 4000000
		print i / 4, 9, 25000
	}
}' | "$jit" budget >"$tmp/got"
sum() { tail -n 1800 "$tmp/got" | awk -v u="$1" '$1 == u || u == "" { n += $2 } END { print n + 0 }'; }
is "the ninth one gets what it wants" "$(sum 9)" 5000000
is "each of the others gets about the same" "$(for u in 1 2 3 4 5 6 7 8; do
	n=$(sum $u)
	[ "$n" -gt 30000000 ] && [ "$n" -lt 80000000 ] || echo "$u: $n"
done)" ""
all=$(sum "")
ok "and all together no more than four would alone" [ "$all" -le 420000000 ]
ok "  nor much less" [ "$all" -ge 400000000 ]
done_testing
