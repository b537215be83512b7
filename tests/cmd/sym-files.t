#!/bin/sh
# From an address to the right byte of the right file
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"

cp "$tests/data/three.c" "$tmp/f.c"
sym() { cprof-dump -r | cprof-sym "$@" 2>"$tmp/err" >"$tmp/out"; }
at() { nm "$1" | awk -v s="$2" '$3 == s { print "0x" $1 }'; }
line() { name_of "$tmp/out" | nameless | tr '\n' ','; }
root=$tmp/root
mkdir -p "$root/lib" "$tmp/empty"
so=$root/lib/f.so
gcc -O1 -shared -fPIC -Wl,--build-id -o "$so" "$tmp/f.c"
id=$(build_id "$so")
# phdr FILE: sets o, v and n to the executable segment's file offset, address and length
phdr() { set -- $(readelf -lW "$1" | awk '$1 == "LOAD" && / R E / { print $2, $3, $6; exit }'); o=$(($1)) v=$(($2)) n=$(($3)); }
phdr "$so"
base=$((0x7f0000000000))
# map_so [PROCESS [FILE [BASE]]]: maps the executable segment of $so
map_so() { mapping "${1:-1}" "${2:-1}" $((${3:-$base} + v / 4096 * 4096)) $(((n + v % 4096 + 4095) / 4096 * 4096)) $((o / 4096 * 4096)); }
so_capture() { # BUILD_ID [PATH] to record
	segment; process 1; file 1 "${2:-/lib/f.so}" "$1"; map_so
	for s in first second third; do printf '0x%x\n' $((base + $(at "$tmp/whole.so" $s) + 1)); done | frames
	finish
}
cp "$so" "$tmp/whole.so"
all='first+1 symtab,second+1 symtab,third+1 symtab,'

so_capture "$id" | sym --symfs "$root"
is 'a library at a random base' "$(line)" "$all"
{
	segment; process 1; file 1 /lib/f.so "$id"; map_so 1 1; map_so 1 1 $((base + 0x10000000))
	printf '0x%x\n' $((base + $(at "$so" first) + 1)) $((base + 0x10000000 + $(at "$so" first) + 2)) | frames
	finish
} | sym --symfs "$root"
is 'one file at two bases in one process' "$(line)" 'first+1 symtab,first+2 symtab,'

# Segments whose addresses differ from their offsets, and a mapping that was split
{
	echo '.section .text.a, "ax"'
	for f in a b c; do echo ".globl $f; .type $f, @function; $f: .skip 4096, 0x90; .size $f, 4096"; done
	echo '.section .text.z, "ax"; .globl z; .type z, @function; z: .skip 64, 0x90; .size z, 64'
} | as -o "$tmp/l.o" -
cat >"$tmp/l.ld" <<'X'
PHDRS { r PT_LOAD FLAGS(4); a PT_LOAD FLAGS(5); z PT_LOAD FLAGS(5); n PT_NOTE; }
SECTIONS {
	. = 0x200000;
	.note.gnu.build-id : { *(.note.gnu.build-id) } :r :n
	. = 0x71a1a0;
	.text : { *(.text.a) } :a
	. = 0x1450000000 + 0x10;
	.text.z : { *(.text.z) } :z
}
X
ld -T "$tmp/l.ld" --build-id -z max-page-size=4096 -o "$root/lib/layout" "$tmp/l.o" 2>/dev/null
layout_id=$(build_id "$root/lib/layout")
set -- $(readelf -lW "$root/lib/layout" | awk '$1 == "LOAD" && / R E / { print $2 }')
is 'the fixture has two executable segments, and addresses that are no offsets' "$# $(($1 != 0x71a1a0)) $(($2 < 0x100000))" '2 1 1'
oa=$(($1)) oz=$(($2))
page() { echo $(($1 / 4096 * 4096)); }
{
	segment; process 1; file 1 /lib/layout "$layout_id"
	# a and the first page of b; the rest of b and c elsewhere; z
	mapping 1 1 $((0x50000000)) $((0x1000)) "$(page $oa)"
	mapping 1 1 $((0x60000000)) $((0x3000)) $(($(page $oa) + 4096))
	mapping 1 1 $((0x70000000)) $((0x1000)) "$(page $oz)"
	printf '0x%x\n' $((0x50000000 + oa % 4096)) $((0x50000fff)) $((0x60000000)) $((0x60000000 + oa % 4096)) \
		$((0x60001000 + oa % 4096 + 7)) $((0x70000000 + oz % 4096 + 63)) $((0x70000000 + oz % 4096 + 64)) | frames
	finish
} | sym --symfs "$root"
is 'each mapping by its own offset, each offset by the segment that has it' "$(line)" \
	"a+0 symtab,a+$((4095 - oa % 4096)) symtab,a+$((4096 - oa % 4096)) symtab,b+0 symtab,c+7 symtab,z+63 symtab,-,"

