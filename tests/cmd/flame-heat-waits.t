#!/bin/sh
# cprof-flame --wall --heatmap: each second has of each wait what cprof-fold --from and --to cut out of it.
. "$(dirname "$0")/../lib/lib.sh"
command -v python3 >/dev/null || skip_all "python3 is not here"
export PYTHONDONTWRITEBYTECODE=1

# seconds PAGE: "second stack weight" of each box in each second, waits divided as lanes_data.h says
seconds() { python3 "$here/flame-heat-sum.py" "$1" 1000000000; }

head_of() {
	cat <<'X'
segment major=1 minor=3 least=1
meta key="clock" value="monotonic"
meta key="start-realtime-ns" value="1700000000000000000"
meta key="start-monotonic-ns" value="1000000000"
event id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=99000
event id=2 name="off-cpu:sleep" unit="ns" period=0 millihertz=0
event id=3 name="off-cpu:uninterruptible" unit="ns" period=0 millihertz=0
event id=4 name="off-cpu:run-queue" unit="ns" period=0 millihertz=0
flush
X
}

# A thread that slept for 12 seconds, reported each 5 s
{
	head_of
	printf 'process id=1 time=1 pid=7 nspid=0 parent=0 start=5 gen=0 via=snapshot\n'
	printf 'thread id=1 time=1 process=1 tid=7\n'
	printf 'comm time=1 thread=1 comm="sl"\n'
	printf 'sample time=6000000000 event=2 cpu=0 thread=1 user=0 kernel=0 weight=5000000000\n'
	printf 'sample time=11000000000 event=2 cpu=0 thread=1 user=0 kernel=0 weight=5000000000\n'
	printf 'sample time=13000000000 event=2 cpu=0 thread=1 user=0 kernel=0 weight=2000000000\n'
	printf 'ledger time=7000000000 cpu=1 outcome=expected count=600\n'
	printf 'ledger time=13000000000 cpu=1 outcome=expected count=900\n'
	printf 'end time=13000000000 reason=closed samples=3\nflush\n'
} | cprof-dump -r >"$tmp/sl.bin" || exit 1
cprof-flame --wall --heatmap "$tmp/sl.bin" >"$tmp/sl.html"
is "a sleep of 12 s is 1.000 s in each of 12 seconds" \
	"$(seconds "$tmp/sl.html" | cut -d' ' -f1,3 | tr '\n' ,)" \
	"$(for s in 0 1 2 3 4 5 6 7 8 9 10 11; do printf '%d 1000000000,' $s; done)"
is "  in as many spans as it was reported" "$("$here/flame-block.py" spans "$tmp/sl.html" | wc -l)" 3
is "the ledger has its time" "$("$here/flame-block.py" ticks "$tmp/sl.html" | tr '\n' ,)" \
	"0 301 expected 600,300 301 expected 300,"
is "so has the clock" "$("$here/flame-block.py" starts "$tmp/sl.html")" 1700000000000

# Waits of any length, of several threads of two commands, beside run time that has no sample
head_of >"$tmp/many.txt"
python3 - >>"$tmp/many.txt" <<'E2'
import random
r = random.Random(11)
for p in (1, 2):
    print(f'process id={p} time=1 pid={p}0 nspid=0 parent=0 start=5 gen=0 via=snapshot')
for t in range(1, 6):
    print(f'thread id={t} time=1 process={1 + t % 2} tid={t}00')
    print(f'comm time=1 thread={t} comm="p{1 + t % 2}"')
rows, begin, end = [], 10 ** 9, 10 ** 9 + 9_300_000_000
for t in range(1, 6):
    at = told = begin
    ran = 0
    while at < end:
        run = r.choice([0, 1000, 40_000_000, 1_700_000_000])
        wait = r.choice([999, 20_000_000, 777_777_777, 3_000_000_001])
        at += run
        ran += run
        for kind in (r.choice([2, 3]), 4):
            one = max(1, wait if kind < 4 else wait // 7)
            at += one
            rows.append((at, 1, f'sample time={at} event={kind} cpu={t % 2} thread={t} '
                         f'user=0 kernel=0 weight={one}'))
        rows.append((at, 0, f'ran time={at} thread={t} ns={ran} span={at - told}'))
        told, ran = at, 0
rows.sort(key=lambda row: row[:2])
print('\n'.join(row[2] for row in rows))
print(f'end time={rows[-1][0]} reason=closed samples={sum(row[1] for row in rows)}\nflush')
E2
cprof-dump -r "$tmp/many.txt" >"$tmp/many.bin" || exit 1
for options in "" "--slice 50" "--slice 1000" "--by thread" "--from 0.5 --to 7.25"; do
	# shellcheck disable=SC2086
	cprof-flame --wall --heatmap $options "$tmp/many.bin" >"$tmp/many.html"
	window=; case $options in --from*) window=yes ;; esac
	for s in 0 1 2 3 4 5 6 7 8 9 10 11 12; do
		from=$s to=$((s + 1))
		[ "$window" ] && [ $s = 0 ] && from=0.5
		[ "$window" ] && [ $s = 7 ] && to=7.25
		[ "$window" ] && [ $s -gt 7 ] && continue
		by=; case $options in --by*) by=$options ;; esac
		# shellcheck disable=SC2086
		cprof-fold --wall $by --from "$from" --to "$to" "$tmp/many.bin" 2>/dev/null | sed "s/^/$s /"
	done >"$tmp/want"
	seconds "$tmp/many.html" >"$tmp/got"
	is "each second has what a window of it has: ${options:-20 ms}" \
		"$(python3 "$here/flame-heat-sum.py" compare "$tmp/want" "$tmp/got")" \
		"all within 0 ns of waits, 5 ns of run time"
done
done_testing
