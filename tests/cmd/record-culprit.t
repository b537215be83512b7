#!/bin/sh
# The threads that have a CPU while another one is queued for it: programs pinned to one CPU, whose shares
# their own log knows.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
hogs=$BUILD/tests/woken
# With others on the CPU, the shares would be theirs, too.
chrt -r 60 true 2>/dev/null || skip_all "no real-time scheduling here"

# share FIELD FILE: percent of hog1 in the time of both, by a table's column
rows() { cprof-top --by "$1" --comm victim -n 0 -o tsv "$2" 2>/dev/null; }
# check TEXT FILE: the share of hog1 is that of the log, within three standard deviations; intervals have two
check() {
	log=$(awk '/^hog/ { s[$1] += $5 } END { print 100 * s["hog1"] / (s["hog0"] + s["hog1"]) }' "$tmp/log")
	rows culprit "$2" >"$tmp/rows"
	ok "$1: hog1 has $log % by the log" awk -F'\t' -v log_share="$log" '
		/^hog0-/ { other = $2 }
		/^hog1-/ { flat = $2; low = $4; high = $5 }
		END {
			d = 100 * flat / (flat + other) - log_share
			exit !(flat && other) || d * d > (1.5 * (high - low) / 2) ^ 2
		}' "$tmp/rows"
	diag "$(cut -f 1-5 "$tmp/rows" | head -5)"
	is "  all rows are the time in the queue, to the nanosecond" \
		"$(awk 'NR > 1 { n += $2 } END { printf "%.0f\n", n }' FS='\t' "$tmp/rows")" "$(queued "$2")"
}
# queued FILE: ns that threads named victim were in the queue, in waits that are known as a whole
queued() {
	cprof-dump "$1" | sed 's/[a-z]*=//g' | awk '
		$1 == "comm" { name[$3] = $4 }
		$1 == "woken" && name[$3] == "\"victim\"" { n += $5 }
		END { printf "%.0f\n", n }'
}
for ratio in 1 3; do
	cprof-record -q -a --off-cpu=100us -F 997 -o "$tmp/raw.bin" -- \
		chrt -r 60 "$hogs" hogs 2 $ratio >"$tmp/log"
	check "hogs of 1 to $ratio" "$tmp/raw.bin"
done
cprof-sym "$tmp/raw.bin" >"$tmp/got" 2>/dev/null
like "by function" "$(cprof-top --by culprit,function --comm victim -n 2 "$tmp/got")" 'f_hog1'
like "by process" "$(rows culprit,process "$tmp/got")" '^hog1-[0-9]+	'
like "by container" "$(rows culprit,container "$tmp/got")" '^(\[no cgroup\]|/|[^	]+)	[0-9]+'

# A recording of one process names the others that had the CPU.
# beside OPTION FILE: records the victim by its pid, which is its tid, too; or by a control group of its own
beside() {
	for seconds in 4 8 20; do # the recorder may begin late, above all if it is sanitized
		chrt -r 60 "$hogs" hogs $seconds 3 >"$tmp/log" &
		victim=$!
		until grep -qx victim /proc/$victim/comm; do sleep 0.05; done # the hogs are its children by then
		what=$victim
		[ "$1" = --cgroup ] && what=$group && echo $victim >"$group/cgroup.procs"
		cprof-record -q "$1" "$what" --off-cpu=100us -F 997 -o "$2" 1.5
		status=$?
		wait $victim
		[ "$(rows culprit "$2" | wc -l)" -lt 3 ] || break
	done
	is "recorded by $1" $status 0
	check "  with its culprits" "$2"
	is "  the samples are the victim's" "$(cprof-fold --no-names "$2" | sed 's/;.*//' | sort -u)" victim
	like "  the functions of others are not known" "$(rows culprit,process,function "$2")" \
		'^hog1-[0-9]+	\[outside\]	'
}
beside -t "$tmp/t.bin"
beside -p "$tmp/p.bin"
root=$(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
group=$root/cprof-culprit.$$
if [ "$root" ] && mkdir "$group" 2>/dev/null; then
	trap 'rmdir "$group"; rm -rf "$tmp"' EXIT
	beside --cgroup "$tmp/g.bin"
else
	skip "a control group" "none can be made here"
fi
cprof-dump "$tmp/p.bin" | grep -v '^outside' | cprof-dump -r >"$tmp/without.bin"
for options in "" --wall "--wall -t" --blame "--by cpu" "--by process"; do
	is "no other view counts them: $options" "$(cprof-fold --no-names $options "$tmp/p.bin" | cksum)" \
		"$(cprof-fold --no-names $options "$tmp/without.bin" | cksum)"
done
is "  nor any table's header" "$(cprof-top --no-names -n 0 "$tmp/p.bin" | cksum)" \
	"$(cprof-top --no-names -n 0 "$tmp/without.bin" | cksum)"
like "without them nobody is known" "$(rows culprit "$tmp/without.bin" | sed -n 2p)" \
	'^\[nobody sampled\]	'
n=$(cprof-dump "$tmp/p.bin" | grep -c '^outside')
bytes=$(($(wc -c <"$tmp/p.bin") - $(wc -c <"$tmp/without.bin")))
ok "each takes at most 12 bytes: $bytes for $n" test $bytes -le $((12 * n))
start=$(cprof-dump "$tmp/p.bin" | sed -n 's/^meta key="start-realtime-ns" value="\(.*\)"/\1/p')
# at MILLISECONDS: the clock, so long after the start
at() {
	seconds=$(awk -v s="$start" -v ms="$1" 'BEGIN { printf "%.3f", s / 1e9 + ms / 1000 }')
	date -u -d "@$seconds" +%FT%T.%3NZ
}
window="--from $(at 500) --to $(at 1000)"
cprof-sym $window "$tmp/p.bin" >"$tmp/cut.bin" 2>/dev/null
# The first sample after the window, which is cut off, stands for time in it: only the sums are the same.
in_queue() {
	cprof-fold --by culprit $window "$1" 2>/dev/null | awk '{ n += $NF } END { printf "%.0f\n", n }'
}
is "a window has its part of them" "$(in_queue "$tmp/cut.bin")" "$(in_queue "$tmp/p.bin")"
like "  by name" "$(cprof-fold --by culprit $window "$tmp/cut.bin")" '^hog1-[0-9/]+ [0-9]+$'
ok "  and no more" test "$(cprof-dump "$tmp/cut.bin" | grep -c '^outside')" -lt $((n * 2 / 3))
done_testing
