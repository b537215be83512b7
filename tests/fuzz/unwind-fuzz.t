#!/bin/sh
# Hostile unwind information: thousands of changes to small files; none crashes, hangs or breaks an invariant.
. "$(dirname "$0")/../lib/lib.sh"

for f in "$here"/corpus/unwind-*; do
	ok "2,000 changes of ${f##*/}" timeout 120 "$BUILD/tests/fuzz-unwind" -m 2000 "$f"
done
done_testing
