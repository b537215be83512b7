#!/bin/sh
# Verdicts on several runs a side by simulation: with enough runs, the variation between runs decides; phases
# within a run are then not noise; and one more run never hides a change.
. "$(dirname "$0")/../lib/lib.sh"
# among DESCRIPTION NUMBER LEAST MOST
among() { if [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; then pass "$1: $2"; else fail "$1: $2, not from $3 to $4"; fi; }

# trials TRIALS BEFORE AFTER MS JITTER GROWTH: sets the results
trials() {
	set -- $("$BUILD/tests/diff-runs" "$@")
	changed=$2 found=$4 differ=$6
}

# The limits are the expected 5 of 100 plus three standard deviations.
same() { trials 200 "$@" 0; among "$1 runs against $2, bursts of $3 ms, phases that vary by $4 points: of 200 pairs, those with a change" "$changed" 0 19; }
for runs in '1 1' '2 1' '2 2' '3 2' '3 3' '5 5'; do
	same $runs 10 -1
	same $runs 50 -1
	same $runs 50 2
	is "  and no function has another verdict than its caller" "$differ" 0
done
same 3 3 200 -1
same 5 5 10 10

found() { trials 100 $1 $2 $3 $4; among "${2} ms: $4 points more are found by $1 runs, in pairs of 100" "$found" $5 100; }
found '1 1' 10 -1 10 55
one=$found
found '2 1' 10 -1 10 70
among "  one more run hides nothing" "$found" "$one" 100
two=$found
found '2 2' 10 -1 10 85
among "  nor does the next" "$found" "$two" 100
found '3 3' 10 -1 10 95
found '3 3' 50 -1 25 95
found '3 3' 10 2 18 90
found '5 5' 10 2 18 95

# The commands, on captures as text, at 100 Hz: eight seconds of one thing, then of another, alike
# in each run.
cat >"$tmp/make.py" <<'Y'
import random, sys
seed, share = int(sys.argv[1]), float(sys.argv[2])
random.seed(seed)
share += random.gauss(0, 0.015)
print('segment major=1 minor=0 least=1\nevent id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000\nflush')
for i, name in (1, 'ls'), (2, 'gzip'):
    print(f'process id={i} time=1 pid={i} nspid=0 parent=0 start=5 gen=0 via=snapshot\n'
          f'thread id={i} time=1 process={i} tid={i}\ncomm time=1 thread={i} comm="{name}"')
    for f in range(4):
        n = 4 * i + f
        print(f'frame id={n} process={i} kind=exact address=0x{n}000\nnode id={n + 12} parent=0 frame={n}\n'
              f'string id={n} text="{name}{f}"\nsymbol frame={n} from=0 level=0 source=symtab name={n} offset=0 file=0 line=0')
for s in range(800):
    i = 2 if s >= 800 * (1 - share) else 1
    print(f'sample time={1000 + s * 10000000} event=1 cpu=0 thread={i} user={12 + 4 * i + random.randrange(4)} kernel=0 weight=10000000')
print('end time=8000000000 reason=closed samples=800\nflush')
Y
for i in 1 2 3; do
	python3 "$tmp/make.py" $i .49 | cprof-dump -r >"$tmp/a$i"
	python3 "$tmp/make.py" 1$i .67 | cprof-dump -r >"$tmp/b$i"
	python3 "$tmp/make.py" 2$i .49 | cprof-dump -r >"$tmp/c$i"
done
three() { cprof-diff --by process "$@" "$tmp/a1" "$tmp/a2" "$tmp/a3" -- "$tmp/$side"1 "$tmp/$side"2 "$tmp/$side"3; }
side=b
status "a gate of three runs a side sees 18 points through phases" 5 three --fail-above 5
like "  and says what decided" "$(cat "$tmp/out")" '^chance is estimated from the differences between the captures of a side$'
is "  flat and cum alike" "$(three -o tsv | awk -F '\t' '$1 == "gzip" { print ($11 == $21) }')" 1
side=c
status "  and nothing where nothing is" 0 three --fail-above 5
is "  with an interval of what runs differ by" "$(three -o tsv | awk -F '\t' '$1 == "gzip" { print ($19 - $18 < 16 ? "narrow" : $18 " " $19) }')" narrow
like "two against one: blocks, and runs" "$(cprof-diff "$tmp/a1" "$tmp/a2" -- "$tmp/b1")" \
	'^chance is estimated from the differences between blocks of time, or between the captures of a side if these are larger; three captures a side would be enough alone$'
cprof-diff --fail-above 1 "$tmp/a1" "$tmp/a2" -- "$tmp/b1" >"$tmp/out" 2>"$tmp/err"
like "  what a gate lacks is captures" "$(cat "$tmp/err")" 'more captures of each side would help$'
unlike "  and no number is infinite" "$(cat "$tmp/out" "$tmp/err")" 'inf'

# Weights as they are: a run's length varies by a tenth, and with it the weights of all functions.
cat >"$tmp/weights.py" <<'Y'
import random, sys
directory, seed, grown = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
random.seed(seed)
for side in 'ab':
    for run in range(3):
        length = random.gauss(1, float(sys.argv[4]))
        with open(f'{directory}/{side}{run}', 'w') as f:
            for i in range(12):
                mean = 4000 / (i + 1) * length * (grown if side == 'b' and i == 1 else 1)
                f.write(f'app;main;f{i} {max(1, round(random.gauss(mean, mean ** 0.5)))}\n')
Y
mkdir "$tmp/w"
weights() { # SEED GROWN JITTER: compares them
	python3 "$tmp/weights.py" "$tmp/w" "$@"
	cprof-diff --no-normalize "$tmp"/w/a? -- "$tmp"/w/b? >"$tmp/out"
}
weights 1 2 0.02
like "weights of three runs a side are tested" "$(cat "$tmp/out")" \
	'^chance is estimated from the differences between the captures of a side$'
like "  a function that grew" "$(grep ' f1$' "$tmp/out")" \
	'[0-9]  \[\+5[0-9]{3}, \+[67][0-9]{3}\] +.*\[\+5'
is "  the others did not shrink" "$(grep ' f[02-9]$\| f1[01]$' "$tmp/out" | grep -vc '~\[.*~\[')" 0
cprof-diff "$tmp"/w/a? -- "$tmp"/w/b? >"$tmp/out"
like "  as their shares do" "$(grep ' f0$' "$tmp/out")" '  \[-[^~]*$'
wrong=0
for seed in $(seq 60); do
	weights "$seed" 1 0.1
	grep -q '^0 of' "$tmp/out" || wrong=$((wrong + 1))
done
among "  of 60 pairs of the same work, those with a change" $wrong 0 8
weights 1 2 0.02
cprof-diff --no-normalize "$tmp"/w/a0 "$tmp"/w/b0 >"$tmp/out"
like "one run a side is not tested" "$(cat "$tmp/out")" \
	'^no test: record each side three times, to see what is chance$'
unlike "  and no change is marked" "$(cat "$tmp/out")" '~'
like "nor are three against two" "$(cprof-diff --no-normalize "$tmp"/w/a? -- "$tmp"/w/b[01])" \
	'^no test: 3 captures are not comparable with 2 by weight$'
done_testing
