#!/bin/sh
# The cost of sampling for the sampled programs: the work that a program on each CPU gets done, without a
# sampler and with one, in windows that take turns in one run. The samplers: a bare timer (a cpu-clock event
# of perf on each CPU with no program and no ring: the interrupt that all others pay, too); the same with an
# empty BPF program; the same with one that takes the user stack by bpf_get_stack and discards it (the base
# cost of every sampler in BPF); cprof-record as it is and with --unwind fp; perf record -g; and bcc's
# profile, all by cpu-clock. Requires root, and a machine with no other load. A minute and a quarter a round
# for each rate and victim, 25 minutes by default:
#
#	[BENCH_ROUNDS=5] [BENCH_HZ='99 4999'] [BENCH_VICTIMS='frames tables'] [BENCH_WINDOW=4] \
#		[BENCH_SAMPLERS='timer program stack cprof cprof_fp perf bcc'] BIN=build/bin BUILD=build \
#		tests/bench/victim.sh
#
# The claim is for 99 Hz. A quarter of a percent is as small as the noise of many machines, so a higher rate
# magnifies the effect. Time per sample is good for any rate; the recorder's periodic work is in it at the
# lower rate only, where it is the whole cost divided by the samples.
#
# Method: bench-victim.c counts turns of some 10 us, in windows of BENCH_WINDOW seconds. A window with a
# sampler is compared with the mean of the windows without one before and after it. The medians of all rounds
# are shown, in which the samplers' order rotates, with the 95 % interval of a bootstrap over the rounds in
# brackets. A claim is met, or not, if the whole interval is on one side of it, with five rounds at least.
#   - wall: lost turns a second of wall time. It includes everything: the interrupt, the stack, cold caches,
#     and the recorder itself, which displaces a victim if all CPUs are busy. Other load is in it, too.
#   - own time: lost turns a second of the victims' CPU time, and CPU time of the sampler's processes in the
#     window. It is the same except for kernel threads (which write perf's file to the disk), and for other
#     load, which only disturbs the caches here. It is not available if the kernel subtracts interrupts from
#     CPU time.
#   - turns: the excess of a turn over an undisturbed one of the same quarter of a second, in those quarters
#     of the window in which it is least, and the same CPU time of the sampler's processes. It excludes a
#     virtual CPU or interrupts that are slower in one window than in the next, which is the noise of the
#     other two; and also the effect of an interrupt's cold caches after more than some 40 us.
# No window contains start and end: cprof-record's scan of /proc, bcc's compilation, perf's pass over its
# file.
#
# profile compiles itself with the headers of a kernel, not necessarily this one's: if those are missing, any
# package linux-headers-* will do. If it does not run at all, the same in bpftrace replaces it.
#
# frames: victims with frame pointers, with 19 frames in a stack. tables: without, which perf -g and profile
# cannot follow: their result there is not the stack, costs less, and is not a measure.
set -u
tests=$(cd "$(dirname "$0")/.." && pwd)
: "${BIN:=$(dirname "$tests")/build/bin}" "${BUILD:=$(dirname "$tests")/build}" "${BENCH_ROUNDS:=5}"
: "${BENCH_HZ:=99 4999}" "${BENCH_VICTIMS:=frames tables}" "${BENCH_WINDOW:=4}"
: "${BENCH_SAMPLERS:=timer program stack cprof cprof_fp perf bcc}"
PATH=$BIN:$PATH:/usr/sbin
export LC_ALL=C
cpus=$(getconf _NPROCESSORS_ONLN)
stats=/proc/sys/kernel/bpf_stats_enabled victim=$BUILD/tests/bench-victim

