"""The checks of tests/cmd/flame-menu.t."""
import csv
import io
import xml.etree.ElementTree as tree

from flameask import *

FOLDED = os.path.join(TMP, 'in.folded')
ITEMS = '''Array.from(document.querySelectorAll("#menu button"),
    (e) => e.innerText.replace(/\\s+/g, " "))'''
AFTER = os.path.join(TMP, 'after.folded')


def make_input(path, seed, stacks=400):
    """Random stacks with recursion, waits, all kinds, and functions called like their process."""
    r = random.Random(seed)
    pool = ['foo', 'foo', 'bar', 'bar_[k]', 'app', 'web', 'memcpy_[i]', 'step_[j]', 'C.f_[l]', '[unknown]',
            'a"b,c', 'std::map<int, x>', 'read_[k]', '日本', 'operator new']
    ends = ['', '', ';[sleeping]', ';[uninterruptible]', ';[waiting for a CPU]']
    with open(path, 'w', encoding='utf-8') as f:
        for _ in range(stacks):
            names = [r.choice(['app', 'web', 'db', 'web-12/13'])]
            for _ in range(r.randint(0, 9)):
                names += [r.choice(pool[:r.randint(3, 15)])] * r.choice([1, 1, 1, 2, 3])
            f.write(f"{';'.join(names)}{r.choice(ends)} {r.randint(1, 999)}\n")


def check_all_of(what, want):
    check_follow(what, want)
    total, whole = sum(want.values()), sum(fold().values())
    part = b.value('document.getElementById("part").textContent')
    said = f'Shown: {total:,} of {whole:,} ({total / whole * 100:.2f} %) samples'
    right = part.startswith(said) if total < whole else part == ''
    ok('... and the ledger names the part', right, part, said)


def check_edits(path):
    steps = [
        ('foo', 'focus', 'user', ['--focus', '^foo$']),
        ('bar', 'focus', 'kernel', ['--focus', r'^bar_\[k\]$']),
        ('bar', 'drop', 'user', ['--exclude', '^bar$']),
        ('foo', 'collapse', None, ['--collapse-recursion']),
        ('foo', 'hide', None, ['--exclude', r'^\[sleeping\]$']),
        ('web', 'only', 'process', ['--comm', 'web']),
    ]
    for name, act, kind, args in steps:
        fresh(path)
        choose(name, act, kind)
        want = fold(*args)
        same(f'{act} {name}: what {" ".join(args)} gives', folded(), want)
        check_all_of(act, want)
    for pair in ((0, 3), (2, 4), (3, 2), (5, 0)):
        fresh(path)
        for i in pair:
            choose(*steps[i][:3])
        options = {}
        for name, *value in (steps[i][3] for i in pair):
            options.setdefault(name, []).extend(value)
        want = fold(*[f'{name}={"|".join(v)}' if v else name for name, v in options.items()])
        names = ' and '.join(steps[i][1] for i in pair)
        same(f'{names}: what both options give', folded(), want)
        check_all_of(names, want)


def without(stacks, name):
    out = collections.Counter()
    for stack, n in stacks.items():
        head, *rest = stack.split(';')
        out[';'.join([head] + [f for f in rest if f != name])] += n
    return out


def check_merge(path):
    fresh(path)
    choose('foo', 'merge', 'user')
    want = without(fold(), 'foo')
    same('merge foo: stacks without it', folded(), want)
    check_all_of('merge', want)
    want = {tuple(data.frame(f, i == 0) for i, f in enumerate(s.split(';'))): n for s, n in want.items()}
    choose('bar', 'merge', 'user')
    want = without(without(fold(), 'foo'), 'bar')
    same('... and bar as well', folded(), want)
    whole = sum(want.values())
    boxes = collections.Counter()
    for stack, n in want.items():
        for i in range(stack.count(';') + 1):
            boxes[tuple(re.sub(r'_\[[kijl]\]$', '', f) for f in stack.split(';')[:i + 1])] += n
    width = b.value('cprof.width()')
    drawn = collections.Counter()
    for f in frames():
        if f['path']:
            drawn[names(f['path'])] += f['w']
    share = lambda p: boxes[p] / whole * width
    wrong = [(p, w, share(p)) for p, w in drawn.items() if not close(w, share(p), 0.5)]
    ok('... boxes are as wide as their share', not wrong, wrong[:3])
    b.key('u')
    got = [b.value('cprof.edits()'), folded()]
    same('u takes back the last', got, [[['merge', 'foo']], without(fold(), 'foo')])


