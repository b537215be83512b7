"""The checks of tests/cmd/flame-page-data.t: differences, ranges of time, and data at its limits."""
import json
import math
import os
import random
import re

from flamelook import *


def check_diff():
    before, after = made(5), made(5)
    gone = [s for s in before if ('operator new', data.USER) in s]
    for s in gone:
        del after[s]
    for s in list(after)[::17]:
        after[s + (('fresh', data.USER),)] = 400
    after = {s: w * (3 if ('alloc', data.USER) in s else 2) for s, w in after.items()}
    sums = [sum(x.values()) for x in (before, after)]
    trees = [data.tree(x) for x in (before, after)]
    both = {s: [t.get(s, [0, 0]) for t in trees] for s in {**trees[0], **trees[1]}}

    def verdict(x, y):
        d = y / sums[1] - x / sums[0]
        if abs(d) < 0.004:
            return data.NOT_SIGNIFICANT
        return data.NEW if x == 0 else data.GONE if y == 0 else data.MORE if d > 0 else data.LESS

    def at(s):
        return verdict(*(t.get(s, [0, 0])[0] for t in trees))
    funcs = [data.functions(x) for x in (before, after)]

    def of(f):
        return [verdict(*(x.get(f, (0, 0))[i] for x in funcs)) for i in (0, 1)]
    path = show('diff', [before, after], title='before → after', subtitle='a made difference', names=('v1', 'v2'),
                verdict=of, node_verdict=at, ledger=[('Samples before', f'{sums[0]:,}'), ('after', f'{sums[1]:,}')])
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
        ok(f'differential: width is the normalised share, {mode}', not bad and len(boxes) >= want, bad[:3], want)
    b.value('document.querySelector("[data-act=both]").click()')
    boxes = frames()
    bad = [f for f in boxes if list(zip(f['total'], f['self'])) != [tuple(v) for v in both[f['path']]]]
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
    def of_self(f):
        name = (f['name'], KINDS.index(f['kind']))
        if f['self'] == [0, 0]:
            return words[0]
        if f['self'] == [x.get(name, (0, 0))[0] for x in funcs]:
            return words[of(name)[0]]
        return words[by_path[f['path']]] if f['self'] == f['total'] else 'not judged: a part of what the function does itself'
    boxes = frames()
    bad = [(f['path'], f['verdict'], of_self(f)) for f in boxes if f['path'] and f['verdict'] != of_self(f)]
    same('on a key, by selfs: where a box has all of its name, or no self of a part', bad, [])
    seen = {f['verdict'][:10] for f in boxes}
    ok('... and there are parts', seen >= {'not judged', words[0][:10]} and len(seen) > 2, seen)
    b.key('x')
    rows = {(r['name'], r['kind']): (r['self'], r['total']) for r in b.value('cprof.table()')}
    want = {(f[0], KINDS[f[1]]): tuple([x.get(f, (0, 0))[i] for x in funcs] for i in (0, 1))
            for f in funcs[0] | funcs[1]}
    same('the table has both sides', rows, want)
    b.value('document.querySelector("[data-act=dtotal]").click()')
    b.text('') # gives the page the keyboard focus
    b.key('/')
    b.text('alloc')
    share = b.value('cprof.search().share')
    want = [data.matched(x, 'alloc') / t for x, t in zip((before, after), sums)]
    ok('the matched share of both sides', all(close(s, x, 1e-12) for s, x in zip(share, want)), share, want)
    fresh(path, '#view=sandwich&of=alloc&theme=dark')
    same('sandwich of a difference', one('alloc', 0)['total'], [x[('alloc', 0)][1] for x in funcs])
    shot('diff-sandwich-dark')
    check_merged(before, after, path, lambda f: words[of(f)[1]], words)
    show('one-empty', [data.parse(''), after], names=('nothing', 'v2'))
    ok('a side without samples', one('all')['total'] == [0, sums[1]] and not b.errors)


def pair(profiles, keep):
    return [sum(w for s, w in p.items() if keep(s)) for p in profiles]


