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

# The rest with SCHED_RR: with others on the CPUs, the truth itself would be in their queue. Waits of less
# than a millisecond count, too.
chrt -r 60 true 2>/dev/null || { skip "known answers" "no real-time scheduling here"; done_testing; }
command -v python3 >/dev/null || { skip "known answers" "python3 is not there"; done_testing; }
# judged TEXT ROOTS PROGRAM ARGUMENT: records until the program's own log says that nobody disturbed it. One
# of three such recordings must be right: a hypervisor disturbs without being late. The capture is in
# $tmp/got, its chains in $tmp/folded, and the parts in $tmp/parts
judged() {
	text=$1 roots=$2 tries=0 wrong=0 judgement=3
	shift 2
	while [ $judgement != 0 ] && [ $tries -lt 8 ] && [ $wrong -lt 3 ]; do
		tries=$((tries + 1))
		cprof-record -q --off-cpu=100us -F 997 -o "$tmp/raw.bin" -- \
			chrt -r 60 "$blame" "$@" >"$tmp/log"
		cprof-sym "$tmp/raw.bin" >"$tmp/got" 2>/dev/null
		cprof-fold --blame "$tmp/got" >"$tmp/folded"
		python3 "$here/blame-judge.py" "$tmp/log" "$tmp/folded" $roots >"$tmp/parts"
		judgement=$?
		case $judgement in
		0 | 3) ;;
		*) wrong=$((wrong + 1)) && diag "$(cat "$tmp/parts")" ;;
		esac
	done
	case $judgement$wrong in
	0*) pass "$text" ;;
	30) skip "$text" "others disturbed the program $tries times" ;;
	*) fail "$text" ;;
	esac
	diag "$(cat "$tmp/parts")"
}
# ended THREAD ROOTS: percent of the time in chains that is the work of a thread whose name begins so
ended() {
	awk -v last="<- $1" -v root="$2" '
		index($0, root) != 1 || !/;<- / { next }
		{ ns = $NF; all += ns; sub(/.*;<- /, "<- ") }
		index($0, last) == 1 { n += ns }
		END { printf "%.2f\n", all ? 100 * n / all : 0 }' "$tmp/folded"
}
# least TEXT NUMBER LEAST
least() { ok "$1: $2" awk -v a="$2" -v b="$3" 'BEGIN { exit a < b }'; }

# The question: main joins a light thread, then a heavy one. Which function made it wait?
judged "join: each part is that of the program's log" blame join 3
cprof-top --blame --comm blame --tid main -n 8 "$tmp/got" >"$tmp/table"
sed 's/^/# /' "$tmp/table"
is "join: f_heavy comes first in the table, then the timer" \
	"$(grep -o 'f_heavy$\|f_light.*\|\[timer\]$' "$tmp/table" | head -2 | tr '\n' ' ')" "f_heavy [timer] "

judged "convoy: each part is that of the log" "want0 want1 want2" convoy 4
least "convoy: the holder is blamed" "$(ended holder want)" 99

judged "barging mutex: each part is that of the log" "barge0 barge1 barge2 barge3" barging 3
judged "pipeline: each part is that of the log" client pipeline 3
like "pipeline: by its tiers" "$(cat "$tmp/folded")" '^client;.*<- front;.*<- app;.*<- db;.*\[timer\] [0-9]+$'
judged "a server of two clients: each part is that of the log" "cla clb" epoll 4
like "a server of two clients: one waits for the work for the other" "$(cat "$tmp/folded")" \
	'^cla;.*<- srv;.*f_b[;. ]'
judged "a pool: each part is that of the log" blame pool 3
like "a pool: main is woken by the threads that did the jobs" \
	"$(cprof-fold --by waker --comm blame --tid main "$tmp/got")" '^pool[0-3]-[0-9]+/[0-9]+ [0-9]+$'

# Timers and a disk beside bystanders
dd if=/dev/zero of="$tmp/file" bs=1M count=16 conv=fsync 2>/dev/null
# parts PATTERN WHAT: ns in stacks like PATTERN, and by such lines of the log
parts() {
	grep -E "$1" "$tmp/folded" | awk '{ n += $NF } END { printf "%.0f ", n }'
	awk -v what="$2" '$2 == what { n += $4 - $3 } END { printf "%.0f\n", n }' "$tmp/log"
}
near() { echo "$1" | awk '{ exit !($1 >= 0.97 * $2 && $1 <= 1.01 * $2) }'; }
for _ in 1 2 3; do # again if others kept the CPU from the sleepers, or the end of a wait was not seen
	cprof-record -q --off-cpu=100us -o "$tmp/got" -- \
		chrt -r 60 "$BUILD/tests/woken" devices 40 "$tmp/file" >"$tmp/log"
	cprof-fold --blame --comm sleeper "$tmp/got" >"$tmp/folded"
	timers=$(parts ';clock_nanosleep.*;\[sleeping\];\[timer\] ' asleep)
	timerfd=$(parts ';timerfd_read.*;\[sleeping\];\[timer\] ' wait-timerfd)
	near "$timers" && near "$timerfd" && break
	diag "$timers, $timerfd"
	diag "$(grep -E 'nanosleep|timerfd' "$tmp/folded" | sed 's/.*;\(\[.*\)/\1/')"
done
ok "timers: ns, and by the log: $timers" near "$timers"
ok "timerfd: $timerfd" near "$timerfd"
is "no bystander" "$(grep -c innocent "$tmp/folded")" 0
grep -E 'pread.*;\[uninterruptible\];' "$tmp/folded" >"$tmp/reads"
if grep -q ';\[disk\] ' "$tmp/reads"; then
	is "a disk: reads wait for nothing else" \
		"$(grep -v ';\[disk\] \|;\[waker not known\] ' "$tmp/reads")" ""
	least "a disk: percent of their time" "$(awk '{ n += $NF } /\[disk\]/ { d += $NF }
		END { printf "%.1f\n", 100 * d / n }' "$tmp/reads")" 80
else
	skip "a disk" "no wait for a disk here"
fi
done_testing
