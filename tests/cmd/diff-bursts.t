#!/bin/sh
# Captures of processes that run in bursts: two of the same profile show no change, in a table and in each box
# of a flame graph.
. "$(dirname "$0")/../lib/lib.sh"
# among DESCRIPTION NUMBER LEAST MOST
among() { if [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; then pass "$1: $2"; else fail "$1: $2, not from $3 to $4"; fi; }

# trials TRIALS MS [GROWTH]: sets the results
trials() {
	set -- $("$BUILD/tests/diff-bursts" "$@")
	names=$2 boxes=$4 name_found=$6 box_found=$8 differ=${10} told=${12}
}

# 12 processes, 1,000 samples in 10 s, blocks of 0.3 s. The limits are the expected 5 of 100 plus three
# standard deviations.
for ms in 10 50 100 200 300 400 800; do
	trials 300 $ms
	among "bursts of $ms ms: of 300 pairs from one profile, those with a changed name" "$names" 0 26
	among "  a box" "$boxes" 0 26
	is "  boxes of the same samples have the same verdict" "$differ" 0
	[ $ms != 200 ] || is "  and nobody says that bursts are longer than blocks" "$told" 0
done
among "  pairs that report longer bursts" "$told" 150 300
trials 100 10 25
among "25 points more of one process: of 100 pairs, those in which it is found by name" "$name_found" 95 100
among "  as a box" "$box_found" 95 100
is "  boxes of the same samples have the same verdict" "$differ" 0
trials 100 50 25
among "  in bursts of 50 ms: by name" "$name_found" 60 100
among "  as a box" "$box_found" 60 100
is "  boxes of the same samples have the same verdict" "$differ" 0

# The commands, on captures as text: process, _start, work
cat >"$tmp/make.py" <<'Y'
import random, sys
random.seed(int(sys.argv[1]))
burst, growth, processes = float(sys.argv[2]), float(sys.argv[3]), range(1, 13)
print('segment major=1 minor=0 least=1\nevent id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000\nflush')
print('string id=1 text="_start"')
for i in processes:
    print(f'process id={i} time=1 pid={100 + i} nspid=0 parent=0 start=5 gen=0 via=snapshot\n'
          f'thread id={i} time=1 process={i} tid={100 + i}\ncomm time=1 thread={i} comm="p{i:02d}"\n'
          f'frame id={2 * i} process={i} kind=return address=0x1000\nframe id={2 * i + 1} process={i} kind=exact address=0x2000\n'
          f'node id={100 + 2 * i} parent=0 frame={2 * i}\nnode id={101 + 2 * i} parent={100 + 2 * i} frame={2 * i + 1}\n'
          f'string id={i + 1} text="work{i}"\n'
          f'symbol frame={2 * i} from=0 level=0 source=symtab name=1 offset=0 file=0 line=0\n'
          f'symbol frame={2 * i + 1} from=0 level=0 source=symtab name={i + 1} offset=0 file=0 line=0')
left = 0
for sample in range(1000):
    if left <= 0:
        now = 1 if random.random() < growth else random.choice(processes)
        left = random.expovariate(1 / burst)
    left -= 10
    print(f'sample time={1000 + sample * 10000000} event=1 cpu=0 thread={now} user={101 + 2 * now} kernel=0 weight=10000000')
print('end time=10000000000 reason=closed samples=1000\nflush')
Y
make() { python3 "$tmp/make.py" "$@" | cprof-dump -r; }
changed() { cprof-diff -o tsv "$1" "$2" 2>"$tmp/err" | awk -F '\t' 'NR > 1 { n += $2 } END { print (n > 0) }'; }
drawn() { cprof-flame --diff "$1" "$2" 2>"$tmp/err" | "$here/flame-block.py" boxes | awk '$NF { n++ } END { print (n > 0) }'; }
table=0 picture=0
for seed in 1 2 3 4 5 6; do
	make $seed 50 0 >"$tmp/a"; make $((seed + 100)) 50 0 >"$tmp/b"
	table=$((table + $(changed "$tmp/a" "$tmp/b"))) picture=$((picture + $(drawn "$tmp/a" "$tmp/b")))
done
among "cprof-diff: of 6 pairs from one profile, those with a change" $table 0 2
among "cprof-flame --diff: those with a box that is not grey" $picture 0 2
make 1 20 0 >"$tmp/a"; make 2 20 .4 >"$tmp/b"
is "what grew by 40 points is found by both" "$(changed "$tmp/a" "$tmp/b") $(drawn "$tmp/a" "$tmp/b")" "1 1"
is "  with one verdict for the three boxes that have the same samples" \
	"$(cprof-flame --diff "$tmp/a" "$tmp/b" | "$here/flame-block.py" boxes | awk '/^p01/ { print $NF }' | tr '\n' ' ')" "2 2 2 "
unlike "  short bursts are not called long" "$(cprof-diff "$tmp/a" "$tmp/b")" "longer than a block"
make 3 1500 0 >"$tmp/a"; make 4 1500 0 >"$tmp/b"
like "  long ones are" "$(cprof-diff "$tmp/a" "$tmp/b")" '^bursts are longer than a block, so chance may be larger than estimated'
done_testing
