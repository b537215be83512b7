"""Prints a capture as text for cprof-dump -r: threads of three programs that run and wait in turn. Each wait
has an end: a thread, a timer, a disk or the network. Each sample has the number of running threads.
"""
import random

COMMS = ['app', 'web', 'db']
POOL = ['main', 'foo', 'bar', 'read', 'foo', 'join']
MS = 10 ** 6


def capture_text():
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
    return '\n'.join([*lines, *rows, end, 'flush'])


print(capture_text())
