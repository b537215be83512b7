#!/bin/sh
# Chains replayed with a faster function, and the bounds of the result.
. "$(dirname "$0")/../lib/lib.sh"
exec "$BUILD/tests/blame-replay"
