#!/bin/sh
# cprof-fold on captures: names, roots, halves, weights, times, filters
. "$(dirname "$0")/../lib/lib.sh"

fold() { cprof-fold "$@" 2>"$tmp/err"; }

# Two processes, one with threads; a library at two bases; every kind of unnamed address
cat >"$tmp/a.txt" <<'X'
segment major=1 minor=0 least=1
event id=1 name="cpu-clock" unit="ns" period=1000 millihertz=99000
event id=2 name="faults" unit="" period=1 millihertz=0
flush
process id=1 time=10 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
process id=2 time=10 pid=43 nspid=0 parent=0 start=6 gen=0 via=snapshot
thread id=1 time=10 process=1 tid=42
thread id=2 time=10 process=1 tid=99
thread id=3 time=10 process=2 tid=43
thread id=4 time=10 process=2 tid=44
comm time=10 thread=1 comm="make"
comm time=10 thread=2 comm="make helper"
comm time=10 thread=3 comm="cc1"
cgroup id=7 path="/user.slice/build;x"
member time=10 process=1 cgroup=7
file id=1 major=8 minor=1 inode=77 generation=0 build-id=01 path="/usr/lib/libfoo.so.6 (deleted)"
file id=2 major=0 minor=0 inode=0 generation=0 build-id= path="[vdso]"
file id=3 major=0 minor=0 inode=0 generation=0 build-id= path="[heap]"
file id=4 major=0 minor=5 inode=9 generation=0 build-id= path="/memfd:jit (deleted)"
mapping time=10 process=1 start=0x400000 length=0x2000 offset=0x1000 prot=5 file=1
mapping time=10 process=2 start=0x7f0000 length=0x2000 offset=0x1000 prot=5 file=1
mapping time=10 process=1 start=0x500000 length=0x1000 offset=0x0 prot=5 file=2
mapping time=10 process=1 start=0x600000 length=0x1000 offset=0x0 prot=7 file=0
mapping time=10 process=1 start=0x700000 length=0x1000 offset=0x0 prot=7 file=3
mapping time=10 process=1 start=0x800000 length=0x1000 offset=0x0 prot=7 file=4
frame id=1 process=1 kind=return address=0x400231
frame id=2 process=2 kind=return address=0x7f0231
frame id=3 process=1 kind=exact address=0x5008a0
frame id=4 process=1 kind=exact address=0x600010
frame id=5 process=1 kind=exact address=0x700010
frame id=6 process=1 kind=exact address=0x800010
frame id=7 process=1 kind=exact address=0x10
frame id=8 process=1 kind=return address=0x400300
frame id=9 process=0 kind=return address=0xffffffff81000110
frame id=10 process=0 kind=exact address=0xffffffff82000000
frame id=11 process=0 kind=return address=0xffffffff81000100
node id=16 parent=1 frame=1
node id=17 parent=16 frame=3
node id=18 parent=16 frame=4
node id=19 parent=16 frame=5
node id=20 parent=16 frame=6
node id=21 parent=2 frame=7
node id=22 parent=1 frame=2
node id=23 parent=0 frame=9
node id=24 parent=23 frame=10
node id=25 parent=16 frame=8
node id=26 parent=3 frame=11
sample time=1000000000 event=1 cpu=0 thread=1 user=17 kernel=0 weight=1000
sample time=1100000000 event=1 cpu=0 thread=1 user=18 kernel=0 weight=1000
sample time=1200000000 event=1 cpu=0 thread=1 user=19 kernel=0 weight=1000
sample time=1300000000 event=1 cpu=0 thread=2 user=20 kernel=0 weight=1000
sample time=1400000000 event=1 cpu=0 thread=2 user=21 kernel=0 weight=1000
sample time=1500000000 event=1 cpu=0 thread=3 user=22 kernel=24 weight=1000
sample time=2000000000 event=1 cpu=0 thread=3 user=22 kernel=0 weight=2500
sample time=2500000000 event=1 cpu=0 thread=4 user=6 kernel=23 weight=1000
sample time=3000000000 event=1 cpu=0 thread=1 user=25 kernel=26 weight=1000
sample time=3500000000 event=1 cpu=0 thread=1 user=3 kernel=0 weight=1000
sample time=3900000000 event=2 cpu=0 thread=1 user=16 kernel=0 weight=7
ksym time=4000000000 address=0xffffffff81000100 size=0x20 name="do_work" module=""
ksym time=4000000000 address=0xffffffff810000f0 size=0x10 name="calls_noreturn" module=""
string id=1 text="outer"
string id=2 text="middle"
string id=3 text="inner"
symbol frame=8 from=0 level=0 source=symtab name=1 offset=16 file=0 line=0
symbol frame=8 from=0 level=1 source=symtab name=2 offset=16 file=0 line=0
symbol frame=8 from=0 level=2 source=symtab name=3 offset=16 file=0 line=0
end time=4000000000 reason=closed samples=11
flush
X
cprof-dump -r "$tmp/a.txt" >"$tmp/a.bin" || exit 1

