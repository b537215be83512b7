#!/bin/sh
# Code of JIT compilers: perf maps, as of the time of the sample
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"

sym() { cprof-dump -r | cprof-sym 2>"$tmp/err" >"$tmp/out"; }
# jitmap TIME TEXT [PROCESS [GENERATION]]
jitmap() { printf 'jitmap time=%s process=%s generation=%s data="%s"\n' "$1" "${3:-1}" "${4:-0}" "$2"; }
code() { mapping "${1:-1}" 0 0x70000000 0x100000 0x0; }
# sample TIME NODE
sample() { echo "sample time=$1 event=1 cpu=0 thread=1 user=$2 kernel=0 weight=1"; }

{
	segment; process 1; code
	jitmap 10 '70000000 10 plain\n0x70000010 0x10 with 0x\n70000020 10 spaces; and semicolons \n70000030 10 \n70000040 10 LazyCompile:~f /a.js:1\n'
	jitmap 11 'garbage\n\n70000050\n70000050 zz x\n70000050 0 empty\n7000005010 bad\nffffffffffffffff 10 wraps\n12345678901234567 1 long\n70000060 10\x09by a tab\x0d\n  70000070 10 indented\n70000080 10 UPPER\n7000009F 1 digits\n'
	printf '0x%x\n' 0x70000000 0x7000000f 0x70000018 0x70000020 0x70000030 0x70000047 0x70000050 0x70000060 0x70000070 \
		0x70000080 0x7000009f 0x700000a0 | frames 1 exact 1 1000
	finish
} | sym
is 'the forms of a line' "$(name_of "$tmp/out" | tr '\n' ',')" \
	'plain+0 perfmap,plain+15 perfmap,with 0x+8 perfmap,spaces; and semicolons+0 perfmap,-,LazyCompile:~f /a.js:1+7 perfmap,-,by a tab+0 perfmap,-,UPPER+0 perfmap,digits+0 perfmap,-,'
is 'the summary' "$(cat "$tmp/err")" 'cprof-sym: 8 of 12 frames named (66.7 %); unresolved: 4 in //anon (not-a-file)'

{
	segment; process 1; code
	jitmap 10 '70000000 100 old\n70000100 40 a\n70000140 40 b\n'
	jitmap 11 '70000000 100 new\n70000120 40 across\n'
	printf '0x%x\n' 0x70000050 0x70000110 0x70000130 0x70000150 0x70000170 | frames 1 exact 1 1000
	finish
} | sym
is 'the last entry counts, also where it covers a part' "$(name_of "$tmp/out" | tr '\n' ',')" \
	'new+80 perfmap,a+16 perfmap,across+16 perfmap,across+48 perfmap,b+48 perfmap,'

{
	segment; process 1; code
	jitmap 10 '70000000 100 one\n'
	echo 0x70000010 | frames 1 exact 1 20
	jitmap 30 '70000000 100 two\n'
	sample 40 16
	echo flush
	sample 45 16
	jitmap 50 '70000800 100 other\n'
	sample 60 16
	jitmap 70 '70000000 100 one\n'
	sample 80 16
	finish
} | sym
is 'each sample gets the name of its time; what did not change is not repeated' "$(name_of "$tmp/out" | tr '\n' ',')" \
	'one+16 perfmap,two+16 perfmap 30,one+16 perfmap 70,'

{
	segment; process 1; code
	echo 0x70000010 | frames 1 exact 1 20
	echo flush
	jitmap 30 '70000000 100 late\n'
	echo flush
	jitmap 40 '70000000 100 later\n'
	finish
} | sym
is 'code that ran before its line was written gets the first line after it' "$(name_of "$tmp/out")" 'late+16 perfmap'
is '  in the block in which it came' "$(cprof-dump "$tmp/out" | awk '/^(jitmap|symbol|flush)/ { print $1 }' | tr '\n' ' ')" \
	'flush flush jitmap symbol flush jitmap flush flush '

{
	segment; process 1; code
	jitmap 10 '70000000 100 first\n'
	echo 0x70000010 | frames 1 exact 1 20
	jitmap 30 '70000800 100 elsewhere\n' 1 1
	sample 40 16
	echo flush
	jitmap 50 '70000000 100 second\n' 1 1
	sample 60 16
	finish
} | sym
is 'a new generation of the file makes the old one void' "$(name_of "$tmp/out" | tr '\n' ',')" \
	'first+16 perfmap,second+16 perfmap 30,'

{
	segment; process 1; code
	jitmap 10 '70000000 10 call_last\n70000010 10 next\n'
	echo 0x70000010 | frames 1 return 1
	echo 0x70000010 | frames 1 exact 2
	finish
} | sym
is 'a return address belongs to the code before it' "$(name_of "$tmp/out" | tr '\n' ',')" 'call_last+16 perfmap,next+0 perfmap,'

