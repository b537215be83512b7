#!/usr/bin/env python3
"""Counts lines of a program without cprof: by the text of cprof-dump and addr2line, or by objdump.

    annotate-count.py make PROGRAM SEED            a capture as text: random stacks of its real addresses
    annotate-count.py lines PROGRAM FUNCTION       stdin: such text; prints "LINE SELF TOTAL" in percent
    annotate-count.py asm PROGRAM FUNCTION         the same by instruction, "ADDRESS SELF TOTAL"
    annotate-count.py shown                        stdin: cprof-annotate's text; prints its rows in this form
"""
import bisect
import random
import re
import subprocess
import sys


def run(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def segment(program):
    """Returns offset, address and length of the executable segment."""
    for line in run('readelf', '-lW', program).splitlines():
        f = line.split()
        if f and f[0] == 'LOAD' and 'E' in ''.join(f[6:-1]):
            return int(f[1], 16), int(f[2], 16), int(f[4], 16)
    raise SystemExit('no executable segment')


def instructions(program):
    """Returns {function: [(address, text)]}."""
    functions, name = {}, None
    for line in run('objdump', '-d', '--no-show-raw-insn', program).splitlines():
        m = re.match(r'[0-9a-f]+ <(.*)>:$', line)
        name = m.group(1) if m else name
        m = re.match(r' +([0-9a-f]+):\t(.*)', line)
        if m:
            functions.setdefault(name, []).append((int(m.group(1), 16), m.group(2)))
    return functions


def make(program, seed):
    random.seed(seed)
    offset, address, length = segment(program)
    build = re.search(r'Build ID: ([0-9a-f]+)', run('readelf', '-n', program)).group(1)
    start = 0x7f0000000000
    code = instructions(program)

    def returns(f, g):
        """Returns the addresses in f to which g returns."""
        return [code[f][i + 1][0] for i in range(len(code[f]) - 1)
                if 'call' in code[f][i][1] and f'<{g}>' in code[f][i][1]]
    after = {f: returns(f, 'work') for f in ('main', 'climb')}
    of_climb, to_climb = returns('climb', 'climb'), returns('main', 'climb')
    print('segment major=1 minor=5 least=1')
    print('event id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000\nflush')
    print(f'file id=1 major=0 minor=0 inode=0 generation=0 build-id={build} path="{program}"')
    print('process id=1 time=1 pid=9 nspid=0 parent=0 start=5 gen=0 via=snapshot')
    print('thread id=1 time=1 process=1 tid=9\ncomm time=1 thread=1 comm="annotated"')
    length = (length + 4095) & ~4095
    print(f'mapping time=1 process=1 start={start:#x} length={length:#x}',
          f'offset={offset & ~4095:#x} prot=5 file=1')
    frames, nodes, samples = {}, {}, 0

    def node(parent, kind, a):
        key = kind, start + a - address + offset - (offset & ~4095)
        if key not in frames:
            frames[key] = len(frames) + 1
            print(f'frame id={frames[key]} process=1 kind={kind} address={key[1]:#x}')
        key = parent, frames[key]
        if key not in nodes:
            nodes[key] = len(nodes) + 16
            print(f'node id={nodes[key]} parent={parent} frame={key[1]}')
        return nodes[key]
    for i in range(300):
        leaf = random.choice(['work', 'work', 'climb', 'main'])
        at = 0
        if leaf == 'work' and random.random() < 0.5 or leaf == 'climb':
            at = node(at, 'return', random.choice(to_climb))
            for _ in range(random.randrange(4)):
                at = node(at, 'return', random.choice(of_climb))
            if leaf == 'work':
                at = node(at, 'return', random.choice(after['climb']))
        elif leaf == 'work':
            at = node(at, 'return', random.choice(after['main']))
        at = node(at, 'exact', random.choice(code[leaf])[0])
        for _ in range(random.randrange(1, 5)):
            samples += 1
            print(f'sample time={1000 + samples} event=1 cpu=0 thread=1 user={at} kernel=0 weight=10000000')
    print(f'end time=99999 reason=closed samples={samples}\nflush')


def stacks(text, program):
    """Returns [([linked address, innermost first], samples)] and the number of all samples."""
    offset, address, _ = segment(program)
    files, maps, frames, nodes, counts = set(), [], {}, {}, {}
    for line in text.splitlines():
        kind, _, rest = line.partition(' ')
        f = dict(re.findall(r'([a-z-]+)=("(?:[^"\\]|\\.)*"|\S*)', rest))
        n = {k: int(v, 0) for k, v in f.items() if re.fullmatch(r'0x[0-9a-f]+|[0-9]+', v)}
        if kind == 'file' and f['path'] == f'"{program}"':
            files.add(n['id'])
        elif kind == 'mapping' and n['file'] in files:
            maps.append((n['process'], n['start'], n['length'], n['offset']))
        elif kind == 'frame':
            at = n['address'] - (f['kind'] == 'return')
            frames[n['id']] = None
            for process, start, length, begin in maps:
                if process == n['process'] and start <= at < start + length:
                    frames[n['id']] = at - start + begin - offset + address
        elif kind == 'node':
            nodes[n['id']] = n['parent'], n['frame']
        elif kind == 'sample':
            key = n['user'], n['kernel']
            counts[key] = counts.get(key, 0) + 1
    found = []
    for (user, kernel), count in counts.items():
        stack = [None] if kernel >= 16 else []
        while user >= 16:
            user, frame = nodes[user]
            stack.append(frames.get(frame))
        found.append((stack, count))
    return found, sum(counts.values())


def say(rows, total, form):
    for key in sorted(rows):
        own, all_ = rows[key]
        print(form(key), f'{100 * own / total:.2f}' if own else '-', f'{100 * all_ / total:.2f}')


def places(program, addresses):
    """Returns {address: [(function, line), innermost first]}, by addr2line."""
    out = run('addr2line', '-f', '-i', '-a', '-e', program, text='\n'.join(hex(a) for a in addresses))
    found, at = {}, None
    lines = out.splitlines()
    while lines:
        line = lines.pop(0)
        if re.fullmatch(r'0x[0-9a-f]+', line):
            at = found.setdefault(int(line, 16), [])
        else:
            number = re.match(r'\d*', lines.pop(0).rpartition(':')[2]).group()
            at.append((line, int(number or 0)))
    return found


def count_lines(program, function):
    found, total = stacks(sys.stdin.read(), program)
    where = places(program, sorted({a for stack, _ in found for a in stack if a is not None}))
    rows = {}
    for stack, count in found:
        levels = [level for a in stack for level in ([('?', 0)] if a is None else where[a])]
        if levels and levels[0][0] == function:
            rows.setdefault(levels[0][1], [0, 0])[0] += count
        for line in {line for name, line in levels if name == function}:
            rows.setdefault(line, [0, 0])[1] += count
    say(rows, total, str)


def count_asm(program, function):
    found, total = stacks(sys.stdin.read(), program)
    code = sorted((a, name) for name, list_ in instructions(program).items() for a, _ in list_)

    def instruction(a):
        at = bisect.bisect(code, (a, chr(0x10ffff))) if a is not None else 0
        return code[at - 1][0] if at and code[at - 1][1] == function else None
    rows = {}
    for stack, count in found:
        at = [instruction(a) for a in stack]
        if at[0] is not None:
            rows.setdefault(at[0], [0, 0])[0] += count
        for a in set(at) - {None}:
            rows.setdefault(a, [0, 0])[1] += count
    say(rows, total, lambda a: f'{a:x}')


def shown():
    for line in sys.stdin:
        m = re.match(r'(?:( *[0-9.]+)%| {8}) +([0-9.]+)% +([0-9a-f]+|-)( |$)', line)
        if m:
            print(m.group(3), (m.group(1) or '-').strip(), m.group(2))


if sys.argv[1] == 'make':
    make(sys.argv[2], int(sys.argv[3]))
elif sys.argv[1] == 'lines':
    count_lines(*sys.argv[2:4])
elif sys.argv[1] == 'asm':
    count_asm(*sys.argv[2:4])
else:
    shown()
