#!/bin/sh
# V8's position tables give functions and positions; damaged ones give no more than there is.
. "$(dirname "$0")/../lib/lib.sh"
exec "$BUILD/tests/javascript-positions"