[ "$(id -u)" = 0 ] || { echo "The recorders sample the whole system, which needs root: left out."; exit 0; }
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cprof-bench.XXXXXX") || exit 1
stats_before=$(cat $stats 2>/dev/null)
load='' sampler='' failed=0
cleanup() {
	[ -z "$sampler" ] || kill -9 "$sampler" 2>/dev/null
	[ -z "$load" ] || kill "$load" 2>/dev/null
	[ -z "$stats_before" ] || echo "$stats_before" 2>/dev/null >$stats
	rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM
[ "${stats_before:-0}" = 0 ] || echo 0 2>/dev/null >$stats || echo "kernel.bpf_stats_enabled is on: BPF programs cost more."
# If set, a task's CPU time excludes the interrupts that we measure.
irq_time=$({ zcat /proc/config.gz || cat "/boot/config-$(uname -r)"; } 2>/dev/null | sed -n 's/^CONFIG_IRQ_TIME_ACCOUNTING=//p')

# Runs each sampler at $hz; start puts it into the background.
run_timer() { exec "$victim" timer "$hz"; }
run_program() { exec "$victim" program "$hz"; }
run_stack() { exec "$victim" stack "$hz"; }
run_cprof() { exec cprof-record -q -F "$hz" -a -o "$tmp/file"; }
run_cprof_fp() { exec cprof-record -q -F "$hz" -a --unwind fp -o "$tmp/file"; }
run_perf() { exec perf record -q -e cpu-clock -F "$hz" -a -g -o "$tmp/file"; }
run_bcc() { exec profile-bpfcc -f -F "$hz" 3600; }
run_bpftrace() { exec bpftrace -e "profile:hz:$hz { @[ustack, kstack, pid, comm] = count(); }"; }

# Debian splits the headers into two directories; a kernel build has them in one.
merge_headers() {
	# shellcheck disable=SC2012
	common=$(ls -d /usr/src/linux-headers-*-common 2>/dev/null | sort -V | tail -1)
	arch=$(ls -d "${common%-common}"-[!c]* 2>/dev/null | head -1)
	[ -n "$common" ] && [ -n "$arch" ] && mkdir "$tmp/headers" && cp -rs "$common/." "$tmp/headers" &&
		cp -rsf "$arch/include" "$arch/arch" "$tmp/headers" && export BCC_KERNEL_SOURCE="$tmp/headers"
}

runs_bcc() { profile-bpfcc -f -F 99 1 >/dev/null 2>"$tmp/err"; }

has_bcc() {
	command -v profile-bpfcc >/dev/null || return 1
	runs_bcc && return
	[ -z "${BCC_KERNEL_SOURCE:-}" ] && merge_headers && runs_bcc
}

# Starts a sampler and waits until it has its events; its startup work ends within two seconds more.
start() { # NAME
	"run_$1" >"$tmp/out" 2>"$tmp/err" &
	sampler=$!
	for _ in $(seq 600); do
		kill -0 $sampler 2>/dev/null || break
		if [ "$(find "/proc/$sampler/fd" -lname '*perf_event*' 2>/dev/null | wc -l)" -ge "$cpus" ]; then
			sleep 2
			kill -0 $sampler 2>/dev/null && return
			break
		fi
		sleep 0.1
	done
	echo "  $1 does not sample here: left out ($(grep . "$tmp/err" | tail -1))"
	end
	return 1
}

end() {
	# At a normal end, profile would look up names for long; perf and cprof-record must complete their
	# files.
	case $(cat "/proc/$sampler/comm" 2>/dev/null) in
	perf | cprof-record) kill -INT "$sampler" 2>/dev/null ;;
	*) kill -9 "$sampler" 2>/dev/null ;;
	esac
	wait "$sampler" 2>/dev/null
	sampler=
	rm -f "$tmp/file"
	sleep 0.5 # maps are freed later
}

