#!/bin/sh
# Unwind tables: the rules made from call frame information, and libdw's agreement on the installed files
. "$(dirname "$0")/../lib/lib.sh"
cd "$tmp" || exit 1
table=$BUILD/tests/unwind-table
# One executable segment with only .text, so that rows are counted from its first byte
link="ld -z separate-code -z noexecstack --build-id=none"

# assemble OPTION...: makes a.so from the assembly on stdin
assemble() {
	as -o a.o && $link -shared --no-eh-frame-hdr -Ttext=0x1000 "$@" -o a.so a.o
}
# Code of gcc's start files, which come without tables: as crti.S and crtstuff.c are compiled. g has a table.
start_files() { # ENDBR JUMP
	cat <<-END_ASM
	.section .init, "ax"
	$1; sub \$8, %rsp; mov x(%rip), %rax; test %rax, %rax; je 1f; call *%rax
	1: call g; add \$8, %rsp; ret
	.text
	g: .cfi_startproc
	.fill 32, 1, 0x90
	.cfi_endproc
	.p2align 4; .fill 32, 1, 0x90
	lea x(%rip), %rdi; lea x(%rip), %rax; cmp %rdi, %rax; je 1f; mov x(%rip), %rax; test %rax, %rax; je 1f; jmp *%rax
	.p2align 3
	1: ret
	.p2align 4
	lea x(%rip), %rdi; lea x(%rip), %rsi; sub %rdi, %rsi; mov %rsi, %rax; shr \$63, %rsi; sar \$3, %rax; add %rax, %rsi; sar %rsi
	je 1f; mov x(%rip), %rax; test %rax, %rax; je 1f; jmp *%rax
	.p2align 3
	1: ret
	.p2align 4
	$1; cmpb \$0, x(%rip); $2 2f; push %rbp; cmpq \$0, x(%rip); mov %rsp, %rbp; je 1f; mov x(%rip), %rdi; call g
	1: call g; movb \$1, x(%rip); pop %rbp; ret; nopl (%rax)
	2: ret
	.p2align 4
	$1; jmp g
	.p2align 4; .fill 32, 1, 0x90
	.data
	x: .quad 0
	END_ASM
}
# rows DESCRIPTION WANT: checks the rules of a.so, one a line with the byte at which it begins
rows() { is "$1" "$("$table" rows "${3:-a.so}")" "$2"; }

assemble --eh-frame-hdr <<'END_ASM'
f:	.cfi_startproc
	push %rbp
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	sub $32, %rsp
	test %edi, %edi
	je 1f
	.cfi_remember_state
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
1:	.cfi_restore_state
	.cfi_remember_state
	nop
	.cfi_def_cfa_offset 48
	.cfi_remember_state
	nop
	.cfi_val_offset %rbp, -24
	nop
	.cfi_restore_state
	nop
	.cfi_restore_state
	leave
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.skip 15, 0x90
g:	.cfi_startproc
	sub $8, %rsp
	.cfi_def_cfa_offset 16
	call f
	.cfi_endproc
	.skip 16, 0x90
h:	.cfi_startproc
	.cfi_undefined %rip
	hlt
	.cfi_endproc
END_ASM
rows "frames by rsp and rbp, states remembered twice, the outermost; 15 bytes of padding are filled, 16 are a gap" "0 rsp+8
1 rsp+16 rbp=[cfa-16]
4 rbp+16 rbp=[cfa-16]
13 rsp+8
14 rbp+16 rbp=[cfa-16]
15 rbp+48 rbp=[cfa-16]
16 rbp+48 rbp=cfa-24
17 rbp+48 rbp=[cfa-16]
18 rbp+16 rbp=[cfa-16]
19 rsp+8 rbp=[cfa-16]
35 rsp+8
39 rsp+16
44 gap
60 stop"

