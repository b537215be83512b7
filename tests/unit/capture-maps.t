#!/bin/sh
# Mappings against a brute-force model.
. "$(dirname "$0")/../lib/lib.sh"
"$BUILD/tests/capture-maps"
