#!/bin/sh
# The cost of a name: in the process, and cprof-sym beside perf script, llvm-symbolizer and addr2line on the
# same frames of one large binary, with their answers compared. Stacks of 30 frames; once the worst case, in
# which all addresses differ (cold), and once as in a profile (2,000 different stacks of 20,000 different
# addresses, the first ones often). Warm is the cost of a frame once all addresses were seen. For the other
# tools it is the difference between 1,000,000 and 100,000 frames of the profile, divided by 900,000.
# cprof-sym looks up no frame twice, so that difference is the reading of samples; theirs is compared with the
# time of modules_name() for these frames. Theirs includes the text that they write.
#
#	tests/bench/sym.sh [BINARY]		node by default
#
# All times are CPU time, user and system, because the machine may have other work; each is the best of three.
# addr2line is so slow that it gets 2,000 addresses, and its time for those beyond the first (which pays for
# the start) is scaled; the line says so.
set -u
tests=$(cd "$(dirname "$0")/.." && pwd)
: "${BUILD:=$(dirname "$tests")/build}" "${BIN:=$BUILD/bin}"
PATH=$BIN:$PATH
export LC_ALL=C
file=$(readlink -f "${1:-$(command -v node || command -v clang || command -v gdb || command -v cprof-sym)}")
frames=1000000 few=100000
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cprof-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT

. "$tests/lib/stream-lib.sh"
place "$file"

# addresses N: prints N addresses of the segment, one a line
addresses() {
	awk -v n="$1" -v start=$start -v size=$size 'BEGIN { srand(7); for (i = 0; i < n; i++) printf "0x%x\n", start + int(rand() * size) }'
}

# A perf pipe with the same stacks: attribute, comm, mapping, samples with call chains.
perf_pipe() {
	perl -e '
	my ($path, $start, $length, $offset, $depth, $bias) = @ARGV; @ARGV = (); binmode STDOUT;
	sub event { my ($type, $misc, $body) = @_; $body .= "\0" x (-length($body) & 7); print pack("Vvv", $type, $misc, 8 + length $body), $body }
	print "PERFILE2", pack("Q<", 16);
	my $attr = pack("VVQ<Q<Q<Q<Q<", 1, 128, 0, 10101010, 1 | 2 | 4 | 32, 0, 1 << 5);
	event(64, 0, $attr . "\0" x (128 - length $attr) . pack("Q<", 1));
	event(3, 0, pack("VVa16", 42, 42, "bench"));
	event(10, 2, pack("VVQ<Q<Q<VVQ<Q<VV", 42, 42, $start, $length, $offset, 8, 1, 77, 0, 5, 2) . $path . "\0");
	my ($t, @s) = (100);
	sub stack { event(9, 2, pack("Q<VVQ<Q<Q<*", $s[0], 42, 42, $t++, 1 + @s, ~0 - 511, @s)) if @s; @s = () }
	while (<STDIN>) { push @s, $bias + hex; stack() if @s == $depth } stack();
	' "$file" $((base + bias)) $(((size + start - base + 4095) / 4096 * 4096)) $((offset / 4096 * 4096)) $depth $bias
}

# row NAME COMMAND-BEFORE-THE-INPUT INPUT: runs the command on all addresses once, and on many and few frames
# of the profile
row() {
	if ! best "$2 <$tmp/cold.$3"; then printf '  %-34s did not run\n' "$1"; return; fi
	cold=$us cold_kib=$kib
	best "$2 <$tmp/many.$3" && many=$us
	best "$2 <$tmp/few.$3" && few_us=$us
	warm=$(awk "BEGIN { printf \"%.1f\", ($many - $few_us) / ($frames - $few) * 1000 }")
	if [ "$3" = cprof ]; then our_cold=$cold; fi
	awk -v name="$1" -v cold="$cold" -v warm="$warm" -v n=$frames -v kib="$cold_kib" -v ours="$our_cold" 'BEGIN {
		printf "  %-34s %9.1f ns %6.1fx %12.1f ns %9.0f MB\n", name, cold / n * 1000, cold / ours, warm, kib / 1000 }'
	if [ "$3" != cprof ]; then
		ratios="$ratios
$1|$(awk "BEGIN { print $cold / $our_cold, $cold / $frames * 1000 / $cold_alone, $warm / $warm_alone }")"
	fi
}

