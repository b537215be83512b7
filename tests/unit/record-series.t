#!/bin/sh
# Data of a series of files or of the flight buffer that could not be written: known at the end.
. "$(dirname "$0")/../lib/lib.sh"
"$BUILD/tests/record-series" "$tmp"
