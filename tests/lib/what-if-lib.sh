# Programs in which one function takes a given part of its time, recorded as they are and run with half of it.
chrt -r 5 true 2>/dev/null || skip_all "no real-time scheduling here"
[ "$(nproc)" -ge 2 ] || skip_all "one CPU"

# undisturbed FILE: the program took hardly longer than on free CPUs, by its own clock
undisturbed() { awk '{ good = $1 < 1.06 * $2 } END { exit !good }' "$1"; }
# measure PROGRAM SHAPE N: records the slow program and runs the fast one, until neither was disturbed; false:
# never
measure() {
	for _ in 1 2 3 4 5 6; do
		cprof-record -q --off-cpu -F 499 -o "$tmp/raw.bin" -- \
			chrt -r 5 "$1" "$2" "$3" 100 >"$tmp/slow" 2>"$tmp/err" || diag "$(cat "$tmp/err")"
		undisturbed "$tmp/slow" || continue
		chrt -r 5 "$1" "$2" "$3" 50 >"$tmp/fast"
		undisturbed "$tmp/fast" && return 0
	done
	return 1
}
