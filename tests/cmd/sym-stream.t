#!/bin/sh
# The effect of cprof-sym on a stream: it adds names, changes nothing else, and adds no name twice.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"

cp "$tests/data/three.c" "$tmp/f.c"
mkdir -p "$tmp/a/lib" "$tmp/b/lib" "$tmp/none"
gcc -O1 -shared -fPIC -Wl,--build-id -o "$tmp/a/lib/f.so" "$tmp/f.c"
id=$(build_id "$tmp/a/lib/f.so")
at() { nm "$tmp/a/lib/f.so" | awk -v s="$1" '$3 == s { print "0x" $1 }'; }
small() {
	segment
	process 1
	file 1 /lib/f.so "$id"
	loads 1 1 "$tmp/a/lib/f.so"
	printf '0x%x\n' $(($(at first) + 1)) $(($(at second) + 2)) $(($(at third) + 3)) 0x10 | frames
	echo flush
	printf '0x%x\n' $(($(at third) + 1)) $(($(at first) + 2)) | frames 1 exact 5 2000
	finish
}
small | cprof-dump -r >"$tmp/small.bin"
status 'a whole stream is status 0' 0 cprof-sym --symfs "$tmp/a" "$tmp/small.bin"
cp "$tmp/out" "$tmp/small.sym"
is '  with one line about it' "$(cat "$tmp/err")" \
	'cprof-sym: 5 of 6 frames named (83.3 %); unresolved: 1 in [unmapped] (nothing was mapped there)'
is '  and the names' "$(names "$tmp/small.sym" | sed 's/^[^ ]* //' | tr '\n' ',')" \
	'first+1 symtab,second+2 symtab,third+3 symtab,-,third+1 symtab,first+2 symtab,'
is '  and where they come from' "$(sources "$tmp/small.sym")" "1 ok symtab $tmp/a/lib/f.so"
is '  each block is followed by its names' \
	"$(cprof-dump "$tmp/small.sym" | awk '/^sample/ { print } /^symbol/ { print $1 } /^flush/ { print }' | uniq -c | awk '{ print $1 $2 }' | tr '\n' ' ')" \
	'1flush 1sample 1sample 1sample 1sample 3symbol 1flush 1sample 1sample 2symbol 2flush '
is '  each text once' "$(cprof-dump "$tmp/small.sym" | grep -c '^string')" 3

# Ids of strings that leave no room above them: new ones are those that the input has not used.
high() { # ID...
	cprof-dump "$tmp/small.bin" | sed '/^process/,$d'
	printf 'string id=%s text="s"\n' "$@"
	cprof-dump "$tmp/small.bin" | sed -n '/^process/,$p'
}
for i in 2147483647 2147483646 2147483648 18446744073709551615; do
	high 1 $i | cprof-dump -r >"$tmp/high.bin"
	status "a string with the id $i" 0 cprof-sym --symfs "$tmp/a" "$tmp/high.bin"
	cp "$tmp/out" "$tmp/high.sym"
	is '  and all names' "$(names "$tmp/high.sym")" "$(names "$tmp/small.sym")"
done
high 1 2147483647 | awk '/^flush/ && ++n == 2 { print; print "string id=2 text=\"mine\""; next } { print }' |
	cprof-dump -r >"$tmp/later.bin"
cprof-sym --symfs "$tmp/a" "$tmp/later.bin" >"$tmp/later.sym" 2>"$tmp/err"
is 'an id that the input defines later' "$(names "$tmp/later.sym")" "$(names "$tmp/small.sym")"
is '  is the input'"'"'s from then on' "$(cprof-dump "$tmp/later.sym" | grep -c '^string id=2 ')" 2

# A waker's stack has names, too, also if it is the last one of the segment.
{
	segment
	process 1
	process 2
	file 1 /lib/f.so "$id"
	loads 1 2 "$tmp/a/lib/f.so"
	echo "frame id=1 process=2 kind=exact address=$(at first)"
	echo 'node id=16 parent=0 frame=1'
	echo 'woken time=2000 thread=1 slept=500 queued=10 by=task waker=2 user=16 kernel=0'
	finish
} | cprof-dump -r >"$tmp/woken.bin"
is "a waker's stack has names" "$(cprof-sym --symfs "$tmp/a" "$tmp/woken.bin" 2>/dev/null | name_of)" 'first+0 symtab'

