#!/bin/sh
# Hostile files: thousands of changes to small ones; none crashes, hangs or breaks an invariant.
. "$(dirname "$0")/../lib/lib.sh"

cp "$tests/data/three-calls.c" "$tmp/f.c"
gcc -O1 -g -shared -fPIC -Wl,--build-id -o "$tmp/f.so" "$tmp/f.c"
objcopy --only-keep-debug "$tmp/f.so" "$tmp/f.debug"
objcopy --add-gnu-debuglink="$tmp/f.debug" "$tmp/f.so" "$tmp/f.linked"
strip -o "$tmp/f.stripped" "$tmp/f.linked"
for f in f.so f.debug f.linked f.stripped; do
	ok "2,000 changes of $f" timeout 120 "$BUILD/tests/fuzz-elf" -m 2000 "$tmp/$f"
done
for f in "$here"/corpus/elf-*; do
	ok "300 changes of ${f##*/}" timeout 120 "$BUILD/tests/fuzz-elf" -m 300 "$f"
done
awk 'BEGIN { srand(1); for (i = 0; i < 300; i++) printf "%x %x name %d\n", 4096 + int(rand() * 2000), 1 + int(rand() * 200), i }' >"$tmp/map"
printf '0x10 0x20 a b;c\n10 20\ngarbage\n\n20 ffffffffffffffff x\nfffffffffffffff0 f y\n30 10 \n' >>"$tmp/map"
ok '5,000 changes of a perf map' timeout 120 "$BUILD/tests/fuzz-perfmap" -m 5000 "$tmp/map"
ok '5,000 changes of kernel symbols' timeout 120 "$BUILD/tests/fuzz-kallsyms" -m 5000 "$here"/corpus/kallsyms-*
for f in "$here"/corpus/jitdump-*; do
	ok "5,000 changes of $(basename "$f")" timeout 120 "$BUILD/tests/fuzz-jitdump" -m 5000 "$f"
done
for f in "$here"/corpus/names-* "$here"/corpus/unwind-*.so "$here"/corpus/unwind-golang-*; do
	ok "1,000 changes of ${f##*/}, as names" timeout 120 "$BUILD/tests/fuzz-names" -m 1000 "$f"
done
for f in "$here"/corpus/probes-*; do
	ok "2,000 changes of ${f##*/}" timeout 120 "$BUILD/tests/fuzz-probes" -m 2000 "$f"
done
done_testing