cat >"$tmp/want" <<'X'
[pid 43];do_work 1
cc1;[libfoo.so.6+0x1231] 1
cc1;[libfoo.so.6+0x1231];do_work;[kernel] 1
make 1
make helper;[libfoo.so.6+0x1231];[memfd:jit+0x10] 1
make helper;[unknown] 1
make;[libfoo.so.6+0x1231] 1
make;[libfoo.so.6+0x1231];[anon] 1
make;[libfoo.so.6+0x1231];[heap] 1
make;[libfoo.so.6+0x1231];[vdso+0x8a0] 1
make;[libfoo.so.6+0x1231];outer;calls_noreturn 1
X
fold "$tmp/a.bin" >"$tmp/got"; is "a whole capture is status 0" $? 0
same "every kind of frame has its name" "$tmp/want" "$tmp/got"
is "  nothing is said where nothing was lost" "$(cat "$tmp/err")" ""
cprof-top --by module "$tmp/a.bin" 2>/dev/null >"$tmp/modules"
is "  a memfd is a module" "$(grep -o '\[[am][^]]*\]' "$tmp/modules" | sort | tr '\n' ,)" '[anon],[memfd:jit],'
memfd() { sed "s|/memfd:jit|/memfd:$1|" "$tmp/a.txt" | cprof-dump -r | fold -a | sed -n 's/.*;\(\[memfd.*\)/\1/p'; }
is "  named as every reader takes it" "$(memfd 'a b;c/d\\n ')" '[memfd:a b:c/d?+0x10] 1'
is "  or not at all" "$(memfd '')" '[memfd:+0x10] 1'
awk '/^end/ { print "jitmap time=4000000000 process=1 generation=0 data=\"\"" } { print }' "$tmp/a.txt" | cprof-dump -r | fold >"$tmp/got"
is "  in a process with a perf map it is the compiler's" "$(grep -c 'make helper;.*;\[jit\] 1$' "$tmp/got")" 1
cprof-fold <"$tmp/a.bin" >"$tmp/got"
same "standard input" "$tmp/want" "$tmp/got"
fold - <"$tmp/a.bin" >"$tmp/got"
same "an operand -" "$tmp/want" "$tmp/got"

fold -iad --truncated "$tmp/a.bin" | grep -E 'outer|truncated|do_work' >"$tmp/got"
cat >"$tmp/want" <<'X'
[pid 43];do_work_[k] 1
cc1;[libfoo.so.6+0x1231];-;do_work_[k];[kernel]_[k] 1
make helper;[truncated: depth];[unknown] 1
make;[libfoo.so.6+0x1231];outer;middle_[i];inner_[i];-;[truncated: unreadable];calls_noreturn_[k] 1
make;[truncated: unreadable] 1
X
same "annotations, delimiter, truncated stacks" "$tmp/want" "$tmp/got"

is "-p" "$(fold -p "$tmp/a.bin" | cut -d';' -f1 | sed 's/ [0-9]*$//' | sort -u | tr '\n' ,)" \
	"[pid 43]-43,cc1-43,make helper-42,make-42,"
is "-t" "$(fold -t "$tmp/a.bin" | cut -d';' -f1 | sed 's/ [0-9]*$//' | sort -u | tr '\n' ,)" \
	"[pid 43]-43/44,cc1-43/43,make helper-42/99,make-42/42,"
is "--container" "$(fold --container "$tmp/a.bin" | cut -d';' -f1,2 | sed 's/ [0-9]*$//' | sort -u | tr '\n' ,)" \
	"/user.slice/build:x;make,/user.slice/build:x;make helper,[no cgroup];[pid 43],[no cgroup];cc1,"

fold -U "$tmp/a.bin" >"$tmp/got"
cat >"$tmp/want" <<'X'
cc1;[libfoo.so.6+0x1231] 2
make helper;[libfoo.so.6+0x1231];[memfd:jit+0x10] 1
make helper;[unknown] 1
make;[libfoo.so.6+0x1231] 1
make;[libfoo.so.6+0x1231];[anon] 1
make;[libfoo.so.6+0x1231];[heap] 1
make;[libfoo.so.6+0x1231];[vdso+0x8a0] 1
make;[libfoo.so.6+0x1231];outer 1
X
same "-U leaves out the kernel, and samples without a user stack" "$tmp/want" "$tmp/got"
is "  one that could not be read too" "$(cprof-top -v -U --by process "$tmp/a.bin" | sed -n 's/^Samples: *//p')" \
	"11 in 3.00 s, 9 of them looked at"
