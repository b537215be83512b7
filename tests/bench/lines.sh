#!/bin/sh
# Inlined calls and lines: cprof-sym -i -l beside llvm-symbolizer --inlines, on the same addresses, with the
# answers compared; for libc, whose debug file is compressed, and for a program of g++ with the standard
# library.
#
#	tests/bench/lines.sh [BINARY]...	others, with DWARF or a debug file by build ID
#
# Cold: from the start of a program to its end, for 10,000 addresses, all different. Warm: the time for an
# address seen before, in a profile of stacks of 30. It is the difference between 1,000,000 and 100,000
# addresses (for llvm-symbolizer, which takes a second for those, 100,000 and 10,000), and at least 10 ns, the
# resolution. cprof-sym reads a capture and writes one with names; llvm-symbolizer reads addresses and writes
# text, and is given the file with the debug information, so that it need not look for it. llvm-symbolizer
# looks up each address again; cprof-sym looks up no frame twice, so its warm time is for reading samples. The
# library alone looks up each address again, too.
#
# All times are CPU time, user and system, because the machine may have other work. Cold: the best of five,
# one program after the other. Warm: the best of three; for cprof-sym, whose difference is some milliseconds,
# the best of fifteen.
set -u
tests=$(cd "$(dirname "$0")/.." && pwd)
: "${BUILD:=$(dirname "$tests")/build}" "${BIN:=$BUILD/bin}"
PATH=$BIN:$PATH
export LC_ALL=C
different=10000 frames=1000000
command -v llvm-symbolizer >/dev/null || { echo "there is no llvm-symbolizer"; exit 0; }
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cprof-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
. "$tests/lib/dwarf-lib.sh"
. "$tests/lib/stream-lib.sh"

# chains: prints a capture with names in the format of dwarf-lines: "ADDRESS", then "NAME<tab>FILE:LINE"
# inward, then an empty line
chains() {
	cprof-dump | awk -v bias=$bias '
	function hex(h,  i, v) { v = 0; for (i = 3; i <= length(h); i++) v = v * 16 + index("0123456789abcdef", substr(h, i, 1)) - 1; return v }
	$1 == "string" { s = $0; sub(/^[^"]*"/, "", s); sub(/"$/, "", s); sub(/^id=/, "", $2); text[$2] = s }
	$1 == "frame" { sub(/^id=/, "", $2); sub(/^address=/, "", $5); order[++n] = $2; address[$2] = hex($5) - bias }
	$1 == "symbol" {
		r["file"] = r["line"] = 0
		for (i = 2; i <= NF; i++) { split($i, v, "="); r[v[1]] = v[2] }
		f = r["frame"]
		chain[f] = chain[f] text[r["name"]] "\t" text[r["file"]] ":" r["line"] "\n"
	}
	END { for (i = 1; i <= n; i++) printf "0x%x\n%s\n", address[order[i]], chain[order[i]] }'
}

# in_turn COMMAND OTHER: runs them in turn, five times; sets first and second to the best times, first_kib and
# second_kib
in_turn() {
	first='' second='' runs=1
	for _ in 1 2 3 4 5; do
		best "$1" || return
		if [ -z "$first" ] || [ "$us" -lt "$first" ]; then first=$us first_kib=$kib; fi
		best "$2" || return
		if [ -z "$second" ] || [ "$us" -lt "$second" ]; then second=$us second_kib=$kib; fi
	done
}

# warm COMMAND ENDING-OF-THE-INPUT MANY FEW: prints nanoseconds per additional address
warm() {
	best "$1 <$tmp/$3$2" && many=$us && best "$1 <$tmp/$4$2" &&
		awk "BEGIN { w = ($many - $us) / ($3 - $4) * 1000; print (w > 10 ? w : 10) }"
}

row() { # NAME COLD WARM PEAK
	awk -v name="$1" -v cold="$2" -v warm="$3" -v kib="$4" 'BEGIN {
		printf "  %-34s %9.3f s %12.1f ns %9.0f MB\n", name, cold / 1e6, warm, kib / 1000 }'
}

# alone FILE WARM: the cost of the library, beside llvm-symbolizer's nanoseconds
alone() {
	for _ in 1 2 3; do "$BUILD/tests/dwarf-lines" -t "$1" <"$tmp/once"; done | tr '=' ' ' | sort -k4 -n | head -1 | awk -v lw="$2" '{
		printf "  the library alone: opened in %.1f ms, opened and all flattened in %.1f ms, %.1f MB held;\n", $2 * 1e3, $4 * 1e3, $10 / 1e6
		printf "  a look-up warm %.0f ns, %.0f times as fast as a warm answer of llvm-symbolizer\n", $6 * 1e9, lw / ($6 * 1e9) }'
}

# bench BINARY WHAT
bench() {
	place "$1"
	debug=/usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug
	[ -e "$debug" ] || debug=$1
	addresses "$1" $different | sort -R --random-source="$tests/data/dwarf/deep.cc" >"$tmp/once"
	stacks $frames <"$tmp/once" >"$tmp/$frames"
	for n in 100000 10000; do head -$n "$tmp/$frames" >"$tmp/$n"; done
	for set in once $frames 100000; do stream "$1" <"$tmp/$set" >"$tmp/$set.cprof"; done
	ours="cprof-sym -i -l --demangle none"
	llvm="llvm-symbolizer --obj=$debug --inlines --no-demangle --functions=linkage"

	$ours <"$tmp/once.cprof" 2>"$tmp/said" | chains >"$tmp/a"
	$llvm --output-style=JSON <"$tmp/once" >"$tmp/b" 2>/dev/null
	readelf -sW "$debug" >"$tmp/symbols" 2>/dev/null
	printf -- '-- %s (%s), %d addresses; answers compared: ' "$2" "$debug" "$(wc -l <"$tmp/once")"
	python3 "$tests/lib/dwarf-compare.py" "$tmp/a" "$tmp/b" "$tmp/symbols" suffix alias symbol-only symbol-file no-function \
		directory-0 >"$tmp/compared"
	grep -v '^ ' "$tmp/compared" | tr '\n' ' '
	printf '\n  %-34s %11s %15s %12s\n' '' 'cold, all' 'warm, an address' 'peak'
	in_turn "$ours <$tmp/once.cprof" "$llvm --output-style=GNU <$tmp/once" || { echo '  they did not run'; return; }
	runs=15
	our_warm=$(warm "$ours" .cprof $frames 100000)
	runs=3
	their_warm=$(warm "$llvm --output-style=GNU" '' 100000 10000)
	row 'cprof-sym -i -l' "$first" "$our_warm" "$first_kib"
	row 'llvm-symbolizer --inlines' "$second" "$their_warm" "$second_kib"
	claim 'answers that no rule explains' "$(sed -n 's/^unexplained //p' "$tmp/compared")" most 0 ''
	claim 'llvm-symbolizer: times as long, cold' "$(awk "BEGIN { print $second / $first }")" least 3 ''
	claim '  warm' "$(awk "BEGIN { print $their_warm / $our_warm }")" least 50 ''
	alone "$debug" "$their_warm"
}

if [ $# -gt 0 ]; then
	for file; do bench "$(readlink -f "$file")" "$file"; done
	exit
fi
bench "$(readlink -f "$(ldd /bin/sh | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')")" libc
if command -v g++ >/dev/null && g++ -O2 -g -Wl,--build-id=sha1 -o "$tmp/deep" "$tests/data/dwarf/deep.cc"; then
	bench "$tmp/deep" 'a program of g++'
fi
