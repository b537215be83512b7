#!/bin/sh
# Code of JIT compilers: jitdump files, as of the time of the sample, whenever their records arrive.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"

sym() { cprof-dump -r | cprof-sym 2>"$tmp/err" >"$tmp/out"; }
# load TIME ADDRESS SIZE NAME [PROCESS]; move TIME FROM TO SIZE
load() { echo "jitcode time=$1 process=${5:-1} kind=load address=$2 size=$3 old=0x0 name=\"$4\""; }
move() { echo "jitcode time=$1 process=1 kind=move address=$3 size=$4 old=$2 name=\"\""; }
code() { mapping "${1:-1}" 0 0x70000000 0x100000 0x0; }
# sample TIME NODE
sample() { echo "sample time=$1 event=1 cpu=0 thread=1 user=$2 kernel=0 weight=1"; }

{
	segment; process 1; code
	load 10 0x70000000 0x100 'one;two three'
	load 11 0x70000100 0x40 a
	load 12 0x70000140 0x40 b
	load 13 0x70000120 0x40 across
	echo 'jitcode time=14 process=1 kind=close address=0x0 size=0x0 old=0x0 name=""'
	printf '0x%x\n' 0x70000000 0x700000ff 0x70000110 0x70000130 0x70000150 0x70000170 0x70000180 | frames 1 exact 1 1000
	printf '0x%x\n' 0x70000100 | frames 1 return 10 1000
	finish
} | sym
is 'first byte, last byte, what covers a part, and nothing behind' "$(name_of "$tmp/out" | tr '\n' ',')" \
	'one;two three+0 jitdump,one;two three+255 jitdump,a+16 jitdump,across+16 jitdump,across+48 jitdump,b+48 jitdump,-,one;two three+256 jitdump,'

{
	segment; process 1; code
	load 10 0x70000000 0x100 one
	echo 0x70000010 | frames 1 exact 1 20
	load 30 0x70000000 0x100 two
	sample 40 16
	echo flush
	sample 45 16
	load 50 0x70000800 0x100 other
	sample 60 16
	load 70 0x70000000 0x100 one
	sample 80 16
	finish
} | sym
is 'an address that is used again: each sample gets the name of its time' "$(name_of "$tmp/out" | tr '\n' ',')" \
	'one+16 jitdump,two+16 jitdump 30,one+16 jitdump 70,'

{
	segment; process 1; code
	load 10 0x70000000 0x100 mover
	load 11 0x70000200 0x100 overwritten
	printf '0x%x\n' 0x70000010 0x70000210 | frames 1 exact 1 20
	move 30 0x70000000 0x70000200 0x100
	sample 40 16
	sample 40 17
	finish
} | sym
is 'a move takes the name along, and leaves none behind' "$(name_of "$tmp/out" | tr '\n' ',')" \
	'mover+16 jitdump,- none 30,overwritten+16 jitdump,mover+16 jitdump 30,'

# All records come at the end, as from a program that writes through a large buffer.
{
	segment; process 1; code
	printf '0x%x\n' 0x70000010 0x70000410 0x70000810 | frames 1 exact 1 20
	echo flush
	sample 40 16
	load 10 0x70000000 0x100 first
	load 30 0x70000000 0x100 second
	load 35 0x70000400 0x100 afterwards
	load 36 0x70000400 0x100 'and later'
	load 37 0x70000600 0x100 moves
	move 38 0x70000600 0x70000800 0x100
	echo flush
	sample 60 16
	finish
} | sym
is 'told late: the name of the time, or else the first after it' "$(name_of "$tmp/out" | tr '\n' ',')" \
	'first+16 jitdump,second+16 jitdump 38,afterwards+16 jitdump,moves+16 jitdump,'
is '  and all is said once' "$(cprof-dump "$tmp/out" | grep -c '^symbol')" 4

# With a perf map as well: the jitdump is better, wherever it comes.
{
	segment; process 1; code
	printf '%s\n' 'jitmap time=5 process=1 generation=0 data="70000000 100 by_map\n70000200 100 only_map\n"'
	printf '0x%x\n' 0x70000010 0x70000210 0x70000310 | frames 1 exact 1 20
	echo flush
	load 10 0x70000000 0x100 by_dump
	load 11 0x70000300 0x100 late_dump
	printf '%s\n' 'jitmap time=30 process=1 generation=0 data="70000300 100 late_map\n"'
	finish
} | sym
is 'before a perf map' "$(name_of "$tmp/out" | awk '/by_map/ { next } { print }' | tr '\n' ',')" \
	'by_dump+16 jitdump,only_map+16 perfmap,late_dump+16 jitdump,'
cprof-sym "$tmp/out" >"$tmp/again" 2>/dev/null
same '  a second run changes nothing' "$tmp/out" "$tmp/again"
is '  readers take the better' "$(cprof-fold -a "$tmp/out" | sed 's/.*;//' | sort | tr '\n' ' ')" \
	'by_dump_[j] 1 late_dump_[j] 1 only_map_[j] 1 '

