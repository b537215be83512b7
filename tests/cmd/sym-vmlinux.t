#!/bin/sh
# Kernel frames of captures without kernel symbols: named from a vmlinux, a System.map or a copy of kallsyms,
# wherever the kernel was loaded.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"

kernel() { frames 0 "${1:-exact}" "${2:-1}" 1000 1; }
# header STEXT [BUILD_ID]: of a capture that records where the kernel was loaded
header() {
	echo 'segment major=1 minor=0 least=1'
	echo 'meta key="kernel-release" value="6.1.0-test"'
	[ -z "$1" ] || echo "meta key=\"kernel-stext\" value=\"$1\""
	[ -z "${2:-}" ] || echo "meta key=\"kernel-build-id\" value=\"$2\""
	echo 'event id=1 name="cpu-clock" unit="ns" period=10101010 millihertz=99000'
	echo flush
	process 1
}
sym() { cprof-dump -r >"$tmp/in" && cprof-sym "$@" "$tmp/in" 2>"$tmp/err" >"$tmp/out"; }
# The searches below must not find anything on this machine.
mkdir "$tmp/none"

cat >"$tmp/System.map" <<'X'
0000000000000000 D __per_cpu_start
0000000000001000 A absolute
ffffffff81000000 T _stext
ffffffff81000000 T startup_64
ffffffff81000100 t __pfx_local
ffffffff81000110 t local
ffffffff81000200 W weak
ffffffff81000200 T strong
ffffffff81000300 D data_in_text
ffffffff81000400 T last
ffffffff81000500 T _etext
ffffffff82000000 D data
X
# Moved by 0x1c000000, as KASLR does
{
	header ffffffff9d000000
	printf '%s\n' 0xffffffff9d000000 0xffffffff9d00010f 0xffffffff9d000150 0xffffffff9d000200 0xffffffff9d000300 0xffffffff9d0004ff \
		0xffffffff9d000500 0xffffffff81000110 0xffffffffc0000010 0xffffffff9cffffff | kernel
	echo 0xffffffff9d000200 | kernel return 11
	finish
} | sym --kernel "$tmp/System.map"
is 'System.map, moved: text symbols only, first byte to last, nothing outside' "$(name_of "$tmp/out" | tr '\n' ',')" \
	'startup_64+0 ksym,__pfx_local+15 ksym,local+64 ksym,strong+0 ksym,-,last+255 ksym,-,-,-,-,local+240 ksym,'
