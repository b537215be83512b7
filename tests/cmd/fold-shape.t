#!/bin/sh
# Profiles that are filtered, cut, reversed and thinned out, against twenty lines of Python that do it
# stack by stack
. "$(dirname "$0")/../lib/lib.sh"

fold() { cprof-fold "$@" 2>"$tmp/err" | tr '\n' ,; }

printf '%s\n' 'a;main;work;work;leaf 5' 'a;main;work;io 3' 'a;main;idle 2' 'b;start;main;work 7' 'b;start 1' >"$tmp/a"
is "--focus: stacks that hold it" "$(fold --focus '^work$' "$tmp/a")" "a;main;work;io 3,a;main;work;work;leaf 5,b;start;main;work 7,"
is "--match and --focus: both" "$(fold --match start --focus '^work$' "$tmp/a")" "b;start;main;work 7,"
is "--exclude: stacks that do not" "$(fold --exclude '^work$' "$tmp/a")" "a;main;idle 2,b;start 1,"
is "--focus and --exclude" "$(fold --focus '^work$' --exclude 'leaf|start' "$tmp/a")" "a;main;work;io 3,"
is "--base: from the outermost such frame on" "$(fold --base '^work$' "$tmp/a")" "work 7,work;io 3,work;work;leaf 5,"
is "  stacks of different callers meet" "$(fold --base main "$tmp/a")" "main;idle 2,main;work 7,main;work;io 3,main;work;work;leaf 5,"
is "--collapse-recursion" "$(fold --collapse-recursion "$tmp/a")" "a;main;idle 2,a;main;work;io 3,a;main;work;leaf 5,b;start 1,b;start;main;work 7,"
is "--reverse" "$(fold --reverse "$tmp/a")" "idle;main;a 2,io;work;main;a 3,leaf;work;work;main;a 5,start;b 1,work;main;start;b 7,"
is "--min: what has less goes into [other]" "$(fold --min 17 "$tmp/a")" "a;main;[other] 2,a;main;work;[other] 3,a;main;work;work;leaf 5,b;start 1,b;start;main;work 7,"
is "  with a percent sign" "$(fold --min 17.0% "$tmp/a")" "$(fold --min 17 "$tmp/a")"
is "  everything, if need be" "$(fold --min 100 "$tmp/a")" "[other] 18,"
is "  and again changes nothing" "$(cprof-fold --min 17 "$tmp/a" | fold --min 17)" "$(fold --min 17 "$tmp/a")"

# Names of compilers and virtual machines
norm() { printf '%s 1\n' "$1" | cprof-fold --norm | sed 's/ 1$//'; }
while IFS='|' read -r name want; do
	is "--norm $name" "$(norm "$name")" "$want"
done <<'T'
foo.llvm.123456789|foo
foo.llvm.123.cold|foo.cold
foo.isra.0|foo.isra.?
foo.constprop.12.isra.0.cold.3_[k]|foo.constprop.?.isra.?.cold.?_[k]
foo.part.0 (x.c:12)|foo.part.? (x.c:12)
foo.part|foo.part
foo.cold|foo.cold
state.__uniq.1234.llvm.5|state
core::ptr::drop::h0123456789abcdef|core::ptr::drop
core::ptr::drop::h0123456789abcdef_[i]|core::ptr::drop_[i]
a::h0123456789abcdef::b|a::h0123456789abcdef::b
lambda$123|lambda$?
Main.lambda$main$0|Main.lambda$main$?
Task$$Lambda$14/0x0000000800c03.run|Task$$Lambda$?/0x?.run
Task$$Lambda$14/1435229983.run|Task$$Lambda$?/?.run
Foo$1.run|Foo$1.run
com.sun.proxy.$Proxy17.x|com.sun.proxy.$Proxy?.x
jdk.internal.reflect.GeneratedMethodAccessor9.invoke|jdk.internal.reflect.GeneratedMethodAccessor?.invoke
0xffffffff81000000|0x?
[libx.so+0x1f]|[libx.so+0x1f]
[libx.so.6+0x1f]|[libx.so.6+0x1f]
color0x12|color0x12
x .llvm.3|x
.llvm.3|.llvm.3
operator new[](unsigned long)|operator new[](unsigned long)
T
is "--norm makes equal stacks meet" "$(printf '%s\n' 'a;f.llvm.1;x 1' 'a;f.llvm.2;x 2' 'a;f;x 4' | fold --norm)" "a;f;x 7,"
is "  and expressions see what is left" "$(printf '%s\n' 'a;f.llvm.1;x 1' 'a;g.llvm.2;x 2' | fold --norm --focus '^f$')" "a;f;x 1,"

