#!/bin/sh
# Unwind rules made from machine code: cases by hand, then each byte of installed libraries beside their .eh_frame.
. "$(dirname "$0")/../lib/lib.sh"
[ "$(uname -m)" = x86_64 ] || { skip "rules from code" "the code is x86-64's"; done_testing; }
cd "$tmp" || exit 1
code=$BUILD/tests/unwind-code

assemble() { as -o a.o; }
# rows DESCRIPTION WANT: the states of the function in a.o, one a line from the byte on at which it begins
rows() { is "$1" "$("$code" rows a.o)" "$2"; }

assemble <<'END_ASM'
	endbr64
	push %rbx
	push %rbp
	sub $24, %rsp
	mov %rdi, %rbp
	call *%rax
	add $24, %rsp
	pop %rbp
	pop %rbx
	ret
END_ASM
rows "pushes and pops; rbp is where it was saved once it has another value" "0 rsp+8
5 rsp+16
6 rsp+24 saved=[cfa-24]
10 rsp+48 saved=[cfa-24]
13 rsp+48 rbp=other saved=[cfa-24]
19 rsp+24 rbp=other saved=[cfa-24]
20 rsp+16
21 rsp+8"

assemble <<'END_ASM'
	push %rbp
	mov %rsp, %rbp
	and $-32, %rsp
	sub %rax, %rsp
	call *%rax
	test %eax, %eax
	je 1f
	lea -16(%rbp), %rsp
	pop %rbx
	pop %r12
	pop %rbp
	ret
1:	leave
	ret
END_ASM
rows "a frame pointer survives what is done to rsp" "0 rsp+8
1 rsp+16 saved=[cfa-16]
4 rsp+16 rbp+16 saved=[cfa-16]
8 rbp+16 saved=[cfa-16]
21 rsp+32 rbp+16 saved=[cfa-16]
22 rsp+24 rbp+16 saved=[cfa-16]
24 rsp+16 rbp+16 saved=[cfa-16]
25 rsp+8
26 rbp+16 saved=[cfa-16]
27 rsp+8"

assemble <<'END_ASM'
	push %r12
	test %edi, %edi
	je 1f
	push %r13
1:	nop
	mov %rbp, %rsp
	ret
2:	nop
END_ASM
rows "paths that disagree have no rule, nor has code that none reaches" "0 rsp+8
2 rsp+16
8 none"

assemble <<'END_ASM'
	mov %rbp, -8(%rsp)	# a red zone is not followed
	sub $16, %rsp
	mov %rbp, 8(%rsp)
	lea 4(%rsp), %rbp
	mov 8(%rsp), %rbp
	lea 16(%rsp), %rsp
	and $-64, %rsp
	ret
END_ASM
rows "moves to the stack and from it" "0 rsp+8
9 rsp+24
14 rsp+24 saved=[cfa-16]
19 rsp+24 rbp+20 saved=[cfa-16]
24 rsp+24 saved=[cfa-16]
29 rsp+8
33 none"

assemble <<'END_ASM'
	push %rbx
	call 1f
	pop %rbx
	ret
1:	sub $8, %rsp
	call *(%rax)
	add $8, %rsp
	ret
END_ASM
rows "a subroutine within the function is called, so it begins with a return address" "0 rsp+8
1 rsp+16
7 rsp+8
12 rsp+16
18 rsp+8"

assemble <<'END_ASM'
	push %rbx
	cmp $3, %edi
	ja 1f
	lea table(%rip), %rbx
	jmp *(%rbx,%rdi,8)
	.p2align 5
	inc %eax
	jmp 1f
	dec %eax
1:	pop %rbx
	ret
	.data
table:	.quad 0
END_ASM
rows "what no path reaches is where jumps through tables lead, but for padding" "0 rsp+8
1 rsp+16
16 none
32 rsp+16
39 rsp+8"
assemble <<'END_ASM'
	push %rbx
	test %edi, %edi
	je 1f
	push %rcx
	jmp *%rax
	inc %eax
	jmp 1f
1:	pop %rbx
	ret
END_ASM
rows "not if that contradicts itself" "0 rsp+8
1 rsp+16
6 rsp+24
8 none
12 rsp+16
13 rsp+8"

assemble <<'END_ASM'
	call 1f
1:	pop %rax
	ret
END_ASM
rows "a call for its own address ends what is known" "0 rsp+8
5 none"

assemble <<'END_ASM'
	push %rax
	cmpl $0, %fs:24
	je 1f
	lock
1:	cmpxchg %ecx, (%rdi)
	vpaddd 64(%rsp), %zmm20, %zmm4
	vmovd %xmm5, %esi
	mulx %rax, %rbx, %rcx
	movabs $0x1122334455667788, %rdx
	testb $1, %ah
	mov $1, %ch
	pcmpestri $1, %xmm4, %xmm5
	{evex} vpcmpeqb %ymm4, %ymm5, %k4
	mov $1, %bpl
	pop %rax
	jmp *%rax
	.byte 0x06
END_ASM
rows "prefixes, VEX, EVEX, registers that only look like rsp and rbp" "0 rsp+8
1 rsp+16
$(objdump -d a.o | sed -n 's/^ *\([0-9a-f]*\):.*pop .*/\1/p' | while read -r at; do echo "$((0x$at)) rsp+16 rbp=other"; done)
$(objdump -d a.o | sed -n 's/^ *\([0-9a-f]*\):.*jmp .*/\1/p' | while read -r at; do echo "$((0x$at)) rsp+8 rbp=other"; done)
$(objdump -d a.o | sed -n 's/^ *\([0-9a-f]*\):.*bad.*/\1/p' | while read -r at; do echo "$((0x$at)) none"; done)"

