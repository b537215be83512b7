"""Runs cprof-top -w on a terminal of a known size, fed block by block, and prints the screen line by line.

    top-screen.py CAPTURE LINES COLUMNS LINES COLUMNS [OPTION...]

Prints the screen after the first window, after the terminal got the second size, and after the second window,
each after a line "== WHAT"; then sends Ctrl-C and prints, after "== end STATUS", the output until the capture
ended.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from terminal import Terminal, blocks

all_blocks = list(blocks(open(sys.argv[1], "rb").read()))
sizes = [tuple(map(int, sys.argv[2:4])), tuple(map(int, sys.argv[4:6]))]
t = Terminal(["cprof-top", "-w", "1"] + sys.argv[6:], *sizes[0])
drawn = "\x1b[J\x1b[?7h"


def picture(what):
    """Prints the next picture, after what makes the program draw it."""
    before = len(t.text)
    what()
    if not t.until(lambda: len(t.text) > before and t.text.endswith(drawn)):
        raise SystemExit("nothing was drawn: %r" % t.text)
    return t.screen()


print("== first\n" + picture(lambda: t.feed(all_blocks[0] + all_blocks[1])))
print("== resized\n" + picture(lambda: t.resize(*sizes[1])))
print("== second\n" + picture(lambda: t.feed(all_blocks[2])))
t.keys("\x03")  # Ctrl-C ends the recorder, whose last output is still to come
before = len(t.text)
for b in all_blocks[3:]:
    t.feed(b)
t.close()
status = t.wait()
print("== end %d\n%s" % (status, t.text[before:].replace("\r", "")))
