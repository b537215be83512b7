#!/usr/bin/env python3
"""Writes a profile of pprof field by field, without compression: a heap profile whose repeated numbers are
not packed, with tables after the samples, inlined functions, labels, and a negative value.

convert-made-pprof.py FILE [bad]
With bad, a stack has a location that is not in the table, and the end is cut.
"""
import sys


def varint(v):
    v &= (1 << 64) - 1
    out = b""
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def number(field, v):
    return varint(field << 3) + varint(v)


def message(field, body):
    body = body.encode() if isinstance(body, str) else body
    return varint(field << 3 | 2) + varint(len(body)) + body


TEXTS = ["", "alloc_objects", "count", "alloc_space", "bytes", "inuse_space", "main.work", "/src/main.go",
         "main.main", "/usr/bin/server", "0123abcd", "region", "eu", "pid", "main.inlined", "comm", "serve"]


def text(t):
    return TEXTS.index(t)


def sample(locations, values, labels=b""):
    numbers = [number(1, at) for at in locations] + [number(2, v) for v in values]
    return message(2, b"".join(numbers) + labels)


def label(key, string="", num=0):
    return message(3, number(1, text(key)) + (number(2, text(string)) if string else number(3, num)))


bad = sys.argv[2:] == ["bad"]
out = b""
for kind, unit in (("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_space", "bytes")):
    out += message(1, number(1, text(kind)) + number(2, text(unit)))
out += sample([7, 9], [3, 300, 100], label("pid", num=5) + label("comm", "serve") + label("region", "eu"))
out += sample([9], [1, 50, 0], label("pid", num=5) + label("comm", "serve"))
out += sample([7, 7, 9], [4, 4096, 2048], label("pid", num=6))
out += sample([9], [1, 10, -10])
if bad:
    out += sample([99, 9], [1, 10, 7])
out += message(3, number(1, 4) + number(2, 0x400000) + number(3, 0x500000) + number(4, 0x1000) +
               number(5, text("/usr/bin/server")) + number(6, text("0123abcd")))
line = message(4, number(1, 30) + number(2, 7)) + message(4, number(1, 20) + number(2, 12))
out += message(4, number(1, 7) + number(2, 4) + number(3, 0x400123) + line)
line = message(4, number(1, 40) + number(2, 3))
out += message(4, number(1, 9) + number(2, 4) + number(3, 0x400456) + line)
for i, name in enumerate(("main.work", "main.inlined", "main.main")):
    file = number(4, text("/src/main.go")) if i < 2 else b""
    out += message(5, number(1, 20 + 10 * i) + number(2, text(name)) + file)
for t in TEXTS:
    out += message(6, t)
out += number(9, 1700000000000000000) + number(10, 5000000000)
open(sys.argv[1], "wb").write(out[:-2] if bad else out)
