#!/bin/sh
# Numbers and tables: the base room from inside
. "$(dirname "$0")/../lib/lib.sh"
"$BUILD/tests/base-check"
