#!/bin/sh
# Text of any size: the same whatever the memory, sorted or not, and compared with a sum by awk. For the
# parts see profile-lines.c.
. "$(dirname "$0")/../lib/lib.sh"

ok "sorting, runs and merging" "$BUILD/tests/profile-lines"

# 6 MB of 12,000 stacks in random order, with odd names, and stacks that have to lose frames
awk 'BEGIN { srand(5)
	for (i = 0; i < 300; i++) { l = 5 + int(rand() * 40); s = "fn"; while (length(s) < l) s = s sprintf("%c", 97 + int(rand() * 26)); f[i] = s (rand() < .1 ? ".part.0" : "") }
	for (i = 0; i < 12000; i++) { s = "comm" int(rand() * 3); d = 3 + int(rand() * 30); x = int(rand() * 9)
		for (k = 0; k < d; k++) { x = (x * 31 + (rand() < .2) + k) % 300; s = s ";" f[x] }
		print s, 1 + int(rand() * 9) } }' >"$tmp/plain"
awk 'BEGIN { for (i = 0; i < 40; i++) { s = "root é"; for (k = 0; k < 2500; k++) s = s ";a_longer_name_" (k + i % 20) "\001x"; print s, i; print "a;;b", i; print "operator new" (i % 3 ? "[]" : ""), i } }' >"$tmp/odd"
sort -R --random-source="$tmp/plain" "$tmp/plain" "$tmp/odd" >"$tmp/in"
cprof-fold --max-mem 1G "$tmp/in" >"$tmp/want"
awk '{ n = $NF; sub(/ [0-9]+$/, ""); c[$0] += n } END { for (k in c) print k " " c[k] }' "$tmp/plain" | sort >"$tmp/awk"
cprof-fold --max-mem 1M "$tmp/plain" | sort >"$tmp/got"
same "with 1 MiB: what awk makes of it" "$tmp/awk" "$tmp/got"
for m in 1M 3M 16M; do
	cprof-fold --max-mem $m "$tmp/in" >"$tmp/got"
	same "--max-mem $m: the same bytes" "$tmp/want" "$tmp/got"
done
is "in the order of stacks" "$(sed 's/ [0-9]*$//' "$tmp/want" | sort -c -u 2>&1)" ""
cprof-fold --max-mem 1M - "$tmp/odd" <"$tmp/plain" >"$tmp/got"
same "  from several operands" "$tmp/want" "$tmp/got"
for o in --norm --collapse-recursion --reverse '--base f' '--exclude part' '--min 0.01' '--comm comm1'; do
	cprof-fold $o --max-mem 1G "$tmp/in" >"$tmp/a"
	cprof-fold $o --max-mem 1M "$tmp/in" >"$tmp/b"
	ok "$o: something is left" test -s "$tmp/a"
	same "  the same with 1 MiB" "$tmp/a" "$tmp/b"
done
sed 's/$/ 7/' "$tmp/plain" | cprof-fold --max-mem 1M >"$tmp/out" 2>"$tmp/err"
is "two columns are refused, held or spilled: status" $? 3
is "  and nothing is written" "$(wc -c <"$tmp/out")" 0


status "a directory for files that is none" 1 env TMPDIR="$tmp/none" cprof-fold --max-mem 1M "$tmp/in"
like "  which is what the sentence is about" "$(cat "$tmp/err")" "cannot write a temporary file in $tmp/none \\(TMPDIR\\): No such file"
like "  is told" "$(cat "$tmp/err")" '^cprof-fold: .*No such file'
is "no file is left behind" "$(mkdir "$tmp/t"; TMPDIR="$tmp/t" cprof-fold --max-mem 1M "$tmp/in" >/dev/null; ls -A "$tmp/t")" ""

# Sorted input is merged line by line.
split -n l/5 "$tmp/plain" "$tmp/part."
for f in "$tmp"/part.??; do cprof-fold "$f" >"$f.sorted"; done
cprof-fold "$tmp/plain" >"$tmp/want"
cprof-fold --sorted "$tmp"/part.*.sorted >"$tmp/got"
same "--sorted: sorted files together are what they are unsorted" "$tmp/want" "$tmp/got"
cprof-fold --sorted "$tmp/want" >"$tmp/got"
same "  one file is itself" "$tmp/want" "$tmp/got"
is "  with --comm" "$(cprof-fold --sorted --comm comm1 "$tmp"/part.*.sorted | cksum)" "$(cprof-fold --comm comm1 "$tmp/plain" | cksum)"
# A batch engine: map, partition by key, sort whole lines, reduce; the key ends at a tab.
for f in "$tmp"/part.??; do cprof-fold -T "$f"; done >"$tmp/mapped"
for r in 0 1 2 3; do
	awk -F'\t' -v r=$r '{ h = 0; for (i = 1; i <= length($1); i += 7) h += index("abcdefghijklmnopqrstuvwxyz", substr($1, i, 1)) } h % 3 == r' "$tmp/mapped" |
		sort | cprof-fold --sorted -T >"$tmp/reduced.$r"
