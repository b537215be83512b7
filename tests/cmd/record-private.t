#!/bin/sh
# A capture belongs to its owner: nobody else can read it, whatever the umask is, unless --mode allows it.
. "$(dirname "$0")/../lib/lib.sh"
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

# With capabilities from the program's file, a directory that exists only in another user's mount namespace is
# out of reach.
caps=+bpf,+perfmon,+sys_ptrace,+syslog
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && unshare -m true 2>/dev/null && setpriv --inh-caps $caps --ambient-caps $caps true 2>/dev/null; then
	unshare -m sh -c 'mount -t tmpfs none /mnt && chmod 777 /mnt && exec setpriv --reuid 12345 --regid 12345 --clear-groups sleep 100' &
	victim=$!
	until grep -q '^Uid:.12345' /proc/$victim/status && [ "$(cat /proc/$victim/comm)" = sleep ]; do sleep 0.05; done
	as_user() { setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps $caps --ambient-caps $caps "$@"; }
	chmod 755 "$tmp" && mkdir -m 777 "$tmp/open" && cp "$BIN/cprof-record" "$tmp/cprof-record" && chmod 755 "$tmp/cprof-record"
	there=/proc/$victim/root/mnt
	is "a user who has capabilities gets in by them" "$(as_user touch $there/x && ls /proc/$victim/root/mnt)" x
	as_user "$tmp/cprof-record" -q -o $there/one -- true 2>"$tmp/err"
	like "the recorder does not: -o" "$(cat "$tmp/err")" "$there/one: Permission denied"
	as_user "$tmp/cprof-record" -q --rotate 1s -o $there -- true 2>"$tmp/err"
	like "  --rotate" "$(cat "$tmp/err")" "$there: Permission denied"
	as_user "$tmp/cprof-record" -q --metrics $there/m.prom -o "$tmp/open/two" -- true 2>"$tmp/err"
	like "  --metrics" "$(cat "$tmp/err")" "$there/m.prom: Permission denied"
	is "  and nothing of it is there" "$(ls /proc/$victim/root/mnt)" x
	is "but keeps them for what it reads" "$(cprof-dump "$tmp/open/two" | grep -c '^meta key="engine" value="bpf"')" 1
	kill $victim
else
	skip "capabilities of the program's file" "setpriv or unshare"
fi
done_testing