# The executable segment moves beyond 4 GiB in the file: offset 0x140000000 + o. No data is read from there.
patch() { printf "$(printf '\\%03o\\%03o\\%03o\\%03o\\%03o\\%03o\\%03o\\%03o' $(($3 & 255)) $(($3 >> 8 & 255)) $(($3 >> 16 & 255)) $(($3 >> 24 & 255)) $(($3 >> 32 & 255)) $(($3 >> 40 & 255)) $(($3 >> 48 & 255)) 0)" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null; }
cp "$so" "$root/lib/far.so"
index=$(readelf -lW "$so" | awk '/^  [A-Z_]+ / && $1 != "Type" { i++ } $1 == "LOAD" && / R E / { print i - 1; exit }')
patch "$root/lib/far.so" $((64 + index * 56 + 8)) $((o + 0x140000000))
{
	segment; process 1; file 1 /lib/far.so "$id"
	mapping 1 1 $((base + 0x1000)) 0x1000 $((0x140000000 + o / 4096 * 4096))
	printf '0x%x\n' $((base + 0x1000 + o % 4096 + $(at "$so" third) - v)) | frames
	finish
} | sym --symfs "$root"
is 'a file offset beyond 4 GiB' "$(line)" 'third+0 symtab,'

# A call that does not return, last in its function
cat >"$tmp/n.s" <<'X'
	.globl caller, innocent
	.type caller, @function
	.type innocent, @function
caller:	.skip 11, 0x90
	call caller
	.size caller, 16
innocent: .skip 16, 0x90
	.size innocent, 16
X
as -o "$tmp/n.o" "$tmp/n.s" && ld -e caller --build-id -o "$root/lib/n" "$tmp/n.o"
c=$(at "$root/lib/n" caller)
{
	segment; process 1; file 1 /lib/n "$(build_id "$root/lib/n")"; loads 1 1 "$root/lib/n"
	printf '0x%x\n' $((c + 16)) | frames 1 return 1
	printf '0x%x\n' $((c + 16)) | frames 1 exact 2
	finish
} | sym --symfs "$root"
is 'a return address belongs to the call before it' "$(line)" 'caller+16 symtab,innocent+0 symtab,'

# The wrong file is never used.
gcc -O1 -shared -fPIC -DOTHER=1 -Wl,--build-id -o "$tmp/other.so" -x c - <<'X'
int wrong_one(int x) { return x * 7; } int wrong_two(int x) { return x * 9; } int wrong_three(int x) { return x * 11; }
X
cp "$tmp/other.so" "$so"
so_capture "$id" | sym --symfs "$root"
is 'another build under the path: no names' "$(line)" '-,-,-,'
is '  the source says why' "$(sources "$tmp/out")" "1 build-id-mismatch none $root/lib/f.so"
is '  and so does the summary' "$(cat "$tmp/err")" \
	'cprof-sym: 0 of 3 frames named (0.0 %); unresolved: 3 in /lib/f.so (build-id-mismatch)'
