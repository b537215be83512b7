#!/bin/sh
# The page of cprof-flame in a browser: it shows the results of plain counting over the same stacks.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/browser-lib.sh"

needs_browser
python3 "$here/flame-page.py" "$tmp" "$BUILD/screenshots"
