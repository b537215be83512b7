#!/bin/sh
# The choice of the symbol for an address: each rule by a small case, all of them against a brute-force
# reference.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"

# Sizes are by hand, because labels of the form name_SIZE would be hard to read; the code is only nops.
cat >"$tmp/a.s" <<'X'
	.text
	.globl _start
	.type _start, @function
_start:	.skip 16, 0x90
	.size _start, 16
	.skip 16, 0x90			# a hole: no symbol
	.type outer, @function		# outer [inner [core] ] outer
outer:	.skip 8, 0x90
	.type inner, @function
inner:	.skip 8, 0x90
	.type core, @function
core:	.skip 4, 0x90
	.size core, 4
	.skip 4, 0x90
	.size inner, 16
	.skip 8, 0x90
	.size outer, 32
	.skip 8, 0x90			# behind its end
	.type left, @function		# two that overlap
left:	.skip 8, 0x90
	.type right, @function
right:	.skip 8, 0x90
	.size left, 16
	.skip 8, 0x90
	.size right, 16
	.type small, @function		# the same start
	.type big, @function
small:
big:	.skip 8, 0x90
	.size small, 8
	.skip 24, 0x90
	.size big, 32
	.globl g_fun			# the same range: by binding
	.weak w_fun
	.type g_fun, @function
	.type w_fun, @function
	.type l_fun, @function
a_l_fun:
l_fun:
w_fun:
g_fun:	.skip 16, 0x90
	.size g_fun, 16
	.size w_fun, 16
	.size l_fun, 16
	.weak wk
	.type wk, @function
	.type lo, @function
lo:
wk:	.skip 8, 0x90
	.size wk, 8
	.size lo, 8
	.globl under, __under, _under	# by underscores, length, bytes
	.type under, @function
	.type __under, @function
	.type _under, @function
__under:
_under:
under:	.skip 8, 0x90
	.size under, 8
	.size __under, 8
	.size _under, 8
	.globl twin_b, twin_a, twin_long
	.type twin_b, @function
	.type twin_a, @function
	.type twin_long, @function
twin_long:
twin_b:
twin_a:	.skip 8, 0x90
	.size twin_a, 8
	.size twin_b, 8
	.size twin_long, 8
	.skip 8, 0x90
label:	.skip 16, 0x90			# without a size: to the next symbol
label2:	.skip 16, 0x90
	.type sized, @function
sized:	.skip 8, 0x90
within:	.skip 8, 0x90			# a label inside belongs to it, behind its end too
	.size sized, 16
	.skip 8, 0x90
	.type ifn, @gnu_indirect_function
	.globl ifn
ifn:	.skip 8, 0x90
	.size ifn, 8
	.type datin, @object
datin:	.skip 8, 0xcc
	.size datin, 8
	.type tls_like, @tls_object
$x:	.skip 4, 0x90
$d.1:	.skip 4, 0x90
	.type liar, @function		# claims more than its section has
liar:	.skip 8, 0x90
	.size liar, 100000
	.section .text.second, "ax"
	.balign 64, 0x90
	.skip 16, 0x90
tail:	.skip 16, 0x90			# a label, last in its section
tail_end:
	.section .text.third, "ax"
	.balign 128, 0x90
	.skip 32, 0x90
	.data
data:	.skip 16
	.globl absolute
	absolute = 0x401005
	.section .gnu.warning.x, ""
warn:	.skip 8
X
as -o "$tmp/a.o" "$tmp/a.s" 2>"$tmp/as.err" || diag "$(cat "$tmp/as.err")"
cat >"$tmp/a.ld" <<'X'
SECTIONS {
	. = 0x401000;
	.text : { *(.text) }
	.second : { *(.text.second) }
	.third : { *(.text.third) }
	. = 0x403000;
	.data : { *(.data) }
}
X
ld -T "$tmp/a.ld" --build-id -o "$tmp/a" "$tmp/a.o" 2>"$tmp/ld.err" || diag "$(cat "$tmp/ld.err")"

