#!/bin/sh
# cprof-top -v -w: window after window of a capture that is still being written
. "$(dirname "$0")/../lib/lib.sh"

# Four seconds of a capture as the recorder writes it: each second a block with its ledger. In the third, a
# segment ends; a name of the first window comes with the second.
segment() {
	cat <<'X'
segment major=1 minor=0 least=1
event id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000
flush
process id=1 time=10 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=10 process=1 tid=42
comm time=10 thread=1 comm="db"
file id=1 major=8 minor=1 inode=77 generation=0 build-id=01 path="/usr/bin/db"
mapping time=10 process=1 start=0x400000 length=0x8000 offset=0x1000 prot=5 file=1
string id=1 text="alpha"
string id=2 text="beta"
X
	for i in 1 2 3; do
		printf 'frame id=%d process=1 kind=exact address=0x40%d000\nnode id=%d parent=0 frame=%d\n' $i $i $((i + 15)) $i
	done
	echo 'symbol frame=1 from=0 level=0 source=symtab name=1 offset=0 file=0 line=0'
}
# samples FROM-MS NODE COUNT
samples() {
	for i in $(seq "$3"); do
		echo "sample time=$(($1 + i))000000 event=1 cpu=0 thread=1 user=$2 kernel=0 weight=10000000"
	done
}
# beat MS EXPECTED EMITTED [OPEN]: ticks that were not emitted were idle, except OPEN ticks not
# yet accounted for
beat() {
	for o in "expected count=$2" "emitted count=$3" "idle count=$(($2 - $3 - ${4:-0}))"; do
		echo "ledger time=$1000000 cpu=1 outcome=$o"
	done
}
{
	segment; samples 1000 16 5; samples 1500 17 2; beat 2000 100 7; echo flush
	echo 'symbol frame=2 from=0 level=0 source=symtab name=2 offset=0 file=0 line=0'
	samples 2100 17 4; samples 2200 16 1; beat 3000 200 12; echo flush
	samples 3100 16 3; beat 3500 250 15; printf 'end time=3500000000 reason=continues samples=15\nflush\n'
	segment; samples 3600 17 6; samples 3700 18 1; beat 4000 50 7; echo flush
	samples 4100 18 9; beat 5000 150 16 1; echo 'ledger time=5000000000 cpu=1 outcome=ring-full count=1'
	printf 'end time=5000000000 reason=closed samples=16\nflush\n'
} >"$tmp/c.txt"
cprof-dump -r "$tmp/c.txt" >"$tmp/c.bin" || exit 1

status "a capture in windows of a second" 0 cprof-top -v -w 1 "$tmp/c.bin"
cat >"$tmp/want" <<'X'
Window:     7 in 1.00 s
CPUs 7.0 % busy: 5.0 user, 2.0 unnamed; 0 lost
Ledger:     100 expected: 7 emitted, 93 idle
Lost:       nothing
Stacks:     7 user, 100.00% complete, 0.00% truncated
Unresolved: 28.57% of innermost frames
Recording:  7 samples in 1.00 s, nothing lost
Total:              7 samples, 2 of 2 functions shown

      flat   flat%    sum%        cum    cum%
         5  71.43%  71.43%          5  71.43%  alpha [db]
         2  28.57% 100.00%          2  28.57%  [db+0x3000]

Window:     5 in 1.00 s
CPUs 5.0 % busy: 5.0 user; 0 lost
Ledger:     100 expected: 5 emitted, 95 idle
Lost:       nothing
Stacks:     5 user, 100.00% complete, 0.00% truncated
Unresolved: 0.00% of innermost frames
Recording:  12 samples in 1.20 s, nothing lost
Total:              5 samples, 2 of 2 functions shown

      flat   flat%    sum%        cum    cum%
         4  80.00%  80.00%          4  80.00%  beta [db]
         1  20.00% 100.00%          1  20.00%  alpha [db]

