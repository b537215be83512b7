#!/usr/bin/env python3
"""Prints a capture as text, for cprof-dump -r: processes at different addresses, threads, cgroups, kernel
frames, recursion, inlined functions, files with the same base name, frames without a name, two segments of
two hosts. The same SEED gives the same capture.

convert-made.py SEED [SAMPLES [hostile]]
"""
import random
import sys

seed, samples = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 600
hostile = len(sys.argv) > 3
rnd = random.Random(seed)
NAMES = ["main", "work", "step", "mul", "foo", "foo.part.0", "foo(int)", "operator new(unsigned long)",
         "std::vector<a, b<c> >::push_back(d const&)", "(anonymous namespace)::f", "loop", "recurse", "a b 5", "x86_64"]
if hostile:
    NAMES += ["</script><script>alert(1)</script>", 'q"uo\'te\\', "semi;colon", "new\nline", "tab\ttab", b"\xff\xfe bytes", "",
              "(7) number", "fn=(3) x", "calls=1 0", "ns::" + "T<" * 2500 + ">" * 2500, "\u00e9t\u00e9 \u4e16\u754c", "0x12", "-1"]
FILES = ["", "/src/main.c", "/src/inc/step.h", "rel.c", "/src/a b;c.cc"]
PATHS = ["/usr/bin/app", "/opt/o1/app", "/usr/lib/libc.so.6", "[vdso]", "//anon"]


def quote(text):
    text = text if isinstance(text, bytes) else text.encode()
    return "".join(chr(c) if 0x20 <= c < 0x7f and c not in b'"\\' else "\\x%02x" % c for c in text)


def segment(host, samples, first_pid):
    print("segment major=1 minor=1 least=1")
    print('meta key="host" value="%s"\nmeta key="start-realtime-ns" value="1700000000000000000"' % host)
    print('meta key="kernel-build-id" value="abcdef0123"')
    print('event id=1 name="cpu-clock" unit="ns" period=1000000 millihertz=999000\nflush')
    strings, late = {}, []

    def string(text):
        if text not in strings:
            strings[text] = len(strings) + 1
            print('string id=%d text="%s"' % (strings[text], quote(text)))
        return strings[text]

    for i, path in enumerate(PATHS):
        print('file id=%d major=8 minor=1 inode=%d generation=0 build-id=%s path="%s"' %
              (i + 1, i + 70, "" if path[0] != "/" or path[1] == "/" else "%02xff" % (i + 16), path))
    print('cgroup id=7 path="/docker/1"')
    frame, node, thread = 0, 16, 0
    kernel = []
    for k in range(4):
        frame += 1
        print("frame id=%d process=0 kind=%s address=%#x" % (frame, "exact" if k == 3 else "return", 0xffffffff81000000 + k * 16))
        print('ksym time=1 address=%#x size=0x10 name="ksys_%d" module=""' % (0xffffffff81000000 + k * 16, k))
        print("node id=%d parent=%d frame=%d" % (node, node - 1 if k else 0, frame))
        kernel.append(node)
        node += 1
    where = []
    for p in range(1, 5):
        base = rnd.randrange(1, 1000) << 24
        print("process id=%d time=1 pid=%d nspid=0 parent=0 start=5 gen=0 via=snapshot" % (p, first_pid + p))
        if p % 2:
            print("member time=1 process=%d cgroup=7" % p)
        threads = []
        for t in range(rnd.choice((1, 1, 3))):
            thread += 1
            threads.append(thread)
            print("thread id=%d time=1 process=%d tid=%d" % (thread, p, first_pid + p + 100 * t))
            print('comm time=1 thread=%d comm="%s"' % (thread, rnd.choice(("app", "sh", "work", "ThreadPool 1"))))
        for i in range(len(PATHS)):
            print("mapping time=1 process=%d start=%#x length=0x10000 offset=0x1000 prot=5 file=%d" %
                  (p, base + i * 0x100000, i + 1))
        frames = []
        for f in range(60):
            frame += 1
            frames.append(frame)
            at = base + rnd.randrange(len(PATHS)) * 0x100000 + f * 64 if f else 0x10
            print("frame id=%d process=%d kind=%s address=%#x" % (frame, p, rnd.choice(("exact", "return")), at))
            for level in range(rnd.choice((0, 1, 1, 1, 2, 3))):
                name, file = string(rnd.choice(NAMES)), rnd.choice(FILES)
                late.append("symbol frame=%d from=0 level=%d source=symtab name=%d offset=0 file=%d line=%d" %
                            (frame, level, name, string(file) if file else 0, rnd.randrange(50) if file else 0))
        nodes = []
        for _ in range(150):
            print("node id=%d parent=%d frame=%d" % (node, rnd.choice(nodes[-9:] + [0, 1]) if nodes else 0, rnd.choice(frames)))
            nodes.append(node)
            node += 1
        where.append((threads, nodes))
    print("flush")
    for s in range(samples):
        threads, nodes = rnd.choice(where)
        print("sample time=%d event=1 cpu=%d thread=%d user=%d kernel=%d weight=1000000" %
              (1000000 * (s + 2), s % 4, rnd.choice(threads), rnd.choice(nodes) if s % 50 else 1,
               rnd.choice(kernel) if s % 5 == 1 else 0))
    print("\n".join(late))
    print("ledger time=9 cpu=1 outcome=expected count=%d\nledger time=9 cpu=1 outcome=emitted count=%d" % (samples + 3, samples))
    print("ledger time=9 cpu=1 outcome=ring-full count=3")
    print("end time=%d reason=closed samples=%d\nflush" % (1000000 * (samples + 2), samples))


segment("h1", samples // 2, 40)
segment("h2", samples - samples // 2, 400)
