"""The checks of tests/cmd/flame-over-time.t."""
import collections
import subprocess

from flamelook import *

START, MINUTES = 1795694400, (0, 1, 2, 4, 5) # the files; in minute 3 nothing was recorded
GROUPS = {'web': '1' * 64, 'db': '2' * 64, 'batch': None}
FUNCTIONS = ['main', 'serve', 'parse', 'lookup', 'encode', 'wait_io']
CAPTURES = os.path.join(TMP, 'captures')
SLICE = 1 # second, of six minutes in at most 400 slices


def draw_samples():
    """Returns (file, nanoseconds since START, command, stack) of all samples."""
    r, out = random.Random(5), []
    for minute in MINUTES:
        for comm in GROUPS:
            busy = {'web': 1.0, 'db': 0.2 + 0.3 * minute, 'batch': 2.0 if minute == 4 else 0.1}[comm]
            for _ in range(int(120 * busy)):
                at = minute * 60 * 10 ** 9 + r.randrange(59 * 10 ** 9)
                out.append((minute, at, comm, ('main', *r.choices(FUNCTIONS[1:], k=r.randint(1, 4)))))
    return sorted(out)


def capture_text(minute, samples):
    """Returns the file of a minute as text for cprof-dump -r."""
    first = 10 ** 9
    lines = ['segment major=1 minor=3 least=1', 'meta key="host" value="h"',
             f'meta key="start-realtime-ns" value="{START + 60 * minute}000000000"',
             f'meta key="start-monotonic-ns" value="{first}"',
             'event id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000', 'flush']
    for i, (comm, group) in enumerate(GROUPS.items(), 1):
        lines += [f'process id={i} time={first} pid={100 + i} nspid=0 parent=0 start=5 gen=0 via=snapshot',
                  f'thread id={i} time={first} process={i} tid={100 + i}',
                  f'comm time={first} thread={i} comm="{comm}"']
        if group:
            lines += [f'cgroup id={i} path="/docker/{group}"', f'member time={first} process={i} cgroup={i}']
    nodes = {(): 0}
    frame_of = lambda process, f: 1 + FUNCTIONS.index(f) + len(FUNCTIONS) * process
    for process in range(len(GROUPS)):
        for f in FUNCTIONS:
            n = frame_of(process, f)
            lines += [f'string id={n} text="{f}"',
                      f'frame id={n} process={process + 1} kind=exact address=0x{n:x}00',
                      f'symbol frame={n} from=0 level=0 source=symtab name={n} offset=0 file=0 line=0']
    rows = []
    for _, at, comm, stack in samples:
        process = list(GROUPS).index(comm)
        for depth in range(1, len(stack) + 1):
            path = (process, *stack[:depth])
            if path not in nodes:
                nodes[path] = len(nodes) + 15
                above = nodes[path[:-1]] if depth > 1 else 0
                frame = frame_of(process, stack[depth - 1])
                lines.append(f'node id={nodes[path]} parent={above} frame={frame}')
        time = first + at - minute * 60 * 10 ** 9
        rows.append(f'sample time={time} event=1 cpu=0 thread={process + 1} '
                    f'user={nodes[(process, *stack)]} kernel=0 weight=10000000')
    end = f'end time={first + 59 * 10 ** 9} reason=closed samples={len(rows)}'
    return '\n'.join([*lines, *rows, end, 'flush', ''])


SAMPLES = draw_samples()


def stacks(first=0, end=10 ** 9, comm=None):
    """Counts the samples of a range of slices and of a command, as the page's boxes show them."""
    out = collections.Counter()
    for _, at, name, frames_ in SAMPLES:
        if first <= at // (SLICE * 10 ** 9) < end and comm in (None, name):
            out[((name, 5), *((f, 0) for f in frames_))] += 1
    return out


def check_page(what, want):
    """The picture, the table and the sum are those of the wanted stacks."""
    same(f'{what}: the sum', b.value('cprof.totals()'), sum(want.values()))
    wrong = wrong_boxes(frames(), want, b.value('cprof.width()'))
    same('... the boxes', wrong, [])
    rows = b.value('cprof.table()')
    got = {(r['name'], KINDS.index(r['kind'])): (r['self'][0], r['total'][0]) for r in rows}
    same('... the table', got, data.functions(want))


def lane_sums():
    return {one['name'][:2]: sum(one['sums']) for one in b.value('cprof.lanes()')['rows']}


