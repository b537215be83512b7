#!/bin/sh
# The static commands in a root with nothing else in it: make check-dist. BIN is the normal build,
# BUILD/static is under test.
. "$(dirname "$0")/lib.sh"
may_record_all
static=$BUILD/static/bin
[ -x "$static/cprof-record" ] || skip_all "they are not built: make static"

root=$tmp/root
mkdir -p "$root/bin" "$root/proc" "$root/sys" "$root/out"
cp "$static"/cprof* "$root/bin/"
is "all commands are static" "$(cd "$BIN" && echo cprof*)" "$(cd "$static" && echo cprof*)"
is "  and want no interpreter and no library" "$(readelf -ld "$static"/* | grep -E 'INTERP|NEEDED')" ""

# inside COMMAND...: runs it in the empty root with /proc and /sys
inside() {
	unshare -m sh -c 'mount --rbind /proc "$1/proc" && mount --rbind /sys "$1/sys" || exit 125
		root=$1
		shift
		exec env -i PATH=/bin "$(command -v chroot)" "$root" "$@"' sh "$root" "$@"
}
for p in "$static"/*; do
	p=${p##*/}
	is "$p says its version" "$(inside "/bin/$p" --version)" "$p $(cat "$BUILD/static/version")"
done

"$BUILD/tests/burn" threads 600 >"$tmp/burn" &
burn=$!
trap 'kill $burn 2>/dev/null; rm -rf "$tmp"' EXIT
inside /bin/cprof-record -q -a 1 >"$root/out/s.bin" 2>"$tmp/err"
is "it records the whole system" "$?: $(cat "$tmp/err")" "0: "
inside /bin/cprof-sym /out/s.bin >"$root/out/s.sym" 2>"$tmp/err"
like "names are looked for" "$?: $(cat "$tmp/err")" '^0: (cprof-sym: [0-9]+ of [0-9]+ frames named .*)?$'
inside /bin/cprof-fold /out/s.sym >"$tmp/folded" 2>"$tmp/err"
is "stacks are folded" "$?: $(cat "$tmp/err")" "0: "
like "with the names of a program outside" "$(grep '^burn;' "$tmp/folded")" ';(first|second)_thread [0-9]+$'
inside /bin/cprof-fold -a /out/s.sym | grep -o '[a-z]_\[k\][; ]' | head -n 1 >"$tmp/kernel"
like "and of the kernel" "$(cat "$tmp/kernel")" '_\[k\]'
inside /bin/cprof-record -q -p $burn 1 >"$root/out/b.bin"
inside /bin/cprof-sym -i -l /out/b.bin >"$tmp/inside" 2>"$tmp/err"
cprof-fold -i -l "$tmp/inside" >"$tmp/inside.folded"
like "with lines, too" "$(cat "$tmp/inside.folded")" 'burn\.c:[0-9]+'
cprof-sym -i -l "$root/out/b.bin" 2>"$tmp/err" | cprof-fold -i -l >"$tmp/outside.folded"
same "lines and inlined calls are those that the normal one finds" "$tmp/inside.folded" "$tmp/outside.folded"
kill $burn
inside /bin/cprof-flame /out/s.sym >"$tmp/flame.html"
like "and there is a flame graph" "$(tail -n 1 "$tmp/flame.html")" '</html>'
for c in "cprof-top -n 5" "cprof-diff --significant" "cprof-dump" "cprof-convert -t perf" "cprof-convert -t pprof" "cprof-convert -t speedscope"; do
	set -- $c
	n=$1
	shift
	f=/out/s.sym
	[ "$n" != cprof-diff ] || f="/out/s.sym /out/s.sym"
	inside "/bin/$n" "$@" $f >"$tmp/inside" 2>&1
	[ "$n" != cprof-diff ] || f="$root/out/s.sym $root/out/s.sym"
	[ "$n" = cprof-diff ] || f="$root$f"
	"$n" "$@" $f >"$tmp/outside" 2>&1
	sed -i "s,$root,,g" "$tmp/outside"
	same "$c says the same as with libraries" "$tmp/inside" "$tmp/outside"
done

# flags [STATIC=1]: prints the libraries that the build uses
flags() { (cd "$top" && make -n "$@" BUILD="$tmp/b" "$tmp/b/obj/common/base/hash.o" | grep -o -- '-DHAVE_[A-Z]*' | sort | xargs); }
is "built with the libraries of the normal ones" "$(flags STATIC=1)" "$(flags)"
DEBUGINFOD_URLS=http://127.0.0.1:1 "$static/cprof-sym" --debuginfod "$root/out/s.bin" >"$tmp/out" 2>"$tmp/err"
is "--debuginfod ends with the reason" "$?: $(cat "$tmp/err")" "1: cprof-sym: --debuginfod: libdebuginfod.so.1 is not available: this program is static"
done_testing
