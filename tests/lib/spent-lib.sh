# The cost of a recording, by the recorder's own account: . "$(dirname "$0")/../lib/spent-lib.sh"

# spent SECONDS [RECORD]: reads the text of a capture. Prints the cost records' counts at the end, less those
# after that many seconds, as "WHAT COUNT", the time between as "time NS", and the number of such records
# between as "RECORD COUNT".
spent() {
	awk -v seconds="$1" -v record="${2:-cost}" '
		$1 == record { seen++ }
		$1 != "cost" || $2 !~ /^time=/ { next }
		substr($2, 6) != time && time { at() }
		substr($2, 6) != time { time = substr($2, 6); then = seen }
		{ now[substr($3, 6)] = substr($4, 7) }
		function at(  w) {
			if (!first) first = time
			if (!since && time >= first + seconds * 1e9) {
				since = time
				before = seconds ? then : 0
				for (w in now) base[w] = seconds ? now[w] : 0
			}
			last = time
			until = then
			for (w in now) end[w] = now[w]
		}
		END {
			at()
			printf "time %.0f\n", last - since
			if (record != "cost") print record, until - before
			for (w in end) printf "%s %.0f\n", w, end[w] - base[w]
		}'
}
