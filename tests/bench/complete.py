#!/usr/bin/env python3
"""Judges the user stacks of a capture without the recorder's knowledge: cprof-dump FILE | complete.py COMM

Counts the stacks of threads with this name. A stack that is called complete is true if its outermost frame is
known to have no caller, and a call instruction ends at each of its return addresses. A stack has a gap if one
of its frames is in code without call frame information. Prints "all complete true gaps whole": all stacks,
those called complete, the true ones of these, stacks with a gap, and those of them that are true.
"""
import bisect
import re
import subprocess
import sys


def readelf(how, path):
    return subprocess.run(['readelf', how, path], capture_output=True, text=True).stdout


class File:
    """Ranges of file offsets: covered by rows, and code that has no caller."""

    def __init__(self, path):
        self.path, self.bytes, self.rows, self.roots = path, b'', [], []
        try:
            self.bytes = open(path, 'rb').read()
        except OSError:
            return
        head = readelf('-hlW', path)
        self.loads = [tuple(int(x, 16) for x in m) for m in
                      re.findall(r'^\s*LOAD\s+(0x\w+) (0x\w+) \S+ (0x\w+)', head, re.M)]
        entry = re.search(r'Entry point address:\s*(0x[0-9a-f]{2,})', head)
        if entry:
            self.add_root(int(entry.group(1), 16), 64)
        self.read_rows()
        clone = re.compile(r'^ *\d+: (\w+) +(\d+) FUNC .* (?:__)?clone3?(?:@.*)?$', re.M)
        for m in clone.finditer(readelf('-sW', path)):
            self.add_root(int(m.group(1), 16), int(m.group(2)))

    def offset(self, address):
        for offset, start, size in self.loads:
            if start <= address < start + size:
                return address - start + offset
        return None

    def add_root(self, address, size):
        offset = self.offset(address)
        if offset is not None:
            self.roots.append((offset, offset + size))

    def read_rows(self):
        at = None
        for line in readelf('-wf', self.path).splitlines():
            m = re.search(r'FDE .*pc=(\w+)\.\.(\w+)', line)
            if m:
                at = self.offset(int(m.group(1), 16))
                if at is not None:
                    self.rows.append((at, at + int(m.group(2), 16) - int(m.group(1), 16)))
            elif at is not None and 'DW_CFA_undefined: r16' in line:
                self.roots.append(self.rows[-1])
        self.rows.sort()

    def is_covered(self, offset):
        i = bisect.bisect(self.rows, (offset, 1 << 64)) - 1
        return i >= 0 and offset < self.rows[i][1]

    def is_root(self, offset):
        return any(a <= offset <= b for a, b in self.roots)

    def follows_call(self, offset):
        """A near call: E8 with four bytes, or FF /2. Intel SDM 2, CALL and table 2-2."""
        code = self.bytes[max(offset - 7, 0):offset]
        if len(code) < 7:
            return False
        if code[-5] == 0xe8:
            return True
        for n in range(2, 8):
            if code[-n] == 0xff and call_length(code[-n + 1:]) == n:
                return True
        return False


def call_length(code):
    """The length of FF /2 with this ModRM, SIB and displacement; 0 if it is another instruction."""
    modrm = code[0]
    mod, rm = modrm >> 6, modrm & 7
    if (modrm >> 3) & 7 != 2:
        return 0
    sib = mod != 3 and rm == 4
    if mod == 0:
        wide = rm == 5 or (sib and len(code) > 1 and code[1] & 7 == 5)
        more = 4 if wide else 0
    else:
        more = (0, 1, 4, 0)[mod]
    return 2 + sib + more


def fields(line):
    return dict(re.findall(r'([a-z-]+)=("(?:[^"\\]|\\.)*"|\S+)', line))


class Capture:
    def __init__(self, comm):
        self.comm, self.elf = comm, {}
        self.all = self.complete = self.true = self.gaps = self.whole = 0
        self.begin()

    def begin(self):
        self.paths, self.maps, self.frames, self.nodes = {}, {}, {}, {}
        self.process_of, self.names = {}, {}

    def file(self, number):
        path = self.paths.get(number, '')
        if path not in self.elf:
            self.elf[path] = File(path)
        return self.elf[path]

    def take(self, line):
        kind, f = line.split(' ', 1)[0].rstrip('\n'), fields(line)
        if kind == 'segment':
            self.begin()
        elif kind == 'file':
            self.paths[f['id']] = f['path'].strip('"')
        elif kind == 'process':
            self.maps[f['id']] = list(self.maps.get(f['parent'], [])) if f['via'] == 'fork' else []
        elif kind == 'thread':
            self.process_of[f['id']] = f['process']
        elif kind == 'comm':
            self.names[f['thread']] = f['comm'].strip('"')
        elif kind == 'mapping':
            start = int(f['start'], 16)
            self.maps.setdefault(f['process'], []).append(
                (start, start + int(f['length'], 16), int(f['offset'], 16), f['file']))
        elif kind == 'frame':
            self.frames[f['id']] = (f['process'], f['kind'], int(f['address'], 16))
        elif kind == 'node':
            self.nodes[f['id']] = (f['parent'], f['frame'])
        elif kind == 'sample' and self.names.get(f.get('thread')) == self.comm:
            self.judge(f.get('user', ''))

    def place(self, frame):
        """The file of a frame and the offset in it."""
        process, kind, address = self.frames[frame]
        for start, end, offset, number in reversed(self.maps.get(process, [])):
            if start <= address < end:
                return self.file(number), address - start + offset, kind
        return None, 0, kind

    def judge(self, node):
        places = []
        while node in self.nodes:
            node, frame = self.nodes[node]
            places.append(self.place(frame))
        if not places:
            return
        called = node in ('0', 'complete')
        gap = any(e and e.bytes and not e.is_covered(at - (kind == 'return')) for e, at, kind in places)
        last, offset, _ = places[-1]
        true = called and last is not None and last.is_root(offset) and all(
            kind != 'return' or not e or not e.bytes or e.follows_call(at) for e, at, kind in places)
        self.all += 1
        self.complete += called
        self.true += true
        self.gaps += gap
        self.whole += gap and true


def main():
    capture = Capture(sys.argv[1])
    for line in sys.stdin:
        capture.take(line)
    print(capture.all, capture.complete, capture.true, capture.gaps, capture.whole)


main()
