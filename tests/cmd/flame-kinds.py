"""The checks of tests/cmd/flame-kinds.t."""
import re

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


def luminance(rgb):
    linear = [v / 255 / 12.92 if v / 255 <= 0.04045 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(*colours):
    """Of two colours as #rrggbb or rgb(r g b)."""
    rgb = [[int(c[i:i + 2], 16) for i in (1, 3, 5)] if c[0] == '#' else list(map(int, re.findall(r'\d+', c)))
           for c in colours]
    x, y = sorted(map(luminance, rgb))
    return (y + 0.05) / (x + 0.05)


def check_ink(what):
    """axe does not see the text on a canvas."""
    if not b.value('!!window.cprof'):
        return
    least = min((contrast(box['fill'], box['ink']), box['name']) for box in b.value('cprof.colours()'))
    ok(f'{what}: text on boxes has a contrast of at least 4.5', least[0] >= 4.5, least)


def check_page(name):
    for size, dark in (('screen', False), ('screen', True), ('telephone', False), ('telephone', True)):
        show_page(name, size, dark)
        what = f'{name}, {size}, {"dark" if dark else "light"}'
        run_axe(what)
        check_ink(what)
        if dark == (size == 'screen'): # colours move nothing
            continue
        same(f'{what}: nothing is wider than the page or cut off', b.value(WIDE), [])
        same(f'{what}: no part covers another', b.value(OVER), [])
        if size == 'telephone':
            same(f'{what}: controls are 44 pixels high and wide', b.value(SMALL), [])
        shot(f'kind-{name}-{size}')
    title = b.value('document.title')
    if name != 'text': # which does not know
        ok(f'{name}: its tab says of what it is', title not in ('', 'Flame Graph'), title)


def check_source():
    """On a telephone the lines follow the picture, and leave it in view."""
    show_page('source', 'telephone', False)
    b.value('scrollTo(0, 0)')
    b.settle()
    names = []
    for kid in ('kids[0]', 'kids[0].kids[0]', 'kids[0].kids[0].kids[0]'):
        b.value(f'cprof.app.setFocus(cprof.app.tree.down.root.{kid})')
        b.settle()
        names.append(b.value('document.querySelector("#sourcebody").textContent.slice(0, 40)'))
    same('the lines follow the focus, without scrolling the page', b.value('scrollY'), 0)
    ok('... and are those of the focused function', len(set(names)) == 3, names)
    hot = b.value('''(() => { const r = (e) => e.getBoundingClientRect();
        const body = document.getElementById("sourcebody"), row = r(body.querySelector("tr.hot"));
        return [row.top - r(body.querySelector("th")).bottom, r(body).bottom - row.bottom]; })()''')
    ok('... scrolled to the hottest line, below the head', min(hot) >= 0, hot)


def check_forced(name):
    """Windows' high contrast: what is only a colour keeps it, and nothing else moves."""
    show_page(name, 'screen', False)
    b.call('Emulation.setEmulatedMedia', features=[{'name': 'forced-colors', 'value': 'active'}])
    b.settle()
    swatches = b.value('''Array.from(document.querySelectorAll("#legend i, .row i"), (e) =>
        getComputedStyle(e).backgroundColor + getComputedStyle(e).backgroundImage)''')
    ok(f'{name}, forced colours: swatches keep theirs', not swatches or len(set(swatches)) > 1, swatches)
    same('... and no part covers another', b.value(OVER), [])
    if b.value('document.getElementById("heatlegend") !== null'):
        legend = 'getComputedStyle(document.getElementById("heatlegend")).forcedColorAdjust'
        same('... and so does the legend of the heat map', b.value(legend), 'none')
    shot(f'kind-{name}-forced')
    b.call('Emulation.setEmulatedMedia', features=[])


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


def check_paper(names):
    """On paper: nothing covers another, and the picture is there."""
    for name in names:
        show_page(name, 'screen', False)
        b.size(718, 1000)
        b.call('Emulation.setEmulatedMedia', media='print', features=[])
        b.value('window.dispatchEvent(new Event("beforeprint"))')
        b.settle()
        same(f'{name}, paper: no part covers another', b.value(OVER), [])
        cut = b.value('''Array.from(document.querySelectorAll("#paper .row:first-child > span")).filter((e) =>
            e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent)''')
        same('... and heads of columns have room', cut, [])
        drawn = b.value('document.querySelectorAll("#paper canvas").length')
        ok('... and the picture is there', drawn > 0, drawn)
        shot(f'kind-{name}-paper')
        b.value('window.dispatchEvent(new Event("afterprint"))')
        b.call('Emulation.setEmulatedMedia', media='', features=[])


def check_all():
    names = sorted(name.removesuffix('.html') for name in os.listdir(os.path.join(TMP, 'pages')))
    for name in names:
        check_page(name)
        check_forced(name)
    if 'source' in names:
        check_source()
    check_keys()
    check_paper([name for name in names if not name.startswith('annotate')])


run(check_all)