# Everything else passes through: all records in the input, known or not.
sed -n "/^cat >.*a.txt/,/^X\$/p" "$here/dump-roundtrip.t" | sed '1d;$d' >"$tmp/all.txt"
cprof-dump -r "$tmp/all.txt" >"$tmp/all.bin"
cprof-sym --symfs "$tmp/none" "$tmp/all.bin" >"$tmp/all.sym" 2>/dev/null
cprof-dump "$tmp/all.sym" >"$tmp/all.got" 2>/dev/null
is 'all records pass through, also unknown ones and unknown fields' \
	"$(diff "$tmp/all.txt" "$tmp/all.got" | grep -c '^<')" 0
is '  and only names were added' "$(diff "$tmp/all.txt" "$tmp/all.got" | grep '^>' | grep -Evc '^> (string|symbol|source) ')" 0

# A second run changes nothing.
twice() { # DESCRIPTION STREAM OPTION...
	d=$1 x=$2
	shift 2
	cprof-sym "$@" "$x" >"$tmp/once" 2>/dev/null
	cprof-sym "$@" "$tmp/once" >"$tmp/twice" 2>"$tmp/err"
	same "$d" "$tmp/once" "$tmp/twice"
}
twice 'twice is once: a small stream' "$tmp/small.bin" --symfs "$tmp/a"

# One block whose names need several; with a JIT and the kernel, too
self=$(command -v cprof-sym)
cp "$self" "$tmp/a/lib/one"
cp "$self" "$tmp/b/lib/two"
code() { readelf -SW "$1" | sed -n 's/.* \.text *PROGBITS *\([0-9a-f]*\) .*/0x\1/p'; }
every() { awk -v a="$(($(code "$1")))" -v n="$2" -v base="$3" 'BEGIN { for (i = 0; i < n; i++) printf "%d\n", base + a + i * 5 }'; }
{
	segment
	process 1
	file 1 /lib/one "$(build_id "$self")"
	file 2 /lib/two ""
	loads 1 1 "$self"
	loads 2 1 "$self" | awk '{ split($4, s, "="); $4 = "start=" s[2] + 268435456; print }'
	echo 'ksym time=1 address=0xffffffff81000000 size=0x100 name="do_it" module=""'
	every "$self" 20000 0 | frames 1 exact 1 1000
	echo 'mapping time=1001 process=1 start=0x70000000 length=0x10000 offset=0x0 prot=7 file=0'
	printf '0x%x\n' 0x70000010 0x70000110 | frames 1 exact 50001 1002
	printf '0x%x\n' 0xffffffff81000010 0xffffffff82000010 | frames 0 exact 60001 1002 1
	every "$self" 20000 268435456 | frames 1 exact 20001 1003
	echo flush
	printf '%s\n' 'jitmap time=2000 process=1 generation=0 data="70000000 100 early\n70000100 100 late\n"'
	echo 'ksym time=2001 address=0xffffffff82000000 size=0x100 name="do_that" module="m"'
	finish
} | cprof-dump -r >"$tmp/large.bin"
twice 'twice is once: names of more than a block, a perf map, the kernel' "$tmp/large.bin" --symfs "$tmp/a"
is '  and there were such names' "$(cprof-dump "$tmp/once" | awk '/^symbol/ { n++ } /^flush/ && n { print n; n = 0 }' | wc -l | awk '{ print ($1 > 2) }')" 1
cprof-sym --symfs "$tmp/a" "$tmp/large.bin" 2>/dev/null >"$tmp/on.a"
cprof-sym --symfs "$tmp/none" "$tmp/on.a" 2>/dev/null >"$tmp/on.none"
same 'on a host without the files nothing is lost' "$tmp/on.a" "$tmp/on.none"
cprof-sym --symfs "$tmp/b" "$tmp/on.a" 2>"$tmp/err" >"$tmp/on.ab"
like 'on a host with other files the other frames get their names' "$(cat "$tmp/err")" '^cprof-sym: 3[89][0-9]{3} of 40004 frames named '
names "$tmp/on.a" | grep -v -- '-$' >"$tmp/names.a"
names "$tmp/on.ab" | grep -Fxc -f "$tmp/names.a" >"$tmp/kept"
is '  and the names from the first host stay' "$(cat "$tmp/kept")" "$(wc -l <"$tmp/names.a")"
twice '  twice is once there' "$tmp/on.a" --symfs "$tmp/b"
twice '  and back on the first' "$tmp/on.ab" --symfs "$tmp/a"
same '    where nothing is left to add' "$tmp/on.ab" "$tmp/once"
cprof-sym --symfs "$tmp/b" "$tmp/large.bin" 2>/dev/null | cprof-sym --symfs "$tmp/a" 2>/dev/null | names | sort -u >"$tmp/ba"
names "$tmp/on.ab" | sort -u | cmp -s - "$tmp/ba" && pass 'the order of hosts does not matter to the names' || fail 'the order of hosts does not matter to the names'

