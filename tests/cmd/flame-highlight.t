#!/bin/sh
# cprof-flame's page: heat map and lanes highlight searched, filtered and selected functions, with the sums of
# cprof-fold --match over the same time. Labels below the map are exact, and a difference names its sides.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/browser-lib.sh"

needs_browser
sum() { awk '{ n += $NF } END { printf "%.0f\n", n }'; }
python3 - >"$tmp/a.txt" <<'E2'
import random
r = random.Random(5)
print('''segment major=1 minor=3 least=1
meta key="clock" value="monotonic"
meta key="start-realtime-ns" value="1700000000967000000"
meta key="start-monotonic-ns" value="1000000000"
event id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000
event id=2 name="off-cpu:sleep" unit="ns" period=0 millihertz=0
flush
process id=1 time=1 pid=10 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=1 process=1 tid=10
comm time=1 thread=1 comm="app"
thread id=2 time=1 process=1 tid=11
comm time=1 thread=2 comm="app"''')
names = ['main', 'early', 'late', 'rare', 'work']
for i, name in enumerate(names, 1):
    print(f'frame id={i} process=1 kind=exact address=0x400{i}0\nstring id={i} text="{name}"')
    print(f'symbol frame={i} from=0 level=0 source=symtab name={i} offset=0 file=0 line=0')
# main: 16; early 17, late 18, rare 19; each of them calls work: 20, 21, 22
for at, (parent, frame) in enumerate([(0, 1), (16, 2), (16, 3), (16, 4), (17, 5), (18, 5), (19, 5)], 16):
    print(f'node id={at} parent={parent} frame={frame}')
rows, begin = [], 10 ** 9
for t in (1, 2):
    at = begin
    while at < begin + 12_000_000_000:
        share = (at - begin) / 12_000_000_000
        node = 22 if r.random() < 0.03 else r.choice([17, 20] if r.random() > share ** 3 else [18, 21])
        if r.random() < 0.05:
            wait = r.choice([999, 77_777_777, 1_300_000_001])
            at += wait
            rows.append((at, f'sample time={at} event=2 cpu=1 thread={t} user={node} kernel=0 weight={wait}'))
        at += 10_000_000
        rows.append((at, f'sample time={at} event=1 cpu={t} thread={t} user={node} kernel=0 weight=10000000'))
rows.sort()
print('\n'.join(row[1] for row in rows))
print(f'end time={rows[-1][0]} reason=closed samples={len(rows)}\nflush')
E2
cprof-dump -r "$tmp/a.txt" >"$tmp/a.bin" || exit 1
cprof-flame --heatmap "$tmp/a.bin" >"$tmp/cpu.html" || exit 1
cprof-flame --wall --heatmap "$tmp/a.bin" >"$tmp/wall.html" || exit 1
# asked NAME OPTION...: the answers of cprof-fold, for all time and for the seconds 3 to 7, samples and time
asked() {
	name=$1
	shift
	cprof-fold "$@" "$tmp/a.bin" | sum >"$tmp/cpu.$name"
	cprof-fold --wall "$@" "$tmp/a.bin" | sum >"$tmp/wall.$name"
	cprof-fold --wall --from 3 --to 7 "$@" "$tmp/a.bin" | sum >"$tmp/wall.$name.cut"
}
asked all
asked late --match '^late$'
asked early --match '^early$'
asked notrare --exclude '^rare$'
asked both --match '^late$' --tid 11
asked work --match '^work$'
cprof-flame --diff --split 4s --no-names "$tmp/a.bin" >"$tmp/diff.html" || exit 1
export TZ=UTC
python3 "$here/flame-highlight.py" "$tmp" "$BUILD/screenshots" >"$tmp/tap" 2>"$tmp/tap.err"
browser=$?
is "the page in a browser: $(grep -c '^ok' "$tmp/tap") checks" \
	"$(grep '^not ok' "$tmp/tap"; cat "$tmp/tap.err")$browser" 0
done_testing
