#!/bin/sh
# Dithered sampling: periods, the mean rate and weights with a simulated timer; then programs whose own period
# is the sampler's.
. "$(dirname "$0")/../lib/lib.sh"
of() { echo "$2" | tr ' ' '\n' | sed -n "s/^$1=//p"; } # NAME LINE
between() { # NAME VALUE LEAST MOST
	if [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; then pass "$1"; else fail "$1"; diag "$2 is not between $3 and $4"; fi
}

for hertz in 99 997 19999; do
	line=$("$BUILD/tests/record-dither" $hertz 600)
	period=$((1000000000 / hertz))
	between "$hertz Hz: ticks in 600 s, per mille of those asked for" $(($(of ticks "$line") * 1000 / hertz / 600)) 995 1005
	between "  the sum of their weights less their time, half periods" \
		$((($(of sum "$line") - $(of time "$line")) * 2 / period)) -2 2
	between "  the shortest period, percent" $(($(of shortest "$line") * 100 / period)) 88 93
	between "  the longest period, percent" $(($(of longest "$line") * 100 / period)) 107 112
	between "  changes of the period a second, in tenths" $(($(of changes "$line") / 60)) 10 20
	between "  ticks that have a weight of their own, percent" $(($(of own "$line") * 100 / $(of ticks "$line"))) 5 25
done
# Programs of four periods in 50 phases each, 20 s long. Chance alone is one point at 99 Hz, as 1980 samples
# of a half have; 21 recordings are made, and the worst phase of the median one counts.
for hertz in 99 997; do
	for ns in 10101010 10000000 1003009 1000000; do
		for i in $(seq 21); do "$BUILD/tests/record-dither" $hertz 20 $ns; done >"$tmp/lines"
		error=$(sed 's/.* error=//' "$tmp/lines" | sort -n | sed -n 11p)
		between "$hertz Hz, a period of $ns ns in any phase: error of a share, per mille" "$error" 0 30
		time=$(sed 's/.*sum=\([0-9]*\).*/\1/' "$tmp/lines" | sort -n | sed -n 11p)
		between "  its CPU time, in ms of 20 s" $((time / 1000000)) 19400 20600
	done
done
line=$("$BUILD/tests/record-dither" 1 6000)
between "1 Hz: ticks in 6000 s" "$(of ticks "$line")" 5950 6050
line=$("$BUILD/tests/record-dither" 99 600 fixed)
is "--no-dither: the period never changes" "$(of changes "$line") $(of shortest "$line") $(of longest "$line")" "0 10101010 10101010"
is "  and each tick weighs that" "$(of own "$line")" 0

may_record_all
# Programs that spend half of their period in one function, and the other half in another. The time spent in
# each is known.
shares() { # FILE: nanoseconds in both halves, and the first's share in per mille, from the capture
	cprof-sym <"$1" 2>/dev/null | cprof-fold --weight ns 2>/dev/null |
		awk '/;first_half/ { f += $NF } /;second_half/ { s += $NF } END { printf "%.0f %.0f\n", f + s, f * 1000 / (f + s) }'
}
steps() { # HERTZ NS [OPTION]: sets $spent, $sampled, $true_share, $share
	cprof-record -q -F "$1" ${3:+$3} -o "$tmp/step.bin" -- "$BUILD/tests/burn" step 8 "$2" \
		>"$tmp/spent" 2>"$tmp/err"
	read -r first second <"$tmp/spent"
	spent=$((first + second)) true_share=$((first * 1000 / spent))
	line=$(shares "$tmp/step.bin")
	sampled=${line% *} share=${line#* }
}
for at in 99:10101010 99:10000000 997:1003009 997:1000000; do
	steps "${at%:*}" "${at#*:}"
	between "a program of a period of ${at#*:} ns at ${at%:*} Hz: the share of its first half" "$share" $((true_share - 70)) $((true_share + 70))
	between "  its CPU time, percent of what it spent" $((sampled * 100 / spent)) 88 112
done
status "--no-dither" 0 cprof-record -a --no-dither -o "$tmp/fixed.bin" 0.5
is "  no sample has a weight of its own" "$(cprof-dump "$tmp/fixed.bin" | grep '^sample' | grep -vc 'weight=10101010$')" 0
status "a dithered recording" 0 cprof-record -F 997 -o "$tmp/moved.bin" -- "$BUILD/tests/burn" step 3 1000000
if [ "$(cprof-dump "$tmp/moved.bin" | grep '^sample' | grep -vc 'weight=1003009$')" -gt 20 ]; then
	pass "  has some that do"
else
	fail "  has some that do"
fi
is "  and says that its rate is the one asked for" \
	"$(cprof-dump "$tmp/moved.bin" | sed -n 's/^event id=1 .*\(period=.*\)/\1/p' | head -n 1)" "period=1003009 millihertz=997000"
awk '/^ledger/ { split($4, o, "="); split($5, n, "="); at[$3 " " o[2]] = n[2] }
	END { for (k in at) { split(k, w, " "); if (w[2] == "expected") e += at[k]
		else if (w[2] != "sideband-lost" && w[2] != "waits-lost") s += at[k] } print e - s }' >"$tmp/sum" <<END
$(cprof-dump "$tmp/moved.bin")
END
is "  its ledger adds up" "$(cat "$tmp/sum")" 0
done_testing
