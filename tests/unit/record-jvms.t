#!/bin/sh
# Users of JVMs: one whose memory does not answer, or with very many, costs others none of theirs.
. "$(dirname "$0")/../lib/lib.sh"
exec "$BUILD/tests/record-jvms"
