#!/bin/sh
# Inlined functions and source lines in the stream: cprof-sym -i -l
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"

mkdir -p "$tmp/src" "$tmp/debug/.build-id" "$tmp/dwz"
cat >"$tmp/src/f.c" <<'X'
volatile int v;
static inline __attribute__((always_inline)) int deepest(int x)
{
	v = x; /* 4 */
	return v * 3;
}
static inline __attribute__((always_inline)) int middle(int x)
{
	return deepest(x + 1); /* 9 */
}
__attribute__((noinline)) int outer(int x)
{
	return middle(x) + 7; /* 13 */
}
int plain(int x)
{
	v = x; /* 17 */
	return outer(x) + 1; /* 18 */
}
X
so=$tmp/f.so
gcc -O1 -g -gno-column-info -shared -fPIC -Wl,--build-id -o "$so" "$tmp/src/f.c" 
id=$(build_id "$so")
# linked_at LINE: prints the first address of this line, in outer or plain
linked_at() { objdump -dl --no-show-raw-insn "$so" | awk -v want=":$1" '
	/^[^ ].*\/f\.c:[0-9]+/ { split($1, a, "f.c"); line = a[2]; next }
	/^ *[0-9a-f]+:/ && line == want { sub(/:/, "", $1); print "0x" $1; exit }'; }
capture() { # KIND ADDRESS...
	kind=$1
	shift
	segment; process 1; file 1 "$so" "$id"; loads 1 1 "$so"
	printf '%d\n' "$@" | frames 1 "$kind"
	finish
}
# said: prints "LEVEL NAME FILE:LINE" for each frame, the file without its directory
said() {
	cprof-dump "$tmp/out" | awk '
	{ delete v; for (i = 2; i <= NF; i++) { eq = index($i, "="); if (eq) v[substr($i, 1, eq - 1)] = substr($i, eq + 1) } }
	$1 == "string" { s = $0; sub(/^string id=[0-9]* text="/, "", s); sub(/"$/, "", s); text[v["id"]] = s }
	$1 == "symbol" { f = text[v["file"]]; sub(/.*\//, "", f); printf "%s%d %s %s:%d", n++ ? ", " : "", v["level"], text[v["name"]], f, v["line"] }'
}
sym() { cprof-dump -r | cprof-sym "$@" 2>"$tmp/err" >"$tmp/out"; }

if ! ldd "$(command -v cprof-sym)" | grep -q libdw; then
	capture exact "$(linked_at 4)" | sym -i -l
	is 'without libdw a function has its name alone' "$(said)" '0 outer :0'
	done_testing
	exit
fi

store=$(linked_at 4)
capture exact "$store" | sym
is 'without an option the function alone' "$(said)" '0 outer :0'
capture exact "$store" | sym -i
is '-i: what is inlined there, inward' "$(said)" '0 outer :0, 1 middle :0, 2 deepest :0'
capture exact "$store" | sym -l
is '-l: the line of the place' "$(said)" '0 outer f.c:4'
capture exact "$store" | sym -i -l
is '-i -l: each line is where the next one is called' "$(said)" '0 outer f.c:13, 1 middle f.c:9, 2 deepest f.c:4'
capture exact "$(linked_at 17)" | sym -i -l
is 'where nothing is inlined' "$(said)" '0 plain f.c:17'
like 'whole paths are said' "$(cprof-dump "$tmp/out" | grep '^string')" "text=\"$tmp/src/f.c\""

# The byte after the call belongs to the next line; the call itself is on line 18.
behind=$(objdump -d --no-show-raw-insn "$so" | awk '/<plain>:/ { in_it = 1 } in_it && call { sub(/:/, "", $1); print "0x" $1; exit } in_it && /call/ { call = 1 }')
capture return "$behind" | sym -i -l
is 'a caller is at the line of its call' "$(said)" '0 plain f.c:18'

# Lines added to a capture that has names already
capture exact "$store" | sym
cp "$tmp/out" "$tmp/named"
cprof-sym -i -l <"$tmp/named" 2>/dev/null >"$tmp/out"
is 'lines are added to names' "$(said)" '0 outer :0, 0 outer f.c:13, 1 middle f.c:9, 2 deepest f.c:4'
cp "$tmp/out" "$tmp/lined"
cprof-sym -i -l <"$tmp/lined" 2>/dev/null >"$tmp/out"
ok 'a second time changes no byte' cmp "$tmp/lined" "$tmp/out"
cprof-sym <"$tmp/lined" 2>/dev/null >"$tmp/out"
ok '  nor does one without them' cmp "$tmp/lined" "$tmp/out"

# Lines from a separate debug file
mkdir -p "$tmp/debug/.build-id/$(printf %.2s "$id")"
objcopy --only-keep-debug "$so" "$tmp/debug/.build-id/$(printf %.2s "$id")/${id#??}.debug"
capture exact "$store" >"$tmp/text"
strip "$so"
sym -i -l --debug-dir "$tmp/debug" <"$tmp/text"
is 'from a debug file' "$(said)" '0 outer f.c:13, 1 middle f.c:9, 2 deepest f.c:4'
sym -i -l --debug-dir "$tmp/dwz" <"$tmp/text"
is 'without one the file has no lines' "$(said)" '0 outer :0'
mv "$so" "$so.gone"
sym -i -l --debug-dir "$tmp/debug" <"$tmp/text"
is 'from a debug file alone' "$(said)" '0 outer f.c:13, 1 middle f.c:9, 2 deepest f.c:4'

# Data that two programs share is in a third file (dwz), which is found by its name, or by its build ID.
cat >"$tmp/src/g.cc" <<'X'
#include <algorithm>
#include <map>
#include <string>
#include <vector>
volatile int v;
static inline __attribute__((always_inline)) int deepest(int x)
{
	v = x; /* 8 */
	return v * 3;
}
extern "C" __attribute__((noinline)) int outer(int x)
{
	return deepest(x + 1) + 7; /* 13 */
}
std::map<std::string, std::vector<int>> m;
void all(std::vector<int> &a) { std::sort(a.begin(), a.end()); m["x"] = a; }
X
if command -v dwz >/dev/null; then
	mkdir -p "$tmp/two"
	cp "$tmp/src/g.cc" "$tmp/src/h.cc"
	for n in g h; do g++ -O1 -g -gno-column-info -shared -fPIC -Wl,--build-id -o "$tmp/two/$n.so" "$tmp/src/$n.cc"; done
	(cd "$tmp/two" && dwz -m common.dwz g.so h.so)
	like 'dwz: there is a file of what two have' "$(readelf -SW "$tmp/two/common.dwz")" debug_info
	so=$tmp/two/g.so id=$(build_id "$tmp/two/g.so")
	at=$(objdump -dl --no-show-raw-insn "$so" | awk '/\/g\.cc:8$/ { hit = 1; next } /^ *[0-9a-f]+:/ && hit { sub(/:/, "", $1); print "0x" $1; exit }')
	capture exact "$at" >"$tmp/text2"
	sym -i -l <"$tmp/text2"
	is 'dwz: by its name' "$(said)" '0 outer g.cc:13, 1 deepest g.cc:8'
	cp "$tmp/out" "$tmp/lined2"
	status "it is archived" 0 cprof-archive -d "$tmp/kept" --debug "$tmp/lined2"
	mv "$tmp/two" "$tmp/moved"
	sym -i -l --debug-dir "$tmp/kept" <"$tmp/text2"
	is 'dwz: by its build ID, from an archive' "$(said)" '0 outer g.cc:13, 1 deepest g.cc:8'
	mv "$tmp/moved" "$tmp/two"
	mv "$tmp/two/common.dwz" "$tmp/two/away"
	sym -i -l <"$tmp/text2"
	is 'without it nothing is inlined that has no name' "$(said)" '0 outer g.cc:13'
fi

# A function without a linkage name: gcc gives none to a template over a local type.
cat >"$tmp/src/t.cc" <<'X'
volatile int v;
template <typename F> static inline __attribute__((always_inline)) int apply(F f, int x) { return f(x) + 1; }
extern "C" __attribute__((noinline)) int host(int x)
{
	struct local { int k; int operator()(int y) { v = y; return v * k; } };
	return apply(local{ 3 }, x);
}
X
g++ -O2 -g -shared -fPIC -Wl,--build-id -o "$tmp/t.so" "$tmp/src/t.cc"
so=$tmp/t.so id=$(build_id "$tmp/t.so")
host=$(nm "$so" | awk '$3 == "host" { print "0x" $1 }')
for o in 0 1 2 3 4 5 6 7 8 9 10 11 12; do printf '%d\n' $((host + o)); done >"$tmp/bytes"
{ segment; process 1; file 1 "$so" "$id"; loads 1 1 "$so"; frames 1 exact <"$tmp/bytes"; finish; } | sym -i
like 'a template that has no linkage name is there' "$(said)" '1 apply :0'
unlike '  and has no arguments' "$(said)" 'apply<'
so=$tmp/f.so id=$(build_id "$tmp/f.so.gone")

# --min-resolved
sym --min-resolved 100 --debug-dir "$tmp/debug" <"$tmp/text"
is '--min-resolved 100, all are named' $? 0
{ cat "$tmp/text" | grep -v -e '^end' -e '^flush'; echo 99 | frames 1 exact 7; finish; } >"$tmp/half"
sym --min-resolved 50 --debug-dir "$tmp/debug" <"$tmp/half"
is '--min-resolved 50, half are named' $? 0
sym --min-resolved 50.1 --debug-dir "$tmp/debug" <"$tmp/half"
is '--min-resolved 50.1' $? 4
like '  says so' "$(cat "$tmp/err")" 'fewer than 50.1 %'
is '  and delivers all' "$(said)" '0 outer :0'
sym --min-resolved 50.1% --debug-dir "$tmp/debug" <"$tmp/half"
is '--min-resolved 50.1%' $? 4
for bad in 101 -1 x 5%% % '' nan; do
	sym --min-resolved "$bad" <"$tmp/half"
	is "--min-resolved \"$bad\" is refused" $? 2
done
done_testing
