# For tests of inlined calls and lines: looks up many addresses of a file here and with llvm-symbolizer.

# addresses FILE N: N addresses of .text, or all of them if it is smaller, in order
addresses() {
	readelf -SW "$1" 2>/dev/null | sed 's/^ *\[ *[0-9]*\] *//' | awk -v n="$2" '
	function dec(h,  i, v) { v = 0; for (i = 1; i <= length(h); i++) v = v * 16 + index("0123456789abcdef", substr(h, i, 1)) - 1; return v }
	$1 == ".text" {
		srand(7)
		start = dec($3); left = size = dec($5)
		for (i = 0; i < size && n > 0; i++) {
			if (rand() * left-- < n) { n--; printf "0x%x\n", start + i }
		}
	}'
}

# compare DESCRIPTION FILE N [OPTION...] -- [RULE...]: the rules explain every difference, and there
# are enough levels
compare() {
	what=$1 file=$2 n=$3
	shift 3
	options=
	while [ "$1" != -- ]; do options="$options $1"; shift; done
	shift
	addresses "$file" "$n" >"$tmp/addresses"
	"$BUILD/tests/dwarf-lines" $options "$file" <"$tmp/addresses" >"$tmp/ours"
	llvm-symbolizer --obj="$file" --output-style=JSON --no-demangle --inlines <"$tmp/addresses" >"$tmp/llvm" 2>/dev/null
	readelf -sW "$file" >"$tmp/symbols" 2>/dev/null
	python3 "$tests/lib/dwarf-compare.py" "$tmp/ours" "$tmp/llvm" "$tmp/symbols" "$@" >"$tmp/result"
	diag "$what: $(wc -l <"$tmp/addresses") addresses; $(head -12 "$tmp/result" | grep -v '^ ' | tr '\n' ',')"
	if grep -qx 'unexplained 0' "$tmp/result" && [ "$(wc -l <"$tmp/addresses")" -gt 500 ] &&
			[ "$(awk '/^levels/ { print $2 }' "$tmp/result")" -gt "$(wc -l <"$tmp/addresses")" ]; then
		pass "$what"
	else
		fail "$what"
		diag "$(sed -n '/^unexplained/,$p' "$tmp/result")"
	fi
}
