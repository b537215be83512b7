#!/usr/bin/env python3
"""A reader of cprof streams that was written from man/cprof-stream.5 alone, without a look at the C code.

    tests/cmd/stranger.py [FILE...] | --every

It prints the text form that cprof-dump(1) prints, and exits with the same status; only the messages of damage
records are its own. It reads the tables of records and values from the page; the rest is written here. If it
and cprof-dump disagree, the page is wrong, or one of the two is.
With --every it prints a capture with everything in these tables.
"""
import os
import re
import struct
import sys

M = (1 << 64) - 1
SYNC = b"\x89cpf"

# XXH3 with 64 bits, seed 0 and the default secret, from the specification of xxHash

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
A1, A2, A3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
B1, B2, B3, B4, B5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                      0x27D4EB2F165667C5)


def le32(b, at):
    return int.from_bytes(b[at:at + 4], "little")


def le64(b, at):
    return int.from_bytes(b[at:at + 8], "little")


def fold(a, b):
    product = a * b
    return (product & M) ^ (product >> 64)


def mix16(b, at, secret):
    return fold(le64(b, at) ^ le64(SECRET, secret), le64(b, at + 8) ^ le64(SECRET, secret + 8))


def avalanche(h):
    h = (h ^ h >> 37) * 0x165667919E3779F9 & M
    return h ^ h >> 32


def avalanche64(h):
    h = (h ^ h >> 33) * B2 & M
    h = (h ^ h >> 29) * B3 & M
    return h ^ h >> 32


def rotl(v, n):
    return (v << n | v >> (64 - n)) & M


def xxh3_short(b):
    n = len(b)
    if n == 0:
        return avalanche64(le64(SECRET, 56) ^ le64(SECRET, 64))
    if n <= 3:
        v = b[n - 1] | n << 8 | b[0] << 16 | b[n >> 1] << 24
        return avalanche64(v ^ le32(SECRET, 0) ^ le32(SECRET, 4))
    if n <= 8:
        h = le32(b, n - 4) | le32(b, 0) << 32
        h ^= le64(SECRET, 8) ^ le64(SECRET, 16)
        h ^= rotl(h, 49) ^ rotl(h, 24)
        h = h * 0x9FB21C651E98DF25 & M
        h ^= (h >> 35) + n
        h = h * 0x9FB21C651E98DF25 & M
        return h ^ h >> 28
    low = le64(b, 0) ^ le64(SECRET, 24) ^ le64(SECRET, 32)
    high = le64(b, n - 8) ^ le64(SECRET, 40) ^ le64(SECRET, 48)
    swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
    return avalanche(n + swapped + high + fold(low, high) & M)


