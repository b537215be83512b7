#!/bin/sh
# Mappings of processes in the store, and the walk that remembers them, against a model
. "$(dirname "$0")/../lib/lib.sh"
"$BUILD/tests/unwind-spaces"
