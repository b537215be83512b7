"""The checks of tests/cmd/flame-waits.t."""
from flameask import *

CAPTURE = os.path.join(TMP, 'waits.bin')
STEPS = [
    ('foo', 'focus', 'user', ['--focus', '^foo$']),
    ('bar', 'drop', 'user', ['--exclude', '^bar$']),
    ('foo', 'collapse', None, ['--collapse-recursion']),
    ('web', 'only', 'process', ['--comm', 'web']),
]


SLEEPERS = r'^\[(sleeping|timer|network|interrupt|softirq|idle task|waker not known|short waits)\]$'


def check_view(name, *options):
    """Compares the page of these options with cprof-fold."""
    ask(CAPTURE, '--no-names', *options)
    path = page(name, '--no-names', *options, CAPTURE)
    fresh(path)
    whole = fold()
    same(f'{name}: all stacks are downloaded as they are', folded(), whole)
    check_follow('all', whole)
    for state, ends in STATES.items():
        if any(s.endswith(ends) for s in whole):
            seen = b.value('document.getElementById("legend").innerText')
            ok(f'... {state} is in the legend', state in seen, seen)
    check_colours(whole)
    shot(f'waits-{name}')
    hide = [('foo', 'hide', None, ['--exclude', SLEEPERS])] if any('[sleeping]' in s for s in whole) else []
    for what, act, kind, args in STEPS + hide:
        fresh(path)
        choose(what, act, kind)
        want = fold(*args)
        same(f'{name}, {act} {what}: what {" ".join(args)} gives', folded(), want)
        check_follow(f'{name}, {act}', want)
    check_sandwich(name, path)
    check_merge(name, path)
    check_zoom(name, path, whole)
    fresh(path, '#view=reverse')
    backwards = collections.Counter({';'.join(s.split(';')[::-1]): n for s, n in whole.items()})
    same(f'{name}: reversed, and downloaded', folded(), backwards)


def check_colours(whole):
    """The boxes of each state have a colour of their own, that of the legend."""
    legend = dict(b.value('''Array.from(document.querySelectorAll("#legend span"), (s) =>
        [s.firstChild.nextSibling.data, getComputedStyle(s.querySelector("i")).backgroundColor])'''))
    states = [s for s, ends in STATES.items() if any(stack.endswith(ends) for stack in whole)]
    same('... with a colour each', len({legend[s] for s in states}), len(states))
    drawn = {f['kind'] for f in frames()}
    ok('... and boxes', set(states) <= drawn, states, drawn)


def check_sandwich(name, path):
    fresh(path, '#view=sandwich&of=foo')
    same(f'{name}: a sandwich gives the stacks with the function', folded(), fold('--focus', '^foo$'))
    want = fold('--base', '^foo$')
    inner = sum(want.values())
    at = [f for f in frames() if f['level'] == 0]
    same('... and its callees are those of --base', at[0]['total'], inner)
    below = collections.Counter()
    for stack, n in want.items():
        head, _, rest = stack.partition(';')
        if rest:
            below[re.sub(r'_\[[kijl]\]$', '', rest.split(';')[0])] += n
    got = collections.Counter()
    for f in frames():
        if f['level'] == 1 and not f['up'] and f['w'] > 1:
            got[f['name']] += f['total']
    right = all(close(below[f], n, 0) for f, n in got.items()) and got
    ok('... with their weights', right, got, below)


def check_merge(name, path):
    fresh(path)
    choose('foo', 'merge', 'user')
    want = collections.Counter()
    for stack, n in fold().items():
        want[';'.join(f for f in stack.split(';') if f != 'foo')] += n
    same(f'{name}: merge foo: stacks without it', folded(), want)


def check_zoom(name, path, whole):
    fresh(path)
    box = max((f for f in frames() if f['level'] == 1), key=lambda f: f['w'])
    b.click(box['clientX'], box['clientY'])
    want = collections.Counter({s: n for s, n in whole.items() if s.split(';')[0] == box['name']})
    same(f'{name}: zoomed, the stacks of {box["name"]} are downloaded', folded(), want)
    rows = list(b.value('tableText(cprof.app)').splitlines())[1:]
    same('... and the CSV has the rows of the table', len(rows), len(b.value('cprof.table()')))


def check_all():
    check_view('wall', '--wall')
    check_view('blame', '--blame')
    check_view('latency', '--weight', 'latency')
    check_view('latency of containers', '--weight', 'latency=container')


run(check_all)
