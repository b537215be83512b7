#!/bin/sh
# Perf maps while they grow: whole lines, generations, and refused maps
. "$(dirname "$0")/../lib/lib.sh"
jit=$BUILD/tests/record-jit

sleep 300 &
pid=$!
map=/tmp/perf-$pid.map
inner=
trap 'kill -9 $pid $inner 2>/dev/null; rm -rf "$map" "$map.new" "$tmp"' EXIT
chmod 755 "$tmp"

# jit DESCRIPTION WANT: runs the commands on stdin, with PID and MAP substituted.
jit() {
	sed "s|PID|$pid|g; s|MAP|$map|g" >"$tmp/commands"
	is "$1" "$(timeout 60 "$jit" maps <"$tmp/commands" 2>&1)" "$2"
}

jit "no map" "poll 0
0 of 1
quiet
no complaint" <<X
watch 7 PID 0
poll
open
busy
complaint
X

jit "lines as they come, whole ones only" "poll 0
7.0 1000 10 a
7.0 2000 10 b c;d
poll 0
busy
1 of 1
poll 0
7.0 3000 20 e
poll 0
quiet" <<X
watch 7 PID 0
poll
! printf '1000 10 a\n2000 10 b c;d\n300' >MAP
pass 200
poll
busy
open
pass 10
poll
! printf '0 20 e\n4' >>MAP
pass 10
poll
pass 2500
busy
X

jit "a quiet file is looked at once a second" "7.0 1 1 a
poll 0
poll 0
poll 0
7.0 2 2 b
poll 0" <<X
! printf '1 1 a\n' >MAP
watch 7 PID 0
poll
pass 2500
poll
! printf '2 2 b\n' >>MAP
pass 100
poll
pass 1000
poll
X

jit "a file that shrank is a new generation" "7.0 1 1 aaaaaaaaaaaaaa
7.0 2 2 b
poll 0
7.1 3 3 c
poll 0
7.1 4 4 d
poll 0" <<X
! printf '1 1 aaaaaaaaaaaaaa\n2 2 b\n' >MAP
watch 7 PID 0
poll
! printf '3 3 c\n' >MAP
pass 10
poll
! printf '4 4 d\n' >>MAP
pass 10
poll
X

jit "one that was written anew beyond our place, too" "7.0 1 1 a
7.0 2 2 b
poll 0
7.1 1 1 a
7.1 9 9 z
7.1 3 3 c
poll 0" <<X
! printf '1 1 a\n2 2 b\n' >MAP
watch 7 PID 0
poll
! printf '1 1 a\n9 9 z\n3 3 c\n' >MAP
pass 10
poll
X

jit "another file at the path: the old one is read to its end first" "7.0 1 1 a
poll 0
7.0 2 2 b
7.1 3 3 c
poll 0
1 of 1" <<X
! printf '1 1 a\n' >MAP
watch 7 PID 0
poll
! printf '2 2 b\n' >>MAP; printf '3 3 c\n' >MAP.new; mv MAP.new MAP
pass 1000
poll
open
X

jit "it was removed: what is open stays open" "7.0 1 1 a
poll 0
7.0 2 2 b" <<X
! printf '1 1 a\n' >MAP
watch 7 PID 0
poll
! printf '2 2 b\n' >>MAP; rm MAP
finish 7
X

# left DESCRIPTION WANT COMMAND: a process ends without a map, and COMMAND makes one afterwards, as $map
left() {
	sleep 300 &
	inner=$!
	jit "$1" "$2" <<Y
watch 7 $inner 0
poll
! kill $inner; until grep -q '^State:.Z' /proc/$inner/status; do sleep 0.01; done
! map=/tmp/perf-$inner.map; $3
finish 7
complaint
Y
	wait $inner 2>/dev/null
	rm -f "/tmp/perf-$inner.map"
}
left "a process that is gone left a map" "poll 0
7.0 1 1 a
no complaint" 'printf "1 1 a\\n" >$map'
left "  not of another owner" "poll 0
no complaint" 'printf "1 1 a\\n" >$map; chown 65534 $map'
left "  not one that is older than the process" "poll 0
no complaint" 'printf "1 1 a\\n" >$map; touch -d "-1 hour" $map'
left "  no link" "poll 0
no complaint" 'ln -s MAP $map; printf "1 1 a\\n" >MAP'
rm -f "$map"

