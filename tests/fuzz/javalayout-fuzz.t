#!/bin/sh
# Hostile JVMs: thousands of changes to the memory of a made-up one; none crashes or breaks an invariant.
. "$(dirname "$0")/../lib/lib.sh"

for f in "$here"/corpus/javalayout-*; do
	ok "20,000 changes of ${f##*/}" timeout 120 "$BUILD/tests/fuzz-javalayout" -m 20000 "$f"
done
done_testing
