#!/bin/sh
# A small capture cut at every byte, with every bit and byte flipped, read in one process; and at some of the
# bytes by each program. Both as built and with the sanitizers.
. "$(dirname "$0")/../lib/lib.sh"

cprof-dump -r "$tests/data/small.txt" >"$tmp/small.bin"
cprof-dump "$tmp/small.bin" >"$tmp/small.txt"
same "the small capture is whole" "$tests/data/small.txt" "$tmp/small.txt"

# exhaust DESCRIPTION PROGRAM STEP COMMAND...: combines its checks into one
exhaust() {
	d=$1 e=$2
	shift 2
	if "$e" "$tmp/small.bin" "$@" >"$tmp/tap" 2>&1; then
		pass "$d"
	else
		fail "$d"
		diag "$(grep -v '^ok' "$tmp/tap" | head -20)"
	fi
}

san=$top/build/san
checks="base-check stream-check stream-descriptors capture-check capture-maps"
case $BUILD in
*san) ;;
*)
	if (cd "$top" && env -u MAKEFLAGS -u MAKELEVEL make -s SAN=1 offline build/san/tests/stream-exhaust \
		$(printf 'build/san/tests/%s ' $checks)) >"$tmp/make" 2>&1; then
		pass "a build with sanitizers"
	else
		fail "a build with sanitizers"
		diag "$(tail -20 "$tmp/make")"
	fi
	for t in $checks; do
		ok "$t with sanitizers" "$san/tests/$t"
	done
	exhaust "every cut and every bit, with sanitizers" "$san/tests/stream-exhaust"
	;;
esac

exhaust "every cut and every bit" "$BUILD/tests/stream-exhaust"
for p in cprof-dump cprof-sym cprof-fold cprof-top; do
	[ -x "$BIN/$p" ] || continue
	exhaust "each third cut and byte, by $p" "$BUILD/tests/stream-exhaust" 3 "$BIN/$p"
	[ "$BUILD" = "$san" ] || [ ! -x "$san/bin/$p" ] ||
		exhaust "cuts and flips, by $p with sanitizers" "$BUILD/tests/stream-exhaust" 29 "$san/bin/$p"
done
done_testing
