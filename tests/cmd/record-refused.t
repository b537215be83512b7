#!/bin/sh
# A program that the verifier refuses: the recorder continues without it if it can, reports the verifier's
# reason with -v, and does not blame the kernel.
. "$(dirname "$0")/../lib/lib.sh"
side=$BUILD/tests/record-side
reason='R2 unbounded memory access, make sure to bounds check'

"$BUILD/tests/refuse" >"$tmp/log"
is "the reason in a log is before its figures" "$("$side" reason <"$tmp/log")" "$reason"
is "  and is the last of several" "$(printf 'first\nsecond\nprocessed 2 insns\n' | "$side" reason)" second
is "  with no newline at its end" "$(printf 'processed 2 insns\nsecond' | "$side" reason)" second
is "  of figures alone there is none" "$(printf 'processed 2 insns\nstack depth 0\n\n' | "$side" reason)" none
status "-q and -v" 2 cprof-record -q -v -a 1
like "  are mutually exclusive" "$(cat "$tmp/err")" '-q and -v are mutually exclusive$'

may_record_all
sanitized && { skip "refusals" "sanitizers want to be first of what is preloaded"; done_testing; }
${CC:-cc} -O2 -D_GNU_SOURCE -shared -fPIC -o "$tmp/refuse.so" "$tests/loads/refuse.c" -ldl ||
	{ fail "the library is built"; done_testing; }
# refused NAMES WANT OPTION...: makes a recording in which these programs are refused
refused() {
	names=$1 want=$2
	shift 2
	status "$names refused: cprof-record $*" "$want" env LD_PRELOAD="$tmp/refuse.so" REFUSE="$names" \
		cprof-record "$@" -o "$tmp/out.bin" -- true
}

refused sample,sample_whole 1 -v --engine bpf
is "-v has the verifier's reason" "$(grep -c "the verifier refuses the program \"sample\": $reason\$" "$tmp/err" | sed 's/^[1-9][0-9]*$/yes/')" yes
like "and the error names the program" "$(tail -n 1 "$tmp/err")" 'cannot use BPF: the verifier refuses the program "sample"$'
unlike "the kernel is not blamed" "$(cat "$tmp/err")" 'this kernel|[Kk]ernel is'
refused sample,sample_whole 1 --engine bpf
is "without -v it is one line, with where to look" "$(sed 's/^[^:]*: //' "$tmp/err")" \
	'cannot use BPF: the verifier refuses the program "sample" (-v shows the reason)'
refused sample,sample_whole 0 --engine auto
like "plain perf samples in its place" "$(cat "$tmp/err")" 'sampling by plain perf: cannot use BPF: the verifier refuses the program "sample"'
refused on_switch 1 --off-cpu
like "of waits, too" "$(cat "$tmp/err")" 'the verifier refuses the program "on_switch" \(-v shows the reason\)$'
unlike "  where the kernel is not blamed" "$(cat "$tmp/err")" 'requires BTF and Linux'
refused follow,on_mkdir 0 -v
like "those that can be done without are reported" "$(cat "$tmp/err")" "the verifier refuses the program \"on_mkdir\": $reason\$"

# The walk is loaded once user space finished some stacks, and not for a process without any.
status "a process that sleeps" 0 env LD_PRELOAD="$tmp/refuse.so" REFUSE=walk_stack \
	cprof-record --engine bpf -o "$tmp/out.bin" -- sleep 0.3
unlike "  has no need of walk_stack" "$(cat "$tmp/err")" walk_stack
status "walk_stack refused" 0 env LD_PRELOAD="$tmp/refuse.so" REFUSE=walk_stack \
	cprof-record -F 997 --engine bpf -o "$tmp/out.bin" -- "$BUILD/tests/burn" brief 1000
like "  it is reported" "$(cat "$tmp/err")" \
	'unwound by the recorder alone: cannot use BPF: the verifier refuses the program "walk_stack" \(-v'
like "  and user space finishes the stacks to the end" "$(cat "$tmp/err")" \
	'user stacks (9[5-9]|100)\.[0-9] % complete'
done_testing
