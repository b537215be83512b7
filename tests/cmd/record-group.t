#!/bin/sh
# Control groups and containers as filters in the kernel: two groups with different programs; all samples of
# one, none of the other.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
root=$(awk '{ for (i = 7; $i != "-"; i++); if ($(i + 1) == "cgroup2") { print $5; exit } }' /proc/self/mountinfo)
one=cprof-one.$$ two=cprof-two.$$
id=$(printf '%08x' $$)56789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
id=$(echo "${id}0123456789abcdef" | cut -c1-64)
{ [ -n "$root" ] && mkdir "$root/$one" "$root/$two" "$root/$two/docker-$id.scope" 2>/dev/null; } || {
	skip "groups of our own" "cannot make one"
	done_testing
}
cp "$BUILD/tests/burn" "$tmp/first" && cp "$BUILD/tests/burn" "$tmp/second" && cp "$BUILD/tests/burn" "$tmp/inner"
# in_group GROUP PROGRAM: runs it there, with its children
in_group() { sh -c 'echo $$ >"$1/cgroup.procs" && exec "$2" threads 120' sh "$root/$1" "$tmp/$2" >/dev/null & }
in_group $one first; first=$!
in_group $two second; second=$!
in_group "$two/docker-$id.scope" inner; inner=$!
trap 'kill -9 $first $second $inner 2>/dev/null; wait; rmdir "$root/$one" "$root/$two/docker-$id.scope" "$root/$two" "$root/cprof-again.$$/inner" "$root/cprof-again.$$" 2>/dev/null; rm -rf "$tmp"' EXIT
sleep 0.5

commands() { cprof-fold "$1" 2>/dev/null | sed 's/;.*//' | sort -u | tr '\n' ' '; }
stamps() { cprof-dump "$1" | sed -n 's/^sample time=\([0-9]*\) .*/\1/p'; }

