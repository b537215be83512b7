#!/bin/sh
# cprof-flame on captures: kinds of frames, the ledger in the picture, time, the heat map
. "$(dirname "$0")/../lib/lib.sh"

block() { "$here/flame-block.py" "$@"; }
flame() { cprof-flame "$@" 2>"$tmp/err"; }

cat >"$tmp/c.txt" <<'X'
segment major=1 minor=0 least=1
event id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000
flush
process id=1 time=10 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
process id=2 time=10 pid=43 nspid=0 parent=0 start=6 gen=0 via=snapshot
thread id=1 time=10 process=1 tid=42
thread id=3 time=10 process=2 tid=43
comm time=10 thread=1 comm="db"
comm time=10 thread=3 comm="web"
file id=1 major=8 minor=1 inode=77 generation=0 build-id=01 path="/usr/bin/db"
mapping time=10 process=1 start=0x400000 length=0x2000 offset=0x1000 prot=5 file=1
mapping time=10 process=2 start=0x400000 length=0x2000 offset=0x1000 prot=5 file=1
frame id=1 process=1 kind=return address=0x400100
frame id=2 process=1 kind=exact address=0x400200
frame id=3 process=2 kind=exact address=0x400300
frame id=5 process=0 kind=exact address=0xffffffff81000000
node id=16 parent=1 frame=1
node id=17 parent=16 frame=2
node id=18 parent=2 frame=3
node id=21 parent=0 frame=5
sample time=1000000000 event=1 cpu=0 thread=1 user=17 kernel=0 weight=10000000
sample time=1010000000 event=1 cpu=0 thread=1 user=17 kernel=0 weight=10000000
sample time=1030000000 event=1 cpu=0 thread=1 user=17 kernel=21 weight=30000000
sample time=2500000000 event=1 cpu=0 thread=3 user=18 kernel=0 weight=10000000
string id=1 text="main"
string id=2 text="memcpy"
symbol frame=1 from=0 level=0 source=symtab name=1 offset=0 file=0 line=0
symbol frame=2 from=0 level=0 source=dynsym name=2 offset=0 file=0 line=0
ksym time=4000000000 address=0xffffffff81000000 size=0x10 name="ksys_read" module=""
ledger time=4000000000 cpu=1 outcome=expected count=3000
ledger time=4000000000 cpu=1 outcome=emitted count=4
ledger time=4000000000 cpu=1 outcome=idle count=2990
ledger time=4000000000 cpu=1 outcome=ring-full count=6
end time=4000000000 reason=closed samples=4
flush
X
cprof-dump -r "$tmp/c.txt" >"$tmp/c.bin" || exit 1
flame "$tmp/c.bin" >"$tmp/c.html"
block head "$tmp/c.html" >"$tmp/got"
cat >"$tmp/want" <<'X'
flags 72
texts|Flame Graph|3.00 s, cpu-clock at 100 Hz, 1 CPU|samples||
option summary = CPUs 0.13 % busy: 0.07 user, 0.03 kernel, 0.03 unnamed; 6 lost (0.2 %)
option caution = only 4 samples: shares may be off by 35 points (95 %)
option samples = 4
ledger Samples = 4 in 3.00 s
ledger Expected = 3,000: 4 emitted, 2,990 idle, 6 ring-full
ledger Lost = 6 of 3000 expected samples lost (ring-full 6)
ledger Truncated = 25.00 % of user stacks; 75.00 % by frame pointers (unverified)
ledger Unresolved = 25.00 % of innermost frames
X
same "the ledger of a capture" "$tmp/want" "$tmp/got"
is "  stands in the picture, too" "$(flame -o svg "$tmp/c.bin" | grep -c '>Lost: 6 of 3000 expected samples lost (ring-full 6)<')" 1
is "boxes" "$(block boxes "$tmp/c.html" | tr '\n' ,)" \
	"db 0 3,db;main 0 3,db;main;memcpy 2 3,db;main;memcpy;ksys_read 1 1,web 0 1,web;[db+0x1300] 1 1,"
is "kinds" "$(block labels "$tmp/c.html" | tr '\n' ,)" "6 [db+0x1300],5 db,1 ksys_read,0 main,0 memcpy,5 web,"
is "  of modules, too" "$(flame --by module "$tmp/c.bin" | block labels | tr '\n' ,)" "1 [kernel],0 db,5 db,5 web,"
is "time" "$(flame --weight ns "$tmp/c.bin" | block boxes | sed -n 4p)" "db;main;memcpy;ksys_read 30000000 30000000"
is "--truncated" "$(flame --truncated "$tmp/c.bin" | block labels | grep truncated)" "8 [truncated: depth]"
is "-K" "$(flame -K "$tmp/c.bin" | block boxes | tr '\n' ,)" "db 0 1,db;ksys_read 1 1,"
status "an operand that is not there" 1 cprof-flame "$tmp/none" "$tmp/c.bin"
cprof-dump -r "$tests/fuzz/corpus/profile-inlined" >"$tmp/i.bin" || exit 1
is "-i: inlined functions are a kind" "$(flame -i "$tmp/i.bin" | block labels | tr '\n' ,)" "5 app,0 main,0 mul,2 mul,2 step,0 work,"

