#!/bin/sh
# In a control group whose memory is the budget of --mem, the recorder stays within it, and nothing is lost:
# beside new programs, a large one, and another user's processes that fork and exit.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/tables-lib.sh"
command -v setpriv >/dev/null || skip_all "no setpriv"
! sanitized || skip_all "sanitizers keep freed memory"
chain=$BUILD/frameless/chain
needs_tables chain
. "$tests/lib/hostile-lib.sh"

# mount_of TYPE: where the first hierarchy of the version with this controller is mounted
mount_of() {
	awk -v type="$1" '{
		for (i = 7; $i != "-"; i++);
		if ($(i + 1) == type && (type == "cgroup2" || "," $(i + 3) "," ~ /,memory,/)) {
			print $5
			exit
		}
	}' /proc/self/mountinfo
}
root=$(mount_of cgroup)
if [ "$root" ]; then
	limit() { echo "$1" >"$group/memory.limit_in_bytes"; }
	killed() { awk '$1 == "oom_kill" { print $2 }' "$group/memory.oom_control"; }
	most() { cat "$group/memory.max_usage_in_bytes"; }
else
	root=$(mount_of cgroup2)
	[ "$root" ] && echo +memory 2>"$tmp/err" >"$root/cgroup.subtree_control" ||
		skip_all "no controller of memory"
	limit() { echo "$1" >"$group/memory.max"; }
	killed() { awk '$1 == "oom_kill" { print $2 }' "$group/memory.events"; }
	most() { cat "$group/memory.peak"; }
fi
group=$root/cprof-memory.$$
trap 'end_attacks; rmdir "$group" 2>/dev/null; rm -rf "$tmp"' EXIT
printf 'int f(int x) { return x * 3; }\n' >"$tmp/x.c"

# load: programs that nobody has seen before, large ones, and short ones
load() {
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		cp "$chain" "$tmp/new-$i"
		"$tmp/new-$i" deep 40 0.1
		rm "$tmp/new-$i"
	done
	for compiler in clang gcc; do
		! command -v $compiler >/dev/null || $compiler -O2 -c -o "$tmp/x.o" "$tmp/x.c"
	done
	"$chain" forks 10 && "$BUILD/tests/storm" exec 20
} >/dev/null 2>&1

# record MEGABYTES [OPTION...]
record() {
	megabytes=$1
	shift
	mkdir "$group" 2>"$tmp/err" && limit $((megabytes << 20)) 2>"$tmp/err" ||
		skip_all "no groups here: $(cat "$tmp/err")"
	rm -f "$tmp/file"
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" \
		cprof-record -a "$@" -o "$tmp/file" 2>"$tmp/err" &
	recorder=$!
	wait_for [ -s "$tmp/file" ]
	attack 4711 hostile forks 200 600 >"$tmp/says" 2>&1
	load
	kill -TERM $recorder
	wait $recorder
	is "$megabytes MB: the recording ends well" $? 0
	end_attacks
	# Without --mem, processes that make tables have no limit in the group. The recorder names one file a
	# second that has no table because its process was killed, and there are two such processes.
	said=$(grep -c 'no unwind table: killed by signal 9' "$tmp/err") n=$(killed)
	if [ $# -gt 0 ]; then
		is "... no process of it is killed" "$n" 0
	else
		is "... no process of it is killed, unless it makes the table of a large file" \
			"$([ "$n" -ge "$said" ] && [ "$n" -le $((2 * said)) ] && echo yes || echo "$n, $said of them said")" yes
	fi
	like "... nothing is lost" "$(cat "$tmp/err")" '; nothing lost'
	diag "at most $(most) bytes, with cached files"
	diag "$(cat "$tmp/err")"
	wait_for rmdir "$group" # the recorder does not wait for the end of a process that opens files
}

record 128
record 48 --mem 48M
done_testing
