#!/bin/sh
# Names from an archive equal the names from the files, which are gone.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"
. "$tests/lib/archive-lib.sh"

mkdir "$tmp/live" "$tmp/empty" "$tmp/debug"
live=$tmp/live
cat >"$tmp/f.c" <<'X'
#include <stdio.h>
#include <string.h>
int exported(const char *s) { return puts(s) + (int)strlen(s); }
static __attribute__((noinline, used)) int hidden(int x) { return x * 5 + getc(stdin); }
int other(int x) { return hidden(x) + exported("x"); }
#ifdef MAIN
int main(int argc, char **argv) { return other(argc) + argv[0][0]; }
#endif
X
cat >"$tmp/f.cc" <<'X'
#include <map>
#include <string>
namespace ns {
static std::map<std::string, int> all;
struct thing { int n; __attribute__((noinline)) int get(const std::string &s) { return all[s] + n; } };
static __attribute__((noinline)) int hidden(thing &t, int i) { return t.get(std::to_string(i)); }
int visible(int i) { thing t{i}; return hidden(t, i); }
}
X
gcc -g -O1 -DMAIN -Wl,--build-id -o "$live/normal" "$tmp/f.c"
gcc -O1 -shared -fPIC -Wl,--build-id -o "$live/bare.so" "$tmp/f.c" && strip "$live/bare.so"
gcc -O1 -shared -fPIC -Wl,-z,now -fcf-protection -Wl,--build-id -o "$live/now.so" "$tmp/f.c" && strip "$live/now.so"
g++ -g -O1 -shared -fPIC -Wl,--build-id -o "$live/cxx.so" "$tmp/f.cc"
id=$(build_id "$live/cxx.so")
mkdir -p "$(dirname "$(where "$tmp/debug" "$id")")"
objcopy --only-keep-debug "$live/cxx.so" "$(where "$tmp/debug" "$id")"
strip "$live/cxx.so"
list="normal bare.so now.so cxx.so"
if command -v go >/dev/null; then
	printf 'package main\nimport "fmt"\n//go:noinline\nfunc work(n int) int { return n * n }\nfunc main() { fmt.Println(work(10)) }\n' >"$tmp/f.go"
	(cd "$tmp" && export GOCACHE="$tmp/go" CGO_ENABLED=0 &&
		go build -o "$live/go" f.go && go build -ldflags='-s -w' -o "$live/gostrip" f.go) >"$tmp/go.log" 2>&1 || diag "$(cat "$tmp/go.log")"
	[ ! -e "$live/gostrip" ] || list="$list go gostrip"
else
	skip 'a Go program' 'no go'
fi
# Stubs of indirect functions: lld has them in .iplt, with relocations in .rela.dyn.
cat >"$tmp/i.c" <<'X'
int fast(void) { return 1; }
static int (*choose(void))(void) { return fast; }
static int hidden_choice(void) __attribute__((ifunc("choose")));
int call(void) { return hidden_choice() + 1; }
X
stubs=
for ld in bfd lld; do
	if gcc -O1 -shared -fPIC -fuse-ld=$ld -Wl,--build-id -o "$live/$ld.so" "$tmp/i.c" 2>"$tmp/err"; then
		stubs="$stubs $ld.so"
	else
		skip "stubs of indirect functions by $ld" "$(head -n 1 "$tmp/err")"
	fi
done
list="$list $stubs"
# Segments that are not at the addresses they state; more than one of them is executable.
cat >"$tmp/l.s" <<'X'
.section .text.a, "ax"
.globl a; .type a, @function; a: .skip 5000, 0x90; .size a, 5000
.section .text.z, "ax"
.globl z; .type z, @function; z: .skip 64, 0x90; .size z, 64
X
cat >"$tmp/l.ld" <<'X'
PHDRS { r PT_LOAD FLAGS(4); a PT_LOAD FLAGS(5); z PT_LOAD FLAGS(5); n PT_NOTE; }
SECTIONS {
	. = 0x200000;
	.note.gnu.build-id : { *(.note.gnu.build-id) } :r :n
	. = 0x71a1a0;
	.text : { *(.text.a) } :a
	. = 0x51000000 + 0x10;
	.text.z : { *(.text.z) } :z
}
X
as -o "$tmp/l.o" "$tmp/l.s" && ld -T "$tmp/l.ld" --build-id -z max-page-size=4096 -o "$live/layout" "$tmp/l.o" 2>/dev/null
list="$list layout"

