#!/bin/sh
# The page of cprof-flame for all: contrast, axe, forced colours, touch, paper, and viewers without scripts.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/browser-lib.sh"

needs_browser
axe=$("$tests/lib/npm.sh" axe-core@4.10.3) && axe=$axe/axe-core/axe.min.js || axe=
printf '%s\n' 'sh;main;<b>;read_[k] 60' 'sh;main;</dl> 40' >"$tmp/folded"
cprof-flame --title 'A & B' --subtitle 'of <today>' --notes '</dl><b>' "$tmp/folded" \
	>"$tmp/own.html" || exit 1
cprof-flame -o svg --search 'read|main' --subtitle sub --notes n "$tmp/folded" >"$tmp/own.svg" || exit 1
python3 "$here/flame-access.py" "$tmp" "$BUILD/screenshots" "$axe"
