#!/bin/sh
# Each command has a page, the pages are well-formed, and each option is in its page.
. "$(dirname "$0")/../lib/lib.sh"
cd "$top" || exit 1

command -v mandoc >/dev/null || skip_all "mandoc is not here"

# table: the options of a --help on stdin, one a line: "-n --rows" or "--cum"
table() { sed -nE 's/^  (-(.), |    )--([a-z][a-z-]*).*/-\2 --\3/p' | sed 's/^- //' | sort -u; }
# flags: the options that .Fl names on stdin, in mdoc: "ilU" are three
flags() {
	grep -oE 'Fl [^ ]+' | sed 's/^Fl //; /^-$/d' | while read -r f; do
		case $f in -*) echo "-$f" ;; *) echo "$f" | sed 's/./-&\n/g' ;; esac
	done | sed '/^$/d' | sort -u
}
section() { sed -n "/^\\.Sh $1\$/,/^\\.Sh [^$(echo "$1" | cut -c1)]/p" "$2"; }
# missing LIST FILE: the words of the list that are not lines of the file
missing() { for o in $1; do grep -qxe "$o" "$2" || echo "$o"; done | xargs; }

printf '  -n, --rows ROWS    text\n      --cum\n  --none\n' >"$tmp/help"
is "options are found in a help" "$(table <"$tmp/help" | tr '\n' ' ')" "--cum -n --rows "
is "options are found in mdoc" \
	"$(printf '.Op Fl iU\n.It Fl n Ar x , Fl -rows\n.Fl - Ar c\n' | flags | xargs)" "--rows -U -i -n"

for c in cmd/cprof.c cmd/cprof-*; do
	name=$(basename "$c" .c)
	page=man/$name.1
	if [ ! -e "$page" ]; then
		fail "$name has a page"
		continue
	fi
	"$name" --help >"$tmp/help" || fail "$name --help"
	is "$name: --help is as wide as a terminal" "$(grep -E '^.{81}' "$tmp/help" | grep -v '|')" ""
	table <"$tmp/help" >"$tmp/table"
	tr ' ' '\n' <"$tmp/table" >"$tmp/all"
	like "  it has its options" "$(cat "$tmp/all")" '^--help$'
	section SYNOPSIS "$page" | flags >"$tmp/synopsis"
	# -h and -V are of every command, and in no synopsis.
	grep -vxe '-[hV] --[a-z]*' "$tmp/table" | while read -r one two; do
		grep -qxe "$one" "$tmp/synopsis" || grep -qxe "${two:-$one}" "$tmp/synopsis" || echo "$one $two"
	done >"$tmp/absent"
	is "$name: the page's synopsis has each option" "$(cat "$tmp/absent")" ""
	is "  and no other" "$(missing "$(cat "$tmp/synopsis")" "$tmp/all")" ""
	section DESCRIPTION "$page" | grep '^\.It Fl' | flags >"$tmp/list"
	is "$name: the page's list has each option" "$(missing "$(cat "$tmp/all")" "$tmp/list")" ""
	is "  and no other" "$(missing "$(cat "$tmp/list")" "$tmp/all")" ""
	for section in "EXIT STATUS" EXAMPLES "SEE ALSO"; do
		grep -q "^\\.Sh $section" "$page" || fail "$page has a section $section"
	done
done

formats=$(sed -n 's/^	{ "\([a-z]*\)", convert_.*/\1/p' cmd/cprof-convert/*.c | tr '\n' '|')
like "the formats of cprof-convert are found" "$formats" '^pprof\|.*\|$'
like "  and its --help lists them" "$(cprof-convert --help)" "--to-format $(echo "${formats%|}" | sed 's/|/\\|/g')\$"

for page in man/*.[1-9]; do
	[ -e "$page" ] || continue
	ok "$page is well-formed" mandoc -T lint -W warning "$page"
	is "$page refers to pages that exist" "$(grep -oE '^\.Xr cprof[a-z-]* [1-9]' "$page" | sort -u |
		while read -r _ n s; do [ -e "man/$n.$s" ] || echo "$n($s)"; done)" ""
done
for page in cprof.7 cprof-languages.7 cprof-stream.5; do
	ok "there is $page" test -e "man/$page"
done
done_testing