def edited(stacks, edits):
    """Returns the stacks after edits, one after the other: the plainest way to make them."""
    for verb, frame in edits:
        out = collections.Counter()
        for stack, n in stacks.items():
            if verb == 'merge':
                stack = tuple(f for f in stack if f != frame)
            elif verb == 'collapse':
                stack = tuple(f for i, f in enumerate(stack) if i == 0 or f[0] != stack[i - 1][0])
            elif (verb == 'focus' and frame not in stack) or (verb == 'drop' and frame in stack) or \
                    (verb == 'only' and stack[0] != frame) or (verb == 'hide' and ('[sleeping]', 0) in stack):
                continue
            out[stack] += n
        stacks = out
    return stacks


def check_many(path):
    fresh(path)
    r = random.Random(8)
    whole = collections.Counter({tuple((f, int(i == 0)) for i, f in enumerate(s.split(';'))): n
                                 for s, n in fold().items()})
    words = {('foo', 0): 'foo', ('bar', 0): 'bar', ('bar_[k]', 0): 'bar~1', ('memcpy_[i]', 0): 'memcpy~2',
             ('app', 0): 'app', ('web', 0): 'web'}
    roots = {('app', 1): 'app~5', ('web', 1): 'web~5', ('db', 1): 'db~5'}
    wrong = []
    for _ in range(60):
        edits = []
        for _ in range(r.randint(2, 5)):
            verb = r.choice(['focus', 'drop', 'merge', 'merge', 'collapse', 'hide', 'only'])
            edits.append((verb, r.choice(list(roots if verb == 'only' else words))))
        text = ','.join(v if v in ('collapse', 'hide') else f'{v}:{ {**words, **roots}[f]}' for v, f in edits)
        b.value(f'cprof.app.set({{ edit: {json.dumps(text)} }})')
        got = read(b.value('foldedPieces(cprof.app).join("")'))
        want = edited(whole, edits)
        plain = collections.Counter()
        for stack, n in want.items():
            plain[';'.join(f for f, _ in stack)] += n
        if got != plain or (plain and table() != functions(plain)):
            wrong.append(text)
    same('60 random series of edits give the stacks and the table of plain counting', wrong, [])


def check_state(path):
    fresh(path)
    choose('foo', 'focus', 'user')
    choose('bar', 'drop', 'user')
    hash_ = b.value('location.hash')
    want = fold('--focus', '^foo$', '--exclude', '^bar$')
    b.value('history.back()')
    b.wait('cprof.edits().length === 1')
    same('back takes back an edit', folded(), fold('--focus', '^foo$'))
    fresh(path, hash_)
    got = [b.value('cprof.edits()'), folded()]
    same('a link holds the edits', got, [[['focus', 'foo'], ['drop', 'bar']], want])
    chips = b.value('Array.from(document.querySelectorAll("#edits button"), (e) => e.innerText)')
    same('they are shown', chips, ['only stacks with foo ×', 'no stacks with bar ×', 'Undo', 'Undo all'])
    b.value('document.querySelector("#edits button").click()')
    same('... and a press takes back that one', folded(), fold('--exclude', '^bar$'))
    b.key('U')
    b.key('u')
    got = [b.value('cprof.edits()'), b.value('document.getElementById("edits").hidden')]
    same('u and U take back all', got, [[], True])
    for bad in ('#edit=focus:gone', '#edit=drop', '#edit=nonsense:foo,collapse:foo', '#edit=focus:%E0%A4%A'):
        fresh(path, bad)
        got = [b.value('cprof.edits()'), b.value('cprof.seen()')]
        same(f'{bad} edits nothing', got, [[], sum(fold().values())])
    fresh(path, '#edit=focus:foo~0,drop:foo~0')
    said = b.value('document.getElementById("empty").innerText')
    ok('where nothing is left, that is said', 'left by the edits' in said, said)


