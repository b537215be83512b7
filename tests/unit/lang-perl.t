#!/bin/sh
# perl in files: the images of versions, with threads and without, and damaged files.
. "$(dirname "$0")/../lib/lib.sh"
perl=$BUILD/tests/lang-perl
[ "$(uname -m)" = x86_64 ] || skip_all "for x86-64"

# assembly MINOR SYMBOLS: assembly of a file with these variables, and perl's functions
assembly() {
	cat <<-END
		.text
		.globl _start
		_start: ret
	END
	for f in Perl_runops_standard Perl_runops_debug; do
		printf '.globl %s\n.type %s, @function\n%s: .fill 40, 1, 0x90\n\tret\n.size %s, . - %s\n' \
			$f $f $f $f $f
	done
	printf '.section .rodata\n'
	for v in revision:5 "version:$1" subversion:3; do
		printf '.globl PL_%s\n.type PL_%s, @object\n.size PL_%s, 1\nPL_%s: .byte %s\n' \
			"${v%:*}" "${v%:*}" "${v%:*}" "${v%:*}" "${v#*:}"
	done
	printf '.data\n.quad 0\n'
	for v in $2; do
		printf '.globl %s\n.type %s, @object\n.size %s, 8\n%s: .quad 0\n' "$v" "$v" "$v" "$v"
	done
}
# image MINOR SYMBOLS: of this file, stripped
image() {
	assembly "$1" "$2" >"$tmp/x.s"
	gcc -nostdlib -shared -o "$tmp/x" "$tmp/x.s" && strip "$tmp/x" && "$perl" identify "$tmp/x"
}
prefix="usable 1 valid 1 state 1 text 1 loop 41 loop 41 keyed"
unusable="valid 1 state 0 text 1 loop 41 loop 41 keyed 0 curcop 0 stackinfo 0 named-aux 0 nextstate 0"

for row in '32 224 240 0 195' '34 208 224 0 195' '36 208 224 1 195' \
	'38 208 224 1 198' '40 208 224 1 198' '42 208 224 1 202' '44 208 224 1 202'; do
	# shellcheck disable=SC2086 # words
	set -- $row
	version=$(printf '05%02x03' "$1")
	is "5.$1 with threads" "$(image "$1" PL_thr_key)" \
		"language 4 version $version $prefix 1 curcop $2 stackinfo $3 named-aux $4 nextstate $5"
	ok "  damaged copies" "$perl" broken "$tmp/x"
	is "  without" "$(image "$1" 'PL_curstackinfo PL_other PL_curcop')" \
		"language 4 version $version $prefix 0 curcop 16 stackinfo 0 named-aux $4 nextstate $5"
	ok "  damaged copies" "$perl" broken "$tmp/x"
done
for minor in 30 37 46; do
	is "5.$minor is not known" "$(image $minor PL_thr_key)" \
		"language 4 version $(printf '05%02x03' $minor) usable 0 $unusable"
done
is "a file that uses a perl" "$(printf 'extern int PL_thr_key; int f(void) { return PL_thr_key; }\n' |
	gcc -shared -fPIC -nostdlib -o "$tmp/user" -x c - &&
	"$perl" identify "$tmp/user")" "no interpreter"
is "a file without perl" "$("$perl" identify "$perl")" "no interpreter"

# This machine's own
for p in /usr/bin/perl $(ls /usr/lib/x86_64-linux-gnu/libperl.so.5.*.* 2>/dev/null); do
	[ -e "$p" ] || { skip "$p" "it is not installed"; continue; }
	version=$(perl -e 'printf "%02x%02x%02x", $^V =~ /\d+/g')
	like "$p" "$("$perl" identify "$p")" \
		"^language 4 version $version usable 1 valid 1 state 1 text 1 loop [1-9]"
	ok "  damaged copies" "$perl" broken "$p"
done
done_testing
