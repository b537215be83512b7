#!/bin/sh
# The cost of a flame graph, beside flamegraph.pl in the same run: time, peak memory, size, and time until a
# browser shows it.
#
#	BIN=build/bin tests/bench/flame.sh [SCALE]	# SCALE 1: 100,000 stacks, 70 MB; a minute or two
. "$(dirname "$0")/../lib/lib.sh"
scale=${1:-1}
peak=$BUILD/tests/peak
[ -x "$peak" ] || { echo "$peak is not built"; exit 1; }

# measure FILE COMMAND...: the best of three by wall clock; time, CPU time and memory in $wall, $cpu and $mem
measure() {
	out=$1; shift
	wall=
	for _ in $tries; do
		a=$(date +%s%N); "$peak" "$tmp/peak" "$@" >"$out" 2>"$tmp/err" || { cat "$tmp/err"; exit 1; }; b=$(date +%s%N)
		if [ -z "$wall" ] || [ $((b - a)) -lt "$wall" ]; then wall=$((b - a)); read -r mem cpu <"$tmp/peak"; fi
	done
}
row() {
	awk -v what="$1" -v wall="$wall" -v cpu="$cpu" -v mem="$mem" -v size="$(wc -c <"$2")" -v base="${3:-0}" 'BEGIN {
		printf "%-44s %7.2f s %7.2f s CPU %7.1f MB %7.1f MB written%s\n", what, wall / 1e9, cpu / 1e6, mem * 1024 / 1e6, size / 1e6,
			base ? sprintf("  CPU time / %.0f", base / cpu) : "" }'
}

# Stacks of 11 to 28 frames of 20,000 functions.
awk -v stacks=$((100000 * scale)) 'BEGIN {
	srand(7)
	for (i = 0; i < 20000; i++) { l = 8 + int(rand() * 44); s = "fn"; while (length(s) < l) s = s sprintf("%c", 97 + int(rand() * 26)); f[i] = s "_" i }
	for (s = 0; s < stacks; s++) {
		d = 11 + int(rand() * 18); line = "comm" int(rand() * 5); x = int(rand() * 7)
		for (k = 0; k < d; k++) { x = (x * 31 + int(rand() * rand() * 9) + k) % 20000; line = line ";" f[x] }
		print line, 1 + int(rand() * 60)
	} }' >"$tmp/in.folded"
LC_ALL=C sort "$tmp/in.folded" >"$tmp/sorted.folded"
echo "== $(wc -l <"$tmp/in.folded") stacks, $(wc -c <"$tmp/in.folded" | awk '{ printf "%.1f", $1 / 1e6 }') MB"
script=$(command -v flamegraph.pl || ls /usr/share/perl5/Devel/NYTProf/flamegraph.pl 2>/dev/null)
base=0
if [ -n "$script" ]; then
	tries=1 measure "$tmp/peer.svg" perl "$script" "$tmp/in.folded"
	base=$cpu
	row "flamegraph.pl" "$tmp/peer.svg"
else
	echo "no flamegraph.pl is here: left out"
fi
tries="1 2 3"
measure "$tmp/page.html" cprof-flame "$tmp/in.folded"; row "cprof-flame, a page of all" "$tmp/page.html" "$base"
measure "$tmp/sorted.html" cprof-flame "$tmp/sorted.folded"; row "  of sorted text" "$tmp/sorted.html" "$base"
cmp "$tmp/page.html" "$tmp/sorted.html" || exit 1
measure "$tmp/flat.svg" cprof-flame -o svg "$tmp/in.folded"; row "cprof-flame -o svg" "$tmp/flat.svg" "$base"

awk 'NR % 3' "$tmp/in.folded" >"$tmp/after.folded"
cprof-diff --folded "$tmp/in.folded" "$tmp/after.folded" >"$tmp/two.folded"
base=0
if [ -n "$script" ]; then
	tries=1 measure "$tmp/peer.svg" perl "$script" "$tmp/two.folded"
	base=$cpu
	row "flamegraph.pl, two columns" "$tmp/peer.svg"
