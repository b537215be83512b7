#!/bin/sh
# cprof-diff: shares by default, flat and cumulative, vanished and new code, two columns for flamegraph.pl.
. "$(dirname "$0")/../lib/lib.sh"
flamegraph=/usr/share/perl5/Devel/NYTProf/flamegraph.pl

diff_() { cprof-diff "$@" 2>"$tmp/err"; }
# rows: without intervals and their marks
rows() { sed '1,/^ *flat A/d; s/[~ ]\[[-+][0-9][^]]*\]//g' | tr -s ' ' | sed 's/^ //'; }

printf '%s\n' 'a;foo 5' 'a;foo.part.0;z 3' 'a;foo;z 7' >"$tmp/a"
printf '%s\n' 'a;foo 9' 'a;foo;z 7' 'a;foo;y 3' >"$tmp/b"
diff_ "$tmp/a" "$tmp/b" | sed "s|$tmp/||" >"$tmp/got"
cat >"$tmp/want" <<'X'
A: a, 15 samples
B: b, 19 samples
0 of 4 functions changed, at a false-discovery rate of 5 %
intervals are adjusted for all 5 tests, so that those without ~ exclude 0
chance is estimated as for independent samples: bursts are unknown, because folded text has no time
growth that would be detected in 4 of 5 cases: 50.31 points from 1 %, 55.00 points from 10 %
to find smaller changes, record each side three times, or with a higher -F
4 of 4 rows shown, in percent of each side; ~ may be chance

 flat A  flat B   change  [adjusted]           cum A   cum B   change  [adjusted]
 66.67%  36.84%   -29.82 ~[-60.13, +12.60]    66.67%  36.84%   -29.82 ~[-60.13, +12.60]         z
 33.33%  47.37%   +14.04 ~[-26.18, +47.84]    80.00% 100.00%   +20.00 ~[-9.81, +53.19]          foo
  0.00%   0.00%    +0.00 ~[-30.67, +25.88]    20.00%   0.00%   -20.00 ~[-53.19, +9.81]    gone  foo.part.0
  0.00%  15.79%   +15.79 ~[-17.03, +45.20]     0.00%  15.79%   +15.79 ~[-17.03, +45.20]   new   y
X
same "shares of each side, the largest change first" "$tmp/want" "$tmp/got"
diff_ --no-normalize -n 2 "$tmp/a" "$tmp/b" | sed "s|$tmp/||" >"$tmp/got"
cat >"$tmp/want" <<'X'
A: a, 15 samples
B: b, 19 samples
no test: record each side three times, to see what is chance
2 of 4 rows shown, not normalized

    flat A     flat B     change       cum A      cum B     change
         5          9         +4          12         19         +7        foo
         0          3         +3           0          3         +3  new   y
X
same "--no-normalize and -n" "$tmp/want" "$tmp/got"

# Changes that flamegraph.pl's colours do not show: a parent whose callees grew, and code that is gone
printf '%s\n' 'a;parent;x 25' 'a;rest 75' >"$tmp/p"
printf '%s\n' 'a;parent;x 25' 'a;parent;y 75' >"$tmp/q"
diff_ "$tmp/p" "$tmp/q" | rows >"$tmp/got"
printf '%s\n' '75.00% 0.00% -75.00 75.00% 0.00% -75.00 gone rest' '0.00% 75.00% +75.00 0.00% 75.00% +75.00 new y' \
	'0.00% 0.00% +0.00 25.00% 100.00% +75.00 parent' '25.00% 25.00% +0.00 25.00% 25.00% +0.00 x' >"$tmp/want"
same "a parent whose subtree grew has changed" "$tmp/want" "$tmp/got"
is "the same profile at ten times the length has not" \
	"$(sed 's/$/0/' "$tmp/a" >"$tmp/a10"; diff_ "$tmp/a" "$tmp/a10" | rows | awk '$3 != "+0.00" || $6 != "+0.00"')" ""

