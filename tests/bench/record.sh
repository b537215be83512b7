#!/bin/sh
# The cost of recording and the size of a capture, beside perf record and bpftrace (or bcc's profile, if
# bpftrace does not run), on the same loads, one after the other in one run. Requires root. About five
# minutes:
#
#	[BENCH_SECONDS=20] [BENCH_ROUNDS=1] BIN=build/bin BUILD=build tests/bench/record.sh [steady|compile]
#
# For the method, see cost-lib.sh.
. "$(dirname "$0")/../lib/cost-lib.sh"

# The loads. timeout gives each a process group of its own, and ends the whole group when it is ended.
steady_load() {
	timeout 86400 sh -c 'i=0; while [ $i -lt "$1" ]; do "$0" 3600 & i=$((i + 2)); done; wait' \
		"$BUILD/contrib/demo" "$cpus" &
	load=$!
}

compile_load() {
	for i in 1 2 3 4 5 6 7 8; do
		awk -v n=$((i * 4)) 'BEGIN {
			print "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>"
			for (f = 1; f <= n; f++) printf "int f%d(const char *s, int n)\n{\n" \
				"\tchar *copy = strdup(s);\n\tint sum = %d;\n\n" \
				"\tfor (int i = 0; i < n && copy[i]; i++)\n\t\tsum = sum * 31 + (copy[i] ^ i);\n" \
				"\tprintf(\"%%s %%d\\n\", copy, sum);\n\tfree(copy);\n\treturn sum;\n}\n", f, f }' >"$tmp/$i.c"
	done
	timeout 86400 sh -c 'cd "$0" || exit
		turn() { while :; do for i in 1 2 3 4 5 6 7 8; do gcc -O2 -c -o "$1.o" $i.c || exit; done; done; }
		i=0; while [ $i -lt "$1" ]; do turn $i & i=$((i + 1)); done; wait' "$tmp" "$cpus" &
	load=$!
}

echo "$hz Hz, $cpus CPUs; CPU: user and system of the recorder; BPF: run time of its program (perf's own sampling in"
echo "the kernel is in no account, and so missing in its row); %: both, of a CPU per CPU"
[ "${1:-steady}" != steady ] || bench steady 0.1 "steady load: a process per CPU, frame pointers, some seven frames"
if [ "${1:-compile}" != compile ]; then
	:
elif command -v gcc >/dev/null; then
	most=0.15 comms=gcc,cc1,as whole=97
	bench compile 0.25 "compile loop: gcc -O2 on small files, one at a time per CPU"
else
	echo "-- compile loop: no gcc, left out"
fi
