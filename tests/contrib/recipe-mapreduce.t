#!/bin/sh
# cprof-fold as mapper, combiner and reducer: with many of each, many captures give the same result as one
# cprof-fold over all.
. "$(dirname "$0")/../lib/lib.sh"
fold=$top/contrib/mapreduce/fold

for i in 1 2 3 4 5 6 7 8 9 10 11; do
	python3 "$tests/cmd/convert-made.py" $i 300 hostile | cprof-dump -r >"$tmp/host $i.bin" || exit 1
done
cprof-dump -r "$tests/data/small.txt" >"$tmp/host 12.bin"
for f in "$tmp"/host*.bin; do cprof-sym "$f" 2>/dev/null; done | cprof-fold >"$tmp/want" 2>/dev/null
diag "$(wc -l <"$tmp/want") stacks"
for n in "4 2" "3 5" "20 1"; do
	status "by ${n% *} mappers and ${n#* } reducers" 0 "$fold" -m ${n% *} -r ${n#* } "$tmp"/host*.bin
	same "  it is the same" "$tmp/want" "$tmp/out"
done
status "more reducers than stacks" 0 "$fold" -m 1 -r 30 "$tmp/host 12.bin"
is "  is the same" "$(cat "$tmp/out")" "$(cprof-sym "$tmp/host 12.bin" 2>/dev/null | cprof-fold 2>/dev/null)"

# Combined often, or never
for f in "$tmp"/host*.bin; do cprof-sym "$f" 2>/dev/null | cprof-fold -T 2>/dev/null; done | sort >"$tmp/shuffled"
cprof-fold --sorted "$tmp/shuffled" >"$tmp/never" 2>/dev/null
split -n l/7 "$tmp/shuffled" "$tmp/part-"
for p in "$tmp"/part-*; do cprof-fold -T --sorted "$p"; done 2>/dev/null | sort | cprof-fold -T --sorted 2>/dev/null | cprof-fold --sorted >"$tmp/often" 2>/dev/null
same "without a combiner" "$tmp/want" "$tmp/never"
same "with a combiner at places that the engine likes" "$tmp/want" "$tmp/often"

status "a number that looks octal" 2 "$fold" -m 08 "$tmp/host 12.bin"
status "a capture that is not there" 1 "$fold" "$tmp/none.bin"

# Bad input shows in the status, and does not affect the rest.
cd "$tmp" || exit 1
cp "host 1.bin" one.bin; gzip -c one.bin | gzip >one.bin.gz
head -c 9000 "host 2.bin" >cut.bin; tail -c +3 "host 3.bin" >headless.bin; : >none.written; mkdir folder
folded() { for f; do cprof-sym "$f" 2>/dev/null; done | cprof-fold 2>/dev/null >want; }
folded one.bin
for odd in one.bin.gz no.bin folder; do
	status "$odd and a capture" 1 "$fold" $odd one.bin
	same "  of which all is there" want out
	like "  and that is said" "$(cat err)" "$odd: "
done
status "what was cut before its first byte" 3 "$fold" -m 1 none.written one.bin
same "  is nothing beside the rest" want out
folded one.bin cut.bin one.bin; status "one that was cut" 3 "$fold" -m 1 one.bin cut.bin one.bin
same "  up to there, and those around it" want out
like "  which is said of it" "$(cat err)" '^cprof-sym: cut.bin: block [0-9]+ at byte [0-9]+: '
folded headless.bin one.bin; status "one whose beginning is damaged" 3 "$fold" -m 1 headless.bin one.bin
same "  from there on" want out
status "what could not be read is told before what was cut" 1 "$fold" cut.bin one.bin.gz
done_testing