cprof-record -q -F 997 -p $first -o "$tmp/process.bin" 3 &
status "one group" 0 cprof-record -q -F 997 --cgroup /$one -l service=shop -l env=a=b -o "$tmp/one.bin" 3
wait $!
is "has its program alone" "$(commands "$tmp/one.bin")" "first "
# Compare the time in which both recordings ran.
stamps "$tmp/one.bin" >"$tmp/a" && stamps "$tmp/process.bin" >"$tmp/b"
got=$(awk 'FNR == 1 { f++; if ($1 > from) from = $1 } { t[f, FNR] = $1; n[f] = FNR }
	END { to = t[1, n[1]] < t[2, n[2]] ? t[1, n[1]] : t[2, n[2]]
	for (f = 1; f <= 2; f++) for (i = 1; i <= n[f]; i++) c[f] += t[f, i] >= from && t[f, i] <= to
	print (c[2] > 50 && c[1] > .9 * c[2] && c[1] < 1.1 * c[2]) ? "as much" : c[1] " and " c[2] }' "$tmp/a" "$tmp/b")
is "and as much of it as when its process is recorded" "$got" "as much"
like "the others' ticks are counted" "$(cprof-top -v "$tmp/one.bin" 2>/dev/null)" 'Ledger: .* [1-9][0-9]* filtered'
is "labels are in the header" "$(cprof-dump "$tmp/one.bin" | grep '^meta key="label')" 'meta key="label.service" value="shop"
meta key="label.env" value="a=b"'
status "a group with one below it" 0 cprof-record -q --cgroup "$root/$two" -o "$tmp/two.bin" 2
is "has both" "$(commands "$tmp/two.bin")" "inner second "
status "two groups" 0 cprof-record -q --cgroup $one --cgroup "$two/docker-$id.scope" -o "$tmp/both.bin" 2
is "have theirs" "$(commands "$tmp/both.bin")" "first inner "
status "a container by the beginning of its id" 0 cprof-record -q --container "$(echo $id | cut -c1-12)" -o "$tmp/id.bin" 1
is "has what runs there" "$(commands "$tmp/id.bin")" "inner "
like "and its name" "$(cprof-fold --container "$tmp/id.bin" | head -1)" "^$(echo $id | cut -c1-12);inner;"
is "its control group too" "$(cprof-fold --container --in "/$two" "$tmp/id.bin" | sed 's/;.*//' | sort -u)" "$(echo $id | cut -c1-12)"
status "with -p, both must be so" 0 cprof-record -q --cgroup $one -p $first,$second -o "$tmp/p.bin" 1
is "and are" "$(commands "$tmp/p.bin")" "first "

# A thread that leaves the group: the waits before are shorter than a stack is worth, but they are reported.
cat >"$tmp/waits" <<'END'
open my $group, ">", "$ARGV[0]/cgroup.procs" or die;
select undef, undef, undef, 0.02 for 1 .. 30;
syswrite $group, $$;
select undef, undef, undef, 0.02 for 1 .. 3;
END
cprof-record -q --off-cpu=60s --cgroup /$one -o "$tmp/left.bin" -- \
	sh -c 'echo $$ >"$1/cgroup.procs" && exec perl "$3" "$2"' sh "$root/$one" "$root/$two" "$tmp/waits"
got=$(cprof-fold --no-names --event off-cpu:sleep --comm perl "$tmp/left.bin" |
	awk '{ n += $NF } END { printf "%.0f\n", n }')
ok "a process that leaves the group has its short waits there ($got ns)" [ "${got:-0}" -ge 600000000 ]

# A process that moves during the recording
cp "$BUILD/tests/burn" "$tmp/mover" && in_group $one mover; mover=$!
trap 'kill -9 $first $second $inner $mover 2>/dev/null; wait; rmdir "$root/$one" "$root/$two/docker-$id.scope" "$root/$two"; rm -rf "$tmp"' EXIT
cprof-record -q -F 499 --cgroup /$one --cgroup /$two -o "$tmp/moves.bin" 4 &
recorder=$!
sleep 2
echo $mover >"$root/$two/cgroup.procs"
wait $recorder
for g in $one $two; do cprof-fold -U --comm mover --in /$g "$tmp/moves.bin" | awk -v g=/$g '{ n += $NF } END { print g, n + 0 }'; done >"$tmp/want"
cprof-fold -U --by container --comm mover "$tmp/moves.bin" >"$tmp/got"
same "a process that moves has its samples in each group: --by container is --in" "$tmp/want" "$tmp/got"
is "  in both there are many" "$(awk '$2 > 50' "$tmp/got" | wc -l)" 2
# A group is removed and made again, as for a service at each start: the group now at the path is recorded.
again=$root/cprof-again.$$
cp "$BUILD/tests/burn" "$tmp/before" && cp "$BUILD/tests/burn" "$tmp/after"
run_in() { in=$1; shift; sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' sh "$in" "$@" >/dev/null; }
remove() { tries=0; until rmdir "$1" 2>/dev/null || [ $tries = 50 ]; do sleep 0.1; tries=$((tries + 1)); done; }
with_event() { cprof-fold --event "$1" "$2" 2>/dev/null | sed 's/;.*//' | sort -u | tr '\n' ' '; }
mkdir "$again" "$again/inner"
cprof-record -F 997 --off-cpu -e cpu-clock,page-faults --cgroup "/${again##*/}" -o "$tmp/again.bin" 30 2>"$tmp/said" &
recorder=$!
cprof-record -q -F 997 --cgroup "$again" --rotate 1h -o "$tmp/again-%s.cprof" 30 2>"$tmp/quiet" &
rotated=$!
tries=0
until { [ -s "$tmp/again.bin" ] && ls "$tmp"/.again-* >"$tmp/out" 2>&1; } || [ $tries = 100 ]; do sleep 0.1; tries=$((tries + 1)); done
sleep 1
run_in "$again" "$tmp/before" brief 300
remove "$again/inner"; remove "$again"
sleep 2.5
mkdir "$again" "$again/inner"
sleep 2.5
run_in "$again/inner" "$tmp/after" brief 300
run_in "$again" sh -c "sleep 0.2; exec '$tmp/after' brief 100"
remove "$again/inner"; remove "$again"
mkdir "$again"
sleep 2.5
run_in "$again" "$tmp/second" brief 100
kill -INT $recorder $rotated
wait $recorder
is "a recording of a group that came again ends well" $? 0
wait $rotated
remove "$again"
is "what ran in each of the three is in it" "$(commands "$tmp/again.bin" | sed 's/sh //; s/sleep //')" "after before second "
is "other events too" "$(with_event page-faults "$tmp/again.bin" | sed 's/sh //; s/sleep //')" "after before second "
like "and waits" "$(with_event off-cpu:sleep "$tmp/again.bin")" 'sleep '
is "that it was gone is said once" "$(grep -c 'control group' "$tmp/said")" 1
like "in a sentence" "$(cat "$tmp/said")" "^cprof-record: the control group $again is gone; if it is made again, it is recorded again\$"
is "files one after the other have all of it" "$(commands "$tmp"/again-*.cprof | sed 's/sh //; s/sleep //')" "after before second "
is "and -q says nothing" "$(cat "$tmp/quiet")" ""

# Groups that are gone when their samples are written have names; only a program of 20 ms ran in each.
if [ -r /sys/kernel/btf/vmlinux ]; then
	long=$(printf '%0200d' 0)
	groups_of() { cprof-fold --container "$1" 2>/dev/null | grep ';short;' | sed 's/;.*//' | sort -u; }
	cp "$BUILD/tests/burn" "$tmp/short"
	mkdir "$again"
	cprof-record -q -F 997 --cgroup "$again" -o "$tmp/short.bin" 60 &
	recorder=$!
	cprof-record -q -F 997 -a -o "$tmp/all.bin" 60 &
	other=$!
	tries=0
	until { [ -s "$tmp/short.bin" ] && [ -s "$tmp/all.bin" ]; } || [ $tries = 100 ]; do sleep 0.1; tries=$((tries + 1)); done
	sleep 1
	kill -STOP $recorder $other # so that they read nothing before the group is gone
	for i in 1 2 3 4 5 6; do
		mkdir "$again/short-$i"
		run_in "$again/short-$i" "$tmp/short" brief 20
		until rmdir "$again/short-$i" 2>/dev/null; do :; done
	done
	mkdir -p "$again/$long/$long/$long"
	run_in "$again/$long/$long/$long" "$tmp/short" brief 20
	until rmdir "$again/$long/$long/$long" 2>/dev/null; do :; done
	kill -CONT $recorder $other
	run_in "$again/$long/$long" "$tmp/short" brief 20
	mkdir "$again/$long/$long/still-$long"
	run_in "$again/$long/$long/still-$long" "$tmp/short" brief 20
	sleep 2.5
	rmdir "$again/$long/$long/still-$long" "$again/$long/$long" "$again/$long" "$again"
	kill -INT $recorder $other
	wait $recorder $other
	name=/${again##*/}
	want="$(for i in 1 2 3 4 5 6; do echo "$name/short-$i"; done)"
	for file in short all; do
		is "six groups that live for a moment have names ($file)" "$(groups_of "$tmp/$file.bin" | grep -v 000)" "$want"
		is "of a very long one it is the beginning, if it is gone ($file)" "$(groups_of "$tmp/$file.bin" | grep 000)" \
			"$({ printf '%.508s...\n' "$name/$long/$long/$long"; echo "$name/$long/$long"; echo "$name/$long/$long/still-$long"; } | sort)"
	done
else
	skip "groups that live for a moment have names" "this kernel has no type information"
fi

status "a group that is not there" 1 cprof-record -q --cgroup /$one/none -o "$tmp/x" 1
status "a container that is not there" 1 cprof-record -q --container ffffffffffff -o "$tmp/x" 1
status "by plain perf" 2 cprof-record -q --engine perf --cgroup $one -o "$tmp/x" 1
status "a label without a value" 2 cprof-record -q -a -l service 1
status "a label of a strange name" 2 cprof-record -q -a -l "a b=c" 1
done_testing
