"""What tests/flame-page.t runs: flame-check.py TMP SCREENSHOTS; prints TAP."""
import importlib.util
import json
import math
import os
import random
import sys
import traceback

from browser import Browser, Failed

spec = importlib.util.spec_from_file_location('flame_data', os.path.join(os.path.dirname(os.path.abspath(__file__)), 'flame-data.py'))
fd = importlib.util.module_from_spec(spec)
spec.loader.exec_module(fd)

TMP, SHOTS = sys.argv[1:3]
b = None
count = failed = 0


def ok(what, good, *said):
    global count, failed
    count += 1
    failed += not good
    print(f"{'' if good else 'not '}ok {count} - {what}", flush=True)
    if not good:
        for line in '\n'.join(str(s)[:600] for s in said).splitlines():
            print('#', line)


def same(what, got, want):
    ok(what, got == want, f'got:  {got}', f'want: {want}')


def show(name, profiles, fragment='', dark=False, **more):
    path = os.path.join(TMP, name + '.html')
    zipped = more.pop('zipped', False)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(fd.page(fd.block(profiles, **more), more.get('title', ''), zipped))
    b.media(dark)
    b.open(path, fragment)
    b.value('cprof.ready')
    return path


def fresh(path, fragment=''):
    b.open(path, fragment)
    b.value('cprof.ready')


def frames():
    boxes = b.value('cprof.frames()')
    for f in boxes:
        f['path'] = tuple((name, kind) for name, kind in f['path'])
    return boxes


def shot(name):
    b.screenshot(os.path.join(SHOTS, f'flame-{name}.png'))


def names(stack):
    return tuple(f[0] for f in stack)


def close(x, y, by=0.01):
    return abs(x - y) <= by


def one(name, level=None):
    level = 'f.level' if level is None else level
    return b.value(f'cprof.frames().find((f) => f.name === {json.dumps(name)} && f.level === {level})')


def wrong_boxes(boxes, profile, width, of=(), least=0.5):
    """Boxes that are not as the tree says, and paths that are wide enough but have no box."""
    nodes = fd.tree(profile)
    whole = nodes[of][0]
    wrong, seen = [], set()
    for f in boxes:
        path = f['path']
        seen.add(path)
        if path not in nodes or (f['total'], f['self']) != tuple(nodes[path]) or not close(f['w'], width * f['total'] / whole):
            wrong.append((path, f['w'], f['total'], f['self'], nodes.get(path)))
    absent = [p for p, v in nodes.items() if v[0] / whole * width >= least * 1.0001 and p not in seen]
    return wrong + absent


def left_edges(boxes, profile, width, heavy=False):
    """Boxes whose left edge is not where siblings by name, or by weight, put it."""
    nodes = fd.tree(profile)
    whole, kids, edge, todo = nodes[()][0], {}, {}, [((), 0)]
    for path in nodes:
        if path:
            kids.setdefault(path[:-1], []).append(path)
    while todo:
        path, x = todo.pop()
        edge[path] = x
        order = (lambda p: (-nodes[p][0], p)) if heavy else (lambda p: (p[-1][0].encode(), p[-1][1]))
        for kid in sorted(kids.get(path, []), key=order):
            todo.append((kid, x))
            x += width * nodes[kid][0] / whole
    return [f['path'] for f in boxes if not close(f['x'], edge[f['path']], 0.05)]


def made(seed=1, stacks=300):
    """A profile with recursion, all kinds, and names that flamegraph.pl would split."""
    r = random.Random(seed)
    pool = ['foo', 'foo.part.0', 'foo(int)', 'bar', 'bar_[k]', 'operator new', 'memcpy_[i]', 'step_[j]', '[unknown]', '0x7f00', 'alloc',
            'free', 'Parse', 'parse', 'walk', 'walk_[i]', 'read_[k]', 'write_[k]', 'spin_[k]', 'loop']
    text = ''
    weight = 3
    for _ in range(stacks):
        depth = r.randint(1, 9)
        text += ';'.join([r.choice(['app', 'web', 'db'])] + [r.choice(pool[:r.randint(3, 20)]) for _ in range(depth)])
        weight = weight * 7 % 1009 + 1 # all siblings differ, so that the order by weight is one
        text += f' {weight}\n'
    return fd.parse(text)


