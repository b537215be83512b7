#!/bin/sh
# Hostile DWARF: thousands of changes to small files; none crashes, hangs or breaks an invariant. The files in
# tests/fuzz/corpus are made by the same commands.
. "$(dirname "$0")/../lib/lib.sh"

cat >"$tmp/f.c" <<'X'
static inline __attribute__((always_inline)) int one(int x) { return x * 3 ^ x >> 2; }
static inline __attribute__((always_inline)) int two(int x) { return x & 1 ? one(x + 1) : one(x) + one(x - 3); }
__attribute__((noinline, noclone)) int three(int x, int n) { int s = 0; while (n--) s += two(x + n); return s; }
__attribute__((noreturn)) void _start(void) { for (;;) *(volatile int *)(long)three(4, 5) = 1; }
X
cd "$tmp" || exit 1
small="-O2 -nostdlib -static -fno-asynchronous-unwind-tables -fdebug-prefix-map=$tmp=/src -Wl,--build-id=sha1 f.c"
clang -gdwarf-5 $small -o clang5 2>/dev/null || gcc -gdwarf-5 $small -o clang5
gcc -gdwarf-5 $small -o gcc5
gcc -gdwarf-4 -ffunction-sections $small -o gcc4
gcc -gdwarf-5 -gdwarf64 $small -o wide
gcc -gdwarf-5 -gsplit-dwarf $small -o split
gcc -gdwarf-4 -gz=zlib-gnu $small -o zdebug
gcc -gdwarf-5 -gz=zlib $small -o gz
[ "$(uname -m)" != x86_64 ] || gcc -nostdlib -static -o cases "$tests/data/dwarf/cases.s"
objcopy -O binary --only-section=.debug_line --set-section-flags .debug_line=alloc gcc5 line5
for f in clang5 gcc5 gcc4 wide split zdebug gz cases line5; do
	[ ! -e $f ] || ok "500 changes of $f" timeout 120 "$BUILD/tests/fuzz-dwarf" -m 500 $f
done
ok "what was found before" timeout 120 "$BUILD/tests/fuzz-dwarf" "$here"/corpus/dwarf-*
done_testing
