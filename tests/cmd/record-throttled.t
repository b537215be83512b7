#!/bin/sh
# Time in which the quota of a control group kept threads from running, beside the kernel's own sum of it.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all

# mount_of TYPE: where the first hierarchy of the version with this controller is mounted
mount_of() {
	awk -v type="$1" '{
		for (i = 7; $i != "-"; i++);
		if ($(i + 1) == type && (type == "cgroup2" || "," $(i + 3) "," ~ /,cpu,/)) {
			print $5
			exit
		}
	}' /proc/self/mountinfo
}
root=$(mount_of cgroup)
if [ "$root" ]; then
	limit() { echo 100000 >"$1/cpu.cfs_period_us" && echo 4000 >"$1/cpu.cfs_quota_us"; }
	throttled_ns() { awk '$1 == "throttled_time" { print $2 }' "$1/cpu.stat"; }
else
	root=$(mount_of cgroup2)
	[ "$root" ] && echo +cpu 2>"$tmp/err" >"$root/cgroup.subtree_control" ||
		skip_all "no controller of CPU time"
	limit() { echo '4000 100000' >"$1/cpu.max" && echo +cpu >"$1/cgroup.subtree_control"; }
	throttled_ns() { awk '$1 == "throttled_usec" { print $2 * 1000 }' "$1/cpu.stat"; }
fi
own=$root/cprof-own.$$ above=$root/cprof-above.$$ free=$root/cprof-free.$$
trap 'rmdir "$own" "$above/inner" "$above" "$free" 2>/dev/null; rm -rf "$tmp"' EXIT
mkdir "$own" "$above" "$above/inner" "$free" 2>"$tmp/err" && limit "$above" 2>"$tmp/err" ||
	skip_all "no groups here: $(cat "$tmp/err")"
# A group of version 2 has processes, or gives its controllers to groups below it.
[ -e "$own/cpu.max" ] && echo '4000 100000' >"$own/cpu.max" || limit "$own"
cp "$BUILD/tests/burn" "$tmp/held"
# held GROUP CPU ARGUMENT...: works in the group on this CPU
cat >"$tmp/run" <<'E2'
group=$1 cpu=$2
shift 2
taskset -cp "$cpu" $$ >/dev/null
exec 3>"$group/cgroup.procs"
set -- "${0%/*}/held" "$@"
echo $$ >&3
exec "$@"
E2
set -- $(taskset -cp $$ | sed 's/.*: //; s/-/ /; s/,/ /g')
first=$1 second=${2:-}