def xxh3_middle(b):
    n = len(b)
    h = n * B1
    if n <= 128:
        for i in range((n - 1) // 32, -1, -1):
            h += mix16(b, 16 * i, 32 * i) + mix16(b, n - 16 * i - 16, 32 * i + 16)
        return avalanche(h & M)
    for i in range(8):
        h += mix16(b, 16 * i, 16 * i)
    h = avalanche(h & M)
    for i in range(8, n // 16):
        h += mix16(b, 16 * i, 16 * (i - 8) + 3)
    return avalanche(h + mix16(b, n - 16, 136 - 17) & M)


def accumulate(acc, lanes, keys):
    for i in range(8):
        v = lanes[i]
        k = v ^ keys[i]
        acc[i ^ 1] += v
        acc[i] = acc[i] + (k & 0xffffffff) * (k >> 32) & M


def xxh3_long(b):
    n = len(b)
    acc = [A3, B1, B2, B3, B4, A2, B5, A1]
    keys = [struct.unpack_from("<8Q", SECRET, 8 * i) for i in range(17)]
    scramble = keys[16]
    for stripe in range((n - 1) // 64):
        accumulate(acc, struct.unpack_from("<8Q", b, 64 * stripe), keys[stripe % 16])
        if stripe % 16 == 15:
            for i in range(8):
                a = acc[i] & M
                acc[i] = (a ^ a >> 47 ^ scramble[i]) * A1 & M
    accumulate(acc, struct.unpack_from("<8Q", b, n - 64), struct.unpack_from("<8Q", SECRET, 121))
    h = n * B1
    for i in range(4):
        h += fold(acc[2 * i] & M ^ le64(SECRET, 11 + 16 * i), acc[2 * i + 1] & M ^ le64(SECRET, 19 + 16 * i))
    return avalanche(h & M)


def xxh3(b):
    return xxh3_short(b) if len(b) <= 16 else xxh3_middle(b) if len(b) <= 240 else xxh3_long(b)


# Records and values, from the tables of the page

LATER = set()  # (number, field): a record of an older writer ends before it

def tables(page):
    """Returns {number: (name, [(field, coding)])} of the records, {coding: {value: name}} of the values."""
    records, values, rows, number = {}, {}, None, None
    for line in page:
        heading = re.match(r"\.S[sh] (?:([0-9]+) (\S+)|Values of (\S+)|.*)$", line)
        row = re.match(r"\.It (?!Sy )(\S+) Ta (?:value )?(\S+)", line)
        if heading:
            number, record, coding = heading.groups()
            rows = [] if record or coding else None
            if record:
                records[int(number)] = record, rows
            elif coding:
                values[coding] = rows
        elif row and rows is not None:
            rows.append(row.groups())
            if number and " Ta from minor " in line:
                LATER.add((int(number), row.group(1)))
    return records, {coding: {int(value): name for value, name in rows} for coding, rows in values.items()}


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../man/cprof-stream.5"), encoding="utf-8") as f:
    RECORDS, VALUES = tables(f)
    f.seek(0)
    VERSION = tuple(map(int, re.search(r"describes version (\d+)\.(\d+), least (\d+)", f.read()).groups()))
RUNS = {11: "frames", 12: "nodes", 13: "samples"}


class Malformed(Exception):
    pass


class Refused(Exception):
    pass


class Cursor:
    """Reads varints and slices from bytes."""

    def __init__(self, data, at, end):
        self.data, self.at, self.end = data, at, end

    def varint(self):
        value = 0
        for i in range(10):
            if self.at >= self.end:
                break
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << 7 * i
            if byte < 128:
                if value > M:
                    break
                return value
        raise Malformed("a varint")

    def zigzag(self):
        u = self.varint()
        return u >> 1 ^ -(u & 1)

    def slice(self):
        n = self.varint()
        if n > self.end - self.at:
            raise Malformed("a slice")
        self.at += n
        return self.data[self.at - n:self.at]


def quoted(b):
    return '"%s"' % "".join({10: "\\n", 34: '\\"', 92: "\\\\"}.get(c) or
                            (chr(c) if 0x20 <= c <= 0x7e else "\\x%02x" % c) for c in b)


class Segment:
    def __init__(self, field):
        self.field = field
        self.last = 0       # sequence number of the last block
        self.periods = {}
        self.ended = False


class Reader:
    def __init__(self, data, out):
        self.data, self.out = data, out
        self.segment = None
        self.damaged = False
        self.due = None     # a pending damage record
        self.hold = False   # keeps it pending in a header block
        self.block_at = 0
        self.time = 0       # last time in the block

    def line(self, name, fields, tail=b""):
        if tail:
            fields = fields + [("tail", tail.hex())]
        self.out.write(" ".join([name] + ["%s=%s" % f for f in fields]) + "\n")

    # Damage

    def damage(self, offset, count, blocks, what):
        self.damaged = True
        if not self.due:
            self.due = [offset, 0, 0, what]
        self.due[1] += count
        self.due[2] += blocks

    def tell(self):
        if self.due and self.segment and not self.hold:
            offset, count, blocks, what = self.due
            self.due = None
            self.line("damage", [("offset", offset), ("bytes", count), ("blocks", blocks), ("what", '"%s"' % what)])

    # Blocks

    def head(self, at):
        """Returns type, flags, length, segment and sequence number of a valid head here, or None."""
        h = self.data[at:at + 32]
        if len(h) < 32 or h[:4] != SYNC or xxh3(h[:20]) & 0xffffffff != le32(h, 20):
            return None
        return (h[4], h[5], le32(h, 8), le32(h, 12), le32(h, 16)) if le32(h, 8) <= 1048576 else None

    def next_good(self, at):
        """Returns the offset and head of the next good block from here on, or the end and None."""
        while at < len(self.data):
            h = self.head(at)
            behind = at + 32 + h[2] if h else 0
            if h and behind <= len(self.data):
                if xxh3(self.data[at + 32:behind]) == le64(self.data, at + 24):
                    return at, h
                if behind == len(self.data) or self.head(behind):
                    at = behind
                    continue
            at = self.data.find(SYNC[:1], at + 1)
            at = len(self.data) if at < 0 else at
        return at, None

    def check(self):
        if not self.data:
            raise Refused("an empty input")
        n = min(65536, len(self.data))
        if self.data[:4] != SYNC[:n] and not any(self.head(at) for at in range(n - 31)):
            raise Refused("not a stream")

    def read(self):
        self.check()
        at = 0
        while at < len(self.data):
            start = at
            at, head = self.next_good(at)
            if at > start:
                self.damage(start, at - start, 0, "no good block")
            if self.segment and not self.segment.ended and (not head or head[0] == 1):
                self.damage(at, 0, 0, "the segment was cut")
            self.tell()
            if head:
                self.block_at = at
                self.block(at + 32, *head)
                self.tell()
                at += 32 + head[2]
        if self.segment and not self.segment.ended and head:
            self.damage(at, 0, 0, "the segment was cut")
            self.tell()

    def begin(self, field, version):
        self.segment = Segment(field)
        self.line("segment", list(zip(("major", "minor", "least"), version)))

    def block(self, start, kind, flags, length, field, number):
        end = start + length
        if kind not in (1, 2) or flags or kind == 1 and length < 6:
            self.damage(self.block_at, 32 + length, 0, "a block that makes no sense")
            return
        if kind == 1:
            version = struct.unpack_from("<3H", self.data, start)
            if version[2] > 1:
                raise Refused("a later format")
            self.begin(xxh3(self.data[start:end]) & 0xffffffff, version)
            number = 0
            start += 6
        elif not self.segment or self.segment.field != field:
            self.damage(self.block_at, 0, max(number, 1), "a header is missing")
            self.begin(field, VERSION)
        elif number <= self.segment.last:
            self.damage(self.block_at, 32 + length, 0, "a block twice")
            return
        elif number > self.segment.last + 1:
            self.damage(self.block_at, 0, number - self.segment.last - 1, "blocks are missing")
        self.segment.last = number
        self.time = 0
        self.hold = kind == 1
        self.tell()
        self.records(start, end)
        self.hold = False
        self.tell()
        self.line("flush", [])

    # Records

    def records(self, at, end):
        c = Cursor(self.data, at, end)
        while c.at < end:
            at = c.at
            try:
                number = c.varint()
                length = c.varint()
                if number >= 1 << 32 or length > end - c.at:
                    raise Malformed("a record's length")
            except Malformed as e:
                self.leave_out(at, end, e)
                return
            body = Cursor(self.data, c.at, c.at + length)
            c.at += length
            self.record(number, at, body)

    def record(self, number, at, body):
        if number in RUNS:
            self.run(getattr(self, RUNS[number]), at, body)
            return
        try:
            if number < 2:
                raise Malformed("a number that is never on the wire")
            name, fields = RECORDS.get(number, ("record-%d" % number, []))
            values = [(field, self.absent(coding) if (number, field) in LATER and body.at == body.end
                       else self.value(body, coding)) for field, coding in fields]
            self.learn(name, dict(values))
        except Malformed as e:
            self.leave_out(at, body.end, e)
            return
        self.line(name, values, body.data[body.at:body.end])

    def leave_out(self, at, end, why):
        self.damage(self.block_at, end - at, 0, str(why))
        self.tell()

    def absent(self, coding):
        return "0x0" if coding == "address" else VALUES.get(coding, {}).get(0, 0)

    def value(self, c, coding):
        if coding == "text":
            return quoted(c.slice())
        if coding == "bytes":
            return c.slice().hex()
        if coding == "time":
            self.time = self.time + c.zigzag() & M
            return self.time
        v = c.varint()
        if coding == "address":
            return "0x%x" % v
        return VALUES.get(coding, {}).get(v, v)

    def learn(self, name, fields):
        """Remembers the state that a printing reader needs."""
        if name == "event" and fields["id"] < 64:
            if self.segment.periods.setdefault(fields["id"], fields["period"]) != fields["period"]:
                raise Malformed("another period")
        elif name == "end":
            self.segment.ended = True
        elif name == "damage":
            self.damaged = True

    # Runs: the entries yield None after the common fields, then a line for each entry

    def run(self, entries, at, c):
        try:
            for line in entries(c):
                at = c.at
                if line:
                    self.line(*line)
        except Malformed as e:
            self.leave_out(at, c.end, e)

    def frames(self, c):
        process, number, address = c.varint(), c.varint(), c.varint()
        yield None
        while c.at < c.end:
            v = c.varint()
            step = v >> 1
            address = address + (step >> 1 ^ -(step & 1)) & M
            yield "frame", [("id", number), ("process", process), ("kind", VALUES["frame-kind"][v & 1]),
                            ("address", "0x%x" % address)]
            number = number + 1 & M

    def nodes(self, c):
        number, frame = c.varint(), 0
        yield None
        while c.at < c.end:
            parent, frame = c.varint(), frame + c.zigzag() & M
            if number < 16:
                raise Malformed("a node with the number of a root")
            if parent >= 16:
                parent = number - (parent - 15)
                if parent < 16:
                    raise Malformed("a parent before the first node")
            yield "node", [("id", number), ("parent", parent), ("frame", frame)]
            number = number + 1 & M

    def samples(self, c):
        yield None
        while c.at < c.end:
            self.time = self.time + c.zigzag() & M
            flags = c.varint()
            thread, user, kernel = c.varint(), c.varint(), c.varint()
            event = c.varint() if flags & 2 else 1
            weight = c.varint() if flags & 1 else self.segment.periods.get(event, 0)
            if flags >> 2 >= 1 << 32:
                raise Malformed("a CPU")
            yield "sample", [("time", self.time), ("event", event), ("cpu", flags >> 2), ("thread", thread),
                             ("user", user), ("kernel", kernel), ("weight", weight)]


# A capture, as text, with everything in the page's tables, and next to each value the next unknown number

def some(n):
    """Returns numbers of every size, the same ones each time."""
    return (n * 0x9E3779B97F4A7C15 & M) >> n * 7 % 64


def example(coding, n, variant):
    if coding == "text":
        return quoted(bytes(some(n + i) & 255 for i in range(n % 9)))
    if coding == "bytes":
        return bytes(some(n + i) & 255 for i in range(n % 5)).hex()
    if coding in VALUES:
        value = variant % (max(VALUES[coding]) + 2)
        return VALUES[coding].get(value, value)
    return "0x%x" % some(n) if coding == "address" else some(n)


def every():
    n = 0
    print("segment major=1 minor=1 least=1\nflush")
    for number in (n for n in range(2, 52) if n not in RUNS):
        name, fields = RECORDS.get(number, ("record-%d" % number, []))
        variants = max([2] + [max(VALUES[coding]) + 2 for _, coding in fields if coding in VALUES])
        for variant in range(variants):
            n += 16
            shown = ["%s=%s" % (field, example(coding, n + i, variant)) for i, (field, coding) in enumerate(fields)]
            if variant % 2 or not fields:
                shown.append("tail=%x" % (some(n) | 1 << 63))
            print(" ".join([name] + shown))
        print("flush")
    for i in range(16):
        print("frame id=%d process=%d kind=%s address=0x%x" % (i + 1, i >> 2, VALUES["frame-kind"][i & 1], some(i)))
        print("node id=%d parent=%d frame=%d" % (16 + i, i, some(i)))
    for i in range(16, 32):
        print("node id=%d parent=%d frame=%d" % (i + 1 << (i & 3), i >> (i & 1), i))
        print("sample time=%d event=%d cpu=%d thread=%d user=%d kernel=%d weight=%d" % (
            some(i), i & 3, some(i) >> 32, i, some(i + 1), some(i + 2), some(i) * (i >> 2 & 1)))
    print("flush")


def main(files):
    if files == ["--every"]:
        every()
        return 0
    damaged = False
    for name in files or ["-"]:
        with (sys.stdin.buffer if name == "-" else open(name, "rb")) as f:
            reader = Reader(f.read(), sys.stdout)
        try:
            reader.read()
        except Refused as e:
            sys.stderr.write("stranger: %s: %s\n" % (name, e))
            reader.damaged = True
        damaged |= reader.damaged
    return 3 if damaged else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
