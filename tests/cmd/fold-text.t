#!/bin/sh
# Folded text in and out: the grammar, hostile names, merging, and flamegraph.pl's reaction to it
. "$(dirname "$0")/../lib/lib.sh"
flamegraph=/usr/share/perl5/Devel/NYTProf/flamegraph.pl

fold() { cprof-fold "$@" 2>"$tmp/err"; }
total() { awk '{ n += $NF } END { print n + 0 }' "$@"; }
# Exactly the grammar: frames without control characters or empty names, one space, digits
grammar() { [ -s "$1" ] && ! LC_ALL=C grep -nvP '^[^;\x00-\x1f\x7f ]([^;\x00-\x1f\x7f]*[^;\x00-\x1f\x7f ])?(;[^;\x00-\x1f\x7f ]([^;\x00-\x1f\x7f]*[^;\x00-\x1f\x7f ])?)* [0-9]+$' "$1"; }
in_order() { sed 's/ [0-9]*$//' "$1" | LC_ALL=C sort -c -u; }

printf '%s\n' 'b;y 2' 'a;foo.part.0;z 3' 'a;foo;z 7' 'a;foo 5' 'b;y 40' 'a;operator new 1' 'a;operator 1' 'a 1' >"$tmp/a"
fold "$tmp/a" >"$tmp/got"
printf '%s\n' 'a 1' 'a;foo 5' 'a;foo.part.0;z 3' 'a;foo;z 7' 'a;operator 1' 'a;operator new 1' 'b;y 42' >"$tmp/want"
same "each stack once, in the order of its bytes" "$tmp/want" "$tmp/got"
ok "  as sort has it" in_order "$tmp/got"
fold "$tmp/got" >"$tmp/again"
same "folding folded text changes nothing" "$tmp/got" "$tmp/again"

printf 'a;b 1\r\n\na;b 2  \na;c 3' >"$tmp/crlf"
status "trailing spaces are no count" 3 cprof-fold "$tmp/crlf"
is "  CR LF, empty lines and a last line without LF are taken" "$(tr '\n' , <"$tmp/out")" "a;b 1,a;c 3,"
like "  the bad line has its number" "$(cat "$tmp/err")" 'crlf: line 3: no count after the last space$'

printf '\357\273\277a;b 1\n' >"$tmp/bom"
is "a byte order mark is no part of the first name" "$(fold "$tmp/bom" "$tmp/bom")" "a;b 2"

# Two columns mean a comparison only if all lines have them: a name may end in a number.
printf 'a;b 5 6\na;c 3 0\nd 0 2\n' >"$tmp/two"
status "two columns are refused" 3 cprof-fold "$tmp/a" "$tmp/two"
same "  and nothing of them is added" "$tmp/want" "$tmp/out"
like "  in a sentence" "$(cat "$tmp/err")" 'two: each line has two counts, .* this is a comparison, not one profile$'
status "  cprof-top refuses them too" 3 cprof-top "$tmp/two"
echo 'a;d 7' | cat "$tmp/two" - >"$tmp/names"
is "names that end in numbers are names where one does not" "$(fold "$tmp/names" | tr '\n' ,)" "a;b 5 6,a;d 7,d 0 2,"
printf 'worker 1 5\nworker 2 6\n' >"$tmp/names"
is "  and where no line has more than a command" "$(fold "$tmp/names" | tr '\n' ,)" "worker 1 5,worker 2 6,"
echo 'a;b 18446744073709551615' | cprof-fold - "$tmp/names" >"$tmp/out" 2>"$tmp/err"
is "  their sum is looked at too" "$(cat "$tmp/out" "$tmp/err" | tr '\n' ,)" \
	"a;b 18446744073709551615,cprof-fold: $tmp/names: line 2: the counts add up to more than 64 bits,"

# Bad lines are left out, good ones are kept.
printf 'a;b 1\nno count\na;b\n 7\na;b 1.5\na;b -1\na;b 99999999999999999999\na;b +3\na;b 0x10\nc 18446744073709551610\nc 00000000000000000000000005\n' >"$tmp/bad"
status "bad lines are status 3" 3 cprof-fold "$tmp/bad"
is "  every good one is delivered" "$(tr '\n' , <"$tmp/out")" "a;b 1,c 18446744073709551610,"
like "  and the first bad one named" "$(cat "$tmp/err")" 'bad: line 2: no count after the last space, and others like it$'
printf 'c 18446744073709551610\nd 5\ne 1\n' | cprof-fold >"$tmp/out" 2>"$tmp/err"
is "sums beyond 64 bits are refused, not wrapped" "$(tr '\n' , <"$tmp/out")$(cat "$tmp/err")" \
	"c 18446744073709551610,d 5,cprof-fold: standard input: line 3: the counts add up to more than 64 bits"
