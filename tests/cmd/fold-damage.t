#!/bin/sh
# Damaged, cut and foreign input: status 3, one sentence, and everything good is delivered.
. "$(dirname "$0")/../lib/lib.sh"

cat >"$tmp/a.txt" <<'X'
segment major=1 minor=0 least=1
event id=1 name="c" unit="ns" period=9 millihertz=9
flush
process id=1 time=1 pid=4 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=1 process=1 tid=4
comm time=1 thread=1 comm="sh"
frame id=1 process=1 kind=exact address=0x10
node id=16 parent=1 frame=1
sample time=2 event=1 cpu=0 thread=1 user=16 kernel=0 weight=9
flush
frame id=2 process=0 kind=exact address=0x20
node id=17 parent=0 frame=2
sample time=3 event=1 cpu=0 thread=1 user=16 kernel=17 weight=9
sample time=4 event=1 cpu=0 thread=1 user=0 kernel=17 weight=9
flush
ksym time=5 address=0x20 size=0x10 name="k" module=""
end time=5 reason=closed samples=3
flush
X
cprof-dump -r "$tmp/a.txt" >"$tmp/a.bin"
size=$(wc -c <"$tmp/a.bin")
fold() { cprof-fold --no-names "$@" >"$tmp/out" 2>"$tmp/err"; }
sum() { awk '{ n += $NF } END { print n + 0 }' "$tmp/out"; }

wrong=
for n in $(seq 0 $((size - 1))); do
	head -c "$n" "$tmp/a.bin" >"$tmp/cut"
	fold "$tmp/cut"; s=$?
	want=$(cprof-dump "$tmp/cut" 2>/dev/null | grep -c '^sample')
	[ "$s" = 3 ] && [ "$(sum)" = "$want" ] && [ "$(wc -l <"$tmp/err")" = 1 ] ||
		wrong="$wrong $n(status $s, $(sum) of $want, $(cat "$tmp/err"))"
done
is "cut at every byte" "$wrong" ""
wrong=
for n in $(seq 0 $((size - 1))); do
	{ head -c "$n" "$tmp/a.bin"; tail -c +"$((n + 1))" "$tmp/a.bin" | head -c 1 | tr '\000-\377' '\200-\377\000-\177'; tail -c +"$((n + 2))" "$tmp/a.bin"; } >"$tmp/flip"
	fold "$tmp/flip"; s=$?
	[ "$s" = 3 ] && [ "$(sum)" -le 3 ] && [ "$(wc -l <"$tmp/err")" = 1 ] ||
		wrong="$wrong $n(status $s, $(sum), $(cat "$tmp/err"))"
done
is "each byte flipped" "$wrong" ""
fold "$tmp/a.bin"; is "the whole is status 0" "$? $(sum)" "0 3"

head -c $((size - 40)) "$tmp/a.bin" >"$tmp/cut"
printf 'x;y 5\n' >"$tmp/t"
status "a damaged operand among good ones" 3 cprof-fold "$tmp/t" "$tmp/cut" "$tmp/a.bin"
is "  all that is good is merged" "$(sum)" 11

echo 'sample time=9 event=1 cpu=0 thread=7 user=0 kernel=0 weight=9' >"$tmp/extra"
sed "/^end/{
r $tmp/extra
N
}" "$tmp/a.txt" | cprof-dump -r >"$tmp/b.bin"
status "a sample of an undefined thread" 3 cprof-fold "$tmp/b.bin"
is "  is left out" "$(sum)" 3
like "  and told" "$(cat "$tmp/err")" 'a sample of an undefined thread'

printf 'segment major=1 minor=0 least=1\nflush\nend time=5 reason=closed samples=0\nflush\n' | cprof-dump -r >"$tmp/empty.bin"
status "a capture without samples is status 0" 0 cprof-fold "$tmp/empty.bin"
is "  and no line" "$(cat "$tmp/out" "$tmp/err")" "cprof-fold: no samples selected, nothing is written"
status "  so is one in which none matches" 0 cprof-fold --no-names --match nothing "$tmp/a.bin"
like "  and it is said" "$(cat "$tmp/out" "$tmp/err")" \
	'^cprof-fold: no samples selected, nothing is written; no name matches --match "nothing"'

