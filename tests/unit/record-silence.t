#!/bin/sh
# File systems that do not answer: their devices and files rest, and are asked again later.
. "$(dirname "$0")/../lib/lib.sh"
exec "$BUILD/tests/record-silence"
