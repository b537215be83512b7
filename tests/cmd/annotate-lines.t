#!/bin/sh
# cprof-annotate: lines of a program with their shares, as addr2line counts them.
# shellcheck disable=SC2154 # lib.sh sets tmp, tests and here
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/annotate-lib.sh"
command -v addr2line >/dev/null || skip_all "addr2line is not here"

# same_lines TEXT CAPTURE: each function of the program, against the count
same_lines() {
	cprof-dump "$2" >"$tmp/dump"
	for f in work mix climb main; do
		counts lines "$program" $f <"$tmp/dump" >"$tmp/want"
		cprof-annotate "$2" $f 2>"$tmp/err" >"$tmp/got.text"
		counts shown <"$tmp/got.text" >"$tmp/got"
		same "$1: lines of $f" "$tmp/want" "$tmp/got"
	done
	is "  without a message" "$(grep -v 'no names: read through' "$tmp/err")" ""
}

counts make "$program" 1 >"$tmp/made.text" && cprof-dump -r "$tmp/made.text" >"$tmp/made.bin" || exit 1
same_lines "a raw capture" "$tmp/made.bin"
like "  which has rows" "$(wc -l <"$tmp/want")" '^[1-9]'
cprof-sym "$tmp/made.bin" >"$tmp/named.bin" 2>/dev/null
same_lines "a capture with names" "$tmp/named.bin"
cprof-sym -il "$tmp/made.bin" >"$tmp/all.bin" 2>/dev/null
same_lines "a capture with inlined functions and lines" "$tmp/all.bin"
cat "$tmp/made.bin" "$tmp/all.bin" >"$tmp/twice.bin"
same_lines "two segments" "$tmp/twice.bin"

# The text beside the shares
cprof-annotate work "$tmp/made.bin" >"$tmp/text"
like "the text of a line is beside its shares" "$(cat "$tmp/text")" \
	'^ *[0-9.]+% +[0-9.]+% +19  \t*                h \+= h / \(i \| 1\);$'
like "  a title with both sums" "$(head -2 "$tmp/text" | tr '\n' ' ')" \
	"^work in $program +self [0-9.]+ % \([0-9]+ samples\), with callees [0-9.]+ % \([0-9]+ samples\) of"
like "  the path of the source" "$(cat "$tmp/text")" "^  source: $tmp/annotated.c$"
cprof-annotate main climb "$tmp/made.bin" 2>/dev/null >"$tmp/x"
is "two functions are refused" "$?" 2

# Only lines 17 and 21 of work have samples.
cat >"$tmp/keep.awk" <<'X'
# value NAME: that field of the record
function value(name) {
	match($0, name "=[0-9]+")
	return substr($0, RSTART + length(name) + 1, RLENGTH - length(name) - 1)
}
/^symbol/ { line[value("frame")] = value("line") }
/^node/ { frame[value("id")] = value("frame") }
/^sample/ { user[NR] = value("user") }
{ text[NR] = $0 }
END {
	for (i = 1; i <= NR; i++)
		if (text[i] !~ /^end/ && (!(i in user) || line[frame[user[i]]] ~ /^(17|21)$/))
			print text[i]
}
X
cprof-dump "$tmp/all.bin" | awk -f "$tmp/keep.awk" | cprof-dump -r >"$tmp/two.bin" 2>/dev/null
lines_of() {
	cprof-annotate "$@" work "$tmp/two.bin" 2>/dev/null |
		sed -n 's/^.\{8\} .\{8\}  *\([0-9][0-9]*\)\(  .*\)*$/\1/p; s/^ *\.\.\.$/./p' | tr '\n' ' '
}
is "lines around those with samples" "$(lines_of -C 1)" "14 . 16 17 18 . 20 21 22 "
is "  none with -C 0, but where the function begins" "$(lines_of -C 0)" "14 . 17 . 21 "
is "  five without an option" "$(lines_of)" "12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 "
is "  all with many" "$(lines_of -C 999 | wc -w)" "$(wc -l <"$tmp/annotated.c")"

# Which function
top=$(cprof-top -i -n 1 "$tmp/all.bin" | tail -1 | awk '{ print $NF }')
is "-n 1: the function of cprof-top's first row" "$(cprof-annotate -n 1 "$tmp/made.bin" | head -1)" \
	"$top in $program"
cprof-annotate "$tmp/made.bin" >"$tmp/list"
is "without a function, a list as cprof-top's" "$(awk '$3 == "lines" { print $4 }' "$tmp/list" | head -3)" \
	"$(cprof-top -i -n 3 "$tmp/all.bin" | tail -3 | awk '{ print $NF }')"
is "  with its shares" "$(awk -v f="$top" '$4 == f { print $1, $2 }' "$tmp/list")" \
	"$(cprof-top -i -n 1 "$tmp/all.bin" | tail -1 | awk '{ print $2, $5 }')"
like "  and the command that shows the lines of the first" "$(cat "$tmp/list")" \
	"Lines of one: *cprof-annotate $top $tmp/made.bin\$"
eval "$(sed -n 's/.*Lines of one: *//p' "$tmp/list")" >"$tmp/lines"
is "    which it does" "$(head -1 "$tmp/lines")" "$top in $program"
sed "s/text=\"main\"/text=\"it's <'a>\"/; s/user=16/user=17/" "$tests/data/small.txt" |
	cprof-dump -r >"$tmp/a file.bin"
eval "$(cprof-annotate "$tmp/a file.bin" | sed -n 's/.*Lines of one: *//p')" >"$tmp/lines"
is "    also with quotes in the name, and a space in the file's" "$(head -1 "$tmp/lines")" \
	"it's <'a> in /nowhere/sh"
