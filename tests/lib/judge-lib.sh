# Counts the whole stacks in a recorder's output, $tmp/file, for bench/*.sh, which sets $tests and $tmp: .
# "$tests/lib/judge-lib.sh". The judge is outermost.pl, the same for all recorders. Remarks go to descriptor 3.

# judge_NAME COMMS: prints "all samples whole frames", and the number of lost samples, of $tmp/file
judge_cprof() {
	cprof-dump "$tmp/file" >"$tmp/text" || return
	sed -n 's/^file .* path="\(.*\)"$/\1/p' "$tmp/text" | sort -u >"$tmp/paths"
	cprof-fold --no-names -d --truncated "$tmp/file" | perl "$tests/lib/outermost.pl" fold "$tmp/paths" "$1"
	awk '$1 == "ledger" && $4 ~ /=(ring-full|nested|throttled|failed|no-memory)$/ { split($5, n, "="); lost[$3 $4] = n[2] }
		END { for (i in lost) sum += lost[i]; print sum + 0 }' "$tmp/text"
}
judge_perf() {
	perf script -i "$tmp/file" --no-inline -F comm,ip,dso >"$tmp/text" 2>/dev/null ||
		echo "  perf script died on the next one; what it had printed till then is judged" >&3
	sed -n 's/^[[:space:]]*[0-9a-f]* (\(\/.*\))$/\1/p' "$tmp/text" | sort -u >"$tmp/paths"
	perl "$tests/lib/outermost.pl" perf "$tmp/paths" "$1" <"$tmp/text"
	perf script -i "$tmp/file" --show-lost-events -F comm,ip -G 2>/dev/null |
		awk '/PERF_RECORD_LOST/ { lost += $NF } END { print lost + 0 }'
}
