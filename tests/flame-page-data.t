#!/bin/sh
# The page of cprof-flame: differences, time ranges, hostile names, and profiles that are empty, huge,
# or cut short
. "$(dirname "$0")/lib.sh"
. "$here/browser-lib.sh"

needs_browser
python3 "$here/flame-page-data.py" "$tmp" "$BUILD/screenshots"
