#!/bin/sh
# Some process's file system does not answer: only files on it are affected.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
[ -e /dev/fuse ] || skip_all "no /dev/fuse"
mnt=$tmp/mnt server='' runner='' jit='' recorder=''
mkdir "$mnt"
# The server's end ends all waits for it.
end_all() {
	for p in $server $runner $jit $recorder; do kill -KILL "$p" 2>/dev/null; done
	wait 2>/dev/null
	umount -l "$mnt" 2>/dev/null
	server='' runner='' jit='' recorder=''
}
trap 'end_all; rm -rf "$tmp"' EXIT

# wait_for WORD FILE
wait_for() { until grep -q "$1" "$2" 2>/dev/null; do sleep 0.05; done; }

# begin: starts the file system, and a process that works in a file of it
begin() {
	"$BUILD/tests/stallfs" serve "$mnt" "$BUILD/tests/stallfs" >"$tmp/server" 2>&1 &
	server=$!
	wait_for . "$tmp/server"
	grep -q ready "$tmp/server" || return 1
	"$BUILD/tests/stallfs" run "$mnt/program" >"$tmp/runner" &
	runner=$!
	wait_for running "$tmp/runner"
	# Another process has the file system as its /tmp, with its perf map; the program may be
	# below /tmp, too.
	unshare -m --propagation private sh -c 'exec 9<"$2" && mount --bind "$1" /tmp && exec /proc/self/fd/9 run -' \
		sh "$mnt" "$BUILD/tests/stallfs" >"$tmp/jit" 2>&1 &
	jit=$!
	wait_for . "$tmp/jit"
}

# count FUNCTION: prints the program's samples with FUNCTION in their stack
count() {
	cprof-sym "$tmp/cap" 2>/dev/null | cprof-fold 2>/dev/null |
		f="$1" awk '/^stallfs;/ { n = $NF; sub(/ [0-9]+$/, ""); if (";" $0 ";" ~ (";" ENVIRON["f"] ";")) sum += n } END { print sum + 0 }'
}
# all: prints all of them, without the server, whose main has left by a jump
all() {
	cprof-sym "$tmp/cap" 2>/dev/null | cprof-fold 2>/dev/null |
		awk '/^stallfs;/ && !/;serve;/ { n += $NF } END { print n + 0 }'
}

begin || skip_all "FUSE cannot be mounted: $(head -1 "$tmp/server")"

# While the file system answers
status "a recording of a file system that answers" 0 timeout -k 10 60 cprof-record -a -F 499 -o "$tmp/cap" 8
unlike "... leaves no file out" "$(cat "$tmp/err")" "not opened|did not answer"
is "... has names of its files" "$([ "$(count mapped_work)" -gt 0 ] && echo yes)" yes
is "... and callers behind them" "$([ $((10 * $(count main))) -ge $((9 * $(all))) ] && echo yes || echo "$(count main) of $(all)")" yes

# From here on it does not answer.
kill -USR1 "$server"
timeout -k 10 100 cprof-record -a -F 499 --metrics "$tmp/metrics" -o "$tmp/cap" 12 2>"$tmp/err"
is "a recording beside a file system that does not answer ends" $? 0
unlike "... with no sample lost" "$(cat "$tmp/err")" "[0-9]+ (ring-full|no-memory|throttled|failed)"
like "... says whose it is" "$(cat "$tmp/err")" "a file system of process ($runner|$jit) \(.*\) did not answer in 2 s"
is "... asks it once" "$(grep -c 'did not answer' "$tmp/err")" 1
like "... says whose perf map is missing" "$(cat "$tmp/err")" "perf map of process $jit: its file system does not answer"
like "... counts what it left out" "$(cat "$tmp/err")" "[0-9]+ files? not opened, on file systems that do not answer"
like "... also as a metric" "$(cat "$tmp/metrics")" "^cprof_record_files_left_out_total [1-9]"

cprof-record -a -F 499 -o "$tmp/cap2" 2>"$tmp/err2" &
recorder=$!
sleep 1 # usually in the middle of a request by then; the signal ends it at any time
kill -TERM "$recorder"
for i in $(seq 600); do
	kill -0 "$recorder" 2>/dev/null || break
	sleep 0.1
done
is "SIGTERM ends a recording there" "$(kill -0 "$recorder" 2>/dev/null || echo ended)" ended
wait "$recorder"
is "... in peace" $? 0
end_all
local=$(count local_work) all=$(all)
is "the process has samples" "$([ "$all" -gt 0 ] && echo yes)" yes
is "... and its other files have names" "$([ "$local" -gt 0 ] && [ $((10 * $(count main))) -ge $((4 * all)) ] && echo yes || echo "$local, $(count main) of $all")" yes
done_testing
