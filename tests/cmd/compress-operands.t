#!/bin/sh
# Compressed operands and standard input: every view reads them as they are, and one sentence names the fault.
. "$(dirname "$0")/../lib/lib.sh"
tools=
for t in gzip zstd xz; do
	command -v $t >/dev/null || { skip "$t" "no $t is here"; continue; }
	if printf x | $t -c | cprof-fold 2>&1 | grep -q 'not available: built without'; then
		skip "$t" "built without its library"
	else
		tools="$tools $t"
	fi
done

cd "$tmp" || exit 1
cprof-dump -r "$tests/data/small.txt" >a.bin && cp a.bin b.bin
printf 'app;main;work 6\napp;main;idle 3\n' >a.folded

# by_all FILE: what each view makes of it, but for the name
by_all() {
	cprof-dump "$1"
	cprof-fold --no-names "$1" && cprof-top --no-names "$1" && cprof-diff --no-names "$1" b.bin
	cprof-flame --no-names -o svg --title x "$1"
	cprof-convert -t perfscript "$1" && cprof-convert -t tsv "$1"
	cprof-sym "$1" 2>/dev/null | cksum
	cprof-annotate -a --function nothing "$1"
}
by_all a.bin 2>&1 | sed 's/a\.bin[.a-z]*/A/g' >want
like "there is something to compare" "$(wc -l <want)" '[0-9]{3}'
for t in $tools; do
	$t -c a.bin >"a.$t" && $t -c a.folded >"folded.$t"
	by_all "a.$t" 2>&1 | sed "s/a\.$t/A/g; s/a\.bin/A/g" >got
	same "$t: each view shows the same" want got
	for c in 'cprof-fold --no-names' 'cprof-top --no-names' cprof-dump 'cprof-convert -t tsv' cprof-sym; do
		$c <a.bin >want.in 2>/dev/null
		$c <"a.$t" >got.in 2>err
		same "$t: $c reads it as a file on standard input" want.in got.in
		cat "a.$t" | $c >got.in 2>err
		same "  and from a pipe" want.in got.in
	done
	cprof-fold a.folded >want.in
	cprof-fold "folded.$t" >got.in
	same "$t: folded text" want.in got.in
	cprof-fold a.folded | $t -c | cprof-fold --sorted - want.in >got.in
	is "$t: --sorted merges both" "$(tail -n 1 got.in)" "app;main;work 12"
	$t -c "$tests/data/small.txt" | cprof-dump -r >got.in
	same "$t: text for cprof-dump -r" a.bin got.in

	# Several compressed files in a row are one, as are the captures in them.
	cat "a.$t" "a.$t" >"two.$t"
	cat a.bin a.bin >two.bin
	cprof-dump two.bin >want.in
	cprof-dump "two.$t" >got.in
	same "$t: two in a row" want.in got.in
	{ cat "a.$t"; head -c 512 /dev/zero; } >"padded.$t"
	status "  zeroes after it are left out" 0 cprof-fold --no-names "padded.$t"
	{ cat "a.$t"; echo this is not compressed; } >"more.$t"
	status "  anything else is damage" 3 cprof-fold --no-names "more.$t"
	is "  in one sentence" "$(cat err)" "cprof-fold: more.$t: the $t file is damaged"

	mkfifo "fifo.$t"
	cat "a.$t" >"fifo.$t" &
	cprof-fold --no-names a.bin >want.in
	cprof-fold --no-names "fifo.$t" >got.in
	wait
	same "$t: from a FIFO" want.in got.in
	# A writer that writes byte by byte: the kind shows in the sixth.
	{ for i in 1 2 3 4 5 6; do dd bs=1 count=1 2>/dev/null; done; cat; } <"a.$t" |
		cprof-fold --no-names >got.in
	same "$t: from a slow writer" want.in got.in

	# Every cut point of the file
	size=$(wc -c <"a.$t") n=0 bad=
	while [ $n -lt "$size" ]; do
		head -c $n "a.$t" >cut
		cprof-dump cut >got.in 2>err
		[ $? = 3 ] && [ "$(wc -l <err)" = 1 ] || bad="$bad $n"
		[ $n -lt 6 ] || [ "$(cat err)" = "cprof-dump: cut: the $t file is cut short" ] ||
			bad="$bad $n"
		n=$((n + 1 + n / 20))
	done
	is "$t: cut anywhere, it is one sentence and status 3" "$bad" ""
	head -c $(($(wc -c <"folded.$t") - 1)) "folded.$t" >cut
	status "$t: folded text that is cut" 3 cprof-fold cut
	is "  in one sentence" "$(cat err)" "cprof-fold: cut: the $t file is cut short"
	head -c $((size / 2)) "a.$t" >cut
	for c in cprof-fold cprof-top cprof-sym 'cprof-convert -t tsv' 'cprof-flame -o svg'; do
		status "$t: $c of half a file" 3 $c cut
		is "  in one sentence" "$(grep -c 'cut short' err)" 1
	done
	# Damage in the middle: everything before it is shown.
	{ head -c $((size / 2)) "a.$t"; printf 'xxxxxxxx'; tail -c +$((size / 2 + 9)) "a.$t"; } >hurt
	status "$t: damage" 3 cprof-dump hurt
	is "  in one sentence" "$(cat err)" "cprof-dump: hurt: the $t file is damaged"
	rm got.in
	mkfifo "hold.$t"
	exec 9<>"hold.$t"
	cat "a.$t" >&9
	cprof-dump <"hold.$t" 9>&- 2>err | head -n 1 >got.in &
	while ! [ -s got.in ]; do sleep 0.05; done
	is "$t: bytes come as they are written" "$(cat got.in)" "$(head -n 1 "$tests/data/small.txt")"
	exec 9>&-
	wait
