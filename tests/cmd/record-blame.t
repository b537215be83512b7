#!/bin/sh
# Chains of waits on the real kernel: programs whose answer is known, and a whole system, whose threads keep
# their wall time to the nanosecond.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
blame=$BUILD/tests/blame

# All threads of the system
"$blame" pipeline 3 >/dev/null &
"$blame" convoy 3 >/dev/null &
cprof-record -q -a --off-cpu -o "$tmp/raw.bin" 3
wait
# roots OPTION...: nanoseconds by thread
roots() {
	cprof-fold -t "$@" "$tmp/raw.bin" | awk '
		{ n = $NF; sub(/ [0-9]+$/, ""); sub(/;.*/, ""); s[$0] += n }
		END { for (k in s) printf "%s %.0f\n", k, s[k] }' | sort
}
roots --blame >"$tmp/blame"
roots --wall >"$tmp/wall"
ok "there are threads" test "$(wc -l <"$tmp/wall")" -gt 10
same "each thread's chains are its wall time, to the nanosecond" "$tmp/blame" "$tmp/wall"
window="--from 0.7 --to 1.9"
roots --blame $window >"$tmp/blame"
roots --wall $window >"$tmp/wall"
same "  and so in a window" "$tmp/blame" "$tmp/wall"
is "  and with a filter" "$(roots --blame --comm client)" "$(roots --wall --comm client)"

# The rest with SCHED_RR: with others on the CPUs, the truth itself would be in their queue.
chrt -r 5 true 2>/dev/null || { skip "known answers" "no real-time scheduling here"; done_testing; }
# recorded PROGRAM ARGUMENT: a symbolized capture in $tmp/got, the program's own sum in $said
recorded() {
	cprof-record -q --off-cpu -F 997 -o "$tmp/raw.bin" -- \
		chrt -r 5 "$blame" "$@" >"$tmp/said" 2>"$tmp/err"
	cprof-sym "$tmp/raw.bin" >"$tmp/got" 2>/dev/null
	said=$(cat "$tmp/said")
}
# part COMM PATTERN: nanoseconds of COMM whose chain is like PATTERN
part() {
	cprof-fold --blame --comm "$1" "$tmp/got" | grep -E -e "$2" |
		awk '{ n += $NF } END { printf "%.0f\n", n }'
}
# around TEXT NUMBER EXPECTED PERCENT
around() {
	if awk -v a="$2" -v b="$3" -v p="$4" 'BEGIN { d = b ? 100 * a / b - 100 : 100; exit d < -p || d > p }'
	then
		pass "$1"
	else
		fail "$1"
		diag "$2, expected $3 within $4 %"
	fi
}

# The question: main joins a light thread, then a heavy one. Which function made it wait?
recorded join 3
cprof-top --blame --comm blame -n 8 "$tmp/got" >"$tmp/table"
sed 's/^/# /' "$tmp/table"
light=$(part blame '<- light;.*f_light')
heavy=$(part blame '<- heavy;.*f_heavy')
timer=$(part blame '<- heavy;.*\[timer\]')
around "join: f_light" "$light" 300000000 10
around "join: f_heavy, less what ran during f_light" "$heavy" 900000000 10
around "join: the heavy thread asleep" "$timer" 600000000 5
around "join: all of it" "$(part blame ';\[sleeping\];<- (light|heavy)')" "$said" 5
is "join: f_heavy comes first in the table" \
	"$(grep -o 'f_heavy$\|f_light.*\|\[timer\]$' "$tmp/table" | head -1)" f_heavy

recorded convoy 3
whole=0 right=0 lock='(mutex_lock|lll_lock_wait|futex)'
for n in 0 1 2; do
	whole=$((whole + $(part want$n "$lock")))
	right=$((right + $(part want$n "$lock.*;\\[sleeping\\];<- (want[0-9];.*;\\[sleeping\\];<- )*holder")))
done
around "convoy: the lock's holder is blamed" "$right" "$whole" 3
around "convoy: for as long as the threads waited" "$whole" "$said" 3
ran=$(part 'want0' '<- holder;.*f_hold') slept=$(part 'want0' '<- holder;.*\[timer\]')
around "convoy: the holder ran for twice as long as it slept" "$ran" $((2 * slept)) 15

recorded pipeline 3
in='^client;.*<- front;'
front=$(part client "$in(.*;)?f_front")
app=$(part client "$in.*<- app;(.*;)?f_app")
db=$(part client "$in.*<- app;.*<- db;(.*;)?f_db")
asleep=$(part client "$in.*<- app;.*<- db;.*\\[timer\\]")
around "pipeline: all of the client's waits" "$(part client "$in")" "$said" 5
around "pipeline: app is to front as 3 to 2" $((2 * app)) $((3 * front)) 20
around "pipeline: db is to front as 4 to 2" $((2 * db)) $((4 * front)) 20
around "pipeline: db is asleep for 6 to 4" $((4 * asleep)) $((6 * db)) 20

recorded pool 3
jobs=$(part blame '<- pool[0-3];.*f_job')
around "pool: main waits for jobs" "$jobs" "$said" 10
like "pool: by the threads that did them" \
	"$(cprof-fold --by waker --comm blame "$tmp/got")" '^pool[0-3]-[0-9]+/[0-9]+ [0-9]+$'

# A disk
dd if=/dev/zero of="$tmp/file" bs=1M count=16 conv=fsync 2>/dev/null
cprof-record -q --off-cpu=100us -o "$tmp/got" -- "$blame" devices 40 "$tmp/file" >/dev/null 2>&1
timers=$(part sleeper ';\[sleeping\];\[timer\] ')
around "timers: 80 of 3 ms" "$timers" 240000000 30
is "no bystander" "$(cprof-fold --blame --comm sleeper "$tmp/got" | grep -c 'innocent')" 0
done_testing
