#!/bin/sh
# Small units that no compiler writes: rules that a symbolizer must follow, one a line.
. "$(dirname "$0")/../lib/lib.sh"

printf '#include <elfutils/libdw.h>\nint main(void) { return 0; }\n' | gcc -x c -o /dev/null - -ldw 2>/dev/null ||
	skip_all "built without libdw"
[ "$(uname -m)" = x86_64 ] || skip_all "for x86-64"
gcc -nostdlib -static -o "$tmp/cases" "$tests/data/dwarf/cases.s" || exit 1

# at SYMBOL+OFFSET: the chain, "NAME FILE:LINE" inward
at() {
	a=$(readelf -sW "$tmp/cases" | awk -v s="${1%+*}" '$8 == s { print $2 }')
	printf '0x%x\n' $((0x$a + ${1#*+})) | "$BUILD/tests/dwarf-lines" "${2:-$tmp/cases}" |
		sed '1d; /^$/d' | tr '\t' ' ' | tr '\n' '|'
}

is "a unit without functions and addresses: by its lines" "$(at f+0)" " /where/cases.c:10|"
is "of two rows at one address the later" "$(at f+8)" " /else/where.h:30|"
is "file 0 is none in DWARF 4; the second unit at an address has the function" "$(at weak+1)" "weak_of_the_second :40|"
is "before an inlined call" "$(at g+7)" "g :0|"
is "an inlined call from another unit; a file that there is not" "$(at g+8)" "g :7|inlined_from_elsewhere :0|"
is "an inlined call without a name" "$(at g+12)" "g :7|inlined_from_elsewhere :8| :0|"
is "after an inlined call" "$(at g+24)" "g :0|"
is "the first piece of a function" "$(at h+15)" "h :0|"
is "between its pieces: nothing, and none of what was thrown out" "$(at between+0)" ""
is "the second piece" "$(at h.cold+0)" "h :0|"
is "a specification that is its own: no name, and no end of time" "$(at alone+3)" " :0|"
is "beyond all" "$(at _start+0)" ""
cp "$tmp/cases" "$tmp/dark"
objcopy --remove-section=.debug_line --remove-section=.debug_ranges "$tmp/cases" "$tmp/dark" 2>/dev/null
is "without lines and ranges the rest stands" "$(at g+12 "$tmp/dark")" "g :7|inlined_from_elsewhere :8| :0|"
for s in info abbrev; do
	objcopy --remove-section=.debug_$s "$tmp/cases" "$tmp/dark" 2>/dev/null
	like "without .debug_$s nothing" "$(echo 0 | "$BUILD/tests/dwarf-lines" "$tmp/dark")" '^not opened: [12]$'
done
done_testing
