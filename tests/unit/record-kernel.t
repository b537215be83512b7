#!/bin/sh
# Kernel symbols: the choice of a name, its range, later modules, and the reasons for none
. "$(dirname "$0")/../lib/lib.sh"
side=$BUILD/tests/record-side

printf '%s\n' \
	'0000000000000000 A fixed_percpu_data' \
	'ffffffff81000000 T _stext' \
	'ffffffff81000000 T startup_64' \
	'ffffffff81000000 T _text' \
	'ffffffff81000100 t local_one' \
	'ffffffff81000100 W weak_one' \
	'ffffffff81000100 T __global_one' \
	'ffffffff81000200 T __two' \
	'ffffffff81000200 T _two' \
	'ffffffff81000200 T two' \
	'ffffffff81000300 T __pfx_three' \
	'ffffffff81000310 T three' \
	'ffffffff81000310 t $x' \
	'ffffffff81000320 t $d.1' \
	'ffffffff81000400 T SyS_read' \
	'ffffffff81000400 T sys_read' \
	'ffffffff81000500 T __irqentry_text_start' \
	'ffffffff81000500 t asm_exc' \
	'ffffffff81000600 T aaa' \
	'ffffffff81000600 T bb' \
	'ffffffff81000600 T aab' \
	'ffffffff81000700 T last' \
	'ffffffff81000710 A absolute' \
	'ffffffff81000800 T _etext' \
	'ffffffff81000900 D data' \
	'ffffffff82000000 T _sinittext' \
	'ffffffff82000000 t init_code' \
	'ffffffff82001000 T _einittext' \
	'ffffffff82002000 T behind' \
	'ffffffff82002010 d data_behind' \
	'ffffffffc0002000 t mod_b	[modone]' \
	'ffffffffc0001000 t mod_a	[modone]' \
	'ffffffffc0001800 d mod_data	[modone]' \
	'ffffffffc0100000 t ftrace_trampoline	[__builtin__ftrace]' \
	'ffffffffc0200040 t bpf_prog_0123456789abcdef_prog	[bpf]' \
	'garbage' \
	'ffffffffc0200140 t bpf_prog_fedcba9876543210	[bpf]' >"$tmp/kallsyms"
echo 'modone 12288 2 modtwo,modthree, Live 0xffffffffc0001000 (OE)' >"$tmp/modules"

ask() { printf '%s\n' "$@" | "$side" kernel "$tmp/kallsyms" "$tmp/modules"; }
name() { # DESCRIPTION ADDRESS WANT: name start size module
	is "$1" "$(ask "$2")" "$2 $3"
}
name "a function before _stext and _text" ffffffff81000000 "startup_64 ffffffff81000000 256"
name "global before weak and local" ffffffff81000180 "__global_one ffffffff81000100 256"
name "fewer underscores" ffffffff810002ff "two ffffffff81000200 256"
name "the bytes before a function" ffffffff8100030f "__pfx_three ffffffff81000300 16"
name "mapping symbols are no names" ffffffff81000330 "three ffffffff81000310 240"
name "not SyS_" ffffffff81000400 "sys_read ffffffff81000400 256"
name "a local function before a label" ffffffff81000500 "asm_exc ffffffff81000500 256"
name "the shortest, then the alphabet" ffffffff81000600 "bb ffffffff81000600 256"
name "absolute symbols end nothing; _etext does" ffffffff810007ff "last ffffffff81000700 256"
name "nothing at _etext" ffffffff81000800 none
name "nothing in data" ffffffff81000900 none
name "nothing before the text" ffffffff80ffffff none
name "nothing at 0" 0 none
name "nothing in freed init code" ffffffff82000010 none
name "code behind that ends at data" ffffffff8200200f "behind ffffffff82002000 16"
name "nothing at that data" ffffffff82002010 none
name "the gap before modules is not filled" ffffffffc0000fff none
name "modules may be unsorted" ffffffffc0001000 "mod_a ffffffffc0001000 4096 [modone]"
name "a module's end, by /proc/modules" ffffffffc0003fff "mod_b ffffffffc0002000 8192 [modone]"
name "nothing behind it" ffffffffc0004000 none
name "a trampoline has a page" ffffffffc0100fff "ftrace_trampoline ffffffffc0100000 4096 [__builtin__ftrace]"
name "nothing behind it" ffffffffc0101000 none
name "a BPF program" ffffffffc0200041 "bpf_prog_0123456789abcdef_prog ffffffffc0200040 256 [bpf]"
name "the last symbol of all has an end" ffffffffd0200140 none

