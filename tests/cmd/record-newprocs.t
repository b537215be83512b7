#!/bin/sh
# New processes of known files have whole stacks without user space: the sampling program finds their mappings
# in the kernel, as they are at that moment, and never takes one file for another.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/tables-lib.sh"
grep -q maple_tree /proc/kallsyms 2>/dev/null || skip_all "before Linux 6.1 mappings are not in a maple tree"
[ -r /sys/kernel/btf/vmlinux ] || skip_all "the kernel has no type information"
chain=$BUILD/frameless/chain
needs_tables chain

mkdir "$tmp/debug" # build IDs of programs that are written over, see below
folded() { cprof-sym --debug-dir "$tmp/debug" "$1" 2>/dev/null | cprof-fold -U --truncated; }
samples() { awk '{ n += $NF } END { print n + 0 }' "$@"; }
start='_start;__libc_start_main[^;]*;[^;]*;main'

# The first processes bring the tables, and the walk into the kernel; stacks of the second half count.
cprof-record -q -F 999 -o "$tmp/many.bin" -- sh -c 'while :; do "$0" deep 5 0.04; done' "$chain" &
recorder=$!
deferred() {
	cprof-dump "$tmp/many.bin" 2>/dev/null | sed -n 's/^cost .*what=stacks-deferred count=//p' | tail -1
}
sampled() { cprof-dump "$tmp/many.bin" 2>/dev/null | grep -c '^sample'; }
# until N: waits for this many samples
until_sampled() {
	tries=0
	until n=$(sampled) && [ "$n" -ge "$1" ] || [ $((tries = tries + 1)) -gt 300 ]; do sleep 0.2; done
}
until_sampled 300
first=$(sampled) first_deferred=$(deferred)
until_sampled $((first + 300))
kill -INT $recorder
wait $recorder
all=$(($(sampled) - first)) deferred=$(($(deferred) - ${first_deferred:-0}))
folded "$tmp/many.bin" | grep '^chain;' >"$tmp/many"
own=$(grep ';main;dive' "$tmp/many" | samples)
whole=$(grep -E "^chain;$start(;dive){5}(;work)? " "$tmp/many" | samples)
diag "$all samples after the first $first, $deferred of them finished in user space"
is "stacks of new processes are whole: $whole of $own" "$((own > 100 && whole * 100 / own >= 95))" 1
is "  nearly all without user space" "$((all >= 200 && deferred * 100 / all < 15))" 1

# Programs and libraries of the same size and the same functions, with frames that differ
for i in 1 2; do
	cat >"$tmp/code.h" <<END
#include <stdint.h>
#include <string.h>
#define APART __attribute__((noinline, noclone, noipa))
static APART uint64_t inner_$i(uint64_t (*work)(uint64_t), char *p)
{
	char room[$((i * 112))];

	memcpy(room, p, 9);
	return work(room[3]) ^ room[5];
}
static APART uint64_t middle_$i(uint64_t (*work)(uint64_t), uint64_t a)
{
	char room[$((i * 336))];

	memset(room, (int)a, sizeof(room));
	return inner_$i(work, room) + a;
}
APART uint64_t enter(uint64_t (*work)(uint64_t));
APART uint64_t enter(uint64_t (*work)(uint64_t)) { return middle_$i(work, 1) + middle_$i(work, 2); }
END
	cp "$tmp/code.h" "$tmp/lib$i.c"
	cat "$tmp/code.h" - >"$tmp/prog$i.c" <<END
static APART uint64_t work(uint64_t x)
{
	for (int i = 0; i < 1000000; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}
int main(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < 12; i++)
		sum += enter(work);
	return sum == 1;
}
END
	flags="-O2 -fomit-frame-pointer -fno-optimize-sibling-calls"
	${CC:-cc} $flags -fPIC -shared -o "$tmp/lib$i.so" "$tmp/lib$i.c" &&
		${CC:-cc} $flags -Wl,--build-id -o "$tmp/prog$i" "$tmp/prog$i.c" || exit 1
done

# A process may be published by then: its stacks are cut at the first frame of changed code.
cut='\[truncated: [a-z-]*\](((;enter)?;middle_1)?;inner_1|((;enter)?;middle_2)?;inner_2)'
# wrong FILE: lines of the program's work whose frames are of both, or lead elsewhere
wrong() {
	grep -E '(inner|middle)_1.*(inner|middle)_2|(inner|middle)_2.*(inner|middle)_1' "$1"
	grep -E ';inner_[12];work ' "$1" |
		grep -Ev "^[^;]*;($start(;call_in)?;enter;(middle_1;inner_1|middle_2;inner_2)|$cut);work "
}

# A process that maps one file after another at the same address. The walk is in the kernel by then.
cprof-record -q -F 999 -o "$tmp/load.bin" -- sh -c '"$0" deep 5 0.3; "$0" load 12 "$1" "$2"' \
	"$chain" "$tmp/lib1.so" "$tmp/lib2.so" >"$tmp/out"
like "libraries come where others were" "$(cat "$tmp/out")" '^[1-9]'
folded "$tmp/load.bin" >"$tmp/load"
is "  no frame is of the one that was there before" "$(wrong "$tmp/load")" ""
found() {
	grep -Eo "^$1;enter;middle_[12];inner_[12];work " "$2" | grep -o 'inner_[12]' | sort -u | tr '\n' ' '
}
is "  and both are found, whole" "$(found "chain;$start;call_in" "$tmp/load")" "inner_1 inner_2 "

# A program that is written over another: the same path, device and inode. Names come from copies.
for i in 1 2; do
	id=$(readelf -n "$tmp/prog$i" | sed -n 's/.*Build ID: //p')
	mkdir -p "$tmp/debug/.build-id/${id%"${id#??}"}"
	cp "$tmp/prog$i" "$tmp/debug/.build-id/${id%"${id#??}"}/${id#??}.debug"
done
cprof-record -q -F 999 -o "$tmp/over.bin" -- sh -c '"$0" deep 5 0.3; cd "$1" && cp prog1 prog
	for i in 1 2 1 2 1 2; do cat "prog$i" >prog; for n in 1 2 3 4; do ./prog; done; done' "$chain" "$tmp"
folded "$tmp/over.bin" >"$tmp/over"
is "a program that is written over another has no frame of the other" "$(wrong "$tmp/over")" ""
# The file's table may still be that of the other: its stacks are cut then.
is "  and both are found" "$(grep -Eo "^prog;($start;enter;middle_[12];inner_[12]|$cut);work " "$tmp/over" |
	grep -o 'inner_[12]' | sort -u | tr '\n' ' ')" "inner_1 inner_2 "
done_testing
