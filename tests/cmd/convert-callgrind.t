#!/bin/sh
# cprof-convert -t callgrind, summed by callgrind_annotate: each function's own and inclusive cost is
# cprof-top's.
. "$(dirname "$0")/../lib/lib.sh"

python3 "$here/convert-made.py" 1 | cprof-dump -r >"$tmp/a.bin" && python3 "$here/convert-made.py" 2 600 hostile | cprof-dump -r >"$tmp/h.bin" ||
	exit 1
cprof-dump -r "$tests/fuzz/corpus/profile-inlined" >"$tmp/i.bin"
cprof-fold "$tmp/a.bin" 2>/dev/null | sed 's/^/cmd /' >"$tmp/a.folded" # so that no command has a function's name
printf 'cmd;a;b;a;b;a 3\ncmd;a;a;a 2\ncmd;b;c;a 5\ncmd2;a 1\ncmd 4\n' >"$tmp/r.folded"

cat >"$tmp/want" <<'X'
# callgrind format
version: 1
creator: cprof-convert
positions: line
events: Samples
summary: 11

fl=(5) /src/main.c
fn=(1) main
cfi=(8) /src/work.c
cfn=(2) work
calls=11 0
40 11

fl=(8)
fn=(2)
12 5
13 1
15 1
cfi=(9) /src/inc/mul.h
cfn=(3) mul
calls=4 0
20 4

fl=(9)
fn=(3)
3 4

fl=(14) [command]
fn=(8) app
cfi=(5)
cfn=(1)
calls=11 0
0 11
X
cprof-convert -t callgrind "$tmp/i.bin" | sed '/^creator/s/ [0-9][^ ]*$//' >"$tmp/got"
same "a capture" "$tmp/want" "$tmp/got"

# Reads the file here: own costs, and calls into each function, by name.
cat >"$tmp/read.py" <<'X'
import re, sys
# flat and cum of each name
names, files, flat, cum, calls, command, callee = {}, {}, {}, {}, False, None, None
def told(table, text):
    number, name = re.fullmatch(r"\((\d+)\)(?: (.*))?", text, re.S).groups()
    assert (name is None) == (number in table), text
    return table.setdefault(number, name)
for line in open(sys.argv[1], newline="\n"):
    line = line.rstrip("\n")
    if line.startswith(("fl=", "cfi=")):
        file = told(files, line.split("=", 1)[1])
    elif line.startswith("fn="):
        function = (file, told(names, line[3:]))
    elif line.startswith("cfn="):
        callee = (file, told(names, line[4:]))
    elif line.startswith("calls="):
        calls = True
    elif re.fullmatch(r"\d+ \d+", line):
        cost = int(line.split()[1])
        if calls:
            assert callee != function
            cum[callee] = cum.get(callee, 0) + cost
        else:
            flat[function] = flat.get(function, 0) + cost
            if function[0] == "[command]":
                cum[function] = cum.get(function, 0) + cost
        calls = False
    elif line.startswith("summary: "):
        summary = int(line[9:])
    else:
        assert line == "" or re.match(r"# callgrind format|version: 1|creator: |positions: line|events: (Samples|Nanoseconds)", line), line
assert sum(flat.values()) == summary
sums = {}
for f in set(flat) | set(cum):
    a, b = sums.get(f[1], (0, 0))
    sums[f[1]] = (a + flat.get(f, 0), b + cum.get(f, 0))
for name, (a, b) in sums.items():
    print(a, b, name)
X
row='^ *\([0-9]*\) *[0-9.e-]*% *[0-9.e-]*% *\([0-9]*\) *[0-9.e-]*%  \(.*\)$'
ours() { cprof-top -n 0 "$@" 2>/dev/null | sed -n "s/$row/\1 \2 \3/p" | sort; }
theirs() { LC_ALL=C.UTF-8 python3 "$tmp/read.py" "$1" | sort; }
alike() {
	name=$1; shift
	cprof-convert -t callgrind "$@" "$tmp/$name" >"$tmp/cg" 2>"$tmp/err"
	ours "$@" "$tmp/$name" >"$tmp/want"
	theirs "$tmp/cg" >"$tmp/got"
	same "costs are cprof-top's: $name $*" "$tmp/want" "$tmp/got"
}
for f in i.bin r.folded a.folded; do alike $f; done
alike i.bin -i
for o in "" -i -U "--comm app"; do
	cprof-convert -t callgrind $o "$tmp/a.bin" | cksum >"$tmp/x"
	cprof-convert -t callgrind $o "$tmp/a.bin" | cksum | cmp -s - "$tmp/x"
	is "the same bytes each time: a.bin $o" $? 0