{
	segment; process 1; process 2; code 1; code 2
	file 1 '//anon'
	file 2 '/memfd:doublemapper (deleted)'
	file 3 '/lib/real.so' 0102030405060708
	mapping 1 1 0x71000000 0x1000 0x0
	mapping 1 2 0x72000000 0x1000 0x0
	mapping 1 3 0x73000000 0x1000 0x0
	jitmap 10 '70000000 5000000 everything\n'
	printf '0x%x\n' 0x70000001 0x71000001 0x72000001 0x73000001 | frames 1 exact 1
	echo 0x70000001 | frames 2 exact 9
	echo 'process id=3 time=1500 pid=103 nspid=0 parent=1 start=5 gen=0 via=fork'
	echo 'thread id=3 time=1500 process=3 tid=103'
	echo 0x70000001 | frames 3 exact 10 1600
	finish
} | sym
is 'a map names memory without a file, of its process and of what it forks' "$(name_of "$tmp/out" | tr '\n' ',')" \
	'everything+1 perfmap,everything+16777217 perfmap,everything+33554433 perfmap,-,-,everything+1 perfmap,'
is '  and the sources are told' "$(sources "$tmp/out" | tr '\n' ',')" \
	'1 not-a-file none //anon,2 not-a-file none /memfd:doublemapper (deleted),3 no-file none /lib/real.so,'

# Something else is mapped over a name: the old name must no longer be used.
{
	segment; process 1; code
	jitmap 10 '70000000 100 jitted\n'
	echo 0x70000010 | frames 1 exact 1 20
	file 1 /lib/gone.so 0102030405060708
	mapping 1 1 0x70000000 0x1000 0x0 30
	sample 40 16
	finish
} | sym
is 'a frame whose memory became something without a name is told to have none' "$(name_of "$tmp/out" | tr '\n' ',')" \
	'jitted+16 perfmap,- none 30,'

# 40,000 lines in pieces of ten, at 400 addresses repeatedly, against the simplest possible search
awk 'BEGIN {
	srand(3)
	for (i = 0; i < 40000; i++) {
		start = 1879048192 + int(rand() * 400) * 64
		size = 32 + int(rand() * 160)
		printf "%x %x f%d\n", start, size, i
	}
}' >"$tmp/lines"
awk 'BEGIN { srand(5); for (i = 0; i < 200; i++) printf "%d\n", 1879048192 + int(rand() * 26000) }' >"$tmp/addresses"
{
	segment; process 1; code
	awk '{ piece = piece $0 "\\n" } NR % 10 == 0 { print "jitmap time=" NR " process=1 generation=0 data=\"" piece "\""; piece = "" }' "$tmp/lines"
	frames 1 exact 1 50000 <"$tmp/addresses"
	finish
} | sym
awk '
function dec(h,  i, v) { v = 0; for (i = 1; i <= length(h); i++) v = v * 16 + index("0123456789abcdef", substr(h, i, 1)) - 1; return v }
NR == FNR { start[NR] = dec($1); end[NR] = start[NR] + dec($2); n = NR; next }
{ for (i = n; i > 0 && !($1 >= start[i] && $1 < end[i]); i--); print i ? "f" (i - 1) "+" ($1 - start[i]) " perfmap" : "-" }
' "$tmp/lines" "$tmp/addresses" >"$tmp/want"
name_of "$tmp/out" >"$tmp/got"
same 'of 40,000 entries that overlap, the last one everywhere' "$tmp/got" "$tmp/want"

# The summary names the page for a runtime whose code has no names.
# runs PATH FILE LINE...: a process that maps PATH. Its code is in FILE (0: none), its perf map has the lines.
runs() {
	path=$1 file=$2
	shift 2
	segment; process 1
	file 1 "$path"; file 2 /memfd:doublemapper
	mapping 1 1 0x400000 0x10000 0x0
	mapping 1 "$file" 0x70000000 0x100000 0x0
	for line; do jitmap 10 "$line"; done
	printf '%s\n' 0x400100 0x70000000 0x70000100 0x70000200 | frames 1 exact 1 1000
	finish
}
hint() {
	sed -n 's/^cprof-sym: \([0-9]* of [0-9]* frames compiled by [^;]*\); cprof-languages(7).*/\1/p' "$tmp/err"
}
runs /usr/lib/jvm/lib/server/libjvm.so 0 | sym
is 'Java without a perf map: the summary names the page' "$(hint)" \
	'3 of 3 frames compiled by Java at run time have no name'
runs /usr/bin/node 0 '70000000 10 one\n' | sym
is '  or with the names of some' "$(hint)" \
	'2 of 3 frames compiled by Node.js at run time have no name'
runs /usr/bin/node 0 '70000000 10 one\n70000100 10 two\n' | sym
is '  but not if most have names' "$(hint)" ''
runs /opt/app 2 | sym
is '  and a program of .NET in one file' "$(hint)" \
	'3 of 3 frames compiled by .NET at run time have no name'
runs /opt/app 0 | sym
is '  nor of a program that is not known' "$(hint)" ''
functions='/^mapping .* file=0/a\
script id=1 language=javascript process=1 path="/a.js" units=0 file=0 offset=0x0 width=0\
function id=1 script=1 name="f" line=7 flags=0 start=0\
lang-frame id=50 process=1 language=javascript function=1 line=7 state=ok tier=none inlined=0 position=0'
runs /usr/bin/node 0 | sed "$functions" | sym
is '  nor if the recorder knows its functions' "$(hint)" ''
for path in beam.smp mono-sgen luajit-2.1 libnode.so.108; do
	runs "/usr/lib/$path" 0 | sym
	like "  $path" "$(hint)" '^3 of 3'
done
done_testing