# Better names replace worse ones, worse ones do not replace better ones.
mkdir -p "$tmp/stripped/lib"
strip -o "$tmp/stripped/lib/f.so" "$tmp/a/lib/f.so"
cprof-sym --symfs "$tmp/stripped" "$tmp/small.bin" 2>/dev/null >"$tmp/worse"
is 'from a stripped file: exported names' "$(name_of "$tmp/worse" | nameless | tr '\n' ',')" 'first+1 dynsym,-,third+3 dynsym,-,third+1 dynsym,first+2 dynsym,'
cprof-sym --symfs "$tmp/a" "$tmp/worse" 2>/dev/null >"$tmp/better"
is 'again with the whole file: better ones behind them' "$(names "$tmp/better" | grep -v ' bounds$' | sed 's/^[^ ]* //' | tr '\n' ',')" \
	'first+1 dynsym,first+1 symtab,second+2 symtab,third+3 dynsym,third+3 symtab,-,third+1 dynsym,third+1 symtab,first+2 dynsym,first+2 symtab,'
is '  and the source is told again' "$(sources "$tmp/better" | cut -d' ' -f1-3 | tr '\n' ',')" '1 ok dynsym,1 ok symtab,'
twice '  twice is once' "$tmp/worse" --symfs "$tmp/a"
cprof-sym --symfs "$tmp/stripped" "$tmp/small.sym" 2>/dev/null | cmp -s - "$tmp/small.sym" &&
	pass 'worse names do not replace better ones' || fail 'worse names do not replace better ones'

