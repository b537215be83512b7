"""The checks of tests/cmd/flame-access.t."""
import base64
import math
import re

from flamelook import *

AXE = sys.argv[3]
WAITS = 'app;main;read_[k];[sleeping] 90\napp;main;io_[k];[uninterruptible] 40\napp;[waiting for a CPU] 30\n'
LEAST = 4.5


def luminance(rgb):
    linear = [v / 255 / 12.92 if v / 255 <= 0.04045 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    x, y = sorted((luminance(a), luminance(b)))
    return (y + 0.05) / (x + 0.05)


def alike(a, b):
    return max(abs(x - y) for x, y in zip(a, b)) <= 3


def rgb(text):
    if text[0] == '#':
        return [int(text[i:i + 2], 16) for i in (1, 3, 5)]
    return [int(v) for v in re.findall(r'\d+', text)]


def profiles():
    one = made()
    one.update(data.parse(WAITS))
    two = {stack: weight * (3 if i % 5 == 0 else 1) for i, (stack, weight) in enumerate(one.items()) if i % 7}
    return one, two


STATES = {'all': '', 'searched': '#query=^foo', 'zoomed': '#zoom=app~5;foo', 'zoomed and searched':
          '#zoom=app~5;foo&query=alloc', 'sandwich': '#view=sandwich&of=foo', 
          'reversed': '#view=reverse', 'edited': '#edit=focus:foo,collapse,drop:bar'}


def check_contrast(name, path):
    for scheme in ('light', 'dark'):
        least, weak, painted = 99, [], []
        for state, fragment in STATES.items():
            fresh(path, (fragment or '#') + f'&theme={scheme}')
            for box in b.value('cprof.colours()'):
                c = contrast(rgb(box['fill']), rgb(box['ink']))
                least = min(least, c)
                if c < LEAST:
                    weak.append((state, box, round(c, 2)))
                if box['pixel'] and box['plain'] and not alike(box['pixel'], rgb(box['fill'])):
                    painted.append((state, box))
        ok(f'{name}, {scheme}: text on boxes has a contrast of {least:.2f}', not weak, weak[:4])
        ok('... and boxes are painted in the colours that were compared', not painted, painted[:3])


# Colours as seen without one kind of cones: G. M. Machado, M. M. Oliveira and L. A. F. Fernandes, 2009.
CONES = {
    'all cones': ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    'no red': ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
               (-0.003882, -0.048116, 1.051998)),
    'no green': ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
               (-0.01182, 0.04294, 0.968881)),
    'no blue': ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
               (0.004733, 0.691367, 0.3039))}


def seen_as(colour, cones):
    """Returns the place of a colour in OKLab."""
    linear = [v / 255 / 12.92 if v <= 10 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in colour]
    r, g, b_ = (max(0, sum(k * v for k, v in zip(row, linear))) for row in CONES[cones])
    l, m, s = ((x * r + y * g + z * b_) ** (1 / 3) for x, y, z in (
        (0.4122214708, 0.5363325363, 0.0514459929), (0.2119034982, 0.6806995451, 0.1073969566),
        (0.0883024619, 0.2817188376, 0.6299787005)))
    return (0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
            1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
            0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s)


def check_waits():
    profile = data.parse(WAITS + 'app;a 100\napp;b_[k] 90\napp;c_[i] 80\napp;d_[j] 80\napp;[unknown] 70\n')
    total = sum(profile.values())
    path = show('waits', [profile], title='Waits')
    for scheme in ('light', 'dark'):
        fresh(path, f'#theme={scheme}')
        legend = dict(b.value('''Array.from(document.querySelectorAll("#legend span"), (s) =>
            [s.innerText.trim(), getComputedStyle(s.querySelector("i")).backgroundColor])'''))
        colours = {re.sub(r'\s*[\d.]+ %$', '', text): rgb(colour) for text, colour in legend.items()}
        waits = {'sleeping': 90, 'uninterruptible': 40, 'waiting for a CPU': 30}
        shares = [re.sub(r'\s+', ' ', text) for text in legend]
        want = [f'{name} {weight / total * 100:.2f} %' for name, weight in waits.items()]
        ok(f'{scheme}: states of waiting have shares in the legend', set(want) <= set(shares), shares, want)
        for cones in CONES:
            place = {name: seen_as(colour, cones) for name, colour in colours.items()}
            apart = [(n, m, math.dist(place[n], place[m])) for n in waits for m in place if m != n]
            near = [x for x in apart if x[2] < (0.1 if x[1] in waits else 0.03)]
            ok(f'... {cones}: they differ from each other and from other kinds', not near, near)
    shot('waits')