at() { nm "$1" | awk -v s="$2" '$3 == s { print "0x" $1; exit }'; }
# look SYMBOL+OFFSET...: prints the names there, without sources
look() {
	for what; do
		printf '0x%x\n' $(($(at "$tmp/a" "${what%+*}") + ${what#*+}))
	done | ask "$tmp/a" | sed 's/^[^ ]* //; s/ .*//' | tr '\n' ' '
}

is 'a symbol names its first and last byte, and none behind' "$(look _start+0 _start+15 _start+16 _start+31)" \
	'_start+0 _start+15 - - '
is 'the innermost of nested symbols, and the outer ones again after it' \
	"$(look outer+0 outer+8 outer+16 outer+20 outer+24 outer+31 outer+32)" \
	'outer+0 inner+0 core+0 inner+12 outer+24 outer+31 - '
is 'of overlapping symbols the one that began last' "$(look left+7 left+8 left+15 left+16 left+24)" \
	'left+7 right+0 right+7 right+8 small+0 '
is 'of one start the shorter range is the inner one' "$(look small+7 small+8 small+31)" 'small+7 big+8 big+31 '
is 'global before weak before local' "$(look g_fun+4 wk+4)" 'g_fun+4 wk+4 '
is 'fewer underscores; shorter; lower' "$(look under+1 twin_a+1)" 'under+1 twin_a+1 '
is 'a label without a size reaches to the next symbol' "$(look label+0 label+15 label2+0 label2+15 sized+0)" \
	'label+0 label+15 label2+0 label2+15 sized+0 '
is 'a label inside a symbol is no name, nor behind its end' "$(look within+0 within+7 within+8)" 'sized+8 sized+15 - '
is 'GNU_IFUNC and an object in code are names' "$(look ifn+1 datin+1)" 'ifn+1 datin+1 '
is 'mapping symbols are none' "$(look '$x+0' '$d.1+0')" '- - '
is 'a symbol ends with its section' "$(look liar+0 liar+7 liar+8)" 'liar+0 liar+7 - '
is 'a label ends with its section' "$(look tail+15 tail+16 tail+64)" 'tail+15 - - '

# Every byte of the code, against the reference
every_byte 0x401000 0x402000 >"$tmp/every"
compare 'every byte of the crafted file is as the reference says' "$tmp/a" "$tmp/every"
is '  and the reference knows names there' "$(grep -c + "$tmp/want")" 232

# Code more than 4 GiB apart, with a label and a wrong size before the gaps
cat >"$tmp/far.ld" <<'X'
PHDRS { one PT_LOAD FLAGS(5); two PT_LOAD FLAGS(5); three PT_LOAD FLAGS(5); }
SECTIONS {
	. = 0x400000;
	.note.gnu.build-id : { *(.note.gnu.build-id) } :one
	. = 0x401000;
	.text : { *(.text) } :one
	. = 0x900000000;
	.second : { *(.text.second) } :two
	. = 0x7f0000001000;
	.third : { *(.text.third) } :three
	/DISCARD/ : { *(.data) *(.gnu.warning.x) }
}
X
cat >>"$tmp/a.s" <<'X'
	.section .text.third
	.type far, @function
far:	.skip 16, 0x90
	.size far, 16
	.skip 16, 0x90
far_label: .skip 8, 0x90
X
as -o "$tmp/far.o" "$tmp/a.s" 2>"$tmp/as.err" &&
	ld -T "$tmp/far.ld" --build-id -o "$tmp/far" "$tmp/far.o" 2>"$tmp/ld.err" || diag "$(cat "$tmp/as.err" "$tmp/ld.err")"
{ every_byte 0x401000 0x401300; every_byte 0x900000000 0x900000100; every_byte 0x7f0000001000 0x7f0000001100; } >"$tmp/every"
compare 'every byte of code that is terabytes apart' "$tmp/far" "$tmp/every"
is '  with names in all three parts' "$(grep + "$tmp/want" | cut -c1-4 | sort -u | tr '\n' ' ')" '0x40 0x7f 0x90 '

# A library with both tables: .dynsym has names that .symtab has lost.
cat >"$tmp/so.s" <<'X'
	.text
	.globl both, only_dynamic, no_size
	.type both, @function
both:	.skip 16, 0x90
	.size both, 16
	.type only_dynamic, @function
only_dynamic: .skip 16, 0x90
	.size only_dynamic, 16
	.type hidden, @function
hidden:	.skip 16, 0x90
	.size hidden, 16
no_size: .skip 32, 0x90
X
as -o "$tmp/so.o" "$tmp/so.s" && ld -shared --build-id -o "$tmp/full.so" "$tmp/so.o"
objcopy -N only_dynamic -N no_size "$tmp/full.so" "$tmp/so"
text=$(readelf -SW "$tmp/so" | awk '$2 == ".text" || $3 == ".text" { sub(/.*PROGBITS */, ""); print "0x" $1; exit }')
every_byte "$text" "$text + 80" >"$tmp/every"
compare '.symtab and .dynsym together, byte by byte' "$tmp/so" "$tmp/every"
at_text() { for o; do printf '0x%x\n' $((text + o)); done | ask "$tmp/so" | sed 's/^[^ ]* //' | tr '\n' ','; }
is 'names that only .dynsym has are kept; without a size they name one byte' "$(at_text 0 16 32 48 49)" \
	'both+0 symtab,only_dynamic+0 dynsym,hidden+0 symtab,no_size+0 dynsym,-,'
strip -o "$tmp/so.stripped" "$tmp/full.so" && mv "$tmp/so.stripped" "$tmp/so"
compare 'a stripped library, byte by byte' "$tmp/so" "$tmp/every"

# Versions are not part of a name.
cat >"$tmp/v.s" <<'X'
	.globl new_f, old_f
	.type new_f, @function
	.type old_f, @function
new_f:	.skip 8, 0x90
	.size new_f, 8
old_f:	.skip 8, 0x90
	.size old_f, 8
	.symver new_f, f@@V2
	.symver old_f, f@V1
X
echo 'V1 { f; }; V2 { f; } V1;' >"$tmp/v.map"
as -o "$tmp/v.o" "$tmp/v.s" && ld -shared --build-id --version-script="$tmp/v.map" -o "$tmp/v.so" "$tmp/v.o"
strip "$tmp/v.so"
v=0x$(nm -D "$tmp/v.so" | awk '/f@@V2/ { print $1 }')
is 'a versioned name is shown without its version' \
	"$(printf '0x%x\n' $((v + 1)) $((v + 9)) | ask "$tmp/v.so" | sed 's/^[^ ]* //' | tr '\n' ' ')" \
	'f+1 dynsym f+1 dynsym '

# PLT stubs of both kinds, with objdump as an independent judge
cat >"$tmp/p.c" <<'X'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int c, char **v) { puts(v[0]); if (c > 5) abort(); return (int)strlen(v[0]) + atoi(v[0]) + (puts == (void *)v); }
X
for flags in '-fcf-protection=none' '-fcf-protection=full -Wl,-z,ibtplt' '-Wl,-z,now' '-no-pie'; do
	gcc -O1 -Wl,--build-id $flags -o "$tmp/p" "$tmp/p.c" 2>/dev/null || { skip "PLT with $flags" 'gcc cannot'; continue; }
	objdump -d -w "$tmp/p" | awk '/^[0-9a-f]+ <.*@plt>:/ { print "0x" $1, $2 }' |
		sed 's/^0x0*/0x/; s/[<>:]//g' >"$tmp/stubs"
	while read -r a name; do printf '0x%x %s+5\n' $((a + 5)) "$name"; done <"$tmp/stubs" >"$tmp/want"
	sed 's/ .*//' "$tmp/want" | ask "$tmp/p" | sed 's/ plt$//' >"$tmp/got"
	same "PLT stubs have their functions' names ($flags: $(wc -l <"$tmp/stubs"))" "$tmp/got" "$tmp/want"
done

# Random addresses of large files on this machine. make verify-sym uses more addresses, of more files.
libc=$(ldd /bin/sh | awk '/libc\.so/ { print $3 }')
for file in "$libc" "$(command -v node)" "$(command -v gdb)" "$(command -v cprof-sym)"; do
	[ -e "$file" ] || continue
	file=$(readlink -f "$file")
	sample "$file" 2000 >"$tmp/addresses"
	compare "random addresses of $file" "$file" "$tmp/addresses"
done
done_testing
