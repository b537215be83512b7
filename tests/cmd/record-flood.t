#!/bin/sh
# One user's processes map executable memory, tens of thousands of pages each or a single one, change their
# names, or fork and exit, as fast as they can. The stacks of others stay whole, and captures small; the recorder
# starts and ends in time.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/tables-lib.sh"
command -v setpriv >/dev/null || skip_all "no setpriv"
chain=$BUILD/frameless/chain
needs_tables chain
. "$(dirname "$0")/../lib/hostile-lib.sh"
cp "$chain" "$tmp"
trap 'end_attacks; rm -rf "$tmp"' EXIT

# flood COMMAND...: four such attackers of one user, under way
flood() {
	for i in 1 2 3 4; do attack 4711 hostile "$@" 600 >"$tmp/says.$i" 2>&1; done
	for i in 1 2 3 4; do
		wait_for grep -qE '^(mappings|processes|changes) ' "$tmp/says.$i" || return 1
	done
}
has_run() { [ "$(awk '{ print $14 + $15 }' "/proc/$1/stat")" -ge "$2" ]; }

# record NAME [ATTACK...]: records until a program of another user, which starts meanwhile, has run for 1.5 s.
# The recorder leads a session, as a service does. Keeps its memory, and the milliseconds to start and to end.
record() {
	cap=$1 begun=$(uptime_ms)
	shift
	setsid cprof-record -a -F 199 -o "$tmp/$cap.bin" 2>"$tmp/$cap.err" & recorder=$!
	wait_for [ -s "$tmp/$cap.bin" ]
	started=$(($(uptime_ms) - begun))
	[ $# = 0 ] || flood "$@" || skip "the attackers run" "$(cat "$tmp"/says.*)"
	attack 4712 chain deep 20 600 2>/dev/null
	other=${attacks##* }
	wait_for has_run "$other" 150
	memory=$(awk '/^VmHWM/ { print $2 }' /proc/$recorder/status)
	begun=$(uptime_ms)
	kill -TERM $recorder
	wait $recorder
	is "$cap: the recording ends well" $? 0
	ended=$(($(uptime_ms) - begun))
	share=$(cprof-sym "$tmp/$cap.bin" 2>/dev/null | cprof-fold -U --truncated --pid "$other" 2>/dev/null |
		awk '{ n += $NF } !/\[truncated/ { good += $NF }
			END { print (n > 50 ? int(1000 * good / n) : "only " n + 0 " samples") }')
	bytes=$(wc -c <"$tmp/$cap.bin")
	diag "$cap: started in $started ms, ended in $ended ms, $memory KiB, $bytes bytes, $share of 1000 whole"
	diag "$(cat "$tmp/$cap.err")"
}
# check [BYTES]: the last recording beside the quiet one, whose capture has at most BYTES less
check() {
	case $quiet in
	*[!0-9]*) skip "... others' stacks are whole" "the machine is too busy: $quiet" ;;
	*) is "... others' stacks are whole" "$([ "$share" -ge $((quiet - 50)) ] 2>/dev/null && echo yes ||
		echo "$share of 1000, not $quiet")" yes ;;
	esac
	is "... it starts and ends in time" "$([ "$started" -lt $((quiet_started + 6000)) ] &&
		[ "$ended" -lt 5000 ] && echo yes || echo "$started ms, $ended ms")" yes
	is "... the capture has little of them" "$([ "$bytes" -lt $((quiet_bytes + ${1:-400000})) ] &&
		echo yes || echo "$bytes bytes, not $quiet_bytes")" yes
	is "... each tick is accounted for" "$(account "$cap")" even
	sanitized || is "... its memory is bounded" "$([ "$memory" -lt $((quiet_memory + 98304)) ] &&
		echo yes || echo "$memory KiB, not $quiet_memory")" yes
}

record quiet
end_attacks
quiet=$share quiet_started=$started quiet_bytes=$bytes quiet_memory=$memory

record added flood 65000
check
end_attacks

# The mappings are there before the recorder, and change.
flood mappings 65000 0
record found
check
end_attacks

# One mapping and one name, of which samples show few
record changed changes
# 240 bytes a sample were seen: it has another mapping each time
check $((400 * $(sed -n 's/^cprof-record: \([0-9]*\) samples .*/\1/p' "$tmp/changed.err")))
end_attacks

# At most 500 processes of the user, all of which fork and exit
before=$(awk '$1 == "processes" { print $2 }' /proc/stat)
record forked forks 500
diag "$(($(awk '$1 == "processes" { print $2 }' /proc/stat) - before)) processes began"
# Only sampled processes are written: 190 bytes each were seen
check $((300 * $(sed -n 's/^cprof-record: \([0-9]*\) samples .*/\1/p' "$tmp/forked.err")))
begun=$(uptime_ms)
status "a recording of two seconds beside them" 0 cprof-record -q -a -o "$tmp/brief.bin" 2
took=$(($(uptime_ms) - begun - 2000))
is "... starts and ends in time" \
	"$([ $took -lt $((quiet_started + 11000)) ] && echo yes || echo "$took ms")" yes
end_attacks
done_testing
