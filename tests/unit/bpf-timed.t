#!/bin/sh
# The time of the programs of waits: one run in 64 is measured, on clocks of any step.
. "$(dirname "$0")/../lib/lib.sh"
exec "$BUILD/tests/bpf-timed"