# Everything at once
cat >"$tmp/shape.py" <<'P'
import re, sys
o = dict(a.split('=', 1) for a in sys.argv[1:])
stacks = {}
for line in sys.stdin:
	s, n = line.rsplit(' ', 1)
	f = s.split(';')
	if 'norm' in o: f = [re.sub(r'\.llvm\.[0-9]+', '', re.sub(r'(\.isra\.)[0-9]+', r'\1?', x)) for x in f]
	hold = lambda k: any(re.search(o[k], x) for x in f)
	if 'match' in o and not hold('match') or 'focus' in o and not hold('focus') or 'exclude' in o and hold('exclude'): continue
	if 'base' in o:
		if not hold('base'): continue
		while not re.search(o['base'], f[0]): f.pop(0)
	if 'collapse-recursion' in o: f = [x for i, x in enumerate(f) if i == 0 or x != f[i - 1]]
	if 'reverse' in o: f.reverse()
	stacks[tuple(f)] = stacks.get(tuple(f), 0) + int(n)
if 'min' in o:
	total, below, old, stacks = sum(stacks.values()), {}, stacks, {}
	for f, n in old.items():
		for i in range(len(f)): below[f[:i + 1]] = below.get(f[:i + 1], 0) + n
	for f, n in old.items():
		for i in range(len(f)):
			if below[f[:i + 1]] * 100 < float(o['min']) * total:
				f = f[:i] + ('[other]',)
				break
		stacks[f] = stacks.get(f, 0) + n
for s, n in sorted((';'.join(f), n) for f, n in stacks.items()): print(s, n)
P
awk 'BEGIN { srand(11); for (i = 0; i < 4000; i++) { s = "comm" int(rand() * 3); d = int(rand() * 12); for (k = 0; k < d; k++) { if (rand() < .7) x = "f" int(rand() * rand() * 30) (rand() < .1 ? ".isra." int(rand() * 3) : rand() < .1 ? ".llvm." int(rand() * 99) : ""); s = s ";" x } print s, 1 + int(rand() * 9) } }' >"$tmp/r"
cprof-fold "$tmp/r" >"$tmp/all"
while IFS= read -r options; do
	eval "cprof-fold $(echo "$options" | sed 's/[^ ]*/--&/g') $tmp/all" >"$tmp/got" 2>"$tmp/err"
	eval "python3 $tmp/shape.py $(echo "$options" | sed 's/\([a-z]\)\( \|$\)/\1=\2/g; s/=\([^ =]*\)=/=\1/g')" <"$tmp/all" | sort >"$tmp/want"
	sort "$tmp/got" >"$tmp/sorted"
	ok "$options: something is left" test -s "$tmp/got"
	same "  and is what Python makes of it" "$tmp/want" "$tmp/sorted"
done <<'T'
norm
base=f3
collapse-recursion
reverse
min=0.5
norm collapse-recursion
focus=f2 exclude=f1 base=f[0-5]$
norm match=comm1 focus=^f1 collapse-recursion reverse min=0.25
exclude=isra base=f collapse-recursion min=1
T
is "the order is that of the stacks' bytes" "$(cprof-fold --norm --min 0.1 "$tmp/all" | sed 's/ [0-9]*$//' | sort -c -u 2>&1)" ""

# Two sides: a function is small only if it is small on both, in percent of each.
printf '%s\n' 'a;x 1' 'a;y 99' >"$tmp/l"
printf '%s\n' 'a;x 50' 'a;y 948' 'a;z 2' >"$tmp/b"
is "cprof-diff: --min" "$(cprof-diff --folded --no-normalize --min 5 "$tmp/l" "$tmp/b" | tr '\n' ,)" "a;[other] 0 2,a;x 1 50,a;y 99 948,"
is "  --base and --exclude" "$(cprof-diff --folded --no-normalize --base . --exclude y "$tmp/l" "$tmp/b" | tr '\n' ,)" "a;x 1 50,a;z 0 2,"
like "cprof-top: --focus and --collapse-recursion" "$(cprof-top --focus '^work$' --collapse-recursion "$tmp/a")" '^ +7 +46\.67% .*work$'
ok "moments move along, sums stay: see profile-shape.c" "$BUILD/tests/profile-shape"

awk 'BEGIN { s = "root"; for (i = 0; i < 7000; i++) s = s ";frame" i; print s " 3"; print s ";leaf 4"; print "b 1000" }' >"$tmp/deep"
ok "[other] does not make a line too long" test "$(cprof-fold --min 0.35 "$tmp/deep" | wc -L)" -lt 65536

status "two of a kind are refused" 2 cprof-fold --base a --base b "$tmp/a"
for m in -1 101 x 1%% % ''; do status "--min '$m' is usage" 2 cprof-fold --min "$m" "$tmp/a"; done
status "an expression that is none" 2 cprof-fold --exclude '(' "$tmp/a"
like "  is told by its option" "$(cat "$tmp/err")" '^cprof-fold: invalid --exclude "\(": '
status "cprof-top has no --reverse" 2 cprof-top --reverse "$tmp/a"
like "nothing is left: a sentence" "$(cprof-fold --base nowhere "$tmp/a" 2>&1)" \
	'^cprof-fold: no samples selected, nothing is written; no name matches --base "nowhere"'
done_testing
