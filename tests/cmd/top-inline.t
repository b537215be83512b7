#!/bin/sh
# Inlined functions and lines in cprof-top and cprof-diff, and reasons for frames without names
. "$(dirname "$0")/../lib/lib.sh"

# The capture of fold-inline.t, whose counts are explained there
inlined() { cat "$tests/fuzz/corpus/profile-inlined"; }
top() { cprof-top "$@" 2>"$tmp/err"; }
rows() { sed '1,/^ *flat /d' | tr -s ' ' | sed 's/^ //' | cut -d' ' -f1,4,6-; }
inlined | cprof-dump -r >"$tmp/a.bin" || exit 1

# tops DESCRIPTION OPTION...: the wanted flat, cum and name of each row are on stdin
tops() {
	d=$1; shift
	cat >"$tmp/want"
	top "$@" "$tmp/a.bin" | rows >"$tmp/got"
	same "$d" "$tmp/want" "$tmp/got"
}
tops "nobody asked: functions that have code of their own" <<'X'
7 11 work
4 4 mul
0 11 main
X
tops "-i: flat goes to the innermost, cum counts a function once a stack, inlined or not" -i <<'X'
7 7 mul
3 10 step
1 11 work
0 11 main
X
tops "-l: a row is a line of a function" -l <<'X'
5 5 work (work.c:12)
4 4 mul (mul.h:3)
1 1 work (work.c:13)
1 1 work (work.c:15)
0 11 main (main.c:40)
0 4 work (work.c:20)
X
tops "-i -l" -il <<'X'
7 7 mul (mul.h:3)
2 2 step (step.h:8)
1 4 step (step.h:7)
1 1 work (work.c:15)
0 11 main (main.c:40)
0 5 step (step.h:9)
0 5 work (work.c:12)
0 4 work (work.c:20)
0 1 work (work.c:13)
X
tops "--full-paths, by cum" --full-paths --cum -n 2 <<'X'
0 11 main (/src/main.c:40)
5 5 work (/src/work.c:12)
X
tops "--match" -i --match '^step$' <<'X'
7 7 mul
3 10 step
0 10 main
0 10 work
X
cprof-fold -il "$tmp/a.bin" | cprof-top -n 0 | rows >"$tmp/want"
top -il -n 0 "$tmp/a.bin" | rows >"$tmp/got"
same "the table is that of its folded text" "$tmp/want" "$tmp/got"
for by in module process thread; do
	status "-i is for functions, not --by $by" 2 cprof-top -i --by $by "$tmp/a.bin"
	status "  and so is -l" 2 cprof-diff -l --by $by "$tmp/a.bin" "$tmp/a.bin"
done
like "  which is said" "$(head -1 "$tmp/err")" '^cprof-diff: -l requires --by function$'

# Twice the time in the line where step calls the outlined mul
inlined | awk '{ print } /^sample/ && / user=21 / { print }' | cprof-dump -r >"$tmp/b.bin"
diffs() { # OPTION...: flat A, flat B, cum A, cum B and name
	cprof-diff --no-normalize -n 0 "$@" "$tmp/a.bin" "$tmp/b.bin" 2>"$tmp/err" | sed '1,/flat A/d' | tr -s ' ' | cut -d' ' -f2,3,5,6,8-
}
is "cprof-diff" "$(diffs | tr '\n' ,)" "4 8 4 8 mul,0 0 11 15 main,7 7 11 15 work,"
is "cprof-diff -i" "$(diffs -i | tr '\n' ,)" "7 11 7 11 mul,0 0 11 15 main,3 3 10 14 step,1 1 11 15 work,"
is "cprof-diff -il, what changed" "$(diffs -il | awk '$3 != $4' | tr '\n' ,)" \
	"7 11 7 11 mul (mul.h:3),0 0 11 15 main (main.c:40),0 0 5 9 step (step.h:9),0 0 4 8 work (work.c:20),"
cprof-diff --folded --no-normalize -i --full-paths "$tmp/a.bin" "$tmp/b.bin" 2>"$tmp/err" | grep 'step.h:9);mul' >"$tmp/got"
is "cprof-diff --folded" "$(cat "$tmp/got")" \
	"app;main (/src/main.c:40);work (/src/work.c:20);step (/src/inc/step.h:9);mul (/src/inc/mul.h:3) 4 8"

