#!/bin/sh
# The end of a wait, by the stack of the kernel: never the thread that an interrupt happened to hit.
. "$(dirname "$0")/../lib/lib.sh"
exec "$BUILD/tests/record-wakers"
