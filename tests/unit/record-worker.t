#!/bin/sh
# Processes that build unwind tables: their answers, and their ends
. "$(dirname "$0")/../lib/lib.sh"
"$BUILD/tests/record-worker"