def check_stacks(p):
    path = show('stacks', [p], title='stacks', ledger=[('Samples', '123 of 124 expected'), ('Truncated', '0.8 %')])
    width = b.value('cprof.width()')
    boxes = frames()
    same('the whole is the sum of all stacks', b.value('cprof.totals()'), sum(p.values()))
    same('boxes, their totals, selfs and widths are those of the tree', wrong_boxes(boxes, p, width), [])
    same('siblings stand by name', left_edges(boxes, p, width), [])
    bottom = {f['level']: f['y'] for f in boxes}
    ok('the root is at the bottom', all(bottom[i] > bottom[i + 1] for i in range(max(bottom))), bottom)
    same('the ledger stands in the picture', b.value('Array.from(document.querySelectorAll("#ledger > div > *"), (x) => x.textContent)'),
         ['Samples', '123 of 124 expected', 'Truncated', '0.8 %'])
    drawn = b.value('''(() => { const c = document.getElementById("graph"), f = cprof.frames().find((f) => f.level === 1 && f.w > 60);
        const r = window.devicePixelRatio;
        return Array.from(c.getContext("2d").getImageData((f.x + f.w - 12) * r, (f.y + 4) * r, 1, 1).data); })()''')
    ok('a box is painted where it is said to be', drawn[3] == 255 and min(drawn[:3]) < 250, drawn)
    b.key('i')
    tops = {f['level']: f['y'] for f in frames()}
    ok('as an icicle, the root is on top', tops[0] == 0 and all(tops[i] < tops[i + 1] for i in range(max(tops))), tops)
    b.key('i')
    b.key('o')
    same('heaviest first on a key', left_edges(frames(), p, width, True), [])
    same('... with the same boxes', wrong_boxes(frames(), p, width), [])
    b.key('o')
    return path


def check_zoom(p):
    width = b.value('cprof.width()')
    target = max((f for f in frames() if f['level'] == 2), key=lambda f: f['w'])
    path = target['path']
    of = names(path)
    b.click(target['clientX'], target['clientY'])
    same('a click zooms', tuple(b.value('cprof.zoomed()')), of)
    inside = {k: v for k, v in p.items() if k[:2] == path}
    boxes = [f for f in frames() if f['level'] >= 2]
    same('the boxes in it are as wide as their share of it', wrong_boxes(boxes, inside, width, path), [(), path[:1]])
    ok('the way to it is as wide as the picture', all(close(f['w'], width) for f in frames() if f['level'] <= 2))
    crumbs = b.value('Array.from(document.querySelectorAll("#crumbs button"), (x) => x.textContent)')
    same('the path stands above', crumbs, ['all', *of, 'Reset'])
    hash_ = b.value('location.hash')
    b.value('document.querySelectorAll("#crumbs button")[1].click()')
    same('a step of the path goes there', tuple(b.value('cprof.zoomed()')), of[:1])
    b.key('Backspace')
    same('Backspace zooms out by one', b.value('cprof.zoomed()'), [])
    b.value('history.back()')
    b.wait(f'cprof.zoomed().length === 1')
    b.value('history.back()')
    b.wait(f'location.hash === {json.dumps(hash_)}')
    b.settle()
    same('back shows what was there before', tuple(b.value('cprof.zoomed()')), of)
    b.key('Escape')
    same('Escape shows all', (b.value('cprof.zoomed()'), wrong_boxes(frames(), p, width)), ([], []))
    return hash_, of


def check_search(p):
    total = sum(p.values())
    for text, regex in (('^foo', '(?i)^foo'), ('alloc|walk', '(?i)alloc|walk'), ('Parse', 'Parse'), ('parse', '(?i)parse'),
                        (r'\W', r'\W'), ('^nothing$', '^nothing$'), ('.', '.')):
        b.value('document.activeElement.blur()')
        b.key('/')
        b.value('document.getElementById("query").select()')
        b.text(text)
        got = b.value('cprof.search()')
        ok(f'search {text}: the share is that of stacks that match, each once', close(got['share'], fd.matched(p, regex) / total, 1e-12), got)
    b.value('document.getElementById("query").select()')
    b.text('(')
    ok('what is no regular expression is called so', b.value('cprof.search().shown') == 'not a regular expression')
    b.value('document.getElementById("query").select()')
    b.text('operator')
    seen = []
    for _ in range(3):
        b.key('Enter')
        seen.append(b.value('cprof.focus()'))
    ok('Enter goes from match to match', all(f['name'] == 'operator new' for f in seen) and seen[0] != seen[1] != seen[2], seen)
    b.value('document.activeElement.blur()')
    b.key('N')
    same('N goes back', b.value('cprof.focus()'), seen[1])
    b.key('n')
    same('n goes on', b.value('cprof.focus()'), seen[2])
    ok('the focused frame is said', 'operator new' in b.value('document.getElementById("live").textContent'))
    shot('search')
    b.key('Escape')
    b.key('Escape')
    same('Escape ends the search', b.value('[cprof.search().query, cprof.search().share]'), ['', None])


