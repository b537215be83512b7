#!/bin/sh
# Unwind tables: rows, bytes, rules and time (CPU, reading included, the file in the page cache) of some large
# files, and the memory that building each takes at most; then rows to time of all files that are mapped
# executable on this host now, and of all installed files.
#
#	BUILD=build tests/bench/tables.sh [FILE...]
set -u
tests=$(cd "$(dirname "$0")/.." && pwd)
: "${BUILD:=$(dirname "$tests")/build}"
export LC_ALL=C PATH="$PATH:/sbin:/usr/sbin"
size=$BUILD/tests/unwind-table

[ $# -gt 0 ] || set -- $(ldconfig -p | awk '$1 == "libc.so.6" && /x86-64/ { print $NF; exit }') /usr/bin/python3 \
	"$(command -v node)" $(ls /usr/lib/*/libLLVM*.so* 2>/dev/null | head -1)
tmp=$(mktemp "${TMPDIR:-/tmp}/cprof-bench.XXXXXX") || exit 1
trap 'rm -f "$tmp"' EXIT
for f; do
	[ ! -e "$f" ] || readlink -f "$f"
done >"$tmp"
# Twice, because the first run reads from the disk.
"$size" size <"$tmp" >/dev/null
"$size" size <"$tmp" | grep -v ' in [0-9]* files$'
while read -r f; do
	printf '%s  %s\n' "$("$size" memory "$f")" "$f"
done <"$tmp"

# summary NAME: totals of the paths on stdin
summary() {
	cat >"$tmp"
	"$size" size <"$tmp" >/dev/null
	printf '%s: %s\n' "$1" "$("$size" size <"$tmp" | tail -1 | sed 's/  */ /g; s/^ //')"
}
cat /proc/[0-9]*/maps 2>/dev/null | awk '$2 ~ /x/ && $6 ~ /^\// { print $6 }' | sort -u | summary "mapped now"
find /usr/bin /usr/sbin /usr/lib -type f \( -perm -111 -o -name '*.so*' \) 2>/dev/null | sort | summary "installed"