for f in $list; do
	case $f in go*) id=$(go_id "$live/$f") step=301 ;; *) id=$(build_id "$live/$f") step=5 ;; esac
	capture "$live/$f" $step "$id" >"$tmp/$f.bin"
	named "$tmp/$f.want" --debug-dir "$tmp/debug" "$tmp/$f.bin"
	status "$f is archived" 0 cprof-archive -v -d "$tmp/thin" --debug-dir "$tmp/debug" "$tmp/$f.bin"
	like "$f: it says so" "$(cat "$tmp/err")" '^cprof-archive: 1 file: 1 written \(.* of .*\), 0 there already$'
	like "$f: -v lists it" "$(cat "$tmp/err")" "^  written  .*/$f \(.*; [0-9]+ of [0-9]+ bytes\)$"
	ok "$f: in the layout of debuggers" test -s "$(where "$tmp/thin" "$id")"
	ok "$f: also with --debug" cprof-archive --debug -d "$tmp/fat" --debug-dir "$tmp/debug" "$tmp/$f.bin"
done
mv "$live" "$tmp/elsewhere" && mkdir "$live"
for f in $list; do
	for a in thin fat; do
		ok "$f: cprof-sym reads $a" named "$tmp/got" --debug-dir "$tmp/$a" "$tmp/$f.bin"
		same "$f: the same names by $a, the file is gone" "$tmp/got" "$tmp/$f.want"
	done
	ok "$f has names" some "$tmp/$f.want" 5
done
if [ -e "$tmp/elsewhere/gostrip" ]; then
	go=$BUILD/tests/names-golang x=$(where "$tmp/thin" "$(go_id "$tmp/elsewhere/gostrip")")
	"$go" random "$tmp/elsewhere/gostrip" 2000 >"$tmp/addresses"
	"$go" chain "$tmp/elsewhere/gostrip" <"$tmp/addresses" >"$tmp/want"
	"$go" chain "$x" <"$tmp/addresses" >"$tmp/got"
	same "Go's inlined functions and lines" "$tmp/got" "$tmp/want"
	ok 'there are some' test "$(grep -c '\.go:' "$tmp/got")" -gt 2000
fi
ok 'exported functions and stubs' grep -q ' puts@plt+' "$tmp/bare.so.want"
ok 'stubs of .plt.sec or .plt.got' grep -q ' puts@plt+' "$tmp/now.so.want"
for f in $stubs; do
	ok "$f: stubs of indirect functions" grep -q ' hidden_choice@plt+' "$tmp/$f.want"
done
ok 'internal functions of C++ by the debug file' grep -q ' ns::hidden+.* debug' "$tmp/cxx.so.want"
ok 'both segments' grep -q ' z+60 ' "$tmp/layout.want"

# Now another build is at the path.
sed 's/x \* 5/x * 7/' "$tmp/f.c" >"$tmp/f2.c"
gcc -O1 -DMAIN -Wl,--build-id -o "$live/normal" "$tmp/f2.c"
ok 'after an upgrade' named "$tmp/got" --debug-dir "$tmp/thin" "$tmp/normal.bin"
same 'the old build has the old names' "$tmp/got" "$tmp/normal.want"
status 'the new build under the old ID' 0 cprof-archive -v -d "$tmp/new" "$tmp/normal.bin"
like 'it is not taken' "$(cat "$tmp/err")" '1 file: 0 written, 0 there already; not archived: 1 build-id-mismatch$'
is 'and nothing is there' "$(find "$tmp/new" -type f)" ""
status 'with an archive it is there already' 0 cprof-archive -d "$tmp/thin" "$tmp/normal.bin"
like 'and no file is asked for' "$(cat "$tmp/err")" '1 file: 0 written, 1 there already$'

# Other programs read the archived files.
quiet() { said=$("$@" 2>&1 >/dev/null) && [ -z "$said" ] || { echo "$said"; return 1; }; }
for a in thin fat; do
	for f in normal bare.so cxx.so layout; do
		x=$(where "$tmp/$a" "$(build_id "$tmp/elsewhere/$f")")
		ok "readelf reads $f ($a) without a word" quiet readelf -lSsnW "$x"
		is "$f ($a): loads as in the original" "$(readelf -lW "$x" | grep LOAD)" "$(readelf -lW "$tmp/elsewhere/$f" | grep LOAD)"
	done
done
lines() { readelf --debug-dump=decodedline "$1" 2>/dev/null | grep -c '^f\.c'; }
x=$(where "$tmp/fat" "$(build_id "$tmp/elsewhere/normal")")
is 'the DWARF is there' "$(lines "$x")" "$(lines "$tmp/elsewhere/normal")"
is 'in the thin one it is not' "$(lines "$(where "$tmp/thin" "$(build_id "$tmp/elsewhere/normal")")")" 0
if command -v eu-readelf >/dev/null; then
	ok 'eu-readelf reads it' quiet eu-readelf -lSsn "$x"