def check_reverse(p):
    width = b.value('cprof.width()')
    b.key('r')
    same('reversed is the tree of the reversed stacks', wrong_boxes(frames(), fd.reverse(p), width), [])
    same('... by name', left_edges(frames(), fd.reverse(p), width), [])
    shot('reverse')
    target = max((f for f in frames() if f['level'] == 1), key=lambda f: f['w'])
    b.click(target['clientX'], target['clientY'])
    same('... and zooms', tuple(b.value('cprof.zoomed()')), names(target['path']))
    b.key('Escape')
    b.key('f')


def check_sandwich(p):
    width = b.value('cprof.width()')
    for f in (('foo', fd.USER), ('walk', fd.INLINED), ('bar', fd.KERNEL)):
        row = b.value(f'cprof.table().findIndex((r) => r.name === {json.dumps(f[0])} && r.kind === {json.dumps(["user", "kernel", "inlined"][f[1]])})')
        b.value(f'document.getElementById("tbody").scrollTop = {row} * 24')
        b.settle()
        b.value(f'document.querySelector(".row[data-row=\\"{row}\\"]").click()')
        callers, callees = fd.sandwich(p, f)
        boxes = frames()
        for box in boxes:
            box['path'] = (f, *box['path'])
        mid = [x for x in boxes if x['level'] == 0]
        own, total = fd.functions(p)[f]
        same(f'sandwich of {f[0]} ({f[1]}): its self and total', [(m['self'], m['total']) for m in mid], [(own, total)])
        below = [x for x in boxes if not x['up'] and x['level']]
        above = [x for x in boxes if x['up'] and x['level']]
        same('... all callees', wrong_boxes(below, callees, width, of=(f,)), [(), (f,)])
        same('... all callers', wrong_boxes(above, callers, width, of=(f,)), [(), (f,)])
        ok('... callers above, callees below', all(x['y'] < mid[0]['y'] for x in above) and all(x['y'] > mid[0]['y'] for x in below))
    shot('sandwich')
    b.key('Escape')
    same('Escape goes back to the stacks', b.value('cprof.state().shown'), 'flame')


def check_table(p):
    rows = {(r['name'], r['kind']): (r['self'][0], r['total'][0]) for r in b.value('cprof.table()')}
    kinds = ['user', 'kernel', 'inlined', 'JIT', 'interpreted', 'process', 'no name']
    same('the table has self and total of each function', rows, {(f[0], kinds[f[1]]): v for f, v in fd.functions(p).items()})
    selfs = [r['self'][0] for r in b.value('cprof.table()')]
    same('... greatest self first', selfs, sorted(selfs, reverse=True))
    b.value('document.querySelector("#thead [data-key=total]").click()')
    totals = [r['total'][0] for r in b.value('cprof.table()')]
    same('... or greatest total', totals, sorted(totals, reverse=True))
    b.value('document.querySelector("#thead [data-key=name]").click()')
    listed = [r['name'] for r in b.value('cprof.table()')]
    same('... or by name', listed, sorted(listed))
    b.value('document.getElementById("filter").focus()')
    b.text('^foo')
    same('... filtered', sorted({r['name'] for r in b.value('cprof.table()')}), ['foo', 'foo(int)', 'foo.part.0'])
    b.value('document.activeElement.blur()')


