#!/bin/sh
# cprof-diff: colours of changes that are not chance; --from and --to cut both sides by the clock.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/made-captures.sh"

printf '%s\n' 'a;grew 100' 'a;fell 500' 'a;same 400' >"$tmp/a"
printf '%s\n' 'a;grew 500' 'a;fell 100' 'a;same 400' >"$tmp/b"
esc=$(printf '\033')
# colours NAME OPTION...: the colour of a row of the table
colours() {
	name=$1
	shift
	cprof-diff "$@" "$tmp/a" "$tmp/b" | grep "  $name" |
		sed "s/$esc\[\([0-9;]*\)m.*$esc\[0m\$/\1/; t; s/.*/none/"
}
is "growth is red" "$(colours grew --color=always)" "1;31"
is "  the opposite green" "$(colours fell --color=always)" "32"
is "  the rest has no colour" "$(colours same --color=always)" "none"
is "not in a pipe" "$(colours grew)" "none"
is "  nor without a test" "$(colours grew --color=always --no-normalize)" "none"
is "  nor in rows for programs" "$(cprof-diff --color=always -o tsv "$tmp/a" "$tmp/b" | grep -c "$esc")" 0
is "the other spelling" "$(colours grew --colour=always)" "1;31"
status "another word" 2 cprof-diff --color=blue "$tmp/a" "$tmp/b"
if command -v script >/dev/null; then
	on_terminal() {
		script -qec "$* cprof-diff $tmp/a $tmp/b" /dev/null </dev/null | grep -c "$esc\[1;31m"
	}
	is "a terminal has them" "$(TERM=xterm on_terminal env)" 1
	is "  unless NO_COLOR is set" "$(TERM=xterm NO_COLOR=1 on_terminal env)" 0
else
	skip "a terminal has them" "no script"
fi

# Two recordings of a day's distance, each with samples of the same times of the day after it.
made_capture 0 one one two | cprof-dump -r >"$tmp/x.bin"
made_capture 86400 one two two two | cprof-dump -r >"$tmp/y.bin"
export TZ=UTC
sums() {
	cprof-diff --by comm -o tsv "$@" "$tmp/x.bin" "$tmp/y.bin" 2>"$tmp/err" | sed 1d |
		cut -f 1,3,4 | sort | tr '\t\n' ' ,'
}
is "a window of the clock counts each side's own samples" \
	"$(sums --from 12:00:00 --to 12:00:00.3)" "one 2 1,two 1 3,"
is "  the rest of the time likewise" "$(sums --from 12:00:00.3 --to 12:00:01)" "one 2 1,two 1 3,"
is "  and a moment of one day leaves the other side empty" \
	"$(sums --from 2026-11-26T12:00:00 --to 2026-11-26T12:01:00)" "one 4 0,two 2 0,"
done_testing
