#!/bin/sh
# Marks of language frames in the machine's stack: by index and by frame pointer, with inlined functions,
# states, and no marks at all.
. "$(dirname "$0")/../lib/lib.sh"
exec "$BUILD/tests/record-marks"
