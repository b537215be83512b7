#!/bin/sh
# Descriptors by the number of CPUs: the soft limit is raised, and the hard one decides which engine is used.
# Also CPUs that cannot be sampled, at the start or later.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
cpus=$(getconf _NPROCESSORS_ONLN)
meta() { cprof-dump "$1" | sed -n "s/^meta key=\"$2\" value=\"\(.*\)\"\$/\1/p" | head -1; }

# The soft limit is raised before an engine is chosen.
soft() { (ulimit -Sn "$1"; shift; exec "$@"); }
status "a low soft limit of descriptors" 0 soft 24 cprof-record -q -a -o "$tmp/soft.bin" 0.2
is "  is raised: BPF samples" "$(meta "$tmp/soft.bin" engine)" bpf
status "the recorded command" 0 soft 24 cprof-record -q -o "$tmp/command.bin" -- sh -c "ulimit -Sn >$tmp/limit"
is "  keeps its own limit" "$(cat "$tmp/limit")" 24

# The hard limit decides which engine is used; at no limit does a recording start and then fail.
hard() { (ulimit -n "$1"; shift; exec "$@"); }
least=$((64 + 3 * cpus)) perf=$((24 + cpus))
for n in $perf $((perf + 4)) 28 32 36 40 44 $((least - 1)) $least $((least + 8)); do
	[ "$n" -ge $perf ] || continue
	[ "$n" -ge $least ] && want=bpf || want=perf
	status "a hard limit of $n descriptors" 0 hard "$n" cprof-record -a -o "$tmp/hard.bin" 0.1
	is "  samples by $want" "$(meta "$tmp/hard.bin" engine)" $want
	[ $want = bpf ] || like "  and says why, and how many BPF requires" "$(cat "$tmp/err")" \
		"^cprof-record: sampling by plain perf: cannot open enough descriptors: $cpus CPUs? require $least, and the limit is $n "
done
status "too few for either" 1 hard 16 cprof-record -a -o "$tmp/hard.bin" 0.1
is "  is said in one sentence, with the number" "$(cat "$tmp/err")" \
	"cprof-record: cannot open enough descriptors: $cpus CPU$([ "$cpus" = 1 ] || echo s) require $perf, and the limit is 16 (ulimit -Hn)"
status "too few for BPF where it is asked for" 1 hard 40 cprof-record --engine bpf -a -o "$tmp/hard.bin" 0.1
like "  is said, too" "$(cat "$tmp/err")" "require $least, and the limit is 40"

# Another file covers the list of online CPUs in a mount namespace: CPUs come and go as $tmp/list says.
if [ "$cpus" -lt 2 ] || ! unshare -m true 2>/dev/null; then
	skip "CPUs that come and go" "one CPU, or no mount namespace"
	done_testing