def check_lanes():
    names = {'11': 'web', '22': 'db', '(n': 'batch'}
    want = {lane: sum(stacks(comm=comm).values()) for lane, comm in names.items()}
    same('a lane for each container, and one for what is in none', lane_sums(), want)
    heat_ = heat()
    cells = [0] * len(heat_['cells'])
    for _, at, _, _ in SAMPLES:
        cells[at // (SLICE * 10 ** 9) // heat_['group']] += 1
    same('the cells have the samples of their time', heat_['cells'], cells)
    lanes = b.value('cprof.lanes()')
    bins, kinds = lanes['bins'], len(KINDS)
    row = [one['name'][:2] for one in lanes['rows']].index('(n')
    got = [sum(lanes['sums'][(row * bins + i) * kinds:(row * bins + i + 1) * kinds]) for i in range(bins)]
    slices = heat_['window'][1]
    part = lambda lo, hi: sum(got[int(lo * 60 / slices * bins) + 1:int(hi * 60 / slices * bins)])
    ok('the lane shows when it ran: most in minute 4, nothing in minute 3',
       part(4, 5) > 5 * part(0, 1) and part(3, 4) == 0, part(4, 5), part(0, 1), part(3, 4))


def drag_lane(from_, to):
    """Drags on the lanes, from a share of all time to another."""
    (name, *_) = [one['name'] for one in b.value('cprof.lanes()')['rows']]
    (x, y), (to_x, _) = lane_place(name, from_), lane_place(name, to)
    b.drag(x, y, to_x, y)
    return heat()['range']


def check_ranges():
    check_page('all time', stacks())
    first, end = drag_lane(0.7, 0.82)
    check_page('a drag on the lanes: their time', stacks(first, end))
    words = b.value('document.getElementById("heatrange").textContent')
    clock = lambda at: f'12:0{at // 60}:{at % 60:02}'
    ok('... with its clock times', f'{clock(first)} – {clock(end)}' in words, words)
    shot('over-time')
    lanes = [one['name'] for one in b.value('cprof.lanes()')['rows']]
    db = next(name for name in lanes if name.startswith('2'))
    b.click(*lane_place(db, 0.2))
    check_page('a click on a lane: only this container', stacks(first, end, 'db'))
    hash_ = b.value('location.hash')
    box = max((f for f in frames() if f['level'] == 3), key=lambda f: f['w'])
    b.click(box['clientX'], box['clientY'])
    want = sum(n for s, n in stacks(first, end, 'db').items() if names(s)[:3] == names(box['path']))
    same('... and a click on a box: its stacks', b.value('cprof.seen()'), want)
    fresh(PAGE, hash_)
    check_page('the link', stacks(first, end, 'db'))
    b.click(*place_of('#onlylane'))
    check_page('the button: all containers', stacks(first, end))
    b.click(*place_of('[data-act=alltime]'))
    check_page('All time', stacks())
    h = heat()
    for cell in (h['rows'] * 2, h['rows'] * 4 - 1):
        b.click(*place(cell, h))
    first, end = heat()['range']
    same('two clicks on the heat map: the cells between', [first, end], [h['rows'] * 2 * h['group'],
                                                                         h['rows'] * 4 * h['group']])
    check_page('... and their stacks', stacks(first, end))
    b.key('Escape')
    check_page('Escape', stacks())
    b.value('document.getElementById("lanemap").focus()')
    for key in ('ArrowDown', 'ArrowDown', 'Enter'):
        b.key(key)
    name = lanes[1]
    comm = {'1': 'web', '2': 'db', '(': 'batch'}[name[0]]
    check_page('by keys: the second lane', stacks(comm=comm))
    b.value('cprof.app.set({ lane: "", range: "180-240" })')
    said = b.value('document.getElementById("empty").innerText')
    same('the minute without a file is empty, which is said', said, 'No samples in this range of time.')


def place_of(selector):
    x, y, w, h = rect(selector)
    return x + w / 2, y + h / 2


def check_processes():
    program('cprof-flame', '--lanes', 'process', '-o', PAGE, CAPTURES)
    fresh(PAGE)
    got = {one['name']: sum(one['sums']) for one in b.value('cprof.lanes()')['rows']}
    want = {f'{comm} {101 + i}': sum(stacks(comm=comm).values()) for i, comm in enumerate(GROUPS)}
    same('--lanes process: a lane for each process', got, want)
    modes = b.value('Array.from(document.getElementById("lanemode").options, (o) => o.value)')
    same('... and no choice of threads or CPUs, which are not there', modes, ['process', 'container', 'none'])


def program(*args):
    return subprocess.run(args, check=True, capture_output=True, encoding='utf-8')


def check_all():
    os.mkdir(CAPTURES)
    for minute in MINUTES:
        text = capture_text(minute, [s for s in SAMPLES if s[0] == minute])
        with open(os.path.join(CAPTURES, f'{9 - minute}.cprof'), 'wb') as f:
            subprocess.run(['cprof-dump', '-r'], input=text.encode(), check=True, stdout=f)
    program('cprof-flame', '-o', PAGE, CAPTURES)
    fresh(PAGE)
    check_lanes()
    check_ranges()
    check_processes()


PAGE = os.path.join(TMP, 'over-time.html')
run(check_all)
