#!/bin/sh
# Mappings that were read again after a loss: signs of an exec, and limits of a reading.
. "$(dirname "$0")/../lib/lib.sh"
exec "$BUILD/tests/record-reread"
