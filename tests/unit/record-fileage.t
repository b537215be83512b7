#!/bin/sh
# --keep TIME: files of a series are removed at their age, also if the clock was stepped or the machine slept.
. "$(dirname "$0")/../lib/lib.sh"
cd "$tmp" && exec "$BUILD/tests/record-fileage"