def check_fragment(path, hash_, of):
    fresh(path, hash_)
    same('a fragment opens at its zoom', tuple(b.value('cprof.zoomed()')), of)
    fresh(path, '#view=sandwich&of=foo&query=al%7Cwa&heavy=1&theme=dark&table=0')
    state = b.value('cprof.state()')
    same('... its view, function, search, order, theme', [state[k] for k in ('shown', 'of', 'query', 'heavy', 'theme')] +
         [b.value('document.documentElement.dataset.theme'), b.value('cprof.search().labels')], ['sandwich', 'foo', 'al|wa', '1', 'dark', 'dark', 3])
    for bad in ('#view=nonsense&zoom=%E0%A4%A;x&of=%&range=9-3', '#zoom=@99999.1.-2', '#&&==&query', '#zoom=no;such;path', '#view=sandwich&of=gone'):
        fresh(path, bad)
        same(f'{bad} shows all', [b.value('cprof.zoomed()'), b.value('cprof.state().shown')], [[], 'flame'])


def check_keys(path):
    fresh(path)
    b.key('ArrowUp')
    b.key('ArrowUp')
    first = b.value('cprof.focus()')
    widest = max((f for f in frames() if f['level'] == 1), key=lambda f: f['w'])
    same('arrows go to the widest child', tuple(first['path']), names(widest['path']))
    b.key('ArrowDown')
    same('... to the parent', b.value('cprof.focus()')['path'], [])
    b.key('ArrowUp')
    row = sorted((f for f in frames() if f['level'] == 1), key=lambda f: f['x'])
    at = [f['path'] for f in row].index(widest['path'])
    key, there = ('ArrowRight', row[at + 1]) if at + 1 < len(row) else ('ArrowLeft', row[at - 1])
    b.key(key)
    same('... to the neighbour', tuple(b.value('cprof.focus()')['path']), names(there['path']))
    b.key('Enter')
    same('Enter zooms to it', tuple(b.value('cprof.zoomed()')), names(there['path']))
    b.key('c')
    same('c copies its name', b.value('cprof.copied()'), there['name'])
    b.key('?')
    same('? shows the keys', b.value('document.getElementById("help").open'), True)
    shot('keys')
    b.key('Escape')
    b.wait('!document.getElementById("help").open')
    same('... and Escape hides them, no more', tuple(b.value('cprof.zoomed()')), names(there['path']))
    b.key('0')
    b.key('d')
    same('d is for dark', b.value('document.documentElement.dataset.theme'), 'dark')
    b.key('d')
    box = max((f for f in frames() if f['level'] == 2), key=lambda f: f['w'])
    b.move(box['clientX'], box['clientY'])
    tip = b.value('document.getElementById("tip").innerText')
    parent = next(f for f in frames() if f['path'] == box['path'][:-1])
    whole = b.value('cprof.totals()')
    want = [f"{box['total']:,} samples ({box['total'] / whole * 100:.2f} %)", f"{box['total'] / parent['total'] * 100:.2f} %"]
    ok('a tooltip says total, self, share of all and of the parent', all(w in tip for w in want) and 'self' in tip, tip, want)
    b.click(box['clientX'], box['clientY'], count=2)
    same('a double click is a sandwich', (b.value('cprof.state().shown'), one(box['name'], 0)['name']), ('sandwich', box['name']))
    b.size(900, 600, 2)
    b.settle()
    b.wait('document.getElementById("graph").width === Math.round(cprof.width() * 2)')
    b.key('f')
    ok('another size and density are followed', close(one('all')['w'], b.value('cprof.width()')))
    b.size(1280, 800)


