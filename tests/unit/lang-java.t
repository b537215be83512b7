#!/bin/sh
# HotSpot's layout: made-up memory with lies in it, and what each JDK of this machine says of itself.
. "$(dirname "$0")/../lib/lib.sh"
java=$BUILD/tests/lang-java
[ "$(uname -m)" = x86_64 ] || skip_all "for x86-64"

ok "made-up JVMs" "$java" made

# layout JAVA: runs it, and prints its layout once it is there
layout() {
	top=$(dirname "$(dirname "$(readlink -f "$1")")")
	lib=$(find -L "$top" -name libjvm.so -path '*server*' | head -n 1)
	"$1" -cp "$here/../lang" "$here/../lang/Wait.java" >/dev/null 2>&1 &
	pid=$!
	for _ in $(seq 100); do
		"$java" live $pid "$lib" >"$tmp/live" 2>/dev/null && grep -q '^heaps' "$tmp/live" && break
		sleep 0.1
	done
	kill $pid
	wait $pid 2>/dev/null
	cat "$tmp/live"
}
# number NAME: of the layout
number() { tr ' ' '\n' <"$tmp/live" | grep -A 1 -x -- "$1" | tail -n 1; }

for home in /usr/lib/jvm/*; do
	[ ! -L "$home" ] && [ -x "$home/bin/java" ] || continue
	layout "$home/bin/java" >/dev/null
	want=$("$home/bin/java" -version 2>&1 |
		sed -n 's/.* version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p')
	is "${home##*/}: its version" "$(number version)" "$want"
	like "... its code heaps, and the interpreter in one of them" "$(cat "$tmp/live")" \
		'^heaps [1-3] shift [67] interpreter [0-9]* barrier [0-9]* valid 1'
	like "... the interpreter's blob is among the blobs" "$(cat "$tmp/live")" '^blob [0-9]+ Interpreter$'
	if [ "$want" -ge 21 ]; then
		like "... and that of the return barrier" "$(cat "$tmp/live")" '^heaps .* barrier [1-9]'
	fi
	row=
	case $want in
	17) row="compile-id 304 deopt 128 deopt-as 0 orig-pc 300 method 112 frame-size 28 frame-done 20
		code-begin 32 code-end 40 code 0 blob-name 96 const-bytes 48 const-pool 8 const-words 24
		const-flags 28 const-code 32 const-name 34 const-signature 36 pool-bytes 72 pool-source 54
		klass-name 24 symbol-length 4 symbol-body 6 const 8 bcp-slot 8 u5-more 0 debug 1
		metadata-as 0" ;;
	25) row="compile-id 212 deopt 176 deopt-as 1 orig-pc 208 method 80 frame-size 44 frame-done 54
		code-begin 36 code-end 40 code 1 blob-name 8 const-bytes 56 bcp-slot 8
		u5-more 1 debug 2 metadata-as 2 entry-bytes 64" ;;
	esac
	# shellcheck disable=SC2086 # words
	set -- $row
	got='' wanted=''
	while [ $# -gt 1 ]; do
		got="$got $1 $(number "$1")" wanted="$wanted $1 $2"
		shift 2
	done
	[ -z "$wanted" ] || is "... and the numbers that were found by other means" "$got" "$wanted"
	found=1
done
[ "${found-}" ] || skip "layouts of live JVMs" "no java below /usr/lib/jvm"
done_testing
