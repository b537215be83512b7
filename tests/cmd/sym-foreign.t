#!/bin/sh
# The author of a capture chooses its file names: only regular files may be opened.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"

mkdir "$tmp/archive" "$tmp/debug"
mkfifo -m 600 "$tmp/pipe"
ln -s pipe "$tmp/link"

# waits DESCRIPTION PATH COMMAND...: runs it on a capture that names PATH; the pipe's writer must wait
# before and after
waits() {
	d=$1 path=$2
	shift 2
	(exec >"$tmp/pipe"; echo here) 2>/dev/null &
	writer=$!
	{ segment; process 1; file 1 "$path" 0123456789abcdef0123456789abcdef01234567; mapping 1 1 4096 4096 0; echo 4096 | frames; finish; } |
		cprof-dump -r >"$tmp/capture"
	"$@" "$tmp/capture" >"$tmp/out" 2>"$tmp/err"
	st=$?
	# Now the writer is released, and writes a word; if it was released before, there is no reader for it.
	is "$d" "$(timeout 20 cat "$tmp/pipe")" here
	kill "$writer" 2>/dev/null
	wait "$writer" 2>/dev/null
}

waits "a pipe as a file's name is not opened for names" "$tmp/pipe" cprof-sym
is "... which is no error" $st 0
waits "... nor where a link leads to it" "$tmp/link" cprof-sym
waits "... nor in a tree" /pipe cprof-sym --symfs "$tmp"
waits "... nor for an archive" "$tmp/pipe" cprof-archive "$tmp/archive"
waits "a pipe as the kernel's symbols is not opened" "$tmp/nothing" cprof-sym --kernel "$tmp/pipe"
like "... which is said" "$(cat "$tmp/err")" "pipe: it is not a regular file"
mkdir -p "$tmp/debug/.build-id/01"
ln "$tmp/pipe" "$tmp/debug/.build-id/01/23456789abcdef0123456789abcdef01234567.debug"
waits "a pipe in a directory of debug files is not opened" "$tmp/nothing" cprof-sym --debug-dir "$tmp/debug"
done_testing
