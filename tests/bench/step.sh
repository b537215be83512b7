#!/bin/sh
# Shares of programs whose own period is that of the sampler, or near it: half of each period in one function,
# half in another. Sampled by cprof-record, cprof-record --no-dither and perf record, at the same time on the
# same program. Two and a half minutes:
#
#	[BENCH_SECONDS=20] BIN=build/bin BUILD=build tests/bench/step.sh
#
# The program reports the CPU time it spent in each half. Cells: the share of the first half that a sampler
# shows, and the CPU time of the process that it shows, in percent of the time spent. Fails if a share of
# cprof-record is off by more than 3 points, or its CPU time by more than 3 %. Requires root, and a machine
# with no other load.
set -u
tests=$(cd "$(dirname "$0")/.." && pwd)
: "${BIN:=$(dirname "$tests")/build/bin}" "${BUILD:=$(dirname "$tests")/build}" "${BENCH_SECONDS:=20}"
PATH=$BIN:$PATH
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
command -v perf >/dev/null && perf --version | sed 's/^/beside /'
halves() { awk '/first_half/ { f += $NF } /second_half/ { s += $NF } { all += $NF } END { printf "%.0f %.0f %.0f\n", f, s, all }'; }
cell() { # FIRST SECOND ALL TRUE-FIRST TRUE-SECOND
	awk -v f="$1" -v s="$2" -v all="$3" -v tf="$4" -v ts="$5" \
		'BEGIN { if (f + s) printf "%5.1f %% %6.1f %%", f * 100 / (f + s), all * 100 / (tf + ts); else printf "-" }'
}
bad=0
printf '%-24s %7s   %-16s %-16s %s\n' program truth cprof-record --no-dither perf
for at in 99:10101010 99:10000000 99:1003009 99:1000000 997:10101010 997:10000000 997:1003009 997:1000000; do
	hertz=${at%:*} period=${at#*:}
	"$BUILD/tests/burn" step "$BENCH_SECONDS" "$period" >"$tmp/spent" &
	step=$!
	cprof-record -q -F "$hertz" -p $step -o "$tmp/moved" &
	cprof-record -q -F "$hertz" --no-dither -p $step -o "$tmp/fixed" &
	if command -v perf >/dev/null; then perf record -q -e cpu-clock -F "$hertz" -p $step -o "$tmp/perf" 2>/dev/null & fi
	wait
	read -r first second <"$tmp/spent"
	for one in moved fixed; do
		cprof-sym <"$tmp/$one" 2>/dev/null | cprof-fold --weight ns 2>/dev/null | halves >"$tmp/$one.halves"
	done
	echo '0 0 0' >"$tmp/perf.halves"
	[ ! -e "$tmp/perf" ] || perf script -i "$tmp/perf" -F ip,sym,period 2>/dev/null | awk '{ print $3, $1 }' | halves >"$tmp/perf.halves"
	read -r f s all <"$tmp/moved.halves"
	printf '%-24s %5.1f %%   %-16s %-16s %s\n' "$period ns at $hertz Hz" \
		"$(awk -v f="$first" -v s="$second" 'BEGIN { print f * 100 / (f + s) }')" "$(cell "$f" "$s" "$all" "$first" "$second")" \
		"$(cell $(cat "$tmp/fixed.halves") "$first" "$second")" "$(cell $(cat "$tmp/perf.halves") "$first" "$second")"
	awk -v f="$f" -v s="$s" -v tf="$first" -v all="$all" -v ts="$second" 'BEGIN { share = (f / (f + s) - tf / (tf + ts)) * 100
		time = (all / (tf + ts) - 1) * 100; exit share * share > 9 || time * time > 9 }' || bad=$((bad + 1))
	rm -f "$tmp/perf"
done
[ $bad = 0 ] || { echo "bench-step: $bad of 8 programs are off by more than 3 points or 3 %" >&2; exit 1; }
