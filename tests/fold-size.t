#!/bin/sh
# Text of any size: the same whatever the memory, sorted or not, and against a sum by awk. The parts: profile-lines.c.
. "$(dirname "$0")/lib.sh"

ok "sorting, runs and merging" "$BUILD/tests/profile-lines"

# 6 MB of 12,000 stacks in no order, with names that need care, and stacks that have to lose frames.
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
like "  is told" "$(cat "$tmp/err")" '^cprof-fold: .*No such file'
is "no file is left behind" "$(mkdir "$tmp/t"; TMPDIR="$tmp/t" cprof-fold --max-mem 1M "$tmp/in" >/dev/null; ls -A "$tmp/t")" ""

# Lines of another length.
awk 'BEGIN { s = "root"; for (i = 0; i < 500; i++) s = s ";frame" i; print s " 3"; print "a;b 1" }' >"$tmp/deep"
is "--max-line: shorter" "$(cprof-fold --max-line 300 "$tmp/deep" | awk '{ print length($0) <= 300, /frame0;/ && /\[\.\.\.\]/ && /frame499 3$/ || /^a;b 1$/ }' | tr '\n' ,)" "1 1,1 1,"
awk 'BEGIN { s = "root"; for (i = 0; i < 20000; i++) s = s ";frame" i; print s " 3" }' >"$tmp/deeper"
cprof-fold --max-line 1000000 "$tmp/deeper" >"$tmp/got"
same "  longer" "$tmp/deeper" "$tmp/got"
status "  too short" 2 cprof-fold --max-line 255 "$tmp/deep"
done_testing
