#!/bin/sh
# Memory that runs out, wherever it does.
. "$(dirname "$0")/lib.sh"
"$BUILD/tests/stream-alloc" "$here/small.txt"