# late DESCRIPTION WANT NOTE: a process ends, and has left a map, before it is watched; NOTE comes first
late() {
	rm -f "$tmp/inner"
	sh -c 'sleep 300 & echo $! >"$0"; wait' "$tmp/inner" &
	until [ -s "$tmp/inner" ]; do sleep 0.01; done
	inner=$(cat "$tmp/inner")
	jit "$1" "$2" <<Y
$3 $inner
! printf '1 1 a\\n' >/tmp/perf-$inner.map; kill $inner; while [ -e /proc/$inner ]; do sleep 0.01; done
watch 7 $inner 0
finish 7
Y
	rm -f "/tmp/perf-$inner.map"
}
late "a process that is watched after its end has no map, as nobody knows its owner" "" pass
late "  but if its owner was noted" "7.0 1 1 a" note
inner=

jit "finish reads what a quiet file got last, and forgets" "7.0 1 1 a
poll 0
poll 0
7.0 2 2 b
0 of 0" <<X
! printf '1 1 a\n' >MAP
watch 7 PID 0
poll
pass 2500
poll
! printf '2 2 b\n3 3 half' >>MAP
finish 7
open
X

jit "restart delivers all again of those asked for again, forget nothing" "7.0 1 1 a
8.0 1 1 a
poll 0
7.0 1 1 a
8.0 1 1 a
poll 0
poll 0
8.0 1 1 a
8.0 2 2 b
poll 0
1 of 1
0 of 0" <<X
! printf '1 1 a\n' >MAP
watch 7 PID 0
watch 8 PID 0
watch 8 PID 0
poll
restart
watch 7 PID 0
watch 8 PID 0
poll
! printf '2 2 b\n' >>MAP
forget 7
forget 10
restart
poll
watch 8 PID 0
poll
open
forget 8
open
X

jit "a line that is too long is left out" "7.0 1 1 a
7.0 2 2 b
7.0 3 3 c
poll 0
7.0 4 4 d
poll 0" <<X
! { printf '1 1 a\n2 2 b\n'; head -c 200000 /dev/zero | tr '\\\\0' x; printf '\n3 3 c\n'; head -c 70000 /dev/zero | tr '\\\\0' y; } >MAP
watch 7 PID 0
poll
! printf 'yy\n4 4 d\n' >>MAP
pass 10
poll
X
rm -f "$map"

yes '7f0000001000 40 LazyCompile:~function /app/index.js:1' | head -n 100000 >"$tmp/big"
jit "a long file takes several polls" "poll 1: 4257630 bytes, small chunks
poll 0: 1142370 bytes, small chunks
poll 0: 0 bytes, small chunks" <<X
! cp $tmp/big MAP
brief
watch 7 PID 0
poll
poll
poll
X
jit "256 MiB of one process are enough, and that is said once" "poll 0: 0 bytes, small chunks
perf map of process $pid: over 256 MiB, the rest is left out
no complaint" <<X
! printf '1 1 a\n' >MAP; truncate -s 300M MAP
brief
watch 7 PID 0
finish 7
poll
complaint
complaint
X
rm -f "$map"

# --- refused maps ---

