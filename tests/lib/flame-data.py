#!/usr/bin/env python3
"""Writes folded text as a page of cprof-flame and computes its expected answers, both as simply as possible.

    flame-data.py [--before FILE] [--title TEXT] [--option KEY=VALUE]... [--gzip] FILE > page.html

Written from the description of the data block, not from the C that makes it: the two check each other.
Stacks are tuples of (name, kind), root first; a profile is a dictionary of stacks and weights.
"""
import argparse
import base64
import collections
import gzip
import html
import os
import re
import sys

USER, KERNEL, INLINED, JIT, INTERPRETED, OTHER, NONAME = range(7)
SUFFIX = {'_[k]': KERNEL, '_[i]': INLINED, '_[j]': JIT, '_[l]': INTERPRETED}
NOT_SIGNIFICANT, LESS, MORE, NEW, GONE = range(5)
WAITS = {'[sleeping]': 7, '[uninterruptible]': 9, '[waiting for a CPU]': 10}
HERE = os.path.dirname(os.path.abspath(__file__))
ROOM = os.path.join(os.path.dirname(os.path.dirname(HERE)), 'common', 'page')


def frame(text, first):
    kind = SUFFIX.get(text[-4:], USER)
    if kind != USER:
        text = text[:-4]
    elif first:
        kind = OTHER
    elif text in WAITS:
        kind = WAITS[text]
    elif text == '[unknown]' or re.fullmatch('0x[0-9a-f]+', text):
        kind = NONAME
    return text, kind


def parse(text):
    stacks = collections.Counter()
    for line in text.splitlines():
        stack, _, count = line.rpartition(' ')
        frames = stack.split(';')
        stacks[tuple(frame(f, i == 0) for i, f in enumerate(frames))] += int(count)
    return stacks


# ---- the data block

def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def word(text):
    raw = text.encode('utf-8', 'surrogateescape') if isinstance(text, str) else text
    return varint(len(raw)) + raw


def nested(profiles):
    """Returns a tree of [self of each side, {frame: node}] from profiles, one per side."""
    root = [[0] * len(profiles), {}]
    for side, profile in enumerate(profiles):
        for stack, weight in profile.items():
            node = root
            for f in stack:
                node = node[1].setdefault(f, [[0] * len(profiles), {}])
            node[0][side] += weight
    return root


def block(profiles, title='', subtitle='', unit='samples', names=('before', 'after'), options=(), ledger=(), times=None,
          icicle=False, verdict=None, node_verdict=None):
    """times: (slice length in ns, number of slices, {(slice, stack): weight}[, slices where runs begin]).
    verdict(frame): a pair, of its self and total; node_verdict(stack): that of the node's total."""
    two = len(profiles) == 2
    out = [b'cprofv2\n', varint((1 if two else 0) | (2 if times else 0) | (4 if icicle else 0) | 8 |
                                 (16 if times and times[3:] else 0))]
    out += [word(t) for t in (title, subtitle, unit) + (tuple(names) if two else ('', ''))]
    for pairs in (options, ledger):
        out += [varint(len(pairs))] + [word(t) for pair in pairs for t in pair]
    labels = sorted({f for p in profiles for stack in p for f in stack},
                    key=lambda f: (f[0].encode('utf-8', 'surrogateescape'), f[1]))
    number = {f: i for i, f in enumerate(labels)}
    out.append(varint(len(labels)))
    for f in labels:
        out.append(varint(f[1]) + word(f[0]))
        if two:
            out += [varint(v) for v in (verdict(f) if verdict else (0, 0))]
    root = nested(profiles)
    nodes, where, todo = [], {}, [(root, ())]
    while todo:
        node, stack = todo.pop()
        kids = sorted(node[1], key=number.__getitem__)
        if stack:
            where[stack] = len(where) + 1
            passes = len(kids) == 1 and not any(node[0])
            nodes.append(varint(number[stack[-1]] * 2 + passes))
            if not passes:
                nodes.append(varint(len(kids)) + b''.join(varint(s) for s in node[0]))
            if two:
                nodes.append(varint(node_verdict(stack) if node_verdict else 0))
        todo += [(node[1][f], stack + (f,)) for f in reversed(kids)]
    out += [varint(len(where)), varint(len(root[1]))] + nodes
    if times:
        entries = sorted((s, where[stack], weight) for (s, stack), weight in times[2].items())
        out += [varint(times[0]), varint(times[1]), varint(len(entries))]
        last = 0
        for s, node, weight in entries:
            out.append(varint(s - last) + varint(node) + varint(weight))
            last = s
        if times[3:]:
            begins = [0, *times[3]]
            out += [varint(len(times[3]))] + [varint(y - x) for x, y in zip(begins, begins[1:])]
    return b''.join(out)


