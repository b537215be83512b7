#!/bin/sh
# Memory use of naming: --max-mem evicts files, they are loaded again, and every name stays right.
. "$(dirname "$0")/../lib/lib.sh"

host=$BUILD/tests/sym-host
# peak OPTION...: names $tmp/in and prints the peak memory in MB
peak() { "$BUILD/tests/peak" "$tmp/kib" cprof-sym "$@" "$tmp/in" >"$tmp/out" 2>"$tmp/err"; awk '{ print int($1 / 1000) }' "$tmp/kib"; }
# A sanitizer's own memory, and memory that it keeps, count too.
sanitized && own=1 || own=
# below DESCRIPTION VALUE MOST
below() { if [ "$own" ]; then skip "$1" "the sanitizer's memory counts, too"; elif [ "$2" -lt "$3" ]; then pass "$1 ($2 MB)"; else fail "$1"; diag "$2 MB are not less than $3"; fi; }

# A million functions with names of 60 bytes in a file of 1 GB; eight libraries
"$host" elf "$tmp/big" 0 1000000 60 1073741824
set -- "$tmp/big" 1000000
for i in 1 2 3 4 5 6 7 8; do
	"$host" elf "$tmp/lib$i" $i 20000 60 0
	set -- "$@" "$tmp/lib$i" 20000
done
is 'the file has 1 GB' "$(($(wc -c <"$tmp/big") / 1000000000))" 1

"$host" stream 3000 20 "$@" >"$tmp/in"
below 'a host of 3,000 processes with a 1 GB binary' "$(peak)" 200
is '  all names are right' "$("$host" check "$tmp/out")" '60000 right, 0 wrong, 0 without'

"$host" stream 200 20 "$@" >"$tmp/in"
below 'less memory than any of the files needs: they take turns' "$(peak --max-mem 1M)" 200
is '  all names are right' "$("$host" check "$tmp/out")" '4000 right, 0 wrong, 0 without'
shift 2
rm "$tmp/big"

"$host" elf "$tmp/lib0" 0 20000 60 0
"$host" stream 200 20 "$tmp/lib0" 20000 "$@" >"$tmp/in"
peak >"$tmp/free" && cp "$tmp/out" "$tmp/all"
peak --max-mem 8M >"$tmp/bound"
[ "$own" ] && echo 0 >"$tmp/bound"
like "with room for three of nine there is less in memory ($(cat "$tmp/bound") MB) than with room for all ($(cat "$tmp/free") MB)" \
	"$(($(cat "$tmp/bound") < $(cat "$tmp/free")))" 1
same '  the output is the same' "$tmp/out" "$tmp/all"

for size in 0 x 1Q 1000 -1M 1023K; do
	status "--max-mem $size is no size" 2 cprof-sym --max-mem "$size" "$tmp/in"
done

# A file that was evicted and has changed since gives no more names.
"$host" elf "$tmp/a" 0 8000 60 0 && "$host" elf "$tmp/b" 1 8000 60 0 && "$host" elf "$tmp/c" 2 8000 60 0
ok 'what was let go is loaded again, unless it is another by then' "$BUILD/tests/sym-modules" evict "$tmp/a" "$tmp/b" "$tmp/c"
done_testing
