#!/bin/sh
# The cost of frames of interpreted languages: two busy Python programs with stacks of several depths,
# recorded in turns with --lang none and with --lang python. Requires root. About a minute:
#
#	[BENCH_HERTZ=99] [BENCH_ROUNDS=5] BIN=build/bin BUILD=build tests/bench/lang.sh
#
# Prints the BPF program's time per sample in ns, as the median of the rounds, and the cost of the recorder
# and its program in percent of a CPU per CPU once started. Fails if a frame costs more than 150 ns or a
# sample more than 1.5 us beyond that, the limits of the page. Only the differences between rows of one run
# say something: the machine's own noise is in each.
# shellcheck disable=SC2154 # lib.sh sets here, top and tmp
. "$(dirname "$0")/../lib/lib.sh"
python=${PYTHON:-/usr/bin/python3}
[ "$(id -u)" = 0 ] || { echo "root only" >&2; exit 1; }
command -v "$python" >/dev/null || { echo "no $python" >&2; exit 1; }
hz=${BENCH_HERTZ:-99} rounds=${BENCH_ROUNDS:-5}

cat >"$tmp/deep.py" <<'END'
import sys, time
def down(n):
    if n:
        return down(n - 1)
    end = time.monotonic() + 4
    while time.monotonic() < end:
        for i in range(1000):
            pass
sys.setrecursionlimit(2000)
down(int(sys.argv[1]))
END

# costs LANG DEPTH: prints ns a sample, and the cost in percent
costs() {
	cprof-record --lang "$1" -F "$hz" -o "$tmp/x.bin" -- \
		sh -c '"$0" "$1" "$2" & "$0" "$1" "$2"; wait' "$python" "$tmp/deep.py" "$2" 2>"$tmp/summary"
	cprof-dump "$tmp/x.bin" | sed -n 's/^cost .*what=\(bpf-[nr][a-z]*\) count=\([0-9]*\).*/\1 \2/p' |
		awk '{ last[$1] = $2 } END { printf "%.0f ", last["bpf-ns"] / last["bpf-runs"] }'
	sed -n 's/.* in BPF between = \([0-9.]*\) %.*/\1/p' "$tmp/summary"
}

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

"$python" --version
printf '%-8s %14s %14s %12s %10s %10s\n' frames "none ns/sample" "lang ns/sample" "ns/frame" "none %" "lang %"
for depth in 5 30 100; do
	: >"$tmp/none" >"$tmp/lang"
	for round in $(seq "$rounds"); do
		costs none $depth >>"$tmp/none"
		costs python $depth >>"$tmp/lang"
	done
	echo "$depth $(cut -d' ' -f1 "$tmp/none" | median) $(cut -d' ' -f1 "$tmp/lang" | median)" \
		"$(cut -d' ' -f2 "$tmp/none" | median) $(cut -d' ' -f2 "$tmp/lang" | median)"
done | awk '{ printf "%-8d %14d %14d %12.0f %10s %10s\n", $1, $2, $3, ($3 - $2) / $1, $4, $5
		extra = $3 - $2
		if (extra > 1500 + 150 * ($1 + 2)) { print "more than 1.5 us and 150 ns a frame"; bad = 1 } }
	END { exit bad }'