fold -K "$tmp/a.bin" >"$tmp/got"
cat >"$tmp/want" <<'X'
[pid 43];do_work 1
cc1;do_work;[kernel] 1
make;calls_noreturn 1
X
same "-K leaves out user stacks, and samples that were not in the kernel" "$tmp/want" "$tmp/got"

total() { awk '{ n += $NF } END { print n + 0 }'; }
is "sums are conserved" "$(fold "$tmp/a.bin" | total)" 11
is "  with each option" "$(fold -adpt --container --truncated "$tmp/a.bin" | total)" 11
is "--weight ns counts time, and only events that measure it" "$(fold --weight ns "$tmp/a.bin" | total)" 11500
is "  by stack" "$(fold --weight ns "$tmp/a.bin" | sed -n '/^cc1/p' | tr '\n' ,)" \
	"cc1;[libfoo.so.6+0x1231] 2500,cc1;[libfoo.so.6+0x1231];do_work;[kernel] 1000,"

is "--pid" "$(fold --pid 43 "$tmp/a.bin" | total)" 3
is "--pid with a list" "$(fold --pid 43,42 "$tmp/a.bin" | total)" 11
is "--pid twice" "$(fold --pid 43 --pid 42 "$tmp/a.bin" | total)" 11
is "--tid" "$(fold --tid 99,44 "$tmp/a.bin" | total)" 3
is "--comm is the whole name" "$(fold --comm 'make helpe' "$tmp/a.bin" | total)" 0
is "  of a thread" "$(fold --comm 'make helper' "$tmp/a.bin" | total)" 2
is "  or of a process, for all its threads" "$(fold --comm make "$tmp/a.bin" | total)" 8
is "--comm twice" "$(fold --comm make --comm cc1 "$tmp/a.bin" | total)" 11
is "--match finds a frame anywhere in the stack" "$(fold -i --match '^(middle|do_work)$' "$tmp/a.bin" | total)" 3
is "--match looks at the command too" "$(fold --match '^make' "$tmp/a.bin" | total)" 8
is "filters combine" "$(fold --match '^do' --tid 43 --comm cc1 "$tmp/a.bin" | total)" 1
is "--from is in seconds after the first sample" "$(fold --from 1 "$tmp/a.bin" | total)" 5
is "--to excludes its end" "$(fold --to 1.0 "$tmp/a.bin" | total)" 6
is "slices add up" "$(for s in '--to 0.25' '--from 0.25 --to 2.0' '--from 2'; do fold $s "$tmp/a.bin"; done | total)" 11
is "a slice of a nanosecond" "$(fold --from 0.1 --to 0.100000001 "$tmp/a.bin" | total)" 1

# Two captures in one stream: each has its own beginning, a continued one does not.
cat "$tmp/a.bin" "$tmp/a.bin" >"$tmp/aa.bin"
is "cat a a counts twice" "$(fold "$tmp/aa.bin" | total)" 22
is "each capture has its own time 0" "$(fold --to 1 "$tmp/aa.bin" | total)" 12
sed 's/reason=closed/reason=continues/' "$tmp/a.txt" >"$tmp/b.txt"
sed '/^sample/s/time=/time=10/' "$tmp/a.txt" >>"$tmp/b.txt"
cprof-dump -r "$tmp/b.txt" >"$tmp/b.bin"
is "a continued capture has one" "$(fold --to 1 "$tmp/b.bin" | total)" 6
is "  so that its second segment is later" "$(fold --from 4 "$tmp/b.bin" | total)" 11

# The recorder's own losses are reported.
sed 's/^end/ledger time=3999999999 cpu=1 outcome=expected count=6000\nledger time=3999999999 cpu=2 outcome=expected count=5880\nledger time=3999999999 cpu=1 outcome=ring-full count=11\nledger time=3999999999 cpu=2 outcome=nested count=1\nend/' \
	"$tmp/a.txt" | cprof-dump -r >"$tmp/l.bin"
status "losses of the recorder are no damage of the input" 0 cprof-fold "$tmp/l.bin"
is "  they are told in one line" "$(sed "s|$tmp/||" "$tmp/err")" \
	"cprof-fold: l.bin: 12 of 11880 expected samples lost (ring-full 11, nested 1)"
done_testing
