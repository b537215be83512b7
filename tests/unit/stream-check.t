#!/bin/sh
# Blocks, records, runs: the stream room from inside
. "$(dirname "$0")/../lib/lib.sh"
"$BUILD/tests/stream-check"
