#!/bin/sh
# Code that is returned to but never called has its name: the return target of a signal handler, and of
# a context's function.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"

cat >"$tmp/t.s" <<'X'
	.macro function name
	.globl \name
	.type \name, @function
\name:	.skip 16, 0x90
	.size \name, 16
	.skip 16, 0x90
	.endm
	function before
	function __restore_rt
	function __start_context
	function other
	function __restore_all
X
as -o "$tmp/t.o" "$tmp/t.s" && ld -e 0x401000 -Ttext=0x401000 --build-id -o "$tmp/t" "$tmp/t.o"
returns() { # ADDRESS...: prints the names of return addresses there
	{ segment; process 1; file 1 "$tmp/t" "$(build_id "$tmp/t")"; loads 1 1 "$tmp/t"; printf '%s\n' "$@" | frames 1 return; finish; } |
		cprof-dump -r | cprof-sym 2>/dev/null >"$tmp/s" && names "$tmp/s" | nameless | sed 's/^[^ ]* //' | tr '\n' ' '
}
is 'the first byte of what is never called' "$(returns 0x401020 0x401040)" '__restore_rt+0 symtab __start_context+0 symtab '
is '  and the bytes behind it' "$(returns 0x401021 0x401030)" '__restore_rt+1 symtab __restore_rt+16 symtab '
is 'the first byte of other functions is no return address of theirs' "$(returns 0x401060 0x401080)" '- - '
is '  nor what is behind the last' "$(returns 0x401011 0x401010)" '- before+16 symtab '

# A real program, static so that the symbols are there
cat >"$tmp/p.c" <<'X'
#include <signal.h>
#include <ucontext.h>
static ucontext_t back, own;
static volatile unsigned long sum;
static __attribute__((noinline)) void work(void) { for (unsigned long i = 0; i < 300000000; i++) sum += i; }
static void handle(int s) { (void)s; work(); }
static char stack[1 << 16];
int main(void)
{
	signal(SIGUSR1, handle);
	raise(SIGUSR1);
	getcontext(&own);
	own.uc_stack.ss_sp = stack;
	own.uc_stack.ss_size = sizeof(stack);
	own.uc_link = &back;
	makecontext(&own, work, 0);
	swapcontext(&back, &own);
	return 0;
}
X
if [ -x "$BIN/cprof-record" ] && [ "$(uname -m)" = x86_64 ] && gcc -O1 -static -Wl,--build-id -o "$tmp/p" "$tmp/p.c" 2>/dev/null &&
	cprof-record -q -F 499 -o "$tmp/live" -- "$tmp/p" 2>"$tmp/err"; then
	cprof-sym "$tmp/live" 2>/dev/null | cprof-fold -U >"$tmp/folded"
	like 'a signal handler returns to __restore_rt' "$(cat "$tmp/folded")" '__restore_rt;handle;work [0-9]+$'
	like 'a context begins at __start_context' "$(cat "$tmp/folded")" '__start_context;work [0-9]+$'
else
	skip 'a signal handler returns to __restore_rt' 'not recorded'
	skip 'a context begins at __start_context' 'not recorded'
fi
done_testing
