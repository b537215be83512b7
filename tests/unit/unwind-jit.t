#!/bin/sh
# Unwind tables of generated code, from the .eh_frame in jitdump files
. "$(dirname "$0")/../lib/lib.sh"
"$BUILD/tests/unwind-jit"
