#!/usr/bin/python3
"""Counts how the project's prose is written: comments, pages and README.

house/words.py [-l] [FILE ...]
  -l  lists each finding as FILE:LINE: KIND: SENTENCE
Without FILE, all files that git or the tree has.  Prints "sentences begin clause long words" for each kind of text.
"""
import os
import re
import subprocess
import sys

BEGIN = re.compile(r"(what|who|of|else|such|behind|whoever)\b", re.I)
# Clauses in the place of a noun. "The user who asks" has its noun.
CLAUSE = re.compile(
    r"(?<!\w)what (?:is|was|are|were|has|had|cannot|can|it|they|we|he|[a-z]+s)\b"
    r"|(?:^|(?<=[,;(])\s|\b(?:of|by|for|to|from|with|and|or|is|was|are|than|as|on|in|at|but|tells|told|asks|see|sees|know|knows|only|not)\s)"
    r"(?:who|whoever) (?:is|was|are|were|has|had|[a-z]+s)\b", re.I)
END = re.compile(r"(?<=[.?!])[\"')]*\s+(?=[\"'(`]*[A-Z0-9-])|(?<=:)\s+(?=[A-Z])")
LONG = 110


def c_comments(text):
    """Yields (line, text) of each comment, the stars taken off; // lines that follow one another are one."""
    token = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)
    for m in token.finditer(text):
        t = m.group()
        if t.startswith("/*"):
            yield text.count("\n", 0, m.start()) + 1, re.sub(r"(?m)^\s*\* ?", "", t[2:-2])
        elif t.startswith("//"):
            yield text.count("\n", 0, m.start()) + 1, t[2:]


def hash_comments(text):
    """Yields (line, text) of each block of lines that begin with #."""
    block, first = [], 0
    for n, line in enumerate(text.split("\n") + [""], 1):
        m = re.match(r"\s*#+(?!!)\s?(.*)", line)
        if m:
            first = first or n
            block.append(m.group(1))
        elif block:
            yield first, "\n".join(block)
            block, first = [], 0


BREAK = {"Sh", "Ss", "Pp", "It", "Bl", "El", "Bd", "Ed", "D1", "Dl", "Nd", "Dd", "Dt", "Os", "Xr"}


def page(text):
    """Yields (line, text) of each paragraph of a page in mdoc; displays are no prose."""
    block, first, display = [], 0, False
    for n, line in enumerate(text.split("\n") + [".Pp"], 1):
        m = re.match(r"\.\s*([A-Za-z][A-Za-z0-9])\b ?(.*)", line)
        if line.startswith('.\\"'):
            continue
        if m and m.group(1) in ("Bd", "Ed"):
            display = m.group(1) == "Bd" and "literal" in line
        if m and m.group(1) in BREAK and m.group(1) != "Xr":
            if block:
                yield first, "\n".join(block)
            block, first = [], 0
            if m.group(1) == "Nd":
                yield n, m.group(2)
        elif not display:
            first = first or n
            block.append("X" + re.sub(r"(^|\s)[A-Z][a-z]\b", "", " " + m.group(2)) if m else line)


def markdown(text):
    """Yields (line, text) of each paragraph, list entry and cell of a table; code is none."""
    block, first, code = [], 0, False
    for n, line in enumerate(text.split("\n") + [""], 1):
        if line.startswith("```"):
            code = not code
            line = ""
        if code or line.startswith("    ") or not line.strip() or re.match(r"\s*[-*|#]|\s*\d+\. ", line):
            if block:
                yield first, "\n".join(block)
            block, first = [], 0
        if code or line.startswith("    ") or not line.strip():
            continue
        if line.startswith("|"):
            for cell in line.split("|"):
                if re.search(r"[a-z]{2} [a-z]", cell):
                    yield n, cell
            continue
        first = first or n
        block.append(re.sub(r"^\s*(?:[-*#]+|\d+\.)\s*", "", line))


def kind(name):
    base = os.path.basename(name)
    if re.search(r"\.(c|h|cc|js|css|go)$", base):
        return "code", c_comments
    if re.search(r"\.[1-9]$", base) and name.startswith("man/"):
        return "page", page
    if base.endswith(".md"):
        return "page", markdown
    return "script", hash_comments


def is_prose(sentence):
    return len(re.findall(r"[A-Za-z]{2,}", sentence)) >= 3


def sentences(text):
    for part in re.split(r"\n\s*\n", text):
        part = re.sub(r"\s+", " ", part).strip()
        for s in END.split(part):
            s = s.strip().lstrip("\"'(`*-").strip()
            if is_prose(s):
                yield s


def main():
    args = sys.argv[1:]
    show = args[:1] == ["-l"]
    files = args[1:] if show else args
    if not files:
        files = subprocess.run(["find", "Makefile", "README.md", ".ci", "bpf", "cmd", "common", "contrib", "man", "tests", "-type", "f"],
                               stdout=subprocess.PIPE, check=True).stdout.decode().split("\n")[:-1]
    count = {}
    for name in sorted(files):
        with open(name, "rb") as f:
            data = f.read()
        if b"\0" in data[:8192] or re.search(r"(corpus/|/cases/|/data/|\.(html|txt|yml|yaml|folded|xz)$|LICENSE)", name):
            continue
        text = data.decode("utf-8", "replace")
        what, read = kind(name)
        if what == "script" and not (text.startswith("#!") or re.search(r"Makefile|bootstrap|\.(sh|t|py|pl)$", name)):
            continue
        c = count.setdefault(what, dict(sentences=0, begin=0, clause=0, long=0, words=0))
        if what != "page":
            for n, line in enumerate(text.split("\n"), 1):
                if len(line.expandtabs(8)) > LONG:
                    c["long"] += 1
                    if show:
                        print(f"{name}:{n}: long")
        for n, block in read(text):
            for s in sentences(block):
                c["sentences"] += 1
                c["words"] += len(s.split())
                for key, found in (("begin", BEGIN.match(s)), ("clause", CLAUSE.search(s))):
                    if found:
                        c[key] += 1
                        if show:
                            print(f"{name}:{n}: {key}: {s}")
    if not show:
        for what in sorted(count):
            c = count[what]
            print(what, *(f"{k} {c[k]}" for k in ("sentences", "begin", "clause", "long", "words")))


if __name__ == "__main__":
    main()
