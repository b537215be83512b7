#!/bin/sh
# Changed copies of small captures and of folded text, in every format made of stacks: the totals add up.
. "$(dirname "$0")/../lib/lib.sh"

for f in "$here"/corpus/pprof-*; do
	ok "${f##*/}, from pprof" "$BUILD/tests/fuzz-pprof" -m 3000 "$f"
done
for f in "$tests/data/small.txt" "$here"/corpus/profile-[il]* "$here"/corpus/export-*; do
	ok "${f##*/}" "$BUILD/tests/fuzz-export" -m 300 "$f"
done
# The same as perf script's text and perf's pipe, and perf script's text as a capture
for f in "$tests/data/small.txt" "$here"/corpus/profile-inlined "$here"/corpus/perfscript-*; do
	ok "${f##*/}, for perf" "$BUILD/tests/fuzz-perfscript" -m 300 "$f"
done
done_testing
