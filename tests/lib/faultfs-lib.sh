# A file system with faults (tests/loads/faultfs.c) at $mnt, with the files of $back, and a $recorder.
[ -e /dev/fuse ] || skip_all "no /dev/fuse"
back=$tmp/back mnt='' server='' recorder=''
mkdir "$back"
end_all() {
	for p in $server $recorder; do kill -KILL "$p" 2>/dev/null; done
	wait 2>/dev/null
	[ ! "$mnt" ] || umount -l "$mnt" 2>/dev/null
	server='' recorder=''
}
trap 'end_all; rm -rf "$tmp"' EXIT
# begin NAME: mounts it; one for each fault: a stalled request may hold a directory
begin() {
	end_all
	mnt=$tmp/mnt-$1
	mkdir "$mnt"
	rm -f "$tmp/server"
	"$BUILD/tests/faultfs" "$mnt" "$back" >"$tmp/server" 2>&1 &
	server=$!
	until [ -s "$tmp/server" ]; do sleep 0.05; done
	grep -q ready "$tmp/server"
}
# stall: it answers no request any more; answer_again: until now
stall() { kill -USR2 $server; }
answer_again() {
	kill -USR1 $server
	stat "$mnt/nothing" >/dev/null 2>&1 # the server looks at the signal with its next request
}

# within COMMAND: waits at most a minute until it succeeds
within() { for i in $(seq 600); do eval "$1" && return; sleep 0.1; done; }
until_said() { within "grep -q '$1' '$2' 2>/dev/null"; }
# ended PID: prints "ended" if it ends within a minute
has_ended() { case $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) in '' | Z*) ;; *) return 1 ;; esac; }
ended() { within "has_ended $1"; has_ended "$1" && echo ended; }

# unaccounted FILE...: prints the expected ticks of captures less all of their outcomes
unaccounted() {
	cprof-dump "$@" 2>/dev/null | awk '
		/^segment/ { close_segment() }
		/^ledger/ { split($4, o, "="); split($5, n, "="); at[$3 " " o[2]] = n[2] }
		function close_segment(k, w) {
			for (k in at) {
				split(k, w, " ")
				if (w[2] == "expected") e += at[k]
				else if (w[2] != "sideband-lost" && w[2] != "waits-lost") s += at[k]
			}
			split("", at)
		}
		END { close_segment(); print e - s }'
}
begin first || skip_all "FUSE cannot be mounted: $(head -1 "$tmp/server")"