fi
online=/sys/devices/system/cpu/online
all=$(cat $online) last=$(sed 's/.*[,-]//' $online)
row=$((last + 1)) # of the last CPU in the ledger
listed() { # COMMAND...: replaces this shell
	exec unshare -m sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' - "$tmp/list" $online "$@"
}
# list TEXT: in one write, because the recorder may read at any time
list() { echo "$1" >"$tmp/list.new" && dd if="$tmp/list.new" of="$tmp/list" conv=notrunc status=none && truncate -s ${#1} "$tmp/list"; }
sum() { cprof-dump "$1" 2>/dev/null | sed -n "s/^ledger time=[0-9]* cpu=$2 outcome=$3 count=\([0-9]*\)\$/\1/p" | tail -n 1; }
running() { kill -0 "$recorder" 2>/dev/null; }
await() { tries=0; while running && ! "$@" && [ $((tries += 1)) -lt 600 ]; do sleep 0.1; done; }
begun() { cprof-dump "$bin" 2>/dev/null | grep -q '^cost'; }
sampled() { [ -n "$(sum "$bin" $row idle)$(sum "$bin" $row emitted)" ]; }
on_last() { cprof-dump "$bin" 2>/dev/null | grep -c "^sample .* cpu=$last "; }
some() { [ "$(on_last)" -gt "$had" ]; }
start() { # LIST COMMAND...: starts $recorder, which writes $bin
	: >"$tmp/list"
	list "$1"
	shift
	rm -f "$bin"
	listed "$@" -o "$bin" 2>"$tmp/err" &
	recorder=$!
	await begun
}
end() { kill -INT "$recorder" 2>/dev/null; wait "$recorder"; }

# A CPU goes offline after the recorder has read the list and before it is sampled: the kernel returns ENODEV.
# Later it comes back.
bin=$tmp/gone.bin
cat >"$tmp/gone.c" <<'EOF'
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 64 };
static int events[EVENTS], n_events; /* of GONE_CPU */

/* Disables all events of the CPU once the file AWAY exists, as the kernel does when the CPU goes offline. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	int (*real)(clockid_t, struct timespec *);
	const char *away = getenv("AWAY");

	real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	if (n_events && away && access(away, F_OK) == 0) {
		while (n_events)
			ioctl(events[--n_events], PERF_EVENT_IOC_DISABLE, 0);
		rename(away, getenv("AWAY_DONE"));
	}
	return real(clock, t);
}

long syscall(long n, ...)
{
	long (*real)(long, long, long, long, long, long, long) = (long (*)(long, long, long, long, long, long, long))dlsym(RTLD_NEXT, "syscall");
	__builtin_va_list v;
	long a[6];

	__builtin_va_start(v, n);
	for (int i = 0; i < 6; i++)
		a[i] = __builtin_va_arg(v, long);
	__builtin_va_end(v);
	if (n == SYS_perf_event_open && getenv("HALF")) {
		struct perf_event_attr *attr = (struct perf_event_attr *)a[0];

		if (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_CPU_CLOCK)
			attr->sample_period *= 2;
	} else if (n == SYS_perf_event_open && (int)a[2] == atoi(getenv("GONE_CPU")) && access(getenv("GONE_FILE"), F_OK) == 0) {
		errno = ENODEV;
		return -1;
	}
	a[0] = real(n, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (n == SYS_perf_event_open && getenv("AWAY") && (int)a[2] == atoi(getenv("GONE_CPU")) &&
	    a[0] >= 0 && n_events < EVENTS)
		events[n_events++] = (int)a[0];
	return a[0];
}
EOF
if ! sanitized && ${CC:-cc} -O1 -D_GNU_SOURCE -shared -fPIC \
	-o "$tmp/gone.so" "$tmp/gone.c" -ldl 2>/dev/null; then
	for engine in bpf perf; do
		touch "$tmp/gone"
		start "$all" env LD_PRELOAD="$tmp/gone.so" GONE_CPU="$last" GONE_FILE="$tmp/gone" cprof-record -a --engine $engine
		ok "$engine: a CPU that is gone when it is to be sampled does not end the recorder" running
		list 0
		rm "$tmp/gone"
		list "$all"
		[ $engine = perf ] || await sampled
		end
		is "  status" $? 0
		[ $engine = perf ] || like "  it is sampled when it is back" "$(sum "$bin" $row idle)$(sum "$bin" $row emitted)" '^[0-9]+$'
	done
	# A CPU goes offline and comes back between two looks at the list: its perf events have ended, and the
	# kernel has made its directory of the topology again.
	mkdir "$tmp/topology"
	for engine in bpf perf; do
		taskset -c "$last" "$BUILD/tests/burn" threads 1000 >/dev/null & busy=$!
		rm -f "$tmp/away" "$tmp/away.done"
		start "$all" env LD_PRELOAD="$tmp/gone.so" GONE_CPU="$last" GONE_FILE="$tmp/gone" \
			AWAY="$tmp/away" AWAY_DONE="$tmp/away.done" cprof-record -a --engine $engine
		had=0
		await some
		touch "$tmp/away"
		done_away() { [ -e "$tmp/away.done" ]; }
		await done_away
		ok "$engine: a CPU's events end" done_away
		nsenter -t "$recorder" -m \
			mount --bind "$tmp/topology" "/sys/devices/system/cpu/cpu$last/topology"
		had=$(($(on_last) + 150)) # more than those of a second, which may still be on their way
		await some
		end
		is "  status" $? 0
		ok "  the CPU is sampled again when it is back" some
		kill $busy
		wait $busy 2>/dev/null
	done
	# Half of the ticks do not come. A CPU that goes offline removes its idle time from the kernel's
	# account, but that must not turn ticks of a busy CPU into idle ones.
	taskset -c 0 "$BUILD/tests/burn" threads 1000 >/dev/null & busy=$!
	start "$all" env LD_PRELOAD="$tmp/gone.so" HALF=1 cprof-record -a --no-dither
	list 0
	long() { [ "$(sum "$bin" 1 expected)" -gt 900 ] 2>/dev/null; }
	await long
	end
	kill $busy
	missed=$(sum "$bin" 0 missed)
	if [ "${missed:-0}" -gt 300 ]; then pass "ticks that a busy CPU lacks are missed, though another one went offline"; else
		fail "ticks that a busy CPU lacks are missed, though another one went offline"; diag "${missed:-none}"; fi
else
	skip "a CPU that is gone when it is to be sampled" "no library can be preloaded"
fi

# A CPU's period may change (dither.h) in the step in which the CPU is found offline.
start "$all" cprof-record -a
flushes() { cprof-dump "$bin" 2>/dev/null | grep -c '^flush'; }
looked() { [ "$(flushes)" -gt $((had + 1)) ]; }
for now in 0 "$all" 0 "$all" 0 "$all" 0 "$all"; do
	list "$now"
	had=$(flushes)
	await looked
done
end
expected=$(sum "$bin" $row expected)
like "a CPU that comes and goes is expected to have ticks of its time, ${expected:-none}" \
	"$expected" '^[1-9][0-9]{0,4}$'

# A known process executes a program on a CPU that has come online and is not attached yet.
taskset -c "$last" sh -c 'until [ -e "$1" ]; do :; done; exec "$2" brief 60000' - \
	"$tmp/go" "$BUILD/tests/burn" & runs=$!
start 0 cprof-record -a
touch "$tmp/go"
burns() { [ "$(cat /proc/$runs/comm)" = burn ]; }
await burns
list "$all"
mapped() { cprof-dump "$bin" 2>/dev/null | grep -q 'tests/burn"'; }
await mapped
end
kill $runs
wait $runs 2>/dev/null
like "a program that was executed before the CPU was attached is known" \
	"$(cprof-sym "$bin" 2>/dev/null | cprof-fold 2>/dev/null)" '^burn;.*main;brief_work [0-9]+'

# A process that a target has started runs on a CPU that comes online later.
for engine in bpf perf; do
	rm -f "$tmp/go"
	: >"$tmp/ids"
	taskset -c 0 sh -c 'until [ -e "$1" ]; do sleep 0.1; done
		taskset -c "$2" "$3" threads 1000 >"$4" & wait' - \
		"$tmp/go" "$last" "$BUILD/tests/burn" "$tmp/ids" & runs=$!
	start 0 cprof-record --engine $engine -p $runs
	touch "$tmp/go"
	burns() { [ -s "$tmp/ids" ]; }
	await burns
	list "$all"
	had=0
	await some
	kill "$(cut -d' ' -f1 "$tmp/ids")"
	end
	ok "$engine -p: what runs on a CPU that came online later is sampled" some
	wait $runs 2>/dev/null
done

# A CPU comes online and cannot be sampled: only two of the three descriptors that it needs are free.
start 0 cprof-record -a
free=0 limit=0
while [ $free -lt 2 ]; do
	[ -e "/proc/$recorder/fd/$limit" ] || free=$((free + 1))
	limit=$((limit + 1))
done
prlimit --pid "$recorder" --nofile=$limit:
list "$all"
lost() { [ "$(sum "$bin" $row failed)" -gt 150 ] 2>/dev/null; }
await lost
prlimit --pid "$recorder" --nofile=$((limit + 64)):
await sampled
end
is "a CPU that cannot be sampled: status" $? 0
is "  it is said once" "$(grep -c "^cprof-record: cannot sample CPU [0-9]*: Too many open files (its ticks count as lost)\$" "$tmp/err")" 1
missing=$(sum "$bin" $row failed) expected=$(sum "$bin" $row expected)
if [ "${missing:-0}" -gt 150 ]; then pass "  its ticks are lost"; else fail "  its ticks are lost"; diag "${missing:-none}"; fi
like "  which the summary has" "$(tail -n 1 "$tmp/err")" "lost: [0-9, a-z]*[0-9]+ failed"
like "  it is sampled when that can be" "$(sum "$bin" $row idle)$(sum "$bin" $row emitted)" '^[0-9]+$'
if [ "${expected:-0}" -gt "${missing:-0}" ]; then pass "  all of them are expected"; else fail "  all of them are expected"; diag "${expected:-none}"; fi
done_testing
