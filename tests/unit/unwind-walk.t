#!/bin/sh
# The walk on written cases (tests/data/cases), and over noise
. "$(dirname "$0")/../lib/lib.sh"
walk=$BUILD/tests/unwind-walk
for f in "$tests"/data/cases/unwind-*.txt; do
	"$walk" "$f" >"$tmp/out" 2>"$tmp/err"
	st=$?
	is "$(basename "$f" .txt): $(grep -c '^ok' "$tmp/out") cases" "$st $(grep '^not ok' "$tmp/out")$(cat "$tmp/err")" "0 "
	[ $st = 0 ] || diag "$(grep -A20 '^not ok' "$tmp/out")"
done
# The test program must be able to fail.
sed -n '1,/^end/p' "$tests/data/cases/unwind-rules.txt" | sed 's/^frame .*/frame 1234/' >"$tmp/wrong.txt"
status "other frames than those expected are told" 1 "$walk" "$tmp/wrong.txt"
like "with what was found" "$(cat "$tmp/out")" '^# got: frame 401'
ok "100,000 walks over noise" "$walk" random 100000
done_testing
