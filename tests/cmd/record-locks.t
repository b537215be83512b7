#!/bin/sh
# Locks that threads wait for, and their holders, by the program's own log of each kind of lock.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
locks=$BUILD/tests/locks

# waits FILE: a line "START KIND OWNER" for each long wait for a futex; OWNER is a tid or 0
waits() {
	cprof-dump "$1" | awk '
		{
			for (k in f) delete f[k]
			for (i = 2; i <= NF; i++) {
				p = index($i, "=")
				f[substr($i, 1, p - 1)] = substr($i, p + 1)
			}
		}
		$1 == "segment" { for (k in kind) delete kind[k] }
		$1 == "thread" { tid[f["id"]] = f["tid"] }
		$1 == "lock" { kind[f["id"]] = f["kind"] }
		$1 == "woken" && f["lock"] + 0 {
			start = f["time"] - f["queued"] - f["slept"]
			printf "%.0f %s %d\n", start, kind[f["lock"]], tid[f["owner"]]
		}'
}
# judge: of the waits that began while a thread surely held the lock, prints the right ones and all
judge() {
	sort -n -k 2 "$tmp/log" >"$tmp/sorted"
	awk 'FILENAME ~ /sorted$/ { n++; tid[n] = $1; from[n] = $2; to[n] = $3; next }
		{
			low = 1; high = n
			while (low < high) {
				middle = int((low + high + 1) / 2)
				if (from[middle] <= $1) low = middle; else high = middle - 1
			}
			if (!n || $1 < from[low] || $1 > to[low]) next
			all++
			if ($3 == tid[low]) right++
			else print "# " $0 ", held by " tid[low] >"/dev/stderr"
		}
		END { print right + 0, all + 0 }' "$tmp/sorted" "$tmp/of"
}

# In a table, by name
cprof-record -q --off-cpu=100us -o "$tmp/raw.bin" -- "$locks" mutex 1 >/dev/null 2>&1
cprof-sym "$tmp/raw.bin" 2>/dev/null | cprof-top --by lock -n 1 >"$tmp/got" 2>/dev/null
sed 's/^/# /' "$tmp/got"
like "the mutex comes first, with four threads" "$(cat "$tmp/got")" '  4  mutex 0x[0-9a-f]* of pid [0-9]*$'
like "  they want it in contend, which calls take last" "$(cat "$tmp/got")" \
	'100\.0%  wanted in   (take|contend)$'
like "  release it there" "$(cat "$tmp/got")" 'released in (let_go|contend)$'
like "  and hold it in turns" "$(cat "$tmp/got")" 'held by     locks-[0-9]*/[0-9]*$'
cprof-top --by lock -n 1 "$tmp/raw.bin" >"$tmp/raw" 2>/dev/null
is "  a capture without names shows the same" "$(cat "$tmp/raw")" "$(cat "$tmp/got")"

while read -r load kind; do
	cprof-record -q --off-cpu=100us -o "$tmp/raw.bin" -- "$locks" "$load" 2 >"$tmp/log" 2>"$tmp/err"
	waits "$tmp/raw.bin" >"$tmp/waits"
	grep " $kind " "$tmp/waits" >"$tmp/of"
	set -- $(judge)
	diag "$load: $1 of $2 owners are right"
	ok "$load: there are waits" test "$2" -ge 50
	ok "  the holder is right in at least 99 of 100" test $((100 * $1)) -ge $((99 * $2))
	is "  no wait is for another kind of held lock, but main's for its threads" \
		"$(grep -v " $kind \| futex 0\| join " "$tmp/waits")" ""
done <<-END
	mutex mutex
	recursive mutex
	errorcheck mutex
	pi pi-mutex
	robust robust
	write rwlock
	read rwlock
	join join
END

for load in barrier semaphore condvar; do
	cprof-record -q --off-cpu=100us -o "$tmp/raw.bin" -- "$locks" "$load" 2 >"$tmp/log" 2>"$tmp/err"
	waits "$tmp/raw.bin" >"$tmp/waits"
	ok "$load: there are waits" test "$(grep -c ' futex 0$' "$tmp/waits")" -ge 50
	# The mutex of a condition variable is held by threads that return from it.
	[ "$load" = condvar ] && except=' mutex ' || except='no'
	is "  none has a holder" "$(grep -v " futex 0\$\|$except" "$tmp/waits")" ""
done

# Numbers of another PID namespace: 2 to 5 are threads of the kernel here.
if [ -d /proc/5 ] && unshare -p -f true 2>/dev/null; then
	cprof-record -q --off-cpu=100us -o "$tmp/raw.bin" -- unshare -p -f "$locks" robust 2 >"$tmp/log" \
		2>"$tmp/err"
	waits "$tmp/raw.bin" >"$tmp/waits"
	ok "another PID namespace: there are waits" test "$(grep -c ' futex 0$' "$tmp/waits")" -ge 50
	is "  none has a holder" "$(grep -v ' futex 0$' "$tmp/waits")" ""
else
	skip "locks of another PID namespace" "there is none, or no threads of the kernel"
fi

# Waits that lock nothing, by the names of their functions, have no holder: a program of condition variables,
# and runtimes.
command -v python3 >/dev/null || { skip "waits that lock nothing" "python3 is not here"; done_testing; }
others=0
# judged TEXT COMMAND...: adds to others
judged() {
	text=$1
	shift
	cprof-record -q --off-cpu=100us -o "$tmp/raw.bin" -- "$@" >"$tmp/out" 2>&1
	cprof-sym "$tmp/raw.bin" 2>/dev/null | cprof-dump | python3 "$here/futex-waits.py" >"$tmp/judged" 2>"$tmp/held"
	if [ ! -s "$tmp/judged" ]; then
		skip "$text" "no names of glibc's functions"
		return
	fi
	read -r n held locks <"$tmp/judged"
	is "$text: none of $n waits that lock nothing has a holder; $locks waits are for locks" "$held" 0
	[ ! -s "$tmp/held" ] || diag "$(cut -c 1-300 "$tmp/held" | head -n 5)"
	others=$((others + n))
}
judged "a condition variable" "$locks" condvar 6
if command -v node >/dev/null; then
	cat >"$tmp/wait.js" <<-'END'
		const fs = require('fs');
		const read = () => fs.readFile('/etc/passwd', () => setTimeout(read, 1));
		for (let i = 0; i < 8; i++) read();
		setTimeout(() => process.exit(0), 4000);
	END
	judged "node" node "$tmp/wait.js"
else
	skip "holders in node" "it is not here"
fi
if command -v javac >/dev/null && javac -d "$tmp" "$tests/loads/Known.java" 2>/dev/null; then
	judged "java" java -cp "$tmp" Known 3
else
	skip "holders in java" "it is not here"
fi
# The more of them, the more could be held by chance.
[ $others = 0 ] || ok "$others waits were judged" test $others -ge 4000
done_testing
