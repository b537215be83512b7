# Prints the line tables of many code objects, and for each offset of their bytecode the line that the interpreter
# itself finds:
#	VERSION FIRST-LINE TABLE OFFSET:LINE...		TABLE: hexadecimal, or -; LINE: 0 if there is none
# Argument: how many modules of the standard library, besides the text below. All versions from 3.7 on run this.
import dis
import os
import sys

version = sys.version_info[:3]
word = "%02x%02x%02x" % version


def lines_of(code):
    """Offsets as the frame has them, with their lines."""
    if version >= (3, 10):
        lines = {}
        for start, end, line in code.co_lines():
            for offset in range(start, end, 2):
                lines[offset] = line or 0
        step = 2 if version < (3, 11) else 1
        return [(offset // step, line) for offset, line in sorted(lines.items())]
    starts = dict(dis.findlinestarts(code))
    line = code.co_firstlineno
    out = []
    for offset in range(0, len(code.co_code), 2):
        line = starts.get(offset, line)
        out.append((offset, line))
    return out


def positions_of(code):
    """The other answer of 3.11 and later."""
    return [(2 * i, position[0] or 0) for i, position in enumerate(code.co_positions())]


def walk(code):
    table = code.co_lnotab if version < (3, 10) else code.co_linetable
    lines = lines_of(code)
    if version >= (3, 11) and positions_of(code) != lines:
        sys.exit("the interpreter's answers differ: %r" % code)
    words = " ".join("%d:%d" % pair for pair in lines)
    print(word, code.co_firstlineno, table.hex() or "-", words)
    for const in code.co_consts:
        if hasattr(const, "co_code"):
            walk(const)


# Lines that go back, far jumps, long expressions, code without a line
extra = [
    "x = [\n" + "".join("    f(%d),\n" % i for i in range(400)) + "]\n",
    "a = (\n" + "\n" * 300 + "f(\n" + "\n" * 200 + "1, b))\n" + "\n" * 40000 + "c = 1\n",
    "def g(x):\n    with x as y:\n        for i in (\n            y):\n            yield i\n    try:\n        return x\n    finally:\n        x()\n",
    "async def h(x):\n    async with x as y, \\\n            x() as z:\n        async for i in y: await z(i)\n    return [\n i async for i in x\n  if i]\n",
    "",
]
directory = os.path.dirname(os.__file__)
modules = sorted(name for name in os.listdir(directory) if name.endswith(".py"))
modules = [path for path in (os.path.join(directory, name) for name in modules) if os.path.isfile(path)]
for name in modules[: int(sys.argv[1])]:
    with open(name, "rb") as f:
        walk(compile(f.read(), name, "exec"))
for text in extra:
    walk(compile(text, "extra", "exec"))
print("end")
