#!/bin/sh
# The speed of converting perf script's text to a stream, and a stream to that text or a perf pipe, beside
# other programs that collapse the text, all in one run: prints times and ratios.
#
#	BIN=build/bin tests/bench/perfscript.sh [SCALE]	# SCALE 1: about 60 MB of text, half a minute
#
# The peers are twenty lines of perl and of Python (stand-ins for stackcollapse-perf.pl, which no package
# ships, and which does more for each line). All must give the same folded text.
. "$(dirname "$0")/../lib/lib.sh"
scale=${1:-1}

# seconds COMMAND: the best of three, wall clock
seconds() {
	best=
	for _ in 1 2 3; do
		a=$(date +%s%N); sh -c "$1" || exit 1; b=$(date +%s%N)
		t=$((b - a)); [ -n "$best" ] && [ "$best" -le "$t" ] || best=$t
	done
	awk "BEGIN { printf \"%.3f\", $best / 1e9 }"
}
ratio() { awk "BEGIN { printf \"%.1f\", $1 / $2 }"; }
mb() { wc -c <"$1" | awk '{ printf "%.1f", $1 / 1e6 }'; }
row() { printf '%-52s %8s s  %s\n' "$1" "$2" "${3:-}"; }
peak() { "$BUILD/tests/peak" "$tmp/peak" "$@" >/dev/null && awk '{ printf "%.1f MiB", $1 / 1024 }' "$tmp/peak"; }

# Stacks of 5 to 40 frames out of 2,000 functions in 20 files, of 50 threads; the outer frames are shared.
awk -v n="$((30000 * scale))" 'BEGIN {
	seed = 1
	for (i = 0; i < n; i++) {
		t = i % 50
		printf "worker%d %d/%d [%03d] %d.%06d:    1001001 cpu-clock: \n", t % 5, 1000 + t % 5, 1000 + t, i % 8, 100 + i / 1000, i % 1000 * 1000
		seed = (seed * 1103515245 + 12345) % 2147483648
		depth = 5 + seed % 36
		f = seed % 97 * depth
		for (d = depth; d > 0; d--) {
			k = (d > 6 ? f * d : d * 31) % 2000
			printf "\t    7f%010x name_of_function_%d+0x%x (/usr/lib/x86_64-linux-gnu/libsomething%d.so.1)\n", k * 4096 + d * 16, k, d * 16, k % 20
		}
		print ""
	} }' >"$tmp/perf.txt"
echo "perf script's text: $(mb "$tmp/perf.txt") MB, $((30000 * scale)) samples"

perl=$(seconds "perl '$tests/lib/collapse.pl' <'$tmp/perf.txt' >'$tmp/perl.folded'")
python=$(seconds "python3 '$tests/lib/collapse.py' '$tmp/perf.txt' >'$tmp/python.folded'")
in=$(seconds "cprof-convert -t stream '$tmp/perf.txt' >'$tmp/in.bin'")
fold=$(seconds "cprof-convert -t stream '$tmp/perf.txt' | cprof-fold >'$tmp/cprof.folded'")
out=$(seconds "cprof-convert -t perfscript '$tmp/in.bin' >'$tmp/out.txt'")
pipe=$(seconds "cprof-convert -t perf '$tmp/in.bin' >'$tmp/out.pipe'")
row "perl, collapsed" "$perl"
row "Python, collapsed (as the tests do it)" "$python"
row "cprof-convert -t stream" "$in" "$(ratio "$perl" "$in") times perl, $(ratio "$(mb "$tmp/perf.txt")" "$in") MB/s, $(mb "$tmp/in.bin") MB"
row "cprof-convert -t stream | cprof-fold" "$fold" "$(ratio "$perl" "$fold") times perl"
row "cprof-convert -t perfscript, from that stream" "$out" "$(ratio "$(mb "$tmp/out.txt")" "$out") MB/s"
row "cprof-convert -t perf, from that stream" "$pipe" "$(ratio "$(mb "$tmp/out.pipe")" "$pipe") MB/s"
[ ! -x "$BUILD/tests/peak" ] || echo "memory of cprof-convert -t stream: $(peak cprof-convert -t stream "$tmp/perf.txt")"
for f in perl python; do
	LC_ALL=C sort "$tmp/$f.folded" | cmp -s - "$tmp/cprof.folded" && echo "$f and cprof-fold give the same" || echo "$f and cprof-fold DIFFER"
done
