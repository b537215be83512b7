#!/bin/sh
# The processes that build unwind tables may do nothing else.
. "$(dirname "$0")/../lib/lib.sh"
"$BUILD/tests/record-confined"
