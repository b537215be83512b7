#!/bin/sh
# The list of free extents against a model
. "$(dirname "$0")/../lib/lib.sh"
"$BUILD/tests/unwind-extents"