# A function's start address does not count as a name. 2 samples of frame 3 and 1 of frame 4 have only that.
sed_bounds() { sed 's/^symbol frame=\([34]\) from=0 level=0 .*/symbol frame=\1 from=0 level=0 source=bounds name=5 offset=9 file=0 line=0/
	/^symbol frame=3 from=0 level=1/d; /^string id=1 /i string id=5 text="[app+0x1200]"'; }
inlined | sed_bounds | cprof-dump -r >"$tmp/bounds.bin"
is "where a function begins is no name, but a row" "$(top -v "$tmp/bounds.bin" | grep -c '^Unresolved: 27.27%\|^ *3 .* \[app+0x1200\]$')" 2
is "  and the place of all its samples in folded text" "$(cprof-fold "$tmp/bounds.bin" | grep -F '[')" "app;main;[app+0x1200] 3"
is "  of the file that it lies in, where two have one base name" "$(
	{ inlined | sed_bounds; inlined | sed_bounds | sed 's|/usr/bin/app|/opt/app|; s/build-id=01/build-id=02/'; } |
		cprof-dump -r | top | rows | grep "[[]..*+0x" | tr '\n' ,)" \
	"3 3 [bin/app+0x1200],3 3 [opt/app+0x1200],"
cprof-diff "$tmp/bounds.bin" "$tmp/a.bin" >/dev/null 2>"$tmp/err"
is "  cprof-diff says that they compare as places" "$(sed "s|$tmp/||g" "$tmp/err")" \
	"cprof-diff: 27% of bounds.bin and 0% of a.bin end in code without a name, which is compared only by its place in the file"

# The reasons: 20 samples, 14 of them in frames without a name
cp "$tests/fuzz/corpus/profile-reasons" "$tmp/w.txt"
cprof-dump -r "$tmp/w.txt" >"$tmp/w.bin"
why() { top "$@" | sed -n '/^Unresolved/,/^[^ U]/p' | sed '$d' | tr -s ' '; }
why -v "$tmp/w.bin" >"$tmp/got"
cat >"$tmp/want" <<'X'
Unresolved: 70.00% of innermost frames
 15.00% 3 in /lib/gone.so (no-file)
 15.00% 3 in /usr/bin/app (no-symbol)
 10.00% 2 in /lib/stripped.so (stripped)
 10.00% 2 in [kernel] (no kernel symbols were recorded)
 5.00% 1 in /lib/other:.so (build-id-mismatch)
 5.00% 1 in [anon] (not-a-file)
 5.00% 1 in [heap] (not-a-file)
 5.00% 1 in [unknown] (nothing was mapped there)
X
same "why innermost frames have no name, with -v all" "$tmp/want" "$tmp/got"
is "  none without" "$(why "$tmp/w.bin")" ""
is "  they add up to what is unresolved" "$(sed 1d "$tmp/want" | awk '{ n += $2 } END { print n }')" 14
top -v "$tmp/w.bin" >"$tmp/got"
is "  in columns below it" "$(grep -n -A1 '^Unresolved' "$tmp/got" | sed 's/^[0-9]*[:-]//' | tail -1)" \
	"             15.00%          3 in /lib/gone.so (no-file)"
cat "$tmp/w.bin" "$tmp/w.bin" >"$tmp/ww.bin"
why -v "$tmp/ww.bin" | head -3 >"$tmp/got"
cat >"$tmp/want" <<'X'
Unresolved: 70.00% of innermost frames
 15.00% 6 in /lib/gone.so (no-file)
 15.00% 6 in /usr/bin/app (no-symbol)
X
same "  over segments" "$tmp/want" "$tmp/got"
why -v "$tmp/w.bin" "$tmp/w.bin" | head -3 >"$tmp/got"
same "  and over operands" "$tmp/want" "$tmp/got"
sed '/^source file=2/d' "$tmp/w.txt" | cat "$tmp/w.txt" - | cprof-dump -r >"$tmp/wx.bin"
is "  what was said in a segment holds there" "$(why -v "$tmp/wx.bin" | grep gone.so | tr '\n' ,)" \
	" 7.50% 3 in /lib/gone.so (no-file), 7.50% 3 in /lib/gone.so (not looked for),"
is "  those looked at count" "$(why -v -K "$tmp/w.bin" | tr '\n' ,)" \
	"Unresolved: 100.00% of innermost frames, 100.00% 2 in [kernel] (no kernel symbols were recorded),"
sed '/^end/i jitmap time=1500000000 process=1 generation=0 data=""' "$tmp/w.txt" | cprof-dump -r >"$tmp/j.bin"
like "  code of a JIT compiler" "$(why -v "$tmp/j.bin")" '^ 5.00% 1 in \[jit\] \(no-symbol\)$'
sed 's/^source file=4 status=build-id-mismatch/source file=4 status=77/' "$tmp/w.txt" | cprof-dump -r >"$tmp/n.bin"
like "  a status that this version does not know" "$(why -v "$tmp/n.bin")" '^ 5.00% 1 in /lib/other:.so \(a reason unknown to this version\)$'
grep -v '^source' "$tmp/w.txt" | cprof-dump -r >"$tmp/raw.bin"
is "of a capture that nobody looked for names in nothing is said" "$(why -v "$tmp/raw.bin")" "Unresolved: 70.00% of innermost frames"
done_testing
