#!/bin/sh
# The page of cprof-flame in a browser: what it shows is what plain counting over the same stacks gives.
. "$(dirname "$0")/lib.sh"
. "$here/browser-lib.sh"

needs_browser
python3 "$here/flame-page.py" "$tmp" "$BUILD/screenshots"
