#!/bin/sh
# Processes come and go, with always new programs, files and mappings: the recorder must not grow, in its
# memory and in the kernel's. 20 seconds; `make soak-unwind` takes ten minutes. The measurements are at the
# end of its output.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/tables-lib.sh"
: "${SOAK_SECONDS:=20}"
maps=$BUILD/tests/bpfmaps storm=$BUILD/tests/storm burn=$BUILD/tests/burn chain=$BUILD/frameless/chain
needs_tables chain

# The programs run several at once, until the file "stop" exists.
running() { [ ! -e "$tmp/stop" ]; }
execs() { while running; do for i in 1 2 3 4 5 6 7 8; do ls -l / >/dev/null; awk 'BEGIN { for (i = 0; i < 9999; i++) s += i }'; "$burn" brief 3; done; done; }
languages() {
	printf 'int f(int x) { return x * 3; }\n' >"$tmp/y.c"
	while running; do
		python3 -c 'import json; [json.dumps(list(range(999))) for i in range(99)]'
		perl -e 'my %h; $h{$_ % 997} .= $_ for 1 .. 30000'
		${CC:-cc} -O1 -c -o "$tmp/y.o" "$tmp/y.c"
		git --version >/dev/null 2>&1
	done
}
forks() { while running; do "$chain" forks 10; "$storm" exec 5 >/dev/null; done; }
mappings() { while running; do "$storm" map 300 >/dev/null; sleep 0.2; done; }
# files: each run uses a new file, which has its own table, and is deleted afterwards.
files() {
	n=0
	while running; do
		cp "$chain" "$tmp/new-$n"
		"$tmp/new-$n" deep 40 0.02
		rm "$tmp/new-$n"
		n=$((n + 1))
	done
}

cprof-record -F 499 -a --unwind-mem 16M -o "$tmp/churn.bin" 2>"$tmp/err" &
recorder=$!
sleep 1
for w in execs languages forks mappings files; do
	($w) >/dev/null 2>&1 &
done

# measure SECONDS: appends seconds, memory in kB, maps, processes in "spaces", and the ended ones of those
measure() {
	echo "$1 $(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$recorder/status) $("$maps" of $recorder)" >>"$tmp/measured"
}
began=$(date +%s)
# At least 12 times, however busy the machine is
times=0
while at=$(($(date +%s) - began)) && { [ $at -lt "$SOAK_SECONDS" ] || [ $times -lt 12 ]; }; do
	measure $at
	times=$((times + 1))
	sleep 0.5
done
lasted=$at
: >"$tmp/stop"
sleep 1
"$maps" dead $recorder | sort >"$tmp/dead"
sleep 4
"$maps" dead $recorder | sort | comm -12 "$tmp/dead" - >"$tmp/forgotten"
measure "$(($(date +%s) - began))"
"$maps" list $recorder >"$tmp/maps"
kill -INT $recorder
wait $recorder
is "$SOAK_SECONDS seconds of churn" $? 0
wait

diag "$(cat "$tmp/err")"
# quarter N COLUMN: prints the greatest value in that quarter of the time
quarter() {
	awk -v q="$1" -v c="$2" -v n="$lasted" '$1 >= (q - 1) * n / 4 && $1 < q * n / 4 && $c > m { m = $c }
		END { print m + 0 }' "$tmp/measured"
}
for q in 1 2 3 4; do
	diag "quarter $q: $(quarter $q 2) kB of memory, $(quarter $q 3) maps, $(quarter $q 4) processes known to BPF, $(quarter $q 5) of them no more"
done
# bounded DESCRIPTION VALUE LIMIT
bounded() { if [ "$2" -gt 0 ] && [ "$2" -le "$3" ]; then pass "$1"; else fail "$1"; diag "$2, more than $3"; fi; }
if sanitized; then
	skip "its memory does not grow" "freed memory is the sanitizer's"
else
	# From the second quarter on, because all programs have been seen by then. The data of a segment grows
	# until it ends, and a burst needs memory for a while: 23 MB were seen of both.
	bounded "its memory does not grow" "$(quarter 4 2)" $(($(quarter 2 2) * 5 / 4 + 24000))
fi
# Each MiB of the budget is one map at most. The first count may come before maps of languages.
bounded "nor does the number of its tables' maps, beyond the budget" "$(quarter 4 3)" \
	$(($(head -n 1 "$tmp/measured" | cut -d' ' -f3) + 16))
is "BPF forgets those that are no more: of $(grep -c . "$tmp/dead") some seconds later none is there" "$(cat "$tmp/forgotten")" ""
tries=0
while [ -n "$("$maps" alive $(cat "$tmp/maps"))" ] && [ $((tries = tries + 1)) -lt 50 ]; do sleep 0.1; done
is "its $(grep -c . "$tmp/maps") maps are gone with it" "$("$maps" alive $(cat "$tmp/maps"))" ""

# Each tick has an outcome. The ledger starts again with each segment.
cprof-dump "$tmp/churn.bin" >"$tmp/dump"
sum=$(awk '/^segment/ { for (k in v) all[k] += v[k]; split("", v) }
	/^ledger/ { split($3, c, "="); split($4, o, "="); split($5, n, "="); v[c[2] " " o[2]] = n[2] }
	END { for (k in v) all[k] += v[k]; for (k in all) { split(k, a, " ")
		if (a[2] == "expected") e += all[k]; else if (a[2] != "sideband-lost") s += all[k] }
		print e + 0, s + 0 }' "$tmp/dump")
is "every tick has an outcome: ${sum% *} of them" "$(echo "$sum" | awk '{ d = $1 - $2; print ($1 > 100 && d >= -4 && d <= 4) }')" 1
like "nothing is lost" "$(cat "$tmp/err")" '; nothing lost'
# The kernel half of execve and exit has no user stack, and a file that is removed at once has no table.
cprof-sym "$tmp/churn.bin" 2>/dev/null | cprof-fold -U --truncated |
	grep -E '^(ls|m?awk|gawk|burn|cp|rm|perl|python3[^;]*|git|cc1|as|gcc|collect2|chain|storm|new-[0-9]*);' >"$tmp/folded"
ends=$(awk '{ n = $NF; all += n; split($0, s, ";"); end = s[2] ~ /^\[truncated/ ? s[2] : "whole"; sub(/ [0-9]+$/, "", end); sum[end] += n }
	END { for (e in sum) printf "%.1f %% %s\n", 100 * sum[e] / all, e }' "$tmp/folded" | sort -nr)
diag "$ends"
if sanitized; then
	skip "and most stacks of these programs are whole" "the sanitizer's own work is sampled too"
else
	# nine in ten, on a machine without other load
	like "and most stacks of these programs are whole" "$(echo "$ends" | head -n 1)" '^(7[5-9]|[89][0-9]|100)\.[0-9] % whole'
fi
done_testing