def check_diff():
    before, after = made(5), made(5)
    gone = [s for s in before if ('operator new', fd.USER) in s]
    for s in gone:
        del after[s]
    for s in list(after)[::17]:
        after[s + (('fresh', fd.USER),)] = 400
    after = {s: w * (3 if ('alloc', fd.USER) in s else 2) for s, w in after.items()}
    sums = [sum(x.values()) for x in (before, after)]
    trees = [fd.tree(x) for x in (before, after)]
    both = {s: [t.get(s, [0, 0]) for t in trees] for s in {**trees[0], **trees[1]}}

    def verdict(x, y):
        d = y / sums[1] - x / sums[0]
        return 0 if abs(d) < 0.004 else fd.NEW if x == 0 else fd.GONE if y == 0 else fd.MORE if d > 0 else fd.LESS

    def at(s):
        return verdict(*(t.get(s, [0, 0])[0] for t in trees))
    funcs = [fd.functions(x) for x in (before, after)]

    def of(f):
        return [verdict(*(x.get(f, (0, 0))[i] for x in funcs)) for i in (0, 1)]
    path = show('diff', [before, after], title='before → after', subtitle='a made difference', names=('v1', 'v2'), verdict=of, node_verdict=at,
                ledger=[('Samples before', f'{sums[0]:,}'), ('after', f'{sums[1]:,}')])
    width = b.value('cprof.width()')
    words = ['not significant', 'significantly less', 'significantly more', 'new', 'gone']
    by_path = {s: at(s) for s in both if s}
    shot('diff')
    for mode, weights in (('both', (.5, .5)), ('before', (1, 0)), ('after', (0, 1))):
        b.value(f'document.querySelector("[data-act={mode}]").click()')
        boxes = frames()
        bad = [(f['path'], f['w']) for f in boxes if not close(f['w'], width * sum(
            k * v[0] / s for k, v, s in zip(weights, both[f['path']], sums)))]
        want = sum(1 for v in both.values() if width * sum(k * x[0] / s for k, x, s in zip(weights, v, sums)) >= 0.5001)
        ok(f'differential: width is the normalised share, {mode}', not bad and len(boxes) >= want, bad[:3], len(boxes), want)
    b.value('document.querySelector("[data-act=both]").click()')
    boxes = frames()
    bad = [f for f in boxes if f['total'] != [v[0] for v in both[f['path']]] or f['self'] != [v[1] for v in both[f['path']]]]
    same('differential: totals and selfs of both sides', bad, [])
    marks = {f['path']: f['mark'] for f in boxes}
    same('vanished frames are marked so, new ones too', marks,
         {p: 'gone' if both[p][1][0] == 0 else 'new' if both[p][0][0] == 0 else '' for p in marks})
    ok('... and there are both', {'gone', 'new', ''} == set(marks.values()))
    bad = [f for f in boxes if f['path'] and f['verdict'] != words[by_path[f['path']]]]
    same('each box has the verdict of its total', bad, [])
    bad = [f for f in boxes if f['path'] and ((f['change'] == 0) != (f['verdict'] == words[0]) or
           f['change'] * (f['total'][1] / sums[1] - f['total'][0] / sums[0]) < 0)]
    same('what is not significant is grey, the rest coloured by its direction', bad, [])
    b.key('x')
    by_self = {f: words[of(f)[0]] for f in funcs[0] | funcs[1]}
    kinds = ['user', 'kernel', 'inlined', 'JIT', 'interpreted', 'process', 'no name']
    bad = [f for f in frames() if f['path'] and f['verdict'] != by_self[(f['name'], kinds.index(f['kind']))]]
    same('on a key, by selfs', bad, [])
    b.key('x')
    rows = {(r['name'], r['kind']): (r['self'], r['total']) for r in b.value('cprof.table()')}
    want = {(f[0], kinds[f[1]]): tuple([x.get(f, (0, 0))[i] for x in funcs] for i in (0, 1)) for f in funcs[0] | funcs[1]}
    same('the table has both sides', rows, want)
    b.value('document.querySelector("[data-act=dtotal]").click()')
    b.text('') # the page has the keys
    b.key('/')
    b.text('alloc')
    share = b.value('cprof.search().share')
    ok('the matched share of both sides', all(close(s, fd.matched(x, 'alloc') / t, 1e-12) for s, x, t in zip(share, (before, after), sums)), share)
    fresh(path, '#view=sandwich&of=alloc&theme=dark')
    same('sandwich of a difference', one('alloc', 0)['total'], [x[('alloc', 0)][1] for x in funcs])
    shot('diff-sandwich-dark')
    show('one-empty', [fd.parse(''), after], names=('nothing', 'v2'))
    ok('a side without samples', one('all')['total'] == [0, sums[1]] and not b.errors)


