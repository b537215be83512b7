#!/bin/sh
# The page of cprof-flame in a browser: what it shows is what plain counting over the same stacks gives.
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip_all "python3 is not here"
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
	skip_all "no Chromium is here"
command -v bash >/dev/null || skip_all "bash, which starts the browser with its pipes, is not here"
mkdir -p "$BUILD/screenshots"
PYTHONDONTWRITEBYTECODE=1 python3 "$here/flame-check.py" "$tmp" "$BUILD/screenshots"
