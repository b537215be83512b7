#!/bin/sh
# cprof-flame --diff: both sides of each box, differences explained by chance, vanished and new code
. "$(dirname "$0")/../lib/lib.sh"

block() { "$here/flame-block.py" "$@"; }
flame() { cprof-flame "$@" 2>"$tmp/err"; }

# draw SEED N [CHANGE]: N samples of one profile of 120 functions. CHANGE: an awk expression for the path,
# which plants a change.
draw() {
	awk -v seed="$1" -v n="$2" "BEGIN { srand(3)
		for (i = 0; i < 300; i++) { p = \"app;main\"; d = 1 + int(rand() * 6); for (k = 0; k < d; k++) p = p \";f\" int(rand() * rand() * 120); path[i] = p; w[i] = all += rand() ^ 4 }
		srand(seed)
		for (s = 0; s < n; s++) { r = rand() * all; lo = 0; hi = 299; while (lo < hi) { m = int((lo + hi) / 2); if (w[m] < r) lo = m + 1; else hi = m }
			c[${3:-path[lo]}]++ }
		for (p in c) print p, c[p] }"
}

printf '%s\n' 'a;foo 5' 'a;foo.part.0;z 3' 'a;foo;z 7' 'a;old_[k] 4' >"$tmp/a"
printf '%s\n' 'a;foo 6' 'a;foo.part.0;z 3' 'a;foo;z 2' 'b;new 1' >"$tmp/b"
flame --diff "$tmp/a" "$tmp/b" >"$tmp/ab.html"
cat >"$tmp/want" <<'X'
a 0 0 19 11 0
a;foo 5 6 12 8 0
a;foo;z 7 2 7 2 0
a;foo.part.0 0 0 3 3 0
a;foo.part.0;z 3 3 3 3 0
a;old 4 0 4 0 0
b 0 0 0 1 0
b;new 0 1 0 1 0
X
block boxes "$tmp/ab.html" >"$tmp/got"
same "boxes have both sides, gone ones too; so few samples are chance" "$tmp/want" "$tmp/got"
is "  the sides have names" "$(block head "$tmp/ab.html" | sed -n 2p)" "texts|Change of a||samples|$tmp/a|$tmp/b"
is "  it is flagged" "$(block head "$tmp/ab.html" | sed -n 1p)" "flags 9"
is "--negate: the first one is after" "$(flame --diff --negate "$tmp/a" "$tmp/b" | block head | sed -n 2p)" \
	"texts|Change of a||samples|$tmp/b|$tmp/a"
is "  " "$(flame --diff --negate "$tmp/a" "$tmp/b" | block boxes | sed -n 3p)" "a;foo;z 2 7 2 7 0"

# Text with two columns
draw 1 6000 >"$tmp/a"; draw 2 4000 'path[lo] ~ /f1[0-9];/ && rand() < .5 ? "app;main;planted;new" : path[lo]' >"$tmp/b"
flame --diff "$tmp/a" "$tmp/b" | block boxes >"$tmp/want"
cprof-diff --folded --no-normalize "$tmp/a" "$tmp/b" >"$tmp/ab"
flame "$tmp/ab" >"$tmp/ab.html"; block boxes "$tmp/ab.html" >"$tmp/got"
same "text with two counts a line is the same" "$tmp/want" "$tmp/got"
is "  its sides are before and after" "$(block head "$tmp/ab.html" | sed -n 2p)" "texts|Change of app||samples|before|after"
cut -d' ' -f1-5 "$tmp/got" >"$tmp/five"; "$here/flame-brute.py" 2 <"$tmp/ab" >"$tmp/want"
same "  each box, by the plainest means" "$tmp/want" "$tmp/five"
sed 's/^/very long name that has two words 5 /' "$tmp/ab" | flame | block boxes | sed 's/very long name that has two words 5 //' >"$tmp/long"
same "  names with spaces and numbers are names" "$tmp/got" "$tmp/long"
flame --diff --negate <"$tmp/ab" | block boxes | awk '{ print $1, $3, $2, $5, $4 }' >"$tmp/long"
same "  --negate" "$tmp/five" "$tmp/long"
{ cat "$tmp/ab"; echo 'app;x 3'; } >"$tmp/short"
status "a line with one count among them is bad" 3 cprof-flame "$tmp/short"
like "  and told" "$(cat "$tmp/err")" "line [0-9]+: one count where there should be two"
block boxes "$tmp/out" >"$tmp/long"
same "  the others are drawn" "$tmp/got" "$tmp/long"
status "--diff of one profile alone" 3 cprof-flame --diff "$tmp/a"
is "  is no picture" "$(wc -c <"$tmp/out")" 0
like "  and told what is missing" "$(cat "$tmp/err")" 'this is one profile: a second operand is missing, or a second count in each line'
status "text that is no profile" 3 sh -c 'echo foo | cprof-flame --diff'
like "  is told so" "$(cat "$tmp/err")" 'this is not folded text'
status "two columns beside another operand are refused" 3 cprof-flame "$tmp/a" "$tmp/ab"

