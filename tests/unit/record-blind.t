#!/bin/sh
# One user's file systems that do not answer cost no other user a file.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
[ -e /dev/fuse ] || skip_all "no /dev/fuse"
servers=''
trap 'kill -KILL $servers 2>/dev/null; wait 2>/dev/null
	umount -l "$tmp/root/m" "$tmp/good" 2>/dev/null; rm -rf "$tmp"' EXIT

# serve DIR: mounts a file system there
serve() {
	mkdir -p "$1"
	"$BUILD/tests/stallfs" serve "$1" "$BUILD/tests/stallfs" >"$tmp/says" 2>&1 &
	servers="$servers $!"
	until grep -q . "$tmp/says"; do sleep 0.05; done
	grep -q ready "$tmp/says" || skip_all "FUSE cannot be mounted: $(head -n 1 "$tmp/says")"
}
serve "$tmp/good"
serve "$tmp/root/m"
ln -s /m/directory/tmp "$tmp/root/tmp"
kill -USR1 "${servers##* }" # from here on it does not answer
"$BUILD/tests/record-blind" "$tmp/root" "$tmp/good/file"