def check_heat():
    r = random.Random(4)
    base = list(made(8, 60))
    times, whole, slices = {}, {}, 50 * 23 + 17
    for s in range(slices):
        for _ in range(int(3 + 3 * math.sin(s / 90)) + (12 if 500 <= s < 560 else 0)):
            stack = r.choice(base[:20] if 500 <= s < 560 else base)
            times[(s, stack)] = times.get((s, stack), 0) + 1
            whole[stack] = whole.get(stack, 0) + 1
    moments = (20_000_000, slices, times)
    path = show('heat', [whole], title='23 seconds', times=moments, zipped=True)
    heat = b.value('cprof.heat()')
    cells = [0] * slices
    for (s, _), w in times.items():
        cells[s] += w
    same('the heat map has seconds by sub-seconds', (heat['columns'], heat['rows'], heat['cells']), (24, 50, cells))
    same('all time at first', b.value('cprof.totals()'), sum(whole.values()))
    shot('heat')
    box = b.value('(() => { const r = document.getElementById("heatmap").getBoundingClientRect(); return [r.left, r.top]; })()')

    def place(cell):
        return (box[0] + heat['left'] + (cell // 50 + .5) * heat['cellWidth'], box[1] + (cell % 50 + .5) * heat['cellHeight'])

    def is_range(what, first, end):
        part = fd.in_range(moments, first, end)
        width = b.value('cprof.width()')
        same(f'{what}: the range', b.value('cprof.heat().range'), [first, end])
        same('... its total', b.value('cprof.totals()'), sum(part.values()))
        same('... its boxes', wrong_boxes(frames(), part, width), [])
        rows = {(x['name'], x['self'][0], x['total'][0]) for x in b.value('cprof.table()')}
        same('... its functions', rows, {(f[0], *v) for f, v in fd.functions(part).items()})

    b.drag(*place(500), *place(559))
    is_range('by dragging', 500, 560)
    shot('heat-range')
    hash_ = b.value('location.hash')
    b.click(*place(130))
    b.click(*place(77))
    is_range('by two clicks, the later first', 77, 131)
    b.key('ArrowRight')
    b.key('Enter')
    b.key('ArrowDown')
    b.key('ArrowDown')
    b.move(*(v + 300 for v in box))
    b.key('Enter')
    is_range('by the keyboard', 127, 130)
    b.value('history.go(-2)')
    b.wait(f'location.hash === {json.dumps(hash_)}')
    is_range('back', 500, 560)
    b.value('document.getElementById("heatmap").focus()')
    b.key('Escape')
    same('Escape is all time', (b.value('cprof.heat().range'), b.value('cprof.totals()')), (None, sum(whole.values())))
    fresh(path, hash_ + '&query=foo')
    is_range('by the fragment', 500, 560)
    part = fd.in_range(moments, 500, 560)
    ok('search is of the range', close(b.value('cprof.search().share'), fd.matched(part, '(?i)foo') / sum(part.values()), 1e-12))
    fresh(path, '#range=99999-999999')
    same('a range behind the end is none', b.value('cprof.heat().range'), None)


def check_hostile():
    bad = ['</script><script>window.broken = 1</script>', '<img src=x onerror="window.broken = 1">', '"\'`&amp;', 'a;b', 'two\nlines\ttab',
           '\u202eright to left', '__proto__', 'constructor', 'x' * 10000, 'ns::f<' + 'std::pair<int, ' * 600 + '>', '~1', 'a~1;2%', '\U0001f525', '',
           'cut \udcff\udcc3 bytes', '$&', '<!--DATA-->', ' ']
    p = {(('app', fd.OTHER), (x, fd.USER), (y, fd.KERNEL)): i * 3 + j + 2 for i, x in enumerate(bad) for j, y in enumerate(bad)}
    show('hostile', [p], title=bad[0], subtitle=bad[1], ledger=[(bad[0], bad[1]), (bad[4], bad[8])])
    shown = [n.encode('utf-8', 'surrogateescape').decode('utf-8', 'replace') for n in bad]
    same('names come as they are', {f['name'] for f in frames() if f['level'] == 2}, set(shown))
    same('... and are not run', (b.value('typeof window.broken'), b.value('document.images.length'), b.value('document.scripts.length')),
         ('undefined', 0, 1))
    shot('hostile')
    wrong = []
    for i in range(len(bad)):
        box = one(shown[i], 2)
        b.click(box['clientX'], box['clientY'])
        hash_ = b.value('location.hash')
        b.key('Escape')
        b.value(f'location.hash = {json.dumps(hash_)}')
        b.settle()
        if tuple(b.value('cprof.zoomed()')) != names(box['path']):
            wrong.append((shown[i], hash_[:100], b.value('cprof.zoomed()')))
        b.key('s')
        if not one(shown[i], 0):
            wrong.append(('sandwich', shown[i], b.value('location.hash')[:100]))
        b.key('Escape')
    same('... through the fragment, sandwich and back', wrong, [])
    b.key('/')
    b.text('script|img|proto')
    ok('... and are searched', close(b.value('cprof.search().share'), fd.matched(p, 'script|img|proto') / sum(p.values()), 1e-12))


def check_ends():
    show('empty', [{}], title='nothing')
    same('an empty profile says so', b.value('[document.getElementById("empty").innerText, cprof.totals(), cprof.frames().length]'),
         ['No samples.', 0, 1])
    for key in 'rsfion/':
        b.key(key)
    b.text('x')
    show('one', [fd.parse('a;b 1\n')], title='one')
    same('one sample', [(f['name'], f['total'], close(f['w'], b.value('cprof.width()'))) for f in frames()],
         [('b', 1, True), ('a', 1, True), ('all', 1, True)])
    ok('... is a sample', '1 sample ' in b.value('document.getElementById("details").innerText'))
    roots = fd.parse(''.join(f'root{i:05};f 1\n' for i in range(60000)))
    path = show('roots', [roots], title='60,000 roots')
    same('60,000 roots: none is wide enough, their place is shown', (len(frames()), b.value('cprof.rests()')), (1, 1))
    same('... and all are in the table', b.value('cprof.labels === 60001 && cprof.table().length'), 60001)
    fresh(path, '#zoom=root31234')
    same('... and can be zoomed to', [f['name'] for f in frames()], ['f', 'root31234', 'all'])
    deep = fd.parse('app;' + ';'.join(['again'] * 4999) + ' 2\n')
    show('deep', [deep], title='deep')
    same('5,000 frames deep', b.value('[cprof.count(), cprof.table()[0].total, cprof.table().length]'), [5001, [2], 2])
    huge = {(('a', 0), ('b', 0)): 2 ** 52 + 1, (('a', 0), ('c', 0)): 2 ** 52 - 2}
    show('huge', [huge], unit='ns')
    same('numbers to 2^53 are exact', b.value('cprof.totals()'), 2 ** 53 - 1)
    whole = fd.block([made()])
    said = []
    for cut in (0, 5, 40, len(whole) // 2, len(whole) - 1):
        file = os.path.join(TMP, 'cut.html')
        with open(file, 'w') as f:
            f.write(fd.page(whole[:cut]))
        b.open(file)
        said.append(b.value('cprof.ready.then(() => "", () => document.getElementById("empty").textContent)'))
    ok('data that is cut short is said to be', all('cannot show' in s for s in said), said)
    b.errors[:] = [e for e in b.errors if 'damaged' not in e and 'not a data block' not in e]


def check_options(p):
    show('options', [p], options=[('inverted', '1'), ('search', 'foo'), ('minwidth', '20'), ('colors', 'hot'), ('order', 'heavy'), ('height', '30')],
         title='options', dark=True)
    state = b.value('cprof.state()')
    same('what the command line asked for', [state[k] for k in ('icicle', 'query', 'heavy')], ['1', 'foo', '1'])
    rows = sorted({f['y'] for f in frames()})
    ok('... row height and least width too', rows[1] - rows[0] == 30 and min(f['w'] for f in frames()) >= 20, rows[:3])
    same('dark, where the system is', b.value('document.documentElement.dataset.theme'), 'dark')


def main():
    global b
    with Browser(1280, 800) as b:
        p = made()
        path = check_stacks(p)
        shot('light')
        hash_, of = check_zoom(p)
        check_search(p)
        check_reverse(p)
        check_sandwich(p)
        check_table(p)
        check_fragment(path, hash_, of)
        check_keys(path)
        fresh(path, '#theme=dark')
        shot('dark')
        check_diff()
        check_heat()
        check_hostile()
        check_ends()
        check_options(p)
        same('no page error', b.errors, [])
        same('nothing is asked of a network', b.requests, [])


try:
    main()
except Exception:
    ok('the check runs to its end', False, traceback.format_exc())
print(f'1..{count}')
sys.exit(failed > 0)
