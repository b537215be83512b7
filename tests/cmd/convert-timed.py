#!/usr/bin/env python3
"""Prints a capture as text, for cprof-dump -r, in which each thread runs and waits in turn, and writes its
account: a line "host pid tid ns samples state" for each thread and state. Two hosts have processes of the
same numbers.

convert-timed.py SEED ACCOUNT [ran] [one]
With ran, the capture says how long threads ran: more than their samples. With one, there is only one host.
"""
import collections
import random
import sys

rnd, ran = random.Random(int(sys.argv[1])), "ran" in sys.argv[3:]
STATES = ["running", "sleeping", "uninterruptible", "waiting for a CPU"]
EVENTS = ["cpu-clock", "off-cpu:sleep", "off-cpu:uninterruptible", "off-cpu:run-queue"]
SAMPLE = "sample time=%d event=%d cpu=%d thread=%d user=%d kernel=0 weight=%d"
account = collections.defaultdict(lambda: [0, 0])


def thread_records(host, pid, number, nodes, begin):
    """Returns records as (time, line): a thread's samples, one a millisecond while it runs, and its waits."""
    time, tid, records = begin, pid + number % 3, []
    name = "%s %d %d " % (host, pid, tid)
    for _ in range(40):
        state, at = rnd.randrange(4), rnd.choice(nodes)
        if state == 0:
            ticks = rnd.randrange(1, 6)
            for _ in range(ticks):
                time += 1000000
                cpu, at = rnd.randrange(4), rnd.choice(nodes)
                records.append((time, SAMPLE % (time, 1, cpu, number, at, 1000000)))
            account[name + STATES[0]][0] += 1000000 * ticks
            account[name + STATES[0]][1] += ticks
            continue
        weight = rnd.randrange(1, 30000000)
        time += weight
        records.append((time, SAMPLE % (time, state + 1, rnd.randrange(4), number, at, weight)))
        account[name + STATES[state]][0] += weight
        account[name + STATES[state]][1] += 1
    if ran:
        sampled = account[name + STATES[0]][0]
        more = rnd.randrange(0, 5000000)
        account[name + STATES[0]][0] += more
        time += more
        records.append((time, "ran time=%d thread=%d ns=%d span=%d" %
                        (time, number, sampled + more, time - begin)))
    return records


def segment(host, base):
    begin = base + 1000
    print("segment major=1 minor=3 least=1")
    print('meta key="host" value="%s"\nmeta key="clock" value="monotonic"' % host)
    print('meta key="start-realtime-ns" value="%d"' % (17 * 10 ** 17 + (base >= 10 ** 9) * 5 * 10 ** 6))
    print('meta key="start-monotonic-ns" value="%d"' % base)
    for i, name in enumerate(EVENTS):
        print('event id=%d name="%s" unit="ns" period=%d millihertz=%d' %
              (i + 1, name, 0 if i else 1000000, 0 if i else 1000000))
    print("flush")
    names = ["main", "work", "step", "wait(int)", "a b;c", "libx"]
    for i, name in enumerate(names):
        print('string id=%d text="%s"' % (i + 1, name))
    print('string id=9 text="/src/main.c"')
    print('file id=1 major=8 minor=1 inode=70 generation=0 build-id=ab12 path="/usr/bin/app"')
    records, frame, node, number = [], 0, 16, 0
    for p in (1, 2):
        pid = 100 * p
        print("process id=%d time=%d pid=%d nspid=0 parent=0 start=5 gen=0 via=snapshot" % (p, begin, pid))
        print("mapping time=%d process=%d start=0x1000 length=0x10000 offset=0 prot=5 file=1" % (begin, p))
        nodes = []
        for i in range(len(names)):
            frame += 1
            print("frame id=%d process=%d kind=exact address=%#x" % (frame, p, 0x1000 + 16 * i))
            for level in range(2 if i == 2 else 1):
                print("symbol frame=%d from=0 level=%d source=symtab name=%d offset=0 file=9 line=%d" %
                      (frame, level, (i + 3 * level) % len(names) + 1, 10 + i + level))
            print("node id=%d parent=%d frame=%d" % (node, rnd.choice(nodes + [0, 1]) if i else 0, frame))
            nodes.append(node)
            node += 1
        for _ in range(2):
            number += 1
            print("thread id=%d time=%d process=%d tid=%d" % (number, begin, p, pid + number % 3))
            print('comm time=%d thread=%d comm="app%d"' % (begin, number, number))
            records += thread_records(host, pid, number, nodes + [0], begin)
    records.sort()
    print("flush\n" + "\n".join(line for _, line in records))
    samples = sum(line.startswith("sample") for _, line in records)
    print("end time=%d reason=closed samples=%d\nflush" % (records[-1][0] + 1, samples))


segment("h1", 1000)
if "one" not in sys.argv[3:]:
    segment("h2", 10 ** 12)
with open(sys.argv[2], "w", encoding="utf-8") as out:
    for key in sorted(account):
        host, pid, tid, state = key.split(" ", 3)
        out.write("%s %s %s %d %d %s\n" % (host, pid, tid, *account[key], state))
