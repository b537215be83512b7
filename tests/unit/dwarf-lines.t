#!/bin/sh
# Inlined calls and lines equal llvm-symbolizer's, or a rule explains the difference (dwarf-compare.py).
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/dwarf-lib.sh"

command -v llvm-symbolizer >/dev/null || skip_all "there is no llvm-symbolizer"
command -v clang++ >/dev/null || skip_all "there is no clang++"
printf '#include <elfutils/libdw.h>\nint main(void) { return 0; }\n' | gcc -x c -o /dev/null - -ldw 2>/dev/null ||
	skip_all "built without libdw"
cd "$tmp" || exit 1
c=$tests/data/dwarf/deep.c cc=$tests/data/dwarf/deep.cc

# Two programs with the standard library, at 10,000 addresses each; the other forms are made from these,
# or are smaller.
g++ -O2 -gdwarf-5 -o gcc5 "$cc" && compare "g++, DWARF 5" gcc5 10000 -- suffix alias symbol-only
clang++ -O2 -gdwarf-4 -o clang4 "$cc" && compare "clang++, DWARF 4" clang4 10000 -- suffix alias symbol-only
clang -O2 -gdwarf-5 -o clang5 "$c" && compare "clang, DWARF 5" clang5 1000 -- suffix symbol-only
for v in 2 3 4; do
	gcc -O2 -gdwarf-$v -gno-strict-dwarf -o "gcc$v" "$c" && compare "gcc, DWARF $v" "gcc$v" 1000 -- suffix symbol-only
done
gcc -O2 -gdwarf-5 -gdwarf64 -o wide "$c" && compare "64-bit DWARF" wide 1000 -- suffix symbol-only
g++ -O2 -gdwarf-4 -ffunction-sections -fdata-sections -Wl,--gc-sections -o thrown "$cc" &&
	compare "code that was thrown out" thrown 1000 -- suffix alias symbol-only
# alike DESCRIPTION FILE OTHER [OPTION...]: another form of the same file gives the same result
alike() {
	what=$1 file=$2 other=$3
	shift 3
	addresses "$file" 3000 >a
	"$BUILD/tests/dwarf-lines" "$file" <a >want
	"$BUILD/tests/dwarf-lines" "$@" "$other" <a >got
	[ "$(wc -l <want)" -gt 5000 ] || fail "many levels"
	same "$what" got want
}

# A unit larger than the memory bound is still read only once.
addresses clang5 300 >a
"$BUILD/tests/dwarf-lines" clang5 <a >want
is 'a unit beyond the bound is read once' "$("$BUILD/tests/dwarf-lines" -c -m 1 clang5 <a 2>&1 >got)" 1
same '  and says the same' got want

# lie FILE SECTION SIZE: the file with another size in the header of a compressed section
lie() {
	python3 - "$1" ".debug_$2" "$3" <<-'END'
	import struct, subprocess, sys
	file, name, lie = sys.argv[1:]
	data = bytearray(open(file, 'rb').read())
	rows = [row.split(']')[1].split() for row in subprocess.getoutput('readelf -SW ' + file).splitlines() if ']' in row]
	at = next(int(row[3], 16) for row in rows if row[0] == name)
	size = struct.unpack_from('<Q', data, at + 8)[0]
	struct.pack_into('<Q', data, at + 8, eval(lie))
	sys.stdout.buffer.write(data)
	END
}

innermost() { awk 'NF == 0 { print last; last = "" } { last = $0; sub(/.*\t/, "", last) }'; }

objcopy --compress-debug-sections=zlib gcc5 gz && alike "compressed sections" gcc5 gz
# Headers that lie: the section is ignored; beyond all bounds, the file is ignored; and neither takes long.
for size in size-1 size+1 2**29 2**64-1; do
	for section in info str; do
		lie gz $section "$size" >lies
		(limit_memory 1000000; timeout 60 "$BUILD/tests/dwarf-lines" lies <a >got)
		is "of .debug_$section that says it has $size bytes: an end" $? 0
		case $section,$size in
		info,* | *,2**64-1) like "  no chains" "$(head -1 got)" '^not opened: [12]$' ;;
		*) is "  lines, and no long names" "$(grep -cE '^[^	]{8,}	' got) $(innermost <got | grep -c ':[1-9]')" \
			"0 $(innermost <want | grep -c ':[1-9]')" ;;
		esac
	done
