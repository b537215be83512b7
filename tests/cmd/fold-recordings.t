#!/bin/sh
# Spans of time and runs of a recording in several files: they are one capture, those of others are not.
. "$(dirname "$0")/../lib/lib.sh"

# segment HOST START SECONDS REASON: a segment with a sample each second
segment()
{
	echo 'segment major=1 minor=8 least=1'
	for meta in "host=$1" "boot-id=$1-boot" command-line=record "start-monotonic-ns=${2}000000000" \
		"start-realtime-ns=$((1795269600 + $2))000000000" clock=monotonic; do
		echo "meta key=\"${meta%%=*}\" value=\"${meta#*=}\""
	done
	echo 'event id=1 name="cpu-clock" unit="ns" period=1000000000 millihertz=1000'
	echo "process id=1 time=${2}000000000 pid=7 nspid=7 parent=1 start=1 gen=0 via=snapshot"
	echo "thread id=1 time=${2}000000000 process=1 tid=7"
	echo "comm time=${2}000000000 thread=1 comm=\"c\""
	echo 'frame id=1 process=0 kind=exact address=0xffffffff81000010'
	echo 'node id=16 parent=0 frame=1'
	for i in $(seq 0 $(($3 - 1))); do
		at=$(($2 + i))000000000
		echo "sample time=$at event=1 cpu=0 thread=1 user=0 kernel=16 weight=1000000000"
	done
	echo "end time=$(($2 + $3))000000000 reason=$4 samples=$3"
}

# capture FILE HOST START SECONDS REASON
capture()
{
	file=$1
	shift
	segment "$@" | cprof-dump -r >"$tmp/$file"
}

total()
{
	awk '{ n += $NF } END { print n + 0 }'
}

mkdir "$tmp/rot"
capture rot/a.cprof h 100 10 continues
capture rot/b.cprof h 110 10 continues
capture rot/c.cprof h 120 10 closed
a=$tmp/rot/a.cprof b=$tmp/rot/b.cprof c=$tmp/rot/c.cprof
cat "$a" "$b" "$c" >"$tmp/joined"

window()
{
	cprof-fold --no-names "$@" 2>/dev/null | total
}

is "a span counts from the recording's first sample" "$(window --from 8s --to 12s "$tmp/joined")" 4
is "  in its files, too" "$(window --from 8s --to 12s "$a" "$b" "$c")" 4
is "  in a directory of them" "$(window --from 8s --to 12s "$tmp/rot")" 4
is "  in any order" "$(window --from 8s --to 12s "$c" "$a" "$b")" 4
is "  compressed" "$(gzip -k "$b" && window --from 8s --to 12s "$c" "$b.gz" "$a")" 4
rm "$b.gz"
is "  beyond the first file" "$(window --from 25s "$tmp/rot")" 5
is "  if a file is missing between them" "$(window --from 22s "$a" "$c")" 8
is "the earliest file given is the beginning" "$(window --to 12s "$c" "$b")" 12
for w in '--to 7s' '--from 7s --to 21.5s' '--from 21.5s'; do
	window $w "$tmp/rot"
done >"$tmp/parts"
is "parts add up" "$(total <"$tmp/parts")" 30

for format in perfscript speedscope firefox tsv callgrind; do
	for f in "$tmp/joined" "$tmp/rot"; do
		cprof-convert -t $format --from 8s --to 12s "$f" | wc -c
	done >"$tmp/lengths"
	is "cprof-convert -t $format takes the same samples" "$(uniq "$tmp/lengths" | grep -c .)" 1
	is "  and there are some" "$(grep -c '^ *0\b' "$tmp/lengths")" 0
done
is "cprof-top --every" "$(cprof-top --every 1s --from 8s --to 12s "$tmp/rot" 2>&1 | grep Total:)" \
	"$(cprof-top --every 1s --from 8s --to 12s "$tmp/joined" 2>&1 | grep Total:)"
like "  has these" "$(cprof-top --every 1s --from 8s --to 12s "$tmp/rot" 2>&1)" 'Total: +4 samples'
like "a missed window names the recorded time" "$(cprof-top --from 40s "$tmp/rot" 2>&1)" 'recorded: 0 to 30 s'

cprof-diff --no-names --split 12s "$tmp/rot" >"$tmp/got" 2>&1
like "cprof-diff --split cuts the recording, not each file" "$(cat "$tmp/got")" 'until 12s, 12 samples'
like "  with the rest on the other side" "$(cat "$tmp/got")" 'from 12s, 18 samples'
is "the files are one capture for the test" "$(sed 1,2d "$tmp/got")" \
	"$(cprof-diff --no-names --split 12s "$tmp/joined" 2>&1 | sed 1,2d)"
like "  by the clock" "$(cprof-diff --no-names --split @1795269712 "$tmp/rot" 2>&1)" 'between blocks of time'

# Other captures keep their own beginnings.
capture d.cprof h 200 10 closed
is "a recording that ended is not continued" "$(window --to 2s "$c" "$tmp/d.cprof")" 4
is "  as in one stream" "$(cat "$c" "$tmp/d.cprof" | window --to 2s)" 4
segment h 110 10 continues | sed '$d' | cprof-dump -r >"$tmp/cut" 2>/dev/null
is "  nor one that was cut short" "$(window --to 2s "$tmp/cut" "$c")" 4
mkdir "$tmp/two"
for host in h k; do
	capture two/$host-1.cprof $host 100 10 continues
	capture two/$host-2.cprof $host 110 10 closed
done
is "two hosts have a beginning each" "$(window --from 8s --to 12s "$tmp/two")" 8
is "  however their files alternate" \
	"$(cat "$tmp"/two/h-1.cprof "$tmp"/two/k-1.cprof "$tmp"/two/h-2.cprof "$tmp"/two/k-2.cprof |
		window --from 8s --to 12s)" 8
for run in 1 2 3; do
	capture run$run h ${run}00 10 closed
done
set -- "$tmp"/run1 "$tmp"/run2 "$tmp"/run3
like "repeated runs remain runs" "$(cprof-diff --no-names "$@" -- "$@" 2>&1)" 'between the captures of a side'

# Copies
is "no message without a copy" "$(cprof-fold --no-names "$tmp/rot" 2>&1 >"$tmp/out")" ""
cp "$a" "$tmp/rot/copy.cprof"
for view in cprof-fold cprof-top 'cprof-convert -t tsv' 'cprof-diff --split 12s'; do
	$view --no-names "$tmp/rot" 2>"$tmp/err" >"$tmp/out"
	is "${view%% *} warns of a copy" "$(grep -c 'both have count twice: .* and ' "$tmp/err")" 1
done
cprof-fold --no-names "$a" "$b" "$tmp/rot/copy.cprof" 2>"$tmp/err" >"$tmp/out"
like "  and among operands" "$(cat "$tmp/err")" 'count twice: .*a.cprof and .*copy.cprof'
done_testing