assemble <<'END_ASM'
	push %rax
	.byte 0x06
	nop
END_ASM
rows "a byte that is no instruction ends its path" "0 rsp+8
1 none"


# Functions that no symbol names: f, then one whose code is no function's, then g, then data, then h.
assemble <<'END_ASM'
	push %rbx
	call 1f
	pop %rbx
	ret
	.p2align 4
	pop %rax
	pop %rcx
	ret
	.p2align 4
1:	push %rbp
	mov %rsp, %rbp
	jmp *table(,%rdi,8)
	dec %eax
	pop %rbp
	ret
	.p2align 4
	.byte 0x06, 0x07, 0x0e
	.p2align 4
	test %edi, %edi
	jz 2f
	push %rax
	call *%rax
	.p2align 4
2:	ret
	.data
table:	.quad 0
END_ASM
is "functions in a region without symbols" "$("$code" region a.o)" "0 rsp+8
1 rsp+16
7 rsp+8
8 none
32 rsp+8
33 rsp+16 saved=[cfa-16]
36 rsp+16 rbp+16 saved=[cfa-16]
46 rsp+8
47 none
64 rsp+8
69 rsp+16
71 none
80 rsp+8"

# A function that does not return, and one with the head of a loop after a call, where rbp has another value.
assemble <<'END_ASM'
	push %rbp
	push %rbx
	sub $8, %rsp
	call *%rdi
	call f
	.p2align 4
	push %rcx
	push %rdx
	call *%rdi
	call f
	.p2align 4
	push %rbp
	sub $16, %rsp
1:	mov $7, %ebp
	call *%rdi
	nopl (%rax)
2:	call *%rsi
	dec %ebp
	jnz 2b
	test %edi, %edi
	jnz 1b
	je 3f
	call f
	.p2align 4
3:	add $16, %rsp
	pop %rbp
	ret
	.p2align 4
f:	ret
END_ASM
is "functions that do not return, if their calls are aligned; loops" "$("$code" region a.o)" "0 rsp+8
1 rsp+16 saved=[cfa-16]
2 rsp+24 saved=[cfa-16]
6 rsp+32 saved=[cfa-16]
13 none
32 rsp+8
33 rsp+16 saved=[cfa-16]
37 rsp+32 rbp=other saved=[cfa-16]
68 rsp+16 rbp=other saved=[cfa-16]
69 rsp+8
70 none
80 rsp+8"

# objdump takes a wait and the x87 instruction after it for one, so the decoder may have more beginnings than objdump.
find /usr/lib /lib -name 'libm.so.6' 2>/dev/null | sed 1q >files
objdump -d -w --no-show-raw-insn -j .text "$(cat files)" | sed -n 's/^ *\([0-9a-f]*\):\t.*/\1/p' >theirs
"$code" lengths "$(cat files)" | sed 's/ .*//' >ours
first=$(sed 1q theirs)
awk -v last="$(tail -1 ours)" -v base="$first" '
	function number(hex,  i, v) { for (i = 1; i <= length(hex); i++) v = v * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1; return v }
	NR == FNR { own[number($1) + number(base)] = 1; n++; next }
	number($1) <= number(last) + number(base) { missing += !(number($1) in own) }
	END { print (n > 1000 && missing == 0) ? "good" : n " instructions, " missing " missing" }' ours theirs >lengths
is "instructions begin where objdump has them" "$(cat lengths)" good

ok "100,000 times any bytes" timeout 120 "$code" random 100000

find /usr/lib /lib -name 'libc.so.6' -o -name 'libcrypto.so*' -o -name 'libstdc++.so.6' 2>/dev/null | sort -u >files
"$code" check <files >out
grep '^#' out
said=$(grep -v '^#' out)
diag "$said"
# field NAME: a number in the output
field() { echo "$said" | tr ' ' '\n' | sed -n "s/^$1=//p"; }
if [ "$(field ruled)" -gt 100000 ] && [ "$(($(field ruled) * 100 / $(field bytes)))" -ge 80 ]; then
	pass "at least 80 % of the code has rules"
else
	fail "at least 80 % of the code has rules"
fi
# Tables have errors, too: a helper of OpenSSL's AES changes rbp, and its table has it unchanged.
if [ "$((($(field cfa) + $(field rbp)) * 10000))" -le "$(field ruled)" ]; then
	pass "at most one byte in 10,000 differs from .eh_frame"
else
	fail "at most one byte in 10,000 differs from .eh_frame"
fi

# All of their code as if nothing were known of it: helpers with tables that are wrong are among it, hence only CFA.
"$code" check-region <files >out
said=$(grep -v '^#' out)
diag "as regions: $said"
if [ "$(($(field ruled) * 100 / $(field bytes)))" -ge 30 ] && [ "$(($(field cfa) * 100))" -le "$(field ruled)" ]; then
	pass "regions: rules for at least 30 % of the code, and at most one in 100 differs"
else
	fail "regions: rules for at least 30 % of the code, and at most one in 100 differs"
fi
done_testing
