#!/bin/sh
# The speed of writing and reading the stream, and the size of a sample: BIN=build/bin BUILD=build
# tests/bench/stream.sh [SAMPLES]. Measures CPU time, which depends less on other load.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
: "${BIN:=$top/build/bin}" "${BUILD:=$top/build}"
samples=${1:-4000000}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cprof-bench.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# cpu NAME COMMAND...: prints its user and system seconds, and samples a second
cpu() {
	name=$1
	shift
	t=$({ LC_ALL=C bash -c 'TIMEFORMAT="%U %S"; time "$@" >"$0"' "$tmp/out" "$@"; } 2>&1)
	echo "$t" | awk -v name="$name" -v n="$samples" -v bytes="$(wc -c <"$tmp/out")" '{ s = $1 + $2
		printf "%-8s %9d samples  %6.2f bytes/sample  %7.2f M samples/s  %7.1f MB/s\n", name, n, bytes / n,
			n / s / 1e6, bytes / s / 1e6 }'
}

"$BUILD/tests/bench-stream" write "$samples" 2>&1 >"$tmp/s.bin"
"$BUILD/tests/bench-stream" read "$tmp/s.bin" 2>&1
"$BUILD/tests/bench-stream" apply "$tmp/s.bin" 2>&1
cpu dump "$BIN/cprof-dump" "$tmp/s.bin"
mv "$tmp/out" "$tmp/s.txt"
cpu dump-r "$BIN/cprof-dump" -r "$tmp/s.txt"
cmp "$tmp/s.bin" "$tmp/out"
echo "gzip     $(gzip -c "$tmp/s.bin" | wc -c | awk -v n="$samples" '{ printf "%.2f", $1 / n }') bytes/sample"
