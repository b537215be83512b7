"""Shared by the tests of cprof-flame's page: TAP, a browser, pages made by flame-data.py, checks of boxes.

    from flamelook import *     # starts the browser, b
    run(check_this, check_that) # prints TAP, ends the browser and the program

Called with a directory for its files and one for screenshots.
"""
import importlib.util
import json
import os
import random
import sys
import traceback

from browser import Browser

HERE = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location('flame_data', os.path.join(HERE, 'flame-data.py'))
data = importlib.util.module_from_spec(spec)
spec.loader.exec_module(data)

TMP, SHOTS = sys.argv[1:3]
KINDS = ['user', 'kernel', 'inlined', 'JIT', 'interpreted', 'process', 'no name', 'sleeping', 'left out',
         'uninterruptible', 'waiting for a CPU']
b = Browser(1280, 800)
count = failed = 0


def ok(what, good, *said):
    global count, failed
    count += 1
    failed += not good
    print(f"{'' if good else 'not '}ok {count} - {what}", flush=True)
    if not good: # prove shows only what comes on standard error
        print(f'# {os.path.basename(sys.argv[0])}: not ok {count} - {what}', file=sys.stderr)
        short = lambda s: s if len(s) < 2000 else f'{s[:1000]} … {s[-1000:]}'
        for line in '\n'.join(short(str(s)) for s in said).splitlines():
            print('#', line, file=sys.stderr, flush=True)


def same(what, got, want):
    ok(what, got == want, f'got:  {got}', f'want: {want}')


def show(name, profiles, fragment='', dark=False, **more):
    path = os.path.join(TMP, name + '.html')
    zipped = more.pop('zipped', False)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(data.page(data.block(profiles, **more), more.get('title', ''), zipped))
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


def rect(selector):
    """Returns left, top, width and height of an element."""
    text = json.dumps(selector)
    return b.value(f'Object.values(document.querySelector({text}).getBoundingClientRect().toJSON())')[:4]


def heat():
    return b.value('cprof.heat()')


def place(cell, h):
    """Returns the middle of a cell of the heat map h."""
    left, top = rect('#heatmap')[:2]
    column, row = divmod(cell, h['rows'])
    return left + h['left'] + (column + .5) * h['cellWidth'], top + (row + .5) * h['cellHeight']


def lane_place(name, share):
    """Returns the place in a lane at a share of the time."""
    left, top = rect('#lanemap')[:2]
    lanes = b.value('cprof.lanes()')
    row = [one['name'] for one in lanes['rows']].index(name)
    return left + lanes['left'] + lanes['room'] * share, top + row * 16 + 7


def names(stack):
    return tuple(f[0] for f in stack)


def close(x, y, by=0.01):
    return abs(x - y) <= by


def one(name, level=None):
    level = 'f.level' if level is None else level
    return b.value(f'cprof.frames().find((f) => f.name === {json.dumps(name)} && f.level === {level})')


def wrong_boxes(boxes, profile, width, of=(), least=0.5):
    """Returns boxes that differ from the tree, and paths that are wide enough but have no box."""
    nodes = data.tree(profile)
    whole = nodes[of][0]
    wrong, seen = [], set()
    for f in boxes:
        path = f['path']
        seen.add(path)
        true = [f['total'], f['self']] == nodes.get(path)
        if not true or not close(f['w'], width * f['total'] / whole):
            wrong.append((path, f['w'], f['total'], f['self'], nodes.get(path)))
    absent = [p for p, v in nodes.items() if v[0] / whole * width >= least * 1.0001 and p not in seen]
    return wrong + absent


def left_edges(boxes, profile, width, heavy=False):
    """Returns boxes whose left edge is not at the sum of their siblings before, by name or by weight."""
    nodes = data.tree(profile)
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
    """Makes a profile with recursion, all kinds, and names that flamegraph.pl would split."""
    r = random.Random(seed)
    pool = ['foo', 'foo.part.0', 'foo(int)', 'bar', 'bar_[k]', 'operator new', 'memcpy_[i]', 'step_[j]', '[unknown]',
            '0x7f00', 'alloc', 'free', 'Parse', 'parse', 'walk', 'walk_[i]', 'read_[k]', 'write_[k]', 'spin_[k]',
            'loop']
    text = ''
    weight = 3
    for _ in range(stacks):
        depth = r.randint(1, 9)
        text += ';'.join([r.choice(['app', 'web', 'db'])] + [r.choice(pool[:r.randint(3, 20)]) for _ in range(depth)])
        weight = weight * 7 % 1009 + 1 # all siblings differ, so that the order by weight is unique
        text += f' {weight}\n'
    return data.parse(text)


def run(*checks):
    try:
        with b:
            for check in checks:
                check()
            same('no page error', b.errors, [])
            same('nothing is asked of a network', b.requests, [])
    except Exception:
        ok('the check runs to its end', False, traceback.format_exc())
    print(f'1..{count}')
    sys.exit(failed > 0)
