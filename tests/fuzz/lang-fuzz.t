#!/bin/sh
# Hostile interpreters and line tables: thousands of changes to small files; none crashes or breaks an
# invariant.
. "$(dirname "$0")/../lib/lib.sh"

for f in "$here"/corpus/lang-*; do
	ok "2,000 changes of ${f##*/}" timeout 120 "$BUILD/tests/fuzz-lang" -m 2000 "$f"
done
for f in "$here"/corpus/pylines-*; do
	ok "20,000 changes of ${f##*/}" timeout 120 "$BUILD/tests/fuzz-pylines" -m 20000 "$f"
done
done_testing
