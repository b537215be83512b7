"""Types keys into cprof-top -w on a terminal: top-keys.py CAPTURE FIRST-WINDOW DIRECTORY. Prints TAP."""
import os
import re
import resource
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from terminal import Terminal, blocks

data = list(blocks(open(sys.argv[1], "rb").read()))
first, directory = sys.argv[2:4]
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
DRAWN = "\x1b[J\x1b[?7h"
ENTER, ESCAPE, UP, DOWN = "\r", "\x1b", "\x1b[A", "\x1b[B"


def check(good, what, *seen):
    print("%s - %s" % ("ok" if good else "not ok", what))
    if not good:
        print(what, *seen, sep="\n", file=sys.stderr)


def rows(text):
    """The rows of the table: weights and names."""
    return re.findall(r"^ +([0-9]+) +[0-9.]+% +[0-9.]+% +([0-9]+) +[0-9.]+% +(.*?) *$", text, re.M)


def table(*options):
    out = subprocess.run(["cprof-top", *options, first], stdout=subprocess.PIPE, check=True).stdout
    return rows(out.decode())


def begin(*options, **more):
    t = Terminal(["cprof-top", "-w", "1", *options], 24, 100, **more)
    t.feed(data[0] + data[1])
    t.until(lambda: t.text.endswith(DRAWN))
    return t


def press(t, *keys):
    for key in keys:
        before = len(t.text)
        t.keys(key)
        t.until(lambda: len(t.text) > before and t.text.endswith(DRAWN))
    return t.screen()


def feed(t, block):
    before = len(t.text)
    t.feed(block)
    t.until(lambda: len(t.text) > before and t.text.endswith(DRAWN))
    return t.screen()


def status_line(text):
    return [line for line in text.split("\n") if "q quit" in line or line.startswith("/")][-1]


# ---- rows by other keys, order, search
t = begin()
check(not t.same_mode(), "keys come one by one, without echo")
check(rows(t.screen()) == table(), "the first picture is the table by function", t.screen())
for by in ["module", "process", "thread", "comm", "container"]:
    got = press(t, "b")
    check(rows(got) == table("--by", by), "b: by %s, as --by %s" % (by, by), got)
    check(status_line(got).startswith("by %s, flat first" % by), "  which the last line says", got)
check(rows(press(t, "b")) == table(), "  and after the last one by function again")
check(rows(press(t, "s")) == table("--cum"), "s: by cum", t.screen())
check(rows(press(t, "s")) == table(), "  and back")
got = press(t, "/", "a", "l", "p")
check(status_line(got) == "/alp" and [r[2] for r in rows(got)] == ["alpha"],
      "/ searches while it is typed", got)
check([r[2] for r in rows(press(t, "\x7f", "\x7f", "\x7f", "B"))] == [], "  a capital matters", t.screen())
got = press(t, "\x7f", "b", "(", ENTER)
check(len(rows(got)) == 2, "  an unfinished expression finds what it found before", got)
check("q quit" in got and "/b(" in got, "  and stays in the last line", got)
check(rows(press(t, ESCAPE)) == table(), "  Escape ends it", t.screen())

# ---- into rows
press(t, DOWN, DOWN)
check([m.split()[-1] for m in t.marked()] == ["alpha"], "arrows mark a row", t.marked())
press(t, "s")
check([m.split()[-1] for m in t.marked()] == ["alpha"], "  which stays marked in another order", t.marked())
press(t, "s", "k")
check("beta" in t.marked()[0], "  k and j do the same", t.marked())
got = press(t, "j", ENTER)
check("function between its callers" in got and re.search(r"5 +100.00% +main", got),
      "Enter shows its callers", got)
check(rows(press(t, ESCAPE)) == table(), "  Escape goes back", t.screen())
press(t, "b", "b", DOWN)
check(len(rows(t.screen())) == 3 and "web-43" in t.marked()[0], "by process", t.screen(), t.marked())
got = press(t, ENTER)
check(rows(got) == table("--pid", "43"), "Enter shows the functions of the process", got)
check(status_line(got).startswith("web-43 > by function"), "  whose name is in the last line", got)
got = press(t, DOWN, ENTER)
check("8 100.00%" in got and "web-43 > beta >" in got, "  and of a function there the callers there", got)
press(t, ESCAPE, ESCAPE)
check(rows(t.screen()) == table("--by", "process"), "  back by two steps", t.screen())
press(t, *"bbbb", DOWN)
check("by function" in status_line(t.screen()), "by function", t.screen())
got = press(t, "b", DOWN, ENTER)
check(sorted(r[2] for r in rows(got)) == ["beta [web2]", "main [web2]"],
      "Enter on a module shows its functions", got)
press(t, ESCAPE)

