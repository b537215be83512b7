#!/bin/sh
# cprof-diff: several captures a side, the verdict as an exit status, rows for programs, and hostile input
. "$(dirname "$0")/../lib/lib.sh"

d() { cprof-diff "$@" 2>"$tmp/err"; }
said() { sed "s|$tmp/||g" "$tmp/err"; }
sides() { d "$@" | sed -n 's/^\([AB]\): /\1 /p' | sed "s|$tmp/||g" | tr '\n' ,; }

printf '%s\n' 'a;main;parse 200' 'a;main;run 800' >"$tmp/a"
printf '%s\n' 'a;main;parse 400' 'a;main;run 600' >"$tmp/b"
printf '%s\n' 'a;main;parse 210' 'a;main;run 790' >"$tmp/c"
printf '%s\n' 'a;main;parse 190' 'a;main;run 810' >"$tmp/d"

# Operands
is "two operands" "$(sides "$tmp/a" "$tmp/b")" "A a, 1000 samples,B b, 1000 samples,"
is "several, with -- between" "$(sides "$tmp/a" "$tmp/c" -- "$tmp/b")" "A a and 1 more, 2000 samples,B b, 1000 samples,"
is "  options may stand behind" "$(sides "$tmp/a" -n 3 "$tmp/c" "$tmp/d" -- "$tmp/b" "$tmp/b")" \
	"A a and 2 more, 3000 samples,B b and 1 more, 2000 samples,"
is "--before and --after" "$(sides --after "$tmp/b" --before "$tmp/a" --before "$tmp/c")" \
	"A a and 1 more, 2000 samples,B b, 1000 samples,"
is "-- before two operands says nothing" "$(sides -n 3 -- "$tmp/a" "$tmp/b")" "A a, 1000 samples,B b, 1000 samples,"
is "one of several may be standard input" "$(sides "$tmp/a" - -- "$tmp/b" <"$tmp/c")" "A a and 1 more, 2000 samples,B b, 1000 samples,"
usage() { status "usage: $1" 2 cprof-diff $2; like "  says why" "$(cat "$tmp/err")" "$3"; }
usage "no operand" "" "two operands are required"
usage "one" "$tmp/a" "two operands are required"
usage "three" "$tmp/a $tmp/b $tmp/c" '"--" between those before and those after'
usage "nothing behind --" "$tmp/a $tmp/b $tmp/c --" "two operands are required"
usage "nothing before --" "-- $tmp/a $tmp/b $tmp/c" "two operands are required"
usage "one side" "--before $tmp/a" "require each other"
usage "operands besides" "--before $tmp/a --after $tmp/b $tmp/c" "take no operands"
usage "standard input twice" "$tmp/a - -- - $tmp/b" "not both"
usage "--fail-above nothing" "--fail-above x $tmp/a $tmp/b" "expected a percentage from 0 to 100"
usage "--fail-above nan" "--fail-above nan $tmp/a $tmp/b" "expected a percentage from 0 to 100"
usage "-o of another kind" "-o xml $tmp/a $tmp/b" "expected table, tsv, ndjson, json, md or FILE"
usage "--folded has no verdict" "--folded --fail-above 1 $tmp/a $tmp/b" "--fail-above and --folded are mutually exclusive"
usage "nor has --no-normalize" "--no-normalize --significant $tmp/a $tmp/b" "--significant and --no-normalize are mutually exclusive"

# Rows
d "$tmp/a" "$tmp/b" | sed "s|$tmp/||" >"$tmp/got"
cat >"$tmp/want" <<'X'
A: a, 1000 samples
B: b, 1000 samples
2 of 3 functions changed, at a false-discovery rate of 5 %
intervals are adjusted for all 3 tests, so that those without ~ exclude 0
chance is estimated as for independent samples: bursts are unknown, because folded text has no time
growth that would be detected in 4 of 5 cases: 1.82 points from 1 %, 4.34 points from 10 %
shares add up to 100 %: a function that grew makes others shrink; --no-normalize compares weights
3 of 3 rows shown, in percent of each side; ~ may be chance

 flat A  flat B   change  [adjusted]           cum A   cum B   change  [adjusted]
 20.00%  40.00%   +20.00  [+15.70, +24.20]    20.00%  40.00%   +20.00  [+15.70, +24.20]         parse
 80.00%  60.00%   -20.00  [-24.20, -15.70]    80.00%  60.00%   -20.00  [-24.20, -15.70]         run
  0.00%   0.00%    +0.00 ~[-0.45, +0.45]     100.00% 100.00%    +0.00 ~[-0.45, +0.45]           main
