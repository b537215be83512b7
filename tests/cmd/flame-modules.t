#!/bin/sh
# Modules in the pictures of cprof-flame: in the data, in tooltips and in the table, as in cprof-top -v.
. "$(dirname "$0")/../lib/lib.sh"
command -v python3 >/dev/null || skip_all "python3 is not here"
export PYTHONDONTWRITEBYTECODE=1
cd "$tmp" || exit 1

# main and step of cc1 and of as, malloc of a libc that both use, and a function of the kernel. as has its own
# malloc, which calls the other one.
cat >a.txt <<'X'
segment major=1 minor=0 least=1
event id=1 name="cpu-clock" unit="ns" period=10000 millihertz=99000
flush
process id=1 time=0 pid=41 nspid=0 parent=0 start=5 gen=0 via=snapshot
process id=2 time=0 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=0 process=1 tid=41
thread id=2 time=0 process=2 tid=42
comm time=0 thread=1 comm="cc1"
comm time=0 thread=2 comm="as"
file id=1 major=8 minor=1 inode=77 generation=0 build-id=01 path="/usr/bin/cc1"
file id=2 major=8 minor=1 inode=78 generation=0 build-id=02 path="/usr/bin/as"
file id=3 major=8 minor=1 inode=79 generation=0 build-id=03 path="/usr/lib/libc.so.6"
mapping time=0 process=1 start=0x400000 length=0x2000 offset=0x1000 prot=5 file=1
mapping time=0 process=1 start=0x700000 length=0x2000 offset=0x0 prot=5 file=3
mapping time=0 process=2 start=0x400000 length=0x2000 offset=0x1000 prot=5 file=2
mapping time=0 process=2 start=0x700000 length=0x2000 offset=0x0 prot=5 file=3
frame id=1 process=1 kind=exact address=0x400010
frame id=2 process=1 kind=exact address=0x400020
frame id=3 process=1 kind=exact address=0x700010
frame id=4 process=2 kind=exact address=0x400010
frame id=5 process=2 kind=exact address=0x400020
frame id=6 process=2 kind=exact address=0x700010
frame id=7 process=2 kind=exact address=0x400030
frame id=8 process=0 kind=exact address=0xffffffff81000010
frame id=9 process=2 kind=exact address=0x700050
node id=16 parent=0 frame=1
node id=17 parent=16 frame=2
node id=18 parent=17 frame=3
node id=19 parent=0 frame=4
node id=20 parent=19 frame=5
node id=21 parent=20 frame=7
node id=22 parent=21 frame=6
node id=23 parent=19 frame=9
node id=24 parent=0 frame=8
string id=1 text="main"
string id=2 text="step"
string id=3 text="malloc"
string id=4 text="vfs_read"
symbol frame=1 from=0 level=0 source=symtab name=1 offset=0 file=0 line=0
symbol frame=2 from=0 level=0 source=symtab name=2 offset=0 file=0 line=0
symbol frame=3 from=0 level=0 source=symtab name=3 offset=0 file=0 line=0
symbol frame=4 from=0 level=0 source=symtab name=1 offset=0 file=0 line=0
symbol frame=5 from=0 level=0 source=symtab name=2 offset=0 file=0 line=0
symbol frame=6 from=0 level=0 source=symtab name=3 offset=0 file=0 line=0
symbol frame=7 from=0 level=0 source=symtab name=3 offset=0 file=0 line=0
symbol frame=8 from=0 level=0 source=symtab name=4 offset=0 file=0 line=0
sample time=10000 event=1 cpu=0 thread=1 user=18 kernel=0 weight=10000
sample time=20000 event=1 cpu=0 thread=1 user=18 kernel=0 weight=10000
sample time=30000 event=1 cpu=0 thread=1 user=17 kernel=0 weight=10000
sample time=40000 event=1 cpu=0 thread=2 user=22 kernel=0 weight=10000
sample time=50000 event=1 cpu=0 thread=2 user=21 kernel=0 weight=10000
sample time=60000 event=1 cpu=0 thread=2 user=20 kernel=0 weight=10000
sample time=70000 event=1 cpu=0 thread=2 user=19 kernel=24 weight=10000
sample time=80000 event=1 cpu=0 thread=2 user=23 kernel=0 weight=10000
end time=90000 reason=closed samples=8
flush
X
cprof-dump -r a.txt >a.bin || exit 1
cprof-top --no-names -v -n 0 -o tsv a.bin | tail -n +2 | sort >want.top
like "the capture has two functions of a name" "$(cat want.top)" '^main \[as\]'
cprof-flame --no-names -o page.html a.bin
"$here/flame-block.py" modules page.html >got
cat <<'X' >want
[libc.so.6+0x50] libc.so.6
as -
cc1 -
main as *
main cc1 *
malloc as *
malloc libc.so.6 *
step as *
step cc1 *
vfs_read [kernel]
X
same "each label has its module, those of one name are marked" want got
cprof-fold --no-names -a a.bin >folded
cprof-flame -o text.html folded
is "folded text has none" "$("$here/flame-block.py" modules text.html)" ""
cprof-flame --no-names -o both.html a.bin folded
is "nor has text with a capture" "$("$here/flame-block.py" modules both.html)" ""
"$here/flame-block.py" boxes text.html | awk '{ print $1, 2 * $2, 2 * $3 }' >want
"$here/flame-block.py" boxes both.html >got
same "  which adds up by name" want got
cprof-flame --no-names --by function -o by.html a.bin
is "nor has --by function" "$("$here/flame-block.py" modules by.html)" ""
status "--by process,cpu is drawn" 0 cprof-flame --no-names --by process,cpu -o x.html a.bin
is "  with a hint, because it has no stacks" "$(cat "$tmp/err")" \
	"cprof-flame: --by process,cpu draws no stacks, as --by process,cpu,function does"
is "  which --by process,function has" \
	"$(cprof-flame --no-names --by process,function -o x.html a.bin 2>&1)" ""
cprof-flame --no-names -o picture.svg a.bin
tooltips() { tr '\n' ' ' <picture.svg | grep -o "<title>$1 [^<]*" | sed 's/.*% *//' | sort | tr '\n' ,; }
is "a picture has them in tooltips" "$(tooltips main)" "as,cc1,"
is "  with the kind of the frame" "$(tooltips vfs_read)" "kernel · [kernel],"
cprof-flame --no-names --base '^step$' -o page2.html a.bin
"$here/flame-block.py" modules page2.html | sed -n 's/^step //p' >got
is "also the outermost frame has one" "$(cat got)" "as *
cc1 *"
. "$tests/lib/browser-lib.sh"
if has_browser; then
	python3 "$here/flame-modules.py" "$tmp" "$BUILD/screenshots" >tap 2>tap.err
	browser=$?
	is "the page in a browser: $(grep -c '^ok' tap) checks" "$(grep '^not ok' tap; cat tap.err)$browser" 0
else
	skip "the page in a browser" "no Chromium is here"
fi
done_testing
