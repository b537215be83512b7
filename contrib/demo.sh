#!/bin/sh
# Run by `make demo`: records a small workload and, as root, the whole system for a few seconds; prints the
# top table and draws a flame graph.
set -eu
cd "$(dirname "$0")/.."
: "${BUILD:=build}" "${BIN:=$BUILD/bin}" "${SECONDS_OF_DEMO:=5}"
export BUILD
s=$SECONDS_OF_DEMO

say() { printf '\n%s\n' "$*"; }

record_system() {
	sh contrib/workload $((s + 1)) &
	workload=$!
	status=0
	"$BIN/cprof-record" -a "$s" >"$BUILD/demo.bin" || status=$?
	wait $workload || :
	return $status
}

# end_if_crashed STATUS: ends if a signal ended the recorder. That is a bug, and no other recording may hide
# it.
end_if_crashed() {
	[ "$1" -gt 128 ] || return 0
	say "cprof-record crashed: signal $(kill -l "$1")."
	exit "$1"
}

record_own() {
	status=0
	"$BIN/cprof-record" -o "$BUILD/demo.bin" -- sh contrib/workload "$s" || status=$?
	end_if_crashed $status
	return $status
}

if [ "$(id -u)" = 0 ]; then
	say "Recording the whole system for $s seconds, with a workload of C, Python and shell:"
	record_system || {
		end_if_crashed $status
		say "The whole system cannot be recorded here, for the reason above. Recording only the workload:"
		record_own
	}
else
	say "Recording a workload of C, Python and shell for $s seconds (as root: the whole system):"
	record_own
fi

"$BIN/cprof-sym" <"$BUILD/demo.bin" >"$BUILD/demo.sym.bin"

say "cprof-top -n 15 $BUILD/demo.sym.bin"
"$BIN/cprof-top" -n 15 "$BUILD/demo.sym.bin"

"$BIN/cprof-fold" "$BUILD/demo.sym.bin" >"$BUILD/demo.folded"
"$BIN/cprof-flame" --title "cprof demo" "$BUILD/demo.sym.bin" >"$BUILD/demo.html"
"$BIN/cprof-flame" --title "cprof demo" -o svg "$BUILD/demo.sym.bin" >"$BUILD/demo.svg"
page=$(cd "$BUILD" && pwd)/demo.html
say "The flame graph is $page; open it in a browser. demo.svg beside it is a picture of it."
