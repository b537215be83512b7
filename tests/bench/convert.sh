#!/bin/sh
# The cost of writing 100,000 different stacks in other programs' formats, and of those programs reading or
# writing the same: BIN=build/bin BUILD=build tests/bench/convert.sh [FOLDED]. CPU and wall time, memory and
# bytes of one run after the other.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
: "${BIN:=$top/build/bin}" "${BUILD:=$top/build}"
PATH=$BIN:$PATH
export LC_ALL=C
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cprof-bench.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
HOME=$tmp PPROF_TMPDIR=$tmp
export HOME PPROF_TMPDIR

in=${1-$tmp/in.folded}
[ $# -gt 0 ] || awk 'BEGIN {
	srand(7)
	for (i = 0; i < 2000; i++) { l = 8 + int(rand() * 40); s = "fn"; while (length(s) < l) s = s sprintf("%c", 97 + int(rand() * 26)); f[i] = s "_" i }
	for (s = 0; s < 100000; s++) {
		d = 12 + int(rand() * 26); line = "comm" int(rand() * 5); x = int(rand() * 7)
		for (k = 0; k < d; k++) { x = (x * 31 + (rand() < .2) + k) % 2000; line = line ";" f[x] }
		print line, 1 + int(rand() * 60)
	} }' >"$in"

# cost NAME OUTPUT COMMAND...: seconds of CPU, seconds, MB of memory, MB written
cost() {
	name=$1 out=$2
	shift 2
	python3 - "$name" "$out" "$@" <<'X'
import os, resource, subprocess, sys, time
name, out, command = sys.argv[1], sys.argv[2], sys.argv[3:]
start = time.monotonic()
with open(out, "wb") as f:
    subprocess.run(command, stdout=f, stderr=subprocess.DEVNULL, check=True)
r, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - start
print("%-34s %6.2f s of CPU  %6.2f s  %5.0f MB of memory  %6.1f MB written" %
      (name, r.ru_utime + r.ru_stime, wall, r.ru_maxrss / 1024, os.path.getsize(out) / 1e6))
X
}
echo "$(wc -l <"$in") stacks, $(wc -c <"$in" | awk '{ printf "%.1f", $1 / 1e6 }') MB of folded text"
have_go=
! command -v go >/dev/null || have_go=1
if cost "cprof-convert -t pprof" "$tmp/pb" cprof-convert -t pprof "$in" 2>/dev/null; then
	if [ $have_go ]; then
		cost "  go tool pprof -top of it" "$tmp/top" go tool pprof -top "$tmp/pb"
		cost "  go tool pprof -proto of it" "$tmp/pb2" go tool pprof -proto -output=/dev/stdout "$tmp/pb"
		cost "  go tool pprof -callgrind of it" "$tmp/cg2" go tool pprof -callgrind -output=/dev/stdout "$tmp/pb"
	else
		echo "there is no go: its figures are left out"
	fi
else
	echo "this build knows no pprof"
fi
cost "cprof-convert -t callgrind" "$tmp/cg" cprof-convert -t callgrind "$in"
cost "cprof-convert -t speedscope" "$tmp/json" cprof-convert -t speedscope "$in" 2>/dev/null || echo "this build knows no JSON"
cost "cprof-top" "$tmp/top" cprof-top "$in"
