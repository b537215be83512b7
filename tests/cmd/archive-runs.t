#!/bin/sh
# An archive with many writers at once, with killed writers, and on disks that are too small
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"
. "$tests/lib/archive-lib.sh"

mkdir "$tmp/live" "$tmp/debug"
live=$tmp/live
cat >"$tmp/f.c" <<'X'
#include <stdio.h>
int exported(const char *s) { return puts(s); }
static __attribute__((noinline, used)) int hidden(int x) { return x * 5 + getc(stdin); }
int other(int x) { return hidden(x) + exported("x"); }
X
gcc -g -O1 -shared -fPIC -Wl,--build-id -o "$live/f.so" "$tmp/f.c"
id=$(build_id "$live/f.so")
mkdir -p "$(dirname "$(where "$tmp/debug" "$id")")"
objcopy --only-keep-debug "$live/f.so" "$(where "$tmp/debug" "$id")"
cp "$live/f.so" "$tmp/whole.so"
strip "$live/f.so"
capture "$live/f.so" 3 >"$tmp/f.bin"
names_by() { named "$tmp/got" --debug-dir "$1" "$tmp/f.bin"; }
debug="--debug-dir $tmp/debug"

# An archive grows from nothing to everything.
a=$tmp/a
status 'a directory is made' 0 cprof-archive -v -d "$a" --debug-dir "$tmp/live" "$tmp/f.bin"
like 'exported functions are kept' "$(cat "$tmp/err")" 'f\.so \(dynsym frames; '
status 'again' 0 cprof-archive -v -d "$a" --debug-dir "$tmp/live" "$tmp/f.bin"
like 'it is there' "$(cat "$tmp/err")" '0 written, 1 there already$'
status 'a debug file has come' 0 cprof-archive -v -d "$a" $debug "$tmp/f.bin"
like 'its symbols are added' "$(cat "$tmp/err")" 'f\.so \(symtab dynsym; '
status 'DWARF is asked for' 0 cprof-archive -v --debug -d "$a" $debug "$tmp/f.bin"
like 'it is added' "$(cat "$tmp/err")" 'f\.so \(symtab dynsym dwarf; '
sum=$(cksum <"$(where "$a" "$id")")
status 'DWARF is not asked for any more' 0 cprof-archive -v -d "$a" $debug "$tmp/f.bin"
status 'nor is there a debug file' 0 cprof-archive -v -d "$a" --debug-dir "$tmp/live" "$tmp/f.bin"
is 'nothing gets lost' "$(cksum <"$(where "$a" "$id")")" "$sum"
status 'two captures, one of them from standard input' 0 sh -c 'cprof-archive -d "$1" $2 - "$3" <"$3"' - "$tmp/two" "$debug" "$tmp/f.bin"
like 'a file is one file' "$(cat "$tmp/err")" '^cprof-archive: 1 file: 1 written'
ok 'a stream of two segments' sh -c 'cat "$1" "$1" | cprof-archive -d "$2" '"$debug" - "$tmp/f.bin" "$tmp/seg"
same 'the same bytes' "$(where "$tmp/seg" "$id")" "$(where "$tmp/two" "$id")"
names_by "$a" && cp "$tmp/got" "$tmp/want"

# First without the file that ran, from its debug file; the rest later.
mv "$live/f.so" "$tmp/f.so"
status 'the file is gone' 0 cprof-archive -v --debug -d "$tmp/late" $debug "$tmp/f.bin"
like 'the debug file is not' "$(cat "$tmp/err")" 'f\.so \(symtab dwarf; '
status 'the file is gone, and no other' 0 cprof-archive -v -d "$tmp/none" "$tmp/f.bin"
like 'it says so' "$(cat "$tmp/err")" '0 written, 0 there already; not archived: 1 no-file$'
mv "$tmp/f.so" "$live/f.so"
status 'the file is back, the debug file is gone' 0 cprof-archive -v -d "$tmp/late" "$tmp/f.bin"
like 'both are in it' "$(cat "$tmp/err")" 'f\.so \(symtab dynsym dwarf; '
mv "$live/f.so" "$tmp/f.so"
names_by "$tmp/late"
same 'and give all names' "$tmp/got" "$tmp/want"
thin=$tmp/thin
mv "$tmp/f.so" "$live/f.so"
cprof-archive -d "$thin" --debug-dir "$tmp/live" "$tmp/f.bin" 2>"$tmp/err"
mv "$live/f.so" "$tmp/f.so"
status 'DWARF is added to a thin one, the file is gone' 0 cprof-archive -v --debug -d "$thin" $debug "$tmp/f.bin"
like 'all is in it' "$(cat "$tmp/err")" 'f\.so \(symtab dynsym dwarf; '
names_by "$thin"
same 'and gives all names, too' "$tmp/got" "$tmp/want"
mv "$tmp/f.so" "$live/f.so"

