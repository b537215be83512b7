#!/bin/sh
# A sparse ELF file that is a few kB on disk, but asks for gigabytes of memory, is refused before
# libelf reads it.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"

cd "$tmp" || exit 1
sanitized && own=1 || own=
id=00112233445566778899
capture() { { segment; process 1; file 1 "$tmp/$1" "$2"; mapping 1 1 0x400000 0x2000 0; echo 0x401010 | frames; finish; } | cprof-dump -r; }
# within COMMAND...: prints its status, and whether its memory stayed below 200 MB; limits it for the
# machine's sake, too.
within() {
	(
		limit_memory 4000000
		timeout 300 "$BUILD/tests/peak" kib "$@" >out 2>err
		echo "$? $([ "$own" ] || [ "$(($(cut -d' ' -f1 kib) / 1000))" -lt 200 ] && echo small || cat kib)"
	)
}
# refused KIND N REASON
refused() {
	python3 "$here/sparse-elf.py" x "$1" "$2"
	like "$1, $2: the file takes less than 300 kB of the disk" "$(($(du -k x | cut -f1) < 300))" 1
	capture x '' >by-path && capture x $id >by-id
	is "  cprof-sym -i -l takes little memory" "$(within cprof-sym -i -l by-path)" "0 small"
	is "  and gives the reason" "$(grep 'cannot read' err)" "cprof-sym: cannot read $tmp/x: $3"
	is "  cprof-archive takes little memory" "$(within cprof-archive -d kept --debug by-id)" "0 small"
	is "  and gives the reason" "$(grep 'cannot read' err)" "cprof-archive: cannot read $tmp/x: $3"
}
# taken KIND N: within the bounds
taken() {
	python3 "$here/sparse-elf.py" x "$1" "$2"
	capture x '' >by-path && capture x $id >by-id
	is "$1, $2: is read, with little memory" "$(within cprof-sym -i -l by-path) $(grep -c 'cannot read' err)" "0 small 0"
	is "  by cprof-archive, too" "$(within cprof-archive -d kept --debug by-id) $(grep -c 'cannot read' err)" "0 small 0"
}

refused sections 20000000 "too many sections (expected at most 131072)"
refused sections 131073 "too many sections (expected at most 131072)"
taken sections 131072
refused segments 4000000000 "too many program headers (expected at most 4096)"
refused segments 4097 "too many program headers (expected at most 4096)"
taken segments 4096
refused names 4000000000 "section names are too long (expected at most 64 MiB)"
taken names 67108864
refused notes 2000 "too many notes (expected at most 16 MiB)"
taken notes 16
refused note-segments 500 "too many notes (expected at most 16 MiB)"
refused parts 500000000 "more holes than data in its sections"
taken parts 5000000
refused load 500000000 "more holes than data in its sections"

# The same as a debug file at the path of the build ID; the file that ran still has its names.
echo 'int outer(void) { return 7; }' >f.c
gcc -O1 -shared -fPIC -Wl,--build-id -o f.so f.c
id=$(build_id f.so)
at=$(printf '0x%x' 0x$(nm f.so | awk '$3 == "outer" { print $1 }'))
strip f.so
mkdir -p "debug/.build-id/$(printf %.2s "$id")"
debug=$tmp/debug/.build-id/$(printf %.2s "$id")/${id#??}.debug
python3 "$here/sparse-elf.py" "$debug" sections 20000000
{ segment; process 1; file 1 "$tmp/f.so" "$id"; loads 1 1 f.so; echo "$at" | frames; finish; } | cprof-dump -r >in
is "a debug file of 20,000,000 sections takes little memory" "$(within cprof-sym --debug-dir debug in)" "0 small"
like "  and is named" "$(cat err)" "^cprof-sym: cannot read debug/.*\.debug: too many sections"
is "  the file itself gives its names" "$(names out)" "$at outer+0 dynsym"

# A debug file by .gnu_debuglink, without build IDs: its checksum covers the whole file, so also its holes.
gcc -O1 -g -shared -fPIC -Wl,--build-id=none -o k.so f.c
at=$(printf '0x%x' 0x$(nm k.so | awk '$3 == "outer" { print $1 }'))
objcopy --only-keep-debug k.so k.dbg && strip k.so && objcopy --add-gnu-debuglink=k.dbg k.so
linked() {
	{ segment; process 1; file 1 "$tmp/k.so" ''; loads 1 1 k.so; echo "$at" | frames; finish; } |
		cprof-dump -r
}
truncate -s 4294967297 k.dbg
linked >in
is "a debug file of more than 4 GiB is not read for its checksum" "$(within cprof-sym in)" "0 small"
large='too large for the checksum of .gnu_debuglink (expected at most 4 GiB)'
is "  with the reason" "$(grep 'cannot read' err)" "cprof-sym: cannot read $tmp/k.dbg: $large"
is "  the file itself gives its names" "$(names out)" "$at outer+0 dynsym"
truncate -s 300000000 k.dbg
is "nor one that is mostly holes" "$(within cprof-sym in) $(grep 'cannot read' err)" \
	"0 small cprof-sym: cannot read $tmp/k.dbg: more holes than data"
truncate -s 30000000 k.dbg && objcopy --remove-section=.gnu_debuglink k.so &&
	objcopy --add-gnu-debuglink=k.dbg k.so && linked >in
is "a smaller one is read" "$(within cprof-sym in) $(grep 'cannot read' err)$(names out)" \
	"0 small $at outer+0 debug"

# A file that is mostly data is read, however it is stored.
gcc -O1 -shared -fPIC -Wl,--build-id -o g.so f.c
head -c 90000000 /dev/urandom >big && objcopy --add-section .big=big g.so && cp --sparse=always g.so h.so
{ segment; process 1; file 1 "$tmp/h.so" "$(build_id h.so)"; loads 1 1 h.so; echo 0x$(nm h.so | awk '$3 == "outer" { print $1 }') | frames; finish; } |
	cprof-dump -r | cprof-sym 2>err >out
like "a section of 90 MB of data is none of those" "$(names out) $(cat err)" 'outer\+0 symtab cprof-sym: 1 of 1 '
done_testing
