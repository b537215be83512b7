#!/usr/bin/env python3
"""Judges the holders of futexes by the functions that waited for them.

usage: cprof-dump NAMED.bin | futex-waits.py

Prints how many long waits for a futex were in functions of glibc that lock nothing (condition variables,
semaphores, barriers) or in code of others, how many of these have a holder, which must be none, and how many
waits were in functions that lock. Without local names of glibc, which tell a condition variable from the
mutex that it takes at its end, prints nothing.
"""
import collections
import re
import sys

LOCKS = re.compile(r"mutex|lll_lock|lll_timedlock|rwlock|clockjoin|pthread_join|thread_exit")
INNER = re.compile(r"futex_abstimed_wait|lll_lock_wait|futex_wait")


def fields(words):
    return dict(w.split("=", 1) for w in words if "=" in w)


def judge(segment, sums):
    for node, held, line in segment["waits"]:
        stack = set()
        while node in segment["nodes"]:
            node, frame = segment["nodes"][node]
            stack |= segment["names"][frame]
        sums["known"] += any(INNER.search(n) for n in stack)
        if any(LOCKS.search(n) for n in stack):
            sums["locks"] += 1
            continue
        sums["others"] += 1
        if held:
            sums["held"] += 1
            print("#", line, *sorted(stack), file=sys.stderr)


def main():
    sums, segment, texts, sample = collections.Counter(), None, {}, {}
    for line in sys.stdin:
        words = line.split()
        what, f = words[0], fields(words[1:])
        if what in ("segment", "end"):  # names come after the waits
            if segment:
                judge(segment, sums)
            segment = {"nodes": {}, "names": collections.defaultdict(set), "waits": []}
            texts, sample = {}, {}
        elif what == "string":
            texts[f["id"]] = line.split('text="', 1)[1].rstrip('"\n')
        elif what == "symbol":
            segment["names"][f["frame"]].add(texts.get(f["name"], ""))
        elif what == "node":
            segment["nodes"][f["id"]] = (f["parent"], f["frame"])
        elif what == "sample":
            sample[f["thread"]] = f["user"]
        elif what == "woken" and f.get("lock", "0") != "0":
            segment["waits"].append((sample.get(f["thread"], "0"), f.get("owner", "0") != "0", line.strip()))
    if sums["known"]:
        print(sums["others"], sums["held"], sums["locks"])


main()
