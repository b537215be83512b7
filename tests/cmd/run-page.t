#!/bin/sh
# cprof-run: a command becomes a page with names, and keeps its output and its exit status.
. "$(dirname "$0")/../lib/lib.sh"
[ -x "$BIN/cprof-record" ] || skip_all "the recorder is not built"
cprof-record -q -o "$tmp/try.bin" -- true 2>/dev/null || skip_all "commands cannot be recorded here"
mkdir "$tmp/w" "$tmp/tmp"
cd "$tmp/w" || exit 1
export TMPDIR="$tmp/tmp"
burn=$BUILD/tests/burn

status "a command's status is kept" 7 cprof run sh -c '"$1" brief 500; echo out; exit 7' sh "$burn"
is "  and its output" "$(cat "$tmp/out")" out
page=$(tail -n 1 "$tmp/err")
like "  the last line is the path of the page" "$page" '^cprof-sh-[0-9]+\.html$'
is "  which is the only file" "$(ls)" "$page"
is "  nothing remains in TMPDIR" "$(ls "$TMPDIR")" ""
cprof-run -o svg --capture c.bin "$burn" brief 500 2>"$tmp/err"
page=$(tail -n 1 "$tmp/err")
like "-o svg draws a picture" "$page" '^cprof-burn-[0-9]+\.svg$'
like "  with names" "$(cat "$page")" 'brief_work'
like "  and the capture has them" "$(cprof-fold c.bin)" 'brief_work'
status "a command with options of its own" 0 cprof-run -q -o x.html ls -a --size /
like "  gets them" "$(cat "$tmp/out")" ' \.\.$'
unlike "  -q prints no summary and no path" "$(cat "$tmp/err")" 'cprof-record:|html'
like "  and the page is there" "$(head -c 15 x.html)" '<!DOCTYPE html>'
status "a signal that ends the command" 143 cprof-run -q -o x.html -- sh -c 'kill -TERM $$'
status "--off-cpu" 0 cprof-run -q --off-cpu=2ms -F 50 -o x.svg sleep 0.2
like "  shows the wait" "$(cat x.svg)" 'sleeping'
status "POSIXLY_CORRECT" 0 env POSIXLY_CORRECT=1 cprof-run -q -i --off-cpu -o x.svg --capture c.bin sleep 0.2

rm -f ./*
for kind in "no such program:1:./nothing" \
	"a file that cannot be written:1:-o /nothing/x.html touch ran" \
	"a directory:1:--capture . touch ran" \
	"an option of the recorder that is wrong:2:-F x touch ran" \
	"no command:2:-q" "another suffix:2:-o x.png touch ran"; do
	arguments=${kind#*:}
	status "${kind%%:*}" "${arguments%%:*}" cprof-run ${arguments#*:}
done
is "  leave nothing" "$(ls . ; ls "$TMPDIR")" ""
cprof-run 2>"$tmp/err"
is "  the sentence" "$(head -n 1 "$tmp/err")" "cprof-run: recording requires a command"

# Without a page, the recording remains, and the message names it.
mkdir "$tmp/bad"
cp "$BIN/cprof-run" "$tmp/bad/" # a link would find its siblings
for program in cprof-record cprof-sym cprof-flame; do ln -s "$BIN/$program" "$tmp/bad/"; done
for program in cprof-flame cprof-sym; do
	printf '#!/bin/sh\nexit 1\n' >"$tmp/failing" && chmod +x "$tmp/failing"
	mv -f "$tmp/failing" "$tmp/bad/$program"
	status "$program fails" 1 "$tmp/bad/cprof-run" -q -o x.html "$burn" brief 200
	kept=$(sed -n 's/^cprof-run: no page was drawn; the capture is kept in //p' "$tmp/err")
	ok "  the capture is kept" cprof-dump "$kept"
	is "  and nothing beside it" "$(ls "$TMPDIR"/*)" "${kept##*/}"
	rm -rf "${TMPDIR:?}"/*
done
mv "$tmp/bad/cprof-sym" "$tmp/bad/cprof-flame" && ln -s "$BIN/cprof-sym" "$tmp/bad/"
status "cprof-flame fails with --capture" 1 \
	"$tmp/bad/cprof-run" -q -o x.html --capture kept.bin "$burn" brief 200
like "  the message names that file" "$(cat "$tmp/err")" 'no page was drawn; the capture is kept in kept.bin$'
like "  which has names" "$(cprof-fold kept.bin)" 'brief_work'
is "  and nothing remains in TMPDIR" "$(ls "$TMPDIR")" ""

# A signal ends the recording; the page is drawn nevertheless.
cprof-run -q -o x.html sh -c 'echo >begun; exec sleep 100' &
run=$!
i=0
until [ -e begun ] || [ $i -gt 600 ]; do sleep 0.1; i=$((i + 1)); done
kill -TERM $run
wait $run
is "SIGTERM ends the recording" "$? $(ls x.html)" "0 x.html"
is "  nothing remains in TMPDIR" "$(ls "$TMPDIR")" ""
done_testing
