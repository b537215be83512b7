#!/bin/sh
# Processes are read again from /proc after the side-band has lost records: the recorder is stopped, a program
# that maps without end fills the rings, and meanwhile a process maps code, or calls exec.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
storm=$BUILD/tests/storm
cpus=$(taskset -cp $$ | sed 's/.*: //')
pids=
trap 'kill -CONT $pids 2>/dev/null; kill $pids 2>/dev/null' EXIT

# wait_for COMMAND...: waits until it succeeds, for a minute
wait_for() {
	tries=0
	until "$@"; do
		[ $((tries += 1)) -lt 600 ] || return 1
		sleep 0.1
	done
}
has_lines() { [ -e "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ]; }
holds() { [ -e "$tmp/$1.bin" ] && cprof-sym <"$tmp/$1.bin" 2>/dev/null | cprof-fold 2>/dev/null | grep -q "$2"; }
# fill: fills each CPU's ring
fill() {
	for cpu in $(echo "$cpus" | tr ',' '\n' | awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }'); do
		taskset -c "$cpu" "$storm" map 30000 >/dev/null
	done
}

for how in map exec; do
	[ $how = map ] && function=late_work || function=far_work
	"$storm" late $how "$tmp/$how.go" 600 >"$tmp/$how.says" & late=$! pids=$late
	wait_for has_lines "$tmp/$how.says" 1
	cprof-record -a -o "$tmp/$how.bin" 600 2>"$tmp/$how.err" & recorder=$! pids="$pids $recorder"
	wait_for holds $how '^storm;.*spin\|^storm;.*late'
	kill -STOP $recorder
	fill
	touch "$tmp/$how.go"
	wait_for has_lines "$tmp/$how.says" 2
	kill -CONT $recorder
	wait_for holds $how "$function" && pass "$how: a name is found after the loss" || fail "$how: a name is found after the loss"
	kill $late
	kill -INT $recorder
	wait $recorder
	like "$how: records were lost" "$(cat "$tmp/$how.err")" '[0-9]+ sideband-lost \([0-9]+ process(es)? read again\)'
done
done_testing