done
is "--weight ns" "$(cprof-convert -t callgrind --weight ns "$tmp/i.bin" | grep -A1 ^events)" "events: Nanoseconds
summary: 11000"

# A capture with folded text: --weight ns counts the text's numbers, as cprof-fold does
printf 'cmd;a;b 70\n' >"$tmp/text.folded"
for o in '--weight samples' '--weight ns'; do
	sum=$(cprof-fold $o "$tmp/i.bin" "$tmp/text.folded" 2>/dev/null |
		awk '{ n += $NF } END { printf "%.0f\n", n }')
	is "$o of both has all" "$(cprof-convert -t callgrind $o "$tmp/i.bin" "$tmp/text.folded" 2>/dev/null |
		sed -n 's/^summary: //p')" "$sum"
	is "  as speedscope" "$(cprof-convert -t speedscope $o "$tmp/i.bin" "$tmp/text.folded" 2>/dev/null |
		grep -o '"endValue":[0-9]*' | awk -F: '{ n += $2 } END { printf "%.0f\n", n }')" "$sum"
done

if command -v callgrind_annotate >/dev/null; then
	# Prints "flat (share)  file:function", once for own costs, once inclusively; numbers have commas.
	annotated() {
		callgrind_annotate --threshold=100 --auto=no "$@" 2>"$tmp/err" | sed -n 's/^ *\([0-9,]*\) ([ 0-9.]*%) *[*]\{0,1\} *[^:]*:\([^<>].*\)$/\1 \2/p' |
			sed 's/ \[\]$//' | sed ':a; s/^\([0-9]*\),/\1/; ta' | sort
	}
	for f in r.folded a.folded i.bin; do
		cprof-convert -t callgrind "$tmp/$f" >"$tmp/$f.cg"
		ours "$tmp/$f" | awk '$1 > 0' | sed 's/^\([0-9]*\) [0-9]* /\1 /' | sort >"$tmp/want"
		annotated "$tmp/$f.cg" >"$tmp/got"
		same "callgrind_annotate $f" "$tmp/want" "$tmp/got"
		# Without commands, which cprof-top shows only for stacks that have nothing else.
		ours "$tmp/$f" | grep -v ' cmd' | sed 's/^[0-9]* \([0-9]*\) /\1 /' | sort >"$tmp/want"
		callgrind_annotate --threshold=100 --auto=no --inclusive=yes "$tmp/$f.cg" | grep -v '\[command\]:' >"$tmp/inclusive"
		sed -n 's/^ *\([0-9,]*\) ([ 0-9.]*%) *[^:]*:\(.*\)$/\1 \2/p' "$tmp/inclusive" | sed 's/ \[\]$//' | sort >"$tmp/got"
		same "callgrind_annotate --inclusive=yes $f" "$tmp/want" "$tmp/got"
		is "  its total" "$(callgrind_annotate "$tmp/$f.cg" | sed -n 's/^ *\([0-9,]*\) (100.0%)  PROGRAM TOTALS/\1/p')" \
			"$(ours "$tmp/$f" | awk '{ n += $1 } END { print n }')"
	done
	callgrind_annotate --threshold=100 --auto=no --inclusive=yes --tree=both "$tmp/r.folded.cg" >"$tmp/tree"
	is "--tree=both: who calls, and who is called, each sample once" \
		"$(awk -v RS= '/[*] +[?]+:b/' "$tmp/tree" | tr -s ' ' | sed 's/^ //' | sort)" "3 (20.00%) < ???:a (3x) []
5 (33.33%) < [command]:cmd (5x) []
5 (33.33%) > ???:c (5x) []
8 (53.33%) * ???:b"
	cprof-convert -i -t callgrind "$tmp/h.bin" >"$tmp/h.cg"
	ok "hostile names" callgrind_annotate --threshold=100 --auto=no --inclusive=yes --tree=both "$tmp/h.cg"
	is "  and their total" "$(callgrind_annotate "$tmp/h.cg" | sed -n 's/^ *\([0-9,]*\) (100.0%)  PROGRAM TOTALS/\1/p')" 600
else
	skip "callgrind_annotate reads it" "there is no callgrind_annotate"
fi
done_testing
