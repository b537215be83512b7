#!/bin/sh
# Changed copies of small captures, shown in every way, have equal totals. Folded text is the same
# by every path.
. "$(dirname "$0")/../lib/lib.sh"

for f in "$tests/data/small.txt" "$here"/corpus/profile-*; do
	ok "${f##*/}" "$BUILD/tests/fuzz-profile" -m 1000 "$f"
done
for f in "$here"/corpus/blame-* "$here"/corpus/profile-parallel; do
	ok "causes of waits: ${f##*/}" "$BUILD/tests/fuzz-blame" -m 2000 "$f"
done
for f in "$here"/corpus/folded-*; do
	ok "${f##*/}" "$BUILD/tests/fuzz-folded" -m 100 "$f"
done
done_testing
