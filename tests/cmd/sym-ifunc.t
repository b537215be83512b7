#!/bin/sh
# Stubs of indirect functions have the called name, "strlen@plt": the relocation of their slot gives the
# address of the resolver, and the symbol there has that name.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"
[ "$(uname -m)" = x86_64 ] || skip_all 'not x86-64'
command -v gcc >/dev/null && command -v objdump >/dev/null || skip_all 'no gcc, or no objdump'
mkdir "$tmp/none"

cat >"$tmp/lib.c" <<'X'
int fast(void) { return 1; }
static int (*choose(void))(void) { return fast; }
int chosen(void) __attribute__((ifunc("choose")));
int __alias(void) __attribute__((ifunc("choose")));
static int hidden_choice(void) __attribute__((ifunc("choose_hidden")));
static int (*choose_hidden(void))(void) { return fast; }
int call(void) { return hidden_choice() + 1; }
X
cat >"$tmp/main.c" <<'X'
int chosen(void);
int call(void);
int main(void) { return chosen() + call(); }
X
# stubs FILE: prints the addresses of stubs that objdump cannot name
stubs() { objdump -d -w -j .plt -j .plt.sec "$1" 2>/dev/null | sed -n 's/^\([0-9a-f]*\) <\*ABS\*+0x[0-9a-f]*@plt>:/0x\1/p'; }
if gcc -O1 -shared -fPIC -Wl,-Bsymbolic -Wl,--build-id -o "$tmp/lib.so" "$tmp/lib.c" 2>"$tmp/err"; then
	is 'a library: the name of a function that is local, too' "$(stubs "$tmp/lib.so" | ask "$tmp/lib.so" | sed 's/^[^ ]* //' | sort | tr '\n' ' ')" \
		'hidden_choice@plt+0 plt '
	strip "$tmp/lib.so"
	is '  which is not known when stripped' "$(stubs "$tmp/lib.so" | ask "$tmp/lib.so" --debug-dir "$tmp/none" | sed 's/^[^ ]* //' | nameless)" '-'
else
	skip 'a library: the name of a function that is local, too' "$(cat "$tmp/err")"
	skip '  which is not known when stripped' 'no library'
fi

# lld has a section of its own for such stubs, .iplt, with their relocations in .rela.dyn.
if gcc -O1 -shared -fPIC -fuse-ld=lld -Wl,-Bsymbolic -o "$tmp/lld.so" "$tmp/lib.c" 2>"$tmp/err"; then
	at=$(readelf -SW "$tmp/lld.so" | sed -n 's/^ *\[ *[0-9]*\] \.iplt *PROGBITS *\([0-9a-f]*\) .*/0x\1/p')
	echo "$at" | ask "$tmp/lld.so" >"$tmp/got"
	is 'a library linked by lld' "$(sed 's/^[^ ]* //' "$tmp/got")" 'hidden_choice@plt+0 plt'
else
	skip 'a library linked by lld' "$(head -n 1 "$tmp/err")"
fi

# libc calls its own indirect functions through such stubs. Each name must be one that .dynsym has
# at that address.
libc=$(gcc -print-file-name=libc.so.6)
stubs "$libc" | ask "$libc" --debug-dir "$tmp/none" | sed 's/+0 plt$//' >"$tmp/got"
objdump -d -w -j .plt "$libc" | sed -n 's/^0*\([0-9a-f]*\) <\*ABS\*+0x\([0-9a-f]*\)@plt>:/0x\1 \2/p' >"$tmp/choosers"
readelf -W --dyn-syms "$libc" | awk '$4 == "IFUNC" { sub(/^0*/, "", $2); sub(/@.*/, "", $8); print $2, $8 }' >"$tmp/known"
if [ -s "$tmp/known" ] && [ -s "$tmp/choosers" ]; then
	awk 'FILENAME ~ /known$/ { ok[$1, $2] = 1; has[$1] = 1; next } FILENAME ~ /choosers$/ { at[$1] = $2; next }
		{ name = $2; sub(/@plt$/, "", name)
		  if (has[at[$1]] && !ok[at[$1], name]) print $1, "is", $2, "by", at[$1]
		  n += has[at[$1]] }
		END { if (n < 10) print n + 0, "stubs" }' "$tmp/known" "$tmp/choosers" "$tmp/got" >"$tmp/wrong"
	is "libc: $(wc -l <"$tmp/got") stubs, $(grep -c '@plt$' "$tmp/got") with a name that .dynsym has there" "$(cat "$tmp/wrong")" ''
else
	skip 'libc' 'it has no such stubs'
fi

# A static program has stubs of 8 bytes and no .dynsym.
printf '#include <string.h>\nint main(int c, char **v) { char b[99]; memset(b, c, strlen(v[0])); return b[3]; }\n' >"$tmp/s.c"
if gcc -O0 -fno-builtin -static -Wl,--build-id -o "$tmp/s" "$tmp/s.c" 2>"$tmp/err"; then
	set -- $(readelf -SW "$tmp/s" | sed -n 's/^ *\[ *[0-9]*\] \.plt *PROGBITS *\([0-9a-f]*\) [0-9a-f]* \([0-9a-f]*\) .*/\1 \2/p')
	i=0
	while [ $i -lt $((0x$2)) ]; do printf '0x%x\n' $((0x$1 + i)); i=$((i + 8)); done | ask "$tmp/s" | sed 's/^[^ ]* //' >"$tmp/got"
	is "a static program: strlen and memset" "$(grep -c -e '^strlen@plt+0 plt' -e '^memset@plt+0 plt' "$tmp/got")" 2
	is '  no stub has two names, or none' "$(grep -cv '@plt+0 plt$' "$tmp/got")" 0
else
	skip 'a static program: strlen and memset' "$(cat "$tmp/err")"
	skip '  no stub has two names, or none' 'no static libc'
fi
done_testing