fi
tries="1 2 3"
measure "$tmp/two.html" cprof-flame "$tmp/two.folded"; row "cprof-flame, two columns, with verdicts" "$tmp/two.html" "$base"
measure "$tmp/two.html" cprof-flame --diff "$tmp/in.folded" "$tmp/after.folded"; row "cprof-flame --diff, of both files" "$tmp/two.html"

# An hour of a host with 16 busy CPUs and 25 containers, in 60 files of a minute: 5.7 million samples, 164 MB.
# Targets: made in 5 s, open in 1.5 s.
mkdir "$tmp/hour"
for i in $(seq 0 59); do
	"$BUILD/tests/bench-stream" minute "$i" >"$tmp/hour/$i.cprof" 2>/dev/null || exit 1
done
tries="1 2"
measure "$tmp/hour.svg" cprof-flame -o svg "$tmp/hour"; row "an hour of 16 CPUs, a picture" "$tmp/hour.svg"
measure "$tmp/hour.html" cprof-flame "$tmp/hour"; row "  a page with containers over time" "$tmp/hour.html"
rm -r "$tmp/hour"

command -v chromium >/dev/null || { echo "no chromium is here: left out"; exit 0; }
PYTHONDONTWRITEBYTECODE=1 python3 - "$tests/lib" "$tmp/page.html" "$tmp/hour.html" <<'E'
import sys
sys.path.insert(0, sys.argv[1])
from browser import Browser

def opened(b, page):
    best = {}
    for _ in range(3):
        b.open(page)
        b.value('cprof.ready')
        b.settle()
        marks = b.value('({ ...document.documentElement.dataset })')
        best = min(best or marks, marks, key=lambda m: float(list(m.values())[-1]))
    return best

with Browser(1280, 800) as b:
    hour = opened(b, sys.argv[3])
    best = opened(b, sys.argv[2])
    nodes = b.value('cprof.nodes')
    b.call('HeapProfiler.collectGarbage')
    heap = b.call('Runtime.getHeapUsage')
    acts = b.value('''(async () => {
        const { app } = cprof, graph = document.getElementById('graph'), r = graph.getBoundingClientRect();
        const frame = () => new Promise((done) => requestAnimationFrame(done));
        const time = async (work) => {
            const from = performance.now();
            await work();
            return performance.now() - from;
        };
        const set = (what) => time(() => { app.set(what, false); app.draw(); });
        const hover = [], search = [], edits = {};
        for (let i = 0; i < 100; i++) {
            await frame();
            hover.push(await time(() => {
                const [x, y] = [r.left + (i * 97) % r.width, r.bottom - 30 - (i * 37) % 500];
                graph.dispatchEvent(new PointerEvent('pointermove', { clientX: x, clientY: y }));
                return frame();
            }));
        }
        for (const query of ['fn', 'a', 'fnq', '^fn.*_1$', 'z.*z', '_77', '_777', 'comm1', '[xyz]{3}', ''])
            search.push(await set({ query }));
        const box = app.tree.down.root.kids[0].kids[0], word = labelWord(app.p, box.label);
        edits.zoom = await set({ zoom: pathWords(app.p, pathOf(box)) });
        edits['all again'] = await set({ zoom: '' });
        for (const edit of [`focus:${word}`, `drop:${word}`, `merge:${word}`, 'collapse', ''])
            edits[edit.split(':')[0] || 'undo'] = await set({ edit });
        return { hover: hover.sort((a, b) => a - b), search, edits };
    })()''')
def listed(marks):
    return ', '.join(f'{k[:-2]} {float(v):.0f}' for k, v in marks.items() if k.endswith('Ms'))

times = listed(best)
print(f'Chromium, the hour, milliseconds from the start of the page: {listed(hour)}')
print(f'Chromium, a page of {nodes:,} boxes, milliseconds from the start of the page: {times}')
size = heap['usedSize'] + heap.get('backingStorageSize', 0)
print(f"  hover p50 {acts['hover'][49]:.1f} ms, p95 {acts['hover'][94]:.1f} ms; "
      f"search at most {max(acts['search']):.0f} ms; heap {size / 1e6:.0f} MB")
print('  ' + ', '.join(f'{what} {ms:.0f} ms' for what, ms in acts['edits'].items()))
E