gcc -O1 -shared -fPIC -Wl,--build-id=none -o "$so" "$tmp/f.c"
so_capture "$id" | sym --symfs "$root"
is 'a file that has no build ID where one was recorded: no names' "$(line)" '-,-,-,'
so_capture '' | sym --symfs "$root"
is 'no build ID was recorded: the path has to do' "$(line)" "$all"
gcc -O1 -shared -fPIC -Wl,--build-id=0x0102 -o "$so" "$tmp/f.c"
so_capture 0102 | sym --symfs "$root"
is 'a build ID of two bytes tells nothing apart, and is none' "$(line)" "$all"
gcc -O1 -shared -fPIC -Wl,--build-id=0x00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff -o "$so" "$tmp/f.c"
so_capture 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff | sym --symfs "$root"
is 'a build ID of 32 bytes' "$(line)" "$all"
gcc -O1 -shared -fPIC -Wl,--build-id=md5 -o "$so" "$tmp/f.c"
so_capture "$(build_id "$so")00000000" | sym --symfs "$root"
is 'a build ID that the kernel padded to 20 bytes' "$(line)" "$all"
cp "$tmp/whole.so" "$so"
patch "$so" 40 0                                          # no section headers: e_shoff
printf '\0\0\0\0' | dd of="$so" bs=1 seek=60 conv=notrunc 2>/dev/null # e_shnum, e_shstrndx
so_capture "$id" | sym --symfs "$root"
is 'without section headers the build ID is in the program headers' "$(sources "$tmp/out")" "1 stripped bounds $root/lib/f.so"

# Missing files, and files that are not ELF files or cannot be used
so_capture "$id" /lib/none.so | sym --symfs "$root"
is 'no file' "$(sources "$tmp/out")" "1 no-file none $root/lib/none.so"
so_capture "$id" /lib | sym --symfs "$root"
is 'a directory' "$(sources "$tmp/out")" "1 not-elf none $root/lib"
mkfifo "$root/lib/fifo"
so_capture "$id" /lib/fifo | timeout 10 cprof-dump -r >"$tmp/fifo.bin"
timeout 10 cprof-sym --symfs "$root" "$tmp/fifo.bin" >"$tmp/out" 2>/dev/null
is 'a pipe with nobody at its other end' "$(sources "$tmp/out")" "1 not-elf none $root/lib/fifo"
so_capture "$id" "$here/sym-files.t" | sym
is 'a text' "$(sources "$tmp/out")" "1 not-elf none $here/sym-files.t"
head -c 700 "$tmp/whole.so" >"$so"
so_capture "$id" | sym --symfs "$root"
like 'half an ELF file' "$(sources "$tmp/out")" '^1 (damaged|build-id-mismatch|stripped) none '
strip -o "$so" "$tmp/whole.so"
so_capture "$id" | sym --symfs "$root" --debug-dir "$tmp/empty"
is 'a stripped file has its exported names' "$(line)" 'first+1 dynsym,-,third+1 dynsym,'
is '  its source is ok' "$(sources "$tmp/out")" "1 ok dynsym $so"
is '  and the summary says what is missing' "$(cat "$tmp/err")" \
	'cprof-sym: 2 of 3 frames named (66.7 %); unresolved: 1 in /lib/f.so (stripped)'
cp "$tmp/whole.so" "$so"
so_capture "$id" | sed "s/\(frame id=2 .*address=\).*/\1$(printf 0x%x $((base + (v + n + 4095) / 4096 * 4096 - 1)))/" | sym --symfs "$root"
like 'a file that has all of its symbols' "$(cat "$tmp/err")" 'unresolved: 1 in /lib/f.so \(no-symbol\)$'
strip -o "$so" "$tmp/whole.so"
as -o "$tmp/bare.o" /dev/null && echo '.globl g; g: .skip 64, 0x90' | as -o "$tmp/bare.o" - && ld -e g --build-id -o "$root/lib/bare" "$tmp/bare.o" && strip "$root/lib/bare"
{ segment; process 1; file 1 /lib/bare "$(build_id "$root/lib/bare")"; loads 1 1 "$root/lib/bare"; echo 0x401001 | frames; finish; } | sym --symfs "$root"
is 'a file without any symbol' "$(sources "$tmp/out")" "1 stripped none $root/lib/bare"
if [ "$(id -u)" = 0 ]; then as_nobody='setpriv --reuid=65534 --clear-groups'; else as_nobody=; fi
if $as_nobody "$BIN/cprof-sym" --version >/dev/null 2>&1; then
	chmod 0 "$root/lib/bare"
	{ segment; process 1; file 1 "$root/lib/bare" ''; loads 1 1 "$so"; echo 0x1001 | frames; finish; } | cprof-dump -r | $as_nobody "$BIN/cprof-sym" >"$tmp/out" 2>/dev/null
	is 'a file that may not be read' "$(sources "$tmp/out")" "1 permission none $root/lib/bare"
	chmod 644 "$root/lib/bare"
