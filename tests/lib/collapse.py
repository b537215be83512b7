#!/usr/bin/env python3
"""Collapses the text of perf script as stackcollapse-perf.pl does, and no more.

    collapse.py [-i] [-u] [-t] [FILE]	folded text, as cprof-fold sorts it
    collapse.py -c OURS PERFS		compares two texts sample by sample and prints classes of differences

-i keeps inlined functions; -u drops the version of a symbol ("read@@GLIBC_2.2.5"); -t adds the thread to the
root.
"""
import collections
import re
import subprocess
import sys

# perf pads the command to %16s only without a callchain. So the command is the text before the first match of
# a head.
HEAD = re.compile(r"^(.*?)\s+(-?\d+)(?:/(-?\d+))?\s+(?:[A-Z]{1,4}\s+)?(?:\[(\d+)\]\s+)?(?:[A-Z]{1,4}\s+)?(\d+)\.(\d{1,9}):\s*(.*)$")
ALIGNED = re.compile(r"^( .{15}) +(-?\d+)(?:/(-?\d+))?\s+(?:\[(\d+)\]\s+)?(\d+)\.(\d{1,9}):\s*(.*)$")
FRAME = re.compile(r"^\s*([0-9a-f]+) (.*)$")
FILE = re.compile(r"^(.*?) ?\(((?:.(?! \([/\[]))*)\)$")


class Frame:
    def __init__(self, address, text):
        self.address, self.inlined, self.file = int(address, 16), text.endswith(" (inlined)"), ""
        if self.inlined:
            text = text[: -len(" (inlined)")]
        elif text.endswith(")"):
            at = max(text.rfind(" (/"), text.rfind(" (["))
            if at < 0:
                at = text.rfind(" (")
            if text.startswith("(/") or text.startswith("(["):
                at = max(at, -1)
                text, self.file = (text[:at], text[at + 2 : -1]) if at >= 0 else ("", text[1:-1])
            else:
                text, self.file = text[:at], text[at + 2 : -1]
        self.name = re.sub(r"\+0x[0-9a-f]+$", "", text.strip())

    def called(self):
        if self.name and self.name != "[unknown]":
            return self.name
        base = re.sub(r" \(deleted\)$", "", self.file).rsplit("/", 1)[-1].strip("[]")
        if not base or self.file == "[unknown]":
            return "[kernel]" if self.address >> 63 else "[unknown]"
        if re.match(r"(guest\.)?kernel", base):
            return "[kernel]"
        return "[jit]" if re.match(r"perf-\d+\.map$", base) else "[%s]" % base


class Sample:
    def __init__(self, comm, pid, tid, time, rest):
        self.comm, self.pid, self.tid, self.time, self.frames = comm.strip(), pid, tid or pid, time, []
        self.event = re.sub(r"^\d+\s+", "", rest).split(" ")[0]
        only = re.sub(r"^(\d+\s+)?\S+:\s*", "", rest)
        if only.endswith(")") and FRAME.match(only):
            self.frames.append(Frame(*FRAME.match(only).groups()))


def samples(file):
    sample = None
    for line in file:
        line = line.rstrip("\r\n")
        if not line.strip():
            if sample:
                yield sample
            sample = None
            continue
        if line[0] in "#|":
            continue
        m = None if line[0] == "\t" else ALIGNED.match(line) or HEAD.match(line)
        if m:
            if sample:
                yield sample
            g = m.groups()
            sample = None if g[-1].startswith("PERF_RECORD_") else Sample(g[0], g[1], g[2], g[-3] + "." + g[-2], g[-1])
        elif sample and FRAME.match(line):
            sample.frames.append(Frame(*FRAME.match(line).groups()))
    if sample:
        yield sample


def label(text):
    return re.sub(r"[\0-\x1f\x7f]", "?", text.strip()).replace(";", ":") or "[unknown]"


def collapse(file, inlined, unversioned, thread):
    count = collections.Counter()
    for s in samples(file):
        stack = [s.comm + ("-%s/%s" % (s.pid, s.tid) if thread else "")]
        for f in reversed(s.frames):
            if f.inlined and not inlined:
                continue
            stack.append(re.sub(r"@@?[A-Za-z_0-9.]+$", "", f.called()) if unversioned else f.called())
        count[";".join(map(label, stack))] += 1
    for stack in sorted(count):
        print(stack, count[stack])


def aliases(file, known={}):
    """Maps the names of a file's symbols to their addresses."""
    if file not in known:
        known[file] = collections.defaultdict(set)
        lines = open("/proc/kallsyms").readlines() if file == "[kernel.kallsyms]" else run("nm", file) + run("nm", "-D", file)
        id = re.search(r"Build ID: (..)(\w+)", "\n".join(run("readelf", "-n", file)))
        if id:
            lines += run("nm", "/usr/lib/debug/.build-id/%s/%s.debug" % id.groups())
        for words in map(str.split, lines):
            if len(words) == 3:
                known[file][re.sub(r"@.*", "", words[2])].add(int(words[0], 16))
    return known[file]


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.splitlines()


def difference(ours, perfs):
    """Returns the class of the difference between the names of one frame; "" if they are the same."""
    a, b = ours.called(), re.sub(r"@@?[A-Za-z_0-9.]+$", "", perfs.called())
    if a == b:
        return "" if b == perfs.called() else "a version is part of perf's name"
    if ours.name.startswith("["):
        return "" if perfs.name == "[unknown]" else "cprof has no name"
    if perfs.name == "[unknown]":
        return "perf has no name: " + ours.file
    known = aliases(ours.file)
    if known.get(a, set()) & known.get(b, set()):
        return "two names of one function"
    return "other: cprof has %s, perf %s" % (a, b)


def compare(ours, perfs):
    classes, frames, short = collections.Counter(), 0, 0
    # perf script prints times cut to microseconds; a thread's samples are in order.
    key = lambda s: (s.tid, s.time)
    a, b = (sorted(samples(open(f, errors="replace")), key=key) for f in (ours, perfs))
    print("%d and %d samples" % (len(a), len(b)))
    for x, y in zip(a, b):
        mine, theirs = [f for f in x.frames if not f.inlined], [f for f in y.frames if not f.inlined]
        if (x.comm, x.tid, x.time) != (y.comm, y.tid, y.time) or len(mine) != len(theirs):
            classes["other: another sample: %s %s %s with %d frames, %s %s %s with %d" % (
                x.comm, x.tid, x.time, len(mine), y.comm, y.tid, y.time, len(theirs))] += 1
            continue
        for f, g in zip(mine, theirs):
            frames += 1
            why = difference(f, g)
            if why:
                classes[why] += 1
    print("%d frames" % frames)
    for why, n in classes.most_common():
        print("%d frames: %s" % (n, why))


def main(argv):
    flags = "".join(a[1:] for a in argv if a.startswith("-") and len(a) > 1)
    files = [a for a in argv if not a.startswith("-")]
    if "c" in flags:
        compare(*files)
        return
    file = open(files[0], errors="replace") if files else sys.stdin
    collapse(file, "i" in flags, "u" in flags, "t" in flags)


main(sys.argv[1:])