# IDs of strings already in the stream keep their meaning.
is 'new strings have ids far above those in the stream' \
	"$(cprof-dump "$tmp/better" | awk '/^string/ && !/text="\[/ { print $2, $3 }' | tr '\n' ' ')" \
	'id=1 text="first" id=3 text="third" id=1048576 text="second" '

# Segments
cat "$tmp/small.bin" "$tmp/large.bin" "$tmp/small.bin" | cprof-sym --symfs "$tmp/a" 2>/dev/null >"$tmp/cat.sym"
cprof-sym --symfs "$tmp/a" "$tmp/large.bin" 2>/dev/null | cat "$tmp/small.sym" - "$tmp/small.sym" >"$tmp/sym.cat"
same 'a stream of several segments is named as each of them' "$tmp/cat.sym" "$tmp/sym.cat"

# Live: a block's names come with the block.
mkfifo "$tmp/go"
head -c "$(($(wc -c <"$tmp/small.bin") - 60))" "$tmp/small.bin" >"$tmp/head"
seen=$( { cat "$tmp/head"; timeout 20 cat "$tmp/go" >/dev/null; } | cprof-sym --symfs "$tmp/a" 2>/dev/null |
	timeout 20 cprof-dump 2>/dev/null | { sed -n '/^symbol/{p;q}'; : >"$tmp/go"; })
like 'names come with their block, while the input goes on' "$seen" '^symbol frame=1 '

# Bad input
status 'empty input' 3 cprof-sym /dev/null
like '  is a sentence' "$(cat "$tmp/err")" 'empty input, not a cprof stream$'
status 'a text file' 3 cprof-sym "$here/sym-stream.t"
status 'a file that is not there' 1 cprof-sym "$tmp/not-there"
status 'an output that is full' 1 sh -c 'cprof-sym "$1" >/dev/full' - "$tmp/large.bin"
status 'an unknown option' 2 cprof-sym --nonsense
status 'an unknown way to demangle' 2 cprof-sym --demangle some "$tmp/small.bin"
like '  is told in a sentence' "$(head -1 "$tmp/err")" 'invalid --demangle "some" \(expected none, simplified, templates or full\)$'
for option in --symfs --debug-dir; do
	status "$option: a directory that is not there" 1 cprof-sym $option "$tmp/not-there" "$tmp/small.bin"
	is '  is a sentence' "$(cat "$tmp/err")" "cprof-sym: $option: $tmp/not-there: No such file or directory"
	is '  and nothing else' "$(wc -c <"$tmp/out")" 0
	status "$option: a file" 1 cprof-sym $option "$tmp/small.bin" "$tmp/small.bin"
	is '  is a sentence' "$(cat "$tmp/err")" "cprof-sym: $option: $tmp/small.bin: Not a directory"
	status "$option: nothing" 2 cprof-sym $option '' "$tmp/small.bin"
done
status 'two roots' 2 cprof-sym --symfs "$tmp" --symfs "$tmp" "$tmp/small.bin"
status 'two directories of debug files' 0 cprof-sym --debug-dir "$tmp" --debug-dir "$tmp/a" "$tmp/small.bin"
status 'two files' 0 cprof-sym "$tmp/small.bin" "$tmp/small.bin"
status 'help' 0 cprof-sym --help
like '  says how to use it' "$(cat "$tmp/out")" '^usage: cprof-sym '
status 'version' 0 cprof-sym --version
is 'a pipe that closes is no message' "$(cprof-sym "$tmp/large.bin" 2>"$tmp/err" | head -c 1 >/dev/null; cat "$tmp/err")" ''

{ small | sed '/^end/d;$d'; echo 'symbol frame=99 from=0 level=0 source=symtab name=1 offset=0 file=0 line=0'; echo flush; } |
	cprof-dump -r | cprof-sym --symfs "$tmp/a" >"$tmp/out" 2>"$tmp/err"
is 'a record that makes no sense is told' "$(grep -c 'a name for an undefined frame' "$tmp/err")" 1
is '  and passed on, for the next reader to report' "$(cprof-dump "$tmp/out" 2>/dev/null | grep -c 'frame=99')" 1

# Cut at every byte, and every byte flipped: status 3, no crash, and complete blocks are delivered.
bad='' short=''
size=$(wc -c <"$tmp/small.bin")
n=1
while [ $n -lt "$size" ]; do
	head -c $n "$tmp/small.bin" | cprof-sym --symfs "$tmp/a" >"$tmp/out" 2>/dev/null
	[ $? = 3 ] || bad="$bad $n"
	[ "$n" -lt 700 ] || [ "$(cprof-dump "$tmp/out" 2>/dev/null | grep -c '^symbol')" -ge 3 ] || short="$short $n"
	n=$((n + 1))
done
is "cut at each of $size bytes: status 3" "$bad" ''
bad=''
n=0
while [ $n -lt "$size" ]; do
	{ head -c $n "$tmp/small.bin"; head -c $((n + 1)) "$tmp/small.bin" | tail -c 1 | tr '\000-\377' '\001-\377\000'; tail -c +$((n + 2)) "$tmp/small.bin"; } >"$tmp/flip"
	cprof-sym --symfs "$tmp/a" "$tmp/flip" >"$tmp/out" 2>/dev/null
	[ $? = 3 ] || bad="$bad $n"
	n=$((n + 1))
done
is "each of $size bytes changed: status 3" "$bad" ''
done_testing
