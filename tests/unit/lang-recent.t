#!/bin/sh
# The functions that a CPU has met lately.
. "$(dirname "$0")/../lib/lib.sh"
exec "$BUILD/tests/lang-recent"