printf 'This is a letter.\nIt has lines.\n' | cprof-fold >"$tmp/out" 2>"$tmp/err"
is "text that is no folded text is status 3" $? 3
for n in 1.5 -3 +2 .5; do like "a count $n" "$(printf 'a;b %s\n' $n | cprof-fold 2>&1)" 'line 1: the count has a sign or a fraction, and is not a whole number; '; done
for n in 1.5x x.1 - 1e3; do like "no count: $n" "$(printf 'a;b %s\n' $n | cprof-fold 2>&1)" 'line 1: no count after the last space; '; done
like "  and one sentence" "$(cat "$tmp/err")" 'line 1: no count after the last space; this is not folded text$'
status "a missing file is status 1" 1 cprof-fold "$tmp/missing"
like "  with its name" "$(cat "$tmp/err")" '/missing: No such file'
mkdir "$tmp/empty"
status "a directory without captures is status 3" 3 cprof-fold "$tmp/empty"

# Names that would break a consumer are replaced, never dropped, and equal ones still merge.
printf 'a;sp ace;caf\303\251;x 1\na;b\001d;\377\376;x 2\na;;x 3\n;a 4\na;  b ;c 5\na;tab\there 6\na;c1\302\205;\342\200\250;\357\277\277 7\na;\355\240\200;\300\200;\364\220\200\200 8\n' >"$tmp/hostile"
fold "$tmp/hostile" >"$tmp/got"
printf '%s\n' '[unknown];a 4' 'a;???;??;???? 8' 'a;[unknown];x 3' 'a;b;c 5' 'a;b?d;??;x 2' 'a;c1?;?;? 7' "$(printf 'a;sp ace;caf\303\251;x 1')" 'a;tab?here 6' >"$tmp/want"
same "hostile names" "$tmp/want" "$tmp/got"
ok "  obey the grammar" grammar "$tmp/got"
fold "$tmp/got" >"$tmp/again"
same "  and stay as they are" "$tmp/got" "$tmp/again"
ok "  valid UTF-8" iconv -f UTF-8 -t UTF-16 "$tmp/got"

# Lines beyond 64 KiB lose frames in the middle, not samples.
awk 'BEGIN { for (k = 0; k < 2; k++) { s = "root"; for (i = 0; i < 5000; i++) s = s ";frame_number_" (i == 2500 ? "k" k : i); print s " 3" } }' >"$tmp/deep"
fold "$tmp/deep" >"$tmp/got"
is "stacks that are equal but for what was cut are one line" "$(wc -l <"$tmp/got") $(total "$tmp/got")" "1 6"
ok "  below 64 KiB" test "$(wc -c <"$tmp/got")" -lt 65536
ok "  and not far below" test "$(wc -c <"$tmp/got")" -gt 65000
like "  root, marker and leaf are there" "$(cut -c1-30 "$tmp/got") $(grep -o ';\[\.\.\.\];' "$tmp/got") $(tail -c 40 "$tmp/got")" \
	'^root;frame_number_0;.* ;\[\.\.\.\]; .*;frame_number_4999 6$'
fold "$tmp/got" >"$tmp/again"
same "  it stays as it is" "$tmp/got" "$tmp/again"
awk 'BEGIN { s = "x"; for (i = 0; i < 17; i++) s = s s; print "a;" s "é;b 1"; print "a;" s "é;c 1" }' >"$tmp/long"
fold "$tmp/long" >"$tmp/got"
is "names of 128 KiB lose their middle" "$(awk '{ print length($0) < 20000, /^a;x+\[\.\.\.\]x+é;[bc] 1$/ }' "$tmp/got" | tr '\n' ,)" "1 1,1 1,"
awk 'BEGIN { s = "x"; for (i = 0; i < 23; i++) s = s s; print "a;b 1"; print s " 2"; print "a;c 3" }' >"$tmp/huge"
status "a line of 8 MiB is bad" 3 cprof-fold "$tmp/huge"
is "  and those around it are good" "$(tr '\n' , <"$tmp/out")" "a;b 1,a;c 3,"
like "  it has its number" "$(cat "$tmp/err")" 'line 2: longer than 4 MiB$'

