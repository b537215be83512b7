"""The checks of tests/cmd/flame-lanes.t."""
import collections
import json
import time

from flamelook import *

here = os.path.dirname(os.path.abspath(__file__))
source = open(os.path.join(here, 'flame-block.py'), encoding='utf-8').read()
scope = {'__name__': 'block'}
exec(compile(source.removesuffix('main()\n'), 'flame-block.py', 'exec'), scope)
NAMES = KINDS


class Account:
    """All weight of a page as (slice, kind, origin, weight), spans divided."""
    def __init__(self, name):
        with open(os.path.join(TMP, name + '.html'), 'rb') as f:
            self.b = b = scope['Block'](f.read())
        kind = [None] + [b.labels[node[1]][0] for node in b.nodes[1:]]
        self.rows = [(at, kind[node], b.origins[who], w) for (at, node, w), who in zip(b.times, b.who)]
        for at, whole, node, who, w in b.spans:
            self.rows += [(at + i, kind[node], b.origins[who], w * (i + 1) // whole - w * i // whole)
                          for i in range(whole)]

    def cells(self, first, group, n):
        cells = [0] * n
        for at, _, _, w in self.rows:
            if 0 <= (at - first) // group < n:
                cells[(at - first) // group] += w
        return cells

    def total(self, first=0, end=10 ** 9, of=lambda origin: True):
        return sum(w for at, _, origin, w in self.rows if first <= at < end and of(origin))

    def lanes(self, name_of, waits=True):
        lanes = collections.defaultdict(lambda: [0] * len(NAMES))
        for _, kind, origin, w in self.rows:
            if waits or kind not in (7, 9, 10):
                lanes[name_of(origin)][kind] += w
        return dict(lanes)


OF = {
    'thread': lambda o: f'{o[0][2]} {o[1][0]}/{o[1][1]}', 'process': lambda o: f'{o[0][2]} {o[1][0]}',
    'container': lambda o: o[0][1] or '(no container)', 'cpu': lambda o: f'CPU {o[1][2] - 1}',
}


def check_wall():
    a = Account('wall')
    path = os.path.join(TMP, 'wall.html')
    fresh(path)
    h = heat()
    same('the cells have the time of each moment', h['cells'], a.cells(0, h['group'], len(h['cells'])))
    width = b.value('document.getElementById("heatpane").clientWidth')
    wide = h['left'] + h['columns'] * h['cellWidth']
    ok('the map is as wide as the page', width - 12 <= wide <= width, h, width)
    for mode, of in OF.items():
        b.value(f'cprof.app.set({{ lanes: "{mode}" }})')
        got = {one['name']: one['sums'] for one in b.value('cprof.lanes()')['rows']}
        want = {k: v for k, v in a.lanes(of, mode != 'cpu').items() if any(v)}
        same(f'lanes of {mode}: kinds and states are those of the capture', got, want)
    b.value('cprof.app.set({ lanes: "thread" })')
    lanes = b.value('cprof.lanes()')
    every = lanes['bins'] * len(NAMES)
    sums = [sum(lanes['sums'][i * every:(i + 1) * every]) for i in range(len(lanes['rows']))]
    ok('each lane draws all of its time',
       all(close(s, sum(one['sums']), 5) for s, one in zip(sums, lanes['rows'])))
    shot('lanes')
    b.click(*lane_place('p2 20/300', 0.5))
    want = int(open(os.path.join(TMP, 'tid.300')).read())
    same('a click leaves one thread, as --tid does', b.value('cprof.totals()'), want)
    same('... in the address', 'lane=' in b.value('location.hash'), True)
    shot('lanes-one')
    b.click(*lane_place('p2 20/100', 0.5))
    same('... or another one', b.value('cprof.totals()'), int(open(os.path.join(TMP, 'tid.100')).read()))
    hash_ = b.value('location.hash')
    fresh(path, f'{hash_}&range=200-350')
    same('... in a range of time, as --from and --to do', b.value('cprof.totals()'),
         int(open(os.path.join(TMP, 'cut.100')).read()))
    b.click(*lane_place('p2 20/100', 0.5))
    same('a second click is all threads', b.value('cprof.totals()'), a.total(200, 350))
    note = b.value('document.getElementById("heatnote").textContent')
    ok('the ledger is that of the range', note.startswith('about 300 ticks expected: 270 emitted'), note)
    x, y = lane_place('p2 20/100', 0.25)
    b.drag(x, y, x + 200, y + 3)
    first, end = heat()['range']
    same('a drag selects a range', b.value('cprof.totals()'), a.total(first, end))
    share = [(s - h['window'][0]) / (h['window'][1] - h['window'][0]) for s in (first, end)]
    wide = 200 / lanes['room']
    ok('... where it was', close(share[0], 0.25, 0.005) and close(share[1] - share[0], wide, 0.01), share)
    words = b.value('document.getElementById("heatrange").textContent')
    ok('... with its clock times and sum', '22:13:2' in words and ' s\n' in words, words)
    b.value('document.getElementById("heatmap").focus()')
    b.key('Escape')
    same('Escape is all time', heat()['range'], None)
    fresh(path, '#lanes=container')
    b.click(*lane_place('(no container)', 0.5))
    same('a click leaves what is in no container', b.value('cprof.totals()'),
         a.total(of=lambda origin: not origin[0][1]))


def check_zoom():
    a = Account('wall')
    fresh(os.path.join(TMP, 'wall.html'))
    b.value('document.getElementById("heatmap").focus()')
    seen = set()
    for key in '+++++---':
        b.key(key)
        h = heat()
        seen.add((h['window'][1] - h['window'][0], h['group']))
        if h['cells'] != a.cells(h['window'][0], h['group'], len(h['cells'])):
            same(f'cells after {key}', h['cells'], a.cells(h['window'][0], h['group'], len(h['cells'])))
    ok('+ zooms in, to a second and cells of 20 ms', min(seen) == (50, 1), seen)
    b.key('0')
    same('0 shows all time', heat()['window'], [0, a.b.slices])
    h = heat()
    x, y = place(h['rows'] * (h['columns'] // 2), h)
    b.mouse('mouseWheel', x, y, deltaX=0, deltaY=-200)
    b.settle()
    w = heat()['window']
    ok('so does the wheel, at the pointer', 0 < w[0] < w[1] < a.b.slices, w)
    same('... and the cells are right', heat()['cells'], a.cells(w[0], heat()['group'], len(heat()['cells'])))


def touch(kind, *points):
    b.call('Input.dispatchTouchEvent', type=kind, touchPoints=[{'x': x, 'y': y} for x, y in points])


PLACES = '''["heatmap", "lanes", "pane"].map((id) => document.getElementById(id).getBoundingClientRect())
    .map((r) => [r.top, r.height])'''


def check_touch():
    a = Account('wall')
    b.call('Emulation.setTouchEmulationEnabled', enabled=True)
    b.size(390, 800)
    fresh(os.path.join(TMP, 'wall.html'))
    h = heat()
    ok('on a telephone the map is as wide as the page', h['left'] + h['columns'] * h['cellWidth'] <= 390, h)
    places, cells = [b.value(PLACES)], set()
    x, y = place(h['rows'] * (h['columns'] // 2), h)
    touch('touchStart', (x - 30, y), (x + 30, y))
    for i in range(1, 15):
        touch('touchMove', (x - 30 - 9 * i, y), (x + 30 + 9 * i, y))
        b.settle()
        places.append(b.value(PLACES))
        cells.add((heat()['rows'], b.value('document.getElementById("heatlevel").textContent')))
    for i in range(14, 5, -1):
        touch('touchMove', (x - 30 - 9 * i, y), (x + 30 + 9 * i, y))
    touch('touchEnd')
    b.settle()
    before = heat()['window']
    ok('two fingers zoom', before[1] - before[0] < a.b.slices * 0.8, before)
    ok('... with other cells and words above them', len({rows for rows, _ in cells}) > 1 < len(cells), cells)
    same('... and nothing moves under them', [p for p in places if p != places[0]], [])
    for _ in range(8): # on a busy machine the first move may come so late that it was a long touch
        b.value('cprof.app.set({ range: "" })')
        touch('touchStart', (x + 60, y))
        for i in range(1, 13):
            touch('touchMove', (x + 60 - 10 * i, y))
        touch('touchEnd')
        b.settle()
        after = heat()
        if after['window'] != before:
            break
    ok('a swipe pans', after['window'][0] > before[0] and after['range'] is None, before, after['window'])
    h = heat()
    first, last = h['rows'] * 1, h['rows'] * 4
    touch('touchStart', place(first, h))
    b.wait('cprof.app.heat.anchor >= 0')
    touch('touchMove', place((first + last) // 2, h))
    touch('touchMove', place(last, h))
    touch('touchEnd')
    b.settle()
    want = [h['window'][0] + first * h['group'], h['window'][0] + (last + 1) * h['group']]
    same('a drag after a long touch selects', heat()['range'], want)
    same('... and the map stays where it was', b.value(PLACES)[:2], places[0][:2])
    same('... its time', b.value('cprof.totals()'), a.total(*want))
    shot('lanes-touch')
    b.click(*lane_place('p2 20/300', 0.5))
    same('... and one with a lane alone', b.value(PLACES)[:2], places[0][:2])
    b.call('Emulation.setTouchEmulationEnabled', enabled=False)
    b.size(1280, 800)


def check_still():
    """On a wide page, the pointer changes words beside the map; with few lanes, too."""
    for lanes in ('thread', 'none'):
        fresh(os.path.join(TMP, 'wall.html'), f'#lanes={lanes}')
        h, places = heat(), [b.value(PLACES)]
        b.move(*place(3, h))
        places.append(b.value(PLACES))
        b.drag(*place(h['rows'] + 1, h), *place(h['rows'] * 4, h))
        places.append(b.value(PLACES))
        b.move(*place(h['rows'] * 7, h))
        places.append(b.value(PLACES))
        shot(f'lanes-still-{lanes}')
        b.value('document.getElementById("heatmap").focus()')
        for key in '+++':
            b.key(key)
            places.append(b.value(PLACES))
        moved = [p for p in places if p != places[0]]
        same(f'{lanes}: nothing moves for a range, its words, or another zoom', moved, [])


def check_samples():
    a = Account('cpu')
    fresh(os.path.join(TMP, 'cpu.html'))
    h = heat()
    mean = a.total() / (a.b.slices / h['group'])
    ok('cells have ten samples on average', mean >= 10 and h['group'] > 1, mean, h['group'])
    same('... and are right', h['cells'], a.cells(0, h['group'], len(h['cells'])))
    got = {one['name']: one['sums'] for one in b.value('cprof.lanes()')['rows']}
    same('--lanes cpu', got, a.lanes(OF['cpu'], False))
    b.move(*place(1, h))
    words = b.value('document.getElementById("heatrange").textContent')
    n = h['cells'][1]
    ok('the hover has time, clock and samples', f': {n} sample' in words and '22:13:2' in words, words, n)
    legend = b.value('document.getElementById("heatlegend").dataset.most')
    same('the legend has the most of a cell', legend, f'{max(h["cells"])} samples')
    b.value('cprof.app.set({ theme: "dark" })')
    shot('lanes-dark')
    fresh(os.path.join(TMP, 'ns.html'))
    same('--weight ns has cells of the same length', heat()['group'], h['group'])
    b.value('document.getElementById("lanemode").focus()')
    b.key('ArrowDown')
    same('keys in the choice of lanes do not move in the picture', b.value('cprof.focus()'), None)


def check_omitted():
    """The row that counts the omitted lanes is none of them."""
    fresh(os.path.join(TMP, 'many.html'))
    same('200 lanes are shown', (len(b.value('cprof.lanes()')['rows']), b.value('cprof.lanes()')['omitted']),
         (200, 3))
    all_ = b.value('cprof.totals()')
    click = """(() => { const l = cprof.app.lanes, r = l.canvas.getBoundingClientRect();
        const at = { clientX: r.left + l.left + 9, clientY: r.top + l.height - %d * laneHeight() - 3 };
        l.press(l.placeOf(at));
        l.release(l.placeOf(at)); })()"""
    b.value(click % 0)
    same('a click below the last lane chooses none', b.value('cprof.totals()'), all_)
    same('... and Enter after it would not, either', b.value('cprof.app.lanes.hover'), None)
    b.value(click % 1)
    same('... and one on that lane does', b.value('cprof.totals()'), all_ / 203)


run(check_omitted, check_wall, check_zoom, check_touch, check_still, check_samples)
