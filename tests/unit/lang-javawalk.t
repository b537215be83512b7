#!/bin/sh
# At each instruction by which HotSpot's code makes its frame, or takes it down, a step finds the caller among
# old return addresses.
. "$(dirname "$0")/../lib/lib.sh"
exec "$BUILD/tests/lang-javawalk"
