#!/bin/sh
# The last seconds in memory, written on request or if a condition holds.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
to=$tmp/to
mkdir "$to"
"$BUILD/tests/burn" threads 120 >/dev/null &
busy=$!
trap 'kill $busy 2>/dev/null; rm -rf "$tmp"' EXIT

files() { ls -A "$to" | grep -c .; }
wait_files() { # COUNT: waits until there are that many
	tries=0
	while [ "$(files)" -lt "$1" ] && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
}
span() { # FILE: seconds from its first sample to its last
	cprof-dump "$1" | sed -n 's/^sample time=\([0-9]*\) .*/\1/p' | awk 'NR == 1 { a = $1 } { z = $1 } END { printf "%d", (z - a) / 1e9 }'
}
account() { # FILE: compares expected ticks and their outcomes, over all segments
	cprof-dump "$1" | awk '/^segment/ { for (k in v) { split(k, a, " "); if (a[2] == "expected") e += v[k]; else if (a[2] != "sideband-lost") s += v[k] }
		split("", v) } /^ledger / { split($3, c, "="); split($4, o, "="); split($5, n, "="); v[c[2] " " o[2]] = n[2] }
		END { for (k in v) { split(k, a, " "); if (a[2] == "expected") e += v[k]; else if (a[2] != "sideband-lost") s += v[k] }
		print (e > 0 && s >= .97 * e && s <= e * 1.03) ? "even" : e " expected, " s " told of" }'
}

cprof-record -q -a --ring 3s --metrics "$tmp/m.prom" --on-rotate 'echo "$1" >>'"$tmp/told" -o "$to" 60 &
recorder=$!
sleep 6
is "nothing is written before it is asked for" "$(files)" 0
kill -USR1 $recorder
wait_files 1
sleep 4
kill -USR1 $recorder
wait_files 2
kill -INT $recorder
wait $recorder
is "asked twice, it ends well" $? 0
set -- "$to"/*.cprof
is "and has written two files" $# 2
like "the last three seconds and a little more" "$(span "$1")" '^[345]$'
is "their ledger is whole" "$(account "$1")" even
status "each can be read" 0 cprof-top "$1"
is "the second begins where the first has ended" "$(for f; do cprof-dump "$f" | sed -n 's/^sample time=\([0-9]*\) .*/\1/p'; done |
	awk '$1 < t { bad++ } { t = $1 } END { print bad + 0 }')" 0
is "the command was told of both" "$(cat "$tmp/told")" "$1
$2"
is "and the figures know of them" "$(sed -n 's/^cprof_record_files_total //p' "$tmp/m.prom")" 2

# A condition writes one file, and no other before all samples are new.
rm -f "$to"/*
cprof-record -a --ring 30s --when 'cpu>1' --when 'io.full>99' -o "$to" 6 2>"$tmp/err"
is "a condition that holds" $?-$(files) 0-1
like "is said" "$(cat "$tmp/err")" 'cprof-record: cpu>1'
rm -f "$to"/*
status "one that does not hold" 0 cprof-record -q -a --ring 3s --when 'memory.full>99' -o "$to" 3
is "writes nothing" "$(files)" 0
root=$(awk '{ for (i = 7; $i != "-"; i++); if ($(i + 1) == "cgroup2") { print $5; exit } }' /proc/self/mountinfo)
v1=$(awk '{ for (i = 7; $i != "-"; i++); if ($(i + 1) == "cgroup" && $(i + 3) ~ /(^|,)cpu(,|$)/) { print $5; exit } }' /proc/self/mountinfo)
if [ -n "$root" ] && grep -qs '^nr_periods' "$root/cpu.stat" "${v1:-$root}/cpu.stat"; then
	status "of a control group" 0 cprof-record -q -a --ring 3s --when 'throttled:/>50' -o "$to" 1
else
	skip "of a control group" "there is none"
fi

# A process throttled by its quota: of version 2 if it has the cpu controller, otherwise of version 1.
group=cprof-ring.$$ quota=
if [ -n "$root" ] && mkdir "$root/$group" 2>/dev/null; then
	trap 'kill $busy $held 2>/dev/null; wait; rmdir "$root/$group" "${v1:-/none}/$group" 2>/dev/null; rm -rf "$tmp"' EXIT
	held=
	if [ -e "$root/$group/cpu.max" ]; then
		quota=$root/$group && echo "20000 100000" >"$quota/cpu.max"
	else
		status "a group that has no cpu controller" 2 cprof-record -a --ring 3s --when "throttled:/$group>25" -o "$to" 1
		like "is refused with what it lacks" "$(head -1 "$tmp/err")" \
			"^cprof-record: --when: the control group /$group has no quota: .*(in the version 1 hierarchy at|\\+cpu to the cgroup.subtree_control)"
		[ -z "$v1" ] || ! mkdir "$v1/$group" 2>/dev/null || ! echo 20000 2>/dev/null >"$v1/$group/cpu.cfs_quota_us" || quota=$v1/$group
	fi
fi
if [ -n "$quota" ]; then
	sh -c 'echo $$ >"$1/cgroup.procs" && exec "$2" threads 120' sh "$quota" "$BUILD/tests/burn" >/dev/null &
	held=$!
	for named in "/$group" "$quota"; do
		rm -f "$to"/*
		cprof-record -a --ring 30s --when "throttled:$named>25" -o "$to" 4 2>"$tmp/err"
		is "a group that is held back" $?-$(files) 0-1
		like "is said" "$(cat "$tmp/err")" "cprof-record: throttled:$named>25"
	done
	kill $held; wait $held 2>/dev/null
	rm -f "$to"/*
	status "one that is idle" 0 cprof-record -q -a --ring 30s --when "throttled:$named>25" -o "$to" 3
	is "is not" "$(files)" 0
else
	skip "a group that is held back" "none can be made that has a quota"
fi

# Bounded by bytes, too
status "a little memory" 0 cprof-record -q -a -F 9999 --ring 1h --ring 100K --when 'cpu>1' -o "$to" 4
rm -f "$to"/*
cprof-record -q -a -F 9999 --ring 1h --ring 100K -o "$to" 20 &
recorder=$!
sleep 5
kill -USR1 $recorder
wait_files 1
kill -INT $recorder
wait $recorder
# A part is a second at least, because the size is checked once a second.
like "holds the last of it alone" "$(span "$to"/*.cprof)" '^[0123]$'

for wrong in 'cpu' 'cpu>' 'cpu>x' 'load>3' 'cpu>150' 'throttled:/none/at/all>3' 'memory.any>1'; do
	status "no condition: $wrong" 2 cprof-record -a --ring 3s --when "$wrong" -o "$to" 1
done
status "--ring without a file" 2 cprof-record -a --ring 3s 1
status "--ring without a time" 2 cprof-record -a --ring 3M -o "$to" 1
status "both" 2 cprof-record -a --ring 3s --rotate 3s -o "$to" 1
status "--when alone" 2 cprof-record -a --when 'cpu>1' -o "$to" 1
done_testing
