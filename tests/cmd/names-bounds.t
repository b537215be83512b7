#!/bin/sh
# Files without symbols: functions are distinguished by their start addresses, and still count as unnamed.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"
[ "$(uname -m)" = x86_64 ] || skip_all "this is about x86-64"

cat >"$tmp/b.c" <<'X'
#include <stdio.h>
#include <stdlib.h>
static __attribute__((noinline, used)) int first(int x) { return x * 7 + printf("%d", x); }
static __attribute__((noinline, cold, used)) int never(int x) { puts("never"); return x; }
static __attribute__((noinline, used)) int second(int x)
{
	if (__builtin_expect(x == 12345, 0)) {
		never(x);
		abort();
	}
	return first(x) * 3;
}
int shown(int x) { return second(x) + 1; }
X
mkdir "$tmp/one" "$tmp/two"
gcc -O2 -shared -fPIC -fcf-protection -Wl,--build-id,-z,lazy -o "$tmp/whole.so" "$tmp/b.c"
so=$tmp/one/b.so
strip -o "$so" "$tmp/whole.so"
at() { nm "$tmp/whole.so" | awk -v s="$1" '$3 == s { sub(/^0+/, "", $1); print "0x" $1 }'; }
inside() { for f in "$@"; do printf '0x%x\n' $(($(at "$f") + 3)); done; }
named() { ask "$@" | sed 's/^[^ ]* //' | tr '\n' ','; }

inside first second never shown >"$tmp/addresses"
is "functions without a name are told by where they begin" "$(named "$so" <"$tmp/addresses")" \
	"[b.so+$(at first)]+3 bounds,[b.so+$(at second)]+3 bounds,[b.so+$(at never)]+3 bounds,shown+3 dynsym,"
is "  the summary counts them as unnamed" "$(sed 's/.*cprof-sym: //; s/ in .*(/ (/' "$tmp/err")" \
	"1 of 4 frames named (25.0 %); unresolved: 3 (stripped)"
is "  twice is the same" "$(cprof-sym "$tmp/ask.sym" 2>/dev/null | cmp - "$tmp/ask.sym" && echo same)" same
is "  so does the second time" "$(cprof-sym "$tmp/ask.sym" 2>&1 >/dev/null | sed 's/.*cprof-sym: //; s/ in .*//')" \
	"1 of 4 frames named (25.0 %); unresolved: 3"
like "  and cprof-top" "$(cprof-top -v "$tmp/ask.sym")" '^Unresolved: 75\.00% of innermost frames$'
is "  a line each" "$(cprof-fold -U "$tmp/ask.sym" | sed 's/^[^;]*;//' | sort | tr '\n' ',')" \
	"$(printf '[b.so+%s] 1\n' "$(at first)" "$(at second)" "$(at never)" | cat - "$tmp/shown" 2>/dev/null | sort | tr '\n' ',')shown 1,"
is "all symbols come before" "$(named "$tmp/whole.so" <"$tmp/addresses")" "first+3 symtab,second+3 symtab,never+3 symtab,shown+3 symtab,"

# Each byte of two functions, and of the code beside them: gcc's start files, which have no range, are one.
start=$(($(at first) - 16))
awk -v n=64 -v s=$start 'BEGIN { for (i = 0; i < n; i++) printf "0x%x\n", s + i }' >"$tmp/bytes"
ask "$so" <"$tmp/bytes" | awk '{ sub(/\+[^+]*$/, "", $2); print $1, $2 }' >"$tmp/got"
readelf -SW "$so" | sed 's/^ *\[ *[0-9]*\] *//' | awk '$1 == ".text" { print $3, $5 }' >"$tmp/text"
readelf --debug-dump=frames "$so" | sed -n 's/.*FDE.*pc=\([0-9a-f]*\)\.\.\([0-9a-f]*\)$/\1 \2/p' >"$tmp/fdes"
python3 - "$tmp/fdes" "$tmp/bytes" "$tmp/text" >"$tmp/want" <<'X'
import sys
text, size = (int(x, 16) for x in open(sys.argv[3]).read().split())
fdes = sorted((int(a, 16), int(b, 16)) for a, b in (l.split() for l in open(sys.argv[1])))
for line in open(sys.argv[2]):
    at = int(line, 16)
    hit = [s for s, e in fdes if s <= at < e]
    start = max([text] + [e for s, e in fdes if e <= at])
    end = min([text + size] + [s for s, e in fdes if s > at])
    if not hit and text <= at < text + size and end - start >= 16:
        hit = [start]
    print(hex(at), hex(hit[0]) if hit else "-")
X
sed 's/\[b\.so+\(0x[0-9a-f]*\)\].*/\1/' "$tmp/got" | awk '{ print $1, ($2 ~ /^0x/ ? $2 : "-") }' >"$tmp/here"
same "byte by byte as readelf has the ranges" "$tmp/here" "$tmp/want"

