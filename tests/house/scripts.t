#!/bin/sh
# Scripts mean the same to each awk and to each shell.
. "$(dirname "$0")/../lib/lib.sh"
cd "$top" || exit 1

# matched_by_v FILE...: prints "FILE: NAME" of each variable that awk gets by -v and uses as a whole
# regular expression. gawk takes \[ and \( in it as string escapes, mawk does not; the environment passes
# the text unchanged.
matched_by_v() {
	awk '/awk/ { line = $0
			while (match(line, /-v [A-Za-z_]+=/)) {
				given[FILENAME, substr(line, RSTART + 3, RLENGTH - 4)] = 1
				line = substr(line, RSTART + RLENGTH)
			} }
		{ text[FILENAME] = text[FILENAME] $0 "\n" }
		END { for (g in given) { split(g, at, SUBSEP)
			if (text[at[1]] ~ "[^=]~ *[(]?" at[2] "([^A-Za-z0-9_( ]| *[^A-Za-z0-9_( \"$])|sub[(]" at[2] ",") print at[1] ": " at[2] } }' "$@" | sort
}
cat >"$tmp/bad" <<'END'
awk -v re="$1" '$0 ~ re { n++ }'
awk -v other="$1" -v cut="$2" '$0 == other { sub(cut, "") }'
END
cat >"$tmp/good" <<'END'
RE="$1" awk -v n=1 -v q='"' '$0 ~ ENVIRON["RE"] { sub(/n/, ""); n++ } $1 ~ q ".*" q'
END
is "the check sees them" "$(matched_by_v "$tmp/bad" "$tmp/good" | sed 's,.*/,,' | tr '\n' ' ')" "bad: cut bad: re "
is "no regular expression comes to awk by -v" \
	"$(matched_by_v tests/[!h]*/*.t tests/*/*.sh tests/lib/interpreters tests/*/check tests/kernels/fetch $(find contrib -type f) .ci/run)" ""

# echoed FILE...: prints "FILE:LINE: ECHO" of each echo(1) with an expansion in its arguments: dash's echo
# interprets backslashes in it.
echoed() {
	awk '{ line = $0
		while (match(line, /(^|[^A-Za-z0-9_.\/-])echo([ \t]+([^ \t;|&()"\047]|"([^"\\]|\\.)*"|"[^"]*$|\047[^\047]*\047)+)*/)) {
			if (substr(line, RSTART, RLENGTH) ~ /[$`]/) print FILENAME ":" FNR ": " substr(line, RSTART, RLENGTH)
			line = substr(line, RSTART + RLENGTH)
		} }' "$@"
}
cat >"$tmp/bad" <<'END'
echo "load: $file is there already" >&2
there=$(echo "SELECT '$name';" | ask)
x && echo -n `date`
known $p || echo $p
sh -c 'x || echo $?'
echo gcc "$(gcc -v)"
echo plain "and $(more
END
cat >"$tmp/good" <<'END'
printf '%s\n' "$file"; echo done; x $y
v=$(cat "$file" || echo unknown).$(date)
usage() { echo "usage: a [-b] FILE..." >&2; exit $2; }
echo_all "$x" -echo "$y"
END
is "the check sees each echo of an expansion" "$(echoed "$tmp/bad" "$tmp/good" | sed 's,.*/\([a-z]*:[0-9]*\): .*,\1,' | tr '\n' ' ')" \
	"bad:1 bad:2 bad:3 bad:4 bad:5 bad:6 bad:7 "
is "no echo in contrib has one" "$(echoed $(find contrib -type f ! -name "*.md"))" ""
done_testing
