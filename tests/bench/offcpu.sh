#!/bin/sh
# The cost of tracing waits for the waiting threads: a byte that goes back and forth between two processes
# through pipes, with nothing, with cprof-record --off-cpu, and with libbpf-tools' offcputime (if it is not
# installed, the same in bpftrace), in windows that take turns in one run. Then what long waits cost the
# recorder: the same two processes sleep for 4 ms before each round trip, which makes nearly 500 long waits a
# second. Requires root. About three minutes:
#
#	[BENCH_ROUNDS=7] BIN=build/bin BUILD=build tests/bench/offcpu.sh [short|long]...
#
# The figure is CPU time for a round trip, two waits and four switches, medians of the rounds. Round trips a
# second are shown, too, but are less reliable on a machine with other load. Fails if cprof slows the
# processes down by more than a quarter as much as the peer.
#
# The cost of a long wait is that of recordings with --off-cpu less those with --off-cpu=10s, in which no wait
# is long, once started, medians of the rounds: the recorder's CPU time and the run time of its BPF programs.
# Its bytes are those of its records woken and lock; those with its samples are shown, too. Fails above 20
# bytes, or if 500 long waits a second cost more than 0.05 % of a CPU per CPU.
set -u
. "$(dirname "$0")/../lib/spent-lib.sh"
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
	peer=
fi

window() { # NAME
	"$BUILD/tests/pingpong" 1 >>"$tmp/$1"
}

end_recorder() {
	kill -9 "$recorder" 2>/dev/null # at a normal end, offcputime and bpftrace would print for long
	wait "$recorder" 2>/dev/null
	recorder=
}

median() { # FILE COLUMN
	sort -n -k "$2,$2" "$1" | awk -v c="$2" '{ v[NR] = $c } END { print v[int((NR + 1) / 2)] }'
}

row() { # NAME FILE
	awk -v name="$1" -v cpu="$(median "$tmp/$2" 2)" -v bare="$bare" -v rate="$(median "$tmp/$2" 1)" \
		'BEGIN { printf "%-24s %8d ns a round trip, %+7d ns, %+6.1f %%  %8d a second\n", name, cpu, cpu - bare, 100 * (cpu / bare - 1), rate }'
}

measure_short() {
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
	bare=$(median "$tmp/bare" 2)
	row "nothing" bare
	row "cprof-record" sampling
	row "cprof-record --off-cpu" ours
	row "$peer" peer
	awk -v bare="$bare" -v ours="$(median "$tmp/ours" 2)" -v peer="$(median "$tmp/peer" 2)" \
		-v name="$peer" 'BEGIN {
		share = (ours - bare) / (peer - bare)
		printf "%.2f of what %s slows it down\n", share, name
		exit share > 0.25
	}'
}

# long_waits NAME OPTION...: records, and appends to $tmp/NAME the figures of a second, once started: long
# waits, bytes of the stream, ns of cost
long_waits() {
	to=$tmp/$1
	shift
	cprof-record -q "$@" -o "$tmp/long.cprof" -- "$BUILD/tests/pingpong" 6 10 4000 >/dev/null
	cprof-dump "$tmp/long.cprof" >"$tmp/long.txt"
	spent 2 woken <"$tmp/long.txt" | awk '
		{ of[$1] = $2 }
		END {
			s = of["time"] / 1e9
			printf "%.3f %.3f %.0f\n", of["woken"] / s, of["bytes"] / s,
				(of["user-ns"] + of["system-ns"] + of["bpf-ns"]) / s
		}' >>"$to"
}

# bytes_of PATTERN: the bytes of these records of the last recording, for each of its long waits
bytes_of() {
	all=$(cprof-dump -r <"$tmp/long.txt" | wc -c)
	others=$(grep -v "$1" "$tmp/long.txt" | cprof-dump -r | wc -c)
	echo "$all $others $(grep -c '^woken' "$tmp/long.txt")" |
		awk '{ printf "%.1f\n", $3 ? ($1 - $2) / $3 : 0 }'
}

measure_long() {
	for round in $(seq "$BENCH_ROUNDS"); do
		long_waits off --off-cpu=10s
		long_waits on --off-cpu
		bytes_of '^woken\|^lock' >>"$tmp/bytes"
	done
	for i in 1 2 3; do
		echo "$(median "$tmp/on" $i) $(median "$tmp/off" $i)"
	done | awk -v cpus="$(getconf _NPROCESSORS_ONLN)" -v bytes="$(median "$tmp/bytes" 1)" '
		{ on[NR] = $1; more[NR] = $1 - $2 }
		END {
			if (!on[1]) { print "no long waits"; exit 1 }
			cost = more[3] / on[1] * 500 / 1e7 / cpus
			printf "%.0f long waits a second: %.1f bytes each (at most 20), %.1f with samples; %.2f us each\n",
				on[1], bytes, more[2] / on[1], more[3] / on[1] / 1000
			printf "500 of them a second: %.3f %% of a CPU per CPU (at most 0.05 %%)\n", cost
			exit bytes > 20 || cost > 0.05
		}'
}

status=0
for part in ${*:-short long}; do
	if [ "$part" = short ] && [ -z "$peer" ]; then
		echo "Neither offcputime nor bpftrace: there is no peer."
	else
		"measure_$part" || status=1
	fi
done
exit $status
