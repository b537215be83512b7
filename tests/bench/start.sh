#!/bin/sh
# The cost of starting and ending: CPU time of a recording of one second, user and system, minus the time
# between start and end in its summary; beside perf record -a -g for the same second, in turns. Requires root.
# Half a minute:
#
#	[BENCH_ROUNDS=7] BIN=build/bin tests/bench/start.sh
#
# Prints medians of the rounds. --unwind fp builds no tables of the running files: the difference is their
# cost, and on a machine with many programs most of the total. Fails above 20 ms, a limit for a quiet machine:
# the effect of other load on caches and clocks is in the figure, and in perf's too.
set -u
tests=$(cd "$(dirname "$0")/.." && pwd)
: "${BIN:=$(dirname "$tests")/build/bin}" "${BENCH_ROUNDS:=7}"
PATH=$BIN:$PATH
export LC_ALL=C
most=20

[ "$(id -u)" = 0 ] || { echo "Recording the system needs root: left out."; exit 0; }
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cprof-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# cpu COMMAND...: prints its CPU time in ms; its messages are in $tmp/err
cpu() {
	bash -c 'TIMEFORMAT="%U %S"; { time "$@" >/dev/null 2>"$0/err"; } 2>"$0/cpu"' "$tmp" "$@" || return 1
	awk '{ printf "%.0f", ($1 + $2) * 1000 }' "$tmp/cpu"
}
# start NAME OPTION...: appends total, between and difference, in ms, to $tmp/NAME
start() {
	name=$1
	shift
	all=$(cpu cprof-record -a "$@" -o "$tmp/file" 1) || { cat "$tmp/err"; exit 1; }
	between=$(sed -n 's/.* to start and end, \([0-9.]*\) s .*/\1/p' "$tmp/err")
	echo "$all $between" | awk '{ print $1, $2 * 1000, $1 - $2 * 1000 }' >>"$tmp/$name"
}
# median NAME COLUMN
median() { sort -n -k "$2,$2" "$tmp/$1" | awk -v c="$2" '{ v[NR] = $c } END { printf "%.0f", v[int((NR + 1) / 2)] }'; }

peer=
command -v perf >/dev/null && peer=perf
for round in $(seq "$BENCH_ROUNDS"); do
	start table
	start fp --unwind fp
	[ -z "$peer" ] || cpu perf record -q -F 99 -a -g -o "$tmp/perf.data" -- sleep 1 | awk '{ print $1 }' >>"$tmp/perf"
done
echo "CPU ms of a recording of one second at 99 Hz, $(nproc) CPUs, medians of $BENCH_ROUNDS; load $(cut -d' ' -f1 /proc/loadavg)"
printf '  %-26s %6s %8s %14s\n' "" all between "start and end"
printf '  %-26s %6s %8s %14s\n' "cprof-record -a" "$(median table 1)" "$(median table 2)" "$(median table 3)" \
	"cprof-record -a --unwind fp" "$(median fp 1)" "$(median fp 2)" "$(median fp 3)"
[ -z "$peer" ] || printf '  %-26s %6s\n' "perf record -a -g" "$(median perf 1)"
[ "$(median table 3)" -le $most ] || { echo "FAILED: start and end take more than $most ms"; exit 1; }
