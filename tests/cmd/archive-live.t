#!/bin/sh
# Programs that are recorded and archived, then deleted or upgraded
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"
. "$tests/lib/archive-lib.sh"
may_record_all

cat >"$tmp/f.c" <<'X'
#include <stdlib.h>
long spin(long n);
long spin_here(long n) { long s = 0; for (volatile long i = 0; i < n; i++) s += i; return s; }
int main(int argc, char **argv) { return (int)(spin(atol(argv[argc - 1])) + spin_here(atol(argv[argc - 1]))) & 1; }
X
echo 'static __attribute__((noinline)) long hidden(long n) { long s = 0; for (volatile long i = 0; i < n; i++) s += i; return s; }
long spin(long n) { return hidden(n) + 1; }' >"$tmp/g.c"
mkdir "$tmp/live" "$tmp/debug"
gcc -g -O1 -fno-omit-frame-pointer -shared -fPIC -Wl,--build-id -o "$tmp/live/libg.so" "$tmp/g.c"
id=$(build_id "$tmp/live/libg.so")
mkdir -p "$(dirname "$(where "$tmp/debug" "$id")")"
objcopy --only-keep-debug "$tmp/live/libg.so" "$(where "$tmp/debug" "$id")" && strip "$tmp/live/libg.so"
gcc -O1 -fno-omit-frame-pointer -Wl,--build-id -Wl,-rpath,"$tmp/live" -o "$tmp/live/program" "$tmp/f.c" "$tmp/live/libg.so"

ok 'a program is recorded' cprof-record -q -F 999 -o "$tmp/s.bin" -- "$tmp/live/program" 100000000
ok 'and archived in a pipe' sh -c 'cprof-archive -d "$1" --debug-dir "$2" <"$3"' - "$tmp/a" "$tmp/debug" "$tmp/s.bin"
folded() { cprof-sym "$@" "$tmp/s.bin" 2>"$tmp/err" | cprof-fold --comm program -U; }
folded --debug-dir "$tmp/debug" >"$tmp/want"
like 'the program has a name' "$(cat "$tmp/want")" 'main;spin_here [0-9]+$'
like 'the library has one by its debug file' "$(cat "$tmp/want")" 'spin;hidden [0-9]+$'
gcc -O2 -DUPGRADED -shared -fPIC -Wl,--build-id -o "$tmp/live/new.so" "$tmp/f.c" && mv "$tmp/live/new.so" "$tmp/live/libg.so"
rm "$tmp/live/program"
unlike 'upgraded and deleted, they have none' "$(folded --debug-dir "$tmp/live")" 'hidden|spin_here'
folded --debug-dir "$tmp/a" >"$tmp/got"
same 'by the archive they have all' "$tmp/got" "$tmp/want"
mkdir "$tmp/empty"
folded --symfs "$tmp/empty" --debug-dir "$tmp/a" >"$tmp/got"
same 'also on a machine without any of the files' "$tmp/got" "$tmp/want"
done_testing
