#!/usr/bin/env python3
"""Judges the Java frames of a capture by the bytecode of their classes.

    cprof-dump FILE | java-pairs.py [-f SECONDS] [-o PATTERN] [-r BOTTOM/METHOD=N] [-w] JAVAP [-cp CLASSPATH]

A frame's line must have an instruction that calls the next frame's method. Prints counts, one a line:
stacks (with Java frames), whole (complete), frames, named (of 1,000 frames), pairs, bad, unknown (no bytecode
to judge by); then each kind of bad pair.

-f: leaves out the first seconds, and more if the JVM was not known. -o: judges only callers in classes of
this name. -r: prints recursions, the stacks with a frame of BOTTOM, and odd, those of them that have not N frames
of METHOD. The compilers must not put BOTTOM into METHOD: the place of an instruction is that of the next poll
or call in its code, which may be one that only the innermost call gets to. -w: wrong on purpose, each line is
taken for the next one.
"""
import argparse
import collections
import re
import subprocess
import sys

FIELD = re.compile(r'([a-z-]+)=("(?:[^"\\]|\\.)*"|\S+)')


def parse(lines):
    records = collections.defaultdict(list)
    for line in lines:
        kind = line.split(" ", 1)[0]
        if kind in ("function", "lang-frame", "node", "sample"):
            records[kind].append({k: v.strip('"') for k, v in FIELD.findall(line)})
    return records


def calls_of(javap, classes):
    """(class, method) to {line: called methods}, and the set of classes that were found."""
    calls, found = collections.defaultdict(lambda: collections.defaultdict(set)), set()
    for i in range(0, len(classes), 100):
        done = subprocess.run(javap + ["-c", "-l", "-p"] + classes[i:i + 100], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
        if done.returncode not in (0, 1):  # 1: a class was not found. Otherwise the text may be cut
            sys.exit("%s ended with %d" % (javap[0], done.returncode))
        take_class(done.stdout, calls, found)
    return calls, found


def take_class(text, calls, found):
    name = method = None
    code, table = [], []

    def close():
        for n, (at, line) in enumerate(table):
            end = min((t[0] for t in table if t[0] > at), default=1 << 20)
            for where, called in code:
                if at <= where < end:
                    calls[name, method][line].add(called)
        code.clear()
        table.clear()

    for line in text.splitlines():
        if m := re.match(r"(?:[a-z]+ )*(?:class|interface|enum|record) ([\w.$]+)", line):
            close()
            name = m[1]
            found.add(name)
        elif m := re.match(r"  (?! )(.*[)} ]|static \{\});?(?: throws .*)?;?$", line):
            close()
            if "static {}" in line:
                method = "<clinit>"
            elif m := re.search(r"([\w.$]+)\(", line):
                method = "<init>" if m[1] == name else m[1]
        elif m := re.match(r" +(\d+): (invoke\w+) .*// \w*[Mm]ethod (\S+)", line):
            called = m[3].split(":")[0].split(".")[-1].strip('"')
            if "java/lang/invoke/MethodHandle." in m[3] or "java/lang/invoke/VarHandle." in m[3]:
                called = "*"
            code.append((int(m[1]), called))
        elif m := re.match(r" +(\d+): invokedynamic", line):
            code.append((int(m[1]), "*"))
        elif m := re.match(r" +line (\d+): (\d+)$", line):
            table.append((int(m[2]), int(m[1])))
    close()


def start_of(samples, frames, nodes, least):
    """The time from which on samples count: when no frame is unknown for lack of time any more."""
    unknown = {n for n in nodes for f in [frames.get(nodes[n]["frame"])] if f and f["state"] == "not-yet"}
    begin, last = min((int(s["time"]) for s in samples), default=0) + least, 0
    for s in samples:
        at = s["user"]
        while at in nodes and at not in unknown:
            at = nodes[at]["parent"]
        if at in unknown:
            last = int(s["time"])
    return max(begin, last + 5e8 if last else 0)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("-f", type=float, default=0)
    options.add_argument("-o", default="")
    options.add_argument("-r", default="/=0")
    options.add_argument("-w", action="store_true")
    options.add_argument("javap", nargs=argparse.REMAINDER)
    o = options.parse_args()
    r = parse(sys.stdin)
    functions = {f["id"]: f["name"].replace("/", ".") for f in r["function"]}
    frames = {f["id"]: f for f in r["lang-frame"] if f["language"] == "java"}
    nodes = {n["id"]: n for n in r["node"]}
    first = start_of(r["sample"], frames, nodes, o.f * 1e9)
    bottom, recursive, depth = re.split("[/=]", o.r)
    stacks = collections.Counter(s["user"] for s in r["sample"] if int(s["time"]) >= first)
    count, pairs = collections.Counter(), collections.Counter()
    for user, n in stacks.items():
        at, stack = user, []
        while at in nodes:
            stack.append(frames.get(nodes[at]["frame"]))
            at = nodes[at]["parent"]
        java = [f for f in stack if f]
        names = [functions.get(f["function"], "") for f in java]
        if bottom in names:
            count["recursions"] += n
            count["odd"] += n * (names.count(recursive) != int(depth))
        if not java:
            continue
        count["stacks"] += n
        count["whole"] += n * (at == "0")
        count["frames"] += n * len(java)
        count["nameless"] += n * sum(f["state"] != "ok" for f in java)
        for callee, caller in zip(stack, stack[1:]):
            if callee and caller and callee["state"] == caller["state"] == "ok" and \
                    "stub" not in (callee["tier"], caller["tier"]):
                pairs[functions[caller["function"]], caller["line"], functions[callee["function"]],
                      caller["tier"] + caller["inlined"], callee["tier"] + callee["inlined"]] += n
    pairs = {p: n for p, n in pairs.items() if re.match(o.o, p[0])}
    classes = sorted({p[0].rsplit(".", 1)[0] for p in pairs if "$$" not in p[0]})
    calls, found = calls_of(o.javap, classes)
    bad = []
    for (caller, line, callee, *tiers), n in pairs.items():
        owner, method = caller.rsplit(".", 1)
        lines = calls.get((owner, method))
        if line == "0" or owner not in found or not lines:
            count["unknown"] += n
            continue
        called = lines.get(int(line) + o.w, set())
        count["pairs"] += n
        if "*" not in called and callee.rsplit(".", 1)[1] not in called:
            count["bad"] += n
            bad.append((n, caller, line, callee, *tiers, sorted(called)))
    count["named"] = 1000 - 1000 * count["nameless"] // max(count["frames"], 1)
    for name in ("stacks", "whole", "frames", "named", "pairs", "bad", "unknown", "recursions", "odd"):
        print(name, count[name])
    for b in sorted(bad, key=lambda b: -b[0]):
        print("#", *b)


main()
