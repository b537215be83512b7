#!/bin/sh
# Perf maps and jitdump files in large numbers: the memory of copies.
. "$(dirname "$0")/../lib/lib.sh"
exec "$BUILD/tests/record-copies"
