#!/bin/sh
# Stacks walked by tables against libdwfl, frame by frame: some hundred states of each program. `make
# verify-unwind` takes more of them, and also checks the shares; here no frame may be wrong.
. "$(dirname "$0")/../lib/lib.sh"
: "${SECONDS_EACH:=0.5}" "${STATES:=150}"

verifier=$BUILD/tests/unwind-verify
"$verifier" -n 20 -t 5 -- "$BUILD/frameless/deep" 0.2 >"$tmp/out" 2>"$tmp/err"
! grep -Eq "perf_event_open: (Permission denied|Operation not permitted|No such file)" "$tmp/err" || skip_all "perf events are refused: $(cat "$tmp/err")"
[ "$(uname -m)" = x86_64 ] || skip_all "the walk knows x86_64 alone"

share() { sed -n 's/.* true=\([0-9]*\).*/\1/p' "$tmp/out"; }

# The verifier can fail: frame pointers do not lead up these stacks, and it notices that.
"$verifier" --by fp -n 100 -t 5 -- "$BUILD/frameless/deep" 0.3 >"$tmp/out" 2>"$tmp/err"
is "by frame pointers no deep stack is whole" "$(share)" 0
status "by frame pointers frames are wrong, and that is said" 1 \
	"$verifier" --by fp -n 200 -t 10 -- "$BUILD/frameless/odd" 0.1
like "with the first frame that is" "$(cat "$tmp/err")" '^wrong: another frame, frame [0-9]+'

# verify LEAST [--twin A=B] COMMAND...: with this few states the share is rough.
verify() {
	twin=
	shift
	if [ "$1" = --twin ]; then twin=$2; shift 2; fi
	ok "$name by $by: every frame is true" "$verifier" --by "$by" --name "$name" --least 90 ${twin:+--twin "$twin"} \
		-F 499 -n "$STATES" -t 10 -- "$@"
	diag "$(grep "^$name" "$tmp/.out")"
}
without() { skip "$name by $by: every frame is true" "there is no $1"; }

. "$tests/verify/rows.sh"
by=table
for name in $rows; do
	"row_$name"
done
may_bpf() { [ "$(id -u)" = 0 ] && "$BIN/cprof-record" -q -a --engine bpf -F 1 -o /dev/null 0.1; }
for by in bpf engine; do
	for name in deep signal odd; do
		if [ $by = engine ] || may_bpf 2>/dev/null; then "row_$name"; else without "right to use BPF"; fi
	done
done
done_testing
