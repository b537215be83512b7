#!/bin/sh
# A directory as operand: its captures in order of time, as if they were named; other files are left alone.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/made-captures.sh"
cd "$tmp" || exit 1
made() { made_capture "$@" | cprof-dump -r; }

# The names are in another order than the times.
mkdir d
made 0 one@1 two >d/z.cprof
made 60 one@1 >d/y.cprof
made 120 three@2 >d/x.cprof
made 180 one@1 >d/w.bin
all="d/z.cprof d/y.cprof d/x.cprof d/w.bin"
cat $all >cat.bin
cprof-dump cat.bin >want
status "a directory is its captures" 0 cprof-dump d
same "  by their times" want out
is "  without a word" "$(cat err)" ""
for c in cprof-fold 'cprof-fold -o tsv --interval 60' 'cprof-top -o tsv --by container' \
	'cprof-convert -t tsv' 'cprof-convert -t perfscript' cprof-sym; do
	$c $all >want 2>/dev/null
	status "$c" 0 $c d
	same "  has the same" want out
	status "  with a slash" 0 $c d/
	same "    too" want out
done
cprof-diff -o tsv --by process cat.bin d/z.cprof >want
cprof-diff -o tsv --by process d d/z.cprof >got 2>err
is "cprof-diff compares it" "$(cut -f 1 want | sort)" "$(cut -f 1 got | sort)"
like "  and names it" "$(cprof-diff --by process d d/z.cprof 2>&1)" '\bd\b'
like "cprof-flame draws it" "$(cprof-flame -o svg d)" 'three'
is "a directory and a file" "$(cprof-fold --by process d cat.bin | awk '{ n += $NF } END { print n }')" 20
is "the same directory twice" "$(cprof-fold --by process d d | awk '{ n += $NF } END { print n }')" 20
mkdir e && made 30 four >e/a && made 90 four >e/b
is "two directories, each in its order" \
	"$(cprof-dump e d | sed -n 's/.*start-realtime-ns" value="17956\(.....\)0*"/\1/p' | tr '\n' ' ')" \
	"94430 94490 94400 94460 94520 94580 "

# Compressed captures, and those of a time
for t in gzip zstd xz; do
	printf x | $t -c 2>/dev/null | cprof-fold 2>&1 | grep -q 'not available' && continue
	command -v $t >/dev/null || continue
	mkdir $t
	for f in $all; do $t -c $f >"$t/${f##*/}.$t"; done
	cprof-dump cat.bin >want
	cprof-dump $t >got
	same "$t: compressed captures" want got
	last=$t
done
clock() { date -u -d "@$((1795694400 + $1))" +%Y-%m-%dT%H:%M:%SZ; }
there="recorded: 2026-11-26 12:00:00 to after 12:03:00 UTC" TZ=UTC
export TZ
for dir in d ${last-}; do
	cprof-fold --by comm --from "$(clock 60)" --to "$(clock 130)" $dir >got
	is "$dir: --from and --to" "$(tr '\n' , <got)" "one 2,three 2,"
	is "  none" "$(cprof-fold --by comm --from "$(clock 30)" --to "$(clock 40)" $dir 2>&1)" \
		"cprof-fold: no samples selected, nothing is written; $there"
	cprof-sym --from "$(clock 60)" --to "$(clock 130)" $dir 2>/dev/null | cprof-fold --by comm >got
	is "  by cprof-sym" "$(tr '\n' , <got)" "one 2,three 2,"
done
if [ "${last-}" ]; then
	# Files of other times are not read: damage in them goes unnoticed.
	mkdir far && cp $last/y.* far/
	for i in 0 600 1200 1800; do made $i far | $last -c >far/$i.$last; done
	for i in 0 1200 1800; do
		size=$(wc -c <far/$i.$last)
		head -c $((size - 9)) far/$i.$last >cut && mv cut far/$i.$last
	done
	status "compressed files of other times are not read" 0 \
		cprof-fold --by comm --from "$(clock 620)" --to "$(clock 900)" far
	status "  though damage shows otherwise" 3 cprof-fold --by process far
	is "  and is counted" "$(tail -n 1 err)" "cprof-fold: far: 3 of 5 captures are damaged or cut short"
	# Another recording that began meanwhile does not end the first.
	mkdir two && made 0 long | $last -c >two/a && command_line=other made 100 short | $last -c >two/b
	command_line=other made 200 short | $last -c >two/c
	cprof-fold --by comm --from "$(clock 0)" --to "$(clock 500)" two >got
	is "another recording does not end one" "$(tr '\n' , <got)" "long 2,short 4,"
fi

# Everything else in a directory
mkdir odd odd/sub && made 0 one >odd/a.cprof && made 60 two >odd/.b.cprof.part && made 120 three >other
echo letter >odd/letter.txt && echo 'a;b 1' >odd/folded && mkfifo odd/fifo
ln -s loop odd/loop && ln -s .. odd/up
ln -s ../other odd/link && : >odd/empty && : >odd/.hidden && ln -s nowhere odd/gone
status "links, loops, FIFOs and other files" 0 timeout 20 cprof-fold --by comm odd
is "  have no captures, but a link to one is one" "$(tr '\n' , <out)" "one 2,three 2,"
is "  which is said" "$(cat err)" \
	"cprof-fold: odd: left alone, because they are not captures: empty, fifo, folded and 3 more
cprof-fold: odd: its subdirectories are read only if they are operands, too: sub, up
cprof-fold: odd: left out, because a recorder still writes them or was killed: .b.cprof.part"
head -c 240 odd/a.cprof >odd/cut.cprof && : >odd/nothing.cprof && tail -c +3 odd/a.cprof >odd/front.cprof
status "damaged captures among them" 3 cprof-fold --by comm odd
is "  do not change the rest" "$(tr '\n' , <out)" "one 2,three 2,"
is "  and are counted" "$(tail -n 1 err)" "cprof-fold: odd: 2 of 5 captures are damaged or cut short"
mkdir none none/sub && echo x >none/x
status "no capture in it" 3 cprof-top none
is "  is said" "$(cat err)" "cprof-top: none: left alone, because they are not captures: x
cprof-top: none: its subdirectories are read only if they are operands, too: sub
cprof-top: none: cannot find a capture in it"
mkdir -p hosts/one hosts/two && made 0 one >hosts/one/a && made 60 two >hosts/two/b
is "subdirectories are read by their names" "$(cprof-fold --by comm hosts/* | tr '\n' ,)" "one 2,two 2,"
mkdir bare
status "nothing at all" 3 cprof-top bare
like "-w takes one capture" "$(cprof-top -w 1 d 2>&1)" '^cprof-top: -w takes one capture'
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 . && mkdir mixed closed
	made 0 one >mixed/a && made 9 two >mixed/b && chmod 0 mixed/b closed
	nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
	if nobody test -x "$BIN/cprof-fold"; then
		status "a file that may not be read" 1 nobody cprof-fold --by comm mixed
		is "  is said" "$(cat err)" "cprof-fold: mixed: cannot read: b (Permission denied)"
		is "  and the rest is there" "$(cat out)" "one 2"
		status "a directory that may not be read" 1 nobody cprof-fold closed
	else
		skip "files that may not be read" "nobody cannot run the programs"
	fi
else
	skip "files that may not be read" "root or setpriv is missing"
fi
done_testing
