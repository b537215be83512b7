"""A program on a terminal of its own, fed through a pipe; the screen that its output makes.

    t = Terminal(["cprof-top", "-w", "1"], lines=16, columns=60)
    t.feed(block)
    t.until(lambda: "q quit" in t.screen())     # reads output until this holds
    t.keys("b")
    t.end(signal.SIGTERM)                       # returns the status of waitpid
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time


def show(text, lines, columns):
    """Returns the screen of a terminal that supports these sequences and no others, and the marked lines."""
    cells, row, column, wrap, marked, back = [""] * lines, 0, 0, True, set(), False
    for what in re.findall(r"\x1b\[[?]?[0-9;]*[A-Za-z]|\x1b|[^\x1b]", text):
        if re.fullmatch(r"\x1b\[[0-9;]*m", what):
            back = what == "\x1b[7m"
        elif what == "\x1b[H":
            row, column, marked = 0, 0, set()
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
            if back:
                marked.add(row)
    assert wrap, "the terminal is left in another state"
    return "\n".join(cells), [cells[i].strip() for i in sorted(marked)]


def set_size(fd, lines, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


def blocks(data):
    """Yields the blocks of a capture."""
    while data:
        n = 32 + struct.unpack_from("<I", data, 8)[0]
        yield data[:n]
        data = data[n:]


class Terminal:
    """piped: standard input is a pipe, for feed(); otherwise it is the terminal."""

    def __init__(self, command, lines=24, columns=80, piped=True, out=None, env=None):
        self.lines, self.columns, self.text, self.alive = lines, columns, "", True
        self.begin = 0  # of the output for the present size
        inner, self.pipe = os.pipe()
        ready, go = os.pipe()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.read(ready, 1)  # until its terminal's mode is known
            set_size(0, lines, columns)
            if piped:
                os.dup2(inner, 0)
            if out:
                os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), 1)
            os.close(inner)
            os.close(self.pipe)
            for ignored in signal.SIGINT, signal.SIGQUIT, signal.SIGHUP:  # by nohup, or a shell's "&"
                signal.signal(ignored, signal.SIG_DFL)
            os.environ.update({"TERM": "xterm", **(env or {})})
            os.execvp(command[0], command)
        os.close(inner)
        self.mode = termios.tcgetattr(self.fd)
        os.write(go, b".")
        os.close(go)
        os.close(ready)

    def feed(self, data):
        while data:
            data = data[os.write(self.pipe, data):]

    def close(self):
        os.close(self.pipe)

    def keys(self, text):
        os.write(self.fd, text.encode())

    def resize(self, lines, columns):
        self.lines, self.columns, self.begin = lines, columns, len(self.text)
        set_size(self.fd, lines, columns)

    def read(self, wait=0.1):
        """Reads what there is. Returns false at the end."""
        if not select.select([self.fd], [], [], wait)[0]:
            return True
        try:
            got = os.read(self.fd, 65536)
        except OSError:  # the other side is closed
            got = b""
        self.alive = bool(got)
        self.text += got.decode(errors="replace")
        return self.alive

    def picture(self):
        text = self.text[self.begin:]
        return show(text[:text.rfind("\x1b[?7h") + 5], self.lines, self.columns)

    def screen(self):
        """The screen of the last complete picture."""
        return self.picture()[0]

    def marked(self):
        """The lines that are shown reversed."""
        return self.picture()[1]

    def until_read(self):
        """Waits until the program has read all that it was fed."""
        return self.until(lambda: fcntl.ioctl(self.pipe, termios.FIONREAD, b"\0" * 4) == b"\0" * 4)

    def until(self, condition, limit=60):
        end = time.monotonic() + limit
        while not condition():
            if not self.read() or time.monotonic() > end:
                return bool(condition())
        return True

    def same_mode(self):
        """Whether the terminal has the mode that it had before the program."""
        return termios.tcgetattr(self.fd) == self.mode

    def wait(self, limit=60):
        """Returns the status of the process, after its last output."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            if self.alive:
                self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while self.alive and self.read(0):
                    if not select.select([self.fd], [], [], 0)[0]:
                        break
                return status
        os.kill(self.pid, 9)
        sys.exit("the program did not end: %r" % self.text[-500:])

    def end(self, signal):
        os.kill(self.pid, signal)
        return self.wait()
