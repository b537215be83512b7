#!/bin/sh
# The store of unwind tables against models
. "$(dirname "$0")/../lib/lib.sh"
"$BUILD/tests/unwind-store"
