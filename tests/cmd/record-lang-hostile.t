#!/bin/sh
# cprof-record: programs that look like interpreters and hold hostile data cost little, and give nothing but
# counted states.
# shellcheck disable=SC2154 # lib.sh sets tmp
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
[ -f /sys/kernel/btf/vmlinux ] || skip_all "the kernel has no BTF"
[ "$(uname -m)" = x86_64 ] || skip_all "stacks are unwound by tables only on x86-64"

for p in lang-hostile:python lang-hostile-perl:perl; do
	language=${p#*:} program=${p%:*}
	status "$language: the recording goes on to the end" 0 \
		cprof-record -F 999 -o "$tmp/x.bin" -- "$BUILD/tests/$program" 0.3
	like "  and loses nothing" "$(cat "$tmp/err")" 'samples of .*; nothing lost'
	cprof-dump "$tmp/x.bin" >"$tmp/x"
	is "  sound structures give names" \
		"$(grep -c "^lang-frame .*language=$language .*state=ok" "$tmp/x" |
			awk '{ print ($1 > 0) }')" 1
	like "  and all others states" \
		"$(grep '^lang-frame' "$tmp/x" | sed 's/.*state=\([^ ]*\).*/\1/' | sort -u | tr '\n' ' ')" \
		'^(depth |lost |not-yet |ok |over-budget )*unreadable $'
	is "  no frame is of another language" \
		"$(grep '^lang-frame' "$tmp/x" | grep -v " language=$language ")" ""
	# Noise may look like a function, whose name is then noise, too.
	sed -n 's/^function .* name="\(.*\)" line=.*/\1/p' "$tmp/x" |
		grep -v -x -e good -e 'good::good' -e '<main>' >"$tmp/names"
	ok "  few names are noise ($(wc -l <"$tmp/names"))" [ "$(wc -l <"$tmp/names")" -lt 50 ]
	cost() { sed -n "s/^cost .*what=$1 count=//p" "$tmp/x" | tail -n 1; }
	ok "  a sample costs less than 100 us ($(($(cost bpf-ns) / $(cost bpf-runs))) ns)" \
		[ $(($(cost bpf-ns) / $(cost bpf-runs))) -lt 100000 ]
	ok "  the recorder stays small ($(($(cost rss-bytes) >> 20)) MiB)" \
		[ "$(cost rss-bytes)" -lt $((64 << 20)) ]
	ok "  and so does the stream ($(wc -c <"$tmp/x.bin") bytes)" [ "$(wc -c <"$tmp/x.bin")" -lt 4000000 ]
done

# A free-threaded build of Python, by the start of its _Py_DebugOffsets: its structures are not known.
cat >"$tmp/free.c" <<'END'
#include <stdint.h>
#include <time.h>
struct { char cookie[8]; uint64_t version, free, rest[509]; } _PyRuntime = { "xdebugpy", 0x30e00f0, 1 };
struct { uint64_t before[4], basicsize, after[45]; } PyCode_Type = { .basicsize = 240 };
const uint64_t Py_Version = 0x30e00f0;
void *PyGILState_GetThisThreadState(void) { return &_PyRuntime; }
void _PyEval_EvalFrameDefault(void) { for (clock_t end = clock() + CLOCKS_PER_SEC; clock() < end;) ; }
int main(void) { _PyEval_EvalFrameDefault(); return 0; }
END
if cc -O1 -fno-inline -rdynamic -o "$tmp/free" "$tmp/free.c" 2>"$tmp/err"; then
	cprof-record -q -F 499 -o "$tmp/free.bin" -- "$tmp/free"
	is "a free-threaded build of Python says so" "$(cprof-dump "$tmp/free.bin" |
		sed -n 's/^lang-frame .*language=\([^ ]*\) .*state=\([^ ]*\).*/\1 \2/p' |
		grep -v not-yet | sort -u)" "python unsupported-version"
else
	skip "a free-threaded build of Python" "there is no compiler"
fi
done_testing
