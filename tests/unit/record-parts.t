#!/bin/sh
# Unfinished files of several recorders in one directory: those that are being written belong to their
# recorder.
. "$(dirname "$0")/../lib/lib.sh"
"$BUILD/tests/record-parts" "$tmp"