X
head -26 "$tmp/out" | sed 's/^Recording:.*12 samples in.*/Recording:  12 samples in 1.20 s, nothing lost/' >"$tmp/got"
same "  each with its ledger, and names as far as they are known" "$tmp/want" "$tmp/got"
cprof-top -w 1 "$tmp/c.bin" >"$tmp/brief"
unlike "without -v a window has two lines" "$(cat "$tmp/brief")" '^(Ledger|Unresolved|Tables):'
is "  and others if something was lost" \
	"$(sed -n '/^Window: *9 /,/^Total/p' "$tmp/brief" | cut -d: -f1 | tr '\n' ,)" \
	"Window,CPUs 9.0 % busy,Lost,Recording,Total,"
tables() { awk '/^(Window|Samples):/ { printf "%s%s", sep, $2; sep = ";" } /^ +[0-9]/ { printf " %s=%s", $6, $1 }' "$1"; }
is "  over the end of a segment, and all of it in the end" "$(tables "$tmp/out" | sed 's/;31 .*//')" \
	"7 alpha=5 [db+0x3000]=2;5 beta=4 alpha=1;10 [db+0x3000]=6 alpha=3 [db+0x4000]=1;9 [db+0x4000]=9"
cprof-top -v "$tmp/c.bin" >"$tmp/want"
lines=$(wc -l <"$tmp/want")
tail -"$lines" "$tmp/out" >"$tmp/got"
same "  which is the table without -w" "$tmp/want" "$tmp/got"
like "  what was lost in a window stands there" "$(grep -A3 '^Window: *9 ' "$tmp/out")" '^Lost: +1 of 100 expected sample lost'
is "windows of two seconds" "$(cprof-top -v -w 2 "$tmp/c.bin" | tables /dev/stdin | sed 's/;31 .*//')" \
	"12 alpha=6 beta=6;19 [db+0x4000]=10 [db+0x3000]=6 alpha=3"
is "a view" "$(cprof-top -v -w 1 --stacks 1 "$tmp/c.bin" | awk '$3 ~ /^[0-9.]+%/ { printf "%s ", $4 }')" \
	"alpha beta [db+0x3000] [db+0x4000] [db+0x4000] "
is "--match" "$(cprof-top -v -w 1 --match alpha "$tmp/c.bin" | sed -n 's/^Total: *//p' | cut -d' ' -f1 | tr '\n' ' ')" "5 1 3 0 9 "
cat "$tmp/c.bin" "$tmp/c.bin" >"$tmp/cc.bin"
is "a capture behind another, earlier in time" "$(cprof-top -v -w 1 "$tmp/cc.bin" | grep -c '^Window')" 8
status "a capture that is cut: what was whole is shown" 3 sh -c "head -c $(($(wc -c <"$tmp/c.bin") - 20)) '$tmp/c.bin' | cprof-top -v -w 1"
is "  all of its windows but the last" "$(grep -c '^Window' "$tmp/out")" 3
is "  and in the end that it was cut" "$(sed -n 's/^Damaged: *//p' "$tmp/out")" "cut short, everything before it was read"
# An idle process: no sample, and the ledger continues.
{
	printf 'segment major=1 minor=0 least=1\nmeta key="start-monotonic-ns" value="1000000000"\nflush\n'
	beat 2000 100 0; echo flush; beat 3000 200 0; printf 'end time=3000000000 reason=closed samples=0\nflush\n'
} | cprof-dump -r >"$tmp/i.bin"
is "a recording without a sample has its windows" "$(cprof-top -v -w 1 "$tmp/i.bin" | sed -n 's/^Window: *//p' | tr '\n' ,)" \
	"0 in 1.00 s,0 in 1.00 s,"