else
	skip 'a file that may not be read' 'nobody cannot run cprof-sym here'
fi

# Deleted files
cp "$tmp/whole.so" "$so"
so_capture "$id" '/lib/f.so (deleted)' | sym --symfs "$root"
is 'a deleted file that is there again, as its build ID says' "$(line)" "$all"
mv "$so" "$root/lib/f.so (deleted)"
so_capture "$id" '/lib/f.so (deleted)' | sym --symfs "$root"
is 'a file whose name ends in " (deleted)"' "$(sources "$tmp/out")" "1 ok symtab $root/lib/f.so (deleted)"
mv "$root/lib/f.so (deleted)" "$so"

# --symfs is a root: absolute links resolve inside it.
mkdir -p "$root/usr/lib" "$root/opt"
mv "$so" "$root/usr/lib/real.so"
ln -s /usr/lib/real.so "$so"
so_capture "$id" | sym --symfs "$root"
is 'an absolute link in the tree leads into the tree' "$(line)" "$all"
ln -sf "../../../../../../../../$tmp/whole.so" "$root/opt/out.so"
so_capture "$id" /opt/out.so | sym --symfs "$root"
is 'and none leads out of it' "$(line)" '-,-,-,'
so_capture "$id" "$tmp/whole.so" | sym --symfs "$root"
is 'nor is a file looked for anywhere else' "$(sources "$tmp/out")" "1 no-file none $root$tmp/whole.so"
so_capture "$id" "$tmp/whole.so" | sym
is 'without --symfs it is found' "$(line)" "$all"

# The same build under two paths, the first one gone; and a file that disappears after it was read
{
	segment; process 1; file 1 /lib/moved.so "$id"; file 2 /lib/f.so "$id"; map_so 1 1; map_so 1 2 $((base + 0x10000000))
	printf '0x%x\n' $((base + $(at "$tmp/whole.so" first))) | frames 1 exact 1
	echo flush
	printf '0x%x\n' $((base + 0x10000000 + $(at "$tmp/whole.so" third))) | frames 1 exact 2
	finish
} | sym --symfs "$root"
is 'a build that is found under its second path names the frames of the first' "$(name_of "$tmp/out" | tr '\n' ',')" 'first+0 symtab,third+0 symtab,'
so_capture "$id" | cprof-dump -r >"$tmp/one.bin"
mkfifo "$tmp/go"
cp "$root/usr/lib/real.so" "$tmp/save.so"
{ cat "$tmp/one.bin"; cat "$tmp/go" >/dev/null; cat "$tmp/one.bin"; } | timeout 20 cprof-sym --symfs "$root" 2>/dev/null |
	tee "$tmp/live" | timeout 20 cprof-dump 2>/dev/null | { sed -n '/^symbol/{p;q}' >"$tmp/seen"; rm -f "$root/usr/lib/real.so"; : >"$tmp/go"; cat >"$tmp/rest"; }
is 'each file is opened once, for all processes and segments' "$(cprof-dump "$tmp/live" | grep -c '^symbol')" 6
rm -f "$so"
mv "$tmp/save.so" "$so"

