#!/bin/sh
# Inlined functions and source lines in the stream: cprof-sym -i -l.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/sym-lib.sh"

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
# linked_at LINE: the first address of this line, in outer or plain
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
# What is said of each frame: "LEVEL NAME FILE:LINE", the file without its directory
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

# The byte behind the call is the next line's; the call itself is of line 18.
behind=$(objdump -d --no-show-raw-insn "$so" | awk '/<plain>:/ { in_it = 1 } in_it && call { sub(/:/, "", $1); print "0x" $1; exit } in_it && /call/ { call = 1 }')
capture return "$behind" | sym -i -l
is 'a caller is at the line of its call' "$(said)" '0 plain f.c:18'

# Added to a capture that has names already.
capture exact "$store" | sym
cp "$tmp/out" "$tmp/named"
cprof-sym -i -l <"$tmp/named" 2>/dev/null >"$tmp/out"
is 'lines are added to names' "$(said)" '0 outer :0, 0 outer f.c:13, 1 middle f.c:9, 2 deepest f.c:4'
cp "$tmp/out" "$tmp/lined"
cprof-sym -i -l <"$tmp/lined" 2>/dev/null >"$tmp/out"
ok 'a second time changes no byte' cmp "$tmp/lined" "$tmp/out"
cprof-sym <"$tmp/lined" 2>/dev/null >"$tmp/out"
ok '  nor does one without them' cmp "$tmp/lined" "$tmp/out"

# By a separate debug file.
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
for bad in 101 -1 x 5% '' nan; do
	sym --min-resolved "$bad" <"$tmp/half"
	is "--min-resolved \"$bad\" is refused" $? 2
done
done_testing