# lost: throttled ns in the capture, by thread. The group also has the shell that becomes the program.
lost() {
	cprof-fold -t --no-names --event off-cpu:throttled "$tmp/raw.bin" | awk '
		/^(held|sh)-/ { n = $NF; sub(/;.*/, ""); sub(/.*\//, ""); s[$0] += n }
		END { for (k in s) printf "%.0f\n", s[k] }' | sort -n
}
# any_lost: ns in which a thread was throttled; each sample is that of the time before it
any_lost() {
	cprof-dump "$tmp/raw.bin" | sed 's/[a-z]*=//g' | awk '
		/^event .*off-cpu:throttled/ { event = $2 }
		$1 == "sample" && $3 == event { printf "%.0f %.0f\n", $2 - $8, $2 }' | sort -n | awk '
		$1 > end { ns += $2 - $1; end = $2; next }
		$2 > end { ns += $2 - end; end = $2 }
		END { printf "%.0f\n", ns }'
}
# beside TEXT GROUP GOT: that is the kernel's sum, within 1 % of the time of the run
beside() {
	now=$(throttled_ns "$2")
	kernel=$((now - before)) before=$now
	wall=$(cprof-dump "$tmp/raw.bin" |
		sed 's/[a-z]*=//g' | awk '/^comm/ && $4 == "\"held\"" { from = $2 } /^exit/ { to = $2 }
			END { printf "%.0f\n", to - from }')
	ok "$1: $3 ns beside $kernel ns of the kernel, in $wall ns" \
		awk -v got="$3" -v kernel=$kernel -v wall="$wall" \
		'BEGIN { d = got - kernel; exit !(kernel > wall / 20 && d * d <= (wall / 100) ^ 2) }'
}
record() { cprof-record -q --off-cpu -o "$tmp/raw.bin" -- sh -c "$1"; }

record "sh '$tmp/run' '$own' $first brief 80 | cat"
cprof-dump "$tmp/raw.bin" | grep -q '^event .*off-cpu:throttled' || skip_all "this kernel does not count it"
before=0
main=$(lost)
beside "a group with a quota" "$own" "$main"
like "its innermost frame" "$(cprof-fold --no-names --wall --comm held "$tmp/raw.bin")" \
	'^held;.*;\[throttled\] [0-9]+$'
share() { # of that time, in what is read
	awk -v all="$main" '/\[throttled\]/ { n += $NF }
		END { print (n > .98 * all && n <= 1.02 * all) ? "all" : n " of " all }'
}
is "a thread that waited for it was held up as long" \
	"$(cprof-fold --no-names --blame --comm cat "$tmp/raw.bin" | grep ';<- held;' | share)" all
is "it is nobody's fault" "$(cprof-fold --by culprit --comm held "$tmp/raw.bin" | share)" all
cprof-top --no-names --wall --comm held "$tmp/raw.bin" >"$tmp/got"
like "a table has it" "$(cat "$tmp/got")" '% +[0-9.]+m?s .*\[throttled\]'
like "  and its summary" "$(cat "$tmp/got")" '[0-9] throttled'
like "the header, too" "$(cprof-top --no-names -v "$tmp/raw.bin")" 'Waiting: .* s throttled'
is "what counts events of a family counts it" \
	"$(cprof-fold --event off-cpu --comm held "$tmp/raw.bin" 2>/dev/null |
		awk '{ n += $NF } END { printf "%.0f\n", n }')" \
	"$(cprof-fold --wall --comm held "$tmp/raw.bin" 2>/dev/null |
		awk '/\[(sleeping|uninterruptible|waiting for a CPU|throttled)\] / { n += $NF }
			END { printf "%.0f\n", n }')"

before=0
record "sh '$tmp/run' '$above/inner' $first brief 80"
beside "a group below one with a quota" "$above" "$(lost)"
before=$(throttled_ns "$own")
record "sh '$tmp/run' '$own' $first threads 2 >'$tmp/out'"
beside "two threads on one CPU: time in which one of them is throttled" "$own" "$(any_lost)"
if [ "$second" ]; then
	record "sh '$tmp/run' '$own' $first brief 40 & sh '$tmp/run' '$own' $second brief 40; wait"
	beside "two threads on two CPUs lose it together" "$own" \
		"$(lost | awk '{ n += $1 } END { printf "%.0f\n", n }')"
else
	skip "two threads on two CPUs" "there is only one"
fi
# Held up when the recording ends: the wait is not over, and the recorder looks at it from outside.
if [ -e "$own/cpu.max" ]; then
	echo '4000 1000000' >"$own/cpu.max"
else
	echo 1000000 >"$own/cpu.cfs_period_us"
fi
record "sh '$tmp/run' '$own' $first brief 60000 & echo \$! >'$tmp/pid'; sleep 0.7"
kill "$(cat "$tmp/pid")"
# Only its last wait: one that ended before, at the beginning of a period, has the kernel's own time.
sums=$(cprof-dump "$tmp/raw.bin" | sed 's/[a-z]*=//g' | awk '
	/^event .*off-cpu:run-queue/ { queue = $2 }
	/^event .*off-cpu:throttled/ { throttled = $2 }
	/^comm/ && $4 == "\"held\"" { held = $3 }
	$1 == "sample" && $5 == held && ($3 == queue || $3 == throttled) {
		if ($2 - $8 > last) # the parts of a wait follow each other
			lost = all = 0
		last = $2
		all += $8
		lost += $3 == throttled ? $8 : 0
	}
	END { printf "%.0f %.0f\n", lost, all }')
ok "a wait that goes on is of its kind: $sums ns" \
	awk -v lost="${sums% *}" -v all="${sums#* }" 'BEGIN { exit !(lost > all / 2) }'
record "sh '$tmp/run' '$free' $first brief 80"
is "a group without a quota loses nothing" \
	"$(cprof-fold --event off-cpu:throttled --comm held "$tmp/raw.bin" 2>/dev/null | head -1)" ""
done_testing
