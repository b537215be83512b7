#!/bin/sh
# A capture is its owner's: nobody else reads it, whatever the umask is, unless --mode says so.
. "$(dirname "$0")/lib.sh"
[ -x "$BIN/cprof-record" ] || skip_all "the recorder is not built"
umask 022
mode() { stat -c %a "$1"; }
record() { cprof-record -q "$@" -- true >/dev/null; }

record -o "$tmp/one"
is "a capture is for its owner alone" "$(mode "$tmp/one")" 600
record --mode 640 -o "$tmp/group"
is "--mode 640 lets the group read it" "$(mode "$tmp/group")" 640
(umask 077 && record --mode 0644 -o "$tmp/masked")
is "less what the umask takes away" "$(mode "$tmp/masked")" 600
: >"$tmp/there" && chmod 664 "$tmp/there"
record -o "$tmp/there"
is "a file that exists keeps its permissions" "$(mode "$tmp/there")" 664
ln -s "$tmp/target" "$tmp/link"
record -o "$tmp/link"
is "a link to nothing makes the file it names" "$(mode "$tmp/target")" 600
mkdir "$tmp/files"
record --rotate 1s -o "$tmp/files"
is "so are files of --rotate" "$(for f in "$tmp/files"/*; do mode "$f"; done | sort -u)" 600
for m in 0 400 800 777 1600 rw ""; do
	status "--mode \"$m\" is refused" 2 cprof-record --mode "$m" -o "$tmp/none" -- true
done
like "with what is expected" "$(cat "$tmp/err")" 'invalid mode "" \(expected 600, 640 or 644'

if [ "$(id -u)" = 0 ]; then
	(export SUDO_UID=12345 SUDO_GID=12346 && record -o "$tmp/sudo" && record --rotate 1s -o "$tmp/files/s%s.cprof")
	is "under sudo it is the caller's" "$(stat -c %u:%g "$tmp/sudo")" 12345:12346
	is "and so are the files of --rotate" "$(stat -c %u:%g "$tmp/files"/s*)" 12345:12346
	(export SUDO_UID=12345 SUDO_GID=12346 && record -o "$tmp/one")
	is "but not a file that was there" "$(stat -c %u "$tmp/one")" 0
	(export SUDO_UID=-1 SUDO_GID=1x && record -o "$tmp/odd")
	is "a number that is none changes nothing" "$(stat -c %u "$tmp/odd")" 0
fi
done_testing