done
is "no child is left" "$(ps -o comm= --ppid $$ | grep -c cprof)" 0

# Files of all kinds beside each other
set --
for t in $tools; do set -- "$@" "a.$t" "folded.$t"; done
for f in "$@"; do
	case $f in a.*) cprof-fold --no-names a.bin ;; *) cprof-fold a.folded ;; esac
done | cprof-fold >want.in
[ $# = 0 ] || cprof-fold --no-names "$@" >got.in
[ $# = 0 ] || same "several operands of several kinds" want.in got.in

case $tools in
*zstd*)
	# A bomb: 512 MiB of nothing, thirty times as a file of zstd. The view ends, within its usual memory.
	head -c 536870912 /dev/zero | zstd -q -c >once.zst
	for i in 1 2 3 4 5 6 7 8 9 10; do cat once.zst once.zst once.zst; done >bomb.zst
	like "a bomb is small" "$(wc -c <bomb.zst)" '^[0-9]{6}$'
	(limit_memory 400000; timeout 60 cprof-top bomb.zst) >out 2>err
	is "a bomb of nothing is refused" "$? $(cat err)" "3 cprof-top: bomb.zst: not a cprof stream"
	cat a.bin /dev/zero | head -c 268435456 | zstd -q -c >behind.zst
	(limit_memory 200000; timeout 120 cprof-dump behind.zst) >out 2>err
	is "nothing after a capture is damage" $? 3
	sed '$d' out >got.in
	same "  and the capture is whole" "$tests/data/small.txt" got.in
	# A frame that demands a window of 256 MiB
	head -c 200000000 /dev/zero | zstd -q -c --long=28 >long.zst 2>/dev/null
	status "a window of 256 MiB" 3 cprof-fold long.zst
	is "  in one sentence" "$(cat err)" \
		"cprof-fold: long.zst: the zstd file requires more than 128 MiB of memory: decompress it first"
	;;
esac
case $tools in
*gzip*)
	gzip -c a.gzip >twice
	status "what is compressed twice" 3 cprof-dump twice
	is "  is decompressed once" "$(cat err)" \
		"cprof-dump: twice: compressed with gzip: decompress it first"
	: | gzip -c >nothing
	status "nothing, compressed" 3 cprof-fold nothing
	is "  is empty input" "$(cat err)" "cprof-fold: nothing: empty input, no sample in it"
	;;
esac
done_testing
