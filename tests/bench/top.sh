#!/bin/sh
# The speed of cprof-top's views, beside other programs that make a table of folded text, all in one run:
# times, ratios, memory.
#
#	BIN=build/bin tests/bench/top.sh [STACKS]	# 100,000 by default: about 70 MB of text
#
# go tool pprof takes the same stacks as a pprof file, if cprof-convert can write one; only its own time
# counts.
. "$(dirname "$0")/../lib/lib.sh"
stacks=${1:-100000}

python3 - "$stacks" >"$tmp/in" <<'X'
import random, sys
random.seed(1)
names = ["fn_%05d_%s" % (i, "".join(random.choices("abcdefghijklmnopqrstuvwxyz_", k=random.randrange(8, 40)))) for i in range(20000)]
seen, stack = set(), []
while len(seen) < int(sys.argv[1]):
    keep = stack[:random.randrange(len(stack) + 1)] if random.random() < .8 else []
    stack = keep + [names[int(random.paretovariate(.6)) % len(names)] for _ in range(random.randrange(5, 30))]
    stack = stack[:60]
    line = "app;" + ";".join(stack)
    if line not in seen:
        seen.add(line)
for line in sorted(seen):
    print(line, int(random.paretovariate(1.1)))
X

# run LABEL COMMAND: the best of three, wall clock, and the memory of the last run
run() {
	best=
	for _ in 1 2 3; do
		a=$(date +%s%N); python3 -c 'import resource, subprocess, sys
status = subprocess.call(sys.argv[1], shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
sys.exit(status)' "$2" >"$tmp/mib" || { echo "$1: failed"; exit 1; }
		b=$(date +%s%N); t=$((b - a)); [ -n "$best" ] && [ "$best" -le "$t" ] || best=$t
	done
	[ -n "${first:-}" ] || first=$best
	awk -v what="$1" -v t="$best" -v first="$first" -v mib="$(cat "$tmp/mib")" \
		'BEGIN { printf "%-44s %8.3f s %6d MiB  %6.1f times the table\n", what, t / 1e9, mib, t / first }'
}

echo "$stacks stacks, $(wc -c <"$tmp/in" | awk '{ printf "%.1f", $1 / 1e6 }') MB"
run "cprof-top" "cprof-top $tmp/in"
run "cprof-top --peek fn_0" "cprof-top --peek fn_0 $tmp/in"
run "cprof-top --stacks 20" "cprof-top --stacks 20 $tmp/in"
run "cprof-top --tree" "cprof-top --tree $tmp/in"
run "cprof-top -n 0 -o tsv" "cprof-top -n 0 -o tsv $tmp/in"
! command -v mawk >/dev/null || run "mawk, flat alone" \
	"mawk '{ n = \$NF; sub(/ [0-9]+\$/, \"\"); sub(/.*;/, \"\"); w[\$0] += n } END { for (f in w) print w[f], f }' $tmp/in | sort -rn"
pprof=$(ls /usr/lib/go*/pkg/tool/*/pprof 2>/dev/null | tail -1)
if [ -n "$pprof" ] && cprof-convert -t pprof "$tmp/in" >"$tmp/in.pb" 2>/dev/null; then
	run "go tool pprof -top" "HOME=$tmp $pprof -sample_index=samples -top $tmp/in.pb"
else
	echo "go tool pprof: not here, or cprof-convert writes no pprof"
fi
