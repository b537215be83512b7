#!/bin/sh
# Code of JIT compilers: its names are recorded while the process lives, as of the time of each sample.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
jit=$BUILD/tests/jit

# share NAME: percent of the samples of jit whose innermost user function is NAME
share() { awk -v f="$1" '{ n = $NF; sub(/ [0-9]+$/, ""); all += n; k = split($0, s, ";"); if (s[k] == f) hit += n }
	END { printf "%.0f", all ? 100 * hit / all : 0 }' "$tmp/folded"; }
about_half() { if [ "$2" -ge 35 ] && [ "$2" -le 65 ]; then pass "$1"; else fail "$1"; diag "$2 %"; diag "$(head "$tmp/folded")"; fi; }
fold() { cprof-sym "$tmp/c.bin" 2>"$tmp/err" | cprof-fold -U --comm jit >"$tmp/folded"; }

cprof-record -q -F 499 --metrics "$tmp/m.prom" -o "$tmp/c.bin" -- "$jit" 2
fold
about_half "the first name, for the time it was right" "$(share first_name)"
about_half "then the second, of the same address" "$(share second_name)"
is "by the same address" "$(cprof-sym "$tmp/c.bin" 2>/dev/null | cprof-dump | sed -n 's/^symbol frame=\([0-9]*\) .*source=perfmap.*/\1/p' | sort | uniq -c | awk '$1 > 1' | wc -l | awk '{ print ($1 > 0) }')" 1
is "marked as such" "$(cprof-sym "$tmp/c.bin" 2>/dev/null | cprof-fold -U -a | tr ';' '\n' | sed 's/ [0-9]*$//' | grep _name | sort -u | tr '\n' ' ')" "first_name_[j] second_name_[j] "
like "whose addresses are in memory without a file" "$(cat "$tmp/m.prom")" '^cprof_record_addresses_total[{]where="memory",unresolved="0"[}] [1-9]'

# A map written at exit, when the recording goes on and when it ends
whole() { cprof-sym "$tmp/c.bin" 2>/dev/null | cprof-fold -U --comm jit >"$tmp/folded"; rm -f "$(cat "$tmp/map")"; [ "$(share late_name)" -gt 80 ] && echo most; }
cprof-record -q -F 499 -o "$tmp/c.bin" -- sh -c 'echo "/tmp/perf-$$.map" >"$1"; exec "$0" 1 late' "$jit" "$tmp/map"
is "a map that is written at the exit, with which the recording ends" "$(whole)" most
cprof-record -q -F 499 -o "$tmp/c.bin" -- sh -c '"$0" 1 late & echo "/tmp/perf-$!.map" >"$1"; wait; sleep 4' "$jit" "$tmp/map"
is "  and where it goes on" "$(whole)" most

# In a container, both the PID and /tmp are different.
if unshare --pid --mount --fork true 2>/dev/null; then
	cprof-record -q -F 499 -o "$tmp/c.bin" -- unshare --pid --mount --fork sh -c \
		'exec 3<"$1" && mount -t tmpfs none /tmp && cat <&3 >/tmp/jit && chmod 755 /tmp/jit && exec /tmp/jit 2' sh "$jit"
	fold
	about_half "in a container: the first name" "$(share first_name)"
	about_half "in a container: the second" "$(share second_name)"
else
	skip "in a container" "unshare is refused"
fi

# node, if it is installed
if command -v node >/dev/null; then
	cat >"$tmp/x.js" <<-'END'
	function hotLoop(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; }
	const until = Date.now() + 1500;
	let x = 0;
	while (Date.now() < until) x ^= hotLoop(100000);
	process.exit(x === 1.5 ? 1 : 0);
	END
	(cd "$tmp" && cprof-record -q --lang none -F 499 -o c.bin -- node --perf-basic-prof x.js)
	like "a function of node by name" "$(cprof-sym "$tmp/c.bin" 2>/dev/null | cprof-fold -U)" '^node;.*JS:.*hotLoop'
else
	skip "a function of node by name" "node is not here"
fi
done_testing
