# For tests of source lines: a program with debug information whose lines are counted independently.
# shellcheck shell=sh disable=SC2154 # lib.sh sets tmp, tests and here
for tool in gcc python3 readelf objdump; do
	command -v $tool >/dev/null || skip_all "$tool is not here"
done
# counts COMMAND...: the independent count, see annotate-count.py
counts() { python3 "$here/annotate-count.py" "$@"; }
cp "$tests/data/annotated.c" "$tmp"
(cd "$tmp" && gcc -g -O1 -Wl,--build-id -o annotated annotated.c) || exit 1
program=$tmp/annotated

# made SEED: $tmp/made.text and made.bin, random stacks of the program
made() { counts make "$program" "$1" >"$tmp/made.text" && cprof-dump -r "$tmp/made.text" >"$tmp/made.bin" || exit 1; }
