#!/bin/sh
# --latency: how many threads run at each sample, in a program whose phases are known.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
phases=$BUILD/tests/phases

# parallel FILE: lines "FUNCTION RUNNING GROUP SAMPLES", from the text of a capture with names
parallel() {
	cprof-dump "$1" | awk '
		{
			for (k in f) delete f[k]
			for (i = 2; i <= NF; i++) {
				p = index($i, "=")
				f[substr($i, 1, p - 1)] = substr($i, p + 1)
			}
		}
		$1 == "thread" { process[f["id"]] = f["process"] }
		$1 == "string" { gsub(/"/, "", f["text"]); string[f["id"]] = f["text"] }
		$1 == "symbol" { name[f["frame"]] = string[f["name"]] }
		$1 == "node" { frame[f["id"]] = f["frame"] }
		$1 == "parallel" { running[f["process"]] = f["running"]; group[f["process"]] = f["group"] }
		$1 == "sample" {
			p = process[f["thread"]]
			n++
			at[n] = frame[f["user"]]
			of[n] = (p in running ? running[p] : 1) " " (p in group ? group[p] : 1)
		}
		END { for (i = 1; i <= n; i++) sum[name[at[i]] " " of[i]]++; for (k in sum) print k, sum[k] }'
}
# undisturbed: by its own clock (in $said), the program had both CPUs while it wanted them. The kernel takes
# 5 % from real-time threads.
undisturbed() {
	awk '{ exit !($1 < 1.1 * $3 && $2 < 1.1 * $3) }' "$said"
}
# alternate COMMAND...: runs it until the program was not disturbed, 6 times at most; false: it always was
alternate() {
	for _ in 1 2 3 4 5 6; do
		"$@"
		undisturbed && return 0
	done
	return 1
}
said=$tmp/said

cprof-record -q --latency -o "$tmp/raw.bin" -- "$phases" 0.5 >"$said"
like "the header says so" "$(cprof-dump "$tmp/raw.bin" | grep '^meta')" \
	'key="parallelism" value="process,group"'
cprof-record -q -o "$tmp/without.bin" -- "$phases" 0.5 >"$said"
is "a recording without the option has none" \
	"$(cprof-dump "$tmp/without.bin" | grep -c '^parallel\|parallelism')" 0
status "plain perf events cannot" 2 cprof-record --latency --engine perf -a 1
status "without ticks there is none" 2 cprof-record --latency -e page-faults -a 1

chrt -r 5 true 2>/dev/null || { skip "known answers" "no real-time scheduling here"; done_testing; }
[ "$(nproc)" -ge 2 ] || { skip "known answers" "one CPU"; done_testing; }

# near TEXT FUNCTION COLUMN PERCENT: within 3 points
near() {
	if awk -F '\t' -v f="$2" -v c="$3" -v p="$4" '$1 == f { d = $c - p; good = d >= -3 && d <= 3 }
		END { exit !good }' "$tmp/table"; then pass "$1"; else fail "$1"; fi
}
# judge TEXT: most samples of f_serial have one running thread, and of f_parallel two
judge() {
	cprof-sym "$tmp/raw.bin" 2>/dev/null >"$tmp/named.bin"
	parallel "$tmp/named.bin" >"$tmp/counts"
	sed 's/^/# /' "$tmp/counts"
	for want in "f_serial 1" "f_parallel 2"; do
		awk -v f="${want% *}" -v n="${want#* }" '
			$1 == f { all += $4; if ($2 == n) good += $4 }
			END { exit !(all > 100 && good >= 0.9 * all) }' "$tmp/counts"
		is "$1: in ${want% *} ${want#* } ran" $? 0
	done
	is "$1: the group has no fewer" "$(awk '$3 < $2' "$tmp/counts")" ""
	cprof-top --latency --cum --comm phases -o tsv "$tmp/named.bin" >"$tmp/table"
	cut -f1,6-9 "$tmp/table" | sed -n 's/^[nf]/# &/p'
	near "$1: f_serial has half of the latency" f_serial 7 50
	near "$1: and f_parallel the other half" f_parallel 7 50
	near "$1: of the CPU time it has two thirds" f_parallel 9 66.7
}

recorder_first() {
	cprof-record -q --latency -o "$tmp/raw.bin" -- chrt -r 5 "$phases" 10 >"$said"
}
if alternate recorder_first; then judge "recorder first"; else skip "recorder first" "the machine is busy"; fi

program_first() {
	chrt -r 5 "$phases" 11 >"$said" &
	program=$!
	sleep 0.3
	cprof-record -q --latency -p "$program" -o "$tmp/raw.bin" 10
	wait "$program"
}
if alternate program_first; then judge "program first"; else skip "program first" "the machine is busy"; fi

# All of the machine, in segments: each begins with the definitions, and the records with it.
cprof-record -q -a --latency --rotate 1s -o "$tmp/%s.cprof" 3 2>/dev/null &
recorder=$!
"$phases" 3 >/dev/null
wait "$recorder"
cat "$tmp"/*.cprof >"$tmp/all.bin"
status "the parts of a series" 0 cprof-dump "$tmp/all.bin"
like "  have these records" "$(grep -c '^parallel' "$tmp/out")" '^[1-9]'
done_testing