# The same without section headers: by the program header. e_shoff, e_shnum and e_shstrndx are zeroed.
cp a.so bare.so
dd if=/dev/zero of=bare.so bs=1 seek=40 count=8 conv=notrunc 2>/dev/null
dd if=/dev/zero of=bare.so bs=1 seek=60 count=4 conv=notrunc 2>/dev/null
is "without section headers: the same" "$("$table" rows bare.so)" "$("$table" rows a.so)"

# Four of each, because a run's rule is not worth its space for fewer.
assemble <<'END_ASM'
	.rept 4
	.cfi_startproc
	endbr64
	push %r15
	.cfi_def_cfa_offset 16
	push %rbp
	.cfi_def_cfa_offset 24
	.cfi_offset %rbp, -24
	push %rbx
	.cfi_def_cfa_offset 32
	sub $24, %rsp
	.cfi_def_cfa_offset 56
	call .
	add $24, %rsp
	.cfi_def_cfa_offset 32
	pop %rbx
	.cfi_def_cfa_offset 24
	pop %rbp
	.cfi_def_cfa_offset 16
	pop %r15
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.balign 64, 0x90
	.endr
	.rept 4
	.cfi_startproc
	push %rax
	.cfi_def_cfa_offset 16
	push %rcx
	.cfi_def_cfa_offset 24
	nop
	.cfi_endproc
	.balign 32, 0x90
	.cfi_startproc
	.cfi_def_cfa_offset 32
	push %rsi
	.cfi_def_cfa_offset 40
	push %rbp
	.cfi_def_cfa_offset 48
	.cfi_offset %rbp, -48
	nop
	.cfi_endproc
	.balign 32, 0x90
	.endr
	.org 61437, 0x90 # the text is at 4096
	.cfi_startproc
	push %rax
	.cfi_def_cfa_offset 16
	push %rcx
	.cfi_def_cfa_offset 24
	push %rdx
	.cfi_def_cfa_offset 32
	push %rsi
	.cfi_def_cfa_offset 40
	push %rbp
	.cfi_def_cfa_offset 48
	.cfi_offset %rbp, -48
	nop
	.cfi_endproc
END_ASM
is "pushes and pops are one row each" "$("$table" raw a.so | head -5)" "0 gap
0x1000 pushes+8 mask=0xe0 rbp=[cfa-24]
0x100c rsp+56 rbp=[cfa-24]
0x1015 pops+32 mask=0xb rbp=[cfa-24]
0x101a gap"
is "but begin anew with a page" "$("$table" raw a.so | tail -3)" "0xfffd pushes+8 mask=0x3
0x10000 pushes+32 mask=0x3 rbp=[cfa-48]
0x10003 gap"
is "and mean the same, where a slot below rsp holds nothing" "$("$table" rows a.so | sed '11,/^483/d')" "0 rsp+8
6 rsp+16
7 rsp+24 rbp=[cfa-24]
8 rsp+32 rbp=[cfa-24]
12 rsp+56 rbp=[cfa-24]
21 rsp+32 rbp=[cfa-24]
22 rsp+24 rbp=[cfa-24]
23 rsp+16
25 rsp+8
26 gap
61437 rsp+8
61438 rsp+16
61439 rsp+24
61440 rsp+32
61441 rsp+40
61442 rsp+48 rbp=[cfa-48]"

# A function that keeps rbp below rsp (in the red zone) has it there; without a matching pop it is not a run.
assemble <<'END_ASM'
	.cfi_startproc
	mov %rbp, -8(%rsp)
	.cfi_offset %rbp, -16
	nop
	push %rax
	.cfi_def_cfa_offset 16
	add $8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
END_ASM
rows "a red zone is no run" "0 rsp+8
5 rsp+8 rbp=[cfa-16]
7 rsp+16 rbp=[cfa-16]
11 rsp+8 rbp=[cfa-16]"