# Files that are already there
x=$(where "$tmp/cut" "$id")
mkdir -p "$(dirname "$x")"
head -c 3000 "$(where "$a" "$id")" >"$x"
status 'a file that was cut short' 0 cprof-archive -d "$tmp/cut" $debug "$tmp/f.bin"
same 'is replaced' "$x" "$(where "$tmp/seg" "$id")"
: >"$x"
ok 'an empty one' cprof-archive -d "$tmp/cut" $debug "$tmp/f.bin"
same 'is replaced, too' "$x" "$(where "$tmp/seg" "$id")"
cp "$(where "$tmp/debug" "$id")" "$x"
status 'one of another program' 0 cprof-archive --debug -d "$tmp/cut" $debug "$tmp/f.bin"
like 'is told of' "$(cat "$tmp/err")" '1 there by another program and left alone$'
same 'and left alone' "$x" "$(where "$tmp/debug" "$id")"
gcc -shared -fPIC -Wl,--build-id -DX=1 -o "$x" -x c - <<'X'
int another;
X
status 'one of another build' 0 cprof-archive -d "$tmp/cut" $debug "$tmp/f.bin"
same 'is replaced as well' "$x" "$(where "$tmp/seg" "$id")"

# A cut file that nobody replaces is reported as damaged, not as missing.
mkdir "$tmp/bare"
mv "$live/f.so" "$tmp/f.so.gone"
for n in 0 50 200 3000; do
	head -c $n "$(where "$a" "$id")" >"$x"
	names_by "$tmp/cut"
	like "of an archived file the first $n bytes" "$(cat "$tmp/err")" 'f\.so \(damaged\)'
done
is 'which file is told' "$(sources "$tmp/named.bin")" "1 damaged none $x"
names_by "$tmp/bare"
like 'none at all' "$(cat "$tmp/err")" 'f\.so \(no-file\)'
mv "$tmp/f.so.gone" "$live/f.so"

# Captures with nothing to archive create nothing.
{ segment; finish; } | cprof-dump -r >"$tmp/nothing.bin"
status 'a capture without files' 0 cprof-archive -d "$tmp/bare" "$tmp/nothing.bin"
status 'an empty input' 3 cprof-archive -d "$tmp/bare" /dev/null
is 'write nothing' "$(ls -A "$tmp/bare")" ''

# Links that lead elsewhere
mkdir "$tmp/linked" "$tmp/outside"
ln -s "$tmp/outside" "$tmp/linked/.build-id"
status 'a folder that is a link' 1 cprof-archive -d "$tmp/linked" $debug "$tmp/f.bin"
rm "$tmp/linked/.build-id" && mkdir "$tmp/linked/.build-id" && ln -s "$tmp/outside" "$(dirname "$(where "$tmp/linked" "$id")")"
status 'a folder below that is one' 1 cprof-archive -d "$tmp/linked" $debug "$tmp/f.bin"
rm "$(dirname "$(where "$tmp/linked" "$id")")" && mkdir "$(dirname "$(where "$tmp/linked" "$id")")"
echo precious >"$tmp/outside/file"
ln -s "$tmp/outside/file" "$(where "$tmp/linked" "$id")"
status 'a file that is one' 0 cprof-archive -d "$tmp/linked" $debug "$tmp/f.bin"
is 'nothing was written outside' "$(cat "$tmp/outside/file") $(ls -A "$tmp/outside")" 'precious file'

