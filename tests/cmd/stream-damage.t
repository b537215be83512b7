#!/bin/sh
# Inputs that are not streams, and damaged streams: the output, the message, and the status
. "$(dirname "$0")/../lib/lib.sh"

small=$tmp/small.bin
cprof-dump -r "$tests/data/small.txt" >"$small"

# The start of each block, and the end: a block ends with a "flush" line, and so does a prefix of them.
sizes=$(awk -v tmp="$tmp" '{ print >> (tmp "/part.txt") } /^flush$/ { close(tmp "/part.txt")
	system("cprof-dump -r " tmp "/part.txt | wc -c") }' "$tests/data/small.txt")
set -- 0 $sizes
is "a capture of eight blocks" $# 9
n=0
while [ $# -gt 1 ]; do
	dd if="$small" bs=1 skip="$1" count=$(($2 - $1)) of="$tmp/b$n" 2>/dev/null
	n=$((n + 1))
	shift
done

# refused DESCRIPTION WANT <FILE: status 3, nothing on stdout, this sentence on stderr
refused() {
	status "$1" 3 cprof-dump
	is "  in a sentence" "$(cat "$tmp/err")" "cprof-dump: standard input: $2"
	is "  and nothing else" "$(wc -c <"$tmp/out" | tr -d ' ')" 0
}
refused "empty input" "empty input, not a cprof stream" </dev/null
refused "a text file" "text, not a cprof stream" <"$tests/lib/lib.sh"
refused "a stream as text" "a stream as text: convert it with cprof-dump -r" <"$tests/data/small.txt"
refused "an ELF file" "an ELF file, not a cprof stream" <"$BIN/cprof-dump"
printf 'PERFILE2\150\0\0\0\0\0\0\0' >"$tmp/in"
refused "perf.data" \
	"a perf.data file, not a cprof stream: perf script -i FILE | cprof-convert -t stream" <"$tmp/in"
head -c 100000 /dev/zero >"$tmp/in"
refused "zeroes" "not a cprof stream" <"$tmp/in"
printf x >"$tmp/in"
refused "one letter" "text, not a cprof stream" <"$tmp/in"
printf 'segment major=2 minor=0 least=2\nend time=0 reason=closed samples=0\n' | cprof-dump -r >"$tmp/in"
refused "a newer major version" "requires a reader of version 2, this one has version 1" <"$tmp/in"
printf 'segment major=9 minor=0 least=1\nend time=0 reason=closed samples=0\n' | cprof-dump -r >"$tmp/in"
status "a newer writer that asks for no newer reader" 0 cprof-dump "$tmp/in"
mkdir "$tmp/folder"
status "a folder without captures" 3 cprof-dump "$tmp/folder"
is "  in a sentence" "$(cat "$tmp/err")" "cprof-dump: $tmp/folder: cannot find a capture in it"
status "a file that is not there" 1 cprof-dump "$tmp/none"

# damaged DESCRIPTION WANT BLOCK...: reads these blocks in this order; checks the sentence, and leaves
# $tmp/out
damaged() {
	description=$1 want=$2
	shift 2
	for b in "$@"; do cat "$tmp/$b"; done >"$tmp/in"
	status "$description" 3 cprof-dump "$tmp/in"
	is "  in a sentence" "$(sed "s|$tmp/||" "$tmp/err")" "cprof-dump: in: $want"
}
lines() { grep -c "$1" "$tmp/out"; }
starts() { # starts LINES: that many lines of the text come first, as they are
	head -n "$1" "$tests/data/small.txt" >"$tmp/want"
	head -n "$1" "$tmp/out" >"$tmp/got"
	same "  what was before it is delivered" "$tmp/want" "$tmp/got"
}
damage() { is "  the DAMAGE record" "$(grep '^damage' "$tmp/out")" "damage $1"; }
at() { cat $(for b in "$@"; do echo "$tmp/$b"; done) | wc -c | tr -d ' '; }

damaged "a block is missing" "block 2 at byte $(at b0 b1): blocks are missing before this one" b0 b1 b3 b4 b5 b6 b7
starts 10
damage "offset=$(at b0 b1) bytes=0 blocks=1 what=\"blocks are missing before this one\""
is "  and what came after it" "$(sed -n '12,$p' "$tmp/out")" "$(sed -n '22,$p' "$tests/data/small.txt")"
damaged "the last block is missing" "block 7 at byte $(at b0 b1 b2 b3 b4 b5 b6): cut short here, everything before it was read" \
	b0 b1 b2 b3 b4 b5 b6
damaged "the last block of a segment is missing" \
	"block 4 at byte $(at b0 b1 b2 b3): the segment before this one was cut short" b0 b1 b2 b3 b5 b6 b7
damage "offset=$(at b0 b1 b2 b3) bytes=0 blocks=0 what=\"the segment before this one was cut short\""
like "  which is told before the next segment" "$(grep -A1 '^damage' "$tmp/out")" '^segment'
damaged "the header is missing" "block 0 at byte 0: the header of this segment is missing" b1 b2 b3 b4 b5 b6 b7
is "  the rest is delivered" "$(lines '^process') $(lines '^sample') $(lines '^segment') $(lines '^end')" "3 4 2 2"
damaged "a second header is missing" "block 5 at byte $(at b0 b1 b2 b3 b4): the header of this segment is missing" \
	b0 b1 b2 b3 b4 b6 b7
is "  its ids are another segment's" "$(sed -n '/^end/,$p' "$tmp/out" | sed -n 3p)" \
	"segment major=1 minor=9 least=1"
damaged "a block comes twice" "block 3 at byte $(at b0 b1 b2): a block out of order" b0 b1 b2 b2 b3 b4 b5 b6 b7
is "  it is delivered once" "$(grep -vc '^damage' "$tmp/out")" "$(grep -c . "$tests/data/small.txt")"
damaged "two blocks have changed places" "block 2 at byte $(at b0 b1): blocks are missing before this one" b0 b1 b3 b2 b4 b5 b6 b7
is "  what can be delivered in order is" "$(lines '^node') $(lines '^ledger')" "1 2"
damaged "two captures, the first cut between blocks" \
	"block 2 at byte $(at b0 b1): the segment before this one was cut short" b0 b1 b0 b1 b2 b3 b4 b5 b6 b7
head -c 20 "$tmp/b2" >"$tmp/head"
damaged "two captures, the first cut in a head" "block 2 at byte $(at b0 b1): no valid block here" b0 b1 head small.bin
sed -n '/^damage/,$p' "$tmp/out" | grep -v '^damage' >"$tmp/got"
same "  the second is whole" "$tests/data/small.txt" "$tmp/got"
head -c 60 "$tmp/b2" >"$tmp/head"
damaged "two captures, the first cut in a block" "block 2 at byte $(at b0 b1): checksum mismatch" b0 b1 head small.bin
sed -n '/^damage/,$p' "$tmp/out" | grep -v '^damage' >"$tmp/got"
same "  the second is whole" "$tests/data/small.txt" "$tmp/got"
printf 'garbage, with a \211cpf in it' >"$tmp/junk"
damaged "garbage before the first block" "block 0 at byte 0: no valid block here" junk small.bin
grep -v '^damage' "$tmp/out" >"$tmp/got"
same "  all of it is delivered" "$tests/data/small.txt" "$tmp/got"
damage "offset=0 bytes=$(at junk) blocks=0 what=\"no valid block here\""
is "  behind the header's records" "$(sed -n 4p "$tmp/out" | cut -c1-6)" damage
damaged "garbage between blocks" "block 3 at byte $(at b0 b1 b2): no valid block here" b0 b1 b2 junk b3 b4 b5 b6 b7
grep -v '^damage' "$tmp/out" >"$tmp/got"
same "  all of it is delivered" "$tests/data/small.txt" "$tmp/got"
damaged "garbage at the end" "block 8 at byte $(at small.bin): cut short in a block's head" small.bin junk
damaged "only a header" "block 1 at byte $(at b0): cut short here, everything before it was read" b0
cprof-dump "$tmp/in" 2>/dev/null >"$tmp/out"
starts 4

# Damage that a filter passed on is damage for every later reader.
cat "$tmp/b0" "$tmp/b1" "$tmp/b3" "$tmp/b4" | cprof-dump 2>/dev/null | cprof-dump -r >"$tmp/in"
status "damage passed on" 3 cprof-dump "$tmp/in"
like "  in a sentence" "$(cat "$tmp/err")" "damage found by an earlier reader, at byte $(at b0 b1): blocks are missing before this one"

# Text that is turned back into a stream
sed '/^flush$/d' "$tests/data/small.txt" | cprof-dump -r >"$tmp/in"
cprof-dump "$tmp/in" 2>/dev/null | grep -v '^flush$' >"$tmp/got"
grep -v '^flush$' "$tests/data/small.txt" >"$tmp/want"
same "text without its flush lines loses no record" "$tmp/want" "$tmp/got"
is "  and its header is a block of its own" "$(cprof-dump "$tmp/in" | sed -n 4p)" flush
sed 's/^frame id=2 .*/frame id=2/' "$tests/data/small.txt" >"$tmp/bad.txt"
status "a line that makes no sense" 3 cprof-dump -r "$tmp/bad.txt"
like "  in a sentence with the line" "$(cat "$tmp/err")" "bad.txt: line 12: frame: expected process= at column 11"
cprof-dump "$tmp/out" 2>/dev/null | grep -v '^flush$' >"$tmp/got"
head -n 11 "$tests/data/small.txt" | grep -v '^flush$' | cat - >"$tmp/want"
grep -v '^damage' "$tmp/got" >"$tmp/got2"
same "  what was before it is delivered" "$tmp/want" "$tmp/got2"
status "a record that the wire cannot hold" 3 sh -c 'printf "segment major=1 minor=0 least=1\nnode id=16 parent=16 frame=1\n" | cprof-dump -r'
is "  in a sentence" "$(cat "$tmp/err")" "cprof-dump: standard input: line 2: a node whose parent comes after it"
status "a record before any segment" 3 sh -c 'echo "exit time=1 thread=1" | cprof-dump -r'
status "no text at all" 3 cprof-dump -r /dev/null
printf 'segment major=1 minor=0 least=1\nmeta key="a\0b" value=""\n' >"$tmp/bad.txt"
status "a NUL byte in text" 3 cprof-dump -r "$tmp/bad.txt"

# The destination of the output
status "a full disk" 1 sh -c "cprof-dump '$small' >/dev/full"
is "  in a sentence" "$(cat "$tmp/err")" "cprof-dump: standard output: cannot write: No space left on device"
status "a full disk, the other way" 1 sh -c "cprof-dump -r '$tests/data/small.txt' >/dev/full"
is "  in a sentence" "$(cat "$tmp/err")" "cprof-dump: standard output: cannot write: No space left on device"
status "no output at all" 1 sh -c "cprof-dump '$small' >&-"
i=0
while [ $i -lt 400 ]; do
	cat "$small"
	i=$((i + 1))
done >"$tmp/long.bin"
(cprof-dump "$tmp/long.bin" 2>"$tmp/err"; echo $? >"$tmp/rc") | head -n 1 >"$tmp/out"
is "a reader that has seen enough" "$(cat "$tmp/out")" "segment major=1 minor=0 least=1"
is "  ends it by SIGPIPE, without a word" "$(cat "$tmp/rc") $(cat "$tmp/err")" "141 "

# A live pipe: each block is printed as soon as it is complete, although more will come.
mkfifo "$tmp/pipe" "$tmp/text"
cprof-dump <"$tmp/pipe" >"$tmp/text" 2>"$tmp/err" &
dump=$!
exec 3>"$tmp/pipe" 4<"$tmp/text"
cat "$tmp/b0" >&3
got=
while read -r line <&4 && [ "$line" != flush ]; do got=$got${line%% *},; done
is "a live pipe: the header" "$got" "segment,meta,event,"
cat "$tmp/b1" >&3
head -c 40 "$tmp/b2" >&3
got=
while read -r line <&4 && [ "$line" != flush ]; do got=$got${line%% *},; done
is "a live pipe: the next block" "$got" "process,thread,comm,file,mapping,"
exec 3>&-
cat <&4 >"$tmp/out"
exec 4<&-
wait "$dump"
is "a live pipe: the writer was killed" "$? $(cat "$tmp/err")" \
	"3 cprof-dump: standard input: block 2 at byte $(at b0 b1): cut short in the block"
done_testing
