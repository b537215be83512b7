#!/bin/sh
# The cost of tracing waits for the waiting threads: a byte that goes back and forth between two processes
# through pipes, with nothing, with cprof-record --off-cpu, and with libbpf-tools' offcputime (if it is not
# installed, the same in bpftrace), in windows that take turns in one run. Requires root. About two minutes:
#
#	[BENCH_ROUNDS=7] BIN=build/bin BUILD=build tests/bench/offcpu.sh
#
# The figure is CPU time for a round trip, two waits and four switches, medians of the rounds. Round trips a
# second are shown, too, but are less reliable on a machine with other load. Fails if cprof slows the
# processes down by more than a quarter as much as the peer.
set -u
tests=$(cd "$(dirname "$0")/.." && pwd)
: "${BIN:=$(dirname "$tests")/build/bin}" "${BUILD:=$(dirname "$tests")/build}" "${BENCH_ROUNDS:=7}"
PATH=$BIN:$PATH:/usr/sbin
export LC_ALL=C

[ "$(id -u)" = 0 ] || { echo "Tracing the scheduler needs root: left out."; exit 0; }
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cprof-bench.XXXXXX") || exit 1
recorder=
cleanup() {
	[ -z "$recorder" ] || kill "$recorder" 2>/dev/null
	rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

# Does what offcputime does: stacks by frame pointers at each switch, a sum for each
script='tracepoint:sched:sched_switch { @start[args->prev_pid] = nsecs; @k[args->prev_pid] = kstack;
	@u[args->prev_pid] = ustack; $s = @start[args->next_pid];
	if ($s) { @[@k[args->next_pid], @u[args->next_pid], args->next_pid] = sum(nsecs - $s); delete(@start[args->next_pid]); } }'
if command -v offcputime >/dev/null; then
	peer=offcputime
	run_peer() { offcputime 600 >/dev/null 2>&1 & recorder=$!; }
elif command -v bpftrace >/dev/null; then
	peer=bpftrace
	run_peer() { bpftrace -e "$script" >/dev/null 2>&1 & recorder=$!; }
else
	echo "Neither offcputime nor bpftrace: there is no peer."
	exit 0
fi

window() { # NAME
	"$BUILD/tests/pingpong" 1 >>"$tmp/$1"
}

end_recorder() {
	kill -9 "$recorder" 2>/dev/null # at a normal end, offcputime and bpftrace would print for long
	wait "$recorder" 2>/dev/null
	recorder=
}

for round in $(seq "$BENCH_ROUNDS"); do
	window bare
	cprof-record -q -a --off-cpu -o "$tmp/out.cprof" 2>/dev/null & recorder=$!
	sleep 2
	window ours
	kill -INT "$recorder" && wait "$recorder"
	recorder=
	cprof-record -q -a -o "$tmp/on.cprof" 2>/dev/null & recorder=$!
	sleep 2
	window sampling
	end_recorder
	run_peer
	sleep 3
	window peer
	end_recorder
done

median() { # FILE COLUMN
	sort -n -k "$2,$2" "$1" | awk -v c="$2" '{ v[NR] = $c } END { print v[int((NR + 1) / 2)] }'
}

bare=$(median "$tmp/bare" 2)
row() { # NAME FILE
	awk -v name="$1" -v cpu="$(median "$tmp/$2" 2)" -v bare="$bare" -v rate="$(median "$tmp/$2" 1)" \
		'BEGIN { printf "%-24s %8d ns a round trip, %+7d ns, %+6.1f %%  %8d a second\n", name, cpu, cpu - bare, 100 * (cpu / bare - 1), rate }'
}
row "nothing" bare
row "cprof-record" sampling
row "cprof-record --off-cpu" ours
row "$peer" peer
awk -v bare="$bare" -v ours="$(median "$tmp/ours" 2)" -v peer="$(median "$tmp/peer" 2)" -v name="$peer" 'BEGIN {
	share = (ours - bare) / (peer - bare)
	printf "%.2f of what %s slows it down\n", share, name
	exit share > 0.25
}'
