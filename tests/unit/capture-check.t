#!/bin/sh
# The meaning of records: epochs, addresses in files, names, forks, and refusals
. "$(dirname "$0")/../lib/lib.sh"
"$BUILD/tests/capture-check"
