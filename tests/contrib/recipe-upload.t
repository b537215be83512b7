#!/bin/sh
# The upload hook: whole files, compressed or with names, to a directory and by HTTP; retries end; captures
# that do not arrive stay.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/recipe-lib.sh"
upload=$top/contrib/hooks/upload
mkdir "$tmp/in" "$tmp/to"
cprof-dump -r "$tests/data/small.txt" >"$tmp/in/a.cprof" && cp "$tmp/in/a.cprof" "$tmp/in/b.cprof" || exit 1

status "to a directory" 0 "$upload" "$tmp/to" "$tmp/in/a.cprof" "$tmp/in/b.cprof"
same "  it arrives" "$tmp/in/a.cprof" "$tmp/to/a.cprof"
is "  with nothing beside it" "$(ls -A "$tmp/to" | tr '\n' ' ')" "a.cprof b.cprof "
status "with names, compressed, and no longer here" 0 "$upload" -r -s -z "$tmp/to" "$tmp/in/b.cprof"
gzip -dc "$tmp/to/b.cprof.gz" >"$tmp/b.named"
cprof-sym "$tmp/in/a.cprof" >"$tmp/a.named" 2>/dev/null
same "  it is what cprof-sym says" "$tmp/a.named" "$tmp/b.named"
is "  the original is gone" "$(ls "$tmp/in")" a.cprof
head -c 200 "$tmp/in/a.cprof" >"$tmp/in/cut.cprof"
status "a file that a kill cut goes too" 0 "$upload" -s "$tmp/to" "$tmp/in/cut.cprof"
status "  and what its names need" 0 "$upload" -a "$tmp/symbols" "$tmp/to" "$tmp/in/cut.cprof"
like "  and the message says so" "$(cat "$tmp/err")" '^upload: cprof-archive: .*cut.cprof: '
gzip -c "$tmp/in/a.cprof" >"$tmp/in/old.cprof.gz"
status "what is compressed already" 0 "$upload" -r -s -z "$tmp/to" "$tmp/in/old.cprof.gz"
is "  is compressed once" "$(gzip -dc "$tmp/to/old.cprof.gz" | cmp - "$tmp/a.named" && echo equal)" equal
echo letter >"$tmp/in/letter.cprof"
status "what cannot be named" 1 "$upload" -r -s "$tmp/to" "$tmp/in/letter.cprof"
is "  is not sent empty, and stays" "$(ls "$tmp"/*/letter.cprof)" "$tmp/in/letter.cprof"
{ head -c 100 "$tmp/in/a.cprof"; printf x; tail -c +102 "$tmp/in/a.cprof"; } >"$tmp/in/flipped.cprof"
for bad in letter flipped; do
	cp "$tmp/in/a.cprof" "$tmp/in/last.cprof"
	status "$bad.cprof, whose names cannot be kept" 1 \
		"$upload" -r -a "$tmp/symbols" "$tmp/to" "$tmp/in/$bad.cprof" "$tmp/in/last.cprof"
	like "  the message says so" "$(cat "$tmp/err")" \
		"^upload: the files that names of $tmp/in/$bad.cprof need are not all in $tmp/symbols"
	is "  it stays, and the other file goes" "$(ls "$tmp/in" | grep -E "$bad|last" | xargs)" "$bad.cprof"
	same "  it is sent as it is" "$tmp/in/$bad.cprof" "$tmp/to/$bad.cprof"
done
rm "$tmp/in/letter.cprof" "$tmp/in/flipped.cprof"
status "a place that is not there" 1 "$upload" -r "$tmp/none" "$tmp/in/a.cprof"
is "  is said" "$(tail -n 1 "$tmp/err")" "upload: $tmp/in/a.cprof did not reach $tmp/none"
is "  and the file stays" "$(ls "$tmp/in/a.cprof")" "$tmp/in/a.cprof"
status "a number of tries that looks octal" 2 "$upload" -n 08 "$tmp/to" "$tmp/in/a.cprof"
status "no destination" 2 "$upload" "$tmp/in/a.cprof"

command -v curl >/dev/null || { skip "to a server" "there is no curl"; done_testing; }
serve
status "to a server" 0 "$upload" "$url/bucket/host/" "$tmp/in/a.cprof"
same "  it arrives" "$tmp/in/a.cprof" "$tmp/srv/put/bucket/host/a.cprof"
status "one that says 503 twice" 0 "$upload" -r "$url/flaky" "$tmp/in/a.cprof"
cmp -s "$tmp/to/a.cprof" "$tmp/srv/put/flaky/a.cprof" && pass "  gets it the third time" || fail "  gets it the third time"
cp "$tmp/to/a.cprof" "$tmp/in/"
status "one that always says so" 1 "$upload" -r -n 2 "$url/down" "$tmp/in/a.cprof"
is "  is asked no more often than it should" "$(grep -c down "$tmp/srv/tries")" 2
status "one that refuses" 1 "$upload" -r "$url/refused" "$tmp/in/a.cprof"
is "  is asked once" "$(grep -c refused "$tmp/srv/tries")" 1
is "  and the file stays" "$(ls "$tmp/in/a.cprof")" "$tmp/in/a.cprof"

# Each name arrives unchanged, and only that file: curl would take brackets for a list of names, a URL % for
# an escape, ? and # for its end.
mkdir "$tmp/odd"
for name in 'x[1-3]' '{a,b}' '%41' 'a?b' 'a#b' 'a b' '+&;=:@!$' 'naïve – 名前' '"quotes'"'" 'x\047\n' '-cmd' 'two
lines
' "$(printf '\377\001')"; do
	cp "$tmp/to/a.cprof" "$tmp/odd/$name"
done
ls -b "$tmp/odd" >"$tmp/want"
status "names that mean something in a URL" 0 sh -c 'cd "$1" && "$2" -r "$3" *' sh "$tmp/odd" "$upload" "$url/odd"
diag "$(cat "$tmp/err")"
ls -b "$tmp/srv/put/odd" >"$tmp/got"
same "  arrive as they are, and no other" "$tmp/want" "$tmp/got"
is "  and whole" "$(cd "$tmp/srv/put/odd" && cat -- * | wc -c)" "$(($(wc -l <"$tmp/want") * $(wc -c <"$tmp/to/a.cprof")))"
is "  and are no longer here" "$(ls "$tmp/odd")" ""
cp "$tmp/to/a.cprof" "$tmp/odd/x[1-3]"
status "where the server refuses one" 1 "$upload" -r "$url/refused" "$tmp/odd/x[1-3]"
is "  it stays" "$(ls "$tmp/odd")" 'x[1-3]'

if [ "$(id -u)" = 0 ] && [ -x "$BIN/cprof-record" ] && cprof-record -q -a 0.1 >"$tmp/try" 2>/dev/null; then
	status "by the recorder" 0 cprof-record -q -a --rotate 1s -o "$tmp/in/%H%M%S.cprof" \
		--on-rotate "PATH=$PATH '$upload' -r -z -a '$tmp/symbols' $url/live \"\$1\"" 2.5
	is "  each file arrives" "$(ls "$tmp/in" | grep -c '^[0-9]')-$(($(ls "$tmp/srv/put/live" | wc -l) >= 3))" 0-1
	gzip -dc "$tmp/srv/put/live"/*.gz >"$tmp/all.bin"
	ok "  and is whole" cprof-top "$tmp/all.bin"
	is "  and what its names need is kept" "$(ls "$tmp/symbols/.build-id" | wc -l | awk '{ print ($1 > 0) }')" 1
else
	skip "by the recorder" "nobody may record the whole system here"
fi
done_testing
