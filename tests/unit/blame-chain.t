#!/bin/sh
# Chains of waits: the pieces of each add up to it exactly, also in captures that contradict themselves.
. "$(dirname "$0")/../lib/lib.sh"
exec "$BUILD/tests/blame-chain"
