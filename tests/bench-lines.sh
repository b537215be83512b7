#!/bin/sh
# Inlined calls and lines beside llvm-symbolizer --inlines, on the same addresses of one file with debug information.
#
#	tests/bench-lines.sh [FILE]		the debug file of libc by default
#
# Cold: a process that opens the file and answers 10,000 different addresses. Warm: what each answer costs when all
# have been given once, from the time of many rounds in one process. Each time is the best of three, and includes
# reading the questions and writing the answers as text; the last lines are what the library alone takes.
set -u
here=$(cd "$(dirname "$0")" && pwd)
: "${BUILD:=$(dirname "$here")/build}"
export LC_ALL=C
libc=$(ldd /bin/sh | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')
file=${1:-$(readelf -n "$libc" | sed -n 's,.*Build ID: \(..\)\(.*\),/usr/lib/debug/.build-id/\1/\2.debug,p')}
n=10000 rounds=20
[ -e "$file" ] || { echo "there is no $file"; exit 0; }
command -v llvm-symbolizer >/dev/null || { echo "there is no llvm-symbolizer"; exit 0; }
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cprof-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
. "$here/dwarf-lib.sh"

# best COMMAND...: the best of three, in microseconds of the CPU, so that it matters little who else is there
best() {
	for _ in 1 2 3; do
		sh -c "$* >/dev/null 2>&1; times" | awk 'NR == 2 { split($1 "m" $2, t, /[ms]+/); print int((t[1] * 60 + t[2] + t[3] * 60 + t[4]) * 1e6) }'
	done | sort -n | head -1
}

addresses "$file" $n | sort -R --random-source="$here/bench-lines.sh" >"$tmp/once"
i=0
while [ $i -lt $rounds ]; do cat "$tmp/once"; i=$((i + 1)); done >"$tmp/often"
head -1 "$tmp/once" >"$tmp/one"
n=$(wc -l <"$tmp/once")
ours="$BUILD/tests/dwarf-lines $file"
llvm="llvm-symbolizer --obj=$file --inlines --no-demangle --output-style=GNU --functions=linkage"

$ours <"$tmp/once" >"$tmp/a"
llvm-symbolizer --obj="$file" --output-style=JSON --no-demangle --inlines <"$tmp/once" >"$tmp/b" 2>/dev/null
readelf -sW "$file" >"$tmp/symbols" 2>/dev/null
printf '%s, %d addresses; answers compared: ' "$file" "$n"
python3 "$here/dwarf-compare.py" "$tmp/a" "$tmp/b" "$tmp/symbols" suffix alias symbol-only directory-0 | grep -v '^ ' | tr '\n' ' '
echo
ours_cold=$(best "$ours <$tmp/once") llvm_cold=$(best "$llvm <$tmp/once")
ours_often=$(best "$ours <$tmp/often") llvm_often=$(best "$llvm <$tmp/often")
awk -v oc="$ours_cold" -v lc="$llvm_cold" -v oo="$ours_often" -v lo="$llvm_often" -v n="$n" -v r=$rounds 'BEGIN {
	printf "  cold   %9.3f s %12.3f s llvm-symbolizer   %6.1f times\n", oc / 1e6, lc / 1e6, lc / oc
	ow = (oo - oc) / n / (r - 1); lw = (lo - lc) / n / (r - 1)
	printf "  warm   %9.3f us %11.3f us an address      %6.1f times\n", ow, lw, lw / ow
	print lw >"/dev/stderr" }' 2>"$tmp/llvm_warm"
for _ in 1 2 3; do $BUILD/tests/dwarf-lines -t "$file" <"$tmp/once"; done | tr '=' ' ' | sort -k4 -n | head -1 | awk -v lw="$(cat "$tmp/llvm_warm")" '{
	printf "  the library alone: opened in %.1f ms, opened and all flattened in %.1f ms, %.1f MB held;\n", $2 * 1e3, $4 * 1e3, $10 / 1e6
	printf "  a look-up warm %.3f us, %.0f times as fast as a warm answer of llvm-symbolizer\n", $6 * 1e6, lw / ($6 * 1e6) }'
