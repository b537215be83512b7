#!/bin/sh
# Memory that runs out, at every allocation
. "$(dirname "$0")/lib.sh"
"$BUILD/tests/stream-alloc" "$here/small.txt"