is '  the source is told' "$(sources "$tmp/out")" "0 ok ksym $tmp/System.map"
is '  and the summary' "$(cat "$tmp/err")" 'cprof-sym: 6 of 11 frames named (54.5 %); unresolved: 5 in [kernel] (no-symbol)'
cprof-sym --kernel "$tmp/System.map" "$tmp/out" >"$tmp/again" 2>/dev/null
same '  a second run changes nothing' "$tmp/out" "$tmp/again"
cprof-sym --symfs "$tmp/none" "$tmp/out" >"$tmp/again" 2>/dev/null
same '  nor does one without the file' "$tmp/out" "$tmp/again"
is '  readers take them' "$(cprof-fold -a "$tmp/out" | sed 's/.*;//' | sort | head -2 | tr '\n' ' ')" '[kernel]_[k] 5 __pfx_local_[k] 1 '
# Boot code before the first process: freed afterwards, after _etext
{ cat "$tmp/System.map"; echo 'ffffffff83000000 T _sinittext
ffffffff83000000 T startup_32
ffffffff83000100 T start_kernel
ffffffff83000400 T _einittext
ffffffff83000500 D after'; } >"$tmp/init.map"
{ header ffffffff81000000; printf '%s\n' 0xffffffff83000000 0xffffffff830003ff 0xffffffff83000400 | kernel; finish; } | sym --kernel "$tmp/init.map"
is 'code of a boot has names' "$(name_of "$tmp/out" | tr '\n' ',')" 'startup_32+0 ksym,start_kernel+767 ksym,-,'
{ header ''; echo 0xffffffff9d000150 | kernel; finish; } | sym --kernel "$tmp/System.map,1c000000"
is 'an offset that was given' "$(name_of "$tmp/out")" 'local+64 ksym'
{ header ffffffff9d000000; echo 0xffffffff81000150 | kernel; finish; } | sym --kernel "$tmp/System.map,0x0"
is '  goes before what the capture says' "$(name_of "$tmp/out")" 'local+64 ksym'
{ header ''; echo 0xffffffff81000150 | kernel; finish; } | sym --kernel "$tmp/System.map"
is 'without either no name' "$(name_of "$tmp/out")" '-'
is '  and why' "$(cat "$tmp/err")" \
	'cprof-sym: 0 of 1 frames named (0.0 %); unresolved: 1 in [kernel] (the capture does not say where the kernel was loaded)'
cp "$tmp/System.map" "$tmp/a,b"
{ header ffffffff81000000; echo 0xffffffff81000150 | kernel; finish; } | sym --kernel "$tmp/a,b"
is 'a file with a comma in its name' "$(name_of "$tmp/out")" 'local+64 ksym'

# A copy of kallsyms: modules and BPF programs, if it is of the same boot
{ grep -v ' [AD] ' "$tmp/System.map"
  printf '%s\n' 'ffffffffc0001000 t in_module	[ext4]' 'ffffffffc0002000 t bpf_prog_00_x	[bpf]'; } >"$tmp/kallsyms"
{ header ffffffff81000000; printf '%s\n' 0xffffffffc0001010 0xffffffffc0002010 0xffffffff81000410 | kernel; finish; } | sym --kernel "$tmp/kallsyms"
is 'a copy of kallsyms has modules and BPF programs' "$(name_of "$tmp/out" | tr '\n' ',')" 'in_module+16 ksym,bpf_prog_00_x+16 ksym,last+16 ksym,'
is '  and readers show which' "$(cprof-top --by module "$tmp/out" 2>/dev/null | grep -o '\[[a-z0-9]*\]$' | sort | tr '\n' ' ')" '[bpf] [ext4] [kernel] '
{ header ffffffff9d000000; printf '%s\n' 0xffffffffdc001010 0xffffffffc0001010 0xffffffff9d000410 | kernel; finish; } | sym --kernel "$tmp/kallsyms"
is '  of another boot has not' "$(name_of "$tmp/out" | tr '\n' ',')" '-,-,last+16 ksym,'
sed 's/^[0-9a-f]*/0000000000000000/' "$tmp/kallsyms" >"$tmp/zero"
status 'one with hidden addresses' 1 cprof-sym --kernel "$tmp/zero" "$tmp/in"
is '  is told' "$(cat "$tmp/err")" "cprof-sym: --kernel: $tmp/zero: its addresses are hidden"
status 'something else' 1 cprof-sym --kernel "$top/README.md" "$tmp/in"
status 'a directory' 1 cprof-sym --kernel "$tmp" "$tmp/in"
is '  is told' "$(cat "$tmp/err")" "cprof-sym: --kernel: $tmp: it is not a regular file"
status 'a device' 1 cprof-sym --kernel /dev/null "$tmp/in"
is '  is told' "$(cat "$tmp/err")" 'cprof-sym: --kernel: /dev/null: it is not a regular file'
status 'no such file' 1 cprof-sym --kernel "$tmp/nowhere" "$tmp/in"
is '  is told' "$(cat "$tmp/err")" "cprof-sym: --kernel: $tmp/nowhere: No such file or directory"
status 'no offset' 2 cprof-sym --kernel "$tmp/System.map,xyz" "$tmp/in"
status 'none named' 2 cprof-sym --kernel '' "$tmp/in"
status 'two' 2 cprof-sym --kernel "$tmp/System.map" --kernel "$tmp/System.map" "$tmp/in"

# A vmlinux, with sizes and a build ID
cat >"$tmp/k.s" <<'X'
	.globl _stext, outer, after
	.type outer, @function
	.type after, @function
	.type inner, @function
_stext:
outer:	.skip 64, 0x90
inner:	.skip 16, 0x90
	.size inner, 16
	.skip 16, 0x90
	.size outer, 96
	.skip 32, 0xcc
after:	.skip 32, 0x90
	.size after, 32
X
as -o "$tmp/k.o" "$tmp/k.s" && ld --build-id -Ttext=0x81000000 -e 0x81000000 -o "$tmp/vmlinux" "$tmp/k.o" 2>/dev/null
id=$(build_id "$tmp/vmlinux")
capture() { { header "${2:-ffffffff9d000000}" "$1"; printf '%s\n' 0xffffffff9d000004 0xffffffff9d000044 0xffffffff9d000058 0xffffffff9d000070 0xffffffff9d000080 | kernel; finish; }; }
want='outer+4 symtab,inner+4 symtab,outer+88 symtab,-,after+0 symtab,'
capture "$id" | sym --kernel "$tmp/vmlinux"
is 'a vmlinux of the right build' "$(name_of "$tmp/out" | tr '\n' ',')" "$want"
is '  the source is told' "$(sources "$tmp/out")" "0 ok symtab $tmp/vmlinux"
cprof-sym --kernel "$tmp/vmlinux" "$tmp/out" >"$tmp/again" 2>/dev/null
same '  a second run changes nothing' "$tmp/out" "$tmp/again"
is '  by module' "$(cprof-top --by module "$tmp/out" 2>/dev/null | grep -o '\[[a-z0-9]*\]$')" '[kernel]'
capture 00112233445566778899aabbccddeeff00112233 | sym --kernel "$tmp/vmlinux"
is 'of another build: no name' "$(name_of "$tmp/out" | sort -u)" '-'
is '  the source says so' "$(sources "$tmp/out")" "0 build-id-mismatch none $tmp/vmlinux"
like '  and the summary' "$(cat "$tmp/err")" 'in \[kernel\] \(its build ID is not that of the recorded kernel\)$'
capture '' | sym --kernel "$tmp/vmlinux"
is 'where the capture has no build ID the option counts' "$(name_of "$tmp/out" | tr '\n' ',')" "$want"
{ capture "$id"; capture 00112233445566778899aabbccddeeff00112233; } | sym --kernel "$tmp/vmlinux"
is 'each segment is asked by itself' "$(sources "$tmp/out" | awk '{ print $2 }' | tr '\n' ' ')" 'ok build-id-mismatch '
strip -o "$tmp/stripped" "$tmp/vmlinux"
status 'a stripped one' 1 cprof-sym --kernel "$tmp/stripped" "$tmp/in"
is '  is told' "$(cat "$tmp/err")" "cprof-sym: --kernel: $tmp/stripped: it has no symbols"
{ header ffffffff9d000000; echo 'ksym time=1 address=0xffffffff9d000000 size=0x100 name="recorded" module=""'; echo 0xffffffff9d000044 | kernel; finish; } |
	sym --kernel "$tmp/vmlinux"
is 'what was recorded goes before' "$(name_of "$tmp/out")" 'recorded+68 ksym'

# Without the option: in the directories of debug files, by the build ID
found() { # DESCRIPTION PLACE ARG...
	mkdir -p "$(dirname "$2")" && cp "$tmp/vmlinux" "$2"
	d=$1 p=$2
	shift 2
	capture "$id" | sym "$@"
	is "$d" "$(name_of "$tmp/out" | tr '\n' ',') $(sources "$tmp/out")" "$want 0 ok symtab $p"
	rm -f "$p"
}
found 'found in a debug directory, by its release' "$tmp/debug/boot/vmlinux-6.1.0-test" --debug-dir "$tmp/none" --debug-dir "$tmp/debug"
found '  among the modules' "$tmp/debug/lib/modules/6.1.0-test/vmlinux" --debug-dir "$tmp/debug"
found '  by its build ID' "$tmp/debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug" --debug-dir "$tmp/debug"
for p in /usr/lib/debug/boot/vmlinux-6.1.0-test /boot/vmlinux-6.1.0-test /lib/modules/6.1.0-test/build/vmlinux; do
	found "  in a tree, at $p" "$tmp/tree$p" --symfs "$tmp/tree"
done
mkdir -p "$tmp/debug/boot" && cp "$tmp/vmlinux" "$tmp/debug/boot/vmlinux-6.1.0-test"
capture 00112233445566778899aabbccddeeff00112233 | sym --debug-dir "$tmp/debug"
is 'one of another build is not taken' "$(sources "$tmp/out")" '0 no-file none /proc/kallsyms'
capture '' | sym --debug-dir "$tmp/debug"
is 'nor any where the capture has none' "$(sources "$tmp/out")" '0 no-file none /proc/kallsyms'
capture "$id" | sed 's|6.1.0-test|../boot/vmlinux-6.1.0-test|' | sym --debug-dir "$tmp/debug"
is 'a release is no path' "$(sources "$tmp/out")" '0 no-file none /proc/kallsyms'

# This kernel, whose names the recorder writes: the same names without them, from a copy of kallsyms
if ! (may_record_all) | grep -q SKIP && awk '$1 != "0000000000000000" { found = 1; exit } END { exit !found }' /proc/kallsyms; then
	cat /proc/kallsyms >"$tmp/copy"
	# Only the kernel proper: the recorder's own BPF programs came after the copy.
	end=0x$(awk '$3 == "_etext" { print $1; exit }' "$tmp/copy")
	cprof-record -q -F 499 -o "$tmp/c.bin" -- sh -c 'i=0; while [ $i -lt 40 ]; do dd if=/dev/zero of=/dev/null bs=64k count=2000 2>/dev/null; i=$((i + 1)); done'
	cprof-sym "$tmp/c.bin" 2>/dev/null | names | awk -v end="$end" '$1 ~ /^0xffff/ && $1 < end "" && $3 == "ksym"' | sort -u >"$tmp/want"
	cprof-dump "$tmp/c.bin" | grep -v '^ksym' | cprof-dump -r | cprof-sym --kernel "$tmp/copy" 2>/dev/null | names |
		awk -v end="$end" '$1 ~ /^0xffff/ && $1 < end "" && $3 == "ksym"' | sort -u >"$tmp/got"
	like 'this kernel: many frames' "$(wc -l <"$tmp/want")" '^[0-9]{2,}$'
	# The recorder may have asked the kernel itself, which prefers other aliases: compare offsets
	# in the function.
	sed 's/ .*+/ +/' "$tmp/want" >"$tmp/want.at"
	sed 's/ .*+/ +/' "$tmp/got" >"$tmp/got.at"
	same '  the same function by a copy of kallsyms' "$tmp/got.at" "$tmp/want.at"
else
	skip 'this kernel' 'its symbols are hidden, or it may not be recorded'
fi
done_testing
