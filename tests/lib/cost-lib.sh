# The cost of recorders under a load, one after the other, for bench/*.sh: . "$(dirname "$0")/../lib/cost-lib.sh"
#
#	bench LOAD SHARE WHAT [more]
#
# bench runs LOAD_load, which puts its pid into $load, and prints a table of all recorders. SHARE: the
# allowed bytes a sample, as a share of perf.data's; 0: they cannot be compared. more: also runs perf record
# --call-graph dwarf. $most: the claimed limit in % of a CPU per CPU, 0.1. $comms and $whole: the names of
# the load's threads, and the claimed % of whole stacks among theirs, by the judge of judge-lib.sh, beside
# perf record -g.
#
# Each recorder records twice, for a fifth of BENCH_SECONDS and for all of them. The cost of the long
# recording after the length of the short one is the steady cost; the rest of the short recording is the start
# (and the end: perf record and bpftrace do much of their work there). The cheapest of several rounds count,
# because machines do other things too; those show in every recorder's samples and bytes.
#
# CPU is user and system time of the recorder and its children. BPF run time is the kernel's account
# (kernel.bpf_stats_enabled, which this script sets while it runs) from /proc/PID/fdinfo, which includes the
# program's entry and the clock readings of the account itself. The cost of perf's own sampling in the kernel
# is in no account: its figure is too low by about the cost of reading the stacks, which is most of the
# others' BPF time.
set -u
tests=$(cd "$(dirname "$0")/.." && pwd)
: "${BIN:=$(dirname "$tests")/build/bin}" "${BUILD:=$(dirname "$tests")/build}"
: "${BENCH_SECONDS:=20}" "${BENCH_ROUNDS:=1}"
PATH=$BIN:$PATH:/usr/sbin
export LC_ALL=C
hz=99 long=$BENCH_SECONDS short=$(((BENCH_SECONDS + 4) / 5)) cpus=$(getconf _NPROCESSORS_ONLN)
stats=/proc/sys/kernel/bpf_stats_enabled
ours=cprof-record perf='perf record -g'
profile="profile:hz:$hz { @[ustack, kstack, comm] = count(); }"

[ "$(id -u)" = 0 ] || { echo "The recorders sample the whole system, which needs root: left out."; exit 0; }
[ "$long" -gt "$short" ] || { echo "BENCH_SECONDS must be at least 2." >&2; exit 2; }
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cprof-bench.XXXXXX") || exit 1
stats_before=$(cat $stats 2>/dev/null)
load=
cleanup() {
	[ -z "$load" ] || kill "$load" 2>/dev/null
	[ -z "$stats_before" ] || echo "$stats_before" 2>/dev/null >$stats
	rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM
echo 1 2>/dev/null >$stats || echo "kernel.bpf_stats_enabled cannot be set: no BPF run time."

end_load() {
	kill "$load"
	wait "$load" 2>/dev/null
	load=
}

# watch_use PID: writes the process's use to $tmp/track, a line a second while it lives: time in s, CPU time
# of its threads in ns, run time in ns and runs of its perf_event programs (type 7). Uses bash, which can wait
# without a new process: a recorder that watches the whole system has work for each.
watch_use() {
	bash -c 'exec 9<> <(:) 2>/dev/null
	while kill -0 "$1" 2>/dev/null; do
		read -rt 1 -u 9
		cpu=0 ns=0 runs=0 seen=
		for f in "/proc/$1/task/"*/schedstat; do
			read -r value rest <"$f" && cpu=$((cpu + value))
		done 2>/dev/null
		for f in "/proc/$1/fdinfo/"*; do
			type=
			while read -r key value; do
				case $type:$key in
				*:prog_type:) type=$value ;;
				*:prog_id:) case " $seen " in *" $value "*) type= ;; *) seen="$seen $value" ;; esac ;;
				7:run_time_ns:) ns=$((ns + value)) ;;
				7:run_cnt:) runs=$((runs + value)) ;;
				esac
			done <"$f"
		done 2>/dev/null
		[ $cpu = 0 ] || echo "$EPOCHREALTIME $cpu $ns $runs" >>"$0/track"
	done' "$tmp" "$1"
}

