#!/bin/sh
# Targets that have exited, though nobody waited for them: processes, and main threads.
. "$(dirname "$0")/../lib/lib.sh"
exec "$BUILD/tests/record-exited"
