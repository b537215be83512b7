# For tests of what readers make of inlined functions and lines: one capture, small enough to count by hand.
#
# main calls work, into which step is inlined, and mul into that; mul exists as a function of its own, too, which step
# calls elsewhere; and in one place step is inlined into itself.
inline_text() {
	cat <<'END'
segment major=1 minor=1 least=1
event id=1 name="cpu-clock" unit="ns" period=1000 millihertz=99000
flush
process id=1 time=10 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=10 process=1 tid=42
comm time=10 thread=1 comm="app"
file id=1 major=8 minor=1 inode=77 generation=0 build-id=01 path="/usr/bin/app"
mapping time=10 process=1 start=0x400000 length=0x2000 offset=0x1000 prot=5 file=1
frame id=1 process=1 kind=return address=0x400100
frame id=2 process=1 kind=exact address=0x400200
frame id=3 process=1 kind=exact address=0x400210
frame id=4 process=1 kind=exact address=0x400220
frame id=5 process=1 kind=exact address=0x400300
frame id=6 process=1 kind=return address=0x400230
frame id=7 process=1 kind=exact address=0x400240
node id=16 parent=0 frame=1
node id=17 parent=16 frame=2
node id=18 parent=16 frame=3
node id=19 parent=16 frame=4
node id=20 parent=16 frame=6
node id=21 parent=20 frame=5
node id=22 parent=16 frame=7
END
	# 3 in mul inlined into step, 2 in step, 1 in work itself, 4 in mul, 1 in step inlined into step: 11
	for node in 17 17 17 18 18 19 21 21 21 21 22; do
		echo "sample time=1000000000 event=1 cpu=0 thread=1 user=$node kernel=0 weight=1000"
	done
	cat <<'END'
string id=1 text="main"
string id=2 text="work"
string id=3 text="step"
string id=4 text="mul"
string id=11 text="/src/main.c"
string id=12 text="/src/work.c"
string id=13 text="/src/inc/step.h"
string id=14 text="/src/inc/mul.h"
symbol frame=1 from=0 level=0 source=symtab name=1 offset=16 file=11 line=40
symbol frame=2 from=0 level=0 source=symtab name=2 offset=0 file=12 line=12
symbol frame=2 from=0 level=1 source=symtab name=3 offset=0 file=13 line=7
symbol frame=2 from=0 level=2 source=symtab name=4 offset=0 file=14 line=3
symbol frame=3 from=0 level=0 source=symtab name=2 offset=16 file=12 line=12
symbol frame=3 from=0 level=1 source=symtab name=3 offset=16 file=13 line=8
symbol frame=4 from=0 level=0 source=symtab name=2 offset=32 file=12 line=15
symbol frame=5 from=0 level=0 source=symtab name=4 offset=0 file=14 line=3
symbol frame=6 from=0 level=0 source=symtab name=2 offset=48 file=12 line=20
symbol frame=6 from=0 level=1 source=symtab name=3 offset=48 file=13 line=9
symbol frame=7 from=0 level=0 source=symtab name=2 offset=64 file=12 line=13
symbol frame=7 from=0 level=1 source=symtab name=3 offset=64 file=13 line=9
symbol frame=7 from=0 level=2 source=symtab name=3 offset=64 file=13 line=7
end time=2000000000 reason=closed samples=11
flush
END
}
