#!/bin/sh
# Unwind tables beside libdw, on what is installed here.
. "$(dirname "$0")/lib.sh"

find /usr/bin /usr/lib -type f \( -perm -111 -o -name '*.so*' \) | sort >"$tmp/files"
"$BUILD/tests/unwind-table" check 600000 <"$tmp/files" >"$tmp/out"
grep '^#' "$tmp/out"
said=$(grep -v '^#' "$tmp/out")
like "at least 100 files" "$said" "files=[1-9][0-9][0-9]"
like "no rule is wrong" "$said" "wrong=0$"
done_testing
