#!/bin/sh
# The cost of single parts of the recorder: recordings with and without a part in turns, on the same load.
# Requires root. Two minutes:
#
#	[BENCH_SECONDS=5] [BENCH_ROUNDS=7] BIN=build/bin BUILD=build tests/bench/parts.sh
#
# Prints medians of the rounds, and the noise: the median distance of the rounds without the part from their
# median. A difference below the noise is not measurable.
#
#   dither	CPU time of a recording, with --no-dither and without it
#   opener	CPU time of the processes that open files and read mappings, for a start beside 200 programs,
#		each with a file of its own, and beside none; the recorder's own time is in it
set -u
tests=$(cd "$(dirname "$0")/.." && pwd)
: "${BIN:=$(dirname "$tests")/build/bin}" "${BUILD:=$(dirname "$tests")/build}"
: "${BENCH_SECONDS:=5}" "${BENCH_ROUNDS:=7}" "${BENCH_FILES:=200}"
PATH=$BIN:$PATH
export LC_ALL=C

[ "$(id -u)" = 0 ] || { echo "Recording the system needs root: left out."; exit 0; }
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cprof-bench.XXXXXX") || exit 1
load=
trap 'kill $load 2>/dev/null; rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# cpu NAME COMMAND...: appends its CPU time in ms to $tmp/NAME
cpu() {
	name=$1
	shift
	bash -c 'TIMEFORMAT="%U %S"; { time "$@" >/dev/null 2>"$0/err"; } 2>"$0/cpu"' "$tmp" "$@" ||
		{ cat "$tmp/err"; exit 1; }
	awk '{ printf "%.0f\n", ($1 + $2) * 1000 }' "$tmp/cpu" >>"$tmp/$name"
}
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
# report WHAT WITHOUT WITH
report() {
	without=$(median <"$tmp/$2") with=$(median <"$tmp/$3")
	noise=$(awk -v m="$without" '{ d = $1 - m; print d < 0 ? -d : d }' "$tmp/$2" | median)
	awk -v what="$1" -v a="$without" -v b="$with" -v noise="$noise" 'BEGIN {
		seen = (b > a ? b - a : a - b) > noise ? "measurable" : "not measurable"
		printf "  %-44s %8d %8d %8.3f %6d   %s\n", what, a, b, b / a, noise, seen }'
}

"$BUILD/tests/burn" step $((BENCH_ROUNDS * BENCH_SECONDS * 8 + 60)) 1000000 >/dev/null &
load=$!
for round in $(seq "$BENCH_ROUNDS"); do
	for hz in 99 997; do
		cpu fixed$hz cprof-record -q -a -F $hz --no-dither -o "$tmp/file" "$BENCH_SECONDS"
		cpu dither$hz cprof-record -q -a -F $hz -o "$tmp/file" "$BENCH_SECONDS"
	done
done
kill $load 2>/dev/null
wait $load 2>/dev/null
sleeper=$(command -v sleep)
for round in $(seq "$BENCH_ROUNDS"); do
	cpu none cprof-record -q -a --unwind fp -o "$tmp/file" 0.1
	load=$(for i in $(seq "$BENCH_FILES"); do
		cp "$sleeper" "$tmp/sleep$i"
		"$tmp/sleep$i" 3600 >/dev/null 2>&1 & echo $!
	done)
	cpu files cprof-record -q -a --unwind fp -o "$tmp/file" 0.1
	kill $load
done
load=
echo "CPU ms of a recording, medians of $BENCH_ROUNDS rounds; $(nproc) CPUs, load $(cut -d' ' -f1 \
	/proc/loadavg)"
printf '  %-44s %8s %8s %8s %6s\n' "" without with ratio noise
report "dither, 99 Hz, $BENCH_SECONDS s" fixed99 dither99
report "dither, 997 Hz, $BENCH_SECONDS s" fixed997 dither997
report "start beside $BENCH_FILES programs of their own files" none files
