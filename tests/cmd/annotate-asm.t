#!/bin/sh
# cprof-annotate -a: instructions with their shares, as objdump's addresses count them; objdump as a child.
# shellcheck disable=SC2154 # lib.sh sets tmp, tests and here
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/annotate-lib.sh"
made 2

# rows: the rows of the instructions, without those of the source
rows() { sed '1,/^  instructions of/d' | counts shown; }
for f in work climb; do
	counts asm "$program" $f <"$tmp/made.text" >"$tmp/want"
	cprof-annotate -a $f "$tmp/made.bin" >"$tmp/text" 2>"$tmp/err"
	rows <"$tmp/text" >"$tmp/got"
	same "instructions of $f" "$tmp/want" "$tmp/got"
done
like "  which has rows" "$(wc -l <"$tmp/want")" '^[1-9]'
like "  a call has the share of its callees" "$(grep 'call.*<work>' "$tmp/text")" \
	'^(  *| *[0-9.]+%) +[1-9][0-9.]*% '
like "  source lines are between them" "$(cat "$tmp/text")" '^ +annotated.c:26  +work\(n\);$'
is "  each instruction of the function is there" \
	"$(cprof-annotate -C 999 -a climb "$tmp/made.bin" | sed '1,/instructions of/d' | grep -cE \
	'[0-9a-f]{3,}    [a-z]')" \
	"$(objdump -d --no-show-raw-insn "$program" | sed -n '/<climb>:/,/^$/p' | grep -c '^ ')"
cprof-annotate -a mix "$tmp/made.bin" >"$tmp/text"
like "an inlined function is shown where it is" "$(cat "$tmp/text")" '^  instructions of work in '
is "  with its own share alone" "$(rows <"$tmp/text" | awk '{ n += $2 } END { printf "%.1f", n }')" \
	"$(sed -n 's/^  self \([0-9.]*\) .*/\1/p' "$tmp/text" | awk '{ printf "%.1f", $1 }')"
like "-o html has them" "$(cprof-annotate -o html -a work "$tmp/made.bin")" '<th scope="col">address'

# The child
status "without objdump" 1 cprof-annotate --objdump /nothing/objdump -a work "$tmp/made.bin"
is "  the message names it" "$(cat "$tmp/err")" \
	"cprof-annotate: --asm requires /nothing/objdump, which is not installed (binutils has objdump)"
mkdir "$tmp/empty"
status "nor in PATH" 1 env PATH="$tmp/empty" "$BIN/cprof-annotate" -a work "$tmp/made.bin"
status "lines need none" 0 env PATH="$tmp/empty" "$BIN/cprof-annotate" work "$tmp/made.bin"
printf '#!/bin/sh\nexec yes "  401000:	nop"\n' >"$tmp/endless" && printf '#!/bin/sh\nexit 3\n' \
	>"$tmp/failing"
printf '#!/bin/sh\nkill -9 $$\n' >"$tmp/killed" && printf '#!/bin/sh\necho "$@"\n' >"$tmp/silent"
chmod +x "$tmp/endless" "$tmp/failing" "$tmp/killed" "$tmp/silent"
said() { timeout 60 cprof-annotate -C 0 --objdump "$tmp/$1" -a work "$tmp/made.bin" | sed -n \
	's/.* failed: //p'; }
is "endless output is cut" "$(said endless)" "its output is larger than 16 MiB"
is "a failure is said" "$(said failing)" "it ended with status 3"
is "  a signal" "$(said killed)" "signal 9 ended it"
is "  no instruction" "$(said silent)" "it printed no instruction"

# The file must be the one that ran
sed 's/h \/ 3/h \/ 5/' "$tests/data/annotated.c" >"$tmp/annotated.c"
(cd "$tmp" && gcc -g -O1 -Wl,--build-id -o annotated annotated.c) || exit 1
cprof-sym "$tmp/made.bin" >"$tmp/other.bin" 2>/dev/null
status "a file of another build has no functions" 1 cprof-annotate -a work "$tmp/made.bin"
leaf=$(sed -n 's/^frame id=\([0-9]*\).*kind=exact.*/\1/p' "$tmp/made.text" | head -1)
{
	grep -v -e '^end' "$tmp/made.text" | sed '$d'
	echo 'string id=1 text="work"'
	echo "symbol frame=$leaf from=0 level=0 source=symtab name=1 offset=0 file=0 line=0"
	tail -2 "$tmp/made.text"
} | cprof-dump -r >"$tmp/stale.bin"
like "  nor instructions" "$(cprof-annotate -a work "$tmp/stale.bin")" \
	'instructions: none, because the function is not in a file that is here'
done_testing
