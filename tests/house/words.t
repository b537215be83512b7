#!/bin/sh
# Prose: sentences that begin with a pronoun or a connective in the place of a noun, clauses used as nouns, the
# length of the pages' sentences, and lines wider than 110 columns. The numbers here only ever fall.
. "$(dirname "$0")/../lib/lib.sh"
cd "$top" || exit 1
command -v python3 >/dev/null || skip_all "python3 is not there"
export PYTHONDONTWRITEBYTECODE=1

# The counter itself
printf '/* %s */\n' "$(printf '%s is counted here is samples. %s reads on gets the rest. Returns what was read, by who asks first.' What Who)" >"$tmp/x.c"
cat >>"$tmp/x.c" <<'END'
/* Returns the users who asked. Otherwise returns NULL. */
int x; // Such a line is wider than all the others, because it goes on and on until it has come well past its hundredth column
END
is "the counter finds beginnings, clauses and long lines" "$(python3 "$here/words.py" "$tmp/x.c")" \
	"code sentences 6 begin 3 clause 3 long 1 words 52"

# at_most KIND FIELD NUMBER: over all files of a kind: code, page or script
at_most() {
	n=$(sed -n "s/^$1 .*$2 \([0-9]*\).*/\1/p" "$tmp/counts")
	if [ "${n:-0}" -le "$3" ]; then pass "$1: $2: at most $3"; else
		fail "$1: $2: at most $3"
		diag "there are $n; tests/house/words.py -l lists them:"
		python3 "$here/words.py" -l >"$tmp/list"
		diag "$(grep ": $2" "$tmp/list" | head -20)"
	fi
}
python3 "$here/words.py" >"$tmp/counts"
cat "$tmp/counts" | sed 's/^/# /'
at_most code begin 2
at_most code clause 2
at_most code long 1700
at_most script begin 1
at_most script clause 1
at_most script long 2325
at_most page begin 0
at_most page clause 0

mean=$(python3 "$here/words.py" README.md man/* | awk '{ printf "%d", 10 * $NF / $3 }')
ok "a sentence of the pages has at most 15 words on average: $((mean / 10)).$((mean % 10))" [ "$mean" -le 150 ]
done_testing
