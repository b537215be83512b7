#!/bin/sh
# cprof-sym -i -l: debug sections that cannot be read are reported, and names still come from .symtab.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"

ldd "$(command -v cprof-sym)" | grep -q libdw || skip_all "built without libdw"
cd "$tmp" || exit 1
{
	echo 'volatile int v;'
	echo 'static inline __attribute__((always_inline)) int deepest(int x) { v = x; return v * 3; }'
	for i in $(seq 200); do
		echo "__attribute__((noinline)) int outer_$i(int x) { return deepest(x + $i) + 7; }"
	done
} >f.c
gcc -O1 -g -gdwarf-5 -shared -fPIC -Wl,--build-id -o plain.so f.c
id=$(build_id plain.so)
# The first address of line 2 in each of 50 functions, where deepest is inlined
objdump -dl --no-show-raw-insn plain.so | awk '/^[0-9a-f]+ <outer_/ { due = 1 } /f\.c:[0-9]+/ { here = /f\.c:2( |$)/; next }
	/^ *[0-9a-f]+:/ && due && here { sub(/:/, "", $1); print "0x" $1; due = 0; if (++n == 50) exit }' >addresses
objcopy --compress-debug-sections=zlib plain.so zlib.so
objcopy --compress-debug-sections=zlib-gnu plain.so zdebug.so

# spoil FILE HOW SECTION...: makes f.so from the file with other bytes in these compressed sections
spoil() {
	python3 - "$@" <<-'END'
	import struct, subprocess, sys
	file, how, *names = sys.argv[1:]
	data = bytearray(open(file, 'rb').read())
	for row in subprocess.getoutput('readelf -SW ' + file).splitlines():
	    row = row.split(']')[1].split() if ']' in row else ['']
	    if row[0] not in names:
	        continue
	    at, size = int(row[3], 16), int(row[4], 16)
	    if how == 'payload':
	        data[at + size // 2:at + size] = bytes(b ^ 0x5a for b in data[at + size // 2:at + size])
	    elif how == 'zstd':
	        data[at:at + 4] = struct.pack('<I', 2)
	    elif how == 'size':
	        data[at + 8:at + 16] = struct.pack('<Q', 1 << 40)
	    names.remove(row[0])
	assert not names, names
	open('f.so', 'wb').write(data)
	END
}

# sym [OPTION...]: names f.so
sym() {
	{ segment; process 1; file 1 "$tmp/f.so" "$id"; loads 1 1 plain.so; frames <addresses; finish; } |
		cprof-dump -r | cprof-sym --debug-dir "$tmp/none" "$@" 2>err >out
}
warned() { grep 'cannot read' err; }
named() { names out | grep -c ' outer_[0-9]*+[0-9]* symtab'; }
# inlined, lined: the number of inlined levels, and of levels with a line
inlined() { cprof-dump out | grep -c '^symbol .* level=1 '; }
lined() { cprof-dump out | grep '^symbol ' | grep -vc ' line=0'; }
mkdir none

for f in plain zlib zdebug; do
	cp $f.so f.so && sym -i -l
	is "$f: lines, inlined calls, and no warning" "$(named) $(inlined) $(lined) $(warned)" "50 50 100 "
done

spoil zlib.so payload .debug_line
sym -i -l
is ".debug_line is damaged: a warning" "$(warned)" "cprof-sym: cannot read 1 debug section of $tmp/f.so: damaged"
is "  no lines, but inlined calls" "$(named) $(inlined)" "50 50"
sym
is "  no warning where nobody asked for lines" "$(named) $(warned)" "50 "

spoil zlib.so payload .debug_info .debug_line
sym -l
is ".debug_info and .debug_line are damaged: one warning for the file" "$(warned)" \
	"cprof-sym: cannot read 2 debug sections of $tmp/f.so: damaged"
is "  names are from .symtab" "$(named) $(inlined) $(lined)" "50 0 0"
is "  the summary is the same" "$(grep frames err)" "cprof-sym: 50 of 50 frames named (100.0 %)"

spoil zdebug.so payload .zdebug_info
sym -i
is ".zdebug_info is damaged" "$(warned) $(named)" "cprof-sym: cannot read 1 debug section of $tmp/f.so: damaged 50"

spoil zlib.so size .debug_info
sym -i
is ".debug_info says that it has a terabyte" "$(warned) $(named)" \
	"cprof-sym: cannot read 1 debug section of $tmp/f.so: too large 50"

# If libelf supports zstd, other bytes are damage.
reason="compressed with zstd, which this build's libelf does not support"
libelf=$(ldd "$(command -v cprof-sym)" | sed -n 's/.*libelf.* => \([^ ]*\) .*/\1/p')
ldd "$libelf" | grep -q libzstd && reason=damaged
spoil zlib.so zstd .debug_info .debug_line .debug_str
sym -i -l
is "sections say that they are zstd" "$(warned) $(named)" \
	"cprof-sym: cannot read 3 debug sections of $tmp/f.so: $reason 50"

# The message names a separate debug file, not the file that ran.
spoil zlib.so payload .debug_info
folder=none/.build-id/$(printf %.2s "$id")
mkdir -p "$folder"
objcopy --only-keep-debug f.so 2>/dev/null "$folder/${id#??}.debug"
strip -g -o f.so plain.so
sym -i
is "of a debug file" "$(warned) $(named)" \
	"cprof-sym: cannot read 1 debug section of $tmp/$folder/${id#??}.debug: damaged 50"
rm -r none/.build-id

# Two processes, two segments: one message for each file. Five files: three lines and the number of the
# others; with -v all.
spoil zlib.so payload .debug_line
for i in 1 2 3 4 5; do cp f.so "f$i.so"; done
five() {
	segment
	process 1
	for i in 1 2 3 4 5; do
		file $i "$tmp/f$i.so"
		mapping 1 $i $((i * 1048576)) 1048576 0
		awk -v i=$i 'NR == 1 { print }' addresses | while read -r a; do printf '0x%x\n' $((i * 1048576 + a)); done |
			frames 1 exact $((i * 2))
	done
	finish
}
{ five; five; } | cprof-dump -r >in
cprof-sym --debug-dir none -i in 2>err >out
is "five files, twice" "$(warned | sed 's,/.*/,,')" "$(for i in 1 2 3; do echo "cprof-sym: cannot read 1 debug section of f$i.so: damaged"; done
	echo 'cprof-sym: cannot read 2 more files (-v lists all)')"
cprof-sym --debug-dir none -v -i in 2>err >out
is "  with -v all" "$(warned | sed 's,.*/,,')" "$(for i in 1 2 3 4 5; do echo "f$i.so: damaged"; done)"
done_testing