# No space, no directory, invalid input
status 'no room' 1 sh -c 'ulimit -f 1; exec cprof-archive --debug -d "$1" '"$debug"' "$2"' - "$tmp/full" "$tmp/f.bin"
like 'it says where' "$(cat "$tmp/err")" "$tmp/full/\\.build-id/.*\\.debug: File too large"
is 'no half file, no other left' "$(find "$tmp/full" -type f)" ""
status 'no directory' 1 cprof-archive -d "$tmp/none/x/y" "$tmp/f.bin"
: >"$tmp/file"
status 'a file instead' 1 cprof-archive -d "$tmp/file" "$tmp/f.bin"
status 'no such capture' 1 cprof-archive -d "$a" "$tmp/no-such"
status 'a misspelt debug directory' 1 cprof-archive -d "$a" --debug-dir "$tmp/no-such" "$tmp/f.bin"
status 'a wrong option' 2 cprof-archive --no-such
head -c 200 "$tmp/f.bin" >"$tmp/cut.bin"
status 'a capture cut short' 3 cprof-archive -d "$a" "$tmp/cut.bin"
status 'no capture' 3 cprof-archive -d "$a" "$tmp/f.c"
(cat "$tmp/f.bin"; echo garbage) >"$tmp/bad.bin"
status 'a damaged one' 3 cprof-archive -d "$tmp/dam" $debug "$tmp/bad.bin"
same 'what was good is archived' "$(where "$tmp/dam" "$id")" "$(where "$tmp/seg" "$id")"

# Eight writers at once over one directory, half of them with DWARF
for round in 1 2 3; do
	pids=
	for i in 1 2 3 4; do
		cprof-archive -d "$tmp/many" $debug "$tmp/f.bin" 2>"$tmp/err$i" & pids="$pids $!"
		cprof-archive --debug -d "$tmp/many" $debug "$tmp/f.bin" 2>"$tmp/err-d$i" & pids="$pids $!"
	done
	bad=0
	for p in $pids; do wait "$p" || bad=1; done
	is "round $round: all went well" $bad 0
	is "round $round: one file" "$(find "$tmp/many" -type f ! -name lock)" "$(where "$tmp/many" "$id")"
	is "round $round: it has DWARF" "$(readelf -SW "$(where "$tmp/many" "$id")" | grep -c ' \.debug_info *PROGBITS')" 1
	rm -rf "$tmp/many"
done

# Locks of others: those who may only read cannot take the archive's, and those who may write delay it by two
# seconds. A run that waits for ever is ended by the limit.
held=$tmp/held
cprof-archive -d "$held" $debug "$tmp/f.bin" 2>"$tmp/err"
is 'the lock cannot be opened by readers' "$(find "$held/.tmp/lock" -perm /444)" ''
x=$(where "$held" "$id")
rm "$x"
status 'each directory is locked by a reader' 0 flock "$held" flock "$held/.build-id" flock "${x%/*}" \
	flock "$held/.tmp" timeout 100 cprof-archive -d "$held" $debug "$tmp/f.bin"
same '  and the archive is written' "$x" "$(where "$tmp/seg" "$id")"
rm "$x"
status 'the lock is held by a writer' 0 sh -c 'exec 9>>"$1/.tmp/lock" && flock 9 && shift &&
	timeout 100 "$@" 9>&-' - "$held" cprof-archive -d "$held" $debug "$tmp/f.bin"
same '  and the archive is written' "$x" "$(where "$tmp/seg" "$id")"

# Killed in the middle, repeatedly, with a large file
for big in /usr/lib/x86_64-linux-gnu/libLLVM-*.so.1 /usr/lib/gcc/*/*/cc1 /usr/libexec/gcc/*/*/cc1; do
	[ ! -e "$big" ] || break
