#!/bin/sh
# Hostile processes: tens of thousands of mappings, and one PID used again and again. The recorder ends in
# time and within its memory, and accounts for each tick.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
command -v setpriv >/dev/null || skip_all "no setpriv"
. "$(dirname "$0")/../lib/hostile-lib.sh"
trap 'end_attacks; rm -rf "$tmp"' EXIT

# record NAME SECONDS: records, and keeps status, milliseconds and KiB of memory
record() {
	begun=$(uptime_ms)
	cprof-record -a -F 199 -o "$tmp/$1.bin" "$2" 2>"$tmp/$1.err" &
	recorder=$!
	memory=0
	while now=$(awk '/^VmHWM/ { print $2 }' /proc/$recorder/status 2>/dev/null) && [ "$now" ]; do
		memory=$now
		[ $(($(uptime_ms) - begun)) -lt 90000 ] || kill -KILL $recorder
		sleep 0.2
	done
	wait $recorder
	ended=$?
	took=$(($(uptime_ms) - begun))
	diag "$1: status $ended, $took ms, $memory KiB"
	diag "$(cat "$tmp/$1.err")"
}
# check NAME SECONDS ATTACK: records, with the checks for all attacks
check() {
	record "$1" "$2"
	is "$3: the recording ends well" "$ended" 0
	is "... in time" "$([ "$took" -lt $((1000 * $2 + 15000)) ] && echo yes || echo "$took ms")" yes
	if sanitized; then skip "... with bounded memory" "sanitizers keep freed memory"; else
		is "... with bounded memory" "$([ "$memory" -lt $((quiet_memory + 65536)) ] && echo yes ||
			echo "$memory KiB, not $quiet_memory")" yes
	fi
	is "... each tick is accounted for" "$(account "$1")" even
}

record quiet 3
quiet_memory=$memory
is "a quiet recording ends well" "$ended" 0

# As many mappings as the kernel allows, inherited by many
attack 4711 hostile mappings 65300 4 600 >"$tmp/mappings" 2>&1
check mappings 5 "65,000 mappings are made and inherited"
wait_for has_lines "$tmp/mappings" 2
like "... that many" "$(tr '\n' ' ' <"$tmp/mappings")" '^mappings 6[0-9]{4} children 4'
check found 3 "they were there before the recorder"
end_attacks

# One PID: a name is never that of the process before.
cat >"$tmp/one.c" <<'END'
#include <time.h>
static volatile unsigned sink;
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
int WORK(void)
{
	double end = now() + 0.02;
	while (now() < end)
		for (int i = 0; i < 20000; i++)
			sink = sink * 1664525 + 1013904223;
	return 0;
}
int main(void)
{
	return WORK() + (int)(sink & 0);
}
END
for one in a b; do
	${CC:-cc} -O1 -fno-inline -no-pie -DWORK=work_$one -o "$tmp/reuse_$one" "$tmp/one.c" || exit 1
done
attack 0 hostile reuse 180 "$tmp/reuse_a" "$tmp/reuse_b" >"$tmp/reuse" 2>&1
record reuse 6
wait $attacks
attacks=
if ! grep -q reused "$tmp/reuse"; then
	skip "processes of one PID have their own names" "$(cat "$tmp/reuse")"
else
	pid=$(sed 's/.* //' "$tmp/reuse")
	cprof-sym "$tmp/reuse.bin" 2>/dev/null | cprof-fold --pid "$pid" >"$tmp/folded"
	for own in 'reuse_a;.*work_a' 'reuse_b;.*work_b' 'own;.*own_work'; do
		n=$(grep -c "^$own" "$tmp/folded")
		is "processes of one PID: ${own%%;*} has its function" "$([ "$n" -gt 0 ] && echo yes)" yes
	done
	wrong='^reuse_a;.*(work_b|own_work)|^reuse_b;.*(work_a|own_work)|^own;.*work_[ab]'
	is "... and none has another's" "$(grep -E "$wrong" "$tmp/folded")" ""
	is "... each tick is accounted for" "$(account reuse)" even
fi
done_testing
