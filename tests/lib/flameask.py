"""Asks a page of cprof-flame and cprof-fold the same: edits by the menu, downloads, the table, the legend.

    from flameask import *      # with all of flamelook
    ask(FILE, '--wall')         # the input of cprof-fold, and the options of the page that are cprof-fold's
    fresh(PAGE); choose('foo', 'focus')
    same('...', folded(), fold('--focus', '^foo$'))
"""
import collections
import re
import subprocess
import time

from flamelook import *

FILES = os.path.join(TMP, 'files')
asked = {'file': None, 'options': ()}


def ask(file, *options):
    os.makedirs(FILES, exist_ok=True)
    b.call('Browser.setDownloadBehavior', behavior='allow', downloadPath=FILES)
    asked.update(file=file, options=options)


def program(*args):
    return subprocess.run(args, check=True, capture_output=True, encoding='utf-8').stdout


def fold(*args, file=None):
    """Returns what cprof-fold prints, as {stack: weight}."""
    return read(program('cprof-fold', '-a', *asked['options'], *args, file or asked['file']))


def read(text):
    out = collections.Counter()
    for line in text.splitlines():
        stack, _, count = line.rpartition(' ')
        out[stack] += int(count)
    return out


def page(name, *args):
    path = os.path.join(TMP, name + '.html')
    with open(path, 'w', encoding='utf-8') as f:
        f.write(program('cprof-flame', *args))
    return path


def download(kind):
    """Downloads by the menu of the button. Returns the file's bytes."""
    for name in os.listdir(FILES):
        os.remove(os.path.join(FILES, name))
    b.value('document.querySelector("[data-act=save]").click()')
    b.value(f'document.querySelector("#menu [data-do={kind}]").click()')
    until = time.monotonic() + b.patience
    while True:
        done = [n for n in os.listdir(FILES) if n.endswith('.' + kind)]
        if done:
            return open(os.path.join(FILES, done[0]), 'rb').read()
        if time.monotonic() > until:
            raise Exception(f'no {kind} is downloaded')
        b.settle()


def folded():
    return read(download('folded').decode())


def box_of(name, kind=None, least=20):
    boxes = [f for f in frames() if f['name'] == name and kind in (None, f['kind']) and f['w'] > least]
    return max(boxes, key=lambda f: f['w'])


def menu_at(box):
    b.mouse('mouseMoved', box['clientX'], box['clientY'])
    for kind in ('mousePressed', 'mouseReleased'):
        b.mouse(kind, box['clientX'], box['clientY'], button='right', clickCount=1)
    b.wait('!document.getElementById("menu").hidden')


def choose(name, act, kind=None):
    menu_at(box_of(name, kind))
    b.value(f'document.querySelector("#menu [data-do={act}]").click()')
    b.settle()


def table():
    kinds = {'kernel': '_[k]', 'inlined': '_[i]', 'JIT': '_[j]'}
    out = collections.Counter()
    for r in b.value('cprof.table()'):
        suffix = '_[l]' if r['name'] == 'C.f' else kinds.get(r['kind'], '')
        out[r['name'] + suffix, r['kind'] == 'process'] += 0
        out[r['name'] + suffix, r['kind'] == 'process'] = (r['self'][0], r['total'][0])
    return dict(out)


def functions(stacks):
    own, total = collections.Counter(), collections.Counter()
    for stack, weight in stacks.items():
        frames_ = [(f, i == 0 or f.startswith('<- ')) for i, f in enumerate(stack.split(';'))]
        own[frames_[-1]] += weight
        for f in set(frames_):
            total[f] += weight
    return {f: (own[f], total[f]) for f in total}


# Frames that are drawn as states of waiting: the states, and what --blame puts below them.
STATES = {
    'sleeping': ('[sleeping]', '[timer]', '[network]', '[interrupt]', '[softirq]', '[idle task]',
                 '[waker not known]', '[short waits]'),
    'uninterruptible': ('[uninterruptible]', '[disk]'), 'waiting for a CPU': ('[waiting for a CPU]',),
}


def legend_waits():
    text = b.value('document.getElementById("legend").innerText')
    found = re.findall(r'(sleeping|uninterruptible|waiting for a CPU)\s+([\d.]+) %', text)
    return {state: float(share) for state, share in found}


def check_follow(what, want):
    """Everything on the page follows the stacks that are wanted."""
    total = sum(want.values())
    same(f'{what}: the table has self and total of the functions', table(), functions(want))
    b.value('document.getElementById("query").select()')
    b.value('cprof.app.set({ query: "^(foo|read)$" })')
    share = b.value('cprof.search().share')
    hit = sum(n for s, n in want.items() if any(re.fullmatch(r'foo|read(_\[k\])?', f) for f in s.split(';')))
    ok('... the share of the search is that of these stacks', close(share, hit / total, 1e-9), share, hit)
    b.value('cprof.app.set({ query: "" })')
    waits = legend_waits()
    want_waits = {state: sum(n for s, n in want.items() if s.endswith(ends)) / total * 100
                  for state, ends in STATES.items()}
    right = all(close(waits.get(w, 0), v, 0.011) for w, v in want_waits.items())
    ok('... so is the legend', right, waits, want_waits)
    same('... and the sum', b.value('cprof.seen()'), total)
