#!/bin/sh
# Records in numbers that no recording has take time in proportion.
. "$(dirname "$0")/../lib/lib.sh"
"$BUILD/tests/capture-many"
