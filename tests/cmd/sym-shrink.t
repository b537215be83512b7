#!/bin/sh
# Files that shrink or are written to while cprof-sym has them mapped
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"

mkdir "$tmp/work"
"$BUILD/tests/sym-shrink" "$tmp/work" >"$tmp/tap"
is 'no name of a file that shrinks or changes is wrong, and nobody dies' $? 0
diag "$(grep -v '^ok' "$tmp/tap")"

# cprof-sym itself: it names the first block, then the file is cut, then it gets the second block.
"$BUILD/tests/sym-host" elf "$tmp/f" 0 20000 40 0
{ segment; process 1; file 1 "$tmp/f" "$(build_id "$tmp/f")"; mapping 1 1 4096 1280000 4096
	awk 'BEGIN { for (i = 0; i < 100; i++) print 4096 + 64 * i }' | frames; echo flush; } >"$tmp/one"
{ awk 'BEGIN { for (i = 100; i < 200; i++) print 4096 + 64 * i }' | frames 1 exact 101; finish; } >"$tmp/two"
cat "$tmp/one" "$tmp/two" | cprof-dump -r >"$tmp/whole"
n=$(cprof-dump -r <"$tmp/one" | wc -c)
sleep 0.1
mkfifo "$tmp/in"
cprof-sym "$tmp/in" >"$tmp/out" 2>"$tmp/err" &
sym=$!
exec 4>"$tmp/in"
head -c "$n" "$tmp/whole" >&4
tries=0
until [ "$(names "$tmp/out" | grep -c 'f0_.*symtab')" = 100 ] || [ $((tries = tries + 1)) -gt 600 ]; do sleep 0.1; done
truncate -s 4096 "$tmp/f"
tail -c +$((n + 1)) "$tmp/whole" >&4
exec 4>&-
wait $sym
is 'a file is cut while cprof-sym reads its names from it: it goes on' $? 0
names "$tmp/out" >"$tmp/names"
is '  all names before are right' "$(sed -n 1,100p "$tmp/names" | awk '$2 ~ "^f0_" NR - 1 "_[a-z]*[+]0$" { n++ } END { print n }')" 100
is '  there are none behind' "$(sed -n 101,200p "$tmp/names" | grep -c -- ' -$')" 100
like '  it says why' "$(cat "$tmp/err")" "100 of 200 frames named .*; unresolved: 100 in $tmp/f \(damaged\)"
done_testing