# Waiting time: the reason of a wait is not code, and a wait is not a sample where samples are counted.
{
	sed '/^sample time=10[13]0/d; s/^flush$/event id=2 name="off-cpu:sleep" unit="ns" period=0 millihertz=0\nflush/' "$tmp/c.txt" | sed '/^string/,$d'
	printf 'sample time=%d000000000 event=2 cpu=0 thread=1 user=17 kernel=21 weight=500000000\n' 3 4 5
	sed -n '/^string/,$p' "$tmp/c.txt" | sed 's/samples=4/samples=5/'
} | cprof-dump -r >"$tmp/w.bin" || exit 1
is "waiting is a kind" "$(flame --wall "$tmp/w.bin" | block labels | tr '\n' ,)" "6 [db+0x1300],7 [sleeping],5 db,1 ksys_read,0 main,0 memcpy,5 web,"
told() { flame "$@" | block head | sed -n 's/^ledger Samples = //p'; }
is "a record of waiting time is no sample" "$(told "$tmp/w.bin")" "2 in 4.00 s"
is "  but told where it is looked at" "$(told --wall "$tmp/w.bin")" "2 in 4.00 s and 3 of waiting time"
is "  and some of them" "$(told --event off-cpu "$tmp/w.bin")" "2 in 4.00 s and 3 of waiting time, 3 of them looked at"
is "  as cprof-top has it" "$(for o in --wall '--event off-cpu' -U; do cprof-top -v $o "$tmp/w.bin" | sed -n 's/^Samples: *//p'; done | tr '\n' '|')" \
	"2 in 4.00 s and 3 of waiting time|2 in 4.00 s and 3 of waiting time, 3 of them looked at|2 in 4.00 s|"
if cprof-top -o json "$tmp/w.bin" >"$tmp/w.json" 2>/dev/null; then
	like "  for programs" "$(cat "$tmp/w.json")" '"samples":2,"waits":3,"others":0,'
fi
if cprof-convert -t pprof "$tmp/w.bin" 2>/dev/null >"$tmp/w.pb.gz"; then
	like "  in pprof's comment" "$(gzip -dc "$tmp/w.pb.gz" | strings)" 'ledger: 2 samples in 4\.00 s, 3000 expected'
fi

# Folded text with a capture: equal names merge, whatever kinds the text gives.
printf 'db;main;memcpy;ksys_read 5\ndb;main;other_[k] 1\n' >"$tmp/f"
is "with folded text one name is one box" "$(flame "$tmp/c.bin" "$tmp/f" | block boxes | tr '\n' ,)" \
	"db 0 9,db;main 0 9,db;main;memcpy 2 8,db;main;memcpy;ksys_read 6 6,db;main;other 1 1,web 0 1,web;[db+0x1300] 1 1,"
like "  of the kind that is known" "$(flame "$tmp/c.bin" "$tmp/f" | block labels)" '^1 ksys_read$'
like "  and the ledger tells" "$(flame "$tmp/c.bin" "$tmp/f" | block head)" 'partly from folded text, of which the losses are unknown'

# The heat map: each sample is in its slice, and nothing else.
flame --heatmap "$tmp/c.bin" >"$tmp/h.html"
cat >"$tmp/want" <<'X'
20000000 100
0 db;main;memcpy 2
1 db;main;memcpy;ksys_read 1
75 web;[db+0x1300] 1
X
block times "$tmp/h.html" >"$tmp/got"
same "--heatmap: when samples came, by 20 ms" "$tmp/want" "$tmp/got"
is "  the boxes are the same" "$(block boxes "$tmp/h.html")" "$(block boxes "$tmp/c.html")"
is "  by 500 ms" "$(flame --heatmap --slice 500 "$tmp/c.bin" | block times | tr '\n' ,)" \
	"500000000 4,0 db;main;memcpy 2,0 db;main;memcpy;ksys_read 1,3 web;[db+0x1300] 1,"
