"""The checks of tests/cmd/flame-waits.t."""
from flameask import *

CAPTURE = os.path.join(TMP, 'waits.bin')
COMMS = ['app', 'web', 'db']
POOL = ['main', 'foo', 'bar', 'read', 'foo', 'join']
MS = 10 ** 6


def make_capture():
    """Threads that run and wait in turn. Each wait has an end: a thread, a timer, a disk or the network."""
    r, lines, nodes, timeline = random.Random(4), [], {}, []
    lines += ['segment major=1 minor=7 least=1', 'meta key="start-monotonic-ns" value="1"',
              'meta key="parallelism" value="process,group"',
              'event id=1 name="cpu-clock" unit="ns" period=1000000 millihertz=1000000',
              'event id=2 name="off-cpu:sleep" unit="ns" period=0 millihertz=0',
              'event id=3 name="off-cpu:uninterruptible" unit="ns" period=0 millihertz=0',
              'event id=4 name="off-cpu:run-queue" unit="ns" period=0 millihertz=0', 'flush']
    for p, comm in enumerate(COMMS, 1):
        lines.append(f'process id={p} time=0 pid={p * 100} nspid=0 parent=0 start=5 gen=0 via=snapshot')
        for t in (2 * p - 1, 2 * p):
            lines += [f'thread id={t} time=0 process={p} tid={100 * p + t % 2}',
                      f'comm time=0 thread={t} comm="{comm}"']
        for i, name in enumerate(POOL):
            n = p * 10 + i
            kernel = name == 'read'
            address = f'0xffffffff8100{n:04x}' if kernel else f'0x{n:x}00'
            lines += [f'string id={n} text="{name}"',
                      f'frame id={n} process={0 if kernel else p} kind=exact address={address}',
                      f'symbol frame={n} from=0 level=0 source=symtab name={n} offset=0 file=0 line=0']

    def node(p, path):
        if not path:
            return 0
        if (p, path) not in nodes:
            above = node(p, path[:-1])
            nodes[p, path] = len(nodes) + 16
            lines.append(f'node id={nodes[p, path]} parent={above} frame={p * 10 + path[-1]}')
        return nodes[p, path]

    for t in range(1, 7):
        p, at = (t + 1) // 2, 10 * MS
        while at < 400 * MS:
            for _ in range(r.randint(1, 9)):
                at += MS
                path = (0, *r.choices((1, 2, 4), k=r.randint(0, 4)))
                kernel = node(p, (3,)) if r.random() < 0.2 else 0
                running = f'parallel time={at} process={p} running={r.randint(1, 2)} group=2'
                sample = f'sample time={at} event=1 cpu={t % 2} thread={t} user={node(p, path)}'
                timeline += [(at, 0, running), (at, 1, f'{sample} kernel={kernel} weight={MS}')]
            path, event = (0, *r.choices((1, 2, 5), k=r.randint(1, 2))), r.choice((2, 2, 3))
            slept, queued = r.randint(2, 30) * MS + r.randrange(MS), r.choice((0, 0, r.randint(1, 3 * MS)))
            by = r.choice(('task', 'task', 'task', 'timer', 'disk', 'network'))
            waker = r.choice([w for w in range(1, 7) if w != t]) if by == 'task' else 0
            where = f'user={node(p, path)} kernel={node(p, (3,)) if event == 3 else 0}'
            for event, weight in ((event, slept), (4, queued)):
                at += weight
                row = f'sample time={at} event={event} cpu=0 thread={t} {where} weight={weight}'
                timeline += [(at, 1, row)] if weight else []
            end = f'woken time={at} thread={t} slept={slept} queued={queued} by={by} waker={waker}'
            timeline.append((at, 2, end))
    timeline.sort(key=lambda row: row[:2])
    samples = sum(row[2].startswith('sample') for row in timeline)
    rows = [row[2] for row in timeline]
    end = f'end time={timeline[-1][0] + 1} reason=closed samples={samples}'
    text = '\n'.join([*lines, *rows, end, 'flush', ''])
    with open(CAPTURE, 'wb') as f:
        subprocess.run(['cprof-dump', '-r'], input=text.encode(), check=True, stdout=f)


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
    make_capture()
    check_view('wall', '--wall')
    check_view('blame', '--blame')
    check_view('latency', '--weight', 'latency')
    check_view('latency of containers', '--weight', 'latency=container')


run(check_all)
