#!/bin/sh
# The page of cprof-flame: differences, time ranges, hostile names, and profiles that are empty, huge,
# or cut short
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/browser-lib.sh"

needs_browser
python3 "$here/flame-page-data.py" "$tmp" "$BUILD/screenshots"
