#!/bin/sh
# Readings of mappings: turns by user, rests and room.
. "$(dirname "$0")/../lib/lib.sh"
exec "$BUILD/tests/record-readings"