# ---- pause, size
press(t, *"bbbbb")
got = press(t, "p")
check("[paused]" in got and "Window:     18" in got, "p pauses", got)
t.feed(data[2])
t.until_read()
check("Window:     18" in press(t, "s"), "  no other window is shown, though keys work", t.screen())
press(t, "s", "p")
check("[paused]" not in t.screen(), "  p goes on", t.screen())
got = feed(t, data[3])
check("Window:     4 in 1.00 s" in got, "  with the window of that time, not of all since", got)
before = len(t.text)
t.resize(9, 60)
t.until(lambda: len(t.text) > before and t.text.endswith(DRAWN))
check(len(t.screen().split("\n")) == 9, "it fits another size", t.screen())
t.keys("q")
check(t.wait() == 0 and t.same_mode(), "q quits, and gives the terminal back")
check(t.text.endswith("\r\x1b[K"), "  without the line of keys", repr(t.text[-80:]))
t.close()

# ---- the call tree
def lines(text):
    """The lines of a tree: weight, depth, name."""
    found = re.findall(r"^ +([0-9]+) +[0-9.]+% +[0-9]+ +[0-9.]+%  ( *)(.*?) *$", text, re.M)
    return [(weight, len(indent) // 2, name) for weight, indent, name in found]


def tree(*options):
    out = subprocess.run(["cprof-top", "--tree", *options, first], stdout=subprocess.PIPE, check=True).stdout
    return lines(out.decode())


t = begin("--tree")
check(lines(t.screen()) == tree() and len(tree()) == 8, "the tree is that of --tree", t.screen())
for by in ["module", "process", "thread", "comm", "container"]:
    got = press(t, "b")
    keys = by if by == "module" else by + ",function"
    check(lines(got) == tree("--by", keys) and lines(got), "b: by %s, as --by %s" % (by, keys), got)
    check(status_line(got).startswith("by %s  q quit" % keys), "  which the last line says", got)
check(lines(press(t, "b")) == tree(), "  and after the last one by function again", t.screen())
got = press(t, "/", "a", "l", "p")
check(lines(got) == tree("--match", "alpha"), "/ leaves the stacks with a match", got)
check(lines(press(t, "x")) == [], "  or none", t.screen())
check(lines(press(t, ESCAPE)) == tree(), "  and Escape all", t.screen())
got = press(t, DOWN, DOWN, ENTER)
check(lines(got) == [("8", 0, "main"), ("8", 1, "beta")],
      "Enter shows what is below the marked frame", got)
check(status_line(got).startswith("main > by function"), "  whose name is in the last line", got)
check(lines(press(t, ENTER)) == lines(got), "  the top itself does not open", t.screen())
got = press(t, "j", "j", ENTER)
check(lines(got) == [("8", 0, "beta")], "  a frame below does", got)
check("main > beta > by" in got, "  with its callers in the last line", got)
got = feed(t, data[2])
check(lines(got) == [("2", 0, "beta")], "  also in the next window", got)
check("of this shown" not in got, "  whose first line is of all", got)
check(lines(press(t, ESCAPE, ESCAPE)) == [
    ("9", 0, "db"), ("9", 1, "main [db1]"), ("9", 2, "alpha"),
    ("2", 0, "web"), ("2", 1, "main [web2]"), ("2", 2, "beta")], "  back by two steps", t.screen())
press(t, *"jjjj")
check(t.marked()[0].endswith("web"), "k and j mark lines", t.marked())
got = press(t, "b", "b", "j", ENTER, "b")
check("by thread,function" in status_line(got) and ">" not in status_line(got), "b leaves the frame", got)
before = len(t.text)
t.resize(9, 60)
t.until(lambda: len(t.text) > before and t.text.endswith(DRAWN))
got = press(t, "j")
check("more lines]" in got and lines(got), "a small screen says what is missing", got)
while "lines above" not in got:
    got = press(t, "j")
check(len(t.marked()) == 1 and t.marked()[0] in got, "  the tree scrolls to the marked line", got, t.marked())
check("Total:" in got and "total%" in got, "  below its head", got)
t.keys("q")
check(t.wait() == 0 and t.same_mode(), "  and q quits")
t.close()
t = begin("--tree", "--by", "thread,function")
check(lines(t.screen()) == tree("--by", "thread,function"), "--by is the first choice", t.screen())
press(t, *"bbbb")
check("by comm,function" in status_line(t.screen()), "  which is not repeated", t.screen())
t.end(signal.SIGTERM)

# ---- the other views
for view in ["--peek=.", "--stacks=3"]:
    t = begin(view)
    check("q quit  p pause" in t.screen(), "%s: q and p" % view, t.screen())
    check("[paused]" in press(t, "p"), "  p pauses", t.screen())
    t.feed(data[2])
    t.until_read()
    check("[paused]" not in press(t, "p"), "  and goes on", t.screen())
    t.keys("bs/")
    t.keys("q")
    check(t.wait() == 0 and t.same_mode(), "  q quits, and other keys do nothing")
    t.close()

# ---- the command line
t = begin("--by", "thread,function", "--cum")
check(rows(t.screen()) == table("--by", "thread,function", "--cum"),
      "several keys of --by are the first choice", t.screen())
got = press(t, "b", *["b"] * 5)
check("by container, cum first" in status_line(got), "  and others follow", got)
check(rows(press(t, "b")) == table("--by", "thread,function", "--cum"), "  and they come again", t.screen())
press(t, DOWN, ENTER)
check("web-43/43 > beta > by function" in t.screen(), "Enter steps into both", t.screen())
t.feed(data[2] + data[3])
for block in data[4:]:
    t.feed(block)
t.close()
check(t.wait() == 0 and t.same_mode(), "the end of the capture ends it")
last = t.text[t.text.rindex("Total:"):].replace("\r", "")
whole = subprocess.run(["cprof-top", "--by", "thread,function", "--cum", "--color=never", sys.argv[1]],
                       stdout=subprocess.PIPE, check=True).stdout.decode()
plain = re.sub(r"\x1b\[[0-9;]*[mK]", "", last)
check(rows(plain) == rows(whole) and rows(whole), "  with the table of all by the options", plain, whole)
t = begin("--by", "function,module")
got = press(t, DOWN, ENTER)
check("> beta > by function" in got, "  the function is the last step, wherever --by has it", got)
check(">" not in status_line(press(t, ESCAPE, ESCAPE)), "  back by two steps", t.screen())
t.end(signal.SIGTERM)
t = begin("--by", "function")
check(rows(t.screen()) == table("--by", "function"), "--by function sums by name", t.screen())
press(t, "b")
check("by module" in status_line(t.screen()), "  and the next choice is another one", t.screen())
t.end(signal.SIGTERM)
t = begin("--match", "beta", "--by", "comm")
check(rows(t.screen()) == table("--match", "beta", "--by", "comm"),
      "expressions select before keys", t.screen())
check(rows(press(t, "b")) == table("--match", "beta"), "  and for each of them", t.screen())
t.end(signal.SIGTERM)

# ---- ends
for name in ["HUP", "INT", "QUIT", "TERM", "ALRM", "USR1", "ABRT", "SEGV"]:
    number = getattr(signal, "SIG" + name)
    t = begin()
    if name == "INT":  # the first is for the recorder
        os.kill(t.pid, number)
        feed(t, data[2])
        check(not t.same_mode(), "SIGINT alone does not end it")
    status = t.end(number)
    check(os.WIFSIGNALED(status) and os.WTERMSIG(status) == number, "SIG%s ends it" % name, status)
    check(t.same_mode(), "  and the terminal has its mode back")
t = begin()
before = len(t.text)
os.kill(t.pid, signal.SIGTSTP)
t.until(t.same_mode)
check(t.same_mode(), "a stopped program leaves the terminal as it was")
os.waitpid(t.pid, os.WUNTRACED)
os.kill(t.pid, signal.SIGCONT)
t.until(lambda: len(t.text) > before and t.text.endswith(DRAWN))
check(not t.same_mode() and rows(t.screen()) == table(), "  and draws again when it goes on", t.screen())
check("by module" in press(t, "b"), "  with keys", t.screen())
t.keys("q")
check(t.wait() == 0 and t.same_mode(), "  and q")
t = begin()
t.feed(b"no capture" * 1000)
t.close()
status = t.wait()
check(os.WEXITSTATUS(status) == 3 and t.same_mode(), "damage ends it in order", status, t.text[-300:])

# ---- no keys
t = Terminal(["cprof-top", "-w", "1", sys.argv[1]], piped=False)
check(t.wait() == 0 and t.same_mode(), "a capture in a file is read to its end")
t = Terminal(["sh", "-c", "cprof-top -w 1 %s >%s/out" % (sys.argv[1], directory)], piped=False)
check(t.wait() == 0 and "\x1b" not in open(directory + "/out").read(), "a file gets no control sequences")

# ---- colour
COLOUR = "\x1b[1;31m"


def colours(options, env=None, out=None):
    run = Terminal(["cprof-top", *options, first], piped=False, env=env, out=out)
    run.wait()
    return open(out).read() if out else run.text


check(COLOUR in colours([]), "a terminal gets colours")
check("\x1b" not in colours([], {"NO_COLOR": "1"}), "  not with NO_COLOR")
check(COLOUR in colours([], {"NO_COLOR": ""}), "  which counts only if it is not empty")
check(COLOUR in colours(["--color", "always"], {"NO_COLOR": "1"}), "  --color=always is stronger")
check("\x1b" not in colours(["--color=never"]), "  --color=never")
check("\x1b" not in colours([], {"TERM": "dumb"}), "  nor does a dumb terminal")
check("\x1b" not in colours([], out=directory + "/out"), "a file gets none")
check(COLOUR in colours(["--colour=always"], out=directory + "/out"), "  but with --colour=always")
red = re.findall(r"\x1b\[1;31m *([0-9]+)", colours([]))
yellow = re.findall(r"\x1b\[33m *([0-9]+)", colours([]))
check((red, yellow) == (["8", "5"], ["3", "2"]),
      "red from half of the heaviest row on, yellow from a tenth", red, yellow)
t = begin(env={"NO_COLOR": "1"})
check(not re.search(r"\x1b\[[0-9;]+m", t.text), "the live view has none with NO_COLOR, too")
t.end(signal.SIGTERM)
print("# done")
