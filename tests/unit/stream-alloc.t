#!/bin/sh
# Memory that runs out, at every allocation
. "$(dirname "$0")/../lib/lib.sh"
"$BUILD/tests/stream-alloc" "$tests/data/small.txt"