# Merging is associative and commutative, with many lines that share prefixes.
awk -v D="$tmp" 'BEGIN { srand(3); for (f = 0; f < 3; f++) for (i = 0; i < 3000; i++) { s = "comm" int(rand() * 3); d = int(rand() * 12); for (k = 0; k < d; k++) s = s ";f" int(rand() * rand() * 30) (rand() < .1 ? ".part.0" : ""); print s, 1 + int(rand() * 9) >(D "/m" f) } }'
cat "$tmp/m0" "$tmp/m1" "$tmp/m2" | awk '{ n = $NF; sub(/ [0-9]+$/, ""); c[$0] += n } END { for (k in c) print k " " c[k] }' | sort -t' ' -k1,1 >"$tmp/want"
fold "$tmp/m0" "$tmp/m1" "$tmp/m2" >"$tmp/abc"
sort -t' ' -k1,1 "$tmp/abc" >"$tmp/got"
ok "there are stacks to merge" test "$(wc -l <"$tmp/abc")" -gt 2000
same "three files together are what awk makes of them" "$tmp/want" "$tmp/got"
ok "  in order" in_order "$tmp/abc"
ok "  by the grammar" grammar "$tmp/abc"
for f in m0 m1 m2; do fold "$tmp/$f" >"$tmp/f$f"; done
fold "$tmp/fm0" "$tmp/fm1" >"$tmp/ab"; fold "$tmp/ab" "$tmp/fm2" >"$tmp/ab_c"
fold "$tmp/fm1" "$tmp/fm2" >"$tmp/bc"; fold "$tmp/bc" "$tmp/fm0" >"$tmp/bc_a"
same "fold(fold(fold(a), fold(b)), fold(c)) = fold(a, b, c)" "$tmp/abc" "$tmp/ab_c"
same "fold(fold(b, c), a) = fold(a, b, c)" "$tmp/abc" "$tmp/bc_a"
cat "$tmp/m2" "$tmp/m0" "$tmp/m1" | (dd bs=7 2>/dev/null) | fold >"$tmp/got"
same "from a pipe that gives seven bytes at a time" "$tmp/abc" "$tmp/got"

# Options that text cannot satisfy are refused rather than ignored; --comm and --match work.
status "--pid on text is refused" 2 cprof-fold --pid 1 "$tmp/a"
like "  in a sentence" "$(cat "$tmp/err")" '/a: --pid requires a capture, not folded text$'
status "-K likewise" 2 cprof-fold -K "$tmp/a"
status "--from likewise" 2 cprof-fold --from 1 "$tmp/a"
for o in '--pid 1' -K '--from 1' '--label a=b' '--event page-faults' --wall --blame --latency; do
	status "  with --sorted, too: $o" 2 cprof-fold --sorted $o "$tmp/abc"
	like "    in a sentence" "$(cat "$tmp/err")" "--sorted merges folded text: .* requires a capture\$"
done
is "--comm looks at the first frame" "$(fold --comm b "$tmp/a" | tr '\n' ,)" "b;y 42,"
is "--match looks at every frame" "$(fold --match '^foo$' "$tmp/a" | tr '\n' ,)" "a;foo 5,a;foo;z 7,"
is "--match a name's part" "$(fold --match part "$tmp/a" | tr '\n' ,)" "a;foo.part.0;z 3,"
is "--match nothing" "$(fold --match qqq "$tmp/a")" ""

if [ -r "$flamegraph" ] && command -v xmllint >/dev/null; then
	svg() { perl "$flamegraph" "$@" 2>"$tmp/err"; }
	printf 'a;<b> & "c";\303\251t\303\251 1\n' | cat - "$tmp/hostile" "$tmp/a" "$tmp/deep" | fold >"$tmp/got"
	svg "$tmp/got" >"$tmp/svg"
	is "flamegraph.pl takes all of it" "$(cat "$tmp/err")" ""
	ok "  its picture is XML" xmllint --noout "$tmp/svg"
	is "  with our total" "$(grep -o '<title>all ([0-9,]* samples' "$tmp/svg" | tr -dc 0-9)" "$(total "$tmp/got")"
else
	skip "flamegraph.pl" "libdevel-nytprof-perl or xmllint is not installed"
fi
# Options that say how captures are shown
printf 'a;b 5\n' >"$tmp/plain"
for option in -i -l '--native all' -a -d -p -t --container --truncated; do
	status "$option and text" 0 cprof-fold $option "$tmp/plain" "$tmp/plain"
	is "  says once that it has no effect" "$(cat "$tmp/err")" \
		"cprof-fold: $tmp/plain: ${option% *} has no effect on folded text"
done
done_testing