# A recorder that is late, and then writes more than a block holds
{
	segment; samples 1000 16 5; beat 2700 170 5; echo flush
	samples 2710 16 4; echo flush
	samples 2720 16 3; beat 3710 271 12; echo flush
	samples 3720 16 1; beat 4710 371 13; printf 'end time=4710000000 reason=closed samples=13\nflush\n'
} | cprof-dump -r >"$tmp/l.bin"
is "a late recorder: windows as it writes, and no short ones behind" "$(cprof-top -v -w 1 "$tmp/l.bin" | sed -n 's/^Window: *//p' | tr '\n' ,)" \
	"5 in 1.70 s,7 in 1.01 s,1 in 1.00 s,"
# Samples that wait for a table come with a later ledger, and missed ticks are reported late: the ledger of a
# window covers the ticks that it accounts for, over their time on two CPUs.
late() {
	printf 'ledger time=%d000000 cpu=0 outcome=missed count=%d\n' "$1" "$4"
	for cpu in 1 2; do
		printf 'ledger time=%d000000 cpu=%d outcome=expected count=%d\n' "$1" $cpu "$2"
		printf 'ledger time=%d000000 cpu=%d outcome=emitted count=%d\n' "$1" $cpu "$3"
	done
}
{
	segment; samples 10 16 20; late 1000 12 10 0; echo flush
	samples 200 16 360; late 2000 194 190 0; echo flush
	samples 2000 16 212; late 3000 300 296 8; printf 'end time=3000000000 reason=closed samples=592\nflush\n'
} | cprof-dump -r >"$tmp/late.bin"
is "late samples: what was expected adds up, in the time that it is of" \
	"$(cprof-top -v -w 1 "$tmp/late.bin" | sed -n '/^Samples/q; s/^Window: *//p; s/^Ledger: *//p' | tr '\n' ,)" \
	"20 in 0.10 s,20 expected: 20 emitted,360 in 1.80 s,360 expected: 360 emitted,212 in 1.10 s,220 expected: 212 emitted, 8 missed,"
is "  and what is still open is said" "$(cprof-top -v -w 1 "$tmp/late.bin" | sed -n 's/^Recording:.*lost//p' | tr '\n' ';')" \
	", 4 ticks still open;, 8 ticks still open;;"
status "folded text has no time" 2 sh -c 'echo "a;b 1" | cprof-top -v -w 1'
like "  and is told so" "$(cat "$tmp/err")" '-w requires a capture, not folded text'
status "nothing at all" 3 cprof-top -v -w 1 /dev/null
status "two captures" 2 cprof-top -v -w 1 "$tmp/c.bin" "$tmp/c.bin"
status "no rows for programs" 2 cprof-top -v -w 1 -o tsv "$tmp/c.bin"
status "no time at all" 2 cprof-top -v -w 0 "$tmp/c.bin"
status "a full disk" 1 sh -c "cprof-top -v -w 1 '$tmp/c.bin' >/dev/full"

# Counted events: a sample stands for many, and the window has its own part of their account.
# tally MS COUNT EMITTED
tally() { printf 'tally time=%d000000 event=5 outcome=%s count=%d\n' "$1" expected "$2" "$1" emitted "$3"; }
{
	segment; echo 'event id=5 name="page-faults" unit="events" period=10 millihertz=0'
	samples 1000 16 5; beat 2000 100 5; tally 2000 0 0; echo flush
	samples 2100 16 2; echo 'sample time=2200000000 event=5 cpu=0 thread=1 user=17 kernel=0 weight=30'
	beat 3000 200 7; tally 3000 40 30; echo flush
	echo 'sample time=3200000000 event=5 cpu=0 thread=1 user=17 kernel=0 weight=10'
	beat 4000 300 7; tally 4000 60 40; printf 'end time=4000000000 reason=closed samples=9\nflush\n'
} | cprof-dump -r >"$tmp/e.bin"
said() { cprof-top -v -w 1 "$@" "$tmp/e.bin" | sed -n '/^Samples/q; s/^\(Window\|Events\|Total\): *//p' | sed 's/, [0-9]* of.*//' | tr '\n' ,; }
is "counted events are called events, from the first window on" "$(said --event page-faults)" \
	"0 events (0 samples) in 1.00 s,0 events,30 events (1 samples) in 1.00 s,40 happened: 30 emitted,30 events,10 events (1 samples) in 1.00 s,20 happened: 10 emitted,10 events,"
