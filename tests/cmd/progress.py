"""Runs programs on a terminal while their input or output is slow: progress.py DIRECTORY COMMAND CAPTURE FIFO.

Prints "cprof-x: slow: N s, erased" if COMMAND has drawn a line while the operand FIFO had no more to read, and
has erased it at its end. With "quick" as COMMAND, checks that programs without terminal, or quick ones, draw
nothing, and that the line has the part of a file that has been read.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from terminal import Terminal

directory, command, capture, fifo = sys.argv[1:5]
data = open(capture, "rb").read()
ERASE = "\r\x1b[K"


def run(words, out):
    return Terminal(words, piped=False, out=out)


def slow():
    words, operand = command.split(), os.path.basename(fifo)
    os.chdir(directory)
    t = run(words + [operand], directory + "/result")
    with open(fifo, "wb", buffering=0) as pipe:
        pipe.write(data[:len(data) // 2])
        name = words[0] + ": " + operand
        seen = t.until(lambda: re.search(re.escape(name) + ": [0-9]+ s", t.text), 20)
        pipe.write(data[len(data) // 2:])
    status = t.wait()
    rest = t.text[t.text.rfind(name):] if seen else ""
    if not seen or not re.match(re.escape(name) + r": [0-9]+ s\r\x1b\[K", rest):
        print(words[0] + ": no line, or not erased", repr(t.text), status)
    elif status != 0:
        print(words[0], "ended with", status)
    else:
        print("%s: slow: N s, erased" % words[0])


def quick():
    t = run(["cprof-top", capture], directory + "/result")
    t.wait()
    print("quick: %s" % ("nothing" if ERASE not in t.text else repr(t.text)))
    with open(directory + "/err", "wb") as err:
        reader = subprocess.Popen(["cprof-fold", fifo], stdout=subprocess.DEVNULL, stderr=err)
        with open(fifo, "wb", buffering=0) as pipe:
            pipe.write(data[:len(data) // 2])
            try:
                reader.wait(1.5)  # would have drawn by then
            except subprocess.TimeoutExpired:
                pass
            pipe.write(data[len(data) // 2:])
        reader.wait()
    text = open(directory + "/err").read()
    print("no terminal: %s" % ("nothing" if text == "" else repr(text)))
    # The output is not read: the program stops in the middle of its input.
    with open(directory + "/large.bin", "wb") as large:
        for _ in range(20000):
            large.write(data)
    out = directory + "/out.fifo"
    os.mkfifo(out)
    end = os.open(out, os.O_RDWR | os.O_NONBLOCK)
    t = run(["cprof-sym", directory + "/large.bin"], out)
    seen = t.until(lambda: re.search(r"large.bin: [0-9]+ %, [0-9]+ s", t.text))
    while t.alive:
        try:
            while os.read(end, 1 << 20):
                pass
        except BlockingIOError:
            t.read(0.01)
    t.wait()
    os.close(end)
    parts = [int(n) for n in re.findall(r"large.bin: ([0-9]+) %", t.text)]
    good = seen and parts == sorted(parts) and parts[0] > 0 and parts[-1] <= 100
    print("percent: %s" % ("0 to 100, in steps that do not fall" if good else repr(t.text)))


if command == "quick":
    quick()
else:
    slow()