# Rules from expressions: 0x0f is DW_CFA_def_cfa_expression, 0x10 DW_CFA_expression, 0x16
# DW_CFA_val_expression.
assemble <<'END_ASM'
	.cfi_startproc
	nop
	.cfi_def_cfa %r10, 0
	nop
	.cfi_escape 0x10, 6, 2, 0x76, 0		# rbp at [rbp]
	.cfi_escape 0x0f, 3, 0x76, 0x78, 6	# CFA = [rbp - 8]
	nop
	.cfi_escape 0x0f, 6, 0x77, 0x98, 1, 6, 0x23, 8	# CFA = [rsp + 152] + 8
	nop
	.cfi_escape 0x0f, 2, 0x77, 24		# CFA = rsp + 24
	nop
	.cfi_escape 0x0f, 3, 0x70, 0, 6		# CFA = [rax]
	nop
	.cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 # a stub's
	nop
	.cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x35, 0x2a, 0x33, 0x24, 0x22 # and one of 5 bytes
	nop
	.cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x34, 0x24, 0x22 # 16 instead of 8
	nop
	.cfi_escape 0x0f, 7, 0x77, 0, 6, 0x23, 0x80, 0x80, 4	# [rsp] + 65536 is too far
	nop
	.cfi_escape 0x0f, 3, 0x76, 0x78, 6
	.cfi_def_cfa_register %rsp		# the last offset that was said
	nop
	.cfi_escape 0x16, 6, 2, 0x76, 0		# rbp is rbp + 0: not worth a kind
	nop
	.cfi_register %rbp, %r8
	nop
	.cfi_same_value %rbp
	.cfi_escape 0x16, 7, 2, 0x77, 0		# the caller's rsp is not CFA
	nop
	.cfi_escape 0x14, 7, 0			# but now it is
	nop
	.cfi_endproc
END_ASM
rows "expressions" "0 rsp+8
1 reg(10)+0
2 [rbp-8]+0 rbp=[rbp+0]
3 [rsp+152]+8 rbp=[rbp+0]
4 rsp+24 rbp=[rbp+0]
5 bad
6 plt(11)+8 rbp=[rbp+0]
7 plt(5)+8 rbp=[rbp+0]
8 bad
10 rsp+0 rbp=[rbp+0]
11 rsp+0 rbp=lost
13 bad
14 rsp+0"

assemble 2>/dev/null <<'END_ASM' # the linker reports an error, too
	nop
	.cfi_startproc # a return address in a register, as in vfork; then elsewhere on the stack
	nop
	.cfi_def_cfa_offset 0
	.cfi_register %rip, %rdi
	nop
	.cfi_def_cfa %rbp, 16
	nop
	.cfi_def_cfa %rsp, 16
	.cfi_offset %rip, -16
	nop
	.cfi_endproc
	.cfi_startproc simple # nothing is said
	nop
	.cfi_endproc
	.cfi_startproc # an instruction that there is not
	nop
	.cfi_escape 0x3f
	nop
	.cfi_endproc
	.cfi_startproc # what was never remembered is restored
	nop
	.cfi_escape 0x0b
	nop
	.cfi_endproc
	.cfi_startproc # the next is well again
	nop
	.cfi_endproc
END_ASM
rows "a return address elsewhere; what is wrong costs one function" "0 gap
1 rsp+8
2 in(5)+0
3 bad
10 rsp+8"

# The kernel's frame, as glibc describes it; and code without a description, known by its bytes.
assemble <<'END_ASM'
	nop
	.cfi_startproc simple
	.cfi_signal_frame
	.cfi_escape 0x0f, 4, 0x77, 0xa0, 1, 6
	.cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0
	.cfi_escape 0x10, 16, 3, 0x77, 0xa8, 1
	mov $15, %rax
	syscall
	.cfi_endproc
	.skip 20, 0x90
	mov $15, %rax
	syscall
	.skip 20, 0x90
	.cfi_startproc
	.cfi_signal_frame
	nop
	.cfi_endproc
END_ASM
rows "signal frames" "0 gap
1 signal
10 gap
29 signal
39 gap
59 bad"

printf 'f: mov $15, %%rax\nsyscall\nret\n' | assemble
rows "a file that has nothing else" "0 signal
9 gap"
# Functions of known size and without a table, by their code.
assemble <<'END_ASM'
	.cfi_startproc
	push %rax
	.cfi_def_cfa_offset 16
	ret
	.cfi_endproc
	.balign 32, 0x90
	.type f, @function
