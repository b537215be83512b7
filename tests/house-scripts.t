#!/bin/sh
# Scripts mean the same to each awk.
. "$(dirname "$0")/lib.sh"
cd "$top" || exit 1

# matched_by_v FILE...: "FILE: NAME" of each variable that awk gets by -v and matches as a whole regular expression. In it gawk
# takes \[ and \( as escapes of the string, mawk does not; by the environment it comes as it is.
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
	"$(matched_by_v tests/[!h]*.t tests/*.sh tests/interpreters tests/*/check tests/kernels/fetch contrib/*.sh contrib/rows contrib/*/* .ci/run)" ""
done_testing
