#!/bin/sh
# Hostile files: the result is bounded, and either complete and readable or nothing.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"
. "$tests/lib/archive-lib.sh"

cp "$tests/data/three-calls.c" "$tmp/f.c"
gcc -O1 -g -shared -fPIC -Wl,--build-id -o "$tmp/f.so" "$tmp/f.c"
objcopy --only-keep-debug "$tmp/f.so" "$tmp/f.debug"
strip -o "$tmp/f.stripped" "$tmp/f.so"
capture "$tmp/f.stripped" 3 >"$tmp/f.bin"
cprof-archive -d "$tmp/a" "$tmp/f.bin" 2>"$tmp/err"
cp "$(where "$tmp/a" "$(build_id "$tmp/f.so")")" "$tmp/f.slim"
ok 'a relocation of a symbol that no table can have' "$BUILD/tests/fuzz-slim" "$here/corpus/slim-relocation.so"
for f in f.so f.debug f.stripped f.slim; do
	ok "1,000 changes of $f" timeout 120 "$BUILD/tests/fuzz-slim" -m 1000 "$tmp/$f"
done
done_testing
