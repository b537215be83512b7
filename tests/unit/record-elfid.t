#!/bin/sh
# Build IDs of ELF files and of the vDSO, against readelf; damaged files have none and do no harm.
. "$(dirname "$0")/../lib/lib.sh"
side=$BUILD/tests/record-side

gnu_id() { readelf -nW "$1" 2>/dev/null | sed -n 's/.*Build ID: //p' | head -1; }

echo 'int main(void){return 0;}' >"$tmp/a.c"
gcc -o "$tmp/plain" -Wl,--build-id=sha1 "$tmp/a.c"
is "of a program" "$("$side" elfid "$tmp/plain")" "$(gnu_id "$tmp/plain")"
like "  readelf saw one" "$(gnu_id "$tmp/plain")" '^[0-9a-f]{40}$'
strip -o "$tmp/stripped" "$tmp/plain"
is "stripping leaves it" "$("$side" elfid "$tmp/stripped")" "$(gnu_id "$tmp/plain")"
gcc -o "$tmp/short" -Wl,--build-id=0xab "$tmp/a.c"
is "of one byte" "$("$side" elfid "$tmp/short")" ab
gcc -o "$tmp/long" "-Wl,--build-id=0x$(printf '%064d' 7)" "$tmp/a.c"
is "of 32 bytes" "$("$side" elfid "$tmp/long")" "$(printf '%064d' 7)"
gcc -o "$tmp/none" -Wl,--build-id=none "$tmp/a.c"
is "a program without one" "$("$side" elfid "$tmp/none")" none
libc=$(ldd "$tmp/plain" | sed -n 's/.*libc.so.6 => \([^ ]*\).*/\1/p')
is "of libc" "$("$side" elfid "$libc")" "$(gnu_id "$libc")"

printf '.globl _start\n_start: nop\n' >"$tmp/s.s"
if as --32 -o "$tmp/s.o" "$tmp/s.s" 2>/dev/null && ld -m elf_i386 --build-id=sha1 -o "$tmp/elf32" "$tmp/s.o" 2>/dev/null; then
	is "32 bits" "$("$side" elfid "$tmp/elf32")" "$(gnu_id "$tmp/elf32")"
else
	skip "32 bits" "no assembler for them"
fi

# Notes of other owners before it, one of them empty, one with an odd length
cat >"$tmp/n.s" <<'X'
	.section .note.other, "a", @note
	.p2align 2
	.long 5, 3, 7
	.asciz "Four"
	.p2align 2
	.byte 1, 2, 3
	.p2align 2
	.long 0, 0, 9
	.long 4, 4, 1
	.asciz "GNU"
	.long 5
	.section .note.ours, "a", @note
	.p2align 2
	.long 4, 8, 3
	.asciz "GNU"
	.byte 1, 2, 3, 4, 5, 6, 7, 8
	.text
	.globl _start
_start:	nop
X
as -o "$tmp/n.o" "$tmp/n.s" && ld --build-id=none -o "$tmp/many" "$tmp/n.o"
is "after other notes in the same segment" "$("$side" elfid "$tmp/many")" 0102030405060708

# Go's own note counts only if there is no other.
go_note() { # NAME TEXT
	cat >"$tmp/g.s" <<X
	.section .note.go.buildid, "a", @note
	.p2align 2
	.long 4, 2f - 1f, 4
	.ascii "Go\0\0"
1:	.ascii "$2"
2:	.p2align 2
	.text
	.globl _start
_start:	nop
X
	as -o "$tmp/g.o" "$tmp/g.s" && ld --build-id=none -o "$tmp/$1" "$tmp/g.o"
}
go_note go-redacted redacted
is "Go's that says redacted" "$("$side" elfid "$tmp/go-redacted")" none
go_note go abc/def
is "Go's" "$("$side" elfid "$tmp/go")" "$(printf abc/def | od -An -tx1 | tr -d ' \n')"
ld --build-id=0x77 -o "$tmp/go-gnu" "$tmp/g.o"
is "Go's and a GNU one" "$("$side" elfid "$tmp/go-gnu")" 77

# Notes that no PT_NOTE covers, as Go 1.24 writes its GNU note
cat >"$tmp/g.ld" <<'X'
PHDRS { all PT_LOAD FLAGS(5); note PT_NOTE FLAGS(4); }
SECTIONS {
	. = 0x400000 + SIZEOF_HEADERS;
	.note.gnu.build-id : { *(.note.gnu.build-id) } :all
	.note.go.buildid : { *(.note.go.buildid) } :all :note
	.text : { *(.text) } :all
}
X
ld -T "$tmp/g.ld" --build-id=0x77 -o "$tmp/go-apart" "$tmp/g.o"
like "a GNU one in a section alone: no segment has it" "$(readelf -lW "$tmp/go-apart")" '^ *01 *\.note\.go\.buildid *$'
is "  it comes before Go's in a segment" "$("$side" elfid "$tmp/go-apart")" 77
cp "$tmp/go-apart" "$tmp/go-bare"
dd if=/dev/zero of="$tmp/go-bare" bs=1 seek=40 count=8 conv=notrunc 2>/dev/null
is "  without section headers Go's is left" "$("$side" elfid "$tmp/go-bare")" "$(printf abc/def | od -An -tx1 | tr -d ' \n')"
is "  cut anywhere, flipped anywhere: no crash" "$("$side" elfid-cut "$tmp/go-apart")" some

# More than 65,534 program headers: e_phnum is 0xffff, and sh_info of section header 0 has the number.
byte_at() { od -An -tu1 -j "$2" -N 1 "$1" | tr -d ' '; }
put() { printf "$(printf '\\%03o' "$3")" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null; }
cp "$tmp/many" "$tmp/xnum"
shoff=$(od -An -tu8 -j 40 -N 8 "$tmp/xnum" | tr -d ' ')
put "$tmp/xnum" $((shoff + 44)) "$(byte_at "$tmp/xnum" 56)"
put "$tmp/xnum" 56 255
put "$tmp/xnum" 57 255
is "extended numbering of program headers" "$("$side" elfid "$tmp/xnum")" 0102030405060708

printf 'no ELF file' >"$tmp/text"
: >"$tmp/empty"
mkfifo "$tmp/fifo"
is "text, nothing, a pipe, a directory, a device" \
	"$(timeout 10 "$side" elfid "$tmp/text" "$tmp/empty" "$tmp/fifo" "$tmp" /dev/zero | sort -u)" none
is "cut anywhere, flipped anywhere: no crash" "$("$side" elfid-cut "$tmp/many")" some
is "  likewise extended numbering" "$("$side" elfid-cut "$tmp/xnum")" some

# The vDSO is an ELF file too, and its ID is the one in it.
id=$("$side" vdso "$tmp/vdso")
is "the vDSO's" "$id" "$(gnu_id "$tmp/vdso")"
like "  is one" "$id" '^[0-9a-f]{16,}$'
like "  its symbols are there" "$(readelf -Ws --dyn-syms "$tmp/vdso")" 'clock_gettime'

if [ -r /sys/kernel/notes ]; then
	want=$(od -An -tx1 -v /sys/kernel/notes | tr -d ' \n' | sed -n 's/.*040000001400000003000000474e5500\(.\{40\}\).*/\1/p')
	is "the kernel's" "$("$side" kernel-id)" "${want:-none}"
else
	skip "the kernel's" "no /sys/kernel/notes"
fi
done_testing