def check_zoom(path):
    fresh(path)
    box = max((f for f in frames() if f['level'] == 2 and f['w'] > 20), key=lambda f: f['w'])
    prefix = box['path'][0][0]
    b.click(box['clientX'], box['clientY'])
    got = folded()
    top = next(s for s in fold() if s.split(';')[0] == prefix and len(s.split(';')) > 1 and
               re.sub(r'_\[[kijl]\]$', '', s.split(';')[1]) == box['name'] and
               data.frame(s.split(';')[1], False)[1] == box['path'][1][1])
    head = ';'.join(top.split(';')[:2])
    want = collections.Counter({s: n for s, n in fold().items() if s == head or s.startswith(head + ';')})
    same('zoomed: the stacks below the box are downloaded', got, want)
    inner = collections.Counter()
    for stack, n in want.items():
        inner['.;' + stack.split(';', 1)[1]] += n
    functions_ = {f: v for f, v in functions(inner).items() if not f[1]}
    same('... the table is of the frames in it', table(), functions_)
    check_share = b.value('cprof.app.set({ query: "^bar$" }), cprof.search().share')
    hit = sum(n for s, n in want.items() if any(re.fullmatch(r'bar(_\[k\])?', f) for f in s.split(';')[1:]))
    ok('... so is the share of the search', close(check_share, hit / sum(want.values()), 1e-9), check_share)
    fresh(path, '#view=reverse')
    box = max((f for f in frames() if f['level'] == 2 and f['w'] > 8), key=lambda f: f['w'])
    b.click(box['clientX'], box['clientY'])
    leaf = [n for n, _ in box['path']]
    kinds = [k for _, k in box['path']]

    def ends_so(stack):
        last = [data.frame(f, i == 0) for i, f in enumerate(stack.split(';'))][::-1][:2]
        return last == list(zip(leaf, kinds))

    want = collections.Counter({s: n for s, n in fold().items() if ends_so(s)})
    same('reversed and zoomed: the stacks of the box', table(), functions(want))
    reversed_ = collections.Counter({';'.join(s.split(';')[::-1]): n for s, n in want.items()})
    same('... downloaded reversed', folded(), reversed_)
    fresh(path, '#view=sandwich&of=foo')
    same('a sandwich gives the stacks with the function', folded(), fold('--focus', '^foo$'))
    same('... and leaves the table whole', table(), functions(fold()))


def check_search(path):
    fresh(path)
    b.value('cprof.app.set({ query: "^foo|new" })')
    found = sorted({r['name'] for r in b.value('cprof.table()')})
    same('a search filters the table', found, ['foo', 'operator new'])
    count_ = b.value('document.getElementById("rowcount").textContent')
    ok('... which says of how many', re.fullmatch(r'2 of \d+ functions', count_), count_)
    nodes = collections.Counter()
    for stack, n in fold().items():
        parts = stack.split(';')
        at = next((i for i, f in enumerate(parts) if re.search('^foo|new', f)), None)
        if at is not None:
            nodes[';'.join(parts[:at + 1])] += n
    want = sorted(nodes.values(), reverse=True)[:12]
    got = []
    for _ in want:
        b.key('n')
        got.append(b.value('cprof.app.focus.total[0]'))
    same('matches come by weight', got, want)
    b.value('document.activeElement.blur()')
    b.call('Input.dispatchKeyEvent', type='keyDown', key='f', windowsVirtualKeyCode=70, modifiers=2)
    same('Ctrl-F goes to the search', b.value('document.activeElement.id'), 'query')


