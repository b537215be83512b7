#!/bin/sh
# V8 is found in a file: made ones with the metadata of Node.js 16 to 26, that of this machine, and damaged
# ones.
. "$(dirname "$0")/../lib/lib.sh"
find=$BUILD/tests/lang-javascript
data=$tests/data/javascript

# numbers VERSION: major and minor version of V8
numbers() {
	awk -v node="$1" '$1 == "node" { on = $2 == node; next }
		on && $1 == "version" { print $2 }' "$data/offsets.txt" | sed 's/^\(.*\)\(..\)00$/0x\1 0x\2/'
}
# made NODE [SED]: a library with the metadata of this version, changed by SED
made() {
	awk -v node="$1" 'NR == 1 { for (i = 2; i <= NF; i++) if ($i == node) at = i; next }
		$at != "-" { print "const int v8dbg_" $1 " = " $at ";" }' "$data/metadata.txt" |
		sed "${2:-}" >"$tmp/made.c"
	read -r major minor <<END
$(numbers "$1")
END
	cat >>"$tmp/made.c" <<END
int _ZN2v88internal7Version6major_E = $major, _ZN2v88internal7Version6minor_E = $minor;
const unsigned char _ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE[12] = {
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
};
void Builtins_First(void) { }
void Builtins_InterpreterEntryTrampoline(void) { }
void Builtins_WideHandler(void) { }
END
	${CC:-cc} -shared -fPIC -o "$tmp/made.so" "$tmp/made.c" 2>"$tmp/err"
}
# wanted NODE: version and offsets, as recorded
wanted() {
	awk -v node="$1" '$1 == "node" { on = $2 == node; next } on && n[node]++ < 5' "$data/offsets.txt"
}

if made 20; then
	for node in 16 17 18 19 20 21 22 23 24 25 26; do
		made $node
		is "the metadata of Node.js $node" "$("$find" "$tmp/made.so" | head -n 5)" "$(wanted $node)"
	done
	like "lengths of bytecodes" "$("$find" "$tmp/made.so")" '^bytecodes 4 lengths 78$'
	is "ranges of the builtins" "$("$find" "$tmp/made.so" | grep -c '^range [1-9]')" 3
	strip "$tmp/made.so" &&
		like "  a stripped file has its exported ones" "$("$find" "$tmp/made.so")" 'usable 1$'
	# changes that make it useless, but not another program
	while read -r text change; do
		made 24 "$change"
		is "$text" "$("$find" "$tmp/made.so" | head -n 1)" "version d0600 usable 0"
	done <<'END'
compressed_pointers s/TaggedSize = 8/TaggedSize = 4/
another_coding_of_strings s/ConsStringTag = 1/ConsStringTag = 3/
no_map /class_Map__instance_type/d
no_way_to_the_code /nstruction_start/d
an_offset_out_of_range s/\(class_Script__name.*\) = .*/\1 = 70000;/
a_negative_offset s/\(class_Script__name.*\) = .*/\1 = -8;/
END
	made 24 '/class_JSFunction__shared/d'
	is "without functions it is not V8" "$("$find" "$tmp/made.so")" none
else
	skip "made libraries" "there is no compiler: $(tail -1 "$tmp/err")"
fi

node=$(command -v node) && node=$(readlink -f "$node")
if [ -n "$node" ] && [ "$(od -An -tx1 -N4 "$node" | tr -d ' ')" = 7f454c46 ] &&
	"$find" "$node" >"$tmp/node"; then
	version=$(node -e 'const v = process.versions.v8.split(".");
		console.log((v[0] << 16 | v[1] << 8).toString(16))')
	is "the Node.js of this machine" "$(head -n 1 "$tmp/node")" "version $version usable 1"
	like "  has its bytecodes" "$(cat "$tmp/node")" '^bytecodes [1-9][0-9][0-9] lengths [1-9][0-9]{3}$'
	like "  and its builtins" "$(cat "$tmp/node")" '^range [1-9][0-9]{6}$'
	made 20
	"$find" damage "$tmp/made.so" 300 >"$tmp/tap"
	is "files that are damaged and cut" "$(grep -c '^ok' "$tmp/tap") $(grep -c '^not' "$tmp/tap")" "2 0"
else
	skip "the Node.js of this machine" "node is not installed, or uses a library"
fi
done_testing
