#!/bin/sh
# Functions that are called through trampolines in memory without a table, as python -X perf makes them: their
# callers are found.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
[ "$(uname -m)" = x86_64 ] || skip_all "tables are made for x86-64 alone"

cprof-record -F 499 -o "$tmp/t.bin" -- "$BUILD/tests/trampoline" 3 2>"$tmp/err"
cprof-sym <"$tmp/t.bin" 2>/dev/null | cprof-fold >"$tmp/folded" 2>/dev/null
# Until the sampling program knows the process, user space continues from a copy, which lacks the trampolines.
awk '/;inner/ { all += $NF } /;main;[^;]*;outer;[^;]*;middle;[^;]*;inner|;__libc_start[^;]*;[^;]*;outer;[^;]*;middle;[^;]*;inner/ { whole += $NF }
	END { exit !(all > 0 && whole >= 0.6 * all) }' "$tmp/folded" && pass "the callers are there" ||
	{ fail "the callers are there"; diag "$(cat "$tmp/folded" "$tmp/err")"; }
is "and no others" "$(grep -c ';inner.*;outer\|;middle.*;outer\|;\(outer\|middle\);\(middle\|inner\)' "$tmp/folded")" 0
done_testing
