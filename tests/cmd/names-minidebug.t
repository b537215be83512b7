#!/bin/sh
# .gnu_debugdata: the symbols that a stripped binary keeps in a compressed file inside itself.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"
command -v xz >/dev/null 2>&1 || skip_all "there is no xz"

cat >"$tmp/m.c" <<'X'
#include <stdio.h>
static __attribute__((noinline)) int hidden(int x) { return x * 7 + printf("%d", x); }
static __attribute__((noinline)) int secret(int x) { return hidden(x) * 3; }
__attribute__((visibility("default"))) int shown(int x) { return secret(x) + 1; }
int main(int argc, char **argv) { (void)argv; return shown(argc) == 1; }
X
gcc -O1 -g -fvisibility=hidden -rdynamic -Wl,--build-id -o "$tmp/whole" "$tmp/m.c"

# minidebug FILE OUT: as Fedora's find-debuginfo does it: keeps the functions that .dynsym lacks.
minidebug() {
	nm -D "$1" --format=posix --defined-only | awk '{ print $1 }' | sort >"$tmp/dynsyms"
	nm "$1" --format=posix --defined-only | awk '{ if ($2 == "T" || $2 == "t" || $2 == "D") print $1 }' | sort >"$tmp/funcsyms"
	comm -13 "$tmp/dynsyms" "$tmp/funcsyms" >"$tmp/keep"
	objcopy --only-keep-debug "$1" "$tmp/debug" &&
		objcopy -S --remove-section .gdb_index --remove-section .comment --keep-symbols="$tmp/keep" "$tmp/debug" "$tmp/mini" 2>"$tmp/err" &&
		strip -o "$2" "$1" && xz -9 -k -f "$tmp/mini" && objcopy --add-section .gnu_debugdata="$tmp/mini.xz" "$2"
}
ok "a file is made as Fedora makes them" minidebug "$tmp/whole" "$tmp/m"
at() { nm "$tmp/whole" | awk -v s="$1" '$3 == s { print "0x" $1 }'; }
inside() { for f in hidden secret shown main; do printf '0x%x\n' $(($(at $f) + 2)); done; }
named() { ask "$@" | sed 's/^[^ ]* //' | tr '\n' ','; }

inside >"$tmp/addresses"
is "of .symtab all names" "$(named "$tmp/whole" <"$tmp/addresses")" "hidden+2 symtab,secret+2 symtab,shown+2 symtab,main+2 symtab,"
if ! nm -D "$BIN/cprof-sym" | grep -q lzma_code; then
	skip "the rest" "built without liblzma"
	done_testing
fi
is "joined with .dynsym" "$(named "$tmp/m" <"$tmp/addresses")" "hidden+2 minidebug,secret+2 minidebug,shown+2 dynsym,main+2 minidebug,"
is "  its file is a source of that kind" "$(sources "$tmp/ask.sym")" "1 ok minidebug $tmp/m"
plain="-,-,shown+2 dynsym,-,"
cp "$tmp/m" "$tmp/none"
objcopy --remove-section .gnu_debugdata "$tmp/none"
is "without it, exported names only" "$(named "$tmp/none" <"$tmp/addresses" | sed 's/\[[^]]*\][^,]*/-/g')" "$plain"

# A debug file has more, and comes first.
mkdir -p "$tmp/dbg"
objcopy --only-keep-debug "$tmp/whole" "$tmp/dbg/m.debug"
id=$(build_id "$tmp/whole")
mkdir -p "$tmp/dbg/.build-id/$(echo "$id" | cut -c1-2)"
mv "$tmp/dbg/m.debug" "$tmp/dbg/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug"
is "a debug file comes first" "$(named "$tmp/m" --debug-dir "$tmp/dbg" <"$tmp/addresses")" \
	"hidden+2 debug,secret+2 debug,shown+2 debug,main+2 debug,"

# with FILE: a stripped file with these bytes as its section
with() { cp "$tmp/none" "$tmp/with"; objcopy --add-section .gnu_debugdata="$1" "$tmp/with"; }
unharmed() { with "$1"; named "$tmp/with" <"$tmp/addresses" | sed 's/\[[^]]*\][^,]*/-/g'; }
head -c 400 "$tmp/mini.xz" >"$tmp/cut"
is "cut short, it is left alone" "$(unharmed "$tmp/cut")" "$plain"
head -c 3000 /dev/urandom >"$tmp/noise"
is "so is noise" "$(unharmed "$tmp/noise")" "$plain"
echo text | xz >"$tmp/text.xz"
is "and what is no ELF file" "$(unharmed "$tmp/text.xz")" "$plain"

# 400 MB in 60 kB
head -c 400000000 /dev/zero | xz -1 >"$tmp/bomb.xz"
with "$tmp/bomb.xz"
{ segment; process 1; file 1 "$tmp/with" "$(build_id "$tmp/with")"; loads 1 1 "$tmp/with"; frames <"$tmp/addresses"; finish; } |
	cprof-dump -r >"$tmp/bomb.bin"
(limit_memory 200000; cprof-sym "$tmp/bomb.bin") >"$tmp/bomb.sym"
is "a bomb does not go off" $? 0
is "  and takes no name away" "$(names "$tmp/bomb.sym" | sed 's/^[^ ]* //; s/^\[[^]]*\].*/-/' | tr '\n' ',')" "$plain"
# An ELF file with far more data after it than any tool would add
{ cat "$tmp/mini"; head -c 30000000 /dev/zero; } | xz -1 >"$tmp/long.xz"
diag "$(wc -c <"$tmp/bomb.xz") bytes for 400 MB, $(wc -c <"$tmp/long.xz") for 30 MB"
is "more than 256 times its size is too much" "$(unharmed "$tmp/long.xz")" "$plain"
done_testing
