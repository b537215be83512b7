#!/usr/bin/env python3
"""Sums what the heat map of a page has, as plainly as possible.

flame-heat-sum.py PAGE NS           weight of each stack in each NS nanoseconds: number, stack, weight
flame-heat-sum.py compare WANT GOT  compares two such lists
"""
import collections
import os
import sys

sys.argv, arguments = [sys.argv[0], 'none', os.devnull], sys.argv[1:]
here = os.path.dirname(os.path.abspath(__file__))
source = open(os.path.join(here, 'flame-block.py'), encoding='utf-8').read()
scope = {}
exec(compile(source.removesuffix('main()\n'), 'flame-block.py', 'exec'), scope)


def sums(page, ns):
    with open(page, 'rb') as f:
        b = scope['Block'](f.read())
    out = collections.Counter()
    for at, node, weight in b.times:
        out[at * b.slice_ns // ns, b.path(node)] += weight
    for at, whole, node, _, weight in b.spans:
        for i in range(whole):
            out[(at + i) * b.slice_ns // ns, b.path(node)] += weight * (i + 1) // whole - weight * i // whole
    return out


def read(path):
    out = collections.Counter()
    for line in open(path, encoding='utf-8'):
        head, _, weight = line.rpartition(' ')
        out[head] += int(weight)
    return out


def compare(want, got):
    want, got = read(want), read(got)
    wait = run = 0
    for key in want | got:
        off = abs(want[key] - got[key])
        if '[running' in key:
            run = max(run, off)
        else:
            wait = max(wait, off)
    assert len(want) > 10, 'nothing to compare'
    limits = 'all within 0 ns of waits, 5 ns of run time'
    print(limits if wait == 0 and run <= 5 else f'{wait} ns off in waits, {run} ns in run time')


if arguments[0] == 'compare':
    compare(*arguments[1:])
else:
    for (number, stack), weight in sorted(sums(arguments[0], int(arguments[1])).items()):
        print(number, stack, weight)
