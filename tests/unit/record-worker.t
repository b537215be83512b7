#!/bin/sh
# Unwind tables are built by processes that may do nothing else.
. "$(dirname "$0")/../lib/lib.sh"
"$BUILD/tests/record-worker"
