#!/bin/sh
# Names as their authors wrote them, in four degrees of detail
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"

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
_D3foo3barFiZv.cold|foo.bar|foo.bar.cold|foo.bar(int) [clone .cold]
_D3foo3barFiZv.constprop.0|foo.bar|foo.bar.constprop|foo.bar(int) [clone .constprop.0]
__stats_MOD_mean|stats::mean|=|=
__stats_MOD_mean.constprop.0|stats::mean|stats::mean.constprop|stats::mean [clone .constprop.0]
__parent.child_MOD_go_on|parent:child::go_on|=|=
__Stats_MOD_mean|__Stats_MOD_mean|=|=
__stats_MOD_|__stats_MOD_|=|=
_MOD_mean|_MOD_mean|=|=
_QMstatsPmean|stats::mean|=|=
_QMstatsPmean.constprop.0|stats::mean|stats::mean.constprop|stats::mean [clone .constprop.0]
_QMparentSchildSgrandPgo_on|parent:child:grand::go_on|=|=
_QMstatsFmeanPinner|stats::mean::inner|=|=
_QPsolve_2|solve_2|=|=
_QFPinner|inner|=|=
_QQmain|main program|=|=
_QMstatsEcount|_QMstatsEcount|=|=
_QPsolvePagain|_QPsolvePagain|=|=
_QMstats|_QMstats|=|=
_QP|_QP|=|=
_Q|_Q|=|=
camlStdlib__List__map_123|Stdlib.List.map|Stdlib.List.map_123|=
camlStdlib.List.map_123|Stdlib.List.map|Stdlib.List.map_123|=
camlMain__fun_77|Main.fun_77|=|=
camlMain.fun_77|Main.fun_77|=|=
camlFoo__$2b$2b_5|Foo.++|Foo.++_5|=
camlFoo__anon_fn$5bfoo.ml$3a10$5d_12|Foo.anon_fn[foo.ml:10]|Foo.anon_fn[foo.ml:10]_12|=
camlFoo__entry|Foo.entry|=|=
caml_alloc_small_dispatch|caml_alloc_small_dispatch|=|=
camlp4|camlp4|=|=
base_GHCziBase_map_info|GHC.Base.map|=|base:GHC.Base.map_info
base_GHCziBase_zpzp_info|GHC.Base.++|=|base:GHC.Base.++_info
ghczmprim_GHCziTypes_ZC_con_info|GHC.Types.:|=|ghc-prim:GHC.Types.:_con_info
ghczmprim_GHCziTupleziPrim_Z2T_con_info|GHC.Tuple.Prim.(,)|=|ghc-prim:GHC.Tuple.Prim.(,)_con_info
textzm2zi0zi2_DataziText_pack_info|Data.Text.pack|=|text-2.0.2:Data.Text.pack_info
Main_zdwgo1_info|Main.$wgo1|=|Main.$wgo1_info
Main_z3bbU_info|Main.\xce\xbb|=|Main.\xce\xbb_info
my_Widget_get_info|my_Widget_get_info|=|=
base_GHCziBase_a_b_info|base_GHCziBase_a_b_info|=|=
base_GHCziBase_zY_info|base_GHCziBase_zY_info|=|=
base_GHCziBase_map_closure|base_GHCziBase_map_closure|=|=
_ada_hello|hello|=|=
shapes__circles__area__2|shapes__circles__area__2|=|=
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

# Names of Ada look like names of C: they are decoded only if something refers to gnat's runtime.
ada() { # NAME OF ANOTHER SYMBOL: prints the names of two functions
	cat >"$tmp/a.s" <<X
	.macro function name
	.globl \name
	.type \name, @function
\name:	.skip 16, 0x90
	.size \name, 16
	.endm
	function shapes__circles__area__2
	function lock__held
	.data
	.globl $1
	.type $1, @object
	.size $1, 8
$1:	.quad 0
X
	as -o "$tmp/a.o" "$tmp/a.s" && ld -e 0x401000 -Ttext=0x401000 --build-id -o "$tmp/a" "$tmp/a.o"
	printf '0x401003\n0x401013\n' | ask "$tmp/a" | sed 's/^[^ ]* //; s/+3 symtab$//' | tr '\n' ' '
}
if [ "${able:-}" = 1 ]; then
	is 'Ada where it is' "$(ada __gnat_personality_v0)" 'shapes.circles.area lock.held '
else
	skip 'Ada where it is' 'built without libiberty'
fi
is '  and not elsewhere' "$(ada x__gnat_)" 'shapes__circles__area__2 lock__held '

# Names from real compilers
real() { # COMPILER WANT ADDRESS-OF FILE
	is "  a program by $1" "$(nm "$4" | SYMBOL=$3 awk '$3 ~ ENVIRON["SYMBOL"] && $2 ~ /[Tt]/ { print "0x" $1; exit }' | ask "$4" | sed 's/^[^ ]* //; s/+0 [a-z]*$//')" "$2"
}
cd "$tmp" || exit 1
cat >m.f90 <<'X'
module shapes
contains
  subroutine grow(x)
    real, intent(inout) :: x
    x = x * 2
  end subroutine