done
objcopy --compress-debug-sections=zlib-gnu gcc5 zdebug && alike "sections in .zdebug" gcc5 zdebug
objcopy --only-keep-debug gcc5 gcc5.debug && alike "a separate debug file" gcc5 gcc5.debug
objcopy --remove-section=.debug_aranges gcc5 bare && alike "no .debug_aranges" gcc5 bare
if command -v dwz >/dev/null; then
	for f in gcc5 thrown; do
		dwz -q -o alone $f && alike "$f, made smaller by dwz" $f alone
		cp $f one && cp $f other && dwz -q -m "$tmp/common" one other
		alike "$f, with a common file" $f one -a common
		addresses $f 1000 >a
		"$BUILD/tests/dwarf-lines" one <a >got
		like "without the common file there are lines still" "$(grep -c '	.*:[1-9]' got)" '^[0-9]{4}'
	done
else
	skip "dwz" "there is no dwz"
fi

# llvm-symbolizer 14 loses some chains of clang's split files; the compiler's output without
# -gsplit-dwarf serves instead.
for v in 4 5; do
	for compiler in gcc clang; do
		form="$compiler, split DWARF $v"
		$compiler -O2 -gdwarf-$v -o whole "$c" && $compiler -O2 -gdwarf-$v -gsplit-dwarf -c -o "$compiler.o" "$c" &&
			$compiler -o split "$compiler.o" || exit 1
		[ $compiler = clang ] || compare "$form" split 1000 -s -- suffix symbol-only
		alike "$form, as if it were whole" whole split -s
		"$BUILD/tests/dwarf-lines" split <a >got
		is "$form, where it is not looked for there are lines" "$(innermost <got)" "$(innermost <want)"
		mkfifo split.dwp
		timeout 60 "$BUILD/tests/dwarf-lines" -s split <a | cmp -s got - && pass "$form, with a pipe as package" ||
			fail "$form, with a pipe as package"
		rm split.dwp
		mkfifo pipe && mv "$compiler.dwo" away && mv pipe "$compiler.dwo"
		timeout 60 "$BUILD/tests/dwarf-lines" -s split <a | cmp -s got - && pass "$form, what is no file is not opened" ||
			fail "$form, what is no file is not opened"
		rm "$compiler.dwo"
	done
done
objcopy --compress-debug-sections=zlib away clang.dwo && alike "a compressed .dwo file" whole split -s
head -c 269000000 /dev/zero >zeros
objcopy --add-section .debug_macro.dwo=zeros --set-section-flags .debug_macro.dwo=debug,readonly,contents,exclude \
	away large && objcopy --compress-debug-sections=zlib large clang.dwo || exit 1
"$BUILD/tests/dwarf-lines" split <a >want
"$BUILD/tests/dwarf-lines" -s split <a >got
same "one with 257 MiB in it is not read" got want
rm clang.dwo large zeros

debug=$(readelf -n "$(ldd /bin/sh | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')" |
	sed -n 's,.*Build ID: \(..\)\(.*\),/usr/lib/debug/.build-id/\1/\2.debug,p')
if [ -e "$debug" ]; then
	compare "libc" "$debug" 10000 -- suffix alias symbol-only directory-0
	sort -R --random-source="$here/dwarf-lines.t" "$tmp/addresses" | head -300 >a
	"$BUILD/tests/dwarf-lines" "$debug" <a >want
	is "libc, some of them in another order" "$(grep -c ^0x want)" 300
	"$BUILD/tests/dwarf-lines" -m 100000 "$debug" <a >got
	same "units that were let go in between say the same" got want
	if command -v valgrind >/dev/null && ! sanitized; then
		valgrind -q --error-exitcode=9 "$BUILD/tests/dwarf-lines" "$debug" <a >got 2>err
		is "nothing is read that is not there, nor any more" "$? $(head -3 err)" "0 "
		same "  and the answers are these" got want
	else
		skip "nothing is read that is not there, nor any more" "there is no valgrind, or the sanitizers see it"
	fi
else
	skip "libc" "there is no $debug"
fi
done_testing
