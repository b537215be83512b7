#!/bin/sh
# Debug files that share entries in another file (dwz): that file is archived, too.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"
. "$tests/lib/archive-lib.sh"

command -v dwz >/dev/null || skip_all 'no dwz'
mkdir "$tmp/live" "$tmp/live/.debug" "$tmp/empty"
cd "$tmp/live" || exit 1
cat >f.c <<'X'
#include <stdio.h>
struct shared { int numbers[10]; long more; FILE *file; };
static int inner(struct shared *s, int x) { return s->numbers[x & 7] + getc(s->file); }
int WHICH(struct shared *s) { return inner(s, 1) + inner(s, 2); }
int main(void) { struct shared s = { .file = stdin }; return WHICH(&s); }
X
for f in one two; do
	gcc -g -O1 "-DWHICH=$f" -Wl,--build-id -o $f f.c && objcopy --only-keep-debug $f .debug/$f.debug && strip $f
done
(cd .debug && dwz -m common.dwz -M common.dwz one.debug two.debug) || skip_all 'dwz cannot read what gcc writes'
for f in one two; do (cd .debug && objcopy "--add-gnu-debuglink=$f.debug" ../$f); done
common=$(build_id .debug/common.dwz)
capture "$tmp/live/one" 3 >"$tmp/one.bin"
capture "$tmp/live/two" 3 >"$tmp/two.bin"

status 'without --debug' 0 cprof-archive -v -d "$tmp/a" "$tmp/one.bin" "$tmp/two.bin"
like 'it is not needed' "$(cat "$tmp/err")" '^cprof-archive: 2 files: 2 written'
status 'with it' 0 cprof-archive -v --debug -d "$tmp/a" "$tmp/one.bin" "$tmp/two.bin"
like 'it is one more file' "$(cat "$tmp/err")" '^cprof-archive: 3 files: 3 written'
like 'that has DWARF' "$(cat "$tmp/err")" 'written .*/\.debug/common\.dwz \(dwarf; '
ok 'under its build ID' test -s "$(where "$tmp/a" "$common")"
same_section() { objcopy -O binary "--only-section=$1" --set-section-flags "$1=alloc" "$2" "$tmp/x" && objcopy -O binary "--only-section=$1" --set-section-flags "$1=alloc" "$3" "$tmp/y" && [ -s "$tmp/x" ] && cmp "$tmp/x" "$tmp/y"; }
for s in .debug_info .debug_str .debug_abbrev; do
	ok "its $s" same_section $s .debug/common.dwz "$(where "$tmp/a" "$common")"
done
for s in .debug_info .debug_line .gnu_debugaltlink; do
	ok "$s of a file that refers to it" same_section $s .debug/one.debug "$(where "$tmp/a" "$(build_id one)")"
done
status 'once more' 0 cprof-archive --debug -d "$tmp/a" "$tmp/one.bin" "$tmp/two.bin"
like 'all is there' "$(cat "$tmp/err")" '^cprof-archive: 3 files: 0 written, 3 there already$'

# At first the shared file is missing.
mv .debug/common.dwz "$tmp/common.dwz"
status 'it is missing' 0 cprof-archive --debug -d "$tmp/b" "$tmp/one.bin"
like 'that is said' "$(cat "$tmp/err")" '2 files: 1 written .*; not archived: 1 no-file$'
mkdir -p "$(dirname "$(where "$tmp/debug" "$common")")"
cp "$tmp/common.dwz" "$(where "$tmp/debug" "$common")"
status 'it comes later, by its build ID' 0 cprof-archive --debug -d "$tmp/b" --debug-dir "$tmp/debug" "$tmp/one.bin"
like 'and is added' "$(cat "$tmp/err")" '2 files: 1 written .*, 1 there already$'
if command -v gdb >/dev/null; then
	rm -r .debug
	x=$(gdb -nx -batch -iex "set debug-file-directory $tmp/b" -ex 'info line one' -ex 'ptype struct shared' one 2>&1)
	like 'gdb has its lines' "$x" 'Line 4 of .*f\.c'
	like 'and the shared types' "$x" 'long more;'
else
	skip 'gdb has its lines' 'no gdb'
fi
done_testing
