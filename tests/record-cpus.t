#!/bin/sh
# Descriptors by the number of CPUs: the soft limit is raised, and the hard one decides which engine is used.
. "$(dirname "$0")/lib.sh"
may_record_all
cpus=$(getconf _NPROCESSORS_ONLN)
meta() { cprof-dump "$1" | sed -n "s/^meta key=\"$2\" value=\"\(.*\)\"\$/\1/p" | head -1; }

# The soft limit is raised before an engine is chosen.
soft() { (ulimit -Sn "$1"; shift; exec "$@"); }
status "a low soft limit of descriptors" 0 soft 24 cprof-record -q -a -o "$tmp/soft.bin" 0.2
is "  is raised: BPF samples" "$(meta "$tmp/soft.bin" engine)" bpf
status "the recorded command" 0 soft 24 cprof-record -q -o "$tmp/command.bin" -- sh -c "ulimit -Sn >$tmp/limit"
is "  keeps its own limit" "$(cat "$tmp/limit")" 24

# The hard limit decides which engine is taken; at no limit a recording begins and fails.
hard() { (ulimit -n "$1"; shift; exec "$@"); }
least=$((56 + 3 * cpus)) perf=$((16 + cpus))
for n in $perf $((perf + 4)) 28 32 36 40 44 $((least - 1)) $least $((least + 8)); do
	[ "$n" -ge $perf ] || continue
	[ "$n" -ge $least ] && want=bpf || want=perf
	status "a hard limit of $n descriptors" 0 hard "$n" cprof-record -a -o "$tmp/hard.bin" 0.1
	is "  samples by $want" "$(meta "$tmp/hard.bin" engine)" $want
	[ $want = bpf ] || like "  and says why, and how many BPF requires" "$(cat "$tmp/err")" \
		"^cprof-record: sampling by plain perf: cannot open enough descriptors: $cpus CPUs? require $least, and the limit is $n "
done
status "too few for either" 1 hard 16 cprof-record -a -o "$tmp/hard.bin" 0.1
is "  is said in one sentence, with the number" "$(cat "$tmp/err")" \
	"cprof-record: cannot open enough descriptors: $cpus CPU$([ "$cpus" = 1 ] || echo s) require $perf, and the limit is 16 (ulimit -Hn)"
status "too few for BPF where it is asked for" 1 hard 40 cprof-record --engine bpf -a -o "$tmp/hard.bin" 0.1
like "  is said, too" "$(cat "$tmp/err")" "require $least, and the limit is 40"
done_testing
