#!/bin/sh
# cprof-flame DIRECTORY: a page with containers over the time of all its captures.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/made-captures.sh"
command -v python3 >/dev/null || skip_all "python3 is not here"
export PYTHONDONTWRITEBYTECODE=1
cd "$tmp" || exit 1
block() { "$here/flame-block.py" "$@"; }

# Three minutes of two hosts, with a gap
mkdir d
for i in 0 60 600; do made_capture $i one@1 two three@2 | cprof-dump -r >d/$i.cprof; done
made_host=other made_capture 61 one@3 | cprof-dump -r >d/other
status "a page" 0 cprof-flame -o page.html d
is "  has slices for all time" "$(block times page.html | sed -n 1p)" "2000000000 301"
is "  that begin when the first does" "$(block starts page.html)" 1795694400000
mode() { block head "$1" | sed -n 's/^option lanes = //p'; }
is "  and a heat map with lanes by container" "$(mode page.html)" container
# By container, each slice has what cprof-top has in the same time.
block containers page.html | awk '{ n[$1 " " $2] += $7 } END { for (k in n) print k, n[k] }' | sort >got
cprof-top --every 2s --by container -n 0 -o tsv d | awk -F '\t' -v t=1795694400 'NR > 1 && $3 {
	print ($2 / 1e9 - t) / 2, $1 == "[no cgroup]" ? "-" : $1, $3 }' | sort >want
same "  whose weights are those of cprof-top --every" want got
is "  and no thread, process or CPU" "$(block containers page.html | cut -d' ' -f3-5 | sort -u)" "- 0 0"
status "by process" 0 cprof-flame -o page.html --lanes process d
block containers page.html | cut -d' ' -f3-5 | sort -u >got
is "  there are processes, but no threads" "$(tr '\n' , <got)" \
	"one 101 0,three 103 0,two 102 0,"
status "by thread" 0 cprof-flame -o page.html --lanes thread d
is "  it is as of the captures" "$(block lanes page.html | cut -d' ' -f2 | sort -u | tr '\n' ,)" \
	"one-101/101,three-103/103,two-102/102,"
cprof-flame --heatmap --lanes thread -o files.html d/0.cprof d/60.cprof d/other d/600.cprof
is "  one after the other" "$(block times page.html)" "$(block times files.html)"
status "a shorter slice" 0 cprof-flame -o page.html --slice 1000 d
is "  is taken" "$(block times page.html | sed -n 1p)" "1000000000 601"
cprof-flame -o svg d >got
like "a picture has no heat map" "$(cat got)" '^<svg|<svg '
status "a difference has none either" 0 cprof-flame -o page.html --diff d d/0.cprof
cprof-flame -o page.html d/0.cprof
is "the file alone has none" "$(mode page.html)" ""

# Waits are divided among the slices, and captures of other times are left out.
mkdir w
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
} | cprof-dump -r >w/sl.cprof
cprof-flame --wall --slice 1000 -o page.html w
python3 "$here/flame-heat-sum.py" page.html 1000000000 | cut -d' ' -f3 | sort | uniq -c | tr -s ' ' >got
is "a sleep of 12 s is 12 slices of 1 s" "$(cat got)" " 12 1000000000"
clock() { date -u -d "@$((1795694400 + $1))" +%Y-%m-%dT%H:%M:%SZ; }
cprof-flame --from "$(clock 50)" --to "$(clock 90)" -o page.html d
block containers page.html >got
is "--from and --to choose the time of the page" "$(awk '{ n += $7 } END { print n }' got)" 8
done_testing
