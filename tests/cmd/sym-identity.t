#!/bin/sh
# Files without a build ID: is the file at the path the one that ran?
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"

boot=$(cat /proc/sys/kernel/random/boot_id) || skip_all 'no boot_id'
machine=$(cat /etc/machine-id 2>/dev/null)
build() { # FILE NAME: one function, no build ID
	echo ".globl $2; .type $2, @function; $2: .skip 64, 0x90; .size $2, 64" | as -o "$tmp/o.o" - &&
		ld -e "$2" --build-id=none -o "$1" "$tmp/o.o"
}
facts() { set -- $("$BUILD/tests/sym-identity" "$1"); major=$1 minor=$2 inode=$3 generation=$4; }
# capture [META-KEY VALUE]...: of $f as `facts` saw it
capture() {
	segment | sed '$d'
	while [ $# -gt 1 ]; do
		echo "meta key=\"$1\" value=\"$2\""
		shift 2
	done
	echo flush
	process 1
	echo "file id=1 major=$major minor=$minor inode=$inode generation=$generation build-id=${id:-} path=\"${path:-$f}\""
	loads 1 1 "$f"
	echo "$address" | frames
	finish
}
sym() { cprof-dump -r | cprof-sym "$@" 2>"$tmp/err" >"$tmp/out"; }
line() { name_of "$tmp/out" | tr '\n' ','; }
f=$tmp/prog
build "$f" right
address=0x$(nm "$f" | awk '$3 == "right" { print $1 }')
facts "$f"
is 'the fixture has no build ID' "$(build_id "$f")" ''

# The same file
capture boot-id "$boot" | sym
is 'the inode that was recorded: named' "$(line)" 'right+0 symtab,'
is '  and not by its path alone' "$(cat "$tmp/err")" 'cprof-sym: 1 of 1 frames named (100.0 %)'
(path="$f (deleted)"; capture boot-id "$boot" | sym)
is '  also where it was called deleted' "$(line)" 'right+0 symtab,'
if [ -n "$machine" ]; then
	capture boot-id 0 machine-id "$machine" | sym -v
	is 'the same machine, booted anew, as earlier versions named it' "$(line)" 'right+0 symtab,'
	capture boot-id 0 machine-id "$("$BUILD/tests/base-sha256" machine "$machine")" | sym -v
	is 'the same machine, booted anew' "$(line)" 'right+0 symtab,'
	unlike '  not by its path alone' "$(cat "$tmp/err")" 'path alone'
	(inode=$((inode + 1)); capture boot-id 0 machine-id "$machine" | sym)
	is '  another inode there' "$(line)" '-,'
else
	for what in 'the same machine, booted anew, as earlier versions named it' 'the same machine, booted anew' '  not by its path alone' '  another inode there'; do
		skip "$what" 'no /etc/machine-id'
	done
fi

# A file that cannot be checked is named by its path, with a message.
alone='cprof-sym: 1 file taken by path alone (it has no build ID)'
for meta in 'x y' 'boot-id 0' 'machine-id 0'; do
	capture $meta | sym
	is "another machine ($meta): named" "$(line)" 'right+0 symtab,'
	is '  by its path alone' "$(sed -n 2p "$tmp/err")" "$alone"
done
(inode=0 generation=0; capture boot-id "$boot" | sym -v)
is 'no inode was recorded' "$(line) $(sed -n 2p "$tmp/err")" "right+0 symtab, $alone"
is '  -v says which file' "$(sed -n 3p "$tmp/err" | sed 's/^ *//; s/  */ /g')" "1 of 1 $f (by path alone)"
mkdir -p "$tmp/root/$tmp"
build "$tmp/root/$f" right
capture boot-id "$boot" | sym --symfs "$tmp/root"
is 'a copy in a tree' "$(line) $(sed -n 2p "$tmp/err")" "right+0 symtab, $alone"
capture boot-id "$boot" | sym --symfs /
is 'the file itself, in a tree' "$(line) $(sed -n 2p "$tmp/err")" 'right+0 symtab, '
{ capture boot-id 0; echo; capture boot-id 1; } | sed '/^$/d' | sym
is 'a file of two segments is one' "$(sed -n 2p "$tmp/err")" "$alone"

# Another file
changed() { # DESCRIPTION [RECORDED_PATH]
	is "$1: no name" "$(line)" '-,'
	is '  the source says why' "$(sources "$tmp/out")" "1 changed none $f"
	is '  and so does the summary' "$(cat "$tmp/err")" "cprof-sym: 0 of 1 frames named (0.0 %); unresolved: 1 in ${2:-$f} (changed)"
}
if [ "$generation" != 0 ]; then
	(generation=$((generation ^ 1)); capture boot-id "$boot" | sym)
	changed 'the inode was used again'
else
	skip 'the inode was used again' 'the file system tells no generation'
fi
if [ "$major" != 0 ]; then
	(minor=$((minor + 1)); capture boot-id "$boot" | sym)
	changed 'another disk'
else
	skip 'another disk' 'no disk'
fi
build "$tmp/new" wrong
capture boot-id "$boot" >"$tmp/before.txt"
mv "$tmp/new" "$f"
sym <"$tmp/before.txt"
changed 'the file was replaced'
sed 's/^\(file .* path=\).*/\1"'"$(echo "$f (deleted)" | sed 's/[/]/\\&/g')"'"/' "$tmp/before.txt" | sym
changed 'the file was replaced while it ran' "$f (deleted)"
cprof-sym "$tmp/out" >"$tmp/again" 2>/dev/null
same '  a second run changes no byte' "$tmp/out" "$tmp/again"
facts "$f"
capture boot-id "$boot" >"$tmp/after.txt"
{ cat "$tmp/before.txt"; cat "$tmp/after.txt"; cat "$tmp/before.txt"; } | sym
is 'before, after and before: each by its own' "$(sources "$tmp/out" | cut -d ' ' -f 2 | tr '\n' ' ')" 'changed ok changed '
is '  one frame is named' "$(sed 's/ (.*//' "$tmp/err")" 'cprof-sym: 1 of 3 frames named'

# Written to after it ran: the inode is the same. Samples are taken at 1000 ns.
now=$(date +%s)
timed() { capture boot-id "$boot" start-monotonic-ns 1000 start-realtime-ns "$1"; }
timed "${now}000000000" | sym
is 'written before it ran: named' "$(line)" 'wrong+0 symtab,'
touch -d "@$((now - 50))" "$f"
timed "$((now - 100))000000000" | sym
changed 'written after it ran'
{ timed "${now}000000000"; timed "$((now - 100))000000000"; timed "${now}000000000"; } | sym
is '  each segment by its own time' "$(sources "$tmp/out" | cut -d ' ' -f 2 | tr '\n' ' ')" 'ok changed ok '

# A build ID is stronger than an inode.
echo '.globl right; .type right, @function; right: .skip 64, 0x90; .size right, 64' | as -o "$tmp/o.o" -
ld -e right --build-id -o "$f" "$tmp/o.o"
id=$(build_id "$f")
address=0x$(nm "$f" | awk '$3 == "right" { print $1 }')
(inode=1; capture boot-id "$boot" | sym)
is 'a build ID that is right: the inode is not asked' "$(line)" 'right+0 symtab,'
is '  it is not the path alone' "$(sed -n 2p "$tmp/err")" ''

# Go's own note is a build ID if there is no GNU one; it is recorded unchanged.
go_build() { # FILE NAME TEXT [ID]: one function, a note
	cat >"$tmp/g.s" <<Y
	.section .note.go.buildid, "a", @note
	.p2align 2
	.long 4, 2f - 1f, 4
	.ascii "Go\0\0"
1:	.ascii "$3"
2:	.p2align 2
	.text
	.globl $2
	.type $2, @function
$2:	.skip 64, 0x90
	.size $2, 64
Y
	as -o "$tmp/o.o" "$tmp/g.s" && ld -e "$2" --build-id="${4:-none}" -o "$1" "$tmp/o.o"
}
hex() { printf %s "$1" | od -An -v -tx1 | tr -d ' \n'; }
recorded() { "$BUILD/tests/record-side" elfid "$f"; }
text=n0tWwT1rtR5kvTQQ8BJe/XpnjqwTzDDGAhkpRPwTD/gH8Axe47uzLR85xe1xSl/5jJ4AkDhQmbQw1Eo6QgN
id=$(hex $text)
go_build "$f" right $text
address=0x$(nm "$f" | awk '$3 == "right" { print $1 }')
if [ -x "$BUILD/tests/record-side" ]; then
	is "Go's ID of 83 bytes, as it is recorded" "$(recorded)" "$id"
else
	skip "Go's ID of 83 bytes, as it is recorded" 'the recorder is not built'
fi
capture boot-id 0 | sym
is '  is the build ID' "$(line) $(sed -n 2p "$tmp/err")" 'right+0 symtab, '
cp "$f" "$tmp/whole"
printf '\0\0\0\0\0\0\0\0' | dd of="$f" bs=1 seek=40 conv=notrunc 2>/dev/null # no section headers
printf '\0\0\0\0' | dd of="$f" bs=1 seek=60 conv=notrunc 2>/dev/null
capture boot-id 0 | sym
is '  without section headers, too' "$(sources "$tmp/out" | cut -d ' ' -f 2)" stripped
mismatch() { is "$1" "$(line) $(sources "$tmp/out")" "-, 1 build-id-mismatch none $f"; }
go_build "$f" wrong ${text%N}M
capture boot-id "$boot" | sym
mismatch '  of another build'
go_build "$f" wrong $text 0x0011223344556677
capture boot-id "$boot" | sym
mismatch '  of one that has a GNU ID as well'
(id=0011223344556677; capture boot-id "$boot" | sym)
is '  whose ID is that' "$(line)" 'wrong+0 symtab,'
go_build "$f" wrong redacted
(id=$(hex redacted); capture boot-id "$boot" | sym)
mismatch '  one that says redacted has none'

# PT_NOTE may cover other notes than the sections do (Go 1.24): the kernel and the recorder use the former,
# tools the latter. Both IDs name the file, and no other does.
two_build() { # FILE NAME NOTE NOTE: the first in PT_NOTE, the second only in a section that comes before it
	cat >"$tmp/g.s" <<Y
	.macro gnu id
	.long 4, 8, 3
	.asciz "GNU"
	.quad \id
	.endm
	.macro go
	.long 4, 2f - 1f, 4
	.ascii "Go\0\0"
1:	.ascii "$text"
2:	.p2align 2
	.endm
	.section .note.covered, "a", @note
	.p2align 2
	$3
	.section .note.bare, "a", @note
	.p2align 2
	$4
	.text
	.globl $2
	.type $2, @function
$2:	.skip 64, 0x90
	.size $2, 64
Y
	cat >"$tmp/g.ld" <<Y
PHDRS { all PT_LOAD FLAGS(5); note PT_NOTE FLAGS(4); }
SECTIONS {
	. = 0x400000 + SIZEOF_HEADERS;
	.note.bare : { *(.note.bare) } :all
	.note.covered : { *(.note.covered) } :all :note
	.text : { *(.text) } :all
}
Y
	as -o "$tmp/o.o" "$tmp/g.s" && ld -T "$tmp/g.ld" -e "$2" --build-id=none -o "$1" "$tmp/o.o"
}
by_id() { id=$1 && capture boot-id 0 | sym && line; }
one=8877665544332211 other=0102030405060708
for of in 'go:gnu 0x1122334455667788' 'gnu 0x1122334455667788:go' 'gnu 0x1122334455667788:gnu 0x0807060504030201'; do
	two_build "$f" right "${of%:*}" "${of#*:}"
	address=0x$(nm "$f" | awk '$3 == "right" { print $1 }')
	case $of in
	go:*) ids="$(hex $text) $one" not=$other ;;
	*:go) ids=$one not=$(hex $text) ;; # nobody records Go's if there is a GNU one
	*) ids="$one $other" not=$(hex $text) ;;
	esac
	for is in $ids; do
		is "notes of segments:sections are $of: named by $(echo $is | cut -c 1-16)" "$(by_id $is)" 'right+0 symtab,'
	done
	is '  and by no other' "$(by_id $not)" '-,'
	if [ -x "$BUILD/tests/record-side" ]; then
		is '  the recorder writes the GNU one of a segment, else of a section' "$(recorded)" $one
	else
		skip '  the recorder writes the GNU one of a segment, else of a section' 'the recorder is not built'
	fi
	# The same with a debug file under either ID; and no names if another file is there.
	objcopy --only-keep-debug "$f" "$tmp/only.debug" && strip -o "$tmp/bare" "$f" && mv "$tmp/bare" "$f"
	two_build "$tmp/other" wrong "${of%:*}" "$(echo "${of#*:}" | sed 's/0x.*/0x1111111111111111/')"
	for is in $ids; do
		rm -rf "$tmp/dbg"
		d=$tmp/dbg/.build-id/$(echo "$is" | cut -c 1-2)/$(echo "$is" | cut -c 3-).debug
		mkdir -p "${d%/*}"
		cp "$tmp/only.debug" "$d"
		id=$(echo $ids | cut -d ' ' -f 1)
		capture boot-id 0 | sym --debug-dir "$tmp/dbg"
		is '  its debug file under that ID' "$(line)" 'right+0 debug,'
		case $of in *:go) continue ;; esac
		[ "$is" = "${ids#* }" ] || continue
		cp "$tmp/other" "$d"
		case $of in
		go:*) objcopy --remove-section .note.covered "$tmp/other" "$d" ;;
		*) two_build "$d" wrong 'gnu 0x2222222222222222' 'gnu 0x3333333333333333' ;;
		esac
		capture boot-id 0 | sym --debug-dir "$tmp/dbg"
		is '  and not another one there' "$(line)" '-,'
	done
done

# The container's name within the path of a control group
hex64=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
is 'a container by its ID, wherever an engine put it' \
	"$("$BUILD/tests/sym-container" /docker/$hex64 /docker/$hex64/init.scope /system.slice/docker-$hex64.scope \
		/kubepods/burstable/pod12-34/cri-containerd-$hex64.scope | sort | uniq -c | sed 's/^ *//')" "4 $hex64"
is '  else by all of the path' "$("$BUILD/tests/sym-container" /lxc.payload.web/x "/docker/${hex64%f}")" \
	"/lxc.payload.web/x
/docker/${hex64%f}"
is '  the root is none' "$("$BUILD/tests/sym-container" / '')" ''
done_testing