diff_ --folded --no-normalize "$tmp/a" "$tmp/b" >"$tmp/got"
printf '%s\n' 'a;foo 5 9' 'a;foo.part.0;z 3 0' 'a;foo;y 0 3' 'a;foo;z 7 7' >"$tmp/want"
same "--folded" "$tmp/want" "$tmp/got"
diff_ --folded "$tmp/a" "$tmp/b" >"$tmp/got"
printf '%s\n' 'a;foo 6 9' 'a;foo.part.0;z 4 0' 'a;foo;y 0 3' 'a;foo;z 9 7' >"$tmp/want"
same "  normalized: whole numbers with B's sum" "$tmp/want" "$tmp/got"
awk 'BEGIN { srand(9); for (i = 0; i < 999; i++) print "c;f" int(i / 30) ";g" i, 1 + int(rand() * 4) }' >"$tmp/m"
awk 'BEGIN { srand(8); for (i = 0; i < 777; i++) print "c;f" int(i / 30) ";g" i, 1 + int(rand() * 999) }' >"$tmp/n"
columns() { awk '{ a += $(NF - 1); b += $NF } END { print a, b }' "$@"; }
b=$(awk '{ n += $NF } END { print n }' "$tmp/n")
is "  sums are exact, scaled up" "$(diff_ --folded "$tmp/m" "$tmp/n" | columns)" "$b $b"
a=$(awk '{ n += $NF } END { print n }' "$tmp/m")
is "  and down" "$(diff_ --folded "$tmp/n" "$tmp/m" | columns)" "$a $a"
sort -r "$tmp/m" >"$tmp/m2"
is "  whatever the order of the lines was" "$(diff_ --folded "$tmp/m2" "$tmp/n" | cksum)" "$(diff_ --folded "$tmp/m" "$tmp/n" | cksum)"
is "  no count is further off than one" "$(diff_ --folded "$tmp/m" "$tmp/n" | sed 's/ [0-9]*$//' | cat - "$tmp/m" |
	awk -v r="$b/$a" '{ split(r, x, "/"); s = $0; sub(/ [0-9]+$/, "", s); if (s in v) { d = v[s] - $NF * x[1] / x[2]; if (d > 1 || d < -1) print s, d } else v[s] = $NF }')" ""
: >"$tmp/none"; printf 'x 0\n' >"$tmp/zero"
is "a side without samples" "$(diff_ --folded "$tmp/a" "$tmp/zero" | columns)" "15 0"

if [ -r "$flamegraph" ] && command -v xmllint >/dev/null; then
	diff_ --folded "$tmp/a" "$tmp/b" >"$tmp/got"
	perl "$flamegraph" "$tmp/got" >"$tmp/svg" 2>"$tmp/err"
	is "flamegraph.pl takes two columns" "$(cat "$tmp/err")" ""
	is "  and has B's total" "$(grep -o '<title>all ([0-9,]* samples' "$tmp/svg" | tr -dc 0-9)" 19
	like "  and the differences" "$(cat "$tmp/svg")" 'y \(3 samples, 15.79%; \+15.79%\)'
	ok "  its picture is XML" xmllint --noout "$tmp/svg"
	perl "$flamegraph" --negate "$tmp/got" >"$tmp/svg" 2>"$tmp/err"
	is "  --negate too" "$(cat "$tmp/err")" ""
else
	skip "flamegraph.pl" "libdevel-nytprof-perl or xmllint is not installed"
fi

# Captures, and a capture with text
capture() {
	cat <<X
segment major=1 minor=0 least=1
event id=1 name="cpu-clock" unit="ns" period=1000 millihertz=99000
flush
process id=1 time=10 pid=$1 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=10 process=1 tid=$1
comm time=10 thread=1 comm="db"
frame id=1 process=1 kind=exact address=$2
frame id=2 process=1 kind=exact address=0x20
node id=16 parent=0 frame=1
node id=17 parent=0 frame=2
string id=1 text="main"
string id=2 text="$3"
symbol frame=1 from=0 level=0 source=symtab name=1 offset=0 file=0 line=0
symbol frame=2 from=0 level=0 source=symtab name=2 offset=0 file=0 line=0
sample time=100 event=1 cpu=0 thread=1 user=16 kernel=0 weight=1000
sample time=200 event=1 cpu=0 thread=1 user=17 kernel=0 weight=3000
ledger time=300 cpu=1 outcome=nested count=$4
end time=300 reason=closed samples=2
flush
X
}
capture 4 0x1234 f 0 | cprof-dump -r >"$tmp/a.bin"
capture 5 0x4321 g 2 | cprof-dump -r >"$tmp/b.bin"
diff_ "$tmp/a.bin" "$tmp/b.bin" | rows >"$tmp/got"
printf '%s\n' '50.00% 0.00% -50.00 50.00% 0.00% -50.00 gone f' '0.00% 50.00% +50.00 0.00% 50.00% +50.00 new g' \
	'50.00% 50.00% +0.00 50.00% 50.00% +0.00 main' >"$tmp/want"
