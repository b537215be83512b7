#!/bin/sh
# The user who is charged for the work on a file: its owner, or its process's user if any user may have chosen
# the owner.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
command -v setpriv >/dev/null || skip_all "no setpriv"
mnt=$tmp/mnt server='' pids=''
mkdir "$mnt"
chmod 755 "$tmp"
trap 'kill -KILL $server $pids 2>/dev/null; wait 2>/dev/null
	umount -l "$mnt" 2>/dev/null; rm -rf "$tmp"' EXIT

# run NAME: runs a program as user 4711, until it is under way
run() {
	setpriv --reuid 4711 --regid 4711 --clear-groups "$tmp/stallfs" run "$1" >"$tmp/says" 2>&1 &
	pid=$!
	pids="$pids $pid"
	until grep -q . "$tmp/says"; do sleep 0.05; done
	grep -q running "$tmp/says" || diag "$(cat "$tmp/says")"
}
owner() { "$BUILD/tests/record-owner" "$pid" "$1"; }

cp "$BUILD/tests/stallfs" "$tmp"
cp "$BUILD/tests/stallfs" "$tmp/of-user"
chown 4711:4711 "$tmp/of-user"
run "$tmp/of-user"
is "a file counts as its owner's" "$(owner /of-user)" "4711 file"
is "... another's, too" "$(owner /stallfs)" "0 file"

if [ -e /dev/fuse ]; then
	"$BUILD/tests/stallfs" serve "$mnt" "$BUILD/tests/stallfs" >"$tmp/server" 2>&1 &
	server=$!
	until grep -q . "$tmp/server"; do sleep 0.05; done
fi
if [ "$server" ] && grep -q ready "$tmp/server"; then
	is "a file of FUSE says that it is root's" "$(stat -c %u "$mnt/program")" 0
	run "$mnt/program"
	is "... and counts as its process's" "$(owner /program)" "4711 copy"
else
	skip "a file of FUSE" "FUSE cannot be mounted"
fi
done_testing