X
same "what changed comes first, what may be chance is marked" "$tmp/want" "$tmp/got"
is "--significant" "$(d --significant "$tmp/a" "$tmp/b" | sed '1,/^ flat/d' | awk '{ print $NF }' | tr '\n' ' ')" "parse run "
is "  nothing" "$(d --significant "$tmp/a" "$tmp/c" | tail -3 | sed 's/;.*//')" "0 of 3 rows shown, in percent of each side

 flat A  flat B   change  [adjusted]           cum A   cum B   change  [adjusted]"
is "a small change is chance" "$(d "$tmp/a" "$tmp/c" | grep -c '~\[')" 3
is "several runs tell what they vary by" "$(d "$tmp/a" "$tmp/c" "$tmp/d" -- "$tmp/b" "$tmp/b" "$tmp/b" | grep ^chance)" \
	"chance is estimated from the differences between the captures of a side"
is "  that may be all of a difference" "$(d -o tsv "$tmp/a" "$tmp/b" "$tmp/a" -- "$tmp/b" "$tmp/b" "$tmp/a" | cut -f1,2 | tr '\n\t' ' =')" \
	"name=changed parse=0 run=0 main=0 "
is "  or nothing of it" "$(d -o tsv "$tmp/a" "$tmp/c" "$tmp/d" -- "$tmp/b" "$tmp/b" "$tmp/b" | cut -f1,2 | tr '\n\t' ' =')" \
	"name=changed parse=1 run=1 main=0 "

# Status
status "--fail-above: growth" 5 cprof-diff --fail-above 20 "$tmp/a" "$tmp/b"
is "  is told" "$(said)" "cprof-diff: parse grew by 20.00 points (--fail-above 20)"
ok "  beside the table" grep -q '^2 of 3 functions changed' "$tmp/out"
status "  with a percent sign" 5 cprof-diff --fail-above 20% "$tmp/a" "$tmp/b"
status "  less growth than that" 0 cprof-diff --fail-above 20.1 "$tmp/a" "$tmp/b"
is "  is not" "$(said)" ""
status "  chance" 0 cprof-diff --fail-above 0.5 "$tmp/a" "$tmp/c"
like "  of which too little is seen" "$(said)" '--fail-above 0\.5: growth of a function of 1 % cannot be detected reliably below 2\.03 points'
status "  what shrank" 0 cprof-diff --fail-above 2 -o tsv --match run "$tmp/b" "$tmp/b"
status "  rows for programs too" 5 cprof-diff --fail-above 5 -o tsv "$tmp/a" "$tmp/b"
printf 'a;main;parse 200\na;main;parse;x 200\na;main;run 600\n' >"$tmp/e"
status "  a caller grows by what it calls" 5 cprof-diff --fail-above 20 "$tmp/a" "$tmp/e"
is "  and more are told" "$(said)" "cprof-diff: x grew by 20.00 points, and others grew, too (--fail-above 20)"
{ cat "$tmp/b"; echo "a;broken"; } >"$tmp/damaged"
status "  damage is told first" 3 cprof-diff --fail-above 20 "$tmp/a" "$tmp/damaged"
status "damage in one of several" 3 cprof-diff "$tmp/a" "$tmp/damaged" -- "$tmp/b" "$tmp/b"
is "  names the file" "$(said | tail -1)" "cprof-diff: damaged: line 3: no count after the last space"
status "a full disk" 1 sh -c 'exec "$@" >/dev/full' sh cprof-diff "$tmp/a" "$tmp/b"
status "  with rows" 1 sh -c 'exec "$@" >/dev/full' sh cprof-diff -o tsv "$tmp/a" "$tmp/b"

# A gate that saw no samples has judged nothing.
: >"$tmp/none"
echo 'a;main;parse 0' >"$tmp/zero"
status "--fail-above: options that leave no sample" 2 cprof-diff --fail-above 5 --match nosuch "$tmp/a" "$tmp/b"
there='; no name matches --match "nosuch"; heaviest: run (70 %), parse (30 %)'
is "  are told for each side, and what there is" "$(said)" \
	"cprof-diff: 0 samples of a are compared: the options exclude all that it has$there
