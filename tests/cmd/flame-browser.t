#!/bin/sh
# cprof-flame's own pages in a browser: they show the results of a plain count of the same text.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/browser-lib.sh"

needs_browser
python3 - >"$tmp/hostile" <<'E'
import random, sys
random.seed(5)
names = ['main', 'foo', 'foo.part.0', 'foo(int)', 'operator new', 'vfs_read_[k]', 'step_[i]', 'run_[j]', '[libx.so+0x10]', '</script>', '"&<b>', '日本',
         '\u202eabc', 'std::map<' + 'x' * 10000 + '>', '%s', '${x}`']
for _ in range(400):
    sys.stdout.buffer.write((';'.join(['sh'] + random.choices(names, k=random.randint(1, 7))) + ' %d\n' % random.randint(1, 90)).encode())
E
cprof-fold "$tmp/hostile" >"$tmp/a.folded"
cprof-flame --title '</title>' --search '^foo' "$tmp/hostile" >"$tmp/a.html"
awk '{ n = $NF; sub(/ [0-9]+$/, ""); print $0, n * (/step/ ? 0 : NR % 7 == 0 ? 3 : 1) }' "$tmp/a.folded" >"$tmp/b.folded"
cprof-flame --diff "$tmp/a.folded" "$tmp/b.folded" >"$tmp/ab.html"
printf 'sh 1\n' | cprof-flame >"$tmp/one.html"
printf 'sh 0\n' | cprof-flame >"$tmp/none.html" 2>/dev/null
seq 60000 | awk '{ print "root" $1 ";main", 1 }' | cprof-flame >"$tmp/roots.html"
{
	printf 'segment major=1 minor=0 least=1\nevent id=1 name="c" unit="ns" period=9 millihertz=9\nflush\n'
	printf 'process id=1 time=1 pid=1 nspid=0 parent=0 start=5 gen=0 via=snapshot\nthread id=1 time=1 process=1 tid=1\ncomm time=1 thread=1 comm="sh"\n'
	printf 'frame id=1 process=1 kind=exact address=0x10\nnode id=16 parent=1 frame=1\n'
	for i in 1 2 3 4 5 6; do printf 'sample time=%d00000000 event=1 cpu=0 thread=1 user=16 kernel=0 weight=9\n' $((i * i)); done
	printf 'ledger time=4000000000 cpu=0 outcome=expected count=9\nledger time=4000000000 cpu=0 outcome=emitted count=6\n'
	printf 'ledger time=4000000000 cpu=0 outcome=missed count=3\nend time=4000000000 reason=closed samples=6\nflush\n'
} | cprof-dump -r >"$tmp/h.bin" && cprof-flame --heatmap --slice 20 "$tmp/h.bin" >"$tmp/h.html" || exit 1
"$here/flame-brute.py" <"$tmp/a.folded" >"$tmp/a.boxes"
"$here/flame-block.py" boxes "$tmp/ab.html" >"$tmp/ab.boxes"
python3 - "$tests/lib" "$tmp" "$BUILD/screenshots" <<'E'
import sys
sys.path.insert(0, sys.argv[1])
from browser import Browser
tmp, shots = sys.argv[2:4]
count = failed = 0


def ok(what, good, *said):
    global count, failed
    count += 1
    failed += not good
    print(f"{'' if good else 'not '}ok {count} - {what}")
    for line in said if not good else ():
        print('#', str(line)[:300])


def look(b, name):
    b.errors.clear()
    b.open(f'{tmp}/{name}.html')
    b.value('cprof.ready')
    b.settle()
    frames = b.value('cprof.frames()')
    b.screenshot(f'{shots}/flame-own-{name}.png')
    ok(f'{name}: no error, and nothing is asked of a network', not b.errors, b.errors)
    return frames


def check(name, frames, boxes, width, share):
    """Every box that is wide enough is drawn, as wide as its share, once."""
    drawn = {}
    for f in frames:
        if f['level']:
            drawn.setdefault(';'.join(n for n, _ in f['path']), []).append(f['w'])
    want = {}
    for path, *numbers in boxes:
        want.setdefault(path, []).append(share(numbers) * width)
    wrong = [(p, w, want.get(p)) for p, w in drawn.items() if p not in want or
             any(min(abs(x - y) for y in want[p]) > 0.02 for x in w)]
    ok(f'{name}: each box is as wide as its share', not wrong, wrong[:3])
    missing = [p for p, w in want.items() if sum(x > 1.01 for x in w) > len(drawn.get(p, []))]
    ok(f'{name}: no box is missing', not missing and len(drawn) > 100, missing[:3], len(drawn))


with Browser(1280, 800) as b:
    boxes = [line[:-1].rsplit(' ', 2) for line in open(f'{tmp}/a.boxes', encoding='utf-8', newline='\n')]
    boxes = [(p, int(s), int(t)) for p, s, t in boxes]
    total = sum(t for p, s, t in boxes if ';' not in p)
    frames, width = look(b, 'a'), b.value('cprof.width()')
    check('stacks', frames, boxes, width, lambda n: n[1] / total)
    share = b.value('cprof.search().share')
    matched = 0
    for line in open(f'{tmp}/a.folded', encoding='utf-8', newline='\n'):
        stack, n = line[:-1].rsplit(' ', 1)
        matched += int(n) * any(f.startswith('foo') for f in stack.split(';'))
    ok('--search: the share is that of stacks that match, each once', abs(share - matched / total) < 1e-9, share, matched / total)
    two = [line[:-1].rsplit(' ', 5) for line in open(f'{tmp}/ab.boxes', encoding='utf-8', newline='\n')]
    two = [(p, *map(int, n)) for p, *n in two]
    sums = [sum(x[3 + side] for x in two if ';' not in x[0]) for side in (0, 1)]
    frames = look(b, 'ab')
    check('difference', frames, two, b.value('cprof.width()'), lambda n: (n[2] / sums[0] + n[3] / sums[1]) / 2)
    ok('one sample: its process and all', len(look(b, 'one')) == 2)
    look(b, 'none')
    ok('no sample: that is said', 'ample' in b.value('document.getElementById("empty").textContent'))
    look(b, 'roots')
    ok('60,000 roots: all of them are there', b.value('cprof.nodes') == 120000)
    look(b, 'h')
    heat = b.value('cprof.heat()')
    ok('heat map: four seconds of cells, six samples',
       len(heat['cells']) == 200 and sum(heat['cells']) == 6, heat)
    said = b.value('document.getElementById("ledger").textContent')
    ok('heat map: the ledger tells what was expected', '9: 6 emitted, 3 missed' in said, said)
print(f'1..{count}')
sys.exit(failed > 0)
E