# Verdicts: a planted change is found, in the function itself and in its callers.
like "a new function is new" "$(grep planted "$tmp/got")" '^app;main;planted;new 0 [0-9]+ 0 [0-9]+ 3$'
like "  and so is its caller, whose self is nothing" "$(grep planted "$tmp/got")" '^app;main;planted 0 0 0 [0-9]+ 3$'
like "what all samples have is no difference" "$(head -3 "$tmp/got")" '^app;main [0-9]+ [0-9]+ 6000 4000 0$'
like "names are judged as well: self and total" "$(block labels "$tmp/ab.html" | grep -E " (new|planted)$")" '^0 3 3 new$'
like "  each by itself" "$(block labels "$tmp/ab.html" | grep -E " (new|planted)$")" '^0 0 3 planted$'
is "  what there is less of" "$(($(awk '$NF == 2 || $NF == 1 || $NF == 4' "$tmp/got" | wc -l) > 0))" 1
cprof-diff -o tsv -n 0 "$tmp/a" "$tmp/b" | awk -F'\t' 'function verdict(a, b, q, change) { return q >= .05 || q == "" ? 0 : !a ? 3 : !b ? 4 : change < 0 ? 1 : 2 }
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ print verdict($at["flat_a"], $at["flat_b"], $at["flat_q"], $at["flat_change"]), verdict($at["cum_a"], $at["cum_b"], $at["cum_q"], $at["cum_change"]), $1 }' |
	sort >"$tmp/want"
block labels "$tmp/ab.html" | awk '$1 != 5 { $1 = ""; sub(/^ /, ""); print }' | sort >"$tmp/names"
same "  with the verdicts of cprof-diff" "$tmp/want" "$tmp/names"
awk '$NF == 1 || $NF == 4 { if ($4 / 6000 <= $5 / 4000) print } $NF == 2 || $NF == 3 { if ($4 / 6000 >= $5 / 4000) print }
	$NF == 4 && $5 || $NF == 3 && $4' "$tmp/got" >"$tmp/wrong"
is "  each verdict goes the way that the shares went" "$(cat "$tmp/wrong")" ""
# A chain of boxes is many tests among boxes, and few among names.
for n in 270 200; do { echo "a;main;rec;rec;rec;rec;rec;rec;z $n"; for i in $(seq 40); do echo "a;main;f$i 31"; done; } >"$tmp/rec$n"; done
flame --diff "$tmp/rec270" "$tmp/rec200" >"$tmp/rec.html"
is "boxes of all samples of a name have the verdict of the name" "$(block boxes "$tmp/rec.html" | grep rec | cut -d' ' -f2- | sort | uniq -c | tr -s ' ')" \
	" 6 0 0 270 200 0
 1 270 200 270 200 0"
is "  which is cprof-diff's" "$(block labels "$tmp/rec.html" | grep '[cz]$' | tr '\n' ,) $(cprof-diff "$tmp/rec270" "$tmp/rec200" | grep -c '~.* \(rec\|z\)$')" "0 0 0 rec,0 0 0 z, 2"
flagged=0
for seed in 11 12 13 14 15 16 17 18 19 20; do
	draw $seed 3000 >"$tmp/x"; draw ${seed}7 6000 >"$tmp/y"
	flame --diff "$tmp/x" "$tmp/y" >"$tmp/xy.html"
	[ "$(block verdicts "$tmp/xy.html")" = 0 ] || flagged=$((flagged + 1))