def check_merged(before, after, path, of_total, words):
    """Checks that a merged box has the verdict of the function with the same samples, or is not judged."""
    merged = 'not judged: merged from several stacks'

    def inner(f, s): # whether these are the stack's innermost frames, innermost first
        return s[::-1][:len(f['path'])] == f['path']
    fresh(path, '#view=reverse')
    boxes = [f for f in frames() if f['path']]
    wrong = [f for f in boxes if f['total'] != pair((before, after), lambda s: inner(f, s))]
    same('reversed boxes have the samples of their stacks', wrong, [])
    whole = [f for f in boxes if f['total'] == pair((before, after), lambda s: (f['name'], KINDS.index(f['kind'])) in s)]
    same('reversed, a box with all samples of a function has its verdict',
         [(f['path'], f['verdict']) for f in whole if f['level'] > 1 and f['verdict'] != of_total((f['name'], KINDS.index(f['kind'])))], [])
    unjudged = [f for f in boxes if f['verdict'] == merged]
    ok('... another one is not judged, and told so', len(unjudged) > 10 and
       all(f['change'] for f in unjudged if f['total'][0] * sum(after.values()) != f['total'][1] * sum(before.values())), len(unjudged))
    ok('... and none of many stacks is called not significant',
       not [f for f in boxes if f['level'] > 1 and f['verdict'] == words[0] and len({s for p in (before, after) for s in p if inner(f, s)}) > 1
            and f['total'] not in [w['total'] for w in whole + [g for g in boxes if g['level'] == 1]]])
    legend = b.value('document.getElementById("legend").textContent')
    ok('... and the legend has it', 'not judged' in legend, legend)
    fresh(path, '#view=sandwich&of=alloc')
    boxes = frames()
    centre = next(f for f in boxes if f['level'] == 0)
    same('the function of a sandwich has its verdict', centre['verdict'], of_total(('alloc', 0)))
    def end(s): # index of its outermost frame of that name
        return s.index(('alloc', 0)) if ('alloc', 0) in s else -1
    callers = [(f, {s[:end(s) + 1] for p in (before, after) for s in p if end(s) >= 0 and inner(f, s[:end(s)])}) for f in boxes if f['up']]
    wrong = [(f['path'], f['verdict']) for f, boxes_of in callers if (f['verdict'] == merged) != (len(boxes_of) > 1)]
    ok('... and of its callers those of one box have the verdict of that', len(callers) > 10 and not wrong, wrong, len(callers))


def check_heat():
    r = random.Random(4)
    base = list(made(8, 60))
    times, whole, slices = {}, {}, 50 * 23 + 17
    for s in range(slices):
        for _ in range(int(3 + 3 * math.sin(s / 90)) + (12 if 500 <= s < 560 else 0)):
            stack = r.choice(base[:20] if 500 <= s < 560 else base)
            times[(s, stack)] = times.get((s, stack), 0) + 1
            whole[stack] = whole.get(stack, 0) + 1
    moments = (20_000_000, slices, times, [550])
    path = show('heat', [whole], title='23 seconds', times=moments, zipped=True, options=[('slice', '1')])
    heat = b.value('cprof.heat()')
    cells = [0] * slices
    for (s, _), w in times.items():
        cells[s] += w
    same('the heat map has seconds by sub-seconds', (heat['columns'], heat['rows'], heat['cells']), (24, 50, cells))
    same('all time at first', b.value('cprof.totals()'), sum(whole.values()))
    said = [b.value(f'cprof.app.heat.wordsOf({cell})').split(' (')[1:] for cell in (549, 550)]
    same('... and says where another capture begins', said, [['capture 1)'], ['capture 2)']])
    shot('heat')
    box = b.value('Object.values(document.getElementById("heatmap").getBoundingClientRect().toJSON())')[:2]

    def place(cell):
        column, row = divmod(cell, 50)
        return box[0] + heat['left'] + (column + .5) * heat['cellWidth'], box[1] + (row + .5) * heat['cellHeight']

    def is_range(what, first, end):
        part = data.in_range(moments, first, end)
        width = b.value('cprof.width()')
        same(f'{what}: the range', b.value('cprof.heat().range'), [first, end])
        same('... its total', b.value('cprof.totals()'), sum(part.values()))
        same('... its boxes', wrong_boxes(frames(), part, width), [])
        rows = {(x['name'], x['self'][0], x['total'][0]) for x in b.value('cprof.table()')}
        query = b.value('cprof.search().query')
        want = {(f[0], *v) for f, v in data.functions(part).items() if re.search(query, f[0])}
        same('... its functions', rows, want)

    b.drag(*place(500), *place(559))
    is_range('by dragging', 500, 560)
    shot('heat-range')
    note = 'getComputedStyle(document.getElementById("heatnote")).visibility'
    same('... of which the ledger is not, and that is said', b.value(note), 'visible')
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
    same('... and then the ledger is right', b.value(note), 'hidden')
    fresh(path, hash_ + '&query=foo')
    is_range('by the fragment', 500, 560)
    part = data.in_range(moments, 500, 560)
    share = data.matched(part, '(?i)foo') / sum(part.values())
    ok('search is of the range', close(b.value('cprof.search().share'), share, 1e-12))
    fresh(path, '#range=99999-999999')
    same('a range behind the end is none', b.value('cprof.heat().range'), None)


