#!/bin/sh
# Each claim of contrib/SECURITY.md has a mechanism and existing tests.
. "$(dirname "$0")/../lib/lib.sh"
cd "$top" || exit 1
page=contrib/SECURITY.md

grep -oE '`tests/[^`]*`' "$page" | tr -d '`' | sort -u >"$tmp/named"
like "tests are named" "$(wc -l <"$tmp/named")" '^[1-9][0-9]'
is "  and are there" "$(while read -r t; do [ -x "$t" ] || echo "$t"; done <"$tmp/named")" ""
is "each claim has its test" \
	"$(grep '^|' "$page" | grep -v -e '^| claim |' -e '^|---' -e '`tests/[a-z]*/[a-z0-9-]*\.t` |$')" ""
is "documents that it refers to are there" \
	"$(grep -oE '\]\([^)]*\)' "$page" | tr -d '])(' | while read -r f; do [ -e "contrib/$f" ] || echo "$f"; done)" ""
like "README refers to it" "$(cat README.md)" '\(contrib/SECURITY\.md\)'
done_testing
