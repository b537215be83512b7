#!/bin/sh
# Pipes, full disks, directories: where a stream's reader and writer meet the system
. "$(dirname "$0")/../lib/lib.sh"
"$BUILD/tests/stream-descriptors"
