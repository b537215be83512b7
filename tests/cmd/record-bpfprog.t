#!/bin/sh
# BPF programs that come and go during the recording have their names, with either engine.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
spin=$BUILD/tests/bpfspin
"$spin" 0.01 probe || skip_all "BPF programs cannot be run here"

# share NAME: percent of the samples in BPF programs whose name ends in NAME
share() { RE="_$1\$" awk '{ n = $NF; sub(/ [0-9]+$/, ""); sub(/.*;/, "") } /^bpf_prog_/ { all += n; if ($0 ~ ENVIRON["RE"]) hit += n }
	END { printf "%.0f", all ? 100 * hit / all : 0 }' "$tmp/folded"; }
about_half() { if [ "$2" -ge 35 ] && [ "$2" -le 65 ]; then pass "$1"; else fail "$1"; diag "$2 %"; diag "$(sed 's/.*;//' "$tmp/folded" | sort | head -20)"; fi; }
for engine in bpf perf; do
	if ! cprof-record --engine $engine -q -F 499 -o "$tmp/c.bin" -- "$spin" 0.5 first_spin second_spin 2>"$tmp/err"; then
		skip "$engine" "$(head -1 "$tmp/err")"
		continue
	fi
	cprof-sym "$tmp/c.bin" 2>/dev/null >"$tmp/named.bin"
	cprof-fold --comm bpfspin "$tmp/named.bin" >"$tmp/folded"
	about_half "by $engine: the first" "$(share first_spin)"
	about_half "  the second" "$(share second_spin)"
	like "  of the module" "$(cprof-top --by module "$tmp/named.bin")" '[0-9.]+%  \[bpf\]$'
	is "  as it is recorded" "$(cprof-dump "$tmp/c.bin" | sed -n 's/^ksym .*name="bpf_prog_[0-9a-f]\{16\}_\([a-z]*\)_spin" module="\(.*\)"$/\1 \2/p' | sort -u | tr '\n' ',')" \
		'first [bpf],second [bpf],'
done
done_testing
