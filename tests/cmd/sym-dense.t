#!/bin/sh
# DWARF that asks for much memory, or much time, is read up to a limit.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"

ldd "$(command -v cprof-sym)" | grep -q libdw || skip_all "built without libdw"
cd "$tmp" || exit 1
# sym KIND N: names an address
sym() {
	python3 "$here/dense-dwarf.py" x.so "$1" "$2"
	{ segment; process 1; file 1 "$tmp/x.so" ''; loads 1 1 x.so; echo 0x401004 | frames; finish; } |
		cprof-dump -r >in
	timeout 300 cprof-sym -i -l in 2>err >out
	echo "$? $(names out | cut -d' ' -f2-) $(grep 'cannot read' err)"
}
for kind in rows calls files units; do
	is "$kind: all are read" "$(sym $kind 1000)" "0 outer+4 symtab "
done
cut="0 outer+4 symtab cprof-sym: cannot read 1 unit of $tmp/x.so in full: too many lines, calls or units"
is "9,000,000 rows in a table are not" "$(sym rows 9000000)" "$cut"
like "  the file takes few kB" "$(($(wc -c <x.so) < 100000))" 1
is "nor 9,000,000 inlined calls in a function" "$(sym calls 9000000)" "$cut"
is "nor 1,100,000 files of a table" "$(sym files 1100000)" "$cut"
# Each of these takes hours if each entry is read in full.
for kind in attributes names paths; do
	is "$kind: few are read" "$(sym $kind 200)" "0 outer+4 symtab "
done
is "a million attributes of each of a million calls take no time" \
	"$(sym attributes 1000000)" "0 outer+4 symtab "
is "nor does a name of 50,000,000 bytes that a million calls share" \
	"$(sym names 50000000)" "0 outer+4 symtab "
is "  or a million files" "$(sym paths 50000000)" "0 outer+4 symtab "
done_testing