is "  as samples they are samples" "$(said --event page-faults --weight samples | grep -c '[0-9] events')" 0
is "  and so is the clock" "$(said | cut -d, -f2)" "5 samples"

# Waits: those reported in a window are in its line, and all of them in the last table.
wait_ms() { echo "sample time=$1000000 event=$2 cpu=0 thread=1 user=17 kernel=0 weight=$3000000"; }
{
	segment
	printf 'event id=%d name="off-cpu:%s" unit="ns" period=0 millihertz=0\n' 2 sleep 3 uninterruptible 4 run-queue
	samples 1000 16 5; wait_ms 1400 2 300; wait_ms 1500 4 25; beat 2000 100 5; echo flush
	samples 2100 16 2; beat 3000 200 7; echo flush
	samples 3100 16 1; wait_ms 3200 2 1700; wait_ms 3300 3 80; beat 4000 300 8
	printf 'end time=4000000000 reason=closed samples=12\nflush\n'
} | cprof-dump -r >"$tmp/w.bin"
waits="0.300 s asleep, 0.000 s uninterruptible, 0.025 s for a CPU;1.700 s asleep, 0.080 s uninterruptible, 0.000 s for a CPU;2.000 s asleep, 0.080 s uninterruptible, 0.025 s for a CPU;"
waited() { cprof-top -v -w 1 "$@" "$tmp/w.bin" | sed -n 's/^Waiting: *\(.*\) (.*/\1/p' | tr '\n' ';'; }
is "waits of a window, none, and all in the end" "$(waited)" "$waits"
is "  likewise where they are shown" "$(waited --wall)" "$waits"
is "  as in the tables" "$(cprof-top -v -w 1 --event off-cpu "$tmp/w.bin" | sed -n 's/^Total: *\([^,]*\),.*/\1/p' | tr '\n' ';')" \
	"325.00ms;0ns;1.78s;2.10s;"

# Text without a ledger, as from another program, has the time of its samples.
grep -v '^ledger' "$tmp/c.txt" | cprof-dump -r >"$tmp/n.bin"
is "without a ledger time is that of samples" "$(cprof-top -v -w 1 "$tmp/n.bin" | grep -c '^Window')" 3

# A terminal: 80 functions, and names that do not fit
{
	segment
	for i in $(seq 80); do
		printf 'frame id=%d process=1 kind=exact address=0x%x\nnode id=%d parent=0 frame=%d\nstring id=%d text="function_%02d_%060d"\n' \
			$((i + 20)) $((0x400100 + i)) $((i + 40)) $((i + 20)) $((i + 20)) "$i" 0
		echo "symbol frame=$((i + 20)) from=0 level=0 source=symtab name=$((i + 20)) offset=0 file=0 line=0"
		samples 1000 $((i + 40)) 1
	done
	beat 2000 100 80; echo flush
	samples 2100 41 3; beat 3000 200 83; echo flush
	printf 'end time=3000000000 reason=closed samples=83\nflush\n'
} | cprof-dump -r >"$tmp/t.bin"
if ! command -v python3 >/dev/null; then
	skip "a terminal" "python3 is not here"