same "captures of two processes meet by name" "$tmp/want" "$tmp/got"
is "  losses are told" "$(sed "s|$tmp/||" "$tmp/err")" "cprof-diff: b.bin: 2 samples lost (nested 2)"
is "--weight ns" "$(diff_ --weight ns "$tmp/a.bin" "$tmp/b.bin" | rows | head -1)" "75.00% 0.00% -75.00 75.00% 0.00% -75.00 gone f"
is "--by process" "$(diff_ --by process "$tmp/a.bin" "$tmp/b.bin" | rows)" "100.00% 100.00% +0.00 100.00% 100.00% +0.00 db"
is "--by thread" "$(diff_ --by thread "$tmp/a.bin" "$tmp/b.bin" | rows)" "100.00% 100.00% +0.00 100.00% 100.00% +0.00 db"
is "filters apply to both sides" "$(diff_ --folded --match main "$tmp/a.bin" "$tmp/b.bin")" "db;main 1 1"
cprof-fold "$tmp/b.bin" 2>/dev/null >"$tmp/b.folded"
is "a capture with folded text" "$(diff_ "$tmp/a.bin" "$tmp/b.folded" | rows)" "$(cat "$tmp/want")"

# build PID ADDRESS:BUILD-ID:PATH...: a capture without names, with a sample in each file at that offset
build() {
	printf 'segment major=1 minor=0 least=1\nevent id=1 name="c" unit="ns" period=9 millihertz=9\nflush\n'
	cat <<X
process id=1 time=1 pid=$1 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=1 process=1 tid=$1
comm time=1 thread=1 comm="sh"
X
	shift
	n=0
	for f; do
		n=$((n + 1)) rest=${f#*:}
		cat <<X
file id=$n major=8 minor=1 inode=$n generation=0 build-id=${rest%%:*} path="${rest#*:}"
mapping time=2 process=1 start=0x${n}0000 length=0x2000 offset=0x0 prot=5 file=$n
frame id=$n process=1 kind=exact address=0x${n}0${f%%:*}
node id=$((n + 15)) parent=0 frame=$n
sample time=$((n + 2)) event=1 cpu=0 thread=1 user=$((n + 15)) kernel=0 weight=9
X
	done
	[ -z "${symbol-}" ] || printf 'string id=1 text="main"\nsymbol frame=%d from=0 level=0 source=symtab name=1 offset=0 file=0 line=0\n' $symbol
	printf 'end time=99 reason=closed samples=%d\nflush\n' $n
}
names() { diff_ "$@" | rows | cut -d' ' -f1,2,7- | sort | tr '\n' ,; }
said() { sed "s|$tmp/||g" "$tmp/err"; }

build 1 100:0a:/bin/app 200:0d:/lib/libz.so | cprof-dump -r >"$tmp/p"
build 2 100:0b:/bin/app 200:0d:/lib/libz.so | cprof-dump -r >"$tmp/q"
is "captures without names are compared by place" "$(names "$tmp/p" "$tmp/q")" \
	"50.00% 50.00% [app+0x100],50.00% 50.00% [libz.so+0x200],"
diff_ "$tmp/p" "$tmp/q" >"$tmp/out"
is "  with a word about names, and about builds" "$(said)" "cprof-diff: p and q have no names yet: run cprof-sym first
cprof-diff: app has frames without a name and is a different build in q than in p: their places cannot be compared"
diff_ "$tmp/p" "$tmp/p" >"$tmp/out"
unlike "  which are the same if they are" "$(said)" build
diff_ --by module "$tmp/p" "$tmp/q" >"$tmp/out"
is "  and not for modules, which have names" "$(said)" ""
symbol=1
build 3 100:0a:/bin/app 200:0d:/lib/libz.so | cprof-dump -r >"$tmp/r"
diff_ "$tmp/r" "$tmp/p" >"$tmp/out"
is "one of them without names" "$(said)" "cprof-diff: p has no names yet: run cprof-sym first"
diff_ "$tmp/p" "$tmp/r" >"$tmp/out"
is "  or the other" "$(said)" "cprof-diff: p has no names yet: run cprof-sym first"
diff_ "$tmp/r" "$tmp/r" >"$tmp/out"
is "many frames without a name" "$(said | tail -1)" "cprof-diff: 50% of r and 50% of r end in code without a name, which is compared only by its place in the file"
printf 'sh;main 8\nsh;main;[app+0x128f] 1\n' >"$tmp/s"
printf 'sh;main 7\nsh;main;[app+0x128f] 2\n' >"$tmp/t"
diff_ "$tmp/s" "$tmp/t" >"$tmp/out"
is "  a few are nothing" "$(said)" ""
printf 'sh;main 7\nsh;main;[app+0x128f]_[j] 3\n' >"$tmp/t"
diff_ "$tmp/s" "$tmp/t" >"$tmp/out"
is "  more than before are" "$(said)" "cprof-diff: 11% of s and 30% of t end in code without a name, which is compared only by its place in the file"
symbol=
build 1 100:0a:/b/o1/app 100:0b:/b/o2/app 300:0d:/lib/libz.so | cprof-dump -r >"$tmp/p"
build 2 100:0c:/b/o1/app 100:0b:/b/o2/app 300:0e:/lib/libz.so | cprof-dump -r >"$tmp/q"
is "files of one base name are compared by path" "$(names "$tmp/p" "$tmp/q" | sed 's/33.33%/-/g')" \
	"- - [libz.so+0x300],- - [o1/app+0x100],- - [o2/app+0x100],"
like "  and the builds of each" "$(said)" "libz.so has .* in q than in p, as is 1 other: "
is "  as modules" "$(names --by module "$tmp/p" "$tmp/q" | sed 's/33.33%/-/g')" "- - libz.so,- - o1/app,- - o2/app,"
is "  and in two columns" "$(diff_ --folded "$tmp/p" "$tmp/q")" \
	"$(printf 'sh;%s 1 1\n' '[libz.so+0x300]' '[o1/app+0x100]' '[o2/app+0x100]')"
# Truncated stacks of one side only
ends() { # ROOT...: a capture with a stack for each ROOT, ended that way
	sed '/^node\|^sample/d; s/samples=2/samples='$#'/; /^end/d' "$tmp/ends.txt"
	n=15
	for root; do
		n=$((n + 1))
		printf 'node id=%d parent=%d frame=1\nsample time=%d event=1 cpu=0 thread=1 user=%d kernel=0 weight=1\n' $n "$root" $n $n
	done
	printf 'end time=300 reason=closed samples=%d\nflush\n' $#
}
capture 4 0x1234 f 0 >"$tmp/ends.txt"
ends 0 0 0 7 | cprof-dump -r >"$tmp/p"
ends 1 1 1 1 | cprof-dump -r >"$tmp/q"
ends 1 1 1 14 | cprof-dump -r >"$tmp/r"
diff_ "$tmp/p" "$tmp/q" >"$tmp/out"
is "a side with whole stacks and one without are reported" "$(said)" "cprof-diff: 75% of the user stacks of p are complete and 0% of those of q: frames missing from one side look like changes"
diff_ "$tmp/q" "$tmp/r" >"$tmp/out"
is "  or one with more truncated stacks" "$(said)" "cprof-diff: 0% of the user stacks of q are truncated and 25% of those of r: frames missing from one side look like changes"
cp "$tmp/p" "$tmp/copy"
diff_ "$tmp/p" "$tmp/copy" >"$tmp/out"
is "  not where both have" "$(said)" ""
diff_ -K "$tmp/p" "$tmp/q" >"$tmp/out"
unlike "  not where none is looked at" "$(said)" "user stacks"
is "--truncated has a row for each reason" "$(diff_ --truncated "$tmp/p" "$tmp/r" | rows | cut -d' ' -f4-)" \
	"0.00% 25.00% +25.00 new [truncated: budget]
25.00% 0.00% -25.00 gone [truncated: no-table]
100.00% 100.00% +0.00 main"
is "  as it is in folded text" "$(diff_ --truncated --folded "$tmp/p" "$tmp/r" | tr '\n' ,)" \
	"db;[truncated: budget];main 0 1,db;[truncated: no-table];main 1 0,db;main 3 3,"
build 1 100:0a:/v1/app | cprof-dump -r >"$tmp/p"
build 1 100:0b:/v2/app | cprof-dump -r >"$tmp/q"
is "one on each side is before and after" "$(names --by module "$tmp/p" "$tmp/q")" "100.00% 100.00% app,"
head -c $(($(wc -c <"$tmp/b.bin") - 9)) "$tmp/b.bin" >"$tmp/cut"
status "a cut capture is status 3" 3 cprof-diff "$tmp/a.bin" "$tmp/cut"
like "  and what is good is shown" "$(cat "$tmp/out")" '^A: .*, 2 samples'

i=0
for weights in '311 264' '388 582' '46 69' '273 218' '368 312'; do
	i=$((i + 1))
	printf 'a;f%d %d\n' $i ${weights% *} >&3
	printf 'a;f%d %d\n' $i ${weights#* } >&4
done 3>"$tmp/near.a" 4>"$tmp/near.b"
diff_ "$tmp/near.a" "$tmp/near.b" >"$tmp/got"
like "an interval that excludes 0 does not show 0 as its bound" "$(cat "$tmp/got")" \
	' \+1\.46  \[>0, \+2\.93\] .* f3$'
like "what grew makes others shrink, which is said" "$(cat "$tmp/got")" '^shares add up to 100 %'
done_testing