done
cprof-fold --sorted "$tmp"/reduced.* >"$tmp/got"
same "  as combiner and reducer, of which one has nothing to do" "$tmp/want" "$tmp/got"
is "  a tab stands before the count, and is taken" "$(printf 'a;b c 7\t5\na;b c 7\t6\n' | cprof-fold -T | tr '\t' '#')" "a;b c 7#11"
status "  nothing is no error" 0 cprof-fold --sorted /dev/null
mkdir "$tmp/empty"
status "  an empty directory among the operands" 3 cprof-fold --sorted "$tmp/want" "$tmp/empty"
is "    is named" "$(cat "$tmp/err")" "cprof-fold: $tmp/empty: cannot find a capture in it"
cprof-dump -r "$tests/fuzz/corpus/profile-inlined" >"$tmp/capture"
status "  a capture" 2 cprof-fold --sorted "$tmp/capture"
like "    is told to be one" "$(cat "$tmp/err")" '--sorted requires folded text, not a capture: fold it first$'
printf 'a;b 5\na;b 7\na;b.c 3\na;b;c 1\n' >"$tmp/s"
is "  in the order of stacks, equal ones side by side" "$(cprof-fold --sorted "$tmp/s" "$tmp/s" | tr '\n' ,)" "a;b 24,a;b.c 6,a;b;c 2,"
# Whole lines, with a blank before the count, sort differently if a name continues after a blank.
printf 'a;b !x 3\na;b 5\nq 1\n' >"$tmp/u"
status "unsorted input is refused" 3 cprof-fold --sorted "$tmp/s" "$tmp/u"
is "  in a sentence" "$(cat "$tmp/err")" "cprof-fold: $tmp/u: line 2: stacks are not sorted by their bytes; see --sorted in cprof-fold(1)"
printf 'a 5\nno count\nb 18446744073709551615\nc 2\n' >"$tmp/bad"
status "bad lines" 3 cprof-fold --sorted "$tmp/bad"
is "  are left out" "$(tr '\n' , <"$tmp/out")$(cat "$tmp/err")" "a 5,c 2,cprof-fold: $tmp/bad: line 2: no count after the last space, and others like it"
status "two columns" 3 cprof-fold --sorted "$tests/fuzz/corpus/folded-columns"
printf 'a;b\001 5\na;b? 6\n' >"$tmp/s"
is "names are made fit" "$(cprof-fold --sorted "$tmp/s" | tr '\n' ,)" "a;b? 11,"
status "made-over stacks are in no order" 2 cprof-fold --sorted --norm "$tmp/s"
status "the disk is full" 1 sh -c "cprof-fold --sorted $tmp/want >/dev/full"
if ! sanitized; then
	"$BUILD/tests/peak" "$tmp/peak" cprof-fold --sorted "$tmp"/part.*.sorted "$tmp/want" "$tmp/want" >/dev/null
	ok "  in constant memory" test "$(awk '{ print $1; exit }' "$tmp/peak")" -lt 8192
	"$BUILD/tests/peak" "$tmp/peak" cprof-fold --max-mem 1M "$tmp/in" >/dev/null
	ok "--max-mem is about what is taken" test "$(awk '{ print $1; exit }' "$tmp/peak")" -lt 10240
fi

# Other line lengths
awk 'BEGIN { s = "root"; for (i = 0; i < 500; i++) s = s ";frame" i; print s " 3"; print "a;b 1" }' >"$tmp/deep"
is "--max-line: shorter" "$(cprof-fold --max-line 300 "$tmp/deep" | awk '{ print length($0) <= 300, /frame0;/ && /\[\.\.\.\]/ && /frame499 3$/ || /^a;b 1$/ }' | tr '\n' ,)" "1 1,1 1,"
awk 'BEGIN { s = "root"; for (i = 0; i < 20000; i++) s = s ";frame" i; print s " 3" }' >"$tmp/deeper"
cprof-fold --max-line 1000000 "$tmp/deeper" >"$tmp/got"
same "  longer" "$tmp/deeper" "$tmp/got"
status "  too short" 2 cprof-fold --max-line 255 "$tmp/deep"
done_testing
