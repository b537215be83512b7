"""The checks of tests/cmd/flame-highlight.t."""
from flamelook import *


def asked(name):
    return int(open(os.path.join(TMP, name)).read())


def lit():
    """Returns the highlighted weight of all time: in the heat map, and in the lanes."""
    lanes = b.value('cprof.lanes()')
    return sum(heat()['lit']), round(sum(lanes['sums'])), round(sum(lanes['sums'] + lanes['rest']))


def fits(what, name, page, lanes=None):
    got = lit()
    lanes = lanes or name
    same(f'{page}: {what}', got, (asked(f'{page}.{name}'), asked(f'{page}.{lanes}'), asked(f'{page}.all')))


def click(name):
    b.click(one(name)['clientX'], one(name)['clientY'])


def check_samples():
    path = os.path.join(TMP, 'cpu.html')
    fresh(path)
    fits('nothing is highlighted at first', 'all', 'cpu')
    b.value('document.getElementById("query").focus()')
    b.text('^late$')
    fits('a search highlights its samples', 'late', 'cpu')
    h = heat()
    legend = b.value('document.getElementById("heatlegend").dataset.most')
    same('... and the legend is theirs', legend, f'{max(h["lit"])} samples')
    cell = h['lit'].index(max(h['lit']))
    b.move(*place(cell, h))
    words = b.value('document.getElementById("heatrange").textContent')
    ok('... and the words', f': {h["lit"][cell]} of {h["cells"][cell]} samples' in words, words)
    grey = b.value('cprof.app.heat.grey()')
    dark = next(i for i, (n, of) in enumerate(zip(h['lit'], h['cells'])) if of and not n)
    x, y = place(dark, h)
    left, top = rect('#heatmap')[:2]
    pixel = b.value(f'''Array.from(document.getElementById("heatmap").getContext("2d")
        .getImageData({x - left}, {y - top}, 1, 1).data.slice(0, 3))''')
    same('... and cells without are grey', '#' + ''.join(f'{c:02x}' for c in pixel), grey)
    shot('highlight')
    lanes = b.value('cprof.lanes()')
    ok('... in lanes, too', sum(lanes['rest']) > 0)
    b.value('cprof.app.set({ query: "" })')
    fits('without it all are', 'all', 'cpu')
    click('late')
    fits('a click on a box highlights its stacks', 'late', 'cpu')
    b.value('cprof.app.reset()')
    fits('... until all is shown', 'all', 'cpu')
    b.value('cprof.app.set({ edit: "focus:early" })')
    fits('a focus highlights its stacks', 'early', 'cpu')
    b.value('cprof.app.set({ edit: "drop:rare" })')
    fits('so does dropping a function', 'notrare', 'cpu')
    b.value('cprof.app.set({ edit: "" })')
    b.value('cprof.app.set({ view: "sandwich", of: "work" })')
    fits('a sandwich highlights its function', 'work', 'cpu')
    fresh(path, '#view=sandwich&of=early&range=0-100')
    fits('... in a link, and at all times, not only those of the range', 'early', 'cpu')
    fresh(path)
    b.click(*lane_place('app 10/11', 0.5))
    b.value('cprof.app.set({ query: "^late$" })')
    fits('a lane alone is highlighted in the map', 'both', 'cpu', 'late')
    fresh(path, '#view=reverse')
    click('work')
    click('late')
    ends = b.value('cprof.seen()')
    same('a box of the reversed tree highlights stacks that end there', lit()[0], ends)
    ok('... of which there are some', 0 < ends < asked('cpu.late'), ends)


def check_wall():
    fresh(os.path.join(TMP, 'wall.html'), '#query=%5Elate%24')
    fits('waits are highlighted, too', 'late', 'wall')
    slices = round(1e9 / b.value('cprof.app.p.times.sliceNs'))
    b.value(f'cprof.app.heat.restoreWindow("{3 * slices}-{7 * slices}")')
    ok('... and divided as --from and --to do', close(sum(heat()['lit']), asked('wall.late.cut'), 5), lit())
    b.value(f'cprof.app.selectRange([{3 * slices}, {7 * slices}])')
    words = b.value('cprof.app.heat.sumOf(cprof.app.heat.range)')
    ok('... and so in the words of a range', close(words[0], asked('wall.late.cut'), 5), words)


def check_labels():
    fresh(os.path.join(TMP, 'cpu.html'))
    slice_ = round(1e9 / b.value('cprof.app.p.times.sliceNs'))
    same('labels of whole seconds have the fraction of the first',
         b.value(f'cprof.app.heat.clock.clock({slice_}, 1e9)'), '22:13:21.967')
    same('... unless it is small beside the columns',
         b.value(f'cprof.app.heat.clock.clock({slice_}, 60e9)'), '22:13:22')


def check_sides():
    b.size(1400, 900)
    fresh(os.path.join(TMP, 'diff.html'))
    legend = b.value('document.getElementById("legend").innerText')
    ok('a difference names both sides', 'before: …/a.bin until 4s' in legend and
       'after: …/a.bin from 4s' in legend, legend)
    cut = b.value('(({ scrollWidth: w, clientWidth: c }) => w > c)(document.getElementById("subtitle"))')
    ok('... and its subtitle is whole', not cut and
       b.value('document.getElementById("subtitle").innerText').endswith('--split 4s'))


run(check_samples, check_wall, check_labels, check_sides)
