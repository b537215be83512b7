#!/bin/sh
# What records mean: epochs, places, names, forks, and what is refused.
. "$(dirname "$0")/lib.sh"
"$BUILD/tests/capture-check"
