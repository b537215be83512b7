#!/bin/sh
# cprof-annotate: which sources are opened, and which a stranger's capture or program cannot have opened.
# shellcheck disable=SC2154 # lib.sh sets tmp, tests and here
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/annotate-lib.sh"
made 3
cprof-sym -il "$tmp/made.bin" >"$tmp/named.bin" 2>/dev/null
secret='the secret sentence'
{ echo "$secret" | sed p; sed 1,2d "$tests/data/annotated.c" | sed "s/.*/$secret/"; } >"$tmp/secret"
cp "$tmp/secret" "$tmp/secret.c"
shows() { grep -c "$secret\|h += h / (i | 1)" | sed 's/^[1-9].*/shown/; s/^0$/hidden/'; }

# naming PATH: the capture, in which a program that is not here has its source at PATH
naming() {
	cprof-dump "$tmp/named.bin" | sed \
		"s|path=\"$program\"|path=\"/nothing/here\"|; s|text=\"$tmp/annotated.c\"|text=\"$1\"|" |
		cprof-dump -r
}
naming "$tmp/secret.c" >"$tmp/hostile.bin"
for o in text html; do
	cprof-annotate -o $o work "$tmp/hostile.bin" >"$tmp/out" 2>"$tmp/err"
	is "$o: a path that only the capture names is not opened" "$(shows <"$tmp/out")" hidden
	like "  which is said" "$(cat "$tmp/out")" \
		'not shown: only the capture names it: give its directory with --source-dir'
	like "  and the numbers are there" "$(cat "$tmp/out")" '[0-9.]+ ?%.*19'
	is "  --source-dir" "$(cprof-annotate -o $o --source-dir "$tmp" work "$tmp/hostile.bin" | shows)" \
		shown
	is "a program that is here, with its build ID, vouches for its source" \
		"$(cprof-annotate -o $o work "$tmp/made.bin" | shows)" shown
done
is "whatever the capture says" "$(cprof-dump "$tmp/named.bin" | sed \
	"s|text=\"$tmp/annotated.c\"|text=\"$tmp/secret.c\"|" |
	cprof-dump -r | cprof-annotate work | grep -c "$secret")" 0

# Below --source-dir: the path, then less of it; links do not lead out.
mkdir -p "$tmp/d/deep/$tmp" "$tmp/e"
dir() { cprof-annotate --source-dir "$1" -o html work "$tmp/hostile.bin" | shows; }
is "a directory without the source" "$(dir "$tmp/e")" hidden
cp "$tmp/secret.c" "$tmp/d/deep/secret.c"
is "  nor with it further below" "$(dir "$tmp/d")" hidden
cp "$tmp/secret.c" "$tmp/e"
is "  the name alone" "$(dir "$tmp/e")" shown
cp "$tmp/secret.c" "$tmp/d/deep/$tmp/"
is "  the whole path" "$(dir "$tmp/d/deep")" shown
rm "$tmp/e/secret.c" && ln -s ../secret.c "$tmp/e/secret.c"
is "  a link that leads out" "$(dir "$tmp/e")" hidden
naming "../../../../$tmp/e/../secret.c" >"$tmp/dots.bin"
mkdir "$tmp/f" && is "  dots lead no higher" \
	"$(cprof-annotate --source-dir "$tmp/f" work "$tmp/dots.bin" | shows)" hidden
status "a directory that is not there" 1 cprof-annotate --source-dir "$tmp/g" work "$tmp/made.bin"

# A program whose debug information names another file
program_of() { # NAME: the program with this line table, and the capture of it
	python3 "$here/annotate-count.py" make "$1" 3 | cprof-dump -r
}
liar() { # PATH: a program whose debug information names this file
	sed "1s|^|#line 1 \"$1\"\n|" "$tests/data/annotated.c" >"$tmp/liar.c"
	gcc -g -O1 -Wl,--build-id -o "$tmp/liar" "$tmp/liar.c" && program_of "$tmp/liar" >"$tmp/liar.bin"
}
liar "$tmp/secret"
is "a file without the name of a source goes into no page" \
	"$(cprof-annotate -o html work "$tmp/liar.bin" | shows)" hidden
