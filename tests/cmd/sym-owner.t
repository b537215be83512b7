#!/bin/sh
# A build ID that a user copied into a file of his own: the file names its own frames and no others, and an
# archive prefers the file of root.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"
. "$tests/lib/archive-lib.sh"
[ "$(id -u)" = 0 ] || skip_all 'not root'

build() { # FILE NAME: one function
	echo ".globl $2; .type $2, @function; $2: .skip 64, 0x90; .size $2, 64" | as -o "$tmp/o.o" - &&
		ld -e "$2" --build-id=0x00112233445566778899aabbccddeeff -o "$1" "$tmp/o.o"
}
mkdir "$tmp/hers" "$tmp/his"
build "$tmp/real" real
build "$tmp/his/copy" copied
build "$tmp/hers/copy" other
chown 12345 "$tmp/his/copy" && chown 12346 "$tmp/hers/copy"
id=$(build_id "$tmp/real")
is 'the files have one build ID' "$id$id" "$(build_id "$tmp/his/copy")$(build_id "$tmp/hers/copy")"

# capture_of FILE...: a capture with a process and a frame for each
capture_of() {
	segment
	i=0
	for f; do
		i=$((i + 1))
		process $i && file $i "$f" "$id" && loads $i $i "$f"
		at=$(nm "$f" | sed -n '/ T \(real\|copied\|other\)$/s/ .*//p')
		printf '0x%x\n' $((0x$at + 4 * i)) | frames $i exact $i
	done
	finish
}
is_named() { # TEXT WANT [OPTION...]
	text=$1 want=$2
	shift 2
	cprof-sym "$@" "$tmp/c.bin" 2>"$tmp/err" >"$tmp/named.bin"
	is "$text" "$(name_of "$tmp/named.bin" | tr '\n' ' ')" "$want"
}
capture_of "$tmp/his/copy" "$tmp/real" | cprof-dump -r >"$tmp/c.bin"
is_named 'each file names its own frames' 'copied+4 symtab real+8 symtab '
capture_of "$tmp/his/copy" "$tmp/hers/copy" | cprof-dump -r >"$tmp/c.bin"
is_named '  also if root has none' 'copied+4 symtab other+8 symtab '
capture_of "$tmp/real" "$tmp/his/copy" | cprof-dump -r >"$tmp/c.bin"
is_named "that of root names all, if it comes first" 'real+4 symtab real+8 symtab '

# A debug file beside a link to the file of root
mkdir "$tmp/his/.debug" "$tmp/none"
objcopy --add-gnu-debuglink="$tmp/his/copy" "$tmp/real" "$tmp/stripped" && strip "$tmp/stripped"
ln -s "$tmp/stripped" "$tmp/his/link"
cp -p "$tmp/his/copy" "$tmp/his/.debug/copy"
{ segment; process 1; file 1 "$tmp/his/link" "$id"; loads 1 1 "$tmp/real"
	nm "$tmp/real" | sed -n 's/^\(.*\) T real$/0x\1/p' | frames; finish; } | cprof-dump -r >"$tmp/c.bin"
is_named 'a debug file of another user beside a link' '- ' --debug-dir "$tmp/none"
chown 0 "$tmp/his/.debug/copy"
is_named '  and one of root' 'copied+0 debug ' --debug-dir "$tmp/none"
rm -r "$tmp/his/.debug" "$tmp/his/link"

# Archives: his file before that of root, in one run and in several
holds() {
	cprof-sym --symfs "$tmp/none" --debug-dir "$1" "$tmp/c.bin" 2>"$tmp/err" >"$tmp/named.bin"
	name_of "$tmp/named.bin" | tr '\n' ' '
}
archive() { cprof-archive -d "$@" 2>"$tmp/err"; }
capture_of "$tmp/his/copy" "$tmp/real" | cprof-dump -r >"$tmp/c.bin"
archive "$tmp/a" "$tmp/c.bin"
is 'an archive has the file of root' "$(holds "$tmp/a")" 'real+4 symtab real+8 symtab '
capture_of "$tmp/his/copy" | cprof-dump -r >"$tmp/his.bin"
archive "$tmp/b" "$tmp/his.bin"
like 'his file alone' "$(cat "$tmp/err")" '1 file: 1 written'
is '  names what has that build ID' "$(holds "$tmp/b")" 'copied+4 symtab copied+8 symtab '
archive "$tmp/b" "$tmp/his.bin"
like '  is there when he comes again' "$(cat "$tmp/err")" '0 written, 1 there already'
archive "$tmp/b" "$tmp/c.bin"
is '  and gives way to that of root' "$(holds "$tmp/b")" 'real+4 symtab real+8 symtab '
archive "$tmp/b" --debug "$tmp/his.bin"
is '  which he cannot replace' "$(holds "$tmp/b")" 'real+4 symtab real+8 symtab '
done_testing
