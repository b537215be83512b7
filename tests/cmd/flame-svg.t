#!/bin/sh
# cprof-flame -o svg: a picture of the same tree, valid whatever the names are.
. "$(dirname "$0")/../lib/lib.sh"

svg() { cprof-flame -o svg "$@" 2>"$tmp/err"; }
boxes() { "$here/flame-svg.py" "$@"; }
valid() { if command -v xmllint >/dev/null; then ok "$1 is valid XML" xmllint --noout "$2"; else skip "$1 is valid XML" "no xmllint"; fi; }

awk 'BEGIN { srand(4); for (i = 0; i < 400; i++) { s = "c" int(rand() * 3); d = int(rand() * 9)
	for (k = 0; k < d; k++) { r = rand(); s = s ";f" int(rand() * 9) (r < .1 ? ".part.0" : r < .2 ? "_[k]" : "") }
	print s, 1 + int(rand() * 30) * int(rand() * 30) } }' >"$tmp/m"
svg --minwidth 0 "$tmp/m" >"$tmp/m.svg"
valid "the picture" "$tmp/m.svg"
"$here/flame-brute.py" <"$tmp/m" | awk '{ t = $NF; NF -= 2; print $0, t }' >"$tmp/want"
boxes <"$tmp/m.svg" >"$tmp/got"
same "400 random stacks: each box, by where it lies, and its total" "$tmp/want" "$tmp/got"
is "  there are many" "$(($(wc -l <"$tmp/got") > 700))" 1
svg --minwidth 0 --inverted "$tmp/m" | boxes --inverted >"$tmp/got"
same "  with the root at the top too" "$tmp/want" "$tmp/got"
awk 'NR == FNR { all += $NF; next } $NF * 1176 / all >= 3' "$tmp/m" "$tmp/want" >"$tmp/wide"
svg --minwidth 3 "$tmp/m" | boxes >"$tmp/got"
same "--minwidth leaves out what is narrower" "$tmp/wide" "$tmp/got"
svg --minwidth 0.25510204% "$tmp/m" | boxes >"$tmp/got"
same "  as a share of the width, too" "$tmp/wide" "$tmp/got"
for bad in x% -1% 101% % 1%%; do
	status "--minwidth $bad" 2 cprof-flame -o svg --minwidth "$bad" "$tmp/m"
done
like "  and says how many there are" "$(svg --minwidth 3 "$tmp/m")" '<title>[0-9]+ too narrow to be drawn</title>'
sort -R --random-source=/dev/zero "$tmp/m" | svg --minwidth 0 >"$tmp/m2.svg"
same "the same bytes in whatever order the lines come" "$tmp/m.svg" "$tmp/m2.svg"

printf '%s\n' 'a;foo 5' 'a;foo.part.0;z 3' 'a;foo;z 7' >"$tmp/split"
is "one box of 12, where flamegraph.pl draws 5 and 7" "$(svg "$tmp/split" | boxes | grep 'foo ' | tr '\n' ,)" "a;foo 12,"
if command -v perl >/dev/null && [ -e /usr/share/perl5/Devel/NYTProf/flamegraph.pl ]; then
	is "  it does" "$(perl /usr/share/perl5/Devel/NYTProf/flamegraph.pl "$tmp/split" | grep -oE '<title>foo \([0-9]+' | sort | tr '\n' ,)" \
		"<title>foo (5,<title>foo (7,"
else
	skip "  it does" "no flamegraph.pl"
fi
svg --reverse "$tmp/split" | boxes >"$tmp/got"
printf '%s\n' 'foo 5' 'foo;a 5' 'z 10' 'z;foo 7' 'z;foo;a 7' 'z;foo.part.0 3' 'z;foo.part.0;a 3' >"$tmp/want"
same "--reverse: from the innermost frame" "$tmp/want" "$tmp/got"

python3 - >"$tmp/hostile" <<'E'
import sys
for n in ['</script>', '<!--', ']]>', '"\'&amp;', '\u2028', 'Ünï日本', '😀' * 50, '\x01\x1b[31m', 'std::map<' + 'x' * 10000 + '>', '%s%n']:
    sys.stdout.buffer.write(('sh;main;%s 3\n' % n).encode())
sys.stdout.buffer.write(b'sh;\xff\xfe\xed\xa0\x80;x 2\n;;; 1\n')
E
svg --title '</title>&' --subtitle "$(printf '\377<\001')" --notes '"<' --countname '<i>' --nametype '&' --fonttype '</style>' "$tmp/hostile" >"$tmp/h.svg"
valid "a picture of hostile names" "$tmp/h.svg"
svg "$tmp/hostile" | boxes | sort >"$tmp/got"
cprof-fold "$tmp/hostile" | "$here/flame-brute.py" | awk '{ t = $NF; NF -= 2; print $0, t }' | sort >"$tmp/want"
same "  each is a box" "$tmp/want" "$tmp/got"
printf 'sh 2500000\n' >"$tmp/long"
like "--countname names counts" "$(svg --countname X "$tmp/long")" '<title>sh \(2,500,000 X, 100'
like "  but not times" "$(svg --weight ns --countname X "$tmp/long")" '<title>sh \(2.50 ms, 100'
printf '%s\n' 'segment major=1 minor=9 least=1' \
	'event id=1 name="page-faults" unit="events" period=1 millihertz=0' \
	'process id=1 time=1 pid=7 nspid=0 parent=0 start=1 gen=0 via=snapshot' \
	'thread id=1 time=1 process=1 tid=7' 'comm time=1 thread=1 comm="sh"' \
	'sample time=2 event=1 cpu=0 thread=1 user=0 kernel=0 weight=250' \
	'end time=3 reason=closed samples=1' flush | cprof-dump -r >"$tmp/faults" || exit 1
