#!/bin/sh
# Hostile position tables of V8: thousands of changes to small ones; none crashes or breaks an invariant.
. "$(dirname "$0")/../lib/lib.sh"

for f in "$here"/corpus/jspositions-*; do
	ok "20,000 changes of ${f##*/}" timeout 120 "$BUILD/tests/fuzz-jspositions" -m 20000 "$f"
done
done_testing
