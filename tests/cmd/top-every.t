#!/bin/sh
# cprof-top --every: a trend has in each interval of the clock what --from and --to cut out of it.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/made-captures.sh"
cd "$tmp" || exit 1

mkdir d
for i in 0 20 60 130 131; do made_capture $i one@1 two three@2 | cprof-dump -r >d/$i.cprof; done
clock() { date -u -d "@$((1795694400 + $1))" +%Y-%m-%dT%H:%M:%SZ; }
# sums NAMES FROM TO: "name weight" of the table of a window
sums() {
	cprof-top -o tsv -n 0 --by "$1" --from "$(clock "$2")" --to "$(clock "$3")" d 2>/dev/null | tail -n +2
}
for by in container comm; do
	cprof-top --every 1m -n 0 --by $by -o tsv d 2>err >rows
	awk -F '\t' 'NR > 1 && $3 { print $2, $1, $3 }' rows >got
	for i in 0 60 120; do
		sums $by $i $((i + 60)) | awk -F '\t' -v t=$((1795694400 + i))000000000 '{ print t, $1, $2 }'
	done >want
	same "by $by, each minute is what --from and --to give" want got
done
cprof-top --every 1m --by comm,container -o tsv d >got
is "several keys are columns" "$(head -n 1 got | tr '\t' ' ')" "comm container time weight percent"
is "  of which each combination has a row" "$(cut -f 1,2 got | sort -u | wc -l | tr -d ' ')" 4

cprof-top --every 1m --by comm d >got
is "a row for each name" "$(tail -n 4 got | tr -s ' ' | tr '\n' ,)" \
	" total 12:00:00 12:01:00 12:02:00 name, 10 4 2 4 one, 10 4 2 4 three, 10 4 2 4 two,"
like "  and the times above" "$(grep Total got)" '3 intervals of 60 s from 2026-11-26 12:00:00 UTC'
cprof-top --every 10s --by comm -n 2 d >got
is "a row for each interval if they do not fit" "$(grep -A 3 '^time' got | tr -s ' ' | tr '\n' ,)" \
	"time total one three [others],12:00:00 6 2 2 2,12:00:10 0 0 0 0,12:00:20 6 2 2 2,"
is "  the last too" "$(tail -n 1 got | tr -s ' ')" "12:02:10 12 4 4 4"
cprof-top --every 10s --by comm -n 1 d >got
is "-n limits the columns" "$(grep '^time' got | tr -s ' ')" "time total one [others]"
# wide COLUMNS OPTION...: the columns of a trend of ten commands
made_capture 0 c0 c1 c2 c3 c4 c5 c6 c7 c8 c9 | cprof-dump -r >ten.bin
made_capture 600 c0 c1 c2 c3 c4 c5 c6 c7 c8 c9 | cprof-dump -r >>ten.bin
wide() {
	columns=$1; shift
	COLUMNS=$columns cprof-top --every 10s --by comm "$@" ten.bin | awk '/^time/ { print NF }'
}
is "  80 columns have room for few names" "$(wide '')" 6
is "  COLUMNS may allow fewer" "$(wide 50)" 4
is "  or more" "$(wide 170)" 12
is "  and decides, not -n" "$(wide 50 -n 9)" 4
is "  without a width, -n decides" "$(wide '' -n 9)" 12
is "  all rows of names fit a long line" \
	"$(COLUMNS=1000 cprof-top --every 10s --by comm ten.bin | awk 'END { print NF }')" 63
is "JSON is an object with them" "$(cprof-top --every 1m --by comm -o json d | python3 -c 'import json, sys
r = json.load(sys.stdin)["rows"]
print(len(r), sum(x["weight"] for x in r))')" "9 30"
# TZ has no names of files here: the zone CET is an hour ahead of UTC.
TZ=CET-1 cprof-top --every 1m --by comm d >local
is "times are local, as --from and --to are" \
	"$(sed -n 's/.* from //p; s/  *total  *//p' local | tr -s ' ' | tr '\n' ,)" \
	"2026-11-26 13:00:00 CET,13:00:00 13:01:00 13:02:00 name,"
