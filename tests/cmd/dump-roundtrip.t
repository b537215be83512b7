#!/bin/sh
# Stream to text and text to stream are inverses, and every record type takes part.
. "$(dirname "$0")/../lib/lib.sh"

cat >"$tmp/a.txt" <<'X'
segment major=1 minor=0 least=1
meta key="host" value="h\x01\"q\n\\"
event id=1 name="cpu-clock" unit="ns" period=10101010 millihertz=99000
event id=2 name="faults" unit="" period=1 millihertz=0
flush
process id=1 time=1000000 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=1000000 process=1 tid=42
comm time=1000000 thread=1 comm="a b"
file id=1 major=8 minor=1 inode=77 generation=0 build-id=0123abff path="/bin/x"
mapping time=1000000 process=1 start=0x400000 length=0x1000 offset=0x0 prot=5 file=1
frame id=1 process=1 kind=exact address=0x400100
frame id=2 process=1 kind=return address=0x400200
frame id=3 process=1 kind=return address=0xcccccccccccccccc
frame id=4 process=0 kind=exact address=0xffffffff81000000
node id=16 parent=1 frame=2
node id=17 parent=16 frame=1
node id=18 parent=0 frame=4
sample time=2000000 event=1 cpu=1 thread=1 user=17 kernel=18 weight=10101010
sample time=1500000 event=1 cpu=0 thread=1 user=17 kernel=0 weight=5
sample time=2500000 event=2 cpu=4294967295 thread=1 user=17 kernel=0 weight=1
record-60 tail=0102
flush
ksym time=2500000 address=0xffffffff81000000 size=0x10 name="_stext" module=""
image name="[vdso]" build-id=ff data=00ff7f
jitmap time=2500001 process=1 generation=0 data="400000 10 a b\n"
cgroup id=7 path="/x"
member time=2500002 process=1 cgroup=7
unmap time=2500003 process=1 start=0x400000 length=0x1000
exit time=2500004 thread=1
ledger time=2600000 cpu=1 outcome=emitted count=2
ledger time=2600000 cpu=1 outcome=200 count=2
cost time=2600000 what=user-ns count=9
string id=1 text="main"
symbol frame=1 from=0 level=0 source=symtab name=1 offset=16 file=0 line=0
source file=1 status=ok kind=symtab path="/bin/x"
jitcode time=2600001 process=1 kind=move address=0x400000 size=0x10 old=0x400800 name=""
jitcode time=2600002 process=1 kind=load address=0x400000 size=0x10 old=0x0 name="js f"
jitcode time=2600002 process=1 kind=close address=0x0 size=0x0 old=0x0 name=""
script id=1 language=python process=1 path="/app/a.py" units=0 file=0 offset=0x0 width=0
function id=1 script=1 name="Decoder.d\xc3\xa9code" line=10 flags=0 start=0
lang-frame id=5 process=1 language=python function=1 line=12 state=ok tier=none inlined=0 position=0
lang-frame id=6 process=1 language=ruby function=0 line=0 state=not-yet tier=none inlined=0 position=0
lang-frame id=7 process=1 language=9 function=0 line=0 state=30 tier=none inlined=0 position=0
lock id=1 process=1 kind=mutex address=0x7f00deadbe40
lock id=2 process=1 kind=9 address=0x0
woken time=2600002 thread=1 slept=15 queued=20 by=task waker=1 user=17 kernel=18 lock=1 owner=1 throttled=13
woken time=2600002 thread=1 slept=0 queued=11 by=unknown waker=0 user=0 kernel=0 lock=0 owner=0 throttled=0
woken time=2600002 thread=1 slept=1 queued=0 by=timer waker=0 user=0 kernel=0 lock=2 owner=0 throttled=0
parallel time=2600002 process=1 running=2 group=3
outside time=2500002 event=1 cpu=1 thread=1
lang-line frame=5 function=0 line=13
script-source script=1 status=changed path="/app/x.js"
damage offset=1 bytes=2 blocks=3 what="checksum mismatch"
end time=3000000 reason=closed samples=3 tail=07
flush
X
cprof-dump -r "$tmp/a.txt" >"$tmp/a.bin"
cprof-dump "$tmp/a.bin" >"$tmp/b.txt" 2>/dev/null
same "text, stream, text" "$tmp/a.txt" "$tmp/b.txt"
cprof-dump -r "$tmp/b.txt" >"$tmp/b.bin"
same "stream, text, stream" "$tmp/a.bin" "$tmp/b.bin"

grep -v '^damage' "$tmp/a.txt" | cprof-dump -r >"$tmp/whole.bin"
sed 's/$/\r/' "$tmp/a.txt" | sed '3a\
\r' | cprof-dump -r >"$tmp/b.bin"
same "  with lines that end in CR LF" "$tmp/a.bin" "$tmp/b.bin"

status "a whole stream is status 0" 0 cprof-dump "$tmp/whole.bin"
cat "$tmp/whole.bin" "$tmp/whole.bin" | cprof-dump >"$tmp/two.txt"
grep -v '^damage' "$tmp/a.txt" >"$tmp/want"
cat "$tmp/want" "$tmp/want" >"$tmp/want2"
same "cat a b is a stream" "$tmp/want2" "$tmp/two.txt"

status "damage told by an earlier filter is not forgotten" 3 cprof-dump "$tmp/a.bin"
status "an unknown record name" 3 sh -c 'echo nonsense | cprof-dump -r'
like "  is a sentence with the line" "$(cat "$tmp/err")" 'line 1: invalid record "nonsense"'
status "a missing field" 3 sh -c 'echo "segment major=1" | cprof-dump -r'
like "  is a sentence with the column" "$(cat "$tmp/err")" 'expected minor= at column 16'

# By the cprof-dump of minor version 4, whose scripts, functions and frames of languages have fewer fields
base64 -d >"$tmp/old.bin" <<END
iWNwZgEAAAAdAAAAjc0GSgAAAAChLaSajc0GStG8pg8BAAQAAQADFQEJY3B1LWNsb2NrAm5zgK3iBKCNBoljcGYCAAAAQgAAAI3N
BkoBAAAA9b9Idq8jCybDpScgBAgBAgUAAAUAAAUEAQABBSANAQEBCS9hcHAvYS5weSEGAQEBZgoAIgYBAQEBDAAMAxAAAg0Gnh8A
ARAAFQTQDwAB
END
is "a capture of minor version 4" "$(cprof-fold -l "$tmp/old.bin" 2>"$tmp/err")" "[pid 5];f (a.py:12) 1"
is "  without a word" "$(cat "$tmp/err")" ""
like "  as text, with the fields that it lacks" "$(cprof-dump "$tmp/old.bin")" ' start=0$'
cprof-dump "$tmp/old.bin" | sed -e 's/ tier=none.*//' -e 's/ start=0//' -e 's/ units=0.*//' >"$tmp/short.txt"
is "  and from text without them" \
	"$(cprof-dump -r "$tmp/short.txt" | cprof-dump)" "$(cprof-dump "$tmp/old.bin")"
done_testing
