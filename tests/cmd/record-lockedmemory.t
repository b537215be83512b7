#!/bin/sh
# A user's process holds the lock of its own memory for ever: nobody can read its mappings. The
# recorder goes on without them, ends on time and on SIGTERM, and other processes have their names.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
[ -e /dev/fuse ] || skip_all "no /dev/fuse"
command -v setpriv >/dev/null && command -v unshare >/dev/null || skip_all "no setpriv or unshare"
chmod 755 "$tmp"
mkdir "$tmp/mnt"
cp "$BUILD/tests/stallfs" "$tmp/stallfs"
chown 4711 "$tmp/mnt"
# Every user may open the device where udev or systemd runs.
mknod -m 666 "$tmp/fuse" c 10 229 || skip_all "no device can be made"
runners='' other='' recorder=''
end_all() {
	kill -KILL $runners $other $recorder $(cat "$tmp"/server.* 2>/dev/null) 2>/dev/null
	wait 2>/dev/null
	rm -rf "$tmp"
}
trap end_all EXIT

# lock N: user 4711 mounts a file system, without privileges, and runs a process that locks its memory by it
lock() {
	: >"$tmp/running.$1"
	: >"$tmp/server.$1"
	chown 4711 "$tmp/running.$1" "$tmp/server.$1"
	setpriv --reuid 4711 --regid 4711 --clear-groups unshare -Urm sh -c '
		mount --bind "$1/fuse" /dev/fuse
		"$1/stallfs" serve "$1/mnt" "$1/stallfs" >"$1/running.$2" 2>&1 &
		echo $! >"$1/server.$2"
		until [ -s "$1/running.$2" ]; do sleep 0.05; done
		exec "$1/stallfs" lock "$1/mnt/program" >>"$1/running.$2" 2>&1
	' sh "$tmp" "$1" 2>>"$tmp/running.$1" &
	runners="$runners $!"
	until grep -q 'running\|:' "$tmp/running.$1"; do sleep 0.05; done
	grep -q running "$tmp/running.$1"
}
lock 1 || skip_all "a user cannot mount FUSE here: $(cat "$tmp/running.1" | tr "\n" " ")"
first=${runners# }
ok "nobody can read its mappings" sh -c '! timeout -s KILL 1 cat "/proc/$1/maps" >/dev/null 2>&1' sh "$first"
lock 2
lock 3
"$BUILD/tests/stallfs" run - >"$tmp/other" &
other=$!
until [ -s "$tmp/other" ]; do sleep 0.05; done

timeout -s KILL 100 cprof-record -a -F 499 --metrics "$tmp/metrics" -o "$tmp/cap" 4 2>"$tmp/err"
is "a recording beside them ends" $? 0
unlike "... with no sample lost" "$(cat "$tmp/err")" "[0-9]+ (ring-full|no-memory|throttled|failed)"
like "... says whose mappings are missing" "$(cat "$tmp/err")" \
	"cannot read the mappings of process [0-9]+: its memory has been locked for 250 ms"
like "... counts them" "$(cat "$tmp/err")" "[0-9]+ times? the mappings of a process not read"
like "... also as a metric" "$(cat "$tmp/metrics")" "^cprof_record_mappings_left_out_total [1-9]"
cprof-sym "$tmp/cap" >"$tmp/named" 2>/dev/null
like "another process has its names" "$(cprof-fold --pid "$other" "$tmp/named")" ';main;.*local_work'
cprof-fold --pid "$first" "$tmp/named" >"$tmp/folded" 2>/dev/null
like "the locked one has samples" "$(cat "$tmp/folded")" '^stallfs;.* [0-9]+$'

cprof-record -q -a -F 499 -o "$tmp/cap2" 2>"$tmp/err2" &
recorder=$!
until [ -s "$tmp/cap2" ]; do sleep 0.05; done
kill -TERM "$recorder"
for i in $(seq 600); do
	kill -0 "$recorder" 2>/dev/null || break
	sleep 0.1
done
is "SIGTERM ends a recording there" "$(kill -0 "$recorder" 2>/dev/null || echo ended)" ended
done_testing
