#!/bin/sh
# Numbers, tables, blocks, records: the base and stream rooms from inside
. "$(dirname "$0")/../lib/lib.sh"
"$BUILD/tests/stream-check"