end module
program p
  use shapes
  real :: x = 1
  call grow(x)
  print *, x
end program
X
if gfortran -O0 -Wl,--build-id -o by-gfortran m.f90 2>/dev/null; then
	real gfortran shapes::grow MOD_grow "$tmp/by-gfortran"
else
	skip '  a program by gfortran' 'no gfortran'
fi
cat >shapes.ads <<'X'
package Shapes is
   procedure Grow (X : in out Integer);
end Shapes;
X
cat >shapes.adb <<'X'
package body Shapes is
   procedure Grow (X : in out Integer) is
   begin
      X := X * 2;
   end Grow;
end Shapes;
X
cat >by_gnat.adb <<'X'
with Shapes;
procedure By_Gnat is
   X : Integer := 1;
begin
   Shapes.Grow (X);
end By_Gnat;
X
if [ "${able:-}" = 1 ] && gnatmake -q by_gnat.adb -largs -Wl,--build-id 2>err; then
	real gnat shapes.grow shapes__grow "$tmp/by_gnat"
	real gnat by_gnat '^_ada_' "$tmp/by_gnat"
else
	skip '  a program by gnat' 'no gnat'
	skip '  a program by gnat' 'no gnat'
fi
echo 'let rec work n = if n = 0 then 0 else n + work (n - 1) let () = print_int (work 10)' >shapes.ml
if ocamlopt -o by-ocaml shapes.ml 2>/dev/null; then
	real ocaml Shapes.work 'camlShapes.*work' "$tmp/by-ocaml"
else
	skip '  a program by ocaml' 'no ocaml'
fi

# A stub's name is demangled, too.
printf '#include <new>\nint main(int c, char **v) { (void)v; return *new int[(unsigned)c]; }\n' >"$tmp/p.cc"
if [ "${able:-}" = 1 ] && g++ -O0 -Wl,--build-id -o "$tmp/p" "$tmp/p.cc" 2>/dev/null; then
	stub=$(objdump -d -w "$tmp/p" | awk '/^[0-9a-f]+ <_Znam@plt>:/ { print "0x" $1 }')
	is 'a stub is demangled, and stays a stub' "$(echo "$stub" | ask "$tmp/p" | sed 's/^[^ ]* //')" 'operator new[]@plt+0 plt'
else
	skip 'a stub is demangled, and stays a stub' 'no g++'
fi

# Plain names are parsed without libiberty: unchanged, cut and changed anywhere, they give the same result
# as with it.
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

# Names already demangled by perf give the same result, and names neither of C++ nor of Rust stay unchanged.
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

ok '3,000 changes of these names' timeout 120 "$BUILD/tests/fuzz-demangle" -m 3000 "$tests/fuzz/corpus/demangle-names.txt"

# Short names that would expand to gigabytes stay mangled, and quickly.
bomb_cxx=$(awk 'BEGIN { printf "_Z1fI1aIiiE"; for (i = 1; i < 36; i++) { c = substr("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", i + 1, 1); printf "S0_IS%s_S%s_E", c, c }; print "EvT_" }')
bomb_d=$(awk 'BEGIN { printf "_D1fFS1aHQeQg"; for (i = 0; i < 60; i++) printf "HQgQi"; print "Zv" }')
tuples=Main_$(awk 'BEGIN { for (i = 0; i < 100; i++) printf "Z999T" }')_info
long=_Z5000$(awk 'BEGIN { for (i = 0; i < 5000; i++) printf "x" }')v
printf '\t.type s%d, @function\n\t.globl s%d\ns%d:\t.skip 16, 0x90\n\t.size s%d, 16\n' 1 1 1 1 2 2 2 2 3 3 3 3 4 4 4 4 | as -o "$tmp/b0.o" -
printf 's1 %s\ns2 %s\ns3 %s\ns4 %s\n' "$bomb_cxx" "$bomb_d" "$long" "$tuples" >"$tmp/rename"
objcopy --redefine-syms="$tmp/rename" "$tmp/b0.o" "$tmp/b.o" && ld -e 0x401000 -Ttext=0x401000 --build-id -o "$tmp/b" "$tmp/b.o"
{ limit_memory 400000; printf '0x401000\n0x401010\n0x401020\n0x401030\n' | ask "$tmp/b" --demangle full; } |
	sed 's/^[^ ]* //; s/+0 symtab$//' >"$tmp/got"
printf '%s\n' "$bomb_cxx" "$bomb_d" "$long" "$tuples" >"$tmp/want"
same 'what would grow beyond all bounds, or is very long, stays mangled' "$tmp/got" "$tmp/want"
done_testing
