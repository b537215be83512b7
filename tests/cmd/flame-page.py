"""The checks of tests/cmd/flame-page.t: views of a profile."""
import json

from flamelook import *


def check_stacks(p):
    path = show('stacks', [p], title='stacks', ledger=[('Samples', '123 of 124 expected'), ('Truncated', '0.8 %')])
    width = b.value('cprof.width()')
    boxes = frames()
    same('the whole is the sum of all stacks', b.value('cprof.totals()'), sum(p.values()))
    same('boxes, their totals, selfs and widths are those of the tree', wrong_boxes(boxes, p, width), [])
    same('siblings stand by name', left_edges(boxes, p, width), [])
    bottom = {f['level']: f['y'] for f in boxes}
    ok('the root is at the bottom', all(bottom[i] > bottom[i + 1] for i in range(max(bottom))), bottom)
    words = b.value('Array.from(document.querySelectorAll("#ledger > div > *"), (x) => x.textContent)')
    same('the ledger stands in the picture', words, ['Samples', '123 of 124 expected', 'Truncated', '0.8 %'])
    drawn = b.value('''(() => { const c = document.getElementById("graph"), r = window.devicePixelRatio;
        const f = cprof.frames().find((f) => f.level === 1 && f.w > 60);
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
    for text, regex in (('^foo', '(?i)^foo'), ('alloc|walk', '(?i)alloc|walk'), ('Parse', 'Parse'),
                        ('parse', '(?i)parse'), (r'\W', r'\W'), ('^nothing$', '^nothing$'), ('.', '.')):
        b.value('document.activeElement.blur()')
        b.key('/')
        b.value('document.getElementById("query").select()')
        b.text(text)
        got = b.value('cprof.search()')
        want = data.matched(p, regex) / total
        ok(f'search {text}: the share is that of stacks that match, each once', close(got['share'], want, 1e-12), got)
    b.value('document.getElementById("query").select()')
    b.text('(')
    ok('what is no regular expression is called so', b.value('cprof.search().shown') == 'not a regular expression')
    b.value('document.getElementById("query").select()')
    b.text('operator')
    seen = []
    for _ in range(3):
        b.key('Enter')
        seen.append(b.value('cprof.focus()'))
    found = all(f['name'] == 'operator new' for f in seen)
    ok('Enter goes from match to match', found and seen[0] != seen[1] != seen[2], seen)
    nodes = data.tree(p)
    widest = max((s for s in nodes if s and s[-1] == ('operator new', data.USER)), key=lambda s: nodes[s][0])
    same('... first to the widest', tuple(seen[0]['path']), names(widest))
    b.key('Escape')
    left = b.value('[document.activeElement.id, cprof.search().query, document.getElementById("query").value]')
    same('Escape leaves the field as it is', left, ['graph', 'operator', 'operator'])
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
    same('reversed is the tree of the reversed stacks', wrong_boxes(frames(), data.reverse(p), width), [])
    same('... by name', left_edges(frames(), data.reverse(p), width), [])
    shot('reverse')
    target = max((f for f in frames() if f['level'] == 1), key=lambda f: f['w'])
    b.click(target['clientX'], target['clientY'])
    same('... and zooms', tuple(b.value('cprof.zoomed()')), names(target['path']))
    b.key('Escape')
    b.key('f')


def check_sandwich(p):
    width = b.value('cprof.width()')
    for f in (('foo', data.USER), ('walk', data.INLINED), ('bar', data.KERNEL)):
        what = f'r.name === {json.dumps(f[0])} && r.kind === {json.dumps(KINDS[f[1]])}'
        row = b.value(f'cprof.table().findIndex((r) => {what})')
        b.value(f'document.getElementById("tbody").scrollTop = {row} * 24')
        b.settle()
        b.value(f'document.querySelector(".row[data-row=\\"{row}\\"]").click()')
        callers, callees = data.sandwich(p, f)
        boxes = frames()
        for box in boxes:
            box['path'] = (f, *box['path'])
        mid = [x for x in boxes if x['level'] == 0]
        own, total = data.functions(p)[f]
        same(f'sandwich of {f[0]} ({f[1]}): its self and total', [(m['self'], m['total']) for m in mid], [(own, total)])
        below = [x for x in boxes if not x['up'] and x['level']]
        above = [x for x in boxes if x['up'] and x['level']]
        same('... all callees', wrong_boxes(below, callees, width, of=(f,)), [(), (f,)])
        same('... all callers', wrong_boxes(above, callers, width, of=(f,)), [(), (f,)])
        y = mid[0]['y']
        ok('... callers above, callees below', all(x['y'] < y for x in above) and all(x['y'] > y for x in below))
    shot('sandwich')
    b.key('Escape')
    same('Escape goes back to the stacks', b.value('cprof.state().shown'), 'flame')


def check_table(p):
    rows = {(r['name'], r['kind']): (r['self'][0], r['total'][0]) for r in b.value('cprof.table()')}
    want = {(f[0], KINDS[f[1]]): v for f, v in data.functions(p).items()}
    same('the table has self and total of each function', rows, want)
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
    b.key('Escape')
    same('... and left as it is', b.value('document.getElementById("filter").value'), '^foo')


def check_press(path):
    fresh(path)
    first = b.value('cprof.table()[0].name')
    place = b.value('Object.values(document.querySelector(".row").getBoundingClientRect().toJSON())')
    b.click(place[0] + 60, place[1] + 12)
    state = b.value('cprof.state()')
    same('the first press on the table is a click', [state['shown'], state['of']], ['sandwich', first])


def check_sizes(path):
    def cut():
        return b.value('''Array.from(document.querySelectorAll("button, input, #legend span, #ledger div, #details dd"),
            (e) => [e.outerHTML, e.getBoundingClientRect()]).filter(([, r]) => r.width && (r.left < 0 || r.right >
            document.documentElement.clientWidth)).map(([text]) => text)''')
    for width, height in ((360, 640), (700, 500)):
        b.size(width, height)
        fresh(path)
        b.settle()
        pane = b.value('[document.getElementById("side").clientHeight, document.getElementById("pane").clientHeight]')
        ok(f'{width} x {height}: the table is folded away, the picture has room', pane[0] == 0 and pane[1] >= 190, pane)
        box = one('all', 0)
        ok('... the root is seen', box and 0 <= box['y'] < pane[1] - 5, box, pane)
        same('... nothing is cut off', cut(), [])
        b.key('t')
        b.settle()
        ok('... and t shows the table, its names too', b.value('document.getElementById("side").clientHeight') > 150 and
           b.value('document.querySelector(".row .name").clientWidth') > 110)
        same('... nothing of it is cut off', cut(), [])
    b.size(1280, 800)
    fresh(path)
    ok('in a wide window it is there', b.value('document.querySelector(".row .name").clientWidth') > 200)


def check_fragment(path, hash_, of):
    fresh(path, hash_)
    same('a fragment opens at its zoom', tuple(b.value('cprof.zoomed()')), of)
    fresh(path, '#view=sandwich&of=foo&query=al%7Cwa&heavy=1&theme=dark&table=0')
    state = b.value('cprof.state()')
    same('... its view, function, search, order, theme', [state[k] for k in ('shown', 'of', 'query', 'heavy', 'theme')],
         ['sandwich', 'foo', 'al|wa', '1', 'dark'])
    same('... and all follow', b.value('[document.documentElement.dataset.theme, cprof.search().labels]'), ['dark', 3])
    for bad in ('#view=nonsense&zoom=%E0%A4%A;x&of=%&range=9-3', '#zoom=@99999.1.-2', '#&&==&query',
                '#zoom=no;such;path', '#view=sandwich&of=gone'):
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
    total = box['total']
    want = ['self', f'{total:,} samples ({total / whole * 100:.2f} %)', f"{total / parent['total'] * 100:.2f} %"]
    ok('a tooltip says total, self, share of all and of the parent', all(w in tip for w in want), tip, want)
    b.click(box['clientX'], box['clientY'], count=2)
    ok('a double click is a sandwich', b.value('cprof.state().shown') == 'sandwich' and one(box['name'], 0))
    b.size(900, 600, 2)
    b.settle()
    b.wait('document.getElementById("graph").width === Math.round(cprof.width() * 2)')
    b.key('f')
    ok('another size and density are followed', close(one('all')['w'], b.value('cprof.width()')))
    b.size(1280, 800)


def check_fit():
    """Long names of C++ lose their namespaces, which many have in common, and not their ends."""
    fits = b.value('''["v8::internal::Heap::Collect(int)", "std::map<a::b, c::d>::find(x::y)",
        "no_namespace_here", "v8::(anonymous namespace)::run(a::b)", "x::y"].map((text) => {
            const g = document.createElement("canvas").getContext("2d");
            g.font = "12px monospace";
            const one = g.measureText("m").width;
            return [8, 15, 99].map((n) => cprof.app.picture.fit(g, text, n * one + 1)); })''')
    want = [['…Collec…', '…Collect(int)', 'v8::internal::Heap::Collect(int)'],
            ['…find(x…', '…find(x::y)', 'std::map<a::b, c::d>::find(x::y)'],
            ['no_name…', 'no_namespace_h…', 'no_namespace_here'],
            ['…run(a:…', '…run(a::b)', 'v8::(anonymous namespace)::run(a::b)'], ['x::y'] * 3]
    same('names that have no room lose their namespaces first', fits, want)


def check_options(p):
    options = {'inverted': '1', 'search': 'foo', 'minwidth': '20', 'colors': 'hot', 'order': 'heavy', 'height': '30'}
    show('options', [p], unit='bytes', options=list(options.items()), title='options', dark=True)
    state = b.value('cprof.state()')
    same('what the command line asked for', [state[k] for k in ('icicle', 'query', 'heavy')], ['1', 'foo', '1'])
    rows = sorted({f['y'] for f in frames()})
    ok('... row height and least width too', rows[1] - rows[0] == 30 and min(f['w'] for f in frames()) >= 20, rows[:3])
    details = b.value('document.getElementById("details").innerText')
    ok('... and the name of the unit', ' bytes (' in details and 'sample' not in details, details)
    same('dark, where the system is', b.value('document.documentElement.dataset.theme'), 'dark')


def check_views():
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
    check_press(path)
    check_sizes(path)
    fresh(path, '#theme=dark')
    shot('dark')
    check_fit()
    check_options(p)


run(check_views)
