#!/bin/sh
# The heat map and the lanes of cprof-flame's page: sums, zoom, ranges and filters are those of a plain
# account of the capture, by mouse, keyboard and touch.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/browser-lib.sh"

needs_browser
sum() { awk '{ n += $NF } END { printf "%.0f\n", n }'; }
python3 - >"$tmp/a.txt" <<'E2'
import random
r = random.Random(3)
print('''segment major=1 minor=3 least=1
meta key="clock" value="monotonic"
meta key="start-realtime-ns" value="1700000000000000000"
meta key="start-monotonic-ns" value="1000000000"
event id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000
event id=2 name="off-cpu:sleep" unit="ns" period=0 millihertz=0
event id=3 name="off-cpu:uninterruptible" unit="ns" period=0 millihertz=0
event id=4 name="off-cpu:run-queue" unit="ns" period=0 millihertz=0
flush
cgroup id=5 path="/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"''')
for p in (1, 2):
    print(f'process id={p} time=1 pid={p}0 nspid=0 parent=0 start=5 gen=0 via=snapshot')
print('member time=1 process=2 cgroup=5')
for t in range(1, 6):
    print(f'thread id={t} time=1 process={1 + t % 2} tid={t}00')
    print(f'comm time=1 thread={t} comm="p{1 + t % 2}"')
for f in range(1, 5):
    address = f'{"0x400" if f < 3 else "0xffffffff810000"}{f}0'
    print(f'frame id={f} process={1 if f < 3 else 0} kind=exact address={address}')
    print(f'node id={15 + f} parent=0 frame={f}')
rows, begin, end = [], 10 ** 9, 10 ** 9 + 23_400_000_000
for t in range(1, 6):
    at = begin
    while at < end:
        for _ in range(r.choice([0, 1, 7, 40])):
            at += 10_000_000
            user = t % 2 == 0 and r.random() < 0.5
            where = 'user=16 kernel=0' if user else f'user=0 kernel={r.choice([18, 19])}'
            rows.append((at, f'sample time={at} event=1 cpu={r.randrange(3)} thread={t} {where} '
                         'weight=10000000'))
        wait = r.choice([999, 20_000_000, 777_777_777, 3_000_000_001])
        at += wait
        rows.append((at, f'sample time={at} event={r.choice([2, 3, 4])} cpu=1 thread={t} '
                     f'user=0 kernel=18 weight={wait}'))
rows.sort()
for second in range(2, 24):
    for outcome, count in (('expected', 100), ('emitted', 90)):
        rows.append((second * 10 ** 9, f'ledger time={second}000000000 cpu=1 outcome={outcome} '
                     f'count={second * count}'))
rows.sort(key=lambda row: row[0])
print('\n'.join(row[1] for row in rows))
print(f'end time={rows[-1][0]} reason=closed samples={len(rows)}\nflush')
E2
cprof-dump -r "$tmp/a.txt" >"$tmp/a.bin" || exit 1
cprof-flame --wall --heatmap "$tmp/a.bin" >"$tmp/wall.html" || exit 1
sed '/^process\|^thread\|^comm\|^member\|^ledger/d; /^node id=19/q' "$tmp/a.txt" |
	sed 's/process=[12]/process=1/' |
	awk '/^frame id=1/ {
		for (i = 1; i < 204; i++)
			printf "process id=%d time=1 pid=%d nspid=0 parent=0 start=5 gen=0 via=snapshot\n" \
				"thread id=%d time=1 process=%d tid=%d\n", i, i, i, i, i
	} { print } END {
		for (i = 1; i < 204; i++)
			printf "sample time=%d event=1 cpu=1 thread=%d user=0 kernel=18 weight=10000000\n",
				2e9 + i, i
		print "end time=4000000000 reason=closed samples=203\nflush"
	}' | cprof-dump -r | cprof-flame --heatmap --weight ns >"$tmp/many.html" || exit 1
cprof-flame --heatmap --lanes cpu "$tmp/a.bin" >"$tmp/cpu.html" || exit 1
cprof-flame --heatmap --weight ns "$tmp/a.bin" >"$tmp/ns.html" || exit 1
for tid in 100 300; do
	cprof-fold --wall --tid $tid "$tmp/a.bin" | sum >"$tmp/tid.$tid"
	cprof-fold --wall --tid $tid --from 4 --to 7 "$tmp/a.bin" | sum >"$tmp/cut.$tid"
done
status "lanes are of something" 2 cprof-flame --heatmap --lanes dso "$tmp/a.bin"
like "  which is said" "$(cat "$tmp/err")" \
	'invalid --lanes "dso" \(expected thread, process, container, cpu or none\)'
status "  and below a heat map" 2 cprof-flame --lanes cpu "$tmp/a.bin"
like "  which is said, too" "$(cat "$tmp/err")" '^cprof-flame: --lanes requires --heatmap'
export TZ=UTC
python3 "$here/flame-lanes.py" "$tmp" "$BUILD/screenshots" >"$tmp/tap" 2>"$tmp/tap.err"
browser=$?
is "the page in a browser: $(grep -c '^ok' "$tmp/tap") checks" \
	"$(grep '^not ok' "$tmp/tap"; cat "$tmp/tap.err")$browser" 0
done_testing
