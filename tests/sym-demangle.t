#!/bin/sh
# Names as their authors wrote them, in four degrees.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/sym-lib.sh"

# One symbol for each line of a table: MANGLED | simplified | templates | full. "=" is the column before.
cat >"$tmp/table" <<'X'
plain_c|plain_c|=|=
a|a|=|=
_start|_start|=|=
_Z|_Z|=|=
_Rough|_Rough|=|=
_Default|_Default|=|=
f.cold|f.cold|=|=
f.constprop.0|f.constprop.0|=|=
main.(*T).Method|main.(*T).Method|=|=
runtime.mapassign_fast64|runtime.mapassign_fast64|=|=
go.shape.int_0|go.shape.int_0|=|=
_Z3foov|foo|=|foo()
_ZN3foo3barEi|foo::bar|=|foo::bar(int)
_ZNK3foo3barEi|foo::bar|=|foo::bar(int) const
_ZN3foo3barIiEEvT_|foo::bar|foo::bar<int>|void foo::bar<int>(int)
_ZNSt6vectorIiSaIiEE9push_backEOi|std::vector::push_back|std::vector<int, std::allocator<int> >::push_back|std::vector<int, std::allocator<int> >::push_back(int&&)
_ZN12_GLOBAL__N_13fooIiEEvT_|(anonymous namespace)::foo|(anonymous namespace)::foo<int>|void (anonymous namespace)::foo<int>(int)
_ZN3foolsIcEEvT_|foo::operator<<|foo::operator<< <char>|void foo::operator<< <char>(char)
_ZN3foo3fooIiElsIcEEvT_|foo::foo::operator<<|foo::foo<int>::operator<< <char>|void foo::foo<int>::operator<< <char>(char)
_ZN3fooclEv|foo::operator()|=|foo::operator()()
_ZN3fooltERKS_|foo::operator<|=|foo::operator<(foo const&)
_ZN3foossERKS_|foo::operator<=>|=|foo::operator<=>(foo const&)
_ZN3fooptEv|foo::operator->|=|foo::operator->()
_ZN3foocvbEv|foo::operator bool|=|foo::operator bool()
_ZNK3barcv3fooIiEEv|bar::operator foo|bar::operator foo<int>|bar::operator foo<int>() const
_Znwm|operator new|=|operator new(unsigned long)
_ZN3fooC1Ev|foo::foo|=|foo::foo()
_ZN3fooD0Ev|foo::~foo|=|foo::~foo()
_ZZ3fooIiEvT_ENKUlcE_clEc|foo::{lambda#1}::operator()|foo<int>::{lambda#1}::operator()|foo<int>(int)::{lambda(char)#1}::operator()(char) const
_ZZN3foo3barEiE3baz|foo::bar::baz|=|foo::bar(int)::baz
_ZThn8_N3fooD1Ev|non-virtual thunk to foo::~foo|=|non-virtual thunk to foo::~foo()
_ZN3fooIXgtLi1ELi0EEE3barEv|foo::bar|foo<((1)>(0))>::bar|foo<((1)>(0))>::bar()
_ZN3foo3barEi.cold|foo::bar|foo::bar.cold|foo::bar(int) [clone .cold]
_ZN3foo3barEi.constprop.7|foo::bar|foo::bar.constprop|foo::bar(int) [clone .constprop.7]
_ZN3foo3barEi.isra.0.part.12|foo::bar|foo::bar.isra.part|foo::bar(int) [clone .isra.0] [clone .part.12]
_ZN3foo3barEi.llvm.1234567|foo::bar|=|foo::bar(int)
_ZN4core3ptr13drop_in_place17h0123456789abcdefE|core::ptr::drop_in_place|=|=
_ZN4core3ptr13drop_in_place17h0123456789abcdefE.llvm.99|core::ptr::drop_in_place|=|=
_ZN65_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..iter..Iterator$GT$4next17h0123456789abcdefE|<alloc::vec::Vec as core::iter::Iterator>::next|<alloc::vec::Vec<T> as core::iter::Iterator>::next|=
_ZN4core3fmt3num52_$LT$impl$u20$core..fmt..Debug$u20$for$u20$usize$GT$3fmt17h0123456789abcdefE|core::fmt::num::<impl core::fmt::Debug for usize>::fmt|=|=
_RNvMNtCs1_7mycrate3fooINtB2_3BarhE3new|<mycrate::foo::Bar>::new|<mycrate::foo::Bar<u8>>::new|=
_RINvNtC3std3mem8align_ofjdE|std::mem::align_of|std::mem::align_of::<usize, f64>|=
_RNvC6_123foo3bar|123foo::bar|=|=
_D3foo3barFiZv|foo.bar|=|foo.bar(int)
_D3foo__T3barTiZ3bazFZv|foo.bar.baz|foo.bar!(int).baz|foo.bar!(int).baz()
_Dmain|D main|=|=
___Z3foov_block_invoke|foo_block_invoke|=|foo()_block_invoke
___Zebra|___Zebra|=|=
X
awk -F'|' '{ printf "\t.type s%d, @function\n\t.globl s%d\ns%d:\t.skip 16, 0x90\n\t.size s%d, 16\n", NR, NR, NR, NR }' "$tmp/table" >"$tmp/t.s"
awk -F'|' '{ printf "s%d %s\n", NR, $1 }' "$tmp/table" >"$tmp/rename"
as -o "$tmp/t0.o" "$tmp/t.s" && objcopy --redefine-syms="$tmp/rename" "$tmp/t0.o" "$tmp/t.o" &&
	ld -e 0x401000 -Ttext=0x401000 --build-id -o "$tmp/t" "$tmp/t.o"
awk '{ printf "0x%x\n", 4198400 + (NR - 1) * 16 + 3 }' "$tmp/table" >"$tmp/addresses"
column=1
for mode in none simplified templates full; do
	ask "$tmp/t" --demangle $mode <"$tmp/addresses" | sed 's/^[^ ]* //; s/+3 symtab$//' >"$tmp/got.$mode"
	if [ $column = 2 ] && ! cmp -s "$tmp/got.none" "$tmp/got.simplified"; then able=1; fi
	if [ $column -gt 1 ] && [ "${able:-}" != 1 ]; then
		skip "--demangle $mode" 'built without libiberty'
	else
		awk -F'|' -v c=$column '{ for (i = c; $i == "="; i--); print $i }' "$tmp/table" >"$tmp/want"
		same "--demangle $mode, $(wc -l <"$tmp/want") names" "$tmp/got.$mode" "$tmp/want"
	fi
	column=$((column + 1))
done
ask "$tmp/t" <"$tmp/addresses" | sed 's/^[^ ]* //; s/+3 symtab$//' >"$tmp/got"
same 'simplified is what happens without the option' "$tmp/got" "$tmp/got.simplified"

# A stub's name too.
printf '#include <new>\nint main(int c, char **v) { (void)v; return *new int[(unsigned)c]; }\n' >"$tmp/p.cc"
if [ "${able:-}" = 1 ] && g++ -O0 -Wl,--build-id -o "$tmp/p" "$tmp/p.cc" 2>/dev/null; then
	stub=$(objdump -d -w "$tmp/p" | awk '/^[0-9a-f]+ <_Znam@plt>:/ { print "0x" $1 }')
	is 'a stub is demangled, and stays a stub' "$(echo "$stub" | ask "$tmp/p" | sed 's/^[^ ]* //')" 'operator new[]@plt+0 plt'
else
	skip 'a stub is demangled, and stays a stub' 'no g++'
fi

# Plain names are taken apart without libiberty: as they are, cut and changed anywhere they come to what it says.
{
	cut -d'|' -f1 "$tmp/table"
	printf '%s\n' _ZN12_GLOBAL__N_13barEv _ZN1a12_GLOBAL__N_1C1Ev _ZN1a1bC2ERKS0_ _ZN1a1bD1Ev _ZNVK1a1bEv _ZNKR1a1bEv _ZNO1a1bEv \
		_Z3bazIiEvv _Z3bazB5cxx11v _ZN3foo3bazB5cxx11Ev _ZN3fooC1B5cxx11Ev _Z03foov _ZN1a9operatorxEi _ZL3onev
	readelf -sW "$(gcc -print-file-name=libstdc++.so)" 2>/dev/null | awk '$4 == "FUNC" { sub(/@.*/, "", $8); print $8 }' |
		sort -u | awk '/^_Z/ && NR % 200 == 0 && length($0) < 80'
} >"$tmp/names"
if [ "${able:-}" = 1 ]; then
	"$BUILD/tests/demangle-plain" <"$tmp/names" >"$tmp/got"
	like 'with libiberty and without it, C++ names are the same' "$(tail -3 "$tmp/got")" '^[0-9]{5,} the same, 0 different$'
else
	skip 'with libiberty and without it, C++ names are the same' 'built without libiberty'
fi

# Names that perf has demangled come to the same, and what is neither C++ nor Rust stays as it is.
cat >"$tmp/keep" <<'X'
plain_c
foo.isra.0
f.cold
f.constprop.0
work.part.3.cold
main.(*T).Method
runtime.(*mheap).alloc.func1
net/http.(*conn).serve
golang.org/x/tools/go/ssa.(*builder[...]).expr
main.Map[go.shape.int,go.shape.func(int) bool]
main.T.foo-fm
type:.eq.[2]interface {}
type:.hash.struct { main.f func(int) bool; main.g int }
go:(*struct { sync.Mutex }).Lock
LazyCompile:~f file.js:1
LazyCompile:*(anonymous function) (/x/y.js:3:4)
Function:~get<x> a.js:1
caml_program
camlStdlib__List__map_123
Stdlib.List.map_123
*String#index<Char>:Int32
foo.bar!(int).baz
-[NSFoo bar:(int)]
+[Foo(Category) bar]
kfun:kotlin.collections#map(kotlin.Array<0:0>){}
ghc_base_GHCziBase_map_info
[libc.so.6+0x1234]
py::f:/a/b.py
foo (inlined)
a (b)
void (*foo<int>(int))(char)
operator
operator()
foo::operator()
foo::operator<
foo::operator->
operator new[]
foo::operator bool
foo::operator unsigned long
(anonymous namespace)::foo
(anonymous namespace)::foo::~foo
foo[abi:cxx11]
core::ptr::drop_in_place
foo::bar::{{closure}}
<lambda(int)>
<unnamed>
D main
malloc@plt
foo(
foo)
<
(
a<b
a>b
foo::
{lambda
f [clone
f [clone ]
f (.)
X
"$BUILD/tests/demangle-given" <"$tmp/keep" >"$tmp/got"
is 'names of other languages are not cut' "$(cat "$tmp/got")" "$((4 * $(wc -l <"$tmp/keep"))) the same, 0 different"
{
	cut -d'|' -f1 "$tmp/table" | grep '^_[ZR]'
	readelf -sW "$(gcc -print-file-name=libstdc++.so)" 2>/dev/null | awk '$4 == "FUNC" { sub(/@.*/, "", $8); print $8 }' |
		sort -u | awk '/^_Z/ && !/cvM/ && NR % 3 == 0' # a conversion to a pointer to a member is cut wrong either way
} >"$tmp/names"
if [ "${able:-}" = 1 ]; then
	"$BUILD/tests/demangle-given" <"$tmp/names" >"$tmp/got"
	like 'names demangled in full, by perf or with templates are cut to the same' "$(tail -3 "$tmp/got")" '^[0-9]{4,} the same, 0 different$'
else
	skip 'names demangled in full, by perf or with templates are cut to the same' 'built without libiberty'
fi

# Few bytes that mean gigabytes stay as they are, and quickly.
bomb_cxx=$(awk 'BEGIN { printf "_Z1fI1aIiiE"; for (i = 1; i < 36; i++) { c = substr("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", i + 1, 1); printf "S0_IS%s_S%s_E", c, c }; print "EvT_" }')
bomb_d=$(awk 'BEGIN { printf "_D1fFS1aHQeQg"; for (i = 0; i < 60; i++) printf "HQgQi"; print "Zv" }')
long=_Z5000$(awk 'BEGIN { for (i = 0; i < 5000; i++) printf "x" }')v
printf '\t.type s%d, @function\n\t.globl s%d\ns%d:\t.skip 16, 0x90\n\t.size s%d, 16\n' 1 1 1 1 2 2 2 2 3 3 3 3 | as -o "$tmp/b0.o" -
printf 's1 %s\ns2 %s\ns3 %s\n' "$bomb_cxx" "$bomb_d" "$long" >"$tmp/rename"
objcopy --redefine-syms="$tmp/rename" "$tmp/b0.o" "$tmp/b.o" && ld -e 0x401000 -Ttext=0x401000 --build-id -o "$tmp/b" "$tmp/b.o"
# Where the sanitizers want terabytes of addresses there is no limit.
limit=unlimited
(ulimit -v 400000 && cprof-sym --version) >/dev/null 2>&1 && limit=400000
{ ulimit -v $limit; printf '0x401000\n0x401010\n0x401020\n' | ask "$tmp/b" --demangle full; } | sed 's/^[^ ]* //; s/+0 symtab$//' >"$tmp/got"
printf '%s\n' "$bomb_cxx" "$bomb_d" "$long" >"$tmp/want"
same 'what would grow beyond all bounds, or is very long, stays mangled' "$tmp/got" "$tmp/want"
done_testing
