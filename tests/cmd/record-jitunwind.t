#!/bin/sh
# Unwind information in jitdump files makes stacks through generated code whole. Wrong information costs only
# these stacks.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
[ "$(uname -m)" = x86_64 ] || skip_all "tables are made for x86-64 alone"
cd "$tmp" || exit 1

# stacks FILE: lines whose leaf is inner, with their ends
stacks() { cprof-sym "$1" 2>/dev/null | cprof-fold -U -a --truncated --comm jitunwind | grep ';inner '; }
# record NAME [MODE [OPTION...]]: NAME.folded has the stacks of that mode
record() {
	name=$1 mode=${2:-}
	shift $(($# > 1 ? 2 : 1))
	cprof-record -q -F 499 -o "$name.bin" "$@" -- "$BUILD/tests/jitunwind" 2 $mode 2>err || return
	stacks "$name.bin" >"$name.folded"
}
# least TEXT PATTERN PERCENT FILE: so much of the samples matches
least() {
	got=$(PATTERN=$2 awk '{ all += $NF } $0 ~ ENVIRON["PATTERN"] { n += $NF }
		END { printf "%.0f", all ? 100 * n / all : -1 }' "$4")
	if [ "$got" -ge "$3" ]; then pass "$1"; else fail "$1"; diag "$got %"; diag "$(head -n 5 "$4")"; fi
}

whole=';main;outer;jit_first_\[j\];middle;jit_second_\[j\];inner '
for engine in bpf perf; do
	record $engine "" --engine $engine --unwind table || {
		skip "whole by $engine" "$(cat err)"
		continue
	}
	# The first samples come before there is a table.
	least "whole through code that uses rbp for something else, by $engine" "$whole" 60 $engine.folded
	is "  and nothing else is between" "$(grep main $engine.folded | grep -Ev "$whole")" ""
done

record none none
least "without the records, stacks end there" truncated 95 none.folded
record wrong wrong
least "if they are wrong, as well: no call is before the address" truncated 95 wrong.folded
is "  and no frame is from there" "$(grep -c 'main\|outer' wrong.folded)" 0
record lies lies
least "beside records that lie, others are as good" "$whole" 60 lies.folded
is "  and nobody else's code is touched" "$(grep -v 'jit_second_\[j\];inner ' lies.folded)" ""

# CPython writes its file through a buffer: the table lacks the functions that are called last.
record late late
least "a trampoline that the file lacks yet" ';main;outer;jit_first_\[j\];middle;[^;]*;inner ' 60 late.folded

# The table stays in the next file, which begins with names again.
mkdir parts
cprof-record -q -F 499 --rotate 1s -o parts/part -- "$BUILD/tests/jitunwind" 3
stacks "$(find parts -type f | sort | tail -n 2 | head -n 1)" >part.folded
least "in a later file of a series" "$whole" 95 part.folded
done_testing