def check_menu(path):
    fresh(path)
    box = box_of('foo', 'user')
    menu_at(box)
    items = b.value(ITEMS)
    ok('the menu names the function', 'Only stacks with foo F' in items and 'Hide sleepers H' in items, items)
    ok('... and has no undo yet', not any('Undo' in i for i in items), items)
    shot('menu')
    b.key('ArrowDown')
    at = b.value('[document.activeElement.dataset.do, document.activeElement.getAttribute("role")]')
    same('arrows move in it', at, ['drop', 'menuitem'])
    b.key('Escape')
    got = b.value('[document.getElementById("menu").hidden, document.activeElement.id]')
    same('Escape closes it', got, [True, 'graph'])
    menu_at(box_of('web', 'process'))
    items = b.value(ITEMS)
    ok('a process is not merged', not any('Merge' in i for i in items), items)
    b.key('Escape')
    thread = box_of('web-12/13', 'process')
    menu_at(thread)
    items = b.value(ITEMS)
    ok('a thread is called one', any(i.startswith('Only this thread: web-12/13') for i in items), items)
    b.key('T')
    same('... and a letter chooses', folded(), fold('--comm', 'web-12/13'))
    fresh(path)
    b.key('ArrowUp')
    b.key('ArrowUp')
    b.call('Input.dispatchKeyEvent', type='keyDown', key='F10', windowsVirtualKeyCode=121, modifiers=8)
    same('Shift-F10 opens it at the focus', b.value('document.activeElement.dataset.do'), 'focus')
    b.key('Enter')
    b.settle()
    same('... Enter chooses', b.value('cprof.edits().length'), 1)
    fresh(path)
    box = box_of('foo', 'user')
    b.move(box['clientX'], box['clientY'])
    b.key('X')
    same('a key alone acts on the box below the pointer', folded(), fold('--exclude', '^foo$'))
    fresh(path)
    b.call('Emulation.setTouchEmulationEnabled', enabled=True)
    box = box_of('foo', 'user')
    finger = [{'x': box['clientX'], 'y': box['clientY']}]
    b.call('Input.dispatchTouchEvent', type='touchStart', touchPoints=finger)
    b.wait('!document.getElementById("menu").hidden')
    b.call('Input.dispatchTouchEvent', type='touchEnd', touchPoints=[])
    b.settle()
    state = '[document.getElementById("menu").hidden, cprof.zoomed()]'
    same('a long press opens it and does not zoom', b.value(state), [False, []])
    fresh(path)
    b.call('Input.dispatchTouchEvent', type='touchStart', touchPoints=finger)
    b.value(f'''document.getElementById("graph").dispatchEvent(new PointerEvent("contextmenu", {{
        pointerType: "touch", clientX: {box['clientX']}, clientY: {box['clientY']} }}))''')
    b.call('Input.dispatchTouchEvent', type='touchEnd', touchPoints=[])
    b.settle()
    same('... also if the browser tells of it first', b.value(state), [False, []])
    b.call('Emulation.setTouchEmulationEnabled', enabled=False)
    fresh(path)
    row = b.value('''(() => { const i = cprof.table().findIndex((r) => r.name === "foo");
        document.getElementById("tbody").scrollTop = i * 24; return i; })()''')
    b.settle()
    place = b.value(f'''(() => {{ const row = document.querySelector('.row[data-row="{row}"]');
        const r = row.getBoundingClientRect(); return [r.x + 60, r.y + 12]; }})()''')
    menu_at({'clientX': place[0], 'clientY': place[1]})
    b.value('document.querySelector("#menu [data-do=focus]").click()')
    same('a row of the table has it too', folded(), fold('--focus', '^foo$'))


def check_copies(path):
    fresh(path)
    box = max((f for f in frames() if f['level'] == 3 and f['w'] > 15), key=lambda f: f['w'])
    b.move(box['clientX'], box['clientY'])
    b.key('c')
    same('c copies a name', b.value('cprof.copied()'), box['name'])
    b.key('C')
    same('C copies the stack, innermost frame first', b.value('cprof.copied()').split('\n'),
         [n for n, _ in box['path']][::-1])


