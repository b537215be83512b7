#!/bin/sh
# Stacks of real programs, frame by frame against libdwfl: `make verify-unwind`, some minutes. STATES: at most
# that many of each; ROWS: only these; BY: the stacks to check (see tests/verify/main.c), by default those of
# the recorder with BPF if it may use it, and those walked by tables here. The table is on stdout, each kind
# of difference with its first cases on stderr.
set -u
tests=$(cd "$(dirname "$0")/.." && pwd)
top=$(dirname "$tests")
: "${BUILD:=$top/build}" "${STATES:=2000}" "${SECONDS_EACH:=10}" "${MOST_SECONDS:=30}" "${BY:=}" "${ROWS:=}"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cprof-verify.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
status=0

# verify LEAST [--twin A=B] COMMAND...
verify() {
	least=$1 twin=
	shift
	if [ "$1" = --twin ]; then twin=$2; shift 2; fi
	"$BUILD/tests/unwind-verify" --by "$by" --name "$name" --least "$least" ${twin:+--twin "$twin"} \
		-F 499 -n "$STATES" -t "$MOST_SECONDS" -- "$@" || status=1
}
without() { printf '%-12s left out: there is no %s\n' "$name" "$1"; }

. "$tests/verify/rows.sh"
if [ -z "$BY" ]; then
	BY=table
	[ "$(id -u)" != 0 ] || BY="bpf table"
fi
for by in $BY; do
	echo "== by $by"
	for name in ${ROWS:-$rows}; do
		"row_$name"
	done
done
exit $status