{
	segment; process 1; code
	echo 'process id=3 time=15 pid=103 nspid=0 parent=1 start=5 gen=0 via=fork'
	echo 'thread id=3 time=15 process=3 tid=103'
	printf '0x%x\n' 0x70000010 0x70000210 | frames 3 exact 1 20
	echo flush
	load 10 0x70000000 0x100 parents
	load 10 0x70000200 0x100 parents_too
	load 11 0x70000200 0x100 own 3
	finish
} | sym
is 'a child has what its parent told, also late, and its own' "$(name_of "$tmp/out" | tr '\n' ',')" \
	'parents+16 jitdump,own+16 jitdump,'

{
	segment; process 1; code
	load 10 0xfffffffffffffff0 0xf wraps_not
	load 10 0xfffffffffffffff0 0x20 wraps
	load 10 0x70000000 0x0 empty
	load 10 0x70000000 0x10 nobodys 9
	move 10 0x70000900 0x70000000 0x100
	echo 'jitcode time=11 process=1 kind=77 address=0x70000000 size=0x10 old=0x0 name="unknown kind"'
	echo 0x70000000 | frames 1 exact 1 20
	finish
} | sym
is 'what makes no sense names nothing' "$(name_of "$tmp/out" | tr '\n' ',')" '-,'

# 40,000 records at 400 addresses, one in four a move, in order and in any order, against the
# simplest possible search
awk 'BEGIN {
	srand(3)
	for (i = 1; i <= 4000; i++) {
		start = 1879048192 + int(rand() * 400) * 64
		if (rand() < .25)
			printf "%d move %d %d %d\n", i * 10, start, 32 + int(rand() * 160), 1879048192 + int(rand() * 400) * 64
		else
			printf "%d load %d %d 0 f%d\n", i * 10, start, 32 + int(rand() * 160), i
	}
}' >"$tmp/codes"
awk 'BEGIN { srand(5); for (i = 0; i < 2000; i++) printf "%d %d\n", 5 + 10 * int(rand() * 4000), 1879048192 + int(rand() * 26000) }' |
	sort -n >"$tmp/questions"
awk '
NR == FNR { time[NR] = $1; kind[NR] = $2; start[NR] = $3; size[NR] = $4; old[NR] = $5; name[NR] = $6; n = NR; next }
# look: sets base and returns the name at the address as of record i
function look(a, i) {
	for (; i > 0; i--) {
		if (a >= start[i] && a < start[i] + size[i]) {
			if (kind[i] == "load") { base = start[i]; return name[i] }
			if (!(i in moved)) {
				moved[i] = look(old[i], i - 1)
				from[i] = old[i] - base <= start[i] ? start[i] - (old[i] - base) : start[i]
			}
			base = from[i]
			return moved[i]
		}
		if (kind[i] == "move" && a >= old[i] && a < old[i] + size[i])
			return ""
	}
	return ""
}
{
	for (i = last; i < n && time[i + 1] <= $1; i++);
	last = i
	got = look($2, i)
	for (k = i + 1; got == "" && k <= n; k++)
		if ($2 >= start[k] && $2 < start[k] + size[k])
			got = look($2, k)
	print got == "" ? "-" : got "+" ($2 - base) " jitdump"
}' "$tmp/codes" "$tmp/questions" >"$tmp/want"
codes() { awk '{ printf "jitcode time=%d process=1 kind=%s address=0x%x size=0x%x old=0x%x name=\"%s\"\n", $1, $2, $3, $4, $5, $6 }' "$tmp/codes"; }
# Each lookup has a frame of its own, a byte or a process apart, so that it has one sample.
questions() { awk '{ printf "frame id=%d process=%d kind=exact address=0x%x\nnode id=%d parent=0 frame=%d\nsample time=%d event=1 cpu=0 thread=%d user=%d kernel=0 weight=1\n", \
	NR, 1, $2, NR + 15, NR, $1, 1, NR + 15 }' "$tmp/questions"; }
{ segment; process 1; code; { codes; questions; } | awk '/^(jitcode|sample)/ { match($0, /time=[0-9]*/); t = substr($0, RSTART + 5, RLENGTH - 5) }
	/^frame/ { f = $0; next } /^node/ { f = f "\n" $0; next } /^sample/ { $0 = f "\n" $0 } { gsub(/\n/, "\001"); print t "\t" $0 }' |
	sort -n -s | cut -f2 | tr '\001' '\n'; finish; } | sym
name_of "$tmp/out" | sed 's/ [0-9]*$//' >"$tmp/got"
same 'of 4,000 records that overlap and move, in order' "$tmp/got" "$tmp/want"
{ segment; process 1; code; questions; codes; finish; } | sym
name_of "$tmp/out" | sed 's/ [0-9]*$//' >"$tmp/got"
same '  all of them at the end' "$tmp/got" "$tmp/want"
{ segment; process 1; code; questions; codes | sort -R --random-source="$tmp/codes"; finish; } | sym
name_of "$tmp/out" | sed 's/ [0-9]*$//' >"$tmp/got"
same '  and in any order' "$tmp/got" "$tmp/want"
done_testing