like "  and events" "$(svg --countname faults "$tmp/faults")" '<title>sh \(250 faults, 100'
like "  ns is time, too" "$(svg --countname ns "$tmp/long")" '<title>sh \(2.50 ms, 100'
printf 'sh 0\n' | svg >"$tmp/zero.svg"
valid "an empty picture" "$tmp/zero.svg"
like "  says that it is" "$(cat "$tmp/zero.svg")" '>No samples\.<'
printf 'sh 1\n' | svg >"$tmp/one.svg"
valid "a picture of one sample" "$tmp/one.svg"
like "  which is one" "$(cat "$tmp/one.svg")" '<title>sh \(1 sample, 100'
seq 60000 | awk '{ print "root" $1 ";main", 1 }' | svg >"$tmp/roots.svg"
valid "a picture of 60,000 roots" "$tmp/roots.svg"
like "  tells of them" "$(cat "$tmp/roots.svg")" '<title>60,000 too narrow'
is "  where they are seen: above the root, as wide as it" "$(sed -n 's/.*60,000 too narrow.*x="12.00" y="\([0-9]*\)\.[0-9]*" width="1176.00".*/\1/p' "$tmp/roots.svg")" 44
awk 'BEGIN { s = "c"; for (i = 0; i < 5000; i++) s = s ";f"; print s, 1 }' | svg >"$tmp/deep.svg"
valid "a picture of 5,000 levels" "$tmp/deep.svg"
is "  has 1,500" "$(boxes <"$tmp/deep.svg" | wc -l)" 1499
like "  and says that there are more" "$(cat "$tmp/deep.svg")" '>The deepest levels are not drawn'

awk 'BEGIN { print "a;b;c 2000\na;b;d 900"
	s = "a;b"; for (i = 0; i < 200; i++) s = s ";t" i; print s, 2
	s = "a"; for (i = 0; i < 9; i++) s = s ";w" i; print s, 3 }' | svg >"$tmp/tower.svg"
valid "a picture with a tower below 0.1 %" "$tmp/tower.svg"
is "  is as high as the others" "$(boxes <"$tmp/tower.svg" | awk -F';' '{ print NF }' | sort -n | tail -1)" 10
is "  and marks where it is cut" \
	"$(grep -c '<title>1 too narrow to be drawn</title><rect.*fill="url(#cut)"' "$tmp/tower.svg")" 1
is "the picture is as wide as its place" \
	"$(grep -c '<svg.* width="100%" viewBox="0 0 1200 ' "$tmp/tower.svg")" 1
svg --width 800 --height 25 --fontsize 9 --bgcolors '#abcdef' --colors blue --title T --subtitle S --notes N "$tmp/m" >"$tmp/o.svg"
for want in ' width="800"' 'height="24.00"' 'font-size: 9px' 'fill="#abcdef"' '>T</text>' '>S</text>' '>Notes: N<' \
	'>Ledger: from folded text: the losses are unknown<' '>kernel ' '>process ' 'viewBox="0 0 800 '; do
	is "the picture has $want" "$(grep -cF -- "$want" "$tmp/o.svg" | sed 's/[1-9][0-9]*/some/')" some
done
svg - <<'E' >"$tmp/o.svg"
a;f;[sleeping] 50
a;f;[uninterruptible] 30
a;f;[waiting for a CPU] 15
a;f 5
E
tr '\n' ' ' <"$tmp/o.svg" | grep -oE '<title>\[[^<]*</title><rect[^>]*' | grep -o '#.*' | sort -u >"$tmp/got"
is "states of waiting have three colours" "$(wc -l <"$tmp/got")" 3
is "  and shares in the legend" \
	"$(grep -oE '>(sleeping|uninterruptible|waiting for a CPU) [0-9.]+ %' "$tmp/o.svg" | tr -d '\n')" \
	">sleeping 50.00 %>uninterruptible 30.00 %>waiting for a CPU 15.00 %"
is "the picture has two schemes" "$(svg "$tmp/m" | grep -c prefers-color-scheme)" 1
is "  with a background of its own one" "$(svg --bgcolors grey "$tmp/m" | grep -c prefers-color-scheme)" 0
printf '%s\n' 'a;Foo;foo 3' 'a;food 1' 'a;b 12' >"$tmp/f"
svg --search foo "$tmp/f" >"$tmp/o.svg"
valid "a picture that is searched" "$tmp/o.svg"
like "  tells the share, each stack once" "$(cat "$tmp/o.svg")" '>Search: 25\.00 % match foo<'
is "  and what does not match is pale" "$(grep -o '<g class="pale"><title>[a-z]*' "$tmp/o.svg" | sed 's/.*>//' | sort | tr '\n' ' ')" "a all b "
like "  capitals matter" "$(svg --search Foo "$tmp/f")" '>Search: 18\.75 % match Foo<'
like "time is told as time" "$(printf 'a;b 1500000000\n' | svg --weight ns)" '<title>b \(1\.50 s, 100\.00%\)'
done_testing