def check_hostile():
    bad = ['</script><script>window.broken = 1</script>', '<img src=x onerror="window.broken = 1">', '"\'`&amp;', 'a;b',
           'two\nlines\ttab', '\u202eright to left', '__proto__', 'constructor', 'x' * 10000,
           'ns::f<' + 'std::pair<int, ' * 600 + '>', '~1', 'a~1;2%', '\U0001f525', '',
           'cut \udcff\udcc3 bytes', '$&', '<!--DATA-->', ' ']
    p = {(('app', data.OTHER), (x, data.USER), (y, data.KERNEL)): i * 3 + 2 for i, x in enumerate(bad)
         for y in (bad[i], bad[i - 1])}
    show('hostile', [p], title=bad[0], subtitle=bad[1], ledger=[(bad[0], bad[1]), (bad[4], bad[8])])
    shown = [n.encode('utf-8', 'surrogateescape').decode('utf-8', 'replace') for n in bad]
    same('names come as they are', {f['name'] for f in frames() if f['level'] == 2}, set(shown))
    same('... and are not run', b.value('[typeof window.broken, document.images.length, document.scripts.length]'),
         ['undefined', 0, 1])
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
    share = data.matched(p, 'script|img|proto') / sum(p.values())
    ok('... and are searched', close(b.value('cprof.search().share'), share, 1e-12))


def check_ends():
    show('empty', [{}], title='nothing')
    said = b.value('[document.getElementById("empty").innerText, cprof.totals(), cprof.count()]')
    same('an empty profile says so', said, ['No samples.', 0, 1])
    for key in 'rsfion/':
        b.key(key)
    b.text('x')
    show('one', [data.parse('a;b 1\n')], title='one')
    same('one sample', [(f['name'], f['total'], close(f['w'], b.value('cprof.width()'))) for f in frames()],
         [('b', 1, True), ('a', 1, True), ('all', 1, True)])
    ok('... is a sample', '1 sample ' in b.value('document.getElementById("details").innerText'))
    roots = data.parse(''.join(f'root{i:05};f 1\n' for i in range(60000)))
    path = show('roots', [roots], title='60,000 roots')
    same('60,000 roots: none is wide enough, their place is shown', (len(frames()), b.value('cprof.rests()')), (1, 1))
    same('... and all are in the table', b.value('cprof.labels === 60001 && cprof.table().length'), 60001)
    fresh(path, '#zoom=root31234')
    same('... and can be zoomed to', [f['name'] for f in frames()], ['f', 'root31234', 'all'])
    deep = data.parse('app;' + ';'.join(['again'] * 4999) + ' 2\n')
    show('deep', [deep], title='deep')
    same('5,000 frames deep', b.value('[cprof.count(), cprof.table()[0].total, cprof.table().length]'), [5001, [2], 2])
    huge = {(('a', 0), ('b', 0)): 2 ** 52 + 1, (('a', 0), ('c', 0)): 2 ** 52 - 2}
    show('huge', [huge], unit='ns')
    same('numbers to 2^53 are exact', b.value('cprof.totals()'), 2 ** 53 - 1)
    whole = data.block([made()])
    said = []
    for cut in (0, 5, 40, len(whole) // 2, len(whole) - 1):
        file = os.path.join(TMP, 'cut.html')
        with open(file, 'w') as f:
            f.write(data.page(whole[:cut]))
        b.open(file)
        said.append(b.value('cprof.ready.then(() => "", () => document.getElementById("empty").textContent)'))
    ok('data that is cut short is said to be', all('cannot show' in s for s in said), said)
    b.errors[:] = [e for e in b.errors if 'damaged' not in e and 'not a data block' not in e]


run(check_diff, check_heat, check_hostile, check_ends)
