"""The checks of tests/cmd/flame-kinds.t."""
from flamelook import *

AXE = sys.argv[3]
SIZES = {'screen': (1280, 800), 'telephone': (390, 844)}
SMALL = '''Array.from(document.querySelectorAll("button, input, select, summary, .row, [role=menuitem]"),
    (e) => [e.outerHTML.slice(0, 90), e.getBoundingClientRect()]).filter(([, r]) => r.width > 0 &&
    (r.height < 43.5 || r.width < 43.5)).map(([text, r]) => [text, r.width, r.height])'''
# Parts that are wider than the page, and words of controls that have no room
WIDE = '''(() => { const wide = document.documentElement.clientWidth, list = [];
    for (const e of document.querySelectorAll("button, select, input, h2, p, footer span, #heat > *"))
        if (e.getBoundingClientRect().right > wide + 1 && !e.closest("#crumbs"))
            list.push(["wide", e.outerHTML.slice(0, 90)]);
    for (const e of document.querySelectorAll("button:not(#crumbs button), #legend span, #caution"))
        if (e.scrollWidth > e.clientWidth + 1 && e.clientWidth)
            list.push(["cut", e.outerHTML.slice(0, 90)]);
    return list; })()'''
OVER = '''(() => { const r = (e) => e.getBoundingClientRect();
    const all = document.querySelectorAll("header, #heat, #crumbs, #pane, #side, #source, #details, footer");
    const parts = Array.from(all).filter((e) => r(e).width && r(e).height);
    const meet = (a, b) => r(a).bottom > r(b).top + 1 && r(b).bottom > r(a).top + 1 &&
        r(a).right > r(b).left + 1 && r(b).right > r(a).left + 1;
    return parts.flatMap((a, i) => parts.slice(i + 1).filter((b) => meet(a, b)).map((b) =>
        [a.id || a.localName, b.id || b.localName])); })()'''


def run_axe(what):
    if not AXE:
        print('# SKIP axe: npm cannot install axe-core', flush=True)
        return
    b.value(open(AXE, encoding='utf-8').read() + '; 0')
    found = b.value('axe.run().then((r) => r.violations.map((v) => [v.impact, v.id, v.nodes.length, '
                    'v.nodes[0].html.slice(0, 200), v.nodes[0].failureSummary.slice(0, 300)]))')
    same(f'{what}: axe finds nothing serious', [v for v in found if v[0] in ('serious', 'critical')], [])


def show_page(name, size, dark):
    touch = size == 'telephone'
    b.call('Emulation.setTouchEmulationEnabled', enabled=touch)
    b.size(*SIZES[size])
    b.media(dark)
    b.open(os.path.join(TMP, 'pages', name + '.html'), '#table=1')
    b.value('window.cprof ? cprof.ready : 0')
    if name == 'source':
        b.value('document.getElementById("sourcebutton").click()')
    b.settle()


def check_page(name):
    for size, dark in (('screen', False), ('telephone', True)):
        show_page(name, size, dark)
        what = f'{name}, {size}'
        run_axe(what)
        same(f'{what}: nothing is wider than the page or cut off', b.value(WIDE), [])
        same(f'{what}: no part covers another', b.value(OVER), [])
        if size == 'telephone':
            same(f'{what}: controls are 44 pixels high and wide', b.value(SMALL), [])
        shot(f'kind-{name}-{size}')
    title = b.value('document.title')
    ok(f'{name}: its tab says of what it is', title not in ('', 'Flame Graph'), title)


def active():
    return b.value('''(() => { const e = document.activeElement;
        return e.dataset.act || e.id || e.closest("[id]")?.id || e.localName; })()''')


def check_keys():
    """Walks through the page of lanes by Tab, and uses search, menu and table by keys alone."""
    b.call('Emulation.setTouchEmulationEnabled', enabled=False)
    b.size(*SIZES['screen'])
    b.media(False)
    fresh(os.path.join(TMP, 'pages', 'wall-heat.html'))
    reached = []
    while len(reached) < 60 and (not reached or reached[-1] != 'body' or len(reached) < 3):
        b.key('Tab')
        reached.append(active())
    want = {'flame', 'reverse', 'sandwich', 'heavy', 'icicle', 'query', 'table', 'save', 'theme', 'help',
            'heatmap', 'lanemap', 'lanemode', 'graph', 'grip', 'filter', 'tbody', 'summary'}
    same('Tab reaches every control, the picture and the table', want - set(reached), set())
    b.key('/')
    same('/ goes to the search', active(), 'query')
    b.text('foo')
    b.key('Enter')
    focus = b.value('cprof.focus().name')
    same('... Enter to the widest match', focus, 'foo')
    b.key('Escape')
    same('... Escape to the picture', active(), 'graph')
    b.call('Input.dispatchKeyEvent', type='keyDown', key='F10', windowsVirtualKeyCode=121, modifiers=8)
    same('Shift-F10 opens the menu', b.value('document.activeElement.getAttribute("role")'), 'menuitem')
    items = b.value('document.querySelectorAll("#menu [role=menuitem]").length')
    for _ in range(items):
        b.key('ArrowDown')
    same('... arrows lead around it', b.value('document.activeElement.dataset.do'), 'focus')
    b.key('Enter')
    same('... Enter chooses', b.value('cprof.edits()'), [['focus', 'foo']])
    b.key('Escape') # the search, which filters the table
    b.value('document.getElementById("tbody").focus()')
    for key in ('Home', 'ArrowDown', 'Enter'):
        b.key(key)
    name = b.value('cprof.table()')[1]['name']
    of = b.value('cprof.app.p.name(cprof.app.of)')
    same('in the table, Enter shows callers and callees of the row', of, name)
    said = b.value('document.getElementById("live").textContent')
    ok('... which is told', name in said, said)


def check_paper():
    """The pages with most parts, on paper: nothing covers another, and the picture is there."""
    for name in ('wall-heat', 'directory', 'blame'):
        show_page(name, 'screen', False)
        b.size(718, 1000)
        b.call('Emulation.setEmulatedMedia', media='print', features=[])
        b.value('window.dispatchEvent(new Event("beforeprint"))')
        b.settle()
        same(f'{name}, paper: no part covers another', b.value(OVER), [])
        drawn = b.value('document.querySelectorAll("#paper canvas").length')
        ok('... and the picture is there', drawn > 0, drawn)
        shot(f'kind-{name}-paper')
        b.value('window.dispatchEvent(new Event("afterprint"))')
        b.call('Emulation.setEmulatedMedia', media='', features=[])


def check_all():
    for name in sorted(os.listdir(os.path.join(TMP, 'pages'))):
        check_page(name.removesuffix('.html'))
    check_keys()
    check_paper()


run(check_all)
