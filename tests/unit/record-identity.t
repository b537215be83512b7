#!/bin/sh
# Build IDs of mapped files: questions without room or answer are asked again.
. "$(dirname "$0")/../lib/lib.sh"
exec "$BUILD/tests/record-identity"
