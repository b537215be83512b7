#!/bin/sh
# Edits, downloads and the visible part in the page of cprof-flame: they give what cprof-fold gives.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/browser-lib.sh"

needs_browser
python3 "$here/flame-menu.py" "$tmp" "$BUILD/screenshots"
