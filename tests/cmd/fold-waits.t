#!/bin/sh
# Waits in a time window: each counts with its part inside, even if its record is after the window or in
# the next file.
. "$(dirname "$0")/../lib/lib.sh"
TZ=UTC
export TZ
cd "$tmp" || exit 1

# header SECOND [SINCE]: the header of a segment that begins SECOND seconds after 14:00:00, which is 1000 s by
# its own clock; SINCE is how far back its waits reach
header() {
	since=
	[ -z "${2-}" ] || since="meta key=\"waits-since-monotonic-ns\" value=\"$(($2 + 1000))000000000\""
	cat <<X
segment major=1 minor=2 least=1
meta key="host" value="h"
meta key="start-realtime-ns" value="$((1795269600 + $1))000000000"
meta key="start-monotonic-ns" value="$(($1 + 1000))000000000"
$since
event id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000
event id=2 name="off-cpu:sleep" unit="ns" period=0 millihertz=0
event id=4 name="off-cpu:run-queue" unit="ns" period=0 millihertz=0
flush
process id=1 time=1000000000 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=1000000000 process=1 tid=42
comm time=1000000000 thread=1 comm="x"
frame id=1 process=1 kind=exact address=0x10
node id=16 parent=0 frame=1
X
}
# at SECOND EVENT WEIGHT: a sample at that time after 14:00:00, in milliseconds with six digits
at() { echo "sample time=1$1${4:-000000} event=$2 cpu=0 thread=1 user=16 kernel=0 weight=$3"; }
ending() { echo "ledger time=1$1000000 cpu=1 outcome=expected count=$2"; echo "end time=1$1000000 reason=continues samples=1"; echo flush; }
{ header 0 0 && at 001000 1 10000000 && at 002500 2 1500000000 && at 002800 4 300000000 && at 002810 1 10000000 &&
	at 020000 2 5000000000 && at 025000 2 5000000000 && at 030000 2 5000000000 && at 055000 2 1000000000 && ending 059900 10; } | cprof-dump -r >a.bin
{ header 60 58 && at 060010 1 10000000 && at 062000 2 4000000000 && at 100000 2 10000000000 && ending 119900 100; } | cprof-dump -r >b.bin
cat a.bin b.bin >all.bin

fold() { cprof-fold "$@" 2>/dev/null | sed 's/;[^;]*;/ /; s/;[^;]*\] / run /' | tr '\n' ,; }
# alike WHAT WANT OPTION...: the same from two files, from one, and from a pipe, with the whole
# header of cprof-top
alike() {
	what=$1 want=$2
	shift 2
	is "$what" "$(fold "$@" a.bin b.bin)" "$want"
	cprof-top "$@" a.bin b.bin >want 2>&1
	cprof-top "$@" all.bin >one 2>&1
	cat all.bin | cprof-top "$@" >pipe 2>&1
	same "  of one file" want one
	same "  of a pipe" want pipe
}
alike "inside of a wait" "x [sleeping] 250000000," --wall --from 14:00:01.5 --to 14:00:01.75
alike "its beginning" "x run 10000000,x [sleeping] 500000000," --wall --from 14:00:01 --to 14:00:01.5
alike "its end, and the queue behind it" "x [sleeping] 100000000,x [waiting for a CPU] 200000000," --wall --from 14:00:02.4 --to 14:00:02.7
alike "all of it" "x run 20000000,x [sleeping] 1500000000,x [waiting for a CPU] 300000000," --wall --from 14:00:01 --to 14:00:03
alike "what goes on is told of in pieces" "x [sleeping] 10000000000," --wall --from 14:00:17 --to 14:00:27
alike "told of in the next file" "x [sleeping] 1000000000," --wall --from 14:00:57 --to 14:00:59
alike "  and over its edge" "x run 10000000,x [sleeping] 3000000000," --wall --from 14:00:57 --to 14:01:01
alike "the event alone" "x run 1000000000," --event off-cpu --from 14:00:57 --to 14:00:59
alike "one that begins where the window ends" "" --wall --from 14:00:14 --to 14:00:15
alike "one that ends where it begins" "" --wall --from 14:00:30 --to 14:00:31
alike "as samples it is one" "x [sleeping] 1," --wall --weight samples --from 14:00:18 --to 14:00:19
like "the ledger is that of both files" "$(cprof-top -v --wall --from 14:00:57 --to 14:00:59 a.bin b.bin 2>/dev/null)" '^Ledger: +110 expected'
like "  of one where waits are not shown" "$(cprof-top -v --from 14:00:57 --to 14:00:59 a.bin b.bin 2>/dev/null)" '^Ledger: +10 expected'
like "  nor asked for" "$(cprof-top -v --event cpu-clock --from 14:00:57 --to 14:00:59 a.bin b.bin 2>/dev/null)" '^Ledger: +10 expected'
like "  or where none reaches back so far" "$(cprof-top -v --wall --from 14:00:55 --to 14:00:57 a.bin b.bin 2>/dev/null)" '^Ledger: +10 expected'
is "seconds after the beginning, 14:00:00" "$(fold --wall --from 2 --to 2.6 all.bin)" "x [sleeping] 500000000,x [waiting for a CPU] 100000000,"
is "from some time on" "$(fold --event off-cpu --from 14:01:01 a.bin b.bin)" "x run 11000000000,"
is "up to some time" "$(fold --event off-cpu --to 14:00:16 a.bin b.bin)" "x run 2800000000,"