jit "no symbolic link" "poll 0
0 of 1" <<X
! printf '1 1 a\n' >$tmp/target; ln -s $tmp/target MAP
watch 7 PID 0
poll
open
X
rm -f "$map"
jit "no pipe, no directory; a file that comes later is found" "0 of 1
poll 0
0 of 1
7.0 1 1 a
poll 0
1 of 1" <<X
! mkfifo MAP
watch 7 PID 0
open
! rm MAP; mkdir MAP
pass 200
poll
open
! rmdir MAP; printf '1 1 a\n' >MAP
pass 200
poll
open
X
rm -f "$map"
jit "not one that is older than the process, until it is written to" "poll 0
0 of 1
7.0 1 1 old
7.0 2 2 new
poll 0" <<X
! printf '1 1 old\n' >MAP; touch -d '-1 hour' MAP
watch 7 PID 0
poll
open
! printf '2 2 new\n' >>MAP
pass 300
poll
X
rm -f "$map"
jit "the looks become rarer: none within 6 s after one at 6.3 s" "poll 0
poll 0
poll 0
poll 0
7.0 1 1 a
poll 0" <<X
watch 7 PID 0
pass 300
poll
pass 2000
poll
pass 4000
poll
! printf '1 1 a\n' >MAP
pass 100
poll
pass 16000
poll
X
rm -f "$map"
is "a process that is not there" "$(printf 'watch 7 4194999 0\npoll\nfinish 7\nopen\n' | "$jit" maps)" "poll 0
0 of 0"

if [ "$(id -u)" = 0 ]; then
	jit "not another user's, and that is said once" "poll 0
0 of 1
perf map of process $pid: it belongs to another user and is ignored
poll 0
no complaint" <<X
! printf '1 1 a\n' >MAP; chown 65534 MAP
watch 7 PID 0
poll
open
complaint
pass 1000
poll
complaint
X
	rm -f "$map"
else
	skip "not another user's" "needs root"
fi

# --- other namespaces ---

cat >"$tmp/pause.c" <<X
#include <stdio.h>
#include <unistd.h>
int main(void) { puts("up"); fflush(stdout); pause(); return 0; }
X
mkdir -p "$tmp/root/real-tmp"
gcc -static -o "$tmp/root/pause" "$tmp/pause.c"
mkfifo "$tmp/up"

# Waits until the process that writes to $tmp/up has begun; its PID is the child of the given one, or that.
started() { read -r _ <"$tmp/up"; inner=$(cat "/proc/$1/task/$1/children" 2>/dev/null || pgrep -P "$1"); inner=${inner%% *}; : "${inner:=$1}"; }

if unshare --pid --fork --mount --mount-proc true 2>/dev/null; then
	unshare --pid --fork --mount --mount-proc sh -c "
		mount -t tmpfs none /tmp && printf '1 1 in-namespace\\n' >/tmp/perf-1.map && echo up && exec sleep 300" \
		>"$tmp/up" 2>/dev/null &
	unshare=$!
	started $unshare
	is "in a PID and mount namespace of its own" "$(printf 'watch 7 %s 0\npoll\n' "$inner" | "$jit" maps)" \
		"7.0 1 1 in-namespace
poll 0"
	is "  where the caller knows the pid in there" "$(printf 'watch 7 %s 1\npoll\n' "$inner" | "$jit" maps)" \
		"7.0 1 1 in-namespace
poll 0"
	printf '2 2 outside\n' >"/tmp/perf-$inner.map"
	is "  the one inside goes before the one outside" "$(printf 'watch 7 %s 0\npoll\n' "$inner" | "$jit" maps)" \
		"7.0 1 1 in-namespace
poll 0"
	is "  which serves where there is none inside" "$(printf 'watch 7 %s 77\npoll\n' "$inner" | "$jit" maps)" \
		"7.0 2 2 outside
poll 0"
	rm -f "/tmp/perf-$inner.map"
	kill -9 "$inner" 2>/dev/null # nothing else ends the first process of a namespace
	wait $unshare 2>/dev/null
else
	skip "in a PID and mount namespace of its own" "cannot make one"
fi

# /tmp of another root is an absolute symbolic link: it must resolve inside that root.
chroot "$tmp/root" /pause >"$tmp/up" 2>/dev/null &
inner=$!
if read -r _ <"$tmp/up"; then
	ln -s /real-tmp "$tmp/root/tmp"
	printf '1 1 in-root\n' >"$tmp/root/real-tmp/perf-$inner.map"
	is "symbolic links of a root end in it" "$(printf 'watch 7 %s 0\npoll\n' "$inner" | "$jit" maps)" \
		"7.0 1 1 in-root
poll 0"
else
	skip "symbolic links of a root end in it" "cannot change the root"
fi
done_testing