done
capture "$big" 100003 >"$tmp/big.bin"
cprof-archive -d "$tmp/good" "$tmp/big.bin" 2>"$tmp/err"
want=$(where "$tmp/good" "$(build_id "$big")")
got=$(where "$tmp/kill" "$(build_id "$big")")
killed=0 broken=0 tries=0
while [ $tries -lt 300 ] && [ $killed -lt 3 ]; do
	tries=$((tries + 1))
	cprof-archive -d "$tmp/kill" "$tmp/big.bin" 2>"$tmp/err" &
	sleep "$(awk -v n=$tries 'BEGIN { printf "%.3f", 0.005 * (1 + n % 20) }')"
	kill -9 $! 2>/dev/null
	wait $! 2>/dev/null
	if [ -n "$(find "$tmp/kill/.tmp" -name 'new.*' 2>/dev/null)" ]; then
		killed=$((killed + 1))
		rm -f "$tmp"/kill/.tmp/*
	fi
	if [ -e "$got" ]; then cmp -s "$got" "$want" || broken=$((broken + 1)); rm -f "$got"; fi
done
is 'killed while it was writing' $killed 3
is "no half file under its name in $tries runs" $broken 0
mkdir -p "$tmp/kill/.tmp"
: >"$tmp/kill/.tmp/new.1.2" && touch -d '2 days ago' "$tmp/kill/.tmp/new.1.2"
: >"$tmp/kill/.tmp/new.1.3"
ok 'the next run' cprof-archive -d "$tmp/kill" "$tmp/big.bin"
same 'completes it' "$got" "$want"
is 'and removes what is old' "$(ls "$tmp/kill/.tmp" | grep -v '^lock$')" new.1.3

# Build IDs of all lengths
lib() { gcc -O1 -shared -fPIC -Wl,--build-id="$1" -o "$live/$2.so" "$tmp/f.c"; }
hex() { awk -v n="$1" 'BEGIN { printf "0x"; for (i = 0; i < n; i++) printf "%02x", 16 + i % 200; print "" }'; }
for n in 1 2 7 8 16 20 64 124 125 128; do
	lib "$(hex $n)" l$n
	i=$(hex $n | cut -c3-)
	capture "$live/l$n.so" 7 "$i" >"$tmp/l.bin"
	status "a build ID of $n bytes" 0 cprof-archive -v -d "$tmp/l" "$tmp/l.bin"
	case $n in
	1 | 2 | 7) like 'is none' "$(cat "$tmp/err")" 'not archived: 1 no-build-id$' ;;
	125 | 128) like 'is too long' "$(cat "$tmp/err")" 'not archived: 1 build-id-too-long$' ;;
	*)
		named "$tmp/l.want" "$tmp/l.bin"
		mv "$live/l$n.so" "$tmp/gone.so"
		named "$tmp/got" --debug-dir "$tmp/l" "$tmp/l.bin"
		same 'is found again' "$tmp/got" "$tmp/l.want"
		some "$tmp/got" 5 || fail "names by it" ;;
	esac
done
is 'no file but those' "$(find "$tmp/l" -name '*.debug' | wc -l)" 5
lib "$(hex 8)" padded
capture "$live/padded.so" 7 "$(hex 8 | cut -c3-)000000000000000000000000" >"$tmp/l.bin"
named "$tmp/l.want" "$tmp/l.bin"
ok 'a short one that the kernel has padded' cprof-archive -d "$tmp/pad" "$tmp/l.bin"
is 'has both names' "$(find "$tmp/pad" -name '*.debug' | wc -l)" 2
rm "$live/padded.so"
named "$tmp/got" --debug-dir "$tmp/pad" "$tmp/l.bin"
same 'is found' "$tmp/got" "$tmp/l.want"
# A file that cannot be opened may be a better one.
if [ "$(id -u)" != 0 ] || command -v setpriv >/dev/null; then
	lib "$(hex 20)" closed
	capture "$live/closed.so" 7 "$(hex 20 | cut -c3-)" >"$tmp/l.bin"
	mkdir -m 777 "$tmp/shared"
	chmod 755 "$tmp" "$live"
	as='' && [ "$(id -u)" = 0 ] && as='setpriv --reuid 65534 --regid 65534 --clear-groups'
	$as cprof-archive -d "$tmp/shared" "$tmp/l.bin" 2>/dev/null
	closed=$(find "$tmp/shared" -name '*.debug')
	chmod 000 "$closed" # its owner cannot open it either
	sum=$(cksum "$closed" | cut -d' ' -f1,2)
	status 'a file that cannot be opened' 0 $as cprof-archive -d "$tmp/shared" "$tmp/l.bin"
	like '  is left alone, and reported' "$(cat "$tmp/err")" 'not archived: 1 unreadable-there$'
	is '  it stays' "$(cksum "$closed" | cut -d' ' -f1,2)" "$sum"
fi
done_testing
