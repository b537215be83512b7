#!/usr/bin/env python3
"""Prints the data block of a page of cprof-flame (see common/page/page_data.h) as text.

flame-block.py WHAT [FILE]: WHAT is
  head     flags, title, subtitle, unit, sides, options, ledger
  labels   kind, verdicts, name
  modules  name, module ("-": none), "*" if another label of this name and kind has another module
  boxes    path, self and total of each node, and verdict with two sides; in the order of the file
  table    self and total of each name, as cprof-top counts them
  times    slice, path, weight
  spans    first slice, number of slices, path, thread, CPU, weight of what covers several slices
  lanes    slice, thread, CPU, weight of the times
  ticks    first slice, number of slices, outcome, count
  starts   the milliseconds since 1970 at which runs begin
  runs     the distances between the slices at which runs begin
  verdicts the distinct verdicts of boxes and names
"""
import base64
import gzip
import re
import sys


class Block:
    def __init__(self, page):
        found = re.findall(rb'<script id="data" type="text/plain">([A-Za-z0-9+/=]*)</script>', page)
        assert len(found) == 1, f'{len(found)} data blocks'
        self.raw = base64.b64decode(found[0], validate=True)
        if self.raw[:2] == b'\x1f\x8b':
            self.raw = gzip.decompress(self.raw)
        self.at = 8
        assert self.raw[:8] == b'cprofv2\n'
        self.flags = self.number()
        self.sides = 2 if self.flags & 1 else 1
        self.texts = [self.text() for _ in range(5)]
        self.options = [(self.text(), self.text()) for _ in range(self.number())]
        self.ledger = [(self.text(), self.text()) for _ in range(self.number())]
        self.labels = [self.label() for _ in range(self.number())]
        texts = [self.text() for _ in range(self.number())] if self.flags & 64 else []
        numbers = [self.number() for _ in self.labels] if self.flags & 64 else []
        self.modules = [(texts[(n - 1) // 2], n % 2 == 0) if n else ('-', False) for n in numbers]
        self.read_tree()
        self.read_times()
        assert self.at == len(self.raw), 'bytes are left'

    def number(self):
        value = shift = 0
        while True:
            byte = self.raw[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def text(self):
        n = self.number()
        self.at += n
        return self.raw[self.at - n:self.at].decode()

    def label(self):
        return self.number(), self.text(), [self.number() for _ in range(2 if self.sides == 2 else 0)]

    def read_tree(self):
        """Reads parent, label, selfs, totals, verdict by node; node 0 is the parent of the roots."""
        n = self.number() + 1
        self.nodes = [[0, None, [0] * self.sides, None, 0]]
        todo = [[0, self.number()]]
        for i in range(1, n):
            while todo[-1][1] == 0:
                todo.pop()
            todo[-1][1] -= 1
            label, passes = divmod(self.number(), 2)
            children = 1 if passes else self.number()
            selfs = [0 if passes else self.number() for _ in range(self.sides)]
            assert passes == (children == 1 and not any(selfs)), 'a node is not in its short form'
            self.nodes.append([todo[-1][0], label, selfs, None, self.number() if self.sides == 2 else 0])
            todo.append([i, children])
        assert all(left == 0 for _, left in todo), 'children are missing'
        for node in self.nodes:
            node[3] = list(node[2])
        for i in range(n - 1, 0, -1):
            for side in range(self.sides):
                self.nodes[self.nodes[i][0]][3][side] += self.nodes[i][3][side]

    def read_times(self):
        self.times = []
        if self.flags & 2:
            self.slice_ns, self.slices = self.number(), self.number()
            at = 0
            for _ in range(self.number()):
                at += self.number()
                self.times.append((at, self.number(), self.number()))
        self.begins = [self.number() for _ in range(self.number())] if self.flags & 16 else []
        self.read_lanes()

    def read_lanes(self):
        """Reads what common/page/lanes_data.h describes."""
        self.who, self.spans, self.starts, self.ticks = [], [], [], []
        if not self.flags & 32:
            return
        texts = [self.text() for _ in range(self.number())]
        self.origins = [([texts[self.number()] for _ in range(3)], [self.number() for _ in range(3)])
                        for _ in range(self.number())]
        self.who = [self.number() for _ in self.times]
        at = 0
        for _ in range(self.number()):
            at += self.number()
            self.spans.append((at, *[self.number() for _ in range(4)]))
        self.starts = [self.number() for _ in range(len(self.begins) + 1)]
        outcomes = [self.text() for _ in range(self.number())]
        at = 0
        for _ in range(self.number()):
            at += self.number()
            self.ticks.append((at, self.number(), outcomes[self.number()], self.number()))

    def thread(self, who):
        (_, _, comm), (pid, tid, cpu) = self.origins[who]
        return f'{comm}-{pid}/{tid}', cpu - 1

    def path(self, i):
        names = []
        while i:
            names.append(self.labels[self.nodes[i][1]][1])
            i = self.nodes[i][0]
        return ';'.join(reversed(names))

    def table(self):
        rows = {}
        for i, (parent, label, selfs, totals, _) in enumerate(self.nodes):
            if not i or (parent == 0 and totals != selfs):
                if i and selfs[0]:
                    rows.setdefault(self.labels[label][1], [0, 0])[0] += selfs[0]
                    rows[self.labels[label][1]][1] += selfs[0]
                continue
            name, above = self.labels[label][1], parent
            row = rows.setdefault(name, [0, 0])
            row[0] += selfs[0]
            while above and (self.labels[self.nodes[above][1]][1] != name or self.nodes[above][0] == 0):
                above = self.nodes[above][0]
            if not above:
                row[1] += totals[0]
        return rows


def main():
    what = sys.argv[1]
    with (open(sys.argv[2], 'rb') if len(sys.argv) > 2 else sys.stdin.buffer) as f:
        b = Block(f.read())
    if what == 'head':
        print('flags', b.flags)
        print('texts', *b.texts, sep='|')
        for kind, pairs in (('option', b.options), ('ledger', b.ledger)):
            for name, value in pairs:
                print(kind, name, '=', value)
    elif what == 'labels':
        for kind, name, verdicts in b.labels:
            print(kind, *verdicts, name)
    elif what == 'modules':
        for (_, name, _), (module, marked) in zip(b.labels, b.modules):
            print(name, module, *['*'] * marked)
    elif what == 'boxes':
        for i, (_, _, selfs, totals, verdict) in enumerate(b.nodes):
            if i:
                print(b.path(i), *selfs, *totals, *([verdict] if b.sides == 2 else []))
    elif what == 'verdicts':
        print(*sorted({node[4] for node in b.nodes} | {v for _, _, both in b.labels for v in both}))
    elif what == 'table':
        for name, (flat, cum) in sorted(b.table().items()):
            print(flat, cum, name)
    elif what == 'times':
        print(b.slice_ns, b.slices)
        for at, node, weight in b.times:
            print(at, b.path(node), weight)
    elif what == 'spans':
        for at, whole, node, who, weight in b.spans:
            print(at, whole, b.path(node), *b.thread(who), weight)
    elif what == 'containers':
        for (at, _, weight), who in zip(b.times, b.who):
            print(at, b.origins[who][0][1] or '-', b.origins[who][0][2] or '-', *b.origins[who][1], weight)
    elif what == 'lanes':
        for (at, _, weight), who in zip(b.times, b.who):
            print(at, *b.thread(who), weight)
    elif what == 'ticks':
        for row in b.ticks:
            print(*row)
    elif what == 'starts':
        print(*b.starts)
    elif what == 'runs':
        print(*b.begins)


main()