is "a program that came later" "$(ask 'add ffffffffc0300000 64 bpf_prog_aa_new' ffffffffc030003f ffffffffc0300040)" \
	"ffffffffc030003f bpf_prog_aa_new ffffffffc0300000 64 [bpf]
ffffffffc0300040 none"
is "  in the place of another" "$(ask 'add ffffffffc0300000 64 bpf_prog_aa' 'add ffffffffc0300020 64 bpf_prog_bb' \
	ffffffffc0300000 ffffffffc0300020)" "ffffffffc0300000 none
ffffffffc0300020 bpf_prog_bb ffffffffc0300020 64 [bpf]"
is "  goes before kallsyms, and stays when the table is dropped" \
	"$(ask 'add ffffffffc0200040 32 bpf_prog_cc' forget ffffffffc0200041)" \
	"ffffffffc0200041 bpf_prog_cc ffffffffc0200040 32 [bpf]"
is "  and went" "$(ask 'add ffffffffc0300000 64 bpf_prog_aa' 'remove ffffffffc0300000 64' ffffffffc0300000)" \
	"ffffffffc0300000 none"
is "a program of kallsyms went" "$(ask ffffffffc0200040 'remove ffffffffc0200040 256' ffffffffc0200040 ffffffffc0200140)" \
	"ffffffffc0200040 bpf_prog_0123456789abcdef_prog ffffffffc0200040 256 [bpf]
ffffffffc0200040 none
ffffffffc0200140 bpf_prog_fedcba9876543210 ffffffffc0200140 65536 [bpf]"
is "  the kernel proper never does" "$(ask ffffffff81000310 'remove ffffffff81000310 64' ffffffff81000310 | uniq)" \
	"ffffffff81000310 three ffffffff81000310 240"

# A module is loaded; /proc/modules is read once a second.
cat "$tmp/kallsyms" >"$tmp/kallsyms2"
cp "$tmp/modules" "$tmp/modules2"
cat >"$tmp/commands" <<X
ffffffffc0005000
! echo 'ffffffffc0005000 t mod_c	[modtwo]' >>$tmp/kallsyms2; echo 'modtwo 4096 0 - Live 0xffffffffc0005000' >>$tmp/modules2
! sleep 1.1
ffffffffc0005010
X
is "a module that came later" "$("$side" kernel "$tmp/kallsyms2" "$tmp/modules2" <"$tmp/commands")" \
	"ffffffffc0005000 none
ffffffffc0005010 mod_c ffffffffc0005000 4096 [modtwo]"

sed 's/^[0-9a-f]\{16\}/0000000000000000/' "$tmp/kallsyms" >"$tmp/zero"
like "all addresses hidden: no name, and why" \
	"$(printf 'ffffffff81000000\nwhy\n' | "$side" kernel "$tmp/zero" "$tmp/modules" | tr '\n' ' ')" \
	'^ffffffff81000000 none kernel frames get no names: .*(CAP_SYSLOG|kptr_restrict|security module)'
like "no such file" "$(echo 'ffffffff81000000
why' | "$side" kernel "$tmp/nowhere" "$tmp/modules" | tail -1)" 'nowhere: No such file.*: kernel frames get no names$'
: >"$tmp/nothing"
like "an empty one" "$(echo 'ffffffff81000000
why' | "$side" kernel "$tmp/nothing" "$tmp/modules" | tail -1)" 'is empty: .*CONFIG_KALLSYMS'
is "no reason before the first question" "$(echo why | "$side" kernel "$tmp/zero" "$tmp/modules")" "no reason"
head -c 3000000 /dev/zero | tr '\0' x >"$tmp/junk"
like "a line without an end" "$(echo 'ffffffff81000000
why' | "$side" kernel "$tmp/junk" "$tmp/modules" | tail -1)" 'kernel frames get no names'

