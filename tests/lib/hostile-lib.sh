# For tests of hostile processes: attacks as other users, and the account of a capture. After lib.sh.

attacks=''
chmod 755 "$tmp"
cp "$BUILD/tests/hostile" "$tmp"

# attack UID COMMAND...: runs a command of the test directory as this user, in a process group of its own
attack() {
	uid=$1 name=$2
	shift 2
	setsid setpriv --reuid "$uid" --regid "$uid" --clear-groups "$tmp/$name" "$@" &
	attacks="$attacks $!"
}
end_attacks() {
	for p in $attacks; do kill -KILL "-$p" 2>/dev/null; done
	wait $attacks 2>/dev/null
	attacks=
}
# wait_for COMMAND...: waits until it succeeds, for a minute
wait_for() {
	tries=0
	until "$@" 2>/dev/null; do
		[ $((tries += 1)) -lt 600 ] || return 1
		sleep 0.1
	done
}
has_lines() { [ "$(wc -l <"$1")" -ge "$2" ]; }
uptime_ms() { awk '{ printf "%.0f\n", 1000 * $1 }' /proc/uptime; }

# account NAME: prints "even" if each expected tick has an outcome, and each emitted one is there
account() {
	cprof-dump "$tmp/$1.bin" 2>/dev/null | awk -F'[ =]' '
		/^segment / { for (k in v) sum[k] += v[k]; split("", v) }
		/^sample / && / event=1 / { samples++ }
		/^ledger / { v[$5 " " $7] = $9 }
		END {
			for (k in v) sum[k] += v[k]
			for (k in sum) {
				split(k, of, " ")
				if (of[2] == "expected") expected += sum[k]
				else if (of[2] != "sideband-lost") known += sum[k]
				if (of[2] == "emitted") emitted += sum[k]
			}
			if (expected > 0 && expected == known && emitted == samples)
				print "even"
			else
				print expected " expected, " known " known, " emitted " emitted, " samples + 0
		}'
}
