#!/bin/sh
# cprof-top -o md and cprof-diff -o md: briefs within their budget. Their numbers are those of -o tsv, and
# their next commands run.
. "$(dirname "$0")/../lib/lib.sh"
cd "$tmp" || exit 1

python3 "$here/convert-made.py" 2 600 hostile | cprof-dump -r >h.bin || exit 1
python3 "$here/convert-timed.py" 1 account one | cprof-dump -r >t.bin || exit 1
printf 'a;f|g 60\na;back`tick 30\na;\\w (x) 5\n' >a.folded
printf 'a;f|g 600\na;back`tick 900\na;new 50\n' >b.folded

# rows FILE: the cells of the table in a brief, separated by tabs, names without their fences
cat >read.py <<'X'
import re, sys
for line in open(sys.argv[1], encoding="utf-8"):
    cells = re.split(r"(?<!\\)\|", line.rstrip("\n"))
    if line.startswith("| ") and not line.startswith(("| flat |", "| changed |")):
        name = cells[-2].strip().replace("\\|", "|")
        fence = "``" if name.startswith("``") else "`"
        assert name.startswith(fence) and name.endswith(fence), line
        name = name[len(fence):-len(fence)]
        print("\t".join([c.strip() for c in cells[1:-2]] + [name[1:-1] if fence == "``" else name]))
X
rows() { PYTHONIOENCODING=utf-8 python3 read.py "$1"; }

# numbers FILE OPTION...: the rows are those of the table for programs
numbers() {
	cprof-top -o md --budget 1000000 "$@" >md 2>err
	rows md | awk -F'\t' -v OFS='\t' '{ n = length($6) > 60 ? "long" : $6; print n, $1, $2, $4, $5 }' >got
	cprof-top -n 20 -o tsv "$@" 2>err |
		awk -F'\t' -v OFS='\t' -v times="${times:-}" 'function weight(w) {
			return !times ? w : w >= 1e9 ? sprintf("%.2fs", w / 1e9) : \
				w >= 1e6 ? sprintf("%.2fms", w / 1e6) : \
				w >= 1e3 ? sprintf("%.2fus", w / 1e3) : w "ns"
		}
		NR > 1 { n = length($1) > 60 ? "long" : $1
			print n, weight($2), sprintf("%.3g", $3), weight($4), sprintf("%.3g", $5) }' >want
	same "each number is the tsv's, rounded: $*" want got
}
numbers h.bin
numbers --by thread h.bin
times=1 numbers --wall t.bin
unlike "waits are measured: their shares have no intervals" "$(cat md)" '^\|[^|]*\|[^|]*\|.* to |independent'
like "  which is told" "$(cat md)" '^- Waits are measured, not sampled'
like "  and the title is a time" "$(head -1 md)" '^# cprof-top: [0-9.]*s, by function$'
numbers --cum a.folded
is "  and there are rows" "$(wc -l <got | tr -d ' ')" 3
cprof-top -o md --budget 1000000 --ci h.bin 2>err |
	sed -n 's/^| [0-9]* | [^|]* | \([0-9.]*\) to \([0-9.]*\) |.*/\1 \2/p' >got
cprof-top -n 20 -o tsv --ci h.bin 2>err | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ printf "%.3g %.3g\n", $at["flat_low"], $at["flat_high"] }' >want
same "intervals are those of --ci" want got
unlike "  and begin at 0 for no sample" "$(cat got)" 'e-1'
cprof-top -o md --from 0 --comm '*' t.bin >md 2>err
cprof-top --from 0 --comm '*' t.bin 2>err | sed -n 3p >want
is "the brief has the header's summary" "$(sed -n 's/^- \(.*; .*\)\.$/\1/p' md | head -1)" "$(cat want)"
like "  the date and the rate" "$(cat md)" '^- .*[0-9]{4}-[0-9-]+ [0-9:]+ [A-Z+].* Hz'
like "  and the selection" "$(cat md)" "^- Selected by .--from 0 --comm \\*.\\.$"

over=0
for budget in 200 201 250 300 350 400 500 600 700 800 900 1000 1234 1500 2000 3000 4000 5000 8000 20000; do
	for input in h.bin t.bin a.folded; do
		n=$(cprof-top -o md --budget $budget $input 2>err | wc -c)
		[ "$n" -le $budget ] && [ "$n" -gt 20 ] || over=$((over + 1))
	done
	n=$(cprof-diff -o md --budget $budget h.bin t.bin 2>err | wc -c)
	[ "$n" -le $budget ] && [ "$n" -gt 20 ] || over=$((over + 1))
done
is "80 briefs of 20 budgets are within them" "$over" 0
is "the default is 4000" "$([ "$(cprof-top -o md -n 0 h.bin 2>err | wc -c)" -le 4000 ] && echo yes)" yes
is "equal input gives equal bytes" \
	"$(cprof-top -o md h.bin 2>err | cksum)" "$(cprof-top -o md h.bin 2>err | cksum)"