is "  of time" "$(flame --heatmap --slice 500 --weight ns "$tmp/c.bin" | block times | sed -n 3p)" "0 db;main;memcpy;ksys_read 30000000"
is "captures stand one behind the other, each from a whole second on" \
	"$(flame --heatmap --slice 500 "$tmp/c.bin" "$tmp/c.bin" | block times | cut -d' ' -f1 | tr '\n' ' ')" "500000000 0 0 3 4 4 7 "
is "  and each but the first says where it begins" "$(flame --heatmap --slice 500 "$tmp/c.bin" "$tmp/c.bin" "$tmp/c.bin" | block runs)" "4 4"
is "  one alone does not" "$(flame --heatmap --slice 500 "$tmp/c.bin" | block runs)" ""
is "filters hold" "$(flame --heatmap --slice 500 --match memcpy "$tmp/c.bin" | block times | wc -l)" 3
sed 's/time=2500000000/time=250000000000000/; s/=4000000000 /=260000000000000 /' "$tmp/c.txt" | cprof-dump -r >"$tmp/long.bin" || exit 1
status "three days by 20 ms are too many slices" 2 cprof-flame --heatmap --slice 20 "$tmp/long.bin"
like "  which is said" "$(cat "$tmp/err")" 'cannot draw the heat map: it would have 12500000 slices of 20 ms, more than'
is "  unless longer ones will do" "$(flame --heatmap "$tmp/long.bin" | block times | tr '\n' ,)" \
	"100000000 2500000,0 db;main;memcpy 2,0 db;main;memcpy;ksys_read 1,2499990 web;[db+0x1300] 1,"
is "  threads and CPUs are known" "$(flame --heatmap "$tmp/c.bin" | block lanes | tr '\n' ,)" \
	"0 db-42/42 0 2,1 db-42/42 0 1,75 web-43/43 0 1,"
status "  but not by a second" 0 cprof-flame --heatmap --slice 1000 "$tmp/long.bin"

# A cut capture, and the same after a filter
head -c $(($(wc -c <"$tmp/c.bin") - 20)) "$tmp/c.bin" >"$tmp/cut.bin"
status "a capture that is cut short is said" 3 cprof-flame "$tmp/cut.bin"
damaged() {
	{ cprof-flame "$1" | block head; cprof-flame -o svg "$1" | grep -o 'Damaged: [^<]*'; cprof-top "$1"; } 2>/dev/null |
		sed -n 's/^\(ledger \)*Damaged[ :=]*//p' | sort -u
}
is "  in the page, the picture and the header of cprof-top" "$(damaged "$tmp/cut.bin")" "cut short, everything before it was read"
is "  what is whole is not" "$(damaged "$tmp/c.bin")" ""
sed 's/reason=closed/reason=continues/' "$tmp/c.txt" | cprof-dump -r >"$tmp/rotated.bin"
is "  nor is a file from the middle of a rotation" "$(damaged "$tmp/rotated.bin")" ""
is "  a filter passes it on" "$(cprof-sym "$tmp/cut.bin" 2>/dev/null >"$tmp/cut.sym"; damaged "$tmp/cut.sym")" "cut short, everything before it was read"
# Remove the middle of three blocks, and with it a process that has a later sample.
sed 's/^sample time=1000000000/flush\n&/; s/^sample time=2500000000/flush\nsample time=1040000000 event=1 cpu=0 thread=9 user=17 kernel=0 weight=1\n&/' "$tmp/c.txt" |
	cprof-dump -r >"$tmp/blocks.bin"
is "a record that makes no sense" "$(damaged "$tmp/blocks.bin")" "1 record refused"
python3 - "$tmp/blocks.bin" <<'Y' >"$tmp/flipped.bin"
import sys
b = bytearray(open(sys.argv[1], 'rb').read())
at = b.index(b'\x89cpf', b.index(b'\x89cpf', b.index(b'\x89cpf', 1) + 1) + 1)
b[at - 1] ^= 8
sys.stdout.buffer.write(b)
Y
like "a block with a flipped bit" "$(damaged "$tmp/flipped.bin")" '^1 block damaged, [0-9]+ records? refused$'
if cprof-top -o json "$tmp/c.bin" >/dev/null 2>&1; then
	like "  to programs, too" "$(cprof-top -o json "$tmp/flipped.bin" 2>/dev/null)" \
		'"damaged":"1 block damaged, [0-9]* records? refused","cut":0,"blocks_damaged":1,"records_refused":[1-9]'
	like "    and a cut" "$(cprof-top -o json "$tmp/cut.bin" 2>/dev/null)" '"damaged":"cut short, everything before it was read","cut":1,'
else
	skip "  to programs, too" "built without JSON"
fi
flame "$tmp/c.bin" >"$tmp/c2.html"
same "the same bytes again" "$tmp/c.html" "$tmp/c2.html"
done_testing