TZ=CET-1 cprof-top --every 1m --by comm -o md d >got
like "  in a brief, too" "$(tr '\n' ' ' <got)" \
	'time \(CET\) .*2026-11-26T13:02:00'
for from in 13:02:00 13:02 12:02Z '12:02:00 UTC' 14:02+02:00 '2026-11-26 12:02 UTC' \
	2026-11-26T11:02:00-01:00 '2026-11-26 13:02'; do
	TZ=CET-1 cprof-top --by comm --from "$from" -o tsv d >got
	is "--from $from is the third minute" "$(awk '{ n += $2 } END { print n }' got)" 12
done
# Summer time on November 26 alone: the offset is that of the given date, not today's.
TZ=XST0XDT,J330/0,J331/0 cprof-top --by comm --from '2026-11-26 13:02' -o tsv d >got
is "a date has the offset that it had" "$(awk '{ n += $2 } END { print n }' got)" 12
for from in 12:02X '12:02 ' 12:02+1 12:02+25:00 12:02+01:00Z '2026-11-26 ' 2026-11-26Tx 12:02:; do
	status "--from \"$from\" is no time" 2 cprof-top --from "$from" d
done
cprof-top --every 1m --by comm -o md d >got
like "the brief has them" "$(cat got)" '^\| 2026-11-26T12:02:00 \| 12 \| 4 \| 4 \| 4 \|'

# A thread that slept for 12 seconds, reported each 5 s: a second in each second.
{
	printf 'segment major=1 minor=3 least=1\nmeta key="start-realtime-ns" value="1700000000000000000"\n'
	printf 'meta key="start-monotonic-ns" value="1000000000"\n'
	printf 'event id=2 name="off-cpu:sleep" unit="ns" period=0 millihertz=0\nflush\n'
	printf 'process id=1 time=1 pid=7 nspid=0 parent=0 start=5 gen=0 via=snapshot\n'
	printf 'thread id=1 time=1 process=1 tid=7\ncomm time=1 thread=1 comm="sl"\n'
	for t in '6000000000 5' '11000000000 5' '13000000000 2'; do
		printf 'sample time=%s event=2 cpu=0 thread=1 user=0 kernel=0 weight=%s000000000\n' $t
	done
	printf 'end time=13000000000 reason=closed samples=3\nflush\n'
} | cprof-dump -r >sl.bin
cprof-top --wall --every 1s --by thread -o tsv sl.bin | awk -F '\t' 'NR > 1 { print $3 }' >got
is "a sleep of 12 s is 1.000 s in each of 12 seconds" "$(sort got | uniq -c | tr -s ' ')" " 12 1000000000"
cprof-top --wall --every 5s --by thread -o tsv sl.bin | awk -F '\t' 'NR > 1 { print $3 }' >got
is "  and 5, 5 and 2 in five each" "$(tr '\n' ' ' <got)" "5000000000 5000000000 2000000000 "

# By function: flat, or cum with each function once a stack.
cprof-dump -r "$tests/data/small.txt" >a.bin
for o in '' --cum; do
	cprof-top $o --every 1h -n 0 -o tsv a.bin >rows
	awk -F '\t' 'NR > 1 { n[$1] += $3 } END { for (f in n) print f, n[f] }' rows | sort >got
	cprof-top -n 0 -o tsv a.bin >rows
	awk -F '\t' -v c="$o" 'NR > 1 { print $1, c == "" ? $2 : $4 }' rows | sort >want
	same "by function ${o:-flat}" want got
done

echo 'a;b 1' >folded
status "folded text has no time" 2 cprof-top --every 1m folded
like "  which is said" "$(cat err)" '--every requires captures'
for v in 0 1 -1h 12:00 x ''; do
	case $v in 1) continue ;; esac
	status "--every '$v'" 2 cprof-top --every "$v" d
done
for o in --tree --ci '-w 1' '--stacks 3' --blame; do
	status "--every with $o" 2 cprof-top --every 1m $o d
done
status "too many intervals" 2 cprof-top --every 1ms d
like "  are counted" "$(cat err)" 'intervals are more than 10000'
done_testing