cprof-top -o md --budget 600 h.bin >md 2>err
like "a small one says what it leaves out" "$(cat md)" '^_[0-9]* more lines_$'
rows md >got
is "  and has the first rows" "$(head -1 got | cut -f1,4)" \
	"$(cprof-top -n 1 -o tsv h.bin 2>err | awk 'NR == 2' | cut -f2,4)"

cprof-top -o md --budget 20000 h.bin >md 2>err
like "losses are told" "$(cat md)" '^- 6 of 606 expected samples lost \(ring-full 6\)\.$'
{
	cprof-dump h.bin | sed 's/^end time=\([0-9]*\)/ledger time=\1 cpu=1 outcome=missed count=9\n&/'
} | cprof-dump -r >missed.bin
cprof-top -o md --budget 20000 missed.bin >md 2>err
like "ticks that did not come are told" "$(cat md)" '^- 18 of 606 expected ticks did not come \(missed\)\.$'
cprof-top -o md t.bin >md 2>err
like "waits that do not count are told" "$(cat md)" \
	"$(awk '!/running/ { s += $5 } END { print "^- " s " waits are not counted" }' account)"
like "  with the command that counts them" "$(cat md)" 'cprof-top --wall t\.bin'
like "waits alone are not called kernel code" "$(cprof-top --event off-cpu t.bin 2>err | sed -n 3p)" \
	'^[0-9.]+ s of waits; '
printf 'a;f 7\na;g 6\n' >few.folded
cprof-top -o md few.folded >md
like "few samples are told" "$(cat md)" '^- Fewer than 100 samples'
like "  rows that cannot be told apart, too" "$(cat md)" '^- The order of the first 2 rows may be chance'
like "what folded text does not tell" "$(cat md)" '^- Folded text does not tell losses'
cprof-top -o md --by process -n 5 <few.folded >md
cprof-top --outpu=md --budg 3000 -n 5 few.folded >md2
cprof-top -omd --budget=3000 -n 5 few.folded >md3
same "its own options are left out, however they are written" md2 md3
unlike "  in the next commands" "$(cat md2)" 'budg|outpu|omd'
like "standard input is a capture to be named, options stay" "$(cat md)" 'cprof-top --by process -n 5`'

# Each command under Next runs, whatever the names are.
for input in h.bin t.bin a.folded few.folded; do
	cprof-top -o md --budget 100000 $input 2>err | sed -n '/^## Next/,$s/^- ``* \{0,1\}//p' |
		sed -n 's/^\(cprof-[^—]*[^` ]\) \{0,1\}``* — .*/\1/p' >commands
	bad=0
	while read -r command; do
		sh -c "$command" >out 2>err || bad=$((bad + 1))
	done <commands
	ok "the next commands run: $input" [ "$bad" = 0 -a -s commands ]
done
status "--budget without -o md" 2 cprof-top --budget 1000 a.folded
status "a budget too small" 2 cprof-top -o md --budget 199 a.folded
status "-o md of stacks" 2 cprof-top -o md --stacks 3 a.folded
ok "a full disk is told" sh -c "cprof-top -o md a.folded >/dev/full 2>err; test \$? = 1"

# cprof-diff
cprof-diff -o md --budget 100000 a.folded b.folded >md
rows md | awk -F'\t' -v OFS='\t' '{ print $8, $1 == "yes", $3, $4, $5 + 0, $7 }' >got
cprof-diff -o tsv a.folded b.folded |
	awk -F'\t' -v OFS='\t' -v f=%.3g 'NR > 1 {
		print $1, $2, sprintf(f, $5), sprintf(f, $6), sprintf(f, $7) + 0, sprintf(f, $11) }' >want
same "cprof-diff: each number is the tsv's" want got
unlike "  a change without proof is not said to be hidden" "$(cat md)" 'not shown'
like "  the title counts changes" "$(cat md)" '^# cprof-diff: 3 of 4 changed'
like "  sides with few samples are told" "$(cat md)" '^- A has fewer than 100 samples'
like "  and what is not known of each" "$(cat md)" '^- B: Folded text does not tell'
sed -n '/^## Next/,$s/^- `\(cprof-diff -[^`]*\)` — .*/\1/p' md >commands
is "  its next commands" "$(cat commands)" "cprof-diff --significant a.folded b.folded
cprof-diff -n 0 a.folded b.folded"
ok "  run" sh -c "$(cat commands)"
status "  --budget without -o md" 2 cprof-diff --budget 1000 a.folded b.folded
status "  -o md of raw counts" 2 cprof-diff -o md --no-normalize a.folded b.folded
done_testing