family() { # PID: prints it and its children
	echo "$1"
	cat /proc/"$1"/task/*/children 2>/dev/null
}

window() { # NAME ROUND
	# shellcheck disable=SC2046
	echo "$1 $2 $("$victim" window "$tmp/shared" "$BENCH_WINDOW" $([ -z "$sampler" ] || family "$sampler"))" >>"$tmp/windows"
}

rotate() { # N NAME...: the names, from the one after the Nth
	n=$1
	shift
	n=$((n % $#))
	while [ $n -gt 0 ]; do
		first=$1
		shift
		set -- "$@" "$first"
		n=$((n - 1))
	done
	echo "$@"
}

wants() { case " $BENCH_SAMPLERS " in *" $1 "*) true ;; *) false ;; esac; }
samplers='' peer=profile
for s in timer program stack cprof cprof_fp perf; do
	! wants $s || samplers="$samplers $s"
done
if wants perf && ! command -v perf >/dev/null; then
	echo "perf is not installed: left out"
	samplers=${samplers%perf}
fi
if ! wants bcc; then
	:
elif has_bcc; then
	samplers="$samplers bcc"
elif command -v bpftrace >/dev/null; then
	echo "bcc's profile does not run here ($(grep . "$tmp/err" 2>/dev/null | tail -1)): bpftrace stands for it."
	samplers="$samplers bcc" peer=bpftrace
	run_bcc() { run_bpftrace; }
fi

# Lines of a window: name, round, turns, wall ns, CPU ns of the victims, CPU ns of the sampler, excess of
# turns over good ones.
table='
function median(v, n,    i, j, t) {
	for (i = 2; i <= n; i++) {
		t = v[i]
		for (j = i - 1; j >= 1 && v[j] > t; j--) v[j + 1] = v[j]
		v[j + 1] = t
	}
	return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
# Gives the same numbers in each run and each awk.
function random(n) {
	seed = (seed * 16807) % 2147483647
	return 1 + int(seed / 2147483647 * n)
}
# Puts the median of key over all rounds into middle, and 95 % of the medians of drawn rounds into low and
# high.
function estimate(key,    n, i, r, d) {
	n = 0
	for (r = 1; r <= rounds; r++) if ((key, r) in value) all[++n] = value[key, r]
	for (i = 1; i <= n; i++) drawn[i] = all[i]
	middle = median(drawn, n)
	for (d = 1; d <= DRAWS; d++) {
		for (i = 1; i <= n; i++) drawn[i] = all[random(n)]
		medians[d] = median(drawn, n)
	}
	median(medians, DRAWS)
	low = medians[int(DRAWS * 0.025) + 1]
	high = medians[int(DRAWS * 0.975)]
	return n
}
function shown(key) {
	if (!estimate(key)) return sprintf("%34s", "-")
	return sprintf("%7.3f [%7.3f %7.3f] %8.2f", middle, low, high, middle * 1e4 / hz)
}
# Claims that the difference of value over all rounds is not above 0.
function claim(what, said, key,    verdict) {
	if (estimate(key) < 5) verdict = "cannot be told by so few rounds"
	else verdict = high <= 0 ? "met" : low > 0 ? "not met" : "cannot be told, the noise is larger"
	if (verdict == "not met") missed = 1
	printf "  %-64s %s: %s\n", what, sprintf(said, middle, low, high), verdict
}
# Computes a - b for the rounds in which both were measured.
function differ(key, a, b, share,    r) {
	for (r = 1; r <= rounds; r++)
		if ((a, r) in value && (b, r) in value) value[key, r] = value[a, r] - share * value[b, r]
}
# Prints the claims of one sampler.
function claims_of(who, said, how, name,    ours, over) {
	if (!((how who) in seen)) return
	if ((how "perf") in seen) {
		differ("d", how who, how "perf", 1)
		claim("no more than perf record" said ", by " name, "%+.3f points [%+.3f %+.3f]", "d")
	}
	if (!((how "bcc") in seen)) return
	differ(how "ours over", how who, how "timer", 1)
	differ(how "bcc over", how "bcc", how "timer", 1)
	estimate(how "ours over"); ours = middle
	estimate(how "bcc over"); over = middle
	differ("d", how "ours over", how "bcc over", 0.5)
	claim("over the timer less than half of " peer said ", by " name, \
		sprintf("%.2f of it, %%+.3f points from half [%%+.3f %%+.3f]", over > 0 ? ours / over : 0), "d")
}
# Prints how much of the cost of the peer is paid before anything is done with a sample. perf -g and profile
# walk by frame pointers.
function claims(how, name,    over) {
	differ(how "bcc over", how "bcc", how "timer", 1)
	over = estimate(how "bcc over") ? middle : 0
	differ(how "program over", how "program", how "timer", 1)
	differ(how "stack over", how "stack", how "timer", 1)
	if (over > 0 && estimate(how "program over"))
		printf("  over the timer a program that does nothing takes %.2f of what %s does, by %s\n", middle / over, peer, name)
	if (over > 0 && estimate(how "stack over"))
		printf("  over the timer a stack that is thrown away takes %.2f of what %s does, by %s\n", middle / over, peer, name)
	claims_of("cprof", "", how, name)
	claims_of("cprof_fp", ", --unwind fp", how, name)
}
BEGIN {
	seed = 4711; DRAWS = 1000
	label["timer"] = "bare timer"; label["program"] = "empty BPF program"
	label["stack"] = "bare bpf_get_stack"; label["cprof"] = "cprof-record"; label["cprof_fp"] = "cprof-record --unwind fp"
	label["perf"] = "perf record -g"; label["bcc"] = peer
}
{
	wall[NR] = $3 / $4; own[NR] = $3 / $5; taken[NR] = $6 / $4 / cpus; over[NR] = $7; name[NR] = $1; round[NR] = $2
	busy += $5; of += $4 * cpus
	if ($2 > rounds) rounds = $2
}
END {
	for (i = 2; i < NR; i++) {
		if (name[i] == "off") continue
		s = name[i]; r = round[i]
		if (!(("w" s) in seen)) { order[++n] = s; seen["w" s]; seen["c" s]; seen["b" s] }
		value["w" s, r] = 100 * (1 - 2 * wall[i] / (wall[i - 1] + wall[i + 1]))
		value["t" s, r] = 100 * taken[i]
		value["b" s, r] = over[i] - (over[i - 1] + over[i + 1]) / 2 + 100 * taken[i]
		value["c" s, r] = 100 * (1 - 2 * own[i] / (own[i - 1] + own[i + 1])) + 100 * taken[i]
	}
	# Two windows without a sampler, with one with a sampler between them.
	for (i = 3; i <= NR; i++) if (name[i] == "off" && name[i - 2] == "off") {
		d = 100 * (wall[i] / wall[i - 2] - 1); a[++m] = d < 0 ? -d : d
		d = 100 * (own[i] / own[i - 2] - 1); b[m] = d < 0 ? -d : d
		d = over[i] - over[i - 2]; c[m] = d < 0 ? -d : d
	}
	printf "  %.1f %% of the CPUs were the victims'\''; windows without a sampler differ by %.3f %% (wall), %.3f %% (own time), %.3f %% (turns)\n", \
		100 * busy / of, median(a, m), median(b, m), median(c, m)
	printf "  %-25s %7s %17s %8s | %7s %17s %8s | %7s %17s %8s | %8s\n", "% of a CPU per CPU", \
		"wall", "", "us/smpl", "own", "", "us/smpl", "turns", "", "us/smpl", "itself"
	rows = split("timer program stack cprof cprof_fp perf bcc", row, " ")
	for (k = 1; k <= rows; k++) {
		s = row[k]
		if (!(("w" s) in seen)) continue
		estimate("t" s); t = middle
		printf "  %-25s %s | %s | %s | %8.3f\n", label[s], shown("w" s), irq == "y" ? sprintf("%34s", "-") : shown("c" s), shown("b" s), t
	}
	if (victim == "frames") {
		claims("w", "wall")
		if (irq != "y") claims("c", "own time")
		claims("b", "turns")
	}
	exit missed
}'

leg() { # VICTIM HZ
	hz=$2
	case $1 in
	tables) with='tables, without frame pointers' program=$BUILD/frameless/victim ;;
	*) with='frame pointers' program=$victim ;;
	esac
	echo "-- $hz Hz, $cpus CPUs, $BENCH_ROUNDS rounds; victims with $with"
	if [ "$(cat /proc/sys/kernel/perf_event_max_sample_rate)" -lt "$hz" ]; then
		echo "  kernel.perf_event_max_sample_rate is less: left out"
		return
	fi
	rm -f "$tmp/windows"
	"$program" spin "$tmp/shared" & load=$!
	sleep 1
	window off 0
	round=0 left_out=
	while [ $round -lt "$BENCH_ROUNDS" ]; do
		round=$((round + 1))
		for s in $(rotate $round $samplers); do
			case " $left_out " in *" $s "*) continue ;; esac
			if start "$s"; then
				window "$s" $round
				end
				window off $round
			else
				left_out="$left_out $s"
			fi
		done
	done
	kill "$load"
	wait "$load" 2>/dev/null
	load=
	awk -v cpus="$cpus" -v victim="$1" -v peer="$peer" -v hz="$hz" -v irq="$irq_time" "$table" "$tmp/windows" || failed=1
}

for v in $BENCH_VICTIMS; do
	for h in $BENCH_HZ; do
		leg "$v" "$h"
	done
done
exit $failed