def check_axe(name, path):
    if not AXE:
        print('# SKIP axe: npm cannot install axe-core', flush=True)
        return
    source = open(AXE, encoding='utf-8').read()
    for scheme in ('light', 'dark'):
        for state, fragment in STATES.items():
            fresh(path, (fragment or '#') + f'&theme={scheme}')
            b.settle()
            b.value(source + '; 0')
            found = b.value('axe.run().then((r) => r.violations.map((v) => [v.impact, v.id, v.nodes.length, '
                            'v.nodes[0].html.slice(0, 200), v.nodes[0].failureSummary.slice(0, 300)]))')
            serious = [v for v in found if v[0] in ('serious', 'critical')]
            same(f'{name}, {scheme}, {state}: axe finds nothing serious', serious, [])
        b.key('?')
        b.value(source + '; 0')
        found = b.value('axe.run("#help").then((r) => r.violations.map((v) => [v.impact, v.id]))')
        serious = [v for v in found if v[0] in ('serious', 'critical')]
        same(f'{name}, {scheme}: nor in the list of keys', serious, [])


def features(**more):
    pairs = [{'name': k.replace('_', '-'), 'value': v} for k, v in more.items()]
    b.call('Emulation.setEmulatedMedia', features=pairs)


def check_forced(path):
    features(forced_colors='active')
    fresh(path)
    swatches = '#legend i, .row i, #details i'
    seen = b.value(f'Array.from(document.querySelectorAll("{swatches}"), (e) => '
                   'getComputedStyle(e).backgroundColor)')
    ok('forced colours: swatches keep theirs', len(set(seen)) > 6, set(seen))
    pressed = b.value('''["flame", "reverse"].map((a) => getComputedStyle(document.querySelector(
        `[data-act=${a}]`)).backgroundColor)''')
    ok('... and a pressed button differs', pressed[0] != pressed[1], pressed)
    shot('forced-colors')
    features()


def check_touch(path):
    b.call('Emulation.setTouchEmulationEnabled', enabled=True)
    b.size(390, 800)
    fresh(path, '#table=1')
    b.wait('matchMedia("(pointer: coarse)").matches')
    small = '''Array.from(document.querySelectorAll("button, input, .row, [role=menuitem]"), (e) =>
        [e.outerHTML.slice(0, 90), e.getBoundingClientRect()]).filter(([, r]) => r.width > 0 &&
        (r.height < 43.5 || r.width < 43.5)).map(([text, r]) => [text, r.width, r.height])'''
    same('touch: buttons, fields and rows are 44 pixels high and wide', b.value(small), [])
    shot('touch')
    b.call('Emulation.setTouchEmulationEnabled', enabled=False)
    b.size(1280, 800)


PAPER = '''(() => { const r = (e) => e.getBoundingClientRect();
    const all = (s) => Array.from(document.querySelectorAll(s)).filter((e) => r(e).width);
    const parts = all("h1, #heat, #paper canvas, #paper .row, #legend span, #ledger div");
    const meet = (a, b) => r(a).bottom > r(b).top + 1 && r(b).bottom > r(a).top + 1 &&
        r(a).right > r(b).left + 1 && r(b).right > r(a).left + 1;
    const over = parts.filter((a, i) => parts.some((b, k) => k > i && !a.contains(b) && meet(a, b)));
    const words = (list) => list.map((e) => e.outerHTML.slice(0, 80));
    const { clientWidth, dataset } = document.documentElement;
    return { canvases: all("#paper canvas").map((c) => [c.width, c.height, r(c).width]),
        width: document.body.clientWidth, rows: all("#paper .row").length - 1, over: words(over),
        wide: words(parts.filter((e) => r(e).right > clientWidth + 1)), theme: dataset.theme,
        tools: all(".tools button").length }; })()'''


def check_paper(name, path):
    fresh(path, '#theme=dark')
    b.size(718, 1000)
    b.call('Emulation.setEmulatedMedia', media='print', features=[])
    b.value('window.dispatchEvent(new Event("beforeprint"))')
    b.settle()
    got = b.value(PAPER)
    rows, height = b.value('[cprof.app.picture.rows.length, cprof.app.picture.rowHeight]')
    same(f'{name}, paper: the whole picture', sum(c[1] for c in got['canvases']) / 2, rows * height)
    ok('... as wide as the paper', all(abs(c[2] - got['width']) < 2 for c in got['canvases']), got)
    same('... with functions, and no buttons', [got['rows'] > 9, got['tools']], [True, 0])
    same('... nothing covers another or is cut off', [got['over'], got['wide']], [[], []])
    same('... on white', got['theme'], 'light')
    shot(f'paper-{name}')
    b.value('window.dispatchEvent(new Event("afterprint"))')
    b.call('Emulation.setEmulatedMedia', media='', features=[])
    b.size(1280, 800)
    b.settle()
    after = b.value('[document.documentElement.dataset.theme, cprof.frames().length > 20, '
                    'document.querySelectorAll("#paper *").length]')
    same('... and the window is as before', after, ['dark', True, 0])
    pdf = base64.b64decode(b.call('Page.printToPDF', printBackground=True)['data'])
    with open(os.path.join(SHOTS, f'flame-paper-{name}.pdf'), 'wb') as f:
        f.write(pdf)
    ok('... and the browser prints it', pdf[:4] == b'%PDF' and len(pdf) > 20000, len(pdf))


