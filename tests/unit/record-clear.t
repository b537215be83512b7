#!/bin/sh
# The recorder empties a map although the kernel evicts entries meanwhile.
. "$(dirname "$0")/../lib/lib.sh"
exec "$BUILD/tests/record-clear"
