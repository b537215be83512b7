#!/usr/bin/env python3
"""Prints the boxes of a picture of cprof-flame: paths, found by position, and first lines of tooltips.

flame-svg.py [--inverted] <SVG. Fails if a box is not as wide as its tooltip says, or not inside its parent.
"""
import re
import sys
import xml.etree.ElementTree as tree

NS = '{http://www.w3.org/2000/svg}'
down = '--inverted' in sys.argv
root = tree.parse(sys.stdin).getroot()
boxes = []
for g in root.iter(NS + 'g'):
    rect, title = g.find(NS + 'rect'), g.find(NS + 'title').text
    if title.endswith('too narrow to be drawn'):
        continue
    boxes.append((float(rect.get('y')), float(rect.get('x')), float(rect.get('width')), title.split('\n')[0]))
rows = sorted({y for y, *_ in boxes}, reverse=not down)
level = {y: i for i, y in enumerate(rows)}
pattern = re.compile(r'(.*) \(([\d,]+) samples?, ([\d.]+)%\)', re.S)
full = max(w for y, x, w, _ in boxes if level[y] == 0)
edge, paths = {}, {}
for y, x, w, title in boxes:
    name, count, percent = pattern.fullmatch(title).groups()
    assert abs(w - full * float(percent) / 100) < 0.006 * full / 100 + 1, (title, w)
    if level[y] in edge:
        assert x >= edge[level[y]] - 0.02, ('overlap', title)
    edge[level[y]] = x + w
    above = paths.get(level[y] - 1)
    if level[y]:
        assert above and above[0] - 0.02 <= x and x + w <= above[0] + above[1] + 1, ('not inside', title, above)
    path = (above[2] + ';' if level[y] > 1 else '') + name if level[y] else ''
    paths[level[y]] = (x, w, path)
    if level[y]:
        print(path, count.replace(',', ''))
