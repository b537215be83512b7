#!/bin/sh
# Verdicts by simulation: draws from one profile differ nowhere, real changes are found, and bursts
# are not changes.
. "$(dirname "$0")/../lib/lib.sh"
chance() { "$BUILD/tests/diff-chance" "$@"; }
# among DESCRIPTION NUMBER LEAST MOST
among() { if [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; then pass "$1: $2"; else fail "$1: $2, not from $3 to $4"; fi; }

# 531 functions, 6,000 samples; seeds 1 and on
among "of 100 pairs from one profile, those with a change" "$(chance same 100)" 0 5
among "  of 400" "$(chance same 400)" 0 20
among "of 100 pairs, those in which a function that grew by 2 points is found" "$(chance planted 100 2)" 90 100
among "  by 1.5 points" "$(chance planted 100 1.5)" 80 100
among "false changes, in percent of all" "$(chance false 200 2 | sed 's/\..*//')" 0 5
among "three runs a side that differ by themselves: of 200 pairs, those with a change" "$(chance runs 200 3 0)" 0 20
among "  and five runs" "$(chance runs 200 5 0)" 0 20
among "  what grew is found nevertheless" "$(chance runs 100 5 2)" 45 100

# The command itself
changed() { cprof-diff -o tsv "$@" 2>"$tmp/err" | awk -F '\t' 'NR > 1 { n += $2 } END { print n + 0 }'; }
grew() { cprof-diff -o tsv --significant "$@" 2>"$tmp/err" | cut -f1 | grep -cx "$name"; }
same=0 found=0 name=f100
for seed in 1 2 3 4 5 6 7 8 9 10; do
	chance write "$tmp/a" $seed
	chance write "$tmp/b" $((seed + 100))
	chance write "$tmp/c" $((seed + 200)) 2
	[ "$(changed "$tmp/a" "$tmp/b")" = 0 ] || same=$((same + 1))
	found=$((found + $(grew "$tmp/a" "$tmp/c")))
done
among "cprof-diff: of 10 pairs from one profile, those with a change" $same 0 2
among "  and those in which growth by 2 points is found" $found 9 10
is "  what grew is told first" "$(cprof-diff -n 1 "$tmp/a" "$tmp/c" | tail -1 | grep -c ' f[0-9]*$')" 1

# A minute of a program that does one thing for a while and then another; both sides follow the same rule
# with different seeds.
cat >"$tmp/bursts.py" <<'X'
import random, sys
seed, runs, growth, speed = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
random.seed(seed)
names = ["burst%d" % i for i in range(40)]
weights = [1 / (i + 3) for i in range(40)]
weights[5] += growth * sum(weights) / (1 - growth)
for run in range(runs):
    print('segment major=1 minor=0 least=1\nevent id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000\nflush')
    print('process id=1 time=1 pid=7 nspid=0 parent=0 start=5 gen=0 via=snapshot\nthread id=1 time=1 process=1 tid=7\n'
          'comm time=1 thread=1 comm="job"')
    for i, name in enumerate(names):
        print('frame id=%d process=1 kind=exact address=0x%x\nnode id=%d parent=0 frame=%d\nstring id=%d text="%s"\n'
              'symbol frame=%d from=0 level=0 source=symtab name=%d offset=0 file=0 line=0'
              % (i + 1, 4096 + i, i + 16, i + 1, i + 1, name, i + 1, i + 1))
    now, left = 0, 0
    for sample in range(6000 // runs):
        if left <= 0:
            doing, left = random.choices(range(40), weights)[0], random.expovariate(1 / speed)
        now, left = now + 10_000_000, left - 0.01
        print("sample time=%d event=1 cpu=0 thread=1 user=%d kernel=0 weight=10000000" % (now + 1000, doing + 16))
    print("end time=%d reason=closed samples=%d\nflush" % (now + 2000, 6000 // runs))
X
bursts() { python3 "$tmp/bursts.py" "$@" | cprof-dump -r; }
plain=0 blocks=0 ns=0
for seed in 1 2 3 4 5 6; do
	bursts $seed 1 0 0.3 >"$tmp/a.bin"
	bursts $((seed + 100)) 1 0 0.3 >"$tmp/b.bin"
	cprof-fold "$tmp/a.bin" >"$tmp/a"; cprof-fold "$tmp/b.bin" >"$tmp/b"
	plain=$((plain + $(changed "$tmp/a" "$tmp/b")))
	blocks=$((blocks + $(changed "$tmp/a.bin" "$tmp/b.bin")))
	ns=$((ns + $(changed --weight ns "$tmp/a.bin" "$tmp/b.bin")))
done
among "bursts: false changes in 6 pairs without time" $plain 30 240
among "  with blocks of time" $blocks 0 1
among "  in nanoseconds" $ns 0 1
bursts 1 1 0.3 0.3 >"$tmp/c.bin"
name=burst5
is "  what grew by 30 points is found" "$(grew "$tmp/a.bin" "$tmp/c.bin")" 1
like "  blocks are told" "$(cprof-diff "$tmp/a.bin" "$tmp/c.bin")" \
	'^chance is estimated from the differences between blocks of time: 30 of 2.00 s and 30 of 2.00 s$'
like "  of one side alone" "$(cprof-diff "$tmp/a.bin" "$tmp/b")" \
	'^chance is estimated from the differences between blocks of time of .*/a.bin; the other side is folded text, which has none$'
bursts 1 1 0 0.001 >"$tmp/a.bin"
bursts 2 1 0 0.001 >"$tmp/b.bin"
seen() { cprof-diff "$@" | sed -n 's/^growth that would be detected in 4 of 5 cases: \([0-9.]*\) points from 1 %.*/\1/p'; }
cprof-fold "$tmp/a.bin" >"$tmp/a"; cprof-fold "$tmp/b.bin" >"$tmp/b"
is "independent samples: blocks cost little of what is seen" \
	"$(echo "$(seen "$tmp/a.bin" "$tmp/b.bin") $(seen "$tmp/a" "$tmp/b")" | awk '{ print ($1 < 1.5 * $2 ? "little" : $0) }')" little

# In nanoseconds a sample counts as one, whatever its weight.
is "nanoseconds have the power of their samples" "$(seen --weight ns "$tmp/a.bin" "$tmp/b.bin")" "$(seen "$tmp/a.bin" "$tmp/b.bin")"
cprof-fold --weight ns "$tmp/a.bin" >"$tmp/a.ns"; cprof-fold --weight ns "$tmp/b.bin" >"$tmp/b.ns"
is "  in folded text too, where all are equal" "$(seen --weight ns "$tmp/a.ns" "$tmp/b.ns")" "$(seen "$tmp/a" "$tmp/b")"
is "  and nobody said so" "$(seen "$tmp/a.ns" "$tmp/b.ns")" "$(seen "$tmp/a" "$tmp/b")"
sed '1s/0$/7/' "$tmp/b.ns" >"$tmp/c.ns"
like "  where they are not nothing is said" "$(cprof-diff --weight ns "$tmp/a.ns" "$tmp/c.ns")" '^no test: nanoseconds in folded text'
is "    of any function" "$(changed --weight ns "$tmp/a.ns" "$tmp/c.ns")" 0
done_testing