# Stubs have names of their own.
set -- $(readelf -SW "$so" | sed 's/^ *\[ *[0-9]*\] *//' | awk '$1 == ".plt" { print $3, $5 }')
printf '0x%x\n' $((0x$1 + 16)) $((0x$1 + 32)) >"$tmp/stubs"
like "stubs keep their names" "$(named "$so" <"$tmp/stubs")" '^([a-z_]+@plt\+0 plt,){2}$'

# The kind and the reason if there is nothing better. -s removes .dynsym's exported names from a program.
gcc -O1 -s -Wl,--build-id -o "$tmp/prog" -x c - <<'X'
static __attribute__((noinline, used)) int work(int x) { return x * 3; }
int main(int argc, char **argv) { (void)argv; return work(argc); }
X
entry=$(readelf -hW "$tmp/prog" | awk '/Entry point/ { print $4 }')
echo "$entry" | ask "$tmp/prog" >"$tmp/got"
is "the entry of a stripped program" "$(sed 's/^[^ ]* //' "$tmp/got")" "[prog+$entry]+0 bounds"

# The name does not depend on the mapping; two files of one name are kept apart.
base=$((0x7f0000000000))
mapped() { # PROCESS FILE BASE
	set -- "$1" "$2" "$3" $(readelf -lW "$so" | awk '$1 == "LOAD" && / R E / { print $2, $3, $6; exit }')
	mapping "$1" "$2" $(($3 + $5 / 4096 * 4096)) $((($6 + 4095) / 4096 * 4096)) $(($4 / 4096 * 4096))
}
sed 's/return x \* 7/return x * 9/' "$tmp/b.c" >"$tmp/c.c"
gcc -O2 -shared -fPIC -fcf-protection -Wl,--build-id,-z,lazy -s -o "$tmp/two/b.so" "$tmp/c.c"
{
	segment; process 1; process 2
	file 1 "$so" "$(build_id "$so")"; file 2 "$tmp/two/b.so" "$(build_id "$tmp/two/b.so")"
	mapped 1 1 $base; mapped 2 1 $((base + 0x5000000)); mapped 2 2 $((base + 0x9000000))
	printf '0x%x\n' $((base + $(at first) + 3)) | frames 1 exact 1
	printf '0x%x\n' $((base + 0x5000000 + $(at first) + 5)) $((base + 0x9000000 + $(at first) + 3)) | frames 2 exact 2
	finish
} | cprof-dump -r | cprof-sym 2>/dev/null >"$tmp/two.sym"
is "the same text at two bases" "$(name_of "$tmp/two.sym" | tr '\n' ',')" \
	"[b.so+$(at first)]+3 bounds,[b.so+$(at first)]+5 bounds,[b.so+$(at first)]+3 bounds,"
is "two files of one name are kept apart" "$(cprof-top "$tmp/two.sym" | sed -n 's/.*%  \(\[.*\)/\1/p' | sort | tr '\n' ',')" \
	"[one/b.so+$(at first)],[two/b.so+$(at first)],"

# Better names later
id=$(build_id "$so")
mkdir -p "$tmp/dbg/.build-id/$(echo "$id" | cut -c1-2)"
objcopy --only-keep-debug "$tmp/whole.so" "$tmp/dbg/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug"
{ segment; process 1; file 1 "$so" "$id"; loads 1 1 "$so"; frames <"$tmp/addresses"; finish; } | cprof-dump -r >"$tmp/later.bin"
cprof-sym "$tmp/later.bin" 2>/dev/null | cprof-sym --debug-dir "$tmp/dbg" 2>"$tmp/err" >"$tmp/later.sym"
is "a debug file that is found later names them" "$(cprof-fold -U "$tmp/later.sym" | sed 's/^[^;]*;//; s/ .*//' | sort | tr '\n' ',')" \
	"first,never,second,shown,"
like "  and the summary says so" "$(cat "$tmp/err")" '4 of 4 frames named'
like "  which stays where the debug file is gone" "$(cprof-sym "$tmp/later.sym" 2>&1 >/dev/null)" '4 of 4 frames named'

# Damaged tables: unreadable parts give nothing, the rest stays.
set -- $(readelf -SW "$so" | sed 's/^ *\[ *[0-9]*\] *//' | awk '$1 == ".eh_frame" { print $4, $5 }')
cp "$so" "$tmp/noise.so"
head -c $((0x$2)) /dev/urandom | dd of="$tmp/noise.so" bs=1 seek=$((0x$1)) conv=notrunc status=none
is "a table of noise" "$(named "$tmp/noise.so" <"$tmp/addresses" | tr ',' '\n' | tail -1)" "shown+3 dynsym"
done_testing