in_process() {
	echo "-- in the process: modules_name() on $file"
	for how in none simplified; do
		rm -f "$tmp/names"
		for _ in 1 2 3; do "$BUILD/tests/bench-names" "$file" $how "$tmp/cold.offsets" 1 >>"$tmp/names"; done
		cold=$(awk '/^cold/ { print $2 }' "$tmp/names" | sort -n | head -1)
		queued=$(awk '/^queued/ { print $2 }' "$tmp/names" | sort -n | head -1)
		for _ in 1 2 3; do "$BUILD/tests/bench-names" "$file" $how "$tmp/many.offsets" 5; done >"$tmp/names"
		warm=$(awk '/^warm/ { print $2 }' "$tmp/names" | sort -n | head -1)
		if [ $how = none ]; then
			claim 'ns a name cold, each for the first time, in any order' "$cold" most 500 ' ns'
			claim 'ns a name cold, block by block as cprof-sym asks' "$queued" most 500 ' ns'
			claim 'ns a name warm, addresses of a profile' "$warm" most 50 ' ns'
			cold_alone=$queued warm_alone=$warm
		else
			printf '  %-58s %7.2f ns\n' 'demangled, cold, block by block' "$queued"
			claim 'demangled, warm' "$warm" most 100 ' ns'
		fi
	done
	printf '  peak of memory %s KiB; %s\n' "$(awk '/^peak/ { print $2; exit }' "$tmp/names")" "$(sed -n 's/^load/loaded in/p' "$tmp/names" | sort | head -1)"
}

# load: times a module of 86,000 functions with names of the usual length, in the order that the linker gives
# them.
load() {
	awk 'BEGIN { for (i = 0; i < 86000; i++) {
		n = "_ZN5bench5space" length(i) + 8 "function" i "EPKcm"
		printf "\t.globl %s\n\t.type %s, @function\n%s:\t.skip %d, 0x90\n\t.size %s, .-%s\n", n, n, n, 16 + i % 7 * 16, n, n } }' |
		as -o "$tmp/m.o" - && ld -e 0 -o "$tmp/m" "$tmp/m.o" || return
	echo 1000 >"$tmp/one"
	for _ in 1 2 3 4 5 6 7 8 9; do "$BUILD/tests/bench-names" "$tmp/m" none "$tmp/one" 0; done |
		awk '/^load/ { print $2 * 1000 }' | sort -n >"$tmp/loads"
	claim 'ms to load a module of 86,000 symbols' "$(head -1 "$tmp/loads")" most 10 ' ms'
}