ln -s secret "$tmp/link.c" && liar "$tmp/link.c"
is "  nor by a link that has one" "$(cprof-annotate -o html work "$tmp/liar.bin" | shows)" hidden
liar "$tmp/secret.c"
is "  a file with such a name does" "$(cprof-annotate -o html work "$tmp/liar.bin" | shows)" shown
if [ "$(id -u)" = 0 ]; then
	chmod 600 "$tmp/secret.c" && chown 65534 "$tmp/liar"
	is "  not if the program is another user's, who cannot read it" \
		"$(cprof-annotate -o html work "$tmp/liar.bin" | shows)" hidden
	is "  nor as text" "$(cprof-annotate work "$tmp/liar.bin" | shows)" hidden
	like "  which is said" "$(cat "$tmp/err"; cprof-annotate work "$tmp/liar.bin")" \
		'it belongs neither to the owner of the program nor to everyone'
	chmod 644 "$tmp/secret.c"
	is "  everyone's" "$(cprof-annotate -o html work "$tmp/liar.bin" | shows)" shown
else
	skip "  not if the program is another user's" "only root can make such a program"
fi
(cd "$tmp" && gcc -g -O1 -Wl,--build-id=none -o anonymous annotated.c) || exit 1
sed "s|path=\"$program\"|path=\"$tmp/anonymous\"|; s/build-id=[0-9a-f]*/build-id=/" "$tmp/made.text" |
	cprof-dump -r >"$tmp/anonymous.bin"
is "a program without a build ID: as text" "$(cprof-annotate work "$tmp/anonymous.bin" | shows)" shown
like "  with a caution" "$(cprof-annotate work "$tmp/anonymous.bin")" \
	'caution: the program has no build ID, only its path identifies it'
is "  not in a page" "$(cprof-annotate -o html work "$tmp/anonymous.bin" | shows)" hidden

# Files of other kinds
other() { # PATH: what is said about it
	liar "$1"
	timeout 20 cprof-annotate work "$tmp/liar.bin" | sed -n 's/^  *not shown: //p'
}
mkfifo "$tmp/pipe.c" && is "a pipe is not opened" "$(other "$tmp/pipe.c")" "not a regular file"
is "  a device" "$(other /dev/zero)" "not a regular file"
is "  a directory" "$(other "$tmp/d")" "not a regular file"
is "  nothing" "$(other "$tmp/none.c")" "no such file here (--source-dir DIR)"
printf 'a\0b' >"$tmp/zero.c" && is "  bytes that are no text" "$(other "$tmp/zero.c")" "the file is not text"
truncate -s 17M "$tmp/large.c" && is "  a file without end" "$(other "$tmp/large.c")" "the file is too large"
printf '\033[2J\033]0;x\007\n%.0s' $(seq 60) >"$tmp/escapes.c" && liar "$tmp/escapes.c"
is "control characters have no effect" "$(cprof-annotate work "$tmp/liar.bin" | grep -c '?\[2J?\]0;x?')$(
	cprof-annotate work "$tmp/liar.bin" | grep -c \
		"$(printf '\033')")" "$(cprof-annotate work "$tmp/liar.bin" | grep -cF '[2J')0"

# Another version of the source
rm "$tmp/secret.c"
touch -d '2030-01-01' "$tmp/annotated.c"
like "a source written after the program has a caution" "$(cprof-annotate work "$tmp/made.bin")" \
	'caution: it was written after the program, so lines may have moved'
touch -d '2001-01-01' "$tmp/annotated.c"
unlike "  one written before has none" "$(cprof-annotate work "$tmp/made.bin")" caution
head -10 "$tests/data/annotated.c" >"$tmp/annotated.c"
like "one that is too short, too" "$(cprof-annotate work "$tmp/made.bin")" \
	'caution: it has only 10 lines: this is another version'
is "  and all numbers" "$(cprof-annotate work "$tmp/made.bin" | grep -c '% *1[4-9]$')" \
	"$(cprof-annotate --source-dir "$tests/data" work "$tmp/made.bin" | grep -cE '% +1[4-9]( |$)')"
rm "$tmp/annotated.c"
like "a missing one is said" "$(cprof-annotate work "$tmp/made.bin")" 'not shown: no such file here'
like "one that was read elsewhere, too" "$(cprof-annotate --source-dir "$tests/data" work \
	"$tmp/made.bin")" "read from $tests/data/annotated.c"
mkdir -p "$tmp/root/$tmp" && cp "$program" "$tests/data/annotated.c" "$tmp/root/$tmp" && rm "$program"
is "--symfs: programs and sources of a tree" \
	"$(cprof-annotate --symfs "$tmp/root" -o html work "$tmp/made.bin" | shows)" shown
done_testing
