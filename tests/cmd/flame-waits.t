#!/bin/sh
# Pages of cprof-flame --wall, --blame and --weight latency in a browser: edits by the context menu, sandwich,
# table and downloads give what cprof-fold gives, and three states of waiting have colours and shares.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/browser-lib.sh"

needs_browser
python3 "$tests/lib/made-waits.py" | cprof-dump -r >"$tmp/waits.bin" || exit 1
python3 "$here/flame-waits.py" "$tmp" "$BUILD/screenshots"
