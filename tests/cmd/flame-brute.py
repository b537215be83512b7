#!/usr/bin/env python3
"""Computes the boxes of folded text in the simplest way: flame-brute.py [COLUMNS] <FOLDED

Each line: path, self of each side, total of each side; as `flame-block.py boxes` prints them, siblings by the
bytes of their names. Suffixes _[k], _[i], _[j] and _[l] are removed, except from the outermost frame; they
sort in this order, after the name without one.
"""
import sys

columns = int(sys.argv[1]) if len(sys.argv) > 1 else 1
sys.setrecursionlimit(100000)
root = {}


def frame(name):
    """Returns the name without its suffix, then a digit by which frames of the same name sort."""
    if len(name) > 4 and name[-4:-2] == '_[' and name[-2] in 'kijl' and name[-1] == ']':
        return name[:-4] + '\0' + str(1 + 'kijl'.index(name[-2]))
    return name + '\0' + '0'


for line in sys.stdin.buffer.read().decode().split('\n'):
    if not line:
        continue
    stack, *counts = line.rsplit(' ', columns)
    at = root
    for level, name in enumerate(stack.split(';')):
        at = at.setdefault(name if level == 0 else frame(name), [[0] * columns, {}])
        node, at = at, at[1]
    for side in range(columns):
        node[0][side] += int(counts[side])


def total(node):
    return [node[0][side] + sum(total(child)[side] for child in node[1].values()) for side in range(columns)]


def walk(children, path):
    for key in sorted(children, key=str.encode):
        node, name = children[key], key.split('\0')[0]
        if any(total(node)):
            print(path + name, *node[0], *total(node))
            walk(node[1], path + name + ';')


walk(root, '')
