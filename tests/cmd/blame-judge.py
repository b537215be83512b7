#!/usr/bin/env python3
"""Compares chains of waits with the log of the program that waited.

usage: blame-judge.py LOG FOLDED ROOT...

LOG is what tests/loads/blame prints, FOLDED the output of cprof-fold --blame. ROOT are names of threads.
Both are divided into parts, FUNCTION@THREAD: at each moment of each wait, what was done by the thread that
the wait was for. The log knows that by the program's design, cprof by the wakers. Prints the parts.

Time in which none of the log's activities was going on is a part of its own, "rest": threads were in queues,
or in the kernel. Status 0: the parts are within 3 % of the log, or within 0.5 % of the whole. 1: they are
not. 3: the log says that others disturbed the program, because its threads were late.
"""
import collections
import re
import sys

PERCENT, LEAST, DISTURBED = 3, 0.005, 0.005
LATE = 200000  # ns; less is the time that any timer takes
REST = ("rest", "")


class Log:
    def __init__(self, path):
        self.did = collections.defaultdict(list)  # by thread: (start, end, what)
        self.holds = []
        work = lost = 0
        for line in open(path):
            thread, what, start, end, due = line.split()
            start, end = int(start), int(end)
            if what == "hold":
                self.holds.append((start, end, thread))
                continue
            # the rest of a sleep is no longer the timer's
            self.did[thread].append((start, min(end, start + int(due)) if what == "asleep" else end, what))
            if what.startswith("f_") or what == "asleep":
                work += end - start
                lost += max(end - start - int(due) - LATE, 0)
        for entries in self.did.values():
            entries.sort()
        self.holds.sort()
        self.lost = lost / max(work, 1)

    def between(self, entries, start, end):
        for s, e, what in entries:
            if s < end and e > start:
                yield max(s, start), min(e, end), what

    def explain(self, thread, start, end, parts):
        for s, e, what in self.between(self.did[thread], start, end):
            if what.startswith("wait-"):
                self.explain_wait(what[5:], s, e, parts)
            else:
                parts[(what, thread)] += e - s

    def explain_wait(self, what, start, end, parts):
        if what == "lock":
            for s, e, holder in self.between(self.holds, start, end):
                self.explain(holder, s, e, parts)
        elif what == "job":  # the job that ended last
            jobs = [(e, thread) for thread, entries in self.did.items() for _, e, w in entries
                    if w == "f_job" and start < e <= end]
            if jobs:
                self.explain(max(jobs)[1], start, end, parts)
        else:
            self.explain(what, start, end, parts)

    def parts(self, roots):
        parts = collections.Counter()
        for root in roots:
            for start, end, what in self.did[root]:
                if what.startswith("wait-"):
                    parts[REST] += end - start
                    self.explain_wait(what[5:], start, end, parts)
        parts[REST] -= sum(parts.values()) - parts[REST]
        return parts


def part_of(frames, known):
    """The activity and the thread at the end of a stack."""
    at = max((i for i, f in enumerate(frames) if f.startswith("<- ")), default=0)
    below = frames[at:]
    if "[waking]" in below:  # the frames above it are those of the moment at which the wait ended
        below = below[below.index("[waking]"):]
    work = [f.split(".")[0] for f in below if re.match(r"f_[a-z0-9]+(\.|$)", f)]
    # The end is a state, as "[sleeping]", or code, which may have no name: "[vdso+0x780]".
    ran = not re.match(r"\[[^+]*\]$", frames[-1])
    what = "asleep" if frames[-1] == "[timer]" else work[0] if work and ran else ""
    if at:
        return (what, frames[at][3:]) if (what, frames[at][3:]) in known else REST
    queued = frames[-1] == "[waiting for a CPU]" and not work and "nanosleep" not in ";".join(frames)
    return REST if queued else None


def measured(path, roots, known):
    parts = collections.Counter()
    for line in open(path):
        stack, ns = line.rsplit(" ", 1)
        frames = stack.split(";")
        part = part_of(frames, known) if frames[0] in roots else None
        if part:
            parts[part] += int(ns)
    return parts


def main():
    log, roots = Log(sys.argv[1]), sys.argv[3:]
    truth = log.parts(roots)
    found = measured(sys.argv[2], roots, truth)
    whole, good = sum(truth.values()), len(truth) > 1
    for key in sorted(truth, key=lambda k: (k == REST, -truth[k])):
        off = abs(found[key] - truth[key])
        fits = off <= max((whole if key == REST else truth[key]) * PERCENT / 100, whole * LEAST)
        good = good and fits
        print("%-20s %9.1f ms, log %9.1f ms%s" % (
            "@".join(key).rstrip("@"), found[key] / 1e6, truth[key] / 1e6, "" if fits else "  off"))
    print("%-20s %9.1f ms, log %9.1f ms; late by %.2f %%" % (
        "all", sum(found.values()) / 1e6, whole / 1e6, 100 * log.lost))
    sys.exit(0 if good else 3 if log.lost > DISTURBED else 1)


main()