f:	push %rbx
	push %rbp
	mov %rsp, %rbp
	and $-64, %rsp
	mov %rdi, %rsp
	mov %rax, %rbp
	nop
	mov %rsi, %rsp
	pop %rax
	ret
	.size f, .-f
g:	push %rax
	ret
	.balign 64, 0x90
	.cfi_startproc
	ret
	.cfi_endproc
END_ASM
rows "code without a table; pieces of it without a rule are a gap, however small" "0 rsp+8
1 rsp+16
2 gap
32 code rsp+8
33 code rsp+16
34 code rsp+24
37 code rbp+24 rbp=[cfa-24]
47 gap
64 rsp+8"
printf 'f: ret\n' | assemble
rows "a file that has nothing" "nothing"
printf 'f: .cfi_startproc\nret\n.cfi_endproc\n' >i386.s
as --32 -o i386.o i386.s && ld -m elf_i386 -shared -o i386.so i386.o
rows "another architecture" "nothing" i386.so

# rbx is tracked only where a frame depends on it.
rbx='push %rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	nop'
assemble <<END_ASM
	.rept 4
	.cfi_startproc
	$rbx
	mov %rsp, %rbx
	.cfi_def_cfa %rbx, 16
	nop
	.cfi_register %rbx, %r9
	nop
	.cfi_endproc
	.balign 32, 0x90
	.endr
END_ASM
is "CFA by rbx" "$("$table" rows a.so | head -5)" "0 rsp+8
1 rsp+16 rbx=[cfa-16]
5 rbx+16 rbx=[cfa-16]
6 rbx+16 rbx=lost
7 gap"
like "a run has rbx, too" "$("$table" raw a.so)" "0x1000 pushes\+8 mask=0x1 rbx=\[cfa-16\]"
assemble <<END_ASM
	.cfi_startproc
	$rbx
	.cfi_endproc
END_ASM
rows "without it" "0 rsp+8
1 rsp+16"

# By hand: the text at 4096, functions of two bytes, tables hidden from the linker, because it
# would repair them.
# by_hand SECTION FLAGS: makes a.so with stdin as that section
by_hand() {
	{ printf '.text\n.skip 64, 0x90\n.section .got,"aw"\n.quad 0\n.section .byhand,"%s"\nstart:\n' "$2"; cat; } | as -o a.o &&
		$link -shared -Ttext=0x1000 --section-start=.byhand=0x4000 --section-start=.got=0x6000 -o a.so a.o &&
		objcopy --rename-section ".byhand=$1" a.so
}
# cie NAME AUGMENTATION-AND-DATA: version 1, factors 1 and -8, then CFA = rsp + 8, the return address at
# CFA - 8
cie() { printf '%s: .long 2f - 1f\n1: .long 0\n.byte 1\n%s\n.byte 0x0c, 7, 8, 0x90, 1\n2:\n' "$1" "$2"; }
# after the string: factors, return register; then z's length and data
head='.byte 1, 0x78, 16'
# fde CIE POINTERS DATA: from byte 1 on CFA = rsp + 16
fde() { printf '.long 2f - 1f\n1: .long 1b - %s\n%s\n%s\n.byte 0x41, 0x0e, 16\n2:\n' "$1" "$2" "$3"; }
two() { printf '%d rsp+8\n%d rsp+16\n' "$1" $(($1 + 1)); }

