#!/bin/sh
# Files of servers: an innocent device is not blamed for a wait, and known bytes are not copied again.
. "$(dirname "$0")/../lib/lib.sh"
mkdir "$tmp/dir"
echo file >"$tmp/dir/file"
echo other >"$tmp/dir/other"
ln -s . "$tmp/way"
"$BUILD/tests/record-remote" "$(cd "$tmp" && pwd -P)"