# The start of the text
is "where _stext is, by kallsyms" "$("$side" stext "$tmp/kallsyms" "$tmp/nowhere")" ffffffff81000000
python3 - "$tmp/kcore" <<'END'
import struct, sys
text = b"OSRELEASE=6.1.0\nPAGESIZE=4096\nSYMBOL(_stext)=ffffffff9d000000\nKERNELOFFSET=1c000000\n"
note = lambda name, kind, d: struct.pack("<III", len(name) + 1, len(d), kind) + (name + b"\0").ljust((len(name) + 4) & ~3, b"\0") + d.ljust((len(d) + 3) & ~3, b"\0")
notes = note(b"CORE", 1, b"x" * 337) + note(b"VMCOREINFO", 0, text)
head = b"\x7fELF\2\1\1" + b"\0" * 9 + struct.pack("<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
open(sys.argv[1], "wb").write(head + struct.pack("<IIQQQQQQ", 4, 0, 120, 0, 0, len(notes), 0, 4) + notes)
END
is "  where that hides it, by the notes of the core" "$("$side" stext "$tmp/zero" "$tmp/kcore")" ffffffff9d000000
for n in 63 119 140 300 500 540; do
	head -c $n "$tmp/kcore" >"$tmp/cut"
	is "  which are cut at $n" "$("$side" stext "$tmp/zero" "$tmp/cut")" 0
done
is "  by neither" "$("$side" stext "$tmp/zero" "$tmp/nowhere")" 0

# The running kernel: some 100 functions, at start and in the middle, have a name that kallsyms lists.
if awk '$1 != "0000000000000000" { found = 1; exit } END { exit !found }' /proc/kallsyms; then
	awk '$3 == "_etext" && NF == 3 { exit } NF == 3 && $2 ~ /[TtWw]/ && $3 !~ /^\$/ && ++n % 1201 == 1 { print $1 }' \
		/proc/kallsyms | sort -u >"$tmp/starts"
	"$side" kernel <"$tmp/starts" >"$tmp/names"
	is "the running kernel: every start has a name" "$(grep -c none "$tmp/names")" 0
	awk 'NR == FNR { has[$1, $3] = 1; next } !(($3, $2) in has)' /proc/kallsyms "$tmp/names" >"$tmp/wrong"
	is "  that kallsyms has there" "$(cat "$tmp/wrong")" ""
	like "  and there were many" "$(wc -l <"$tmp/names")" '^[0-9]{2,}$'
	# As the recorder asks: the kernel itself, and kallsyms only for labels or unknown addresses.
	if [ "$(id -u)" = 0 ] && printf '%s\n' ffffffffbf000000 | "$side" ksym >"$tmp/asked" 2>/dev/null && [ "$(wc -l <"$tmp/asked")" = 2 ]; then
		awk '$3 ~ /_text_(start|end)$/ && $1 !~ /^0*$/ && NF == 3 { print $1 }' /proc/kallsyms | sort -u |
			cat - "$tmp/starts" >"$tmp/places"
		printf '%s\n' ffffffffbf000000 ffffffffbf000001 >>"$tmp/places"
		"$side" ksym <"$tmp/places" >"$tmp/asked"
		kept=$(sed -n '$s/ kB$//p' "$tmp/asked")
		sed -i '$d' "$tmp/asked"
		is "  asked one by one it is named as often" "$(grep -c none "$tmp/asked")" "$("$side" kernel <"$tmp/places" | grep -c none)"
		awk 'NR == FNR { has[$1, $3] = 1; next } $2 != "none" && !(($3, $2) in has)' /proc/kallsyms "$tmp/asked" >"$tmp/wrong"
		is "  as kallsyms has it" "$(cat "$tmp/wrong")" ""
		is "  by no label where there is a function" "$(awk 'NR == FNR { if ($3 !~ /_text_(start|end)$/) has[$1]; next }
			$2 ~ /_text_(start|end)$/ && $1 in has' /proc/kallsyms "$tmp/asked")" ""
		diag "$(wc -l <"$tmp/places") addresses: $kept kB are kept"
		is "  and what was read of kallsyms is not kept" "$((kept < 1000))" 1
	else
		skip "the kernel asked one by one" "it does not answer here"
	fi
else
	skip "the running kernel" "/proc/kallsyms shows no addresses"
fi
done_testing
