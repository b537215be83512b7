#!/bin/sh
# The time to compare two large profiles, beside flamegraph.pl on the same two columns, in one run.
#
#	BIN=build/bin tests/bench/diff.sh [SCALE] [A.folded B.folded]
#
# SCALE 1 is 100,000 stacks a side, some minutes.
#
# flamegraph.pl (libdevel-nytprof-perl) draws the output of cprof-diff --folded; no package ships
# difffolded.pl, which would run before it. flamegraph.pl does no statistical tests, so --folded is the fair
# row, and the table does more.
. "$(dirname "$0")/../lib/lib.sh"
scale=${1:-1}
flamegraph=/usr/share/perl5/Devel/NYTProf/flamegraph.pl

# measure TIMES COMMAND: the best wall clock and processor time, in seconds, and the most memory in MB
measure() {
	python3 - "$@" <<'X'
import resource, subprocess, sys, time
def used():
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime
wall = processor = 1e9
for _ in range(int(sys.argv[1])):
    began, before = time.monotonic(), used()
    if subprocess.run(["sh", "-c", "exec " + sys.argv[2]]).returncode != 0:
        sys.exit(1)
    wall, processor = min(wall, time.monotonic() - began), min(processor, used() - before)
print("%.3f %.3f %.0f" % (wall, processor, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024))
X
}
row() { # NAME "SECONDS PROCESSOR MB" ["SECONDS PROCESSOR MB"]
	printf '%-44s %s\n' "$1" "$(echo "$2 ${3-}" | awk '{
		printf "%8.3f s, %7.3f of a processor, %5d MB", $1, $2, $3
		if (NF > 3) printf "  %.0f times faster, %.0f by processor", $4 / $1, $5 / $2 }')"
}

a=${2:-$tmp/a.folded} b=${3:-$tmp/b.folded}
# Stacks of 12 to 38 frames of 20,000 functions; the second side has other counts, and one in fifty stacks is
# new or gone.
[ $# -ge 3 ] || awk -v stacks=$((100000 * scale)) -v a="$a" -v b="$b" 'BEGIN {
	srand(7)
	for (i = 0; i < 20000; i++) { l = 8 + int(rand() * 30); s = "fn"; while (length(s) < l) s = s sprintf("%c", 97 + int(rand() * 26)); f[i] = s "_" i }
	for (s = 0; s < stacks; s++) {
		d = 12 + int(rand() * 26); line = "comm" int(rand() * 5); x = int(rand() * 7)
		for (k = 0; k < d; k++) { x = (x * 31 + int(rand() * rand() * 9) + k) % 20000; line = line ";" f[x] }
		n = 1 + int(rand() * 60); r = rand()
		if (r > .01) print line, n >a
		if (r < .99) print line, int(n * (.8 + .4 * rand())) + 1 >b
	} }'
echo "== two sides of $(wc -c <"$a" | awk '{ printf "%.0f", $1 / 1e6 }') and $(wc -c <"$b" | awk '{ printf "%.0f", $1 / 1e6 }') MB, $(wc -l <"$a") stacks each"
columns=$(measure 3 "cprof-diff --folded $a $b >$tmp/columns") || exit 1
tested=$(measure 3 "cprof-diff $a $b >$tmp/table") || exit 1
if [ -r "$flamegraph" ]; then
	peer=$(measure 1 "perl $flamegraph $tmp/columns >$tmp/svg 2>$tmp/err") || exit 1
	row "flamegraph.pl on the two columns" "$peer"
fi
row "cprof-diff, the table with its tests" "$tested" "${peer-}"
row "cprof-diff --folded" "$columns" "${peer-}"
row "mawk, the sum of one side by stack" "$(measure 1 "mawk '{ n = \$NF; sub(/ [0-9]+\$/, \"\"); c[\$0] += n } END { for (k in c) print k, c[k] }' $a >$tmp/out")"
