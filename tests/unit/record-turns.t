#!/bin/sh
# Questions to the process that opens files: users take turns, and the number of questions is limited.
. "$(dirname "$0")/../lib/lib.sh"
exec "$BUILD/tests/record-turns"