for o in list.html list.txt list.text; do
	status "-o $o" 0 cprof-annotate -o "$tmp/$o" "$tmp/made.bin"
	is "  is a file" "$(grep -c "$top in $program" "$tmp/$o")$(cat "$tmp/out")" 1
done
like "  of that kind" "$(head -1 "$tmp/list.html")" DOCTYPE
same "  the same as on standard output" "$tmp/list" "$tmp/list.txt"
status "  not of another" 2 cprof-annotate -o "$tmp/list.svg" "$tmp/made.bin"
touch "$tmp/x.html"
status "  nor one that is read" 2 cprof-annotate -o "$tmp/x.html" climb "$tmp/x.html"
is "-n 2: the two hottest" "$(cprof-annotate -n 2 "$tmp/made.bin" | grep -c " in $program\$")" 2
is "a name that none has is an expression" \
	"$(cprof-annotate '^(wor|clim)' "$tmp/made.bin" | grep " in $program\$" | sort | tr '\n' ' ')" \
	"climb in $program work in $program "
is "  a whole name is not" "$(cprof-annotate work "$tmp/made.bin" | grep -c " in $program\$")" 1
is "--function takes the name of a file" "$(cd "$tmp" && touch work && cprof-annotate --function work \
	made.bin | head -1)" "work in $program"
is "the capture may come from a pipe" "$(cprof-annotate work <"$tmp/made.bin" | head -1)" "work in $program"
status "a function that no stack has" 1 cprof-annotate nothing_like_it "$tmp/made.bin"
like "  is an error" "$(cat "$tmp/err")" \
	'^cprof-annotate: cannot find the function "nothing_like_it": no stack has it; hottest: '
like "  near one that is there" "$(cprof-annotate clibm "$tmp/made.bin" 2>&1)" 'did you mean climb\?'
status "an expression that is none" 2 cprof-annotate 'work(' "$tmp/made.bin"
status "options that merge frames are refused" 2 cprof-annotate --base main "$tmp/made.bin"
status "folded text has no lines" 2 sh -c 'echo "a;b 3" | cprof-annotate'
like "  which is said" "$(cat "$tmp/err")" '^cprof-annotate: -: folded text has no lines'
head -c 600 "$tmp/made.bin" >"$tmp/cut.bin"
status "a cut capture" 3 cprof-annotate work "$tmp/cut.bin"

# Filters select samples, and shares are of those.
is "--match leaves whole stacks" "$(cprof-annotate --match '^climb$' climb "$tmp/made.bin" | sed -n \
	's/.*with callees \([0-9.]*\) %.*/\1/p')" 100.00
status "no sample is selected" 1 cprof-annotate --comm none work "$tmp/made.bin"
is "--weight ns counts time" "$(cprof-annotate --weight ns work "$tmp/made.bin" | counts shown)" \
	"$(cprof-annotate work "$tmp/made.bin" | counts shown)"
like "  in seconds" "$(cprof-annotate --weight ns work "$tmp/made.bin")" 'self [0-9.]+ % \([0-9.]+ s\)'

# A page
cprof-annotate -o html -n 9 "$tmp/made.bin" >"$tmp/page.html"
sed -n 's,<td class="n w">,|,g; s,<td class="n">,|,; s,<td>.*,,
s,^<tr[^|]*|\(.*\)|\(.* %\)|\(.*\),\3 \1 \2,p' \
	"$tmp/page.html" |
	sed 's/  / - /; s/ %//g' >"$tmp/got"
cprof-annotate -n 9 "$tmp/made.bin" | counts shown >"$tmp/want"
same "-o html has the same rows" "$tmp/want" "$tmp/got"
is "  the text of sources is escaped" "$(grep -c 'i &lt; n' "$tmp/page.html")" \
	"$(grep -c 'work in' "$tmp/page.html")"
is "  nothing is fetched and no script is run" \
	"$(grep -ciE '<script|src=|href=|url\(|@import' "$tmp/page.html")" 0
like "  for both schemes" "$(cat "$tmp/page.html")" 'prefers-color-scheme: dark'
status "another format" 2 cprof-annotate -o pdf "$tmp/made.bin"

# Colours
cat >"$tmp/terminal.py" <<'X'
import os, pty, sys
out = b''
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
while True:
    try:
        got = os.read(fd, 65536)
    except OSError:
        break
    if not got:
        break
    out += got
os.waitpid(pid, 0)
print(out.count(b'\033[1;31m'), out.count(b'\033['))
X
export TERM=xterm
like "on a terminal the heaviest lines are red" \
	"$(python3 "$tmp/terminal.py" cprof-annotate work "$tmp/made.bin")" '^[1-9][0-9]* [1-9]'
is "  NO_COLOR" "$(NO_COLOR=1 python3 "$tmp/terminal.py" cprof-annotate work "$tmp/made.bin")" "0 0"
is "  not in a file" "$(cprof-annotate work "$tmp/made.bin" | grep -c "$(printf '\033')")" 0
status "nothing to read on a terminal is said" 0 sh -c 'python3 "$0" cprof-annotate nothing | grep "^0 0"' \
	"$tmp/terminal.py"

# A recording without a sample of the recorder's own main, from which the program is started
record() { cprof-record -q -F 499 -o "$tmp/live.bin" -- "$program" 2>"$tmp/err"; }
began_here() { cprof-fold --no-names "$tmp/live.bin" 2>/dev/null | grep -q '^cprof-record'; }
if [ -x "$BIN/cprof-record" ] && record; then
	tries=0
	while began_here && [ $((tries += 1)) -lt 20 ]; do record; done
	same_lines "a recording" "$tmp/live.bin"
else
	skip "a recording" "this user cannot record"
fi
done_testing