cprof-diff: 0 samples of b are compared: the options exclude all that it has"
like "  and in the table" "$(cat "$tmp/out")" '^no test: A and B have no samples'
unlike "  which promises nothing" "$(cat "$tmp/out")" 'growth that would be seen'
status "  a misspelt command" 2 cprof-diff --fail-above 5 --comm typo "$tmp/a" "$tmp/b"
echo 'a;main;run 9' >"$tmp/run"
status "  of one side" 2 cprof-diff --fail-above 5 --match parse "$tmp/a" "$tmp/run"
is "    it alone is told" "$(said)" "cprof-diff: 0 samples of run are compared: the options exclude all that it has"
status "  no sample to begin with" 3 cprof-diff --fail-above 5 "$tmp/a" "$tmp/none"
like "    is told too" "$(said)" '^cprof-diff: 0 samples of none are compared: it has none$'
like "    and in the table" "$(cat "$tmp/out")" '^no test: B has no samples'
status "    nor a count" 3 cprof-diff --fail-above 5 "$tmp/zero" "$tmp/a"
status "  rows for programs likewise" 2 cprof-diff --fail-above 5 -o tsv --match nosuch "$tmp/a" "$tmp/b"
status "  without a gate it is said alone" 0 cprof-diff --match nosuch "$tmp/a" "$tmp/b"
like "    in the same words" "$(said)" \
	'0 samples of a are compared: the options exclude all that it has; no name matches'
printf 'a;f 1\n' >"$tmp/f"
status "a gate that can see nothing" 0 cprof-diff --fail-above 5 "$tmp/f" "$tmp/f"
like "  says so, without a number" "$(said)" '^cprof-diff: --fail-above 5: growth of a function of 1 % cannot be detected; more samples would help$'

# Rows for programs
d -o tsv "$tmp/a" "$tmp/b" >"$tmp/got"
is "-o tsv: columns" "$(head -1 "$tmp/got" | tr '\t' ' ')" "name changed flat_a flat_b flat_a_percent flat_b_percent flat_change flat_low flat_high flat_p flat_q flat_seen cum_a cum_b cum_a_percent cum_b_percent cum_change cum_low cum_high cum_p cum_q cum_seen"
is "  each row has all" "$(awk -F '\t' '{ print NF }' "$tmp/got" | sort -u)" 22
is "  weights, shares, change, interval" "$(sed -n 2p "$tmp/got" | cut -f 1-9 | tr '\t' ' ')" "parse 1 200 400 20 40 20 16.0411 23.8729"
is "  p" "$(sed -n 2p "$tmp/got" | cut -f 10)" "$(python3 -c '
import math
z = .2 / math.sqrt(.3 * .7 * 2 / 1000)
print("%.6g" % math.erfc(z / math.sqrt(2)))')"
is "  rows are all, unless -n says so" "$(awk 'BEGIN { for (i = 0; i < 30; i++) print "a;f" i " 5" }' >"$tmp/many"
	for n in '' '-n 7'; do d -o tsv $n "$tmp/many" "$tmp/many" | wc -l; done | tr '\n' ' ')" "31 8 "
if d -o json "$tmp/a" "$tmp/b" >"$tmp/got"; then
	is "-o json says the same" "$(python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))
print(len(rows), len(rows[0]), rows[0]["name"], rows[0]["changed"], rows[0]["flat_b"], rows[2]["name"])' "$tmp/got")" "3 22 parse 1 400 main"
	is "-o ndjson too" "$(d -o ndjson "$tmp/a" "$tmp/b" | python3 -c '
import json, sys
print([json.loads(line)["name"] for line in sys.stdin])')" "['parse', 'run', 'main']"
else
	like "-o json" "$(said)" "ndjson and json are not available: built without jansson"
	skip "-o ndjson" "ndjson and json are not available: built without jansson"
fi

# Hostile input
python3 - "$tmp/h1" "$tmp/h2" <<'X'
import sys
names = [b"</script>", b'"quoted"', b"tab\there", b"\xff\xfe", b"x" * 10000, b"operator()(int, char)", b"$(id)", b"%s%n", b"\\"]
for path, count in zip(sys.argv[1:], (3, 300)):
    with open(path, "wb") as out:
        for i, n in enumerate(names):
            out.write(b"a;" + n + b" %d\n" % (count * (i + 1)))