{
	cie absolute ".asciz \"\"; $head"
	fde absolute ".quad 0x1000, 2" ""
	cie u2 ".asciz \"zR\"; $head, 1, 0x02"
	fde u2 ".short 0x1002, 2" ".byte 0"
	cie uleb ".asciz \"zLR\"; $head, 2, 0xff, 0x01"
	fde uleb ".uleb128 0x1004, 2" ".byte 3, 1, 2, 3"
	cie sleb ".asciz \"zPR\"; $head, 6, 0x9b, 1, 2, 3, 4, 0x09"
	fde sleb ".sleb128 0x1006, 2" ".byte 0"
	cie u4 ".asciz \"zRPB\"; $head, 2, 0x03, 0xff"
	fde u4 ".long 0x1008, 2" ".byte 0"
	cie u8 ".asciz \"zR\"; $head, 1, 0x04"
	fde u8 ".quad 0x100a, 2" ".byte 0"
	cie s2 ".asciz \"zR\"; $head, 1, 0x1a"
	fde s2 "3: .short 0x100c - 0x4000 - (3b - start), 2" ".byte 0"
	cie s4 ".asciz \"zR\"; $head, 1, 0x1b"
	fde s4 "3: .long 0x100e - 0x4000 - (3b - start), 2" ".byte 0"
	cie s8 ".asciz \"zR\"; $head, 1, 0x1c"
	fde s8 "3: .quad 0x1010 - 0x4000 - (3b - start), 2" ".byte 0"
	cie text ".asciz \"zR\"; $head, 1, 0x2b"
	fde text ".long 0x12, 2" ".byte 0"
	cie data ".asciz \"zR\"; $head, 1, 0x3b"
	fde data ".long 0x1014 - 0x6000, 2" ".byte 0"
	cie aligned ".asciz \"zR\"; $head, 1, 0x50"
	fde aligned ".balign 8; .quad 0x1016, 2" ".byte 0"
	cie indirect ".asciz \"zR\"; $head, 1, 0x9b"
	fde indirect "3: .long 0x1018 - 0x4000 - (3b - start), 2" ".byte 0"
	cie func ".asciz \"zR\"; $head, 1, 0x40"
	fde func ".quad 0x1018, 2" ".byte 0"
	cie old ".asciz \"eh\"; .quad 0; $head"
	fde old ".quad 0x1018, 2" ""
	printf '.long 0\n' # a false terminator
	printf '.long -1\n.quad 2f - 1f\n1: .long 1b - absolute\n.quad 0x102a, 2\n.byte 0x41, 0x0e, 16\n2:\n'
	printf '.long 0\n'
} >byhand.s
by_hand .eh_frame a <byhand.s
rows "pointers of each encoding, and refused ones; augmentations; the 64-bit format" \
	"$(for i in 0 2 4 6 8 10 12 14 16 18 20 22; do two $i; done)
24 gap
$(two 42)
44 gap"
is "what was refused is counted" "$(echo a.so | "$table" size | grep -o '[0-9]* functions *[0-9]* bad')" \
	"13 functions    3 bad"

# .debug_frame names its CIE by its offset; this CIE comes later, and is of version 4.
{
	printf 'fde: .long 2f - 1f\n1: .long cie - start\n.quad 0x1000, 2\n.byte 0x41, 0x0e, 16\n2:\n'
	printf '.long 2f - 1f\n1: .long cie - start\n.quad 0, 64\n.skip 1000\n2:\n' # discarded code
	printf 'cie: .long 2f - 1f\n1: .long -1\n.byte 4; .asciz ""; .byte 8, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1\n2:\n'
	printf 'wide: .long -1\n.quad 2f - 1f\n1: .quad -1\n.byte 3; .asciz ""; .byte 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1\n2:\n'
	printf '.long -1\n.quad 2f - 1f\n1: .quad wide - start\n.quad 0x1014, 2\n.byte 0x41, 0x0e, 16\n2:\n'
} >byhand.s
by_hand .debug_frame "" <byhand.s
rows ".debug_frame" "$(two 0)
2 gap
$(two 20)
22 gap"
objcopy --compress-debug-sections=zlib a.so
like "its section can be compressed" "$(readelf -SW a.so)" "debug_frame.* C "
rows ".debug_frame, compressed" "$(two 0)
2 gap
$(two 20)
22 gap"