done
diag "of 10 pairs of draws from one profile, $flagged have a box or a name that is called changed"
is "two draws from one profile are grey" "$((flagged <= 2))" 1

# The picture
cprof-flame --diff -o svg "$tmp/a" "$tmp/b" >"$tmp/d.svg"
if command -v xmllint >/dev/null; then ok "the picture is valid XML" xmllint --noout "$tmp/d.svg"; else skip "the picture is valid XML" "no xmllint"; fi
like "  tells of both sides" "$(tr '\n' ' ' <"$tmp/d.svg")" '<title>new before 0 samples, 0\.00% after [0-9]+ samples, [0-9.]+% \+[0-9.]+ points, new</title><rect'
is "  of mean width: half of what is new" "$(python3 - "$tmp/d.svg" <<'X'
import re, sys
t = open(sys.argv[1]).read()
w = float(re.search(r'<title>new\n.*?width="([0-9.]+)"', t, re.S).group(1))
share = float(re.search(r'<title>new\n.*?after .*?, ([0-9.]+)%', t, re.S).group(1))
print('yes' if abs(w - 1176 * share / 200) < 1.2 else f'{w} of 1176, share {share}')
X
)" yes
printf 'a;x 100\na;gone 100\n' >"$tmp/p"; printf 'a;x 100\n' >"$tmp/q"
is "  what is gone is hatched, and in the legend" "$(cprof-flame --diff -o svg "$tmp/p" "$tmp/q" | grep -c 'fill="url(#gone)"')" 2
is "  what is new has a corner" "$(cprof-flame --diff -o svg "$tmp/q" "$tmp/p" | grep -c '<path d="M[^>]*fill="#3d434c"')" 2
is "  what is not significant is grey" \
	"$(flame --diff -o svg "$tmp/q" "$tmp/q" | grep "</title><rect" | grep -o 'fill="[^"]*"' | sort -u |
		wc -l)" 1
same "the same bytes again" "$tmp/ab.html" "$(flame "$tmp/ab" >"$tmp/again"; echo "$tmp/again")"

# A side that is the other one is a mistake; the words are those of cprof-diff.
ln -s a "$tmp/link"
flame --diff "$tmp/a" "$tmp/link" >"$tmp/out"
like "a file on both sides is reported" "$(cat "$tmp/err")" \
	"^cprof-flame: $tmp/link: the same file on both sides"
flame --diff "$tmp/a" "$tmp/a" -- "$tmp/b" >"$tmp/out"
like "  and twice on one side" "$(cat "$tmp/err")" "^cprof-flame: $tmp/a: the same file twice on one side"
flame --diff "$tmp/a" "$tmp/b" >"$tmp/out"
is "  and two files are not" "$(cat "$tmp/err")" ""
cp "$tmp/a" "$tmp/copy"
flame --diff "$tmp/a" "$tmp/copy" >"$tmp/out"
changed=$(cprof-diff "$tmp/a" "$tmp/copy" | grep changed)
like "nothing has changed: cprof-diff says so" "$changed" '^0 of [0-9]+ functions changed, at a false'
is "  and cprof-flame in the same words" "$(cat "$tmp/err")" "cprof-flame: $changed"
flame --diff -o svg --no-names "$tmp/a" "$tmp/copy" >"$tmp/out"
is "  for a picture, too" "$(cat "$tmp/err")" "cprof-flame: $changed"

printf 'a;x 0\n' >"$tmp/none"
status "a side without samples" 0 cprof-flame --diff "$tmp/none" "$tmp/q"
is "  makes nothing significant" "$(block boxes "$tmp/out" | tr '\n' ,)" "a 0 0 0 100 0,a;x 0 100 0 100 0,"
for sides in "/dev/null $tmp/q" "$tmp/q /dev/null"; do
	status "an empty side" 0 cprof-flame --diff $sides
	like "  is told" "$(cat "$tmp/err")" 'empty input'
	is "  and the other is drawn" "$(block boxes "$tmp/out" | grep -c '^a;x .*100')" 1
done
status "both are empty" 3 cprof-flame --diff /dev/null /dev/null
done_testing