else
	status "a terminal" 0 python3 "$here/top-screen.py" "$tmp/t.bin" 16 60 20 100
	part() { sed -n "/^== $1/,/^== /p" "$tmp/out" | grep -v '^== '; }
	is "  it is filled, the last line with the keys" \
		"$(part first | grep -c .)$(part first | tail -1 | cut -c 1-40)" \
		"15by function, flat first  q quit  p pause"
	is "  as many rows as fit, and that is said" "$(part first | grep -c '^ *1 .*function_')$(part first | sed -n 's/^Total:.*, \(.*\)/ \1/p')" \
		"10 10 of 80 functions shown"
	is "  a name that is too long says so" "$(part first | grep -c 'function_[01]\.\.\.$')" 10
	is "  it has another size: more rows, and of more columns" "$(part resized | grep -c '^ *1 .*function_')" 14
	is "  of the same window" "$(part resized | sed -n 's/^Window: *//p')" "80 in 1.00 s"
	is "  the next window is drawn over it, and nothing of the old one is left" \
		"$(part second | grep -c function_)$(part second | sed -n 's/^Window: *//p')" "13 in 1.00 s"
	like "  Ctrl-C does not end it before the recorder" "$(cat "$tmp/out")" '^== end 0$'
	like "  in the end the table of all" "$(part end)" '^Total: +83 samples'
	is "  that fits" "$(part end | tr -d '\033' | sed 's/\[[0-9;]*[mK]//g' | grep -c .)" 18
	is "  its names are whole" \
		"$(part end | grep -Ec 'function_.*0(.\[0m)?$')" "$(part end | grep -c function_)"
	status "  -n is obeyed, and what does not fit is said" 0 python3 "$here/top-screen.py" "$tmp/t.bin" 16 60 20 100 -n 30
	is "    on the first screen" "$(part first | grep more)" "[21 more lines]"
fi

# A real recorder that runs until it is stopped, and a workload that changes meanwhile
may_record() { [ -x "$BIN/cprof-record" ] && [ "$(id -u)" = 0 ] && cprof-record -q -a -o /dev/null 0.01 2>/dev/null; }
if ! may_record; then
	skip "from a running recorder" "the recorder may not sample the system here"
	done_testing
fi
make -s -C "$top" BUILD="$BUILD" "$BUILD/tests/burn" >"$tmp/make" 2>&1 || diag "$(cat "$tmp/make")"
{ cprof-record -q -a & echo $! >"$tmp/recorder"; wait $!; } 2>/dev/null | cprof-sym 2>/dev/null |
	cprof-top -v -w 1 -n 3 --comm burn >"$tmp/out" 2>"$tmp/err" &
pipeline=$!
# tops: prints the function on top of each table
tops() { awk '/^ +flat/ { getline; print $6 }' "$tmp/out"; }
# wait_for REGEX: waits until a table has this on top; fails after a minute
wait_for() {
	for i in $(seq 300); do
		! tops | grep -Eq "$1" || return 0
		sleep 0.2
	done
	return 1
}
"$BUILD/tests/burn" brief 100000 & burn=$!
wait_for '^brief_work$'
is "while it records, the function that works is on top" "$?$(kill -0 "$(cat "$tmp/recorder")" && echo running)" 0running
kill $burn; wait $burn 2>/dev/null
"$BUILD/tests/burn" threads 100 >/dev/null & burn=$!
wait_for '^(first|second)_thread$'
is "  then the next one" "$?$(kill -0 "$(cat "$tmp/recorder")" && echo running)" 0running
kill -INT "$(cat "$tmp/recorder")"
kill $burn; wait $burn 2>/dev/null
wait $pipeline
is "  and in the end all" "$?$(sed '1,/^Samples/d' "$tmp/out" | grep -Eo 'brief_work|(first|second)_thread' | sort | tr '\n' ' ')" \
	"0brief_work first_thread second_thread "
windows=$(sed -n 's/^Window: *\([0-9]*\) .*/\1/p' "$tmp/out" | awk '{ n += $1 } END { print n }')
is "  samples of the windows are those of all" "$windows" "$(sed -n 's/^Samples: *\([0-9]*\) .*/\1/p' "$tmp/out")"
is "  nothing was complained of" "$(cat "$tmp/err")" ""
done_testing
