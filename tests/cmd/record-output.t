#!/bin/sh
# Files of -o on a file system with faults: a failed write is an error, and a file system that does not
# answer delays neither the end of the recorder nor the account of its samples.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
. "$tests/lib/faultfs-lib.sh"

status "a file system that answers" 0 cprof-record -q -a -F 499 -o "$mnt/good" 2
is "  has the whole capture" "$(cprof-dump "$back/good" | grep -c '^end .*closed')" 1
status "one that takes 1000 bytes at a time" 0 cprof-record -q -a -F 499 -o "$mnt/short-write" 2
is "  has it, too" "$(cprof-dump "$back/short-write" | grep -c '^end .*closed')" 1
status "standard output there" 0 sh -c 'cprof-record -q -a 1 >"$1"' sh "$mnt/out"
is "  as well" "$(cprof-dump "$back/out" | grep -c '^end .*closed')" 1

eio="Input/output error"
for f in "eio-write:$eio" "enospc-write:No space left on device" "eio-flush:$eio" "eio-truncate:$eio"; do
	status "${f%%:*}: an error" 1 cprof-record -q -a -o "$mnt/${f%%:*}" 2
	like "  that says so" "$(cat "$tmp/err")" "$mnt/${f%%:*}: .*${f#*:}"
done
status "eio-lookup" 1 cprof-record -q -a -o "$mnt/eio-lookup" 1
like "  says that it cannot be opened" "$(cat "$tmp/err")" "$mnt/eio-lookup: Input/output error"

# A start that fails leaves the file there as it is, too.
seq 1 5000 >"$back/precious"
(ulimit -n 14 && exec cprof-record -q -a -o "$mnt/precious" 0.1) >"$tmp/out" 2>"$tmp/err"
is "a recording that cannot start" $? 1
is "  leaves the file as it is" "$(seq 1 5000 | cmp - "$back/precious" && echo same)" same

# The lookup of the file, its opening or its first or later writes get no answer.
for f in stall-lookup stall-open stall-truncate stall-write later-write; do
	begin $f
	cprof-record -a -F 997 -o "$mnt/$f" 3600 >"$tmp/o" 2>"$tmp/err.$f" &
	recorder=$!
	until_said 'waiting until it can be' "$tmp/err.$f"
	kill -TERM $recorder
	case $f in
	stall-lookup | stall-open) ;;
	*)
		until_said 'one more signal\|did not answer' "$tmp/err.$f"
		kill -TERM $recorder 2>/dev/null
		;;
	esac
	is "$f: SIGTERM ends the recorder" "$(ended $recorder)" ended
	wait $recorder
	is "  with status 1" $? 1
	like "  and it says why" "$(cat "$tmp/err.$f")" \
		"$mnt/$f: cannot (open|write): its file system did not answer, and a signal ended the wait"
done
begin alone
cprof-record -a -F 997 -o "$mnt/later-write.alone" 3600 2>"$tmp/err" &
recorder=$!
until_said 'waiting until it can be written' "$tmp/err"
kill -TERM $recorder
is "one signal is enough if the file system stays silent" "$(ended $recorder)" ended
wait $recorder

# It answers again: nothing of the capture is lost, and it counts what the rings could not hold.
begin again
cprof-record -a -F 997 -o "$mnt/later-write.again" 3600 2>"$tmp/err" &
recorder=$!
until_said 'waiting until it can be written' "$tmp/err"
answer_again
kill -TERM $recorder
wait $recorder
is "a file system that answers again" $? 0
cprof-dump "$back/later-write.again" >"$tmp/dump" 2>&1
is "  has the whole capture" "$(grep -c '^end .*closed' "$tmp/dump")" 1
is "  whose ledger adds up" "$(unaccounted "$back/later-write.again")" 0
done_testing