# Debug files
gcc -g -O1 -shared -fPIC -Wl,--build-id -o "$tmp/whole.so" "$tmp/f.c"
id=$(build_id "$tmp/whole.so")
objcopy --only-keep-debug "$tmp/whole.so" "$tmp/f.debug"
phdr "$tmp/whole.so"
by_id=.build-id/$(echo "$id" | sed 's/^../&\//').debug
fresh() { rm -rf "$root" "$tmp/d1" "$tmp/d2"; mkdir -p "$root/lib" "$tmp/d1/$(dirname "$by_id")" "$tmp/d2/$(dirname "$by_id")"; strip -o "$so" "$tmp/whole.so"; }
debugged='first+1 debug,second+1 debug,third+1 debug,'
ask_debug() { so_capture "$id" | sym --symfs "$root" --debug-dir "$tmp/d1" --debug-dir "$tmp/d2"; }

fresh; cp "$tmp/f.debug" "$tmp/d2/$by_id"; ask_debug
is 'a debug file by build ID, in the second directory' "$(line) $(sources "$tmp/out")" "$debugged 1 ok debug $tmp/d2/$by_id"
cp "$tmp/other.so" "$tmp/d1/$by_id"; ask_debug
is 'one that is of another build is passed over' "$(line)" "$debugged"
rm "$tmp/d2/$by_id"; ask_debug
is '  and with no other left the stripped file has to do' "$(line)" 'first+1 dynsym,-,third+1 dynsym,'
fresh; cp "$so" "$tmp/d1/$by_id"; cp "$tmp/f.debug" "$tmp/d2/$by_id"; ask_debug
is 'one without symbols is passed over' "$(line)" "$debugged"
fresh; mkdir -p "$root/usr/lib/debug/$(dirname "$by_id")"; cp "$tmp/f.debug" "$root/usr/lib/debug/$by_id"
so_capture "$id" | sym --symfs "$root"
is 'the tree has its own debug directory' "$(line)" "$debugged"

fresh; rm "$so"; cp "$tmp/f.debug" "$tmp/d1/$by_id"; ask_debug
is 'only the debug file: its lost offsets are taken from the mapping' "$(line)" "$debugged"
cp "$tmp/other.so" "$so"; ask_debug
is 'the file was replaced, its debug file is there' "$(line) $(sources "$tmp/out")" "$debugged 1 ok debug $tmp/d1/$by_id"
{
	segment; process 1; file 1 /lib/f.so "$id"
	mapping 1 1 $((base + v / 4096 * 4096)) 0x5000 $((o / 4096 * 4096))
	printf '0x%x\n' $((base + $(at "$tmp/whole.so" first))) | frames
	finish
} | sym --symfs "$root" --debug-dir "$tmp/d1"
is '  but not from a mapping that does not fit' "$(line)" '-,'

for place in . .debug d1; do
	fresh
	case $place in d1) dir=$tmp/d1/lib ;; *) dir=$root/lib/$place ;; esac
	mkdir -p "$dir"
	cp "$tmp/f.debug" "$dir/f.so.dbg"
	(cd "$dir" && objcopy --add-gnu-debuglink=f.so.dbg "$so")
	ask_debug
	is "a debug link, in $place" "$(line)" "$debugged"
done
cp "$tmp/other.so" "$root/lib/f.so.dbg"; ask_debug
is 'a linked file of another build is passed over' "$(line)" "$debugged"

# Without build IDs the link's checksum decides.
gcc -g -O1 -shared -fPIC -Wl,--build-id=none -o "$tmp/whole.so" "$tmp/f.c"
objcopy --only-keep-debug "$tmp/whole.so" "$tmp/f.debug"
phdr "$tmp/whole.so"
fresh; cp "$tmp/f.debug" "$root/lib/f.so.dbg"; (cd "$root/lib" && objcopy --add-gnu-debuglink=f.so.dbg f.so)
so_capture '' | sym --symfs "$root"
is 'no build ID: the checksum is right' "$(line)" "$debugged"
printf x >>"$root/lib/f.so.dbg"
so_capture '' | sym --symfs "$root"
is '  the checksum is wrong' "$(line)" 'first+1 dynsym,-,third+1 dynsym,'
fresh; cp "$tmp/f.debug" "$tmp/f.so"; (cd "$tmp" && objcopy --add-gnu-debuglink=f.so "$so"); rm "$tmp/f.so"
so_capture '' | sym --symfs "$root"
is 'a link to itself' "$(line)" 'first+1 dynsym,-,third+1 dynsym,'

