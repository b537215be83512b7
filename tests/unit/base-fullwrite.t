#!/bin/sh
# full_write writes all bytes, in spite of signals and short writes, and reports each failure with its errno.
. "$(dirname "$0")/../lib/lib.sh"
"$BUILD/tests/base-fullwrite"
