#!/bin/sh
# The tree of stacks: kernel code that is replaced gets frames of its own.
. "$(dirname "$0")/../lib/lib.sh"
exec "$BUILD/tests/record-calltree"
