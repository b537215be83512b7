#!/bin/sh
# cprof: short names run the programs beside it, the list is complete, and a mistyped name gets a guess.
. "$(dirname "$0")/../lib/lib.sh"
cd "$top" || exit 1

echo 'app;work 3' >"$tmp/folded"
cprof-top "$tmp/folded" >"$tmp/want"
status "cprof top is cprof-top" 0 cprof top "$tmp/folded"
same "  with the same output" "$tmp/out" "$tmp/want"
cprof-fold -T "$tmp/folded" >"$tmp/want" 2>"$tmp/wanted"
cprof fold -T "$tmp/folded" >"$tmp/out" 2>"$tmp/err"
same "an option after the command is the program's" "$tmp/out" "$tmp/want"
status "the program's status" 1 cprof top "$tmp/nothing"
like "  and its message" "$(cat "$tmp/err")" "^cprof-top: .*$tmp/nothing"

# The list: each program, with the purpose that its own --help has
for c in cmd/cprof-*; do
	name=$(basename "$c" .c)
	[ -x "$BIN/$name" ] || continue
	echo "${name#cprof-}|$("$name" --help | sed -n '/^Usage\|^usage\|^       /d; s/\.$//p' | head -n 1)"
done | sort >"$tmp/want"
status "cprof help" 0 cprof help
sed -nE 's/^  ([a-z]+) +(.*)/\1|\2/p' "$tmp/out" |
	awk -F'|' '{ print $1 "|" toupper(substr($2, 1, 1)) substr($2, 2) }' | sort >"$tmp/listed"
[ -x "$BIN/cprof-record" ] || sed -i '/^record|/d' "$tmp/listed"
same "  lists each program with its purpose" "$tmp/listed" "$tmp/want"
cp "$tmp/out" "$tmp/list"
status "cprof alone" 0 cprof
same "  prints the same" "$tmp/out" "$tmp/list"
status "cprof --help" 0 cprof --help
same "  prints the same" "$tmp/out" "$tmp/list"
status "cprof help help" 0 cprof help help
same "  prints the same" "$tmp/out" "$tmp/list"
cprof-diff --help >"$tmp/want"
status "cprof help diff" 0 cprof help diff
same "  is cprof-diff --help" "$tmp/out" "$tmp/want"
is "cprof(1) has each command" "$(sed -n 's/^\.It Cm //p' man/cprof.1 | grep -vx help | sort | xargs)" \
	"$(sed -nE 's/^  ([a-z]+) .*/\1/p' "$tmp/list" | sort | xargs)"

for word in tpo:top flaem:flame hlep:help report:top; do
	status "cprof ${word%:*}" 2 cprof "${word%:*}"
	is "  which one was meant" "$(head -n 1 "$tmp/err")" \
		"cprof: invalid command \"${word%:*}\" (did you mean ${word#*:}?)"
done
status "a word like none" 2 cprof nothing
is "  no guess" "$(head -n 1 "$tmp/err")" \
	'cprof: invalid command "nothing" (expected one of those that cprof help lists)'
status "a path is not a command" 2 cprof ../cprof-top
status "an option that is not known" 2 cprof --nonsense top
is "  its sentence" "$(head -n 1 "$tmp/err")" 'cprof: invalid option "--nonsense"'
status "a letter that is not known" 2 cprof -+
is "  its sentence" "$(head -n 1 "$tmp/err")" 'cprof: invalid option "-+"'

# Another directory: the program beside cprof comes before that in PATH.
mkdir "$tmp/beside" "$tmp/path"
cp "$BIN/cprof" "$tmp/beside/"
printf '#!/bin/sh\necho "from PATH: $*"\n' >"$tmp/path/cprof-top"
chmod +x "$tmp/path/cprof-top"
is "a program in PATH, if none is beside it" \
	"$(PATH=$tmp/path:$PATH "$tmp/beside/cprof" top x)" "from PATH: x"
printf '#!/bin/sh\necho "beside: $*"\n' >"$tmp/beside/cprof-top"
chmod +x "$tmp/beside/cprof-top"
is "the one beside it" "$(PATH=$tmp/path:$PATH "$tmp/beside/cprof" top x)" "beside: x"
ln -s "$tmp/beside/cprof" "$tmp/path/cprof"
is "  also if cprof is a link" "$(PATH=$tmp/path:$PATH cprof top x)" "beside: x"
rm "$tmp/beside/cprof-top"
PATH=$tmp status "no such program" 1 "$tmp/beside/cprof" top
is "  its sentence" "$("$(command -v cat)" "$tmp/err")" \
	"cprof: cannot run cprof-top: No such file or directory"
done_testing
