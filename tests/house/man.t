#!/bin/sh
# Each command has a page, the pages are well-formed, and each option is in its page.
. "$(dirname "$0")/../lib/lib.sh"
cd "$top" || exit 1

command -v mandoc >/dev/null || skip_all "mandoc is not here"

# plain PAGE: as plain text, without overstrikes
plain() { mandoc -T ascii "$1" | sed "s/.$(printf '\b')//g"; }

# names OPTION: does the text on stdin contain it as a whole word?
names() { grep -Eq -- "(^|[^[:alnum:]-])$1([^[:alnum:]-]|\$)"; }

# The options of a command: the long ones from its tables, after the preprocessor, the short ones
# from its usage.
long_options() {
	for c; do
		gcc -E -P -std=gnu11 -D_GNU_SOURCE -I. -I"$BUILD" $(pkg-config --cflags libelf libxxhash) "$c"
	done | tr -d '\n' | grep -oE '\{ *"[a-z0-9-]+", *[012], *(NULL|\(\(void ?\*\) ?0\)|0) *,' |
		sed 's/^[^"]*"\([^"]*\)".*/--\1/' | sort -u
}
short_options() { sed 's/\[\[/[/g' | grep -oE '(^|[[| ])-[A-Za-z]+' | sed 's/^[^-]*-//; s/./&\n/g' | sed '/^$/d; s/^/-/' | sort -u; }

is "short options are found in a usage" "$(echo 'x [-abC] [-n N | -q] [--long-name] A-B' | short_options | tr '\n' ' ')" \
	"-C -a -b -n -q "
echo "see --cum, or -n ROWS" >"$tmp/page"
found=
for o in --cum -n --cu -N --rows -s; do
	! names "$o" <"$tmp/page" || found="$found $o"
done
is "options are found in a text" "$found" " --cum -n"

for c in cmd/cprof-*; do
	name=$(basename "$c" .c)
	page=man/$name.1
	if [ ! -e "$page" ]; then
		fail "$name has a page"
		continue
	fi
	if [ -d "$c" ]; then sources=$(find "$c" -name '*.c'); else sources=$c; fi
	plain "$page" >"$tmp/page"
	"$name" --help >"$tmp/help" || fail "$name --help"
	long_options $sources >"$tmp/longs"
	absent=
	for o in $(cat "$tmp/longs") $(grep -oE -- '--[a-z][a-z-]+' "$tmp/help") $(short_options <"$tmp/help"); do
		case "$absent " in *" $o "*) continue ;; esac
		names "$o" <"$tmp/page" || absent="$absent $o"
	done
	like "$name: --help has its options" "$(cat "$tmp/longs")" '^--help$'
	is "$name: each option is in the page" "$absent" ""
	# And the reverse: no option that no longer exists.
	gone=
	for o in $(sed -n '/^DESCRIPTION/,/^[A-CE-Z]/p' "$tmp/page" | sed -n 's/^  *\(-[^][ ,]*\).*/\1/p' | grep -E '^--[a-z]' | sort -u); do
		grep -qx -- "$o" "$tmp/longs" || gone="$gone $o"
	done
	is "$name: each long option of the page's list exists" "$gone" ""
	for section in "EXIT STATUS" EXAMPLES "SEE ALSO"; do
		grep -q "^$section" "$tmp/page" || fail "$page has a section $section"
	done
done

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
