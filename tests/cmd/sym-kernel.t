#!/bin/sh
# Kernel frames get their names from KSYM records, whenever those come.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"

ksym() { echo "ksym time=${5:-1} address=$1 size=$2 name=\"$3\" module=\"${4:-}\""; }
kernel() { frames 0 "${1:-exact}" "${2:-1}" 1000 1; }
sym() { cprof-dump -r | cprof-sym 2>"$tmp/err" >"$tmp/out"; }

{
	segment; process 1
	ksym 0xffffffff81000000 0x100 start_it
	ksym 0xffffffff81000100 0x10 noreturn_caller
	ksym 0xffffffff81000110 0x100 __pfx_next
	ksym 0xffffffffc0000000 0x100 of_module ext4
	printf '%s\n' 0xffffffff81000000 0xffffffff810000ff 0xffffffffc0000080 0xffffffffc0000100 0xffffffff80ffffff \
		0xffffffff90000000 | kernel
	printf '%s\n' 0xffffffff81000110 0xffffffff81000100 | kernel return 11
	finish
} | sym
is 'first byte, last byte, module, and nothing outside' "$(name_of "$tmp/out" | head -6 | tr '\n' ',')" \
	'start_it+0 ksym,start_it+255 ksym,of_module+128 ksym,-,-,-,'
is 'a return address belongs to the call before it, its offset to itself' "$(name_of "$tmp/out" | tail -2 | tr '\n' ',')" \
	'noreturn_caller+16 ksym,start_it+256 ksym,'
is 'the source is told' "$(sources "$tmp/out")" '0 ok ksym /proc/kallsyms'
is 'and the summary' "$(cat "$tmp/err")" 'cprof-sym: 5 of 8 frames named (62.5 %); unresolved: 3 in [kernel] (no-symbol)'

{
	segment; process 1
	printf '%s\n' 0xffffffff81000010 0xffffffff82000010 | kernel
	echo flush
	ksym 0xffffffff82000000 0x100 second '' 2000
	echo flush
	ksym 0xffffffff81000000 0x100 first '' 3000
	finish
} | sym
is 'symbols that come later name what came before' "$(name_of "$tmp/out" | tr '\n' ',')" 'first+16 ksym,second+16 ksym,'
is '  each as soon as it can' "$(cprof-dump "$tmp/out" | awk '/^(ksym|symbol|flush)/ { print $1 }' | tr '\n' ' ')" \
	'flush flush ksym symbol flush ksym symbol flush flush '

{
	segment; process 1
	ksym 0xffffffff81000000 0 open_end
	printf '%s\n' 0xffffffff81000010 0xffffffff81000110 | kernel
	echo flush
	ksym 0xffffffff81000100 0 next '' 2000
	ksym 0xffffffff81000200 0x100 alias_one '' 2000
	ksym 0xffffffff81000200 0x100 alias_two '' 2000
	echo 0xffffffff81000210 | kernel exact 5
	finish
} | sym
is 'a symbol without a size ends where the next begins, also if that comes later' "$(name_of "$tmp/out" | head -2 | tr '\n' ',')" \
	'open_end+16 ksym,next+16 ksym,'
is 'of aliases the first counts' "$(name_of "$tmp/out" | tail -1)" 'alias_one+16 ksym'

{ segment; process 1; echo 0xffffffff81000010 | kernel; finish; } | sym
is 'without any kernel symbols there is no name' "$(name_of "$tmp/out")" '-'
is '  the source says so' "$(sources "$tmp/out")" '0 no-file none /proc/kallsyms'
is '  and so does the summary' "$(cat "$tmp/err")" \
	'cprof-sym: 0 of 1 frames named (0.0 %); unresolved: 1 in [kernel] (no kernel symbols were recorded)'

# The vDSO is in the stream; its file offset is its address.
cat >"$tmp/v.s" <<'X'
	.globl __vdso_f
	.weak f
	.type __vdso_f, @function
	.type f, @function
f:
__vdso_f: .skip 32, 0x90
	.size f, 32
	.size __vdso_f, 32
X
as -o "$tmp/v.o" "$tmp/v.s" && ld -shared --build-id -o "$tmp/v.so" "$tmp/v.o" && strip "$tmp/v.so"
f=0x$(nm -D "$tmp/v.so" | awk '$3 == "f" { print $1 }')
{
	segment; process 1; process 2
	file 1 '[vdso]' "$(build_id "$tmp/v.so")"
	file 2 '[vsyscall]'
	mapping 1 1 0x7fff00000000 0x2000 0x0
	mapping 2 1 0x7ffe00000000 0x2000 0x0
	mapping 1 2 0xffffffffff600000 0x1000 0x0
	echo "image name=\"[vdso]\" build-id=$(build_id "$tmp/v.so") data=$(od -An -v -tx1 "$tmp/v.so" | tr -d ' \n')"
	printf '0x%x\n' $((0x7fff00000000 + f + 4)) | frames 1 exact 1
	printf '0x%x\n' $((0x7ffe00000000 + f + 6)) | frames 2 exact 2
	echo 0xffffffffff600400 | frames 1 exact 3
	finish
} | sym
is 'the vDSO is read from the stream, its global name is preferred' "$(name_of "$tmp/out" | tr '\n' ',')" \
	'__vdso_f+4 dynsym,__vdso_f+6 dynsym,-,'
is '  and its source told' "$(sources "$tmp/out" | tr '\n' ',')" '1 ok dynsym [vdso],2 not-a-file none [vsyscall],'
done_testing