# A header that does not say how far back waits reach
{ header 60 && at 060010 1 10000000 && at 062000 2 12000000000 && ending 119900 100; } | cprof-dump -r >old.bin
is "without a word of it, ten seconds are taken for it" "$(fold --wall --from 14:00:51 --to 14:00:52 old.bin)" "x [sleeping] 1000000000,"
like "  not more" "$(cprof-top --wall --from 14:00:49 --to 14:00:50 old.bin b.bin 2>&1)" 'no samples selected'
{ header 60 58 && at 060010 1 10000000 && ending 119900 100; } | grep -v off-cpu | cprof-dump -r >none.bin
like "  nothing where it has no waits" "$(cprof-top -v --wall --from 14:00:57 --to 14:00:59 none.bin a.bin 2>/dev/null)" '^Ledger: +10 expected'

# All programs
window="--event off-cpu --from 14:00:01.5 --to 14:00:02.75"
like "cprof-top" "$(cprof-top $window all.bin 2>/dev/null)" '^Total: +1\.25s,'
is "cprof-diff" "$(cprof-diff --folded $window a.bin all.bin 2>/dev/null)" "x;[unknown] 1250000000 1250000000"
like "cprof-flame" "$(cprof-flame -o svg $window all.bin 2>/dev/null)" '<title>all \(1\.25 s, 100'
is "callgrind" "$(cprof-convert -t callgrind --weight ns $window all.bin 2>/dev/null | sed -n 's/^summary: //p')" \
	"0 1000000000 0 250000000"
is "perf script" "$(cprof-convert -t perfscript $window all.bin 2>/dev/null | sed -n 's/^x .* \([0-9.]*\): *\([0-9]*\) \([a-z:-]*\): *$/\1 \2 \3/p' | tr '\n' ,)" \
	"1002.500000 1000000000 off-cpu:sleep,1002.750000 250000000 off-cpu:run-queue,"
is "speedscope" "$(cprof-convert -t speedscope $window all.bin 2>/dev/null | python3 -c 'import json, sys; print(sum(sum(p["weights"]) for p in json.load(sys.stdin)["profiles"]))' 2>/dev/null)" 1250000000
is "rows, each slice with its part" "$(cprof-fold -o tsv --interval 2 --event off-cpu --from 14:00:01 --to 14:00:17 all.bin 2>/dev/null | awk 'NR > 1 { printf "%d %s,", $2 / 1e9 - 1795269600, $NF }')" \
	"0 1000000000,2 800000000,14 1000000000,16 1000000000,"
is "  add up to what there is without a window" "$(cprof-fold -o tsv --interval 1 --event off-cpu all.bin | awk 'NR > 1 { n += $NF } END { printf "%.0f", n }')" "$(fold --event off-cpu all.bin | tr -dc '0-9')"
is "a wait of ten thousand years is in few rows" "$({ header 0 0 && at 001000 2 18000000000000000000 && ending 059900 1; } | cprof-dump -r | cprof-fold -o tsv --interval 1 --event off-cpu | awk 'END { print (NR < 70), (NR > 1) }')" "1 1"

# Folded text has no unit: readers say that these are nanoseconds.
cprof-fold --wall all.bin >wall.txt
said() { "$@" wall.txt 2>&1 >/dev/null; }
like "counts of waits in folded text" "$(said cprof-top)" \
	'look like nanoseconds: --weight ns shows them as time$'
like "  in a picture" "$(said cprof-flame -o svg)" 'look like nanoseconds: --weight ns shows them as time$'
like "  in one of two" "$(said cprof-flame --diff -o svg wall.txt)" \
	'look like nanoseconds: --weight ns shows them as time$'
is "  not if that was given" "$(said cprof-top --weight ns)" ""
is "  nor for samples" \
	"$(cprof-fold --wall --weight samples all.bin 2>err | cprof-top 2>&1 >/dev/null)" ""
like "  they are not tested as if each were a sample" "$(cprof-diff wall.txt wall.txt 2>err)" \
	'^no test: nanoseconds in folded text do not give the number of samples$'

# Random waits: the windows of a capture add up to the whole, and each matches brute force.
got=$(python3 - <<'X'
import random, subprocess
random.seed(7)
text = ['segment major=1 minor=2 least=1', 'meta key="start-realtime-ns" value="1795269600000000000"',
        'meta key="start-monotonic-ns" value="1000000000000"', 'event id=2 name="off-cpu:sleep" unit="ns" period=0 millihertz=0', 'flush',
        'process id=1 time=1 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot', 'thread id=1 time=1 process=1 tid=42']
waits = []
for i in range(40):
    end, n = 1000000000000 + random.randrange(40000), random.choice([1, 7, 100, 5000, 30000])
    waits.append((end - n, end))
    text.append('sample time=%d event=2 cpu=0 thread=1 user=0 kernel=0 weight=%d' % (end, n))
text += ['end time=1000000100000 reason=closed samples=40', 'flush', '']
data = subprocess.run(['cprof-dump', '-r'], input='\n'.join(text).encode(), stdout=subprocess.PIPE).stdout
open('random.bin', 'wb').write(data)
def ask(a, b):
    day = lambda t: '14:00:00.%09d' % (t - 1000000000000) if t >= 1000000000000 else '13:59:59.%09d' % (t - 999000000000)
    p = subprocess.run(['cprof-fold', '--event', 'off-cpu', '--from', day(a), '--to', day(b), 'random.bin'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return sum(int(l.split()[-1]) for l in p.stdout.decode().splitlines())
edges = [999999960000] + sorted(999999970000 + random.randrange(70000) for _ in range(30)) + [1000000050000]
wrong, whole = 0, 0
for a, b in zip(edges, edges[1:]):
    told = ask(a, b)
    whole += told
    wrong += told != sum(max(0, min(b, y) - max(a, x)) for x, y in waits)
print(wrong, whole == sum(y - x for x, y in waits))
X
)
is "windows side by side" "$got" "0 True"
done_testing
