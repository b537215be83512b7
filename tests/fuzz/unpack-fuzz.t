#!/bin/sh
# Hostile gzip, zstd and xz files: thousands of changes to small ones. The pieces in which they are read
# change nothing.
. "$(dirname "$0")/../lib/lib.sh"

for f in "$here"/corpus/unpack-*; do
	ok "5,000 changes of ${f##*/}" timeout 120 "$BUILD/tests/fuzz-unpack" -m 5000 "$f"
done
done_testing