# Empty files: as output of cprof-fold they are good beside other input; alone they are an error.
for c in fold top diff 'diff --folded'; do
	status "cprof-$c of empty input is status 3" 3 cprof-$c /dev/null /dev/null
	is "  in a sentence, without a table" "$(sort -u "$tmp/out" "$tmp/err")" "cprof-${c% *}: /dev/null: empty input, no sample in it"
	status "  beside good input it is status 0" 0 cprof-$c "$tmp/t" /dev/null
	like "  and the sentence" "$(cat "$tmp/err")" 'empty input'
	like "  and the result" "$(cat "$tmp/out")" y
	status "  unless it can only be a capture" 3 cprof-$c -K "$tmp/a.bin" /dev/null
done

# Not input at all: one sentence, and no table that looks like a result.
echo x | gzip | head -c 10 >"$tmp/gz"
printf 'This is a letter.\n' >"$tmp/letter"
bad=$tmp/gz gzip="$tmp/gz:the gzip file is cut short"
if cprof-fold "$tmp/gz" 2>&1 | grep -q 'built without zlib'; then bad=$tmp/letter gzip=; fi
for c in fold top diff 'diff --folded'; do
	for f in "$BIN/cprof-fold:an ELF file, not a cprof stream" "$tmp/a.txt:convert it with cprof-dump -r" \
		${gzip:+"$gzip"} "$tmp/letter:this is not folded text"; do
		status "cprof-$c ${f##*/}" 3 cprof-$c "${f%%:*}" "${f%%:*}"
		is "  prints nothing" "$(cat "$tmp/out")" ""
		like "  but a sentence" "$(cat "$tmp/err")" "${f#*:}"
	done
	status "  beside good input" 3 cprof-$c "$tmp/t" "$bad"
done
is "cprof-diff has nothing to compare with then" "$(cat "$tmp/out")" ""
status "cprof-top has" 3 cprof-top "$bad" "$tmp/t"
like "  the good input" "$(cat "$tmp/out")" '5 100.00% .* y$'

for t in "$tmp/a.bin" "$tmp/t"; do
	for c in fold top "diff $t" "diff --folded $t"; do
		sh -c "cprof-$c $t >/dev/full" 2>"$tmp/err"
		is "cprof-${c%% /*} > /dev/full is status 1 (${t##*/})" $? 1
	done
done
awk 'BEGIN { for (i = 0; i < 200000; i++) print "x;a;f" i " 1" }' >"$tmp/many"
for c in fold "top -n 0" "diff -n 0 $tmp/t"; do
	sh -c "cprof-$c $tmp/many | head -1" >"$tmp/out" 2>"$tmp/err"
	is "cprof-${c%% /*} | head -1 is quiet" "$(wc -l <"$tmp/out") $(cat "$tmp/err")" "1 "
done

for c in fold top diff; do
	status "cprof-$c: an unknown option is status 2" 2 cprof-$c --nonsense
	is "  by its sentence" "$(head -n 1 "$tmp/err")" "cprof-$c: invalid option \"--nonsense\""
	status "cprof-$c --help is status 0" 0 cprof-$c --help
	like "  on standard output" "$(cat "$tmp/out")" "^usage: cprof-$c "
	status "cprof-$c --version is status 0" 0 cprof-$c --version
	for o in '--pid x' '--pid 1,,2' '--tid -3' '--match (' '--from x' '--from -1' '--to 1.5x' '--weight bytes' '-U -K' '--from 2 --to 1'; do
		status "cprof-$c $o is status 2" 2 cprof-$c $o "$tmp/a.bin" "$tmp/a.bin"
	done
done
for c in top diff; do
	status "cprof-$c --by nonsense is status 2" 2 cprof-$c --by nonsense "$tmp/a.bin" "$tmp/a.bin"
	status "cprof-$c -n x is status 2" 2 cprof-$c -n x "$tmp/a.bin" "$tmp/a.bin"
done
status "cprof-diff wants two operands" 2 cprof-diff "$tmp/a.bin"
status "  that are not both standard input" 2 cprof-diff - -
done_testing