# used: for a recording, mean BPF run time in ns and runs; and from $short s on, when it runs steadily: s, CPU
# ns, BPF ns, runs
used() {
	awk -v short="$short" '!start { start = $1 }
		$1 - start >= short && !t { t = $1; c = $2; b = $3; r = $4 }
		$4 >= runs { last = $1; cpu = $2; bpf = $3; runs = $4 } # programs that are gone have none
		END { printf "%.0f,%d,%.3f,%.0f,%.0f,%d", runs ? bpf / runs : 0, runs, t ? last - t : 0, cpu - c, bpf - b, runs - r }' \
		"$tmp/track" 2>/dev/null || echo 0,0,0,0,0,0
}

# measure COMMAND...: writes user and system seconds to $tmp/cpu, its use over time to $tmp/track, its
# messages to $tmp/out and $tmp/err
measure() {
	rm -f "$tmp/pid" "$tmp/track"
	LC_ALL=C bash -c 'exec 3>"$0/cpu"; TIMEFORMAT="%U %S"
		{ time sh -c "echo \$\$ >\"\$0/pid\"; exec \"\$@\" 3>&-" "$0" "$@" >"$0/out" 2>"$0/err"; } 2>&3' "$tmp" "$@" &
	run=$!
	while [ ! -s "$tmp/pid" ]; do sleep 0.05; done
	watch_use "$(cat "$tmp/pid")" &
	wait $run
	status=$?
	wait $!
	return $status
}

# Each recorder runs for $1 seconds, to $tmp/file; then its number of samples goes to $tmp/samples.
run_cprof() {
	measure cprof-record -F $hz -a -o "$tmp/file" "$1" &&
		sed -n 's/^cprof-record: \([0-9]*\) samples.*/\1/p' "$tmp/err" >"$tmp/samples"
}
run_perf() {
	measure perf record -F $hz -a -g -o "$tmp/file" -- sleep "$1" &&
		perf report --stats -i "$tmp/file" 2>/dev/null | awk '/SAMPLE events:/ { n = $3 } END { print n }' >"$tmp/samples"
}
run_dwarf() {
	measure perf record -F $hz -a --call-graph dwarf -o "$tmp/file" -- sleep "$1" &&
		perf report --stats -i "$tmp/file" 2>/dev/null | awk '/SAMPLE events:/ { n = $3 } END { print n }' >"$tmp/samples"
}
run_bpftrace() {
	measure bpftrace -e "$profile interval:s:$1 { exit(); }" && mv "$tmp/out" "$tmp/file" &&
		awk '/\]: [0-9]+$/ { n += $NF } END { print n }' "$tmp/file" >"$tmp/samples"
}
run_bcc() {
	measure profile-bpfcc -F $hz -f "$1" && mv "$tmp/out" "$tmp/file" &&
		awk '{ n += $NF } END { print n }' "$tmp/file" >"$tmp/samples"
}

. "$tests/lib/judge-lib.sh"
exec 3>&1
# judge NAME RECORDER: appends a line to $tmp/judged: name, samples of the load, whole ones
judge() {
	case $2 in
	cprof | perf) "judge_$2" "$comms" | awk -v name="$1" 'NR == 1 { print name "," $2 "," $3 }' >>"$tmp/judged" ;;
	esac
}
wholes='{ n[$1] += $2; good[$1] += $3; if (!($1 in seen)) names[++m] = $1; seen[$1] }
END {
	for (i = 1; i <= m; i++) if (n[names[i]])
		printf "  %-15s %6.2f %% of %d stacks of the load are whole\n", names[i], 100 * good[names[i]] / n[names[i]], n[names[i]]
	share = n[ours] ? 100 * good[ours] / n[ours] : 0
	printf "  %-58s %7.2f %%, claimed: at least %g %%: %s\n", "whole stacks", share, least, (share >= least ? "met" : "not met")
}'

# record NAME RECORDER SECONDS: appends a line to the results: name, seconds, samples, bytes, CPU s, and the
# output of used()
record() {
	rm -f "$tmp/file" "$tmp/samples"
	"run_$2" "$3"
	[ "$(cat "$tmp/samples" 2>/dev/null || echo 0)" -gt 0 ] 2>/dev/null || return 1
	echo "$1,$3,$(cat "$tmp/samples"),$(wc -c <"$tmp/file"),$(awk '{ print $1 + $2 }' "$tmp/cpu"),$(used)" >>"$tmp/new"
	[ -z "${comms:-}" ] || [ "$3" != "$long" ] || judge "$1" "$2"
}

