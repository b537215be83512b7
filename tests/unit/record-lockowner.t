#!/bin/sh
# The holder of a lock, by the words at a futex: made ones, and those of this glibc's locks.
. "$(dirname "$0")/../lib/lib.sh"
exec "$BUILD/tests/record-lockowner"