X
ok "hostile names: a table" d "$tmp/h1" "$tmp/h2"
is "  rows stay rows" "$(d -o tsv "$tmp/h1" "$tmp/h2" | awk -F '\t' 'NF != 22 { print }' | wc -l)" 0
if d -o json "$tmp/h1" "$tmp/h2" >"$tmp/got"; then
	ok "  JSON stays JSON" python3 -c 'import json, sys; assert len(json.load(open(sys.argv[1]))) == 9' "$tmp/got"
fi
echo 'a;b 1' >"$tmp/one"
: >"$tmp/none"
is "one sample against another" "$(d -o tsv "$tmp/one" "$tmp/one" | sed 1d | cut -f 1,2,10 | tr '\t' ' ')" "b 0 1"
status "one sample against none" 0 cprof-diff "$tmp/one" "$tmp/none"
like "  changed nothing" "$(cat "$tmp/out")" '^0 of 1 functions changed'
status "none against none" 3 cprof-diff "$tmp/none" "$tmp/none"
awk 'BEGIN { for (i = 0; i < 60000; i++) print "root" i " 1" }' >"$tmp/roots"
is "60,000 roots" "$(d -o tsv "$tmp/roots" "$tmp/roots" | wc -l)" 60001
echo 'a;b 18446744073709551615' >"$tmp/huge"
status "the largest count" 0 cprof-diff "$tmp/huge" "$tmp/a"
# A sample at the end of time, and captures one after the other: blocks and runs of any shape
capture() {
	cat <<X
segment major=1 minor=0 least=1
event id=1 name="cpu-clock" unit="ns" period=1000 millihertz=99000
flush
process id=1 time=10 pid=4 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=10 process=1 tid=4
comm time=10 thread=1 comm="db"
frame id=1 process=1 kind=exact address=0x10
node id=16 parent=0 frame=1
sample time=100 event=1 cpu=0 thread=1 user=16 kernel=0 weight=1000
sample time=$1 event=1 cpu=0 thread=1 user=16 kernel=0 weight=3000
end time=$1 reason=closed samples=2
flush
X
}
capture 9000000000000000000 | cprof-dump -r >"$tmp/far.bin"
capture 200 | cprof-dump -r >"$tmp/near.bin"
cat "$tmp/far.bin" "$tmp/near.bin" "$tmp/far.bin" >"$tmp/three.bin"
status "a sample at the end of time" 0 cprof-diff "$tmp/far.bin" "$tmp/far.bin"
status "  and a capture of no length" 0 cprof-diff "$tmp/far.bin" "$tmp/near.bin"
like "    of which no bursts are known" "$(cat "$tmp/out")" "because the compared part of a capture is shorter than a second"
status "  and captures one after the other" 0 cprof-diff "$tmp/three.bin" "$tmp/near.bin"
like "    are runs" "$(cat "$tmp/out")" "^chance is estimated from the differences between the captures of a side"
for by in 'process processes' 'language languages' 'container containers' 'label.x labels'; do
	like "--by ${by% *}: rows are called" "$(d --by ${by% *} "$tmp/near.bin" "$tmp/near.bin")" "^0 of 1 ${by#* } changed"
done
# A file's name must not control the terminal.
odd="$tmp/$(printf 'x\n\033[31mB')"
cp "$tmp/a" "$odd"
is "control characters in a file's name: the table" "$(d "$odd" "$tmp/b" | sed -n '1,2s|'"$tmp/"'||p')" "A: x??[31mB, 1000 samples
B: b, 1000 samples"
rm "$odd"
d "$tmp/a" "$odd" >"$tmp/out"
is "  and what is said" "$(said)" "cprof-diff: x\\x0a\\x1b[31mB: No such file or directory"
is "the same twice is the same" "$(d -o tsv "$tmp/h1" "$tmp/h2" | cksum)" "$(d -o tsv "$tmp/h1" "$tmp/h2" | cksum)"
# A file that counts twice, under whatever name
ln "$tmp/a" "$tmp/link"
is "a file on both sides is told" "$(cprof-diff "$tmp/a" "$tmp/link" 2>&1 >/dev/null)" "cprof-diff: $tmp/link: the same file on both sides"
is "  and twice on one side" "$(cprof-diff "$tmp/a" "$tmp/a" -- "$tmp/b" 2>&1 >/dev/null)" "cprof-diff: $tmp/a: the same file twice on one side"
is "  not a copy" "$(cp "$tmp/a" "$tmp/copy"; cprof-diff "$tmp/a" "$tmp/copy" 2>&1 >/dev/null)" ""
done_testing