# More sections than 16 bits can count: symbols have their section's number in a separate table.
awk 'BEGIN { for (i = 0; i < 66000; i++) printf ".section .s%d,\"a\"\n.byte 1\n", i; print ".section .code,\"ax\"\n.globl deep\n.type deep,@function\ndeep: .skip 32,0x90\n.size deep,32" }' | as -o "$tmp/many.o" - 2>/dev/null
cat >"$tmp/many.ld" <<'X'
PHDRS { a PT_LOAD FLAGS(5); }
SECTIONS { . = 0x400000; .code : { *(.code) } :a }
X
if timeout 60 ld -T "$tmp/many.ld" -e deep -o "$tmp/many" "$tmp/many.o" 2>/dev/null; then
	like 'the fixture has that many sections' "$(readelf -hW "$tmp/many" 2>/dev/null | grep 'Number of section headers')" '0 \(6[0-9]{4}\)'
	a=$(at "$tmp/many" deep)
	{ segment; process 1; file 1 "$tmp/many" ''; loads 1 1 "$tmp/many"; printf '0x%x\n' $((a + 3)) | frames; finish; } | sym
	is 'more than 65,279 sections' "$(line)" 'deep+3 symtab,'
else
	skip 'more than 65,279 sections' 'ld cannot'
fi

# Other linkers, whose segments share pages of the file
for linker in lld gold; do
	if ! gcc -O1 -fuse-ld=$linker -Wl,--build-id -o "$tmp/linked" -x c - 2>/dev/null <<'X'
int first(int x) { return x * 3; }
int main(int c, char **v) { (void)v; return first(c); }
X
	then
		skip "a program that $linker linked" "no $linker"
		continue
	fi
	phdr "$tmp/linked"
	f=$(at "$tmp/linked" first)
	{
		segment; process 1; file 1 "$tmp/linked" "$(build_id "$tmp/linked")"; map_so
		printf '0x%x\n' $((base + f + 1)) | frames
		finish
	} | sym
	is "a program that $linker linked (offset $o, address $v)" "$(line)" 'first+1 symtab,'
done

# Between segments, files that have grown too large together are evicted, and opened again when needed.
gcc -O1 -shared -fPIC -Wl,--build-id -o "$tmp/whole.so" "$tmp/f.c"; phdr "$tmp/whole.so"
is 'modules are forgotten and found again' \
	"$("$BUILD/tests/sym-modules" "$tmp/whole.so" $(($(at "$tmp/whole.so" third) - v + o)) | tr '\n' ',')" 'third 1,1,0,third 1,'

# Files cut anywhere do no harm.
gcc -O1 -shared -fPIC -Wl,--build-id -o "$tmp/whole.so" "$tmp/f.c"
id=$(build_id "$tmp/whole.so"); phdr "$tmp/whole.so"; fresh
bad='' k=0 size=$(wc -c <"$tmp/whole.so")
so_capture "$id" | cprof-dump -r >"$tmp/one.bin"
while [ $k -lt "$size" ]; do
	head -c $k "$tmp/whole.so" >"$so"
	cprof-sym --symfs "$root" "$tmp/one.bin" >/dev/null 2>&1 || bad="$bad $k"
	k=$((k + 61))
done
is "the file cut at every 61st of its $size bytes" "$bad" ''
# A file without its end has lost its section headers, but it is not a stripped one.
so_capture "$id" >"$tmp/cut.text"
mv "$so" "$tmp/uncut"
head -c $(($(wc -c <"$tmp/uncut") - 100)) "$tmp/uncut" >"$so"
cprof-dump -r <"$tmp/cut.text" | cprof-sym --symfs "$root" -v 2>"$tmp/err" >"$tmp/out"
like 'a file that was cut is damaged' "$(cat "$tmp/err")" '/lib/f.so \(damaged\)'
mv "$tmp/uncut" "$so"
done_testing
