#!/usr/bin/env python3
"""Reads a capture as cprof-dump's text, and compares its frames of JavaScript with what a program knows.

	shares CAPTURE FILE	share of the samples in FILE's functions, by innermost function: NAME PERCENT
	lines CAPTURE FILE	NAME:LINE:TIER:INLINED of each frame in the file
	map CAPTURE MAP		compiled functions that V8's own perf map has, too: "right N", "wrong N", ...
	churn CAPTURE LOG	samples while a logged function ran: "right N", "wrong N", "none N"
	calls CAPTURE FILE	calls between FILE's functions, whose caller's line has the call: "right N"; another
				line of the caller: "line N"; none: "wrong N"; callers without a position, frames
				without a function: "unplaced N", "states N"
"""
import bisect
import collections
import re
import sys

FIELD = re.compile(r'(\S+?)=("(?:[^"\\]|\\.)*"|\S+)')
texts = {}


def text_of(value):
    return re.sub(rb"\\x(..)", lambda m: bytes([int(m.group(1), 16)]), value.strip('"').encode()).decode()


def line_of(path, position):
    """Positions count UTF-16 units from 1."""
    if path not in texts:
        with open(path, encoding="utf-8") as f:
            texts[path] = f.read().encode("utf-16-le")
    return texts[path][:2 * (position - 1)].decode("utf-16-le").count("\n") + 1


class Capture:
    def __init__(self, file):
        self.scripts, self.functions, self.frames = {}, {}, {}
        self.parents, self.frame_of, self.samples = {}, {}, []
        kept = {"script": self.scripts, "function": self.functions, "lang-frame": self.frames}
        for line in open(file, encoding="utf-8", errors="replace"):
            kind = line.split(" ", 1)[0]
            if kind not in kept and kind not in ("node", "sample"):
                continue
            fields = dict(FIELD.findall(line))
            if kind in kept:
                kept[kind][fields["id"]] = fields
            elif kind == "node":
                self.parents[fields["id"]] = fields["parent"]
                self.frame_of[fields["id"]] = fields["frame"]
            else:
                self.samples.append((int(fields["time"]), fields["user"], fields["thread"]))

    def stack(self, node):
        """Frames of JavaScript, innermost first."""
        while node in self.parents:
            frame = self.frames.get(self.frame_of[node])
            if frame and frame["function"] != "0":
                yield frame
            node = self.parents[node]

    def whole(self, node):
        """Frames of JavaScript, innermost first; None: one that has no function."""
        while node in self.parents:
            frame = self.frames.get(self.frame_of[node])
            if frame:
                yield frame if frame["function"] != "0" else None
            node = self.parents[node]

    def name(self, frame):
        return text_of(self.functions[frame["function"]]["name"])

    def path(self, frame):
        return text_of(self.scripts[self.functions[frame["function"]]["script"]]["path"])


def shares(capture, path):
    counts = collections.Counter()
    for _, node, _ in capture.samples:
        for frame in capture.stack(node):
            if capture.path(frame) == path:
                counts[capture.name(frame) or "(anonymous)"] += 1
                break
    for name, n in counts.most_common():
        print(name, "%.1f" % (100 * n / sum(counts.values())))


def lines(capture, path):
    found = set()
    for frame in capture.frames.values():
        if frame["function"] != "0" and capture.path(frame) == path and frame["position"] != "0":
            found.add("%s:%d:%s:%s" % (capture.name(frame), line_of(path, int(frame["position"])),
                                       frame["tier"], frame["inlined"]))
    print("\n".join(sorted(found)))


def perf_map(capture, file):
    """A line: START SIZE KIND:TIER NAME PATH:LINE[:COLUMN]. The same function may be there many times."""
    known = set()
    for line in open(file, encoding="utf-8", errors="replace"):
        entry = line.rstrip("\n").split(" ", 2)[2]
        m = re.match(r"(?:JS|LazyCompile|Function|Eval|Script):[o']*[~^+*]?(.*?) ?"
                     r"((?:/|file:|node:)\S*?):(\d+)(?::\d+)?$", entry)
        if m:
            known.add((m.group(1), m.group(2), int(m.group(3))))
    counts, wrong = collections.Counter(), []
    for frame in capture.frames.values():
        path = capture.path(frame) if frame["function"] != "0" else ""
        if (not path.startswith("/") or frame["tier"] not in ("baseline", "optimized")
                or frame["inlined"] == "1"):
            continue
        start = int(capture.functions[frame["function"]]["start"])
        key = (capture.name(frame), path, line_of(path, start))
        counts["right" if key in known else "wrong"] += 1
        if key not in known:
            wrong.append(key)
    print("right", counts["right"], "wrong", counts["wrong"], *wrong[:3])


def churn(capture, file):
    log = sorted((int(began), int(end), name) for name, began, end in (line.split() for line in open(file)))
    starts = [began for began, _, _ in log]
    counts, wrong = collections.Counter(), []
    for time, node, _ in capture.samples:
        i = bisect.bisect(starts, time) - 1
        stack = list(capture.stack(node))
        if i < 0 or time >= log[i][1] or not stack: # other threads have none
            continue
        made = {capture.name(f) for f in stack if capture.name(f).startswith("made_")}
        key = "none" if not made else "right" if made == {log[i][2]} else "wrong"
        counts[key] += 1
        if key == "wrong":
            wrong.append((made, log[i][2]))
    print(*("%s %d" % (key, counts[key]) for key in ("right", "wrong", "none")), *wrong[:3])


def calls(capture, path):
    counts, wrong = collections.Counter(), collections.Counter()
    text = open(path, encoding="utf-8").read()
    source = text.split("\n")
    bodies = dict(re.findall(r"^function (\w+)\(.*?\) (\{.*?^\})", text, re.S | re.M))
    for _, node, _ in capture.samples:
        stack = list(capture.whole(node))
        counts["states"] += stack.count(None)
        stack = [f if f and capture.path(f) == path else None for f in stack]
        for callee, caller in zip(stack, stack[1:]):
            if not callee or not caller:
                continue
            if caller["position"] == "0":
                counts["unplaced"] += 1
                continue
            line = line_of(path, int(caller["position"]))
            call = capture.name(callee) + "("
            if call in source[line - 1]:
                key = "right"
            else:
                key = "line" if call in bodies.get(capture.name(caller), "") else "wrong"
            counts[key] += 1
            if key != "right":
                wrong[capture.name(caller), line, capture.name(callee), caller["tier"], callee["tier"]] += 1
    print(*("%s %d" % (key, counts[key]) for key in ("right", "line", "wrong", "unplaced", "states")),
          *wrong.most_common(3))


if __name__ == "__main__":
    what = {"shares": shares, "lines": lines, "map": perf_map, "churn": churn, "calls": calls}[sys.argv[1]]
    what(Capture(sys.argv[2]), sys.argv[3])