else
	skip 'eu-readelf reads it' 'no eu-readelf'
fi
if command -v gdb >/dev/null; then
	strip -o "$live/normal" "$tmp/elsewhere/normal"
	gdb -nx -batch -iex "set debug-file-directory $tmp/fat" -ex 'info line hidden' "$live/normal" >"$tmp/gdb" 2>&1
	like 'gdb has lines by it' "$(cat "$tmp/gdb")" 'Line 4 of .*f\.c'
	unlike 'and nothing to say' "$(cat "$tmp/gdb")" 'warning|rror|directory'
else
	skip 'gdb has lines by it' 'no gdb'
fi

# A file whose segments name Go's ID and whose sections a GNU one (Go 1.24) is archived under both.
cat >"$tmp/a.s" <<'X'
.section .note.go.buildid, "a", @note
.p2align 2
.long 4, 12, 4
.ascii "Go\0\0go1.24/build"
.text
.globl w; .type w, @function; w: .skip 64, 0x90; .size w, 64
X
cat >"$tmp/a.ld" <<'X'
PHDRS { all PT_LOAD FLAGS(5); note PT_NOTE FLAGS(4); }
SECTIONS {
	. = 0x400000 + SIZEOF_HEADERS;
	.note.gnu.build-id : { *(.note.gnu.build-id) } :all
	.note.go.buildid : { *(.note.go.buildid) } :all :note
	.text : { *(.text) } :all
}
X
as -o "$tmp/a.o" "$tmp/a.s" && ld -T "$tmp/a.ld" -e w --build-id=0x0011223344556677 -o "$live/apart" "$tmp/a.o"
gnu=0011223344556677 go=$(go_id "$live/apart")
for id in $go $gnu; do
	capture "$live/apart" 16 "$id" >"$tmp/apart.$id.bin"
done
for id in $go $gnu; do
	status "two IDs: a capture of $(echo $id | cut -c 1-16)" 0 cprof-archive -d "$tmp/apart.$id" "$tmp/apart.$id.bin"
	like '  is archived' "$(cat "$tmp/err")" '1 file: 1 written'
	for of in $go $gnu; do
		ok "  read by $(echo $of | cut -c 1-16)" named "$tmp/got" --symfs "$tmp/empty" --debug-dir "$tmp/apart.$id" "$tmp/apart.$of.bin"
		ok '  all is named' test "$(grep -c ' w+' "$tmp/got")" = 16
	done
	status '  again' 0 cprof-archive -d "$tmp/apart.$id" "$tmp/apart.$gnu.bin"
	like '  nothing is written' "$(cat "$tmp/err")" '1 file: 0 written, 1 there already$'
done

# Files of wakers' stacks are archived, also if no sample has them.
waker=$tmp/elsewhere/normal
main=0x$(nm "$waker" | sed -n 's/ T main$//p')
{ segment; process 1; process 2; file 1 "$waker" "$(build_id "$waker")"; loads 1 2 "$waker"
	echo 0x7000000 | frames 1 exact 1
	echo "frame id=2 process=2 kind=return address=$((main + 8))"
	echo 'node id=17 parent=0 frame=2'
	echo 'woken time=2000 thread=1 slept=500 queued=10 by=task waker=2 user=17'
	finish; } | cprof-dump -r >"$tmp/waker.bin"
named "$tmp/want" "$tmp/waker.bin"
ok 'a waker has names' grep -q ' main+8 symtab' "$tmp/want"
status '  its file is archived' 0 cprof-archive -v -d "$tmp/waker" "$tmp/waker.bin"
named "$tmp/got" --symfs "$tmp/empty" --debug-dir "$tmp/waker" "$tmp/waker.bin"
same '  and gives the same names' "$tmp/got" "$tmp/want"

# A large library, whichever is installed
for big in /usr/lib/x86_64-linux-gnu/libLLVM-*.so.1 /usr/lib/gcc/*/*/cc1 /usr/libexec/gcc/*/*/cc1; do
	[ -e "$big" ] || continue
	capture "$big" 100003 >"$tmp/big.bin"
	named "$tmp/big.want" "$tmp/big.bin"
	ok 'a large library' cprof-archive -d "$tmp/big" "$tmp/big.bin"
	x=$(where "$tmp/big" "$(build_id "$big")")
	ok "${big##*/}: a fifth of the file at most" test $(($(stat -L -c %s "$x") * 5)) -le "$(stat -L -c %s "$big")"
	named "$tmp/got" --symfs "$tmp/empty" --debug-dir "$tmp/big" "$tmp/big.bin"
	same "${big##*/}: the same names" "$tmp/got" "$tmp/big.want"
	break
done
done_testing
