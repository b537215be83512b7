#!/bin/sh
# -o FILE of each program: the suffix is the kind of output. On a terminal, programs name the input that they
# wait for, and refuse to print pages.
. "$(dirname "$0")/../lib/lib.sh"
printf '%s\n' 'app;main;work 6' 'app;main;idle 3' >"$tmp/a.folded"
printf '%s\n' 'app;main;work 9' >"$tmp/b.folded"
cd "$tmp" || exit 1

# same_as FILE COMMAND...: the file has what the command prints
same_as() {
	file=$1
	shift
	"$@" >want 2>/dev/null
	same "$file is the output of $*" "$file" want
}
for kind in html svg; do
	status "cprof-flame -o x.$kind" 0 cprof-flame -o "x.$kind" a.folded
	is "  nothing on standard output" "$(cat out)" ""
	same_as "x.$kind" cprof-flame -o $kind a.folded
done
for program in top fold; do
	for kind in tsv json ndjson; do
		status "cprof-$program -o x.$kind" 0 cprof-$program -o "x.$kind" a.folded
		same_as "x.$kind" cprof-$program -o $kind a.folded
	done
	status "cprof-$program -o x.txt" 0 cprof-$program -o x.txt a.folded
	same_as x.txt cprof-$program a.folded
done
status "cprof-diff -o d.tsv" 0 cprof-diff -o d.tsv a.folded b.folded
same_as d.tsv cprof-diff -o tsv a.folded b.folded
status "cprof-diff -o d.txt" 0 cprof-diff -o d.txt a.folded b.folded
same_as d.txt cprof-diff a.folded b.folded
cp "$top/tests/data/small.txt" text
cprof-dump -r text >t.bin 2>/dev/null
status "cprof-dump -r -o" 0 cprof-dump -r -o u.bin text
same "  is its output" u.bin t.bin
status "cprof-sym -o" 0 cprof-sym -o u.sym t.bin
cprof-sym t.bin >t.sym 2>/dev/null
same "  is its output" u.sym t.sym
status "cprof-convert -o x.callgrind" 0 cprof-convert -o x.callgrind t.bin
same_as x.callgrind cprof-convert -t callgrind t.bin
status "a file of no known kind" 2 cprof-convert -o x.out t.bin
status "  with -t" 0 cprof-convert -t callgrind -o x.out t.bin
same "  is written" x.out x.callgrind

status "a kind that is none" 2 cprof-flame -o x.png a.folded
is "  is refused" "$(head -n 1 err)" 'cprof-flame: invalid -o "x.png" (expected html, svg or FILE)'
cp a.folded same.txt
status "a file that is an operand" 2 cprof-fold -o same.txt same.txt
same "  is not changed" same.txt a.folded
status "  as standard input" 2 sh -c 'cprof-fold -o same.txt <same.txt'
same "    neither" same.txt a.folded
status "  of --before" 2 cprof-diff --before same.txt --after b.folded -o same.txt
is "    which is named" "$(head -n 1 err)" \
	'cprof-diff: -o same.txt would replace a file that is read: same.txt'
same "    neither" same.txt a.folded
status "another file than standard input" 0 sh -c 'cprof-fold -o other.txt <same.txt'

# A file in a directory that is an operand
mkdir d
cp t.bin d/a.cprof
cprof-sym d >want 2>/dev/null
for to in '-o' '>'; do
	status "cprof-sym d $to d/all.cprof" 0 sh -c "ulimit -f 100; cprof-sym d $to d/all.cprof"
	unlike "  says nothing of the file" "$(cat err)" all.cprof
	same "  does not read it" d/all.cprof want
	[ "$to" = '>' ] || status "  nor replaces it, once it is a capture" 2 \
		sh -c 'ulimit -f 100; cprof-sym d -o d/all.cprof'
	rm d/all.cprof
done
status "a capture of the directory" 2 cprof-convert -t tsv -o d/a.cprof d
same "  is not changed" d/a.cprof t.bin
ln -s d/a.cprof link.tsv && ln d/a.cprof hard.tsv
for name in link hard; do
	status "  by a $name link elsewhere" 2 cprof-fold -o $name.tsv d
	is "    is refused" "$(head -n 1 err)" "cprof-fold: -o $name.tsv would replace a file that is read: d"
	same "    is not changed" d/a.cprof t.bin
done
rm link.tsv hard.tsv
status "a report in it" 0 cprof-fold -o d/a.tsv d
status "  is replaced" 0 cprof-fold -o d/a.tsv d

status "a directory that does not exist" 1 cprof-top -o none/x.tsv a.folded
is "  is named" "$(cat err)" "cprof-top: none/x.tsv: No such file or directory"
if [ -e /dev/full ]; then
	ln -s /dev/full full.tsv
	status "a full disk" 1 cprof-top -o full.tsv a.folded
	cp "$tests/fuzz/corpus/perfscript-forms.txt" forms
	status "  of a stream" 1 cprof-convert -t stream -o full.tsv forms
	like "    is that of the file" "$(cat err)" '^cprof-convert: full.tsv: .*No space left'
fi

if ! command -v python3 >/dev/null; then
	skip "terminals" "python3 is not here"
	done_testing
fi
# on_terminal KEYS COMMAND...: standard streams are a terminal, on which KEYS are typed. Prints the output.
cat >on_terminal.py <<'END'
import os, pty, select, sys, time
pid, fd = pty.fork()
if not pid:
    os.execvp(sys.argv[2], sys.argv[2:])
os.write(fd, sys.argv[1].encode().decode("unicode_escape").encode("latin-1"))
text, until = b"", time.time() + 60
while time.time() < until:
    if select.select([fd], [], [], 1)[0]:
        try:
            more = os.read(fd, 65536)
        except OSError:
            break
        if not more:
            break
        text += more
sys.stdout.write(text.decode("utf-8", "replace").replace("\r", ""))
END
on_terminal() { python3 on_terminal.py "$@"; }
got=$(on_terminal 'app;main;work 5\n\x04\x04' cprof-top)
like "a program that waits for a terminal says so" "$got" \
	'cprof-top: reading standard input, a terminal: name a FILE, or end the text with Ctrl-D'
like "  and reads on" "$got" '5 .* work'
unlike "an operand needs no word" "$(on_terminal '' cprof-top a.folded)" 'standard input'
got=$(on_terminal '' cprof-flame a.folded)
like "a page is not for a terminal" "$got" \
	'cprof-flame: standard output is a terminal: a page is for a browser, send it to a file \(-o FILE\) or a pipe'
unlike "  and none is written" "$got" '<html|<!DOCTYPE'
done_testing