# answers: addresses and names of each tool, "0xADDRESS NAME" a line, mangled
answers() {
	cprof-sym --demangle none <"$tmp/check.cprof" 2>/dev/null | cprof-dump | awk -v bias=$bias '
		$1 == "string" { s = $0; sub(/^[^"]*"/, "", s); sub(/"$/, "", s); sub(/^id=/, "", $2); text[$2] = s }
		$1 == "frame" { sub(/^id=/, "", $2); sub(/^address=/, "", $5); order[++n] = $2; address[$2] = $5 }
		$1 == "symbol" { for (i = 2; i <= NF; i++) { split($i, v, "="); r[v[1]] = v[2] } name[r["frame"]] = text[r["name"]] }
		END { for (i = 1; i <= n; i++) print name[order[i]] == "" ? "-" : name[order[i]] }' >"$tmp/ours"
	if command -v llvm-symbolizer >/dev/null; then
		sed "s|^|$file |" "$tmp/check" | llvm-symbolizer --no-inlines --functions=linkage --no-demangle |
			awk 'NR % 3 == 1 { print $0 == "??" ? "-" : $0 }' >"$tmp/theirs"
		agree 'llvm-symbolizer'
	fi
	if command -v perf >/dev/null; then
		perf_pipe <"$tmp/check" | perf script --no-demangle -i - -F ip,sym 2>/dev/null |
			awk 'NF { $1 = ""; sub(/^ /, ""); print $0 == "[unknown]" ? "-" : $0 }' >"$tmp/theirs"
		agree 'perf script'
	fi
}

# agree TOOL: the share of its answers that equal ours, or are another name for the same start address
agree() {
	readelf -sW "$file" 2>/dev/null | awk '$1 ~ /^[0-9]+:$/ && NF >= 8 { sub(/@.*/, "", $8); print $2, $8 }' >"$tmp/symbols"
	paste "$tmp/ours" "$tmp/theirs" | awk -F '\t' -v tool="$1" '
		FILENAME != "-" { split($0, v, " "); if (!((v[1], v[2]) in has)) { has[v[1], v[2]]; begins[v[2]] = begins[v[2]] " " v[1] } next }
		function same_place(a, b,  i, n, v) { n = split(begins[a], v, " "); for (i = 1; i <= n; i++) if ((v[i], b) in has) return 1; return 0 }
		{ sub(/@.*/, "", $2); n++ }
		$1 == $2 { same++; next }
		$1 == "-" { more++; next }
		$2 == "-" { less++; next }
		same_place($1, $2) { alias++; next }
		{ other++; if (other <= 3) example = example "\n    " $1 ", there " $2 }
		END { printf "  %s: %d of %d answers equal, %d by another name of the same function; named by cprof-sym alone %d, by it alone %d; different %d%s\n",
			tool, same, n, alias, less, more, other, example }' "$tmp/symbols" -
}

printf '%s, %d MB, %d symbols in .symtab and .dynsym\n' "$file" $(($(wc -c <"$file") >> 20)) \
	"$(readelf -sW "$file" 2>/dev/null | grep -c '^ *[0-9]*:')"
addresses $frames >"$tmp/cold"
addresses 20000 | stacks $frames >"$tmp/many"
head -$few "$tmp/many" >"$tmp/few"
awk '!seen[$1]++' "$tmp/many" | head -20000 >"$tmp/check"
for set in cold many few check; do
	stream "$file" <"$tmp/$set" >"$tmp/$set.cprof"
	sed "s|^|$file |" "$tmp/$set" >"$tmp/$set.llvm"
	if command -v perf >/dev/null; then perf_pipe <"$tmp/$set" >"$tmp/$set.perf"; fi
done
for set in cold many; do
	awk -v back=$((start - offset)) '
	function hex(h,  i, v) { v = 0; for (i = 3; i <= length(h); i++) v = v * 16 + index("0123456789abcdef", substr(h, i, 1)) - 1; return v }
	{ printf "%x\n", hex($1) - back }' "$tmp/$set" | head -$([ $set = cold ] && echo 200000 || echo $frames) >"$tmp/$set.offsets"
done

in_process
load
echo '-- answers on 20,000 addresses'
answers
printf -- '-- %d frames, from the start of the program to its end\n  %-34s %12s %7s %15s %12s\n' $frames '' 'cold, a frame' '' 'warm, a frame' 'peak'
our_cold='' ratios=''
row 'cprof-sym' cprof-sym cprof
if command -v perf >/dev/null; then
	row 'perf script' 'perf script -i -' perf # thread, time, address, name, offset, file, as in cprof-sym's stream
	row 'perf script -F ip,sym' 'perf script -i - -F ip,sym' perf
fi
if command -v llvm-symbolizer >/dev/null; then
	row 'llvm-symbolizer --no-inlines' 'llvm-symbolizer --no-inlines' llvm
	row 'llvm-symbolizer' llvm-symbolizer llvm
fi
echo "$ratios" | while IFS='|' read -r tool cold_and_warm; do
	[ -n "$tool" ] || continue
	set -- $cold_and_warm
	claim "$tool: times as long, cold" "$1" least 5 ''
	claim '  as long as naming alone, cold' "$2" least 5 ''
	claim '  as long as naming alone, warm' "$3" least 25 ''
done
if command -v addr2line >/dev/null; then
	head -1 "$tmp/cold" >"$tmp/one.a2l"
	head -2001 "$tmp/cold" >"$tmp/some.a2l"
	best "addr2line -f -C -e $file <$tmp/one.a2l" && one=$us && best "addr2line -f -C -e $file <$tmp/some.a2l" &&
		awk "BEGIN { printf \"  addr2line -f -C: %.0f ns a frame, %.0f times ours cold (scaled from 2,000), peak %.0f MB\\n\", \
			($us - $one) / 2000 * 1000, ($us - $one) / 2000 * $frames / $our_cold, $kib / 1000 }"
fi