def page(data, title='', zipped=False):
    with open(os.path.join(ROOM, 'page.html'), encoding='utf-8') as f:
        frame_html = f.read()
    scripts = re.search(r'the scripts ([\w. ]+\.js),', frame_html).group(1).split()
    read = lambda name: open(os.path.join(ROOM, name), encoding='utf-8').read()
    if zipped:
        data = gzip.compress(data, 6, mtime=0)
    parts = {'TITLE': html.escape(title), 'HEADING': html.escape(title), 'SUBTITLE': '', 'LEDGER': '', 'SOURCES': '',
             'STYLE': read('page.css'), 'SCRIPT': ''.join(map(read, scripts)),
             'DATA': base64.b64encode(data).decode()}
    return re.sub(f"<!--({'|'.join(parts)})-->", lambda m: parts[m.group(1)], frame_html)


# ---- the expected answers of the page

def tree(profile):
    """Returns {path: [total, self]} of all paths; the empty path is the whole."""
    nodes = collections.defaultdict(lambda: [0, 0])
    for stack, weight in profile.items():
        for i in range(len(stack) + 1):
            nodes[stack[:i]][0] += weight
        nodes[stack][1] += weight
    return dict(nodes)


def functions(profile):
    """Returns {frame: (self, total)}; a stack counts once for a function, even a recursive one."""
    own, total = collections.Counter(), collections.Counter()
    for stack, weight in profile.items():
        own[stack[-1]] += weight
        for f in set(stack):
            total[f] += weight
    return {f: (own[f], total[f]) for f in total}


def matched(profile, regex):
    """Returns the weight of stacks with a matching frame, each stack once."""
    regex = re.compile(regex)
    return sum(weight for stack, weight in profile.items() if any(regex.search(f[0]) for f in stack))


def reverse(profile):
    out = collections.Counter()
    for stack, weight in profile.items():
        out[stack[::-1]] += weight
    return out


def sandwich(profile, f):
    """Returns (callers, callees): stacks from the outermost f towards the root, and towards the leaf."""
    callers, callees = collections.Counter(), collections.Counter()
    for stack, weight in profile.items():
        if f in stack:
            at = stack.index(f)
            callers[stack[at::-1]] += weight
            callees[stack[at:]] += weight
    return callers, callees


def in_range(times, first, end):
    out = collections.Counter()
    for (s, stack), weight in times[2].items():
        if first <= s < end:
            out[stack] += weight
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--before')
    parser.add_argument('--title', default='cprof')
    parser.add_argument('--option', action='append', default=[])
    parser.add_argument('--gzip', action='store_true')
    parser.add_argument('file')
    a = parser.parse_args()
    read = lambda name: parse(open(name, encoding='utf-8', errors='surrogateescape', newline='\n').read())
    profiles = ([read(a.before)] if a.before else []) + [read(a.file)]
    data = block(profiles, title=a.title, options=[o.split('=', 1) for o in a.option],
                 ledger=[('Samples', f'{sum(profiles[-1].values()):,}')])
    sys.stdout.write(page(data, a.title, a.gzip))


if __name__ == '__main__':
    main()
