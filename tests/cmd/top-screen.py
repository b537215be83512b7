"""Runs cprof-top -w on a terminal of a known size, fed block by block, and prints the screen line by line.

    top-screen.py CAPTURE LINES COLUMNS LINES COLUMNS [OPTION...]

Prints the screen after the first window, after the terminal got the second size, and after the second window,
each after a line "== WHAT"; then sends Ctrl-C and prints, after "== end STATUS", the output until the capture
ended.
"""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios

capture = open(sys.argv[1], "rb").read()
sizes = [tuple(map(int, sys.argv[2:4])), tuple(map(int, sys.argv[4:6]))]


def blocks(data):
    while data:
        n = 32 + struct.unpack_from("<I", data, 8)[0]
        yield data[:n]
        data = data[n:]


def set_size(fd, size):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))


def screen(text, lines, columns):
    """Returns the screen of a terminal that supports these sequences and no others."""
    cells, row, column, wrap = [""] * lines, 0, 0, True
    for what in re.findall(r"\x1b\[[?]?[0-9]*[A-Za-z]|\x1b|[^\x1b]", text):
        if what == "\x1b[H":
            row = column = 0
        elif what == "\x1b[K":
            cells[row] = cells[row][:column]
        elif what == "\x1b[J":
            cells[row] = cells[row][:column]
            cells[row + 1:] = [""] * (lines - row - 1)
        elif what in ("\x1b[?7l", "\x1b[?7h"):
            wrap = what.endswith("h")
        elif what == "\r":
            column = 0
        elif what == "\n":
            row += 1
            if row == lines:
                cells, row = cells[1:] + [""], lines - 1
        elif len(what) > 1 or ord(what) < 32:
            raise SystemExit("an unknown sequence: %r" % what)
        else:
            assert column < columns, "a line is wider than the terminal"
            cells[row] = cells[row][:column].ljust(column) + what + cells[row][column + 1:]
            column += 1
    assert wrap, "the terminal is left in another state"
    return "\n".join(cells)


pid, fd = -1, -1
feed_in, feed = os.pipe()
pid, fd = pty.fork()
if pid == 0:
    set_size(0, sizes[0])
    os.dup2(feed_in, 0)
    os.close(feed_in)
    os.close(feed)
    os.environ["TERM"] = "xterm"
    os.execvp("cprof-top", ["cprof-top", "-w", "1"] + sys.argv[6:])
os.close(feed_in)


def read_until(end):
    got = b""
    while not got.endswith(end):
        if not select.select([fd], [], [], 60)[0]:
            raise SystemExit("nothing was drawn: %r" % got)
        try:
            more = os.read(fd, 65536)
        except OSError:  # the other side is closed
            break
        if not more:
            break
        got += more
    return got.decode()


all_blocks = list(blocks(capture))
drawn = b"\x1b[J\x1b[?7h"
os.write(feed, all_blocks[0] + all_blocks[1])
print("== first\n" + screen(read_until(drawn), *sizes[0]))
set_size(fd, sizes[1])
print("== resized\n" + screen(read_until(drawn), *sizes[1]))
os.write(feed, all_blocks[2])
print("== second\n" + screen(read_until(drawn), *sizes[1]))
os.write(fd, b"\x03")  # Ctrl-C ends the recorder, whose last output is still to come
read_until(b"^C")  # until it has arrived: a terminal discards pending output
for b in all_blocks[3:]:
    os.write(feed, b)
os.close(feed)
rest = read_until(b"never").replace("\r", "")
print("== end %d\n%s" % (os.waitpid(pid, 0)[1], rest))
