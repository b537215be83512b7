#!/bin/sh
# Addresses keep the meaning they had when sampled: JIT code that moves, exec, changed mappings.
. "$(dirname "$0")/../lib/lib.sh"

fold() { cprof-fold "$@" 2>"$tmp/err"; }

cat >"$tmp/a.txt" <<'X'
segment major=1 minor=0 least=1
event id=1 name="cpu-clock" unit="ns" period=1000 millihertz=99000
flush
process id=1 time=10 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=10 process=1 tid=42
comm time=10 thread=1 comm="node"
mapping time=10 process=1 start=0x600000 length=0x1000 offset=0x0 prot=7 file=0
frame id=1 process=1 kind=exact address=0x600010
frame id=2 process=1 kind=return address=0x600020
node id=16 parent=1 frame=2
node id=17 parent=16 frame=1
jitmap time=100 process=1 generation=0 data="600000 10 old\n"
sample time=150 event=1 cpu=0 thread=1 user=17 kernel=0 weight=1000
sample time=160 event=1 cpu=0 thread=1 user=17 kernel=0 weight=1000
jitmap time=200 process=1 generation=0 data="600000 10 new\n"
sample time=250 event=1 cpu=0 thread=1 user=17 kernel=0 weight=1000
string id=1 text="old;x"
string id=2 text="new"
string id=3 text="caller"
symbol frame=2 from=0 level=0 source=perfmap name=3 offset=0 file=0 line=0
symbol frame=1 from=200 level=0 source=perfmap name=2 offset=0 file=0 line=0
symbol frame=1 from=100 level=0 source=perfmap name=1 offset=0 file=0 line=0
end time=300 reason=closed samples=3
flush
X
cprof-dump -r "$tmp/a.txt" >"$tmp/a.bin"
fold -a "$tmp/a.bin" >"$tmp/got"
printf '%s\n' 'node;caller_[j];new_[j] 1' 'node;caller_[j];old:x_[j] 2' >"$tmp/want"
same "code of a JIT compiler is named as of the sample's time" "$tmp/want" "$tmp/got"
grep -v '^symbol' "$tmp/a.txt" | cprof-dump -r | fold -a >"$tmp/got"
echo 'node;[jit]_[j];[jit]_[j] 3' >"$tmp/want"
same "without names, it is known to be JIT code" "$tmp/want" "$tmp/got"
sed 's/\(symbol frame=1 from=\)200/\1100/; s/from=100 level=0 source=perfmap name=1/from=100 level=0 source=dynsym name=1/' \
	"$tmp/a.txt" | cprof-dump -r | fold >"$tmp/got"
echo 'node;caller;new 3' >"$tmp/want"
same "of two names from one time the better source counts" "$tmp/want" "$tmp/got"
sed 's/^symbol frame=1 from=\([12]\)00 level=0 source=perfmap/symbol frame=1 from=\150 level=0 source=none/' \
	"$tmp/a.txt" | cprof-dump -r | fold >"$tmp/got"
echo 'node;caller;[jit] 3' >"$tmp/want"
same "a name that was looked for and not found is none" "$tmp/want" "$tmp/got"

# Same pid and tid: an exec begins another process; then a library replaces another at the same address.
cat >"$tmp/b.txt" <<'X'
segment major=1 minor=0 least=1
event id=1 name="cpu-clock" unit="ns" period=1000 millihertz=99000
flush
process id=1 time=10 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=10 process=1 tid=42
comm time=10 thread=1 comm="sh"
file id=1 major=8 minor=1 inode=1 generation=0 build-id= path="/bin/sh"
file id=2 major=8 minor=1 inode=2 generation=0 build-id= path="/bin/ls"
file id=3 major=8 minor=1 inode=3 generation=0 build-id= path="/lib/plugin.so"
mapping time=10 process=1 start=0x400000 length=0x1000 offset=0x0 prot=5 file=1
frame id=1 process=1 kind=exact address=0x400010
node id=16 parent=1 frame=1
sample time=100 event=1 cpu=0 thread=1 user=16 kernel=0 weight=1000
process id=2 time=200 pid=42 nspid=0 parent=1 start=5 gen=1 via=exec
thread id=2 time=200 process=2 tid=42
comm time=200 thread=2 comm="ls"
mapping time=200 process=2 start=0x400000 length=0x1000 offset=0x0 prot=5 file=2
frame id=2 process=2 kind=exact address=0x400010
node id=17 parent=1 frame=2
sample time=300 event=1 cpu=0 thread=2 user=17 kernel=0 weight=1000
mapping time=400 process=2 start=0x400000 length=0x1000 offset=0x8000 prot=5 file=3
sample time=500 event=1 cpu=0 thread=2 user=17 kernel=0 weight=1000
unmap time=600 process=2 start=0x400000 length=0x1000
sample time=700 event=1 cpu=0 thread=2 user=17 kernel=0 weight=1000
end time=800 reason=closed samples=4
flush
X
cprof-dump -r "$tmp/b.txt" | fold -t >"$tmp/got"
cat >"$tmp/want" <<'X'
ls-42/42;[ls+0x10] 1
ls-42/42;[plugin.so+0x8010] 1
ls-42/42;[unknown] 1
sh-42/42;[sh+0x10] 1
X
same "exec and new mappings end what was there before" "$tmp/want" "$tmp/got"
sed '/^comm time=200/a comm time=450 thread=2 comm="renamed"' "$tmp/b.txt" | cprof-dump -r | fold >"$tmp/got"
# The text above is in the order of the file, so the name applies to all samples after its line.
cat >"$tmp/want" <<'X'
renamed;[ls+0x10] 1
renamed;[plugin.so+0x8010] 1
renamed;[unknown] 1
sh;[sh+0x10] 1
X
same "the command is the one at the time of the sample" "$tmp/want" "$tmp/got"
done_testing
