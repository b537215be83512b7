#!/bin/sh
# The cost of walking user stacks by tables: BPF time for a sample and for a frame, beside bpf_get_stack,
# which follows frame pointers, on the same stacks; memory; and the whole recorder on a program without frame
# pointers. Requires root. About ten minutes:
#
#	[BENCH_SECONDS=20] [BENCH_ROUNDS=5] BIN=build/bin BUILD=build \
#		tests/bench/unwind.sh [walk|memory|cost]...
: "${BENCH_ROUNDS:=5}"
. "$(dirname "$0")/../lib/cost-lib.sh"
[ $# -gt 0 ] || set -- walk memory cost

claim() { # WHAT VALUE MOST UNIT
	awk -v what="$1" -v value="$2" -v most="$3" -v unit="$4" 'BEGIN {
		printf "  %-58s %7.2f%s, claimed: at most %g%s: %s\n", what, value, unit, most, unit,
			(value <= most ? "met" : "not met") }'
}

median() { sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# time_of CAPTURE: BPF time by the program's own clock, in the steady part: from the first ledger after a
# second on, when tables and mappings are known. Ticks that found another thread are subtracted, at $filtered
# ns each. Prints ns a sample and the frames of its stack.
time_of() {
	cprof-dump "$1" | awk -v filtered="$filtered" '
	$1 == "meta" && $2 == "key=\"start-monotonic-ns\"" { split($3, v, "\""); start = v[2] }
	$1 == "ledger" || $1 == "cost" {
		time = substr($2, 6)
		if (!base && seen && time != seen && seen - start > 9e8) {
			base = 1
			ns0 = ns; for (c in taken) taken0 += taken[c]; for (c in other) other0 += other[c]
		}
		seen = time
		n = substr($NF, 7) + 0
	}
	$4 == "outcome=emitted" { taken[$3] = n }
	$4 == "outcome=filtered" { other[$3] = n }
	$1 == "cost" && $3 == "what=bpf-ns" { ns = n }
	END {
		for (c in taken) all += taken[c]
		for (c in other) others += other[c]
		if (all > taken0) printf "%.1f ", (ns - ns0 - filtered * (others - other0)) / (all - taken0)
	}'
	cprof-fold "$1" | awk '{ n += $NF; f += (split($0, a, ";") - 1) * $NF } END { print f / n }'
}

# The cost of a tick that finds a thread not asked for
measure_filtered() {
	cprof-record -q -F 999 -p $$ -o "$tmp/f" 2
	cprof-dump "$tmp/f" | awk '$3 == "what=bpf-ns" { ns = substr($4, 7) } $3 == "what=bpf-runs" { runs = substr($4, 7) }
		END { print runs ? ns / runs : 0 }'
}

# walk_once WAY DEPTH: user stacks only, on one CPU
walk_once() {
	cprof-record -q -U -F 999 -C $((cpus - 1)) --unwind "$1" -o "$tmp/d" -- \
		taskset -c $((cpus - 1)) "$BUILD/tests/bench-deep" "$2" 2.3
	time_of "$tmp/d" >>"$tmp/$1.$2"
}

walk() {
	depths='5 15 55 195'
	echo "-- BPF time a sample, user stacks of a program with frame pointers, $BENCH_ROUNDS rounds, medians"
	filtered=$(measure_filtered)
	for _ in $(seq "$BENCH_ROUNDS"); do
		for depth in $depths; do walk_once fp "$depth"; walk_once table "$depth"; done
	done
	for depth in $depths; do
		for way in fp table; do
			echo "$way $(awk '{ print $2 }' "$tmp/$way.$depth" | median) $(awk '{ print $1 }' "$tmp/$way.$depth" | median)"
		done
	done >"$tmp/walks"
	awk '$1 == "fp" { f = $2; t = $3; next }
		{ printf "  %5.0f frames by table %7.2f us   %5.0f by frame pointers %7.2f us   ratio %.2f\n", $2, $3 / 1e3, f, t / 1e3, $3 / t }' "$tmp/walks"
	claim 'times as long as by frame pointers, 20 frames' "$(awk 'NR == 3 { t = $3 } NR == 4 { print $3 / t }' "$tmp/walks")" 2 ''
	claim 'times as long as by frame pointers, 60 frames' "$(awk 'NR == 5 { t = $3 } NR == 6 { print $3 / t }' "$tmp/walks")" 2 ''
	claim 'ns a frame by table, from 20 to 200 frames' \
		"$(awk 'NR == 4 { f = $2; t = $3 } NR == 8 { print ($3 - t) / ($2 - f) }' "$tmp/walks")" 200 ''
}

# maps_of PID: kernel memory by the kernel's account, of maps and of the BPF ring, and bytes of perf rings.
# Maps of tables have no descriptor: they are counted by their memory mappings, an MiB and a page each.
maps_of() {
	awk -v pid="$1" '
	function take() {
		if (type == "" || id in seen) return
		seen[id] = 1
		if (type == 27) ring += memlock; else maps += memlock
		if (value == 1048576) whole++
	}
	FNR == 1 { take(); type = id = value = memlock = "" }
	$1 == "map_type:" { type = $2 }
	$1 == "value_size:" { value = $2 }
	$1 == "memlock:" { memlock = $2 }
	$1 == "map_id:" { id = $2 }
	END {
		take()
		while ((getline line < ("/proc/" pid "/smaps")) > 0) {
			n = split(line, v, " ")
			if (v[1] ~ /^[0-9a-f]+-[0-9a-f]+$/) { what = v[6]; continue }
			if (v[1] != "Size:") continue
			if (what == "anon_inode:[perf_event]") perf += v[2] * 1024
			if (what == "anon_inode:bpf-map" && v[2] == 1024) shards++
		}
		print maps + (shards - whole) * (1048576 + 4096), ring, perf
	}' "/proc/$1/fdinfo/"*
}

# memory_of WHAT CLAIM SECONDS: records the whole system and prints the recorder's memory
memory_of() {
	cprof-record -q -F $hz -a -o "$tmp/m" "$3" &
	recorder=$!
	sleep $(($3 - 1))
	maps_of $recorder >"$tmp/maps"
	wait $recorder
	read -r maps ring rings <"$tmp/maps"
	cprof-dump "$tmp/m" | awk -v maps="$maps" -v ring="$ring" -v perf="$rings" '
		$1 == "cost" { v[substr($3, 6)] = substr($4, 7) }
		END { printf "  maps %.1f MB (tables, rules and mappings %.1f MB, %d tables); besides: BPF ring %.1f MB, perf rings %.1f MB, " \
			"recorder resident %.1f MB, in which the tables are seen a second time\n", maps / 1e6, v["table-bytes"] / 1e6,
			v["tables"], ring / 1e6, perf / 1e6, v["rss-bytes"] / 1e6 }'
	claim "$1" "$(awk "BEGIN { print $maps / 1e6 }")" "$2" ' MB'
}

busy() { awk '/^cpu / { print $2 + $3 + $4 + $7 + $8 + $9, $2 + $3 + $4 + $5 + $6 + $7 + $8 + $9 + $10 }' /proc/stat; }

memory() {
	echo '-- memory in the kernel, by its own account'
	before=$(busy)
	memory_of 'MB of maps, host as it is' 12 5
	echo "$before $(busy)" | awk '{ printf "  (its CPUs were %.0f %% busy)\n", 100 * ($3 - $1) / ($4 - $2) }'
	. "$tests/verify/rows.sh"
	source_cxx
	command -v clang++ >/dev/null && compilers='g++ clang++' || compilers=g++
	timeout 86400 sh -c 'cd "$0" && while :; do for c; do $c -std=c++17 -O2 -o x.out x.cc; done; done' "$tmp" $compilers >/dev/null 2>&1 &
	load=$!
	memory_of "MB of maps, while $compilers compile and link" 24 15
	end_load
}

python_load() {
	cat >"$tmp/load.py" <<-'END'
	def leaf(x):
	    s = 0
	    for i in range(300):
	        s = (s * 31 + i * x) % 65521
	    return s
	def pick(values):
	    return sorted(values, key=lambda v: leaf(v))
	while True:
	    list(map(lambda n: pick([3, n, 7, 2]), range(20)))
	END
	# shellcheck disable=SC2016
	timeout 86400 sh -c 'p=$(command -v /usr/bin/python3 || command -v python3)
		i=0; while [ $i -lt "$1" ]; do "$p" "$0" & i=$((i + 1)); done; wait' "$tmp/load.py" "$cpus" &
	load=$!
}

cost() {
	BENCH_ROUNDS=$((BENCH_ROUNDS < 2 ? BENCH_ROUNDS : 2))
	most=0.2
	python_load
	sleep 1
	cprof-record -q -U -F $hz -o "$tmp/p" -a 3
	frames=$(cprof-fold --comm python3 "$tmp/p" | awk '{ n += $NF; f += (split($0, a, ";") - 1) * $NF } END { printf "%.1f", f / n }')
	end_load
	bench python 0 "python3, a process per CPU, no frame pointers, $frames frames in a stack" more
}

for part; do $part; done
