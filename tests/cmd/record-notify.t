#!/bin/sh
# Messages to a service manager: when the recorder samples, that it is alive and its status, that it ends; and
# none from one that is stuck.
. "$(dirname "$0")/../lib/lib.sh"
[ -x "$BIN/cprof-record" ] || skip_all "the recorder is not built"
"$BUILD/tests/burn" threads 100 >"$tmp/pids" & # -p: users may record their own processes
busy=$!
trap 'kill $busy $manager 2>/dev/null; rm -rf "$tmp"' EXIT
manager=
cprof-record -q -p $busy 0.1 >"$tmp/try" 2>"$tmp/err" || skip_all "$(head -n 1 "$tmp/err")"

# manager NAME: listens there and writes to $tmp/heard: seconds since it began, and the datagram as one line
manager() {
	python3 - "$1" "$tmp/heard" <<-'END' &
		import os, socket, sys, time
		s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		s.bind(sys.argv[1].replace("@", "\0", 1))
		s.settimeout(60)
		with open(sys.argv[2], "w", buffering=1) as f:
		    began = time.monotonic()
		    while True:
		        text = s.recv(4096).decode()
		        f.write("%.2f %s\n" % (time.monotonic() - began, text.replace("\n", " ")))
	END
	manager=$!
	tries=0
	until [ -e "$tmp/heard" ] || [ $((tries = tries + 1)) -gt 100 ]; do sleep 0.1; done
}
end_manager() { kill $manager; wait $manager 2>/dev/null; manager=; rm -f "$tmp/socket"; mv "$tmp/heard" "$tmp/said"; }

manager "$tmp/socket"
NOTIFY_SOCKET=$tmp/socket WATCHDOG_USEC=2000000 status "a recording that is watched over" 0 cprof-record -q -p $busy -o "$tmp/c.bin" 3.5
end_manager
is "says first that it samples" "$(sed -n '1s/^[^ ]* //p' "$tmp/said")" READY=1
is "  and last that it ends" "$(sed -n '$s/^[^ ]* //p' "$tmp/said")" STOPPING=1
is "  and that it lives, each second as that is half of the two" "$(grep -c WATCHDOG=1 "$tmp/said" | awk '{ print ($1 >= 2 && $1 <= 4) }')" 1
like "  and how it goes" "$(cat "$tmp/said")" '^[0-9.]+ WATCHDOG=1 STATUS=99 Hz, [1-9][0-9]* samples, 0 lost; cost [0-9.]+ % of a CPU per CPU$'

manager "@cprof-test-$$"
NOTIFY_SOCKET=@cprof-test-$$ cprof-record -q -p $busy -o "$tmp/c.bin" 1.5
end_manager
is "an abstract socket; without a watchdog a status now and then" "$(awk '{ printf "%s,", substr($2, 1, 10) }' "$tmp/said")" "READY=1,WATCHDOG=1,STOPPING=1,"

# A stuck recorder is recognized by its silence.
manager "$tmp/socket"
NOTIFY_SOCKET=$tmp/socket WATCHDOG_USEC=2000000 cprof-record -q -p $busy -o "$tmp/c.bin" 60 &
recorder=$!
tries=0
until grep -q WATCHDOG "$tmp/heard" || [ $((tries = tries + 1)) -gt 100 ]; do sleep 0.1; done
kill -STOP $recorder
sleep 0.2
before=$(wc -l <"$tmp/heard")
sleep 3
is "one that is stuck is not heard of" "$(wc -l <"$tmp/heard")" "$before"
kill -CONT $recorder
sleep 2.5
is "  until it goes on" "$(($(wc -l <"$tmp/heard") > before))" 1
kill -INT $recorder
wait $recorder
end_manager

# Another process's watchdog, and commands that must not have the socket
manager "$tmp/socket"
mkdir "$tmp/to"
NOTIFY_SOCKET=$tmp/socket WATCHDOG_USEC=2000000 WATCHDOG_PID=1 cprof-record -q -p $busy --rotate 1s -o "$tmp/to" \
	--on-rotate 'env >>"'"$tmp"'/env"' 2.5
end_manager
is "the watchdog of another process is none of ours" "$(grep -c WATCHDOG=1 "$tmp/said")" 1
is "commands of --on-rotate know no socket" "$(grep -c 'PATH=' "$tmp/env" | awk '{ print ($1 > 0) }')-$(grep -c 'NOTIFY\|WATCHDOG' "$tmp/env")" 1-0
NOTIFY_SOCKET=$tmp/socket cprof-record -q -o "$tmp/c.bin" -- sh -c 'echo $NOTIFY_SOCKET' >"$tmp/env"
is "a command that is recorded has its own to say" "$(cat "$tmp/env")" "$tmp/socket"
for none in "$tmp/nobody" x @ "/$(printf '%0200d' 1)"; do
	NOTIFY_SOCKET=$none cprof-record -q -p $busy -o "$tmp/c.bin" 0.2 2>"$tmp/err"
	is "nobody there: ${none##*/}" "$? $(cat "$tmp/err")" "0 "
done
done_testing
