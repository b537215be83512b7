#!/bin/sh
# Perf maps and jitdump files in large numbers: memory of copies, and how often files are read.
. "$(dirname "$0")/../lib/lib.sh"
exec "$BUILD/tests/record-copies"