def check_no_script():
    b.call('Emulation.setScriptExecutionDisabled', value=True)
    b.open(os.path.join(TMP, 'own.html'))
    b.call('Emulation.setScriptExecutionDisabled', value=False)
    seen = b.value('[...["title", "subtitle", "ledger"].map((i) => document.getElementById(i).textContent), '
                   'document.title, document.querySelector("main").clientHeight, '
                   'document.querySelector(".tools").clientHeight, '
                   'document.querySelectorAll("#ledger b").length]')
    ledger = 'Notes</dl><b>Ledgerfrom folded text: the losses are unknown'
    want = ['A & B', 'of <today>', ledger, 'A & B', 0, 0, 0]
    same('no JavaScript: title and ledger, no buttons', seen, want)
    b.wait('getComputedStyle(document.getElementById("needs")).visibility === "visible"')
    said = b.value('document.getElementById("needs").innerText')
    ok('... it says what it needs', 'needs JavaScript' in said and 'cprof-flame -o svg' in said, said)
    shot('no-script')
    fresh(os.path.join(TMP, 'own.html'))
    same('with JavaScript there is no such word', b.value('document.getElementById("needs").clientHeight'), 0)
    same('... and the ledger is there once', b.value('document.querySelectorAll("#ledger dt").length'), 2)


SVG = '''Array.from(document.querySelectorAll("text"), (t) => {
    const rect = t.parentNode.localName === "g" ? t.parentNode.querySelector("rect") : null;
    const back = rect || document.querySelector(".back"), style = getComputedStyle(back);
    return { words: t.textContent, ink: getComputedStyle(t).fill, fill: style.fill,
        opacity: Number(style.opacity), back: getComputedStyle(document.querySelector(".back")).fill }; })'''


def check_svg():
    for width in (1600, 500):
        b.size(width, 800)
        b.open(os.path.join(TMP, 'own.svg'))
        got = b.value('document.documentElement.getBoundingClientRect().toJSON()')
        box = [float(n) for n in b.value('document.documentElement.getAttribute("viewBox")').split()]
        ok(f'SVG: in {width} pixels it is as wide, and high in proportion',
           close(got['width'], width, 1) and close(got['height'], width * box[3] / box[2], 1), got, box)
    b.size(1280, 800)
    for dark in (False, True):
        b.media(dark)
        b.open(os.path.join(TMP, 'own.svg'))
        weak = []
        for text in b.value(SVG):
            part, sides = text['opacity'], zip(rgb(text['fill']), rgb(text['back']))
            fill = [f * part + k * (1 - part) for f, k in sides]
            if contrast(fill, rgb(text['ink'])) < LEAST:
                weak.append((text, contrast(fill, rgb(text['ink']))))
        back = rgb(b.value('getComputedStyle(document.querySelector(".back")).fill'))
        ok('SVG, dark: it is' if dark else 'SVG, light: it is', (luminance(back) < 0.1) == dark, back)
        same('... and its text can be read', weak, [])
        shot(f"svg-{'dark' if dark else 'light'}")
    b.media(False)


def check_all():
    one, two = profiles()
    ledger = [('Samples', '123 of 124 expected'), ('Truncated', '0.8 %')]
    path = show('access', [one], title='A page for all', ledger=ledger)
    diff = show('access-two', [one, two], title='Two', ledger=ledger)
    times = (20_000_000, 100, {(7 * i % 100, stack): weight for i, (stack, weight) in enumerate(one.items())})
    heat = show('access-heat', [one], title='With times', ledger=ledger, times=times)
    check_waits()
    for name, page in (('one side', path), ('two sides', diff)):
        check_contrast(name, page)
    for name, page in (('one side', path), ('two sides', diff), ('heat map', heat)):
        check_axe(name, page)
    check_forced(path)
    check_touch(path)
    for name, page in (('one', path), ('two', diff), ('heat', heat)):
        check_paper(name, page)
    check_no_script()
    check_svg()


run(check_all)