# all_of NAME RECORDER: runs short and long in each round, or prints why it cannot
all_of() {
	rm -f "$tmp/new"
	if ! command -v "${1%% *}" >/dev/null; then
		echo "  ${1%% *} is not installed: left out"
		return 1
	fi
	round=0
	while [ $round -lt "$BENCH_ROUNDS" ]; do
		round=$((round + 1))
		if ! record "$1" "$2" "$short" || ! record "$1" "$2" "$long"; then
			echo "  ${1%% *} does not record here: left out ($(grep . "$tmp/err" | tail -1))"
			return 1
		fi
	done
	cat "$tmp/new" >>"$tmp/results"
}

# The cheapest of several rounds counts, for each length. The time of the program is its mean times the
# samples, because the account was read up to a second before the end.
table='
function percent(ms, s) { return ms / 10 / s / cpus }
function claim(what, value, most, unit) {
	printf "  %-58s %7.3f%s, claimed: at most %g%s: %s\n", what, value, unit, most, unit, value <= most ? "met" : "not met"
}
function row(name, s) {
	printf "  %-15s %5d %8d %9d %7.1f %8.0f %8s %8.3f", name, s, samples[name, s], bytes[name, s],
		bytes[name, s] / samples[name, s], cpu[name, s], runs[name, s] ? sprintf("%.1f", bpf[name, s]) : "-",
		percent(cost[name, s], s)
}
BEGIN {
	FS = ","
	printf "  %-15s %5s %8s %9s %7s %8s %8s %8s | %7s %9s %8s %9s | %8s\n", "", "s", "samples", "bytes", "B/smpl", "CPU ms",
		"BPF ms", "% of CPU", "steady", "CPU ms/s", "us/BPF", "B/smpl", "start ms"
}
{
	ns = $6 * ($7 > $3 ? $7 : $3)
	if (!($1 in seen)) names[++n] = $1
	seen[$1]
	if ($8 > 0 && (!($1 in steady) || percent(($9 + $10) / 1e6, $8) < steady[$1])) {
		steady[$1] = percent(($9 + $10) / 1e6, $8)
		load[$1] = $9 / 1e6 / $8
		mean[$1] = $11 ? $10 / $11 / 1000 : 0
	}
	if (($1, $2) in cost && cost[$1, $2] <= $5 * 1000 + ns / 1e6) next
	samples[$1, $2] = $3; bytes[$1, $2] = $4; cpu[$1, $2] = $5 * 1000; runs[$1, $2] = $7
	bpf[$1, $2] = ns / 1e6; cost[$1, $2] = $5 * 1000 + ns / 1e6
}
END {
	for (i = 1; i <= n; i++) {
		name = names[i]
		row(name, short)
		print ""
		whole[name] = bytes[name, long] / samples[name, long]
		more[name] = (bytes[name, long] - bytes[name, short]) / (samples[name, long] - samples[name, short])
		row(name, long)
		printf " | %7.3f %9.3f %8s %9.1f | %8.1f\n", steady[name], load[name], mean[name] ? sprintf("%.2f", mean[name]) : "-",
			more[name], cpu[name, short] - load[name] * short
	}
	if (!(ours in seen)) exit
	claim("% of a CPU per CPU, CPU and BPF, once started", steady[ours], most, " %")
	claim("the same with the start, in " long " s", percent(cost[ours, long], long), most, " %")
	if (share == 0) exit
	if (!(perf in seen)) {
		print "  bytes a sample beside perf.data: no perf.data"
		exit
	}
	claim("bytes a sample beside perf.data", whole[ours] / whole[perf], share, "")
	claim("the same without what is there at the start", more[ours] / more[perf], share, "")
}'

# bench LOAD SHARE WHAT
bench() {
	echo "-- $3"
	: >"$tmp/results"
	: >"$tmp/judged"
	"$1_load"
	sleep 1
	all_of "$ours" cprof
	all_of "$perf" perf
	[ $# -lt 4 ] || all_of 'perf dwarf' dwarf
	all_of bpftrace bpftrace || all_of profile-bpfcc bcc
	end_load
	awk -v cpus="$cpus" -v short="$short" -v long="$long" -v ours="$ours" -v perf="$perf" -v share="$2" \
		-v most="${most:-0.1}" "$table" "$tmp/results"
	[ -z "${comms:-}" ] || awk -F, -v ours="$ours" -v least="$whole" "$wholes" "$tmp/judged"
}

