#!/bin/sh
# The load of one host on a fleet, for contrib/FLEET.md: bytes, CPU and requests of recording all the time and
# of the later steps. Three loads, FLEET_SECONDS each: next to nothing (a control group with a shell in it, so
# that everything outside it is filtered), python3 on every CPU, and a compiler that starts again and again.
# Figures are per host, with as many CPUs as this one.
set -u
tests=$(cd "$(dirname "$0")/.." && pwd)
: "${BIN:=$(dirname "$tests")/build/bin}" "${FLEET_SECONDS:=60}"
PATH=$BIN:$PATH
export LC_ALL=C
[ "$(id -u)" = 0 ] || { echo "The whole system is sampled, which needs root: left out."; exit 0; }
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cprof-bench.XXXXXX") || exit 1
group=
end_load() { : >"$tmp/stop"; wait; rm -f "$tmp/stop"; }
trap 'end_load; [ -z "$group" ] || rmdir "$group"; rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

cpus=$(getconf _NPROCESSORS_ONLN)
running() { [ ! -e "$tmp/stop" ]; }
little() { while running; do sleep 0.2; done; }
steady() { python3 -c 'import json, os, sys
while not os.path.exists(sys.argv[1]):
    for i in range(20000):
        json.loads(json.dumps({"a": [i, str(i)], "b": {"c": i}}))' "$tmp/stop"; }
compile() { while running; do ${CC:-cc} -O2 -I"$(dirname "$tests")" -D_GNU_SOURCE -c -o "$tmp/o.$1" "$(dirname "$tests")/common/base/buf.c"; done; }

# Use a control group of our own, version 2, if we may make one.
for root in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	[ -n "$group" ] || ! [ -e "$root/cgroup.procs" ] || ! [ -e "$root/cgroup.controllers" ] || ! mkdir "$root/cprof-bench.$$" 2>/dev/null ||
		group=$root/cprof-bench.$$
done

size() { cat "$@" | wc -c; }
per_hour() { awk -v n="$1" -v s="$FLEET_SECONDS" 'BEGIN { printf "%.1f MB", n / s * 3600 / 1e6 }'; }
cpu_of() { # COMMAND...: prints its CPU seconds; its output goes to $tmp/out
	( "$@" >"$tmp/out" 2>/dev/null; times >"$tmp/times" )
	awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); s += t[1] * 60 + t[2] } } END { printf "%.2f", s }' "$tmp/times"
}
all() { cat "$to"/*.cprof; }

measure() { # LOAD
	to=$tmp/$1 only=
	mkdir "$to"
	[ "$1" != little ] || only="--cgroup $group"
	cprof-record -a $only --rotate 1m -o "$to" "$FLEET_SECONDS" 2>"$tmp/said"
	raw=$(size "$to"/*) samples=$(all | cprof-dump 2>/dev/null | grep -c '^sample ')
	gz=$(for f in "$to"/*; do gzip -c "$f"; done | wc -c) xz=$(for f in "$to"/*; do xz -c "$f"; done | wc -c)
	all >"$tmp/all"
	sym=$(cpu_of cprof-sym "$tmp/all")
	mv "$tmp/out" "$tmp/named"
	fold=$(cpu_of cprof-fold -o tsv "$tmp/named")
	tsv=$(size "$tmp/out") rows=$(wc -l <"$tmp/out") tsvgz=$(gzip -c "$tmp/out" | wc -c)
	cprof-fold "$tmp/named" >"$tmp/folded" 2>/dev/null
	cprof-archive -d "$tmp/symbols-$1" "$tmp/all" 2>/dev/null
	kept=$(find "$tmp/symbols-$1" -name '*.debug' 2>/dev/null | wc -l)
	[ "$kept" = 0 ] || keptbytes=$(find "$tmp/symbols-$1" -name '*.debug' -exec cat {} + | wc -c)
	printf '%s\n' "load $1: $(awk -v n="$samples" -v s="$FLEET_SECONDS" -v c="$cpus" 'BEGIN { printf "%.1f samples/s, %.0f %% of all ticks", n / s, n / s / c / 99 * 100 }')" \
		"	recorder:  $(sed -n 's/.*; cost /cost /p' "$tmp/said")" \
		"	captures:  $(per_hour "$raw") an hour; gzip $(per_hour "$gz"); xz $(per_hour "$xz"); $(awk -v b="$raw" -v n="$samples" 'BEGIN { printf "%.0f bytes a sample", n ? b / n : 0 }')" \
		"	files:     $(ls "$to" | wc -l) of a minute, the smallest $(ls -lS "$to" | awk 'END { print $5 }') bytes" \
		"	names:     $sym s of CPU for $FLEET_SECONDS s; archive $kept files, ${keptbytes:-0} bytes" \
		"	rows:      $rows in $tsv bytes of TSV, $(per_hour "$tsv") an hour; gzip $(per_hour "$tsvgz"); $fold s of CPU" \
		"	folded:    $(size "$tmp/folded") bytes of $(wc -l <"$tmp/folded") stacks in $FLEET_SECONDS s"
	unset keptbytes
}

echo "$cpus CPUs, 99 Hz, $FLEET_SECONDS s each"
if [ -n "$group" ]; then
	(echo 0 >"$group/cgroup.procs"; little) &
	measure little
	end_load
else
	echo "load little: no control group of version 2 can be made here"
fi
for load in steady compile; do
	i=0
	while [ $((i = i + 1)) -le "$cpus" ]; do $load $i & done
	measure $load
	end_load
done
