#!/bin/sh
# Control groups: from the kernel's ID to the path, and from a process to its group
. "$(dirname "$0")/../lib/lib.sh"
side=$BUILD/tests/record-side

root=$(awk '{ for (i = 7; $i != "-"; i++); if ($(i + 1) == "cgroup2") { print $5; exit } }' /proc/self/mountinfo)
group=cprof-test.$$

# Version 1 is consulted only if version 2 has everything in its root.
text() { # DESCRIPTION FILE WANT
	printf '%s\n' "$2" >"$tmp/text"
	is "$1" "$(echo "text $tmp/text" | "$side" cgroup)" "$3"
}
text "version 1: systemd's hierarchy first" '9:name=systemd:/docker/abc
4:memory:/other
0::/' "/docker/abc /docker/abc made-up"
text "  then memory" '9:name=systemd:/
4:memory:/docker/abc
2:cpu,cpuacct:/other
1:net_cls:/no
0::/' "/docker/abc /docker/abc made-up"
text "  then cpu" '5:cpuset:/no
2:cpu,cpuacct:/docker/abc
1:pids:/other' "/docker/abc /docker/abc made-up"
text "version 2 goes before it" '9:name=systemd:/user.slice
0::/no-such-group' "/no-such-group /no-such-group made-up"
text "no group at all" '5:cpuset:/no
nonsense
1:' "none none real"
text "a name with a colon" '0::/no:such:group' "/no:such:group /no:such:group made-up"

[ -n "$root" ] || { skip "version 2" "no cgroup2 is mounted"; done_testing; }
id=$(stat -c %i "$root")
is "the root" "$(echo "id $id" | "$side" cgroup)" /
is "a number that nobody has" "$(echo "id 4242424242" | "$side" cgroup)" none
is "0" "$(echo "id 0" | "$side" cgroup)" none
is "a process that is not there" "$(echo "pid 4194999" | "$side" cgroup)" "none none real"

mkdir "$root/$group" 2>/dev/null || { skip "groups of our own" "cannot make one"; done_testing; }
sleep 100 &
pid=$!
trap 'kill $pid; wait $pid 2>/dev/null; rmdir "$root/$group/a b" "$root/$group"; rm -rf "$tmp"' EXIT
mkdir "$root/$group/a b"
echo "$pid" >"$root/$group/a b/cgroup.procs"
id=$(stat -c %i "$root/$group/a b")
is "by its number" "$(echo "id $id" | "$side" cgroup)" "/$group/a b"
is "of a process" "$(echo "pid $pid" | "$side" cgroup)" "/$group/a b /$group/a b real"
is "both agree" "$(printf 'pid %s\nid %s\n' $pid "$id" | "$side" cgroup | tail -1)" "/$group/a b"
is "without CAP_DAC_READ_SEARCH" \
	"$(printf 'id %s\nid 4242424242\n' "$id" | setpriv --bounding-set=-dac_read_search "$side" cgroup)" "/$group/a b
none"
is "a group that is gone is remembered, but unknown if it was never seen" "$("$side" cgroup <<X
id $id
! kill $pid; for i in \$(seq 200); do rmdir '$root/$group/a b' 2>'$tmp/err' && break; sleep 0.05; done
id $id
X
echo "id $id" | "$side" cgroup)" "/$group/a b
/$group/a b
none"
id=$(printf '%064d' 7)
trap 'rmdir "$root/$group/x/docker-$id.scope" "$root/$group/x" "$root/$group/docker-$id.scope/init" \
	"$root/$group/docker-$id.scope" "$root/$group"; rm -rf "$tmp"' EXIT
mkdir "$root/$group/docker-$id.scope" "$root/$group/docker-$id.scope/init" "$root/$group/x"
is "a container by its id" "$(echo "container $id" | "$side" cgroup)" "$root/$group/docker-$id.scope"
# A user to whom a group is delegated makes groups of any name in it.
mkdir "$root/$group/x/docker-$id.scope"
like "another group of its name elsewhere is not taken for it" "$(echo "container $id" | "$side" cgroup)" \
	"\"$id\" is the name of 2 containers \(/$group/.*docker-$id.scope, /$group/.*docker-$id.scope\)"
is "a path cannot lead out of the hierarchy" "$(echo "open ../../etc" | "$side" cgroup)" \
	'invalid control group "../../etc" (expected a path without ..)'
mkdir "$root/$group/x/..y"
is "names may have dots" "$(echo "open /$group/x/..y" | "$side" cgroup)" "$root/$group/x/..y"
rmdir "$root/$group/x/..y"
done_testing
