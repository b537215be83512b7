#!/bin/sh
# Stacks of coroutines end where the memory for them begins, and are whole there; others of one frame are not.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/tables-lib.sh"
coroutines=$BUILD/frameless/coroutines
needs_tables coroutines

down='(;down){9}'
# whole KIND ROOT: percent of the samples in work that have all frames and no other, with the number if few
whole() {
	cprof-record -q --unwind table -F 999 -o "$tmp/bin" -- "$coroutines" "$1" 1500
	cprof-sym "$tmp/bin" 2>/dev/null | cprof-fold -U --truncated >"$tmp/folded"
	all="^coroutines;$2;run_context$down;work " awk '
		/;work / { n += $NF; if ($0 ~ ENVIRON["all"]) whole += $NF }
		END { if (n > 40 && whole > .98 * n) print "whole"; else print whole + 0 " of " n + 0 }' "$tmp/folded"
}
got=$(whole ucontext __start_context)
is "contexts of makecontext(3) begin at __start_context" "$got" whole
[ "$got" = whole ] || diag "$(grep ';work ' "$tmp/folded" | head -5)"
got=$(whole assembly '(begin_context|end_context)')
is "contexts of assembly without a table, where it ends the program" "$got" whole
[ "$got" = whole ] || diag "$(grep ';work ' "$tmp/folded" | head -5)"

# Boost.Context's own assembly, if its library is installed
lib=$(ls /usr/lib/*/libboost_context.so.* 2>/dev/null | head -1)
if [ "$lib" ]; then
	cat >"$tmp/boost.c" <<'C'
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
struct transfer { void *from, *data; };
struct transfer jump_fcontext(void *to, void *data);
void *make_fcontext(void *top, size_t size, void (*function)(struct transfer));
static volatile unsigned long sink;
__attribute__((noinline)) static void work(void) { for (int i = 0; i < 20000; i++) sink += i; }
__attribute__((noinline)) static void down(int n) { if (n) down(n - 1); else work(); __asm__ volatile(""); }
static void run_context(struct transfer t)
{
	for (;;) {
		down(8);
		t = jump_fcontext(t.from, NULL);
	}
}
int main(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	void *context = make_fcontext(stack + sizeof(stack), sizeof(stack), run_context);
	for (time_t end = time(NULL) + 2; time(NULL) < end;)
		context = jump_fcontext(context, NULL).from;
	return 0;
}
C
	${CC:-cc} -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -fno-ipa-cp -fno-inline \
		-o "$tmp/coroutines" "$tmp/boost.c" "$lib"
	coroutines=$tmp/coroutines
	got=$(whole boost '(make_fcontext|\[libboost_context[^;]*)')
	is "contexts of Boost.Context" "$got" whole
	[ "$got" = whole ] || diag "$(grep ';work ' "$tmp/folded" | head -5)"
else
	skip "contexts of Boost.Context" "libboost_context is not installed"
fi
# Code without a table, and rbp a number: its stacks have one frame, which is not the whole stack.
cat >"$tmp/one.c" <<'C'
#include <stdlib.h>
__asm__(".text\n.type spin, @function\nspin: push %rbp\nmov %rsp, %rcx\nlea -32(%rcx), %rsp\nand $-32, %rsp\n"
	"xor %ebp, %ebp\n1: sub $1, %rdi\njnz 1b\nmov %rcx, %rsp\npop %rbp\nret\n.size spin, . - spin\n");
void spin(unsigned long n);
int main(void) { spin(1000000000); return 0; }
C
${CC:-cc} -O2 -fomit-frame-pointer -o "$tmp/one" "$tmp/one.c"
for unwind in table fp; do
	cprof-record -q --unwind $unwind -F 999 -o "$tmp/bin" -- "$tmp/one"
	cprof-sym "$tmp/bin" 2>/dev/null | cprof-fold -U --truncated --comm one >"$tmp/folded"
	is "a stack of one frame counts as truncated, --unwind $unwind" \
		"$(awk '/;spin / { n += $NF; if (/^one;.truncated: (gap|broken).;spin /) cut += $NF }
			END { if (n > 40 && cut > .98 * n) print "cut"; else print cut + 0 " of " n + 0 }' "$tmp/folded")" cut
done
done_testing
