#!/bin/sh
# The share of whole stacks on programs without frame pointers, the size of captures and the lost samples:
# cprof-record beside perf record -g (frame pointers) and perf record --call-graph dwarf, one after the other
# on the same load. Requires root. About eight minutes:
#
#	[BENCH_SECONDS=5] [BENCH_ROUNDS=3] BIN=build/bin BUILD=build tests/bench/whole.sh [storm|steady]
#
# A stack is whole, for all three by the same judge (outermost.pl), if its outermost user frame is _start,
# clone or the like. All samples of the load's threads count, even those in the middle of exec and exit, where
# no user stack is available. Whether the frames between are right or complete is not checked here: frame
# pointers lose some even in whole stacks.
set -u
tests=$(cd "$(dirname "$0")/.." && pwd)
top=$(dirname "$tests")
: "${BIN:=$top/build/bin}" "${BUILD:=$top/build}" "${BENCH_SECONDS:=5}" "${BENCH_ROUNDS:=3}"
PATH=$BIN:$PATH
export LC_ALL=C
hz=99 cpus=$(getconf _NPROCESSORS_ONLN) parts=${1:-storm steady}

[ "$(id -u)" = 0 ] || { echo "The recorders sample the whole system, which needs root: left out."; exit 0; }
command -v readelf >/dev/null || { echo "There is no readelf, which the judge needs: left out."; exit 0; }
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cprof-bench.XXXXXX") || exit 1
load=
trap '[ -z "$load" ] || kill "$load" 2>/dev/null; rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# Each recorder writes $tmp/file, for $BENCH_SECONDS on the whole system, or while a command runs.
record_cprof() {
	if [ $# = 0 ]; then set -- -a "$BENCH_SECONDS"; else set -- -- "$@"; fi
	cprof-record -q -F $hz -o "$tmp/file" "$@"
}
# Asks for build IDs in the mmap records: the kernel marks the records as having some whenever any other
# recorder asks for that, and perf script then dies of those without.
record_perf() { # GRAPH COMMAND...
	graph=$1
	shift
	[ $# -gt 0 ] || set -- -a -- sleep "$BENCH_SECONDS"
	perf record -q -B -N --buildid-mmap -F $hz -e cpu-clock --call-graph "$graph" -o "$tmp/file" "$@"
}
record_fp() { record_perf fp "$@"; }
record_dwarf() { record_perf dwarf "$@"; }

. "$tests/lib/judge-lib.sh"
judge_fp() { judge_perf "$1"; }
judge_dwarf() { judge_perf "$1"; }

name_of() {
	case $1 in
	cprof) echo 'cprof-record' ;;
	fp) echo 'perf record -g' ;;
	dwarf) echo 'perf record --call-graph dwarf' ;;
	esac
}

# Prints the sum of all rounds and their spread: with libunwind, perf has some runs in which each stack ends
# at the same frame, and others in which none does.
table='{ bytes += $1; all += $2; samples += $3; whole += $4; frames += $5; lost += $6 }
$3 > 0 { share = 100 * $4 / $3; if (!n++) least = most = share; if (share < least) least = share; if (share > most) most = share }
END {
	if (!samples) { printf "  %-30s took no sample here: left out\n", name; exit }
	printf "  %-30s %6.2f %% whole of %6d", name, 100 * whole / samples, samples
	if (NR > 1) printf " (rounds: %.2f to %.2f %%)", least, most
	printf ", %.1f frames, %.1f bytes a sample, %d lost\n", frames / samples, bytes / all, lost
}'

# measure WHO COMMS [COMMAND...]: appends a line to $tmp/WHO: bytes, all samples, samples, whole, frames, lost
measure() {
	who=$1 comms=$2
	shift 2
	rm -f "$tmp/file"
	"record_$who" "$@" >"$tmp/out" 2>&1 </dev/null
	{ wc -c <"$tmp/file"; "judge_$who" "$comms"; } 2>/dev/null | tr '\n' ' ' >"$tmp/one"
	[ ! -s "$tmp/one" ] || { cat "$tmp/one"; echo; } >>"$tmp/$who"
}

# compare COMMS [COMMAND...]: prints a row for each recorder, of the threads with these names; leaves our
# share in $share
compare() {
	whos=cprof
	! command -v perf >/dev/null || whos='cprof fp dwarf'
	for who in $whos; do : >"$tmp/$who"; done
	for _ in $(seq "$BENCH_ROUNDS"); do
		for who in $whos; do measure "$who" "$@"; done
	done
	for who in $whos; do awk -v name="$(name_of $who)" "$table" "$tmp/$who"; done
	[ "$whos" != cprof ] || echo '  perf is not installed: left out'
	share=$(awk '{ n += $3; whole += $4 } END { print n ? 100 * whole / n : 0 }' "$tmp/cprof")
}

claim() { # WHAT VALUE LEAST
	awk -v what="$1" -v value="${2:-0}" -v least="$3" 'BEGIN {
		printf "  %-58s %7.2f %%, claimed: at least %g %%: %s\n", what, value, least, (value >= least ? "met" : "not met") }'
}

forks() { awk '$1 == "processes" { print $2 }' /proc/stat; }

# Short programs as fast as possible, one after the other on each CPU
storm_load() {
	awk 'BEGIN { srand(7); for (i = 0; i < 2000; i++) print int(rand() * 1e6), "word" i }' >"$tmp/lines"
	printf '#include <stdio.h>\nint main(int n, char **a)\n{\n\treturn printf("%%s %%d\\n", a[0], n) < 0;\n}\n' >"$tmp/x.c"
	timeout 86400 sh -c 'cd "$0" || exit
		python=$(command -v /usr/bin/python3 || command -v python3)
		few() { /bin/true; ls -l /usr/bin; sort lines; /bin/true; ls /etc; sort -n lines; }
		turn() { while :; do
				few; few; few
				[ -z "$python" ] || "$python" -c "import json; print(json.dumps(list(range(100))))"
				few; few; few
				gcc -O1 -c -o "$1.o" x.c
			done; }
		i=0; while [ $i -lt "$1" ]; do turn $i & i=$((i + 1)); done; wait' "$tmp" "$cpus" >/dev/null 2>&1 &
	load=$!
}

storm() {
	storm_load
	sleep 1
	before=$(forks) since=$(date +%s%N)
	compare sh,true,ls,sort,python3,gcc,cc1,as
	after=$(forks) until=$(date +%s%N)
	kill "$load"
	wait "$load" 2>/dev/null
	load=
	echo "  $(awk "BEGIN { printf \"%.0f\", ($after - $before) * 1e9 / ($until - $since) }") programs/s"
	claim 'complete stacks in the storm' "$share" 85
}

steady() {
	# Uses the rows of the verifier, with this function instead of its own.
	verify() {
		shift
		echo "-- $name"
		compare "" timeout "$BENCH_SECONDS" "$@"
	}
	without() { echo "-- $name: left out, there is no $1"; }
	. "$tests/verify/rows.sh"
	for name in ${ROWS:-python3 openssl sort gxx clang node}; do
		"row_$name"
	done
}

exec 3>&1
echo "$hz Hz, $cpus CPUs, $BENCH_ROUNDS rounds of $BENCH_SECONDS s"
for part in $parts; do
	[ "$part" != storm ] || echo '-- fork/exec storm: true, ls, sort, python3, gcc, as fast as they go, one at a time per CPU'
	$part
done
