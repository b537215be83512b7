#!/bin/sh
# The cost of a hit of a probe for the program that hits it: its CPU time with a probe, minus that without, by
# the number of hits; beside the figure that the recorder prints at the start. Requires root. A minute:
#
#	[BENCH_ROUNDS=5] [BENCH_HITS=100000] BIN=build/bin BUILD=build tests/bench/probe.sh
#
# Places: a nop, which the kernel emulates; a move, for which it needs a second trap; a nop of five bytes,
# which becomes a call on Linux 6.18. With 1 Hz nearly no sample is taken, with 1000 Hz some. "filtered" is a
# recording of another process, whose probe costs this one nearly the same. Prints the least of the rounds:
# other load only adds.
# Fails if the recorder's figure is less than half or more than twice the one measured here.
set -u
tests=$(cd "$(dirname "$0")/.." && pwd)
: "${BIN:=$(dirname "$tests")/build/bin}" "${BUILD:=$(dirname "$tests")/build}"
: "${BENCH_ROUNDS:=5}" "${BENCH_HITS:=100000}"
PATH=$BIN:$PATH
export LC_ALL=C
load=$BUILD/tests/probes

[ "$(id -u)" = 0 ] || { echo "Probes need root: left out."; exit 0; }
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cprof-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# cpu COMMAND...: prints its CPU time in ns
cpu() {
	bash -c 'TIMEFORMAT="%U %S"; { time "$@" >/dev/null 2>&1; } 2>"$0/cpu"' "$tmp" "$@"
	awk '{ printf "%.0f", ($1 + $2) * 1e9 }' "$tmp/cpu"
}
# beside OPTION...: prints the load's CPU time while another process is recorded
beside() {
	rm -f "$tmp/file"; sleep 1000 & other=$!
	cprof-record "$@" -p $other -o "$tmp/file" 2>"$tmp/err" & recorder=$!
	until [ -s "$tmp/file" ] || ! kill -0 $recorder 2>/dev/null; do sleep 0.1; done
	cpu "$load" "$BENCH_HITS"
	kill $recorder $other
	wait 2>/dev/null
}
# in_command OPTION...: the same for a recording of the load itself. The recorder's CPU time is not in it.
in_command() {
	cprof-record "$@" -o "$tmp/file" -- \
		bash -c 'TIMEFORMAT="%U %S"; { time "$@" >/dev/null; } 2>"$0"' "$tmp/cpu" \
		"$load" "$BENCH_HITS" 2>"$tmp/err"
	awk '{ printf "%.0f", ($1 + $2) * 1e9 }' "$tmp/cpu"
}
least() { sort -n "$tmp/$1" | head -n 1; }

failed=0
printf 'ns a hit, least of %s rounds of %s hits; load %s\n' "$BENCH_ROUNDS" "$BENCH_HITS" \
	"$(cut -d' ' -f1 /proc/loadavg)"
printf '  %-26s %9s %9s %9s %9s\n' "" 1Hz 1000Hz filtered reported
for place in "nop usdt:$load:cprof:once" "move uprobe:$load:step_leaf" "nop-of-five uprobe:$load:step_nop"; do
	name=${place%% *} event=${place#* }
	rm -f "$tmp"/plain "$tmp"/slow "$tmp"/fast "$tmp"/filtered "$tmp"/said
	for round in $(seq "$BENCH_ROUNDS"); do
		cpu "$load" "$BENCH_HITS" >>"$tmp/plain"; echo >>"$tmp/plain"
		in_command -F 1 -e "$event" >>"$tmp/slow"; echo >>"$tmp/slow"
		sed -n 's/.*each hit costs about \([0-9.]*\) us.*/\1/p' "$tmp/err" |
			awk '{ print $1 * 1000 }' >>"$tmp/said"
		in_command -F 1000 -e "$event" >>"$tmp/fast"; echo >>"$tmp/fast"
		beside -F 1 -e "$event" >>"$tmp/filtered"; echo >>"$tmp/filtered"
	done
	said=$(least said)
	row=$(awk -v n="$BENCH_HITS" -v p="$(least plain)" -v s="$(least slow)" -v f="$(least fast)" \
		-v o="$(least filtered)" \
		'BEGIN { printf "%9.0f %9.0f %9.0f", (s - p) / n, (f - p) / n, (o - p) / n }')
	printf '  %-26s %s %9s\n' "$name" "$row" "${said:-none}"
	echo "$row ${said:-0}" | awk '{ exit !($4 > $1 / 2 && $4 < $1 * 2) }' || failed=1
done
[ $failed = 0 ] || echo "The recorder's figure is not that of this bench."
exit $failed