# If two overlap, the first counts, and .eh_frame before .debug_frame.
{
	cie one ".asciz \"\"; $head"
	printf '.long 2f - 1f\n1: .long 1b - one\n.quad 0x1004, 8\n.byte 0x42, 0x0e, 16\n2:\n'
	printf '.long 2f - 1f\n1: .long 1b - one\n.quad 0x1000, 32\n.byte 0x0e, 24, 0x50, 0x0e, 32\n2:\n'
	printf '.long 2f - 1f\n1: .long 1b - one\n.quad 0x1010, 8\n.byte 0x0e, 40\n2:\n'
} >byhand.s
by_hand .eh_frame a <byhand.s
rows "functions that overlap" "0 rsp+24
4 rsp+8
6 rsp+16
12 rsp+24
16 rsp+32
32 gap"
{
	cie one ".asciz \"\"; $head"
	printf '.long 2f - 1f\n1: .long 1b - one\n.quad 0x1004, 8\n.byte 0x42, 0x0e, 16\n2:\n.long 1000\n.long 0x77777777\n'
} >byhand.s
by_hand .eh_frame a <byhand.s
rows "an entry that is longer than the section ends it" "0 gap
4 rsp+8
6 rsp+16
12 gap"
printf '.long 1000\n.long 0x77777777\n' | by_hand .eh_frame a
rows "a section of nothing else" "damaged"

# Installed files: some hundreds from all over, and always the largest
find /usr/bin /usr/lib -type f \( -perm -111 -o -name '*.so*' \) -printf '%s %p\n' 2>/dev/null |
	sort -rn | sed 's/[0-9]* //' >all
step=$(($(wc -l <all) / 400 + 1))
awk -v step=$step 'NR <= 8 || NR % step == 0' all >files
"$BUILD/tests/unwind-compare" 1200000 <files >out
grep '^#' out
said=$(grep -v '^#' out)
like "at least 100 files" "$said" "^files=[1-9][0-9][0-9]"
like "at least 500,000 addresses" "$said" " addresses=([1-9][0-9]{6}|[5-9][0-9]{5}) "
like "of which libdw has hardly any opinion that it calls invalid itself" "$said" " undecided=[0-9]{1,2} "
like "no rule is wrong" "$said" " wrong=0$"

started() { # ENDBR JUMP
	start_files "$1" "$2" | sed 's/^no; //' | as -o a.o && $link -shared --eh-frame-hdr -o a.so a.o
}
started endbr64 jne
rows "what the start files bring without tables" "0 rsp+8
8 rsp+16
31 rsp+8
64 gap
96 rsp+8
222 rsp+16 rbp=[cfa-16]
260 rsp+8
281 gap"
started no jne
rows "  also without endbr64" "0 rsp+8
4 rsp+16
27 rsp+8
64 gap
96 rsp+8
218 rsp+16 rbp=[cfa-16]
256 rsp+8
277 gap"
started endbr64 js
rows "  where one byte is another, it is other code, whose rules are made from it" "0 rsp+8
8 rsp+16
31 rsp+8
64 gap
96 code rsp+8
129 gap
136 code rsp+8
137 gap
144 code rsp+8
194 gap
200 code rsp+8
201 gap
208 code rsp+8
222 code rsp+16
233 code rbp+16 rbp=[cfa-16]
260 code rsp+8
261 gap
264 code rsp+8
265 gap
272 code rsp+8
281 gap"

# Memory, of 400,000 rows beside code in a gap that is known twice: by its shape, and by its bytes
{ start_files endbr64 jne | sed 's/^no; //'; cat; } <<-'END_ASM' | as -o a.o && $link -shared --eh-frame-hdr -o a.so a.o
	.text
	.rept 40000
	.cfi_startproc
	.irp at, 16, 48, 80, 112, 144, 176, 208, 240, 272, 304
	nopl (%rax)
	.cfi_def_cfa_offset \at
	.endr
	.cfi_endproc
	.p2align 5; .fill 32, 1, 0x90
	.endr
END_ASM
took=$("$table" memory a.so)
diag "$took"
sanitized || ok "memory of a large file: fewer than 42 bytes for each row" \
	[ "${took%% *}" -lt $((400000 * 42 / 1024)) ]
done_testing
