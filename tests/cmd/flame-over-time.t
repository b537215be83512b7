#!/bin/sh
# The page of cprof-flame DIRECTORY in a browser: containers over time; by clicks and drags, the flame graph
# of a range and of a container. All are those of a plain count of the samples.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/browser-lib.sh"

needs_browser
export TZ=UTC
python3 "$here/flame-over-time.py" "$tmp" "$BUILD/screenshots"