def check_files(path):
    fresh(path, '#edit=focus:foo')
    want = fold('--focus', '^foo$')
    rows = list(csv.reader(io.StringIO(download('csv').decode(), newline='')))
    same('CSV: a head', rows[0], ['Function', 'Kind', 'Self', 'Total'])
    listed = [(r['name'], r['kind'], str(r['self'][0]), str(r['total'][0])) for r in b.value('cprof.table()')]
    same('... and the rows of the table, in their order', [tuple(r) for r in rows[1:]], listed)
    svg = download('svg').decode()
    root = tree.fromstring(svg)
    ns = '{http://www.w3.org/2000/svg}'
    drawn = collections.Counter()
    total = sum(want.values())
    for g in root.iter(ns + 'g'):
        name, facts = g.find(ns + 'title').text.split('\n')[:2]
        if g.find(ns + 'rect').get('y') and name == 'app':
            drawn[name] += float(g.find(ns + 'rect').get('width'))
    roots = sum(n for s, n in want.items() if s.split(';')[0] == 'app')
    wide = roots / total * 1200 - 2
    ok('SVG: it is one, its boxes as wide as their share', drawn['app'] >= wide, drawn, wide)
    ok('... with title and edit', 'only stacks with foo' in root.find(ns + 'title').text)
    png = download('png')
    size = [int.from_bytes(png[i:i + 4], 'big') for i in (16, 20)]
    rows_ = b.value('cprof.app.picture.rows.length * cprof.app.picture.rowHeight')
    same('PNG: the whole picture', [png[:8], size], [b'\x89PNG\r\n\x1a\n', [2400, (rows_ + 28) * 2]])
    with open(os.path.join(SHOTS, 'flame-download.png'), 'wb') as f:
        f.write(png)
    again = os.path.join(TMP, 'again.folded')
    fresh(path)
    with open(again, 'wb') as f:
        f.write(download('folded'))
    boxes = lambda p: program(os.path.join(HERE, '..', 'cmd', 'flame-block.py'), 'boxes', p)
    same('a page of the downloaded stacks is the same page', boxes(page('again', again)), boxes(path))


def check_two():
    path = page('two', '--diff', FOLDED, AFTER)
    fresh(path, '#edit=focus:foo')
    got = collections.Counter()
    sides = [collections.Counter(), collections.Counter()]
    for line in download('folded').decode().splitlines():
        stack, before, after = line.rsplit(' ', 2)
        sides[0][stack] += int(before)
        sides[1][stack] += int(after)
    want = [fold('--focus', '^foo$', file=f) for f in (FOLDED, AFTER)]
    same('two sides: focus on each', [+s for s in sides], want)
    verdicts = {f['verdict'] for f in frames() if f['level']}
    same('... which is not judged', verdicts, {'not judged: edits left out stacks or frames'})
    same('... nor in the table', b.value('document.querySelectorAll(".row .more, .row .less").length'), 0)


def check_columns():
    path = os.path.join(TMP, 'ns.folded')
    with open(path, 'w', encoding='utf-8') as f:
        f.write('a;b 108000000000\na;c 14750000\na;d 999990000\na;e 999990\n')
    fresh(page('ns', '--weight', 'ns', path))
    over = b.value('''Array.from(document.querySelectorAll(".row > span"))
        .filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent)''')
    same('columns are as wide as their widest number of time', over, [])


def check_all():
    ask(FOLDED)
    make_input(FOLDED, 3)
    make_input(AFTER, 4)
    path = page('menu', FOLDED)
    fresh(path)
    same('all stacks are downloaded as they are', folded(), fold())
    check_edits(path)
    check_merge(path)
    check_many(path)
    check_state(path)
    check_zoom(path)
    check_search(path)
    check_menu(path)
    check_copies(path)
    check_files(path)
    check_two()
    check_columns()


run(check_all)
