#!/bin/sh
# cprof-convert -t perfetto: the protobuf of a trace, read by a decoder that knows only field numbers. No
# package has Perfetto's trace processor; its own schema decodes the file without unknown fields.
. "$(dirname "$0")/../lib/lib.sh"

python3 "$here/convert-timed.py" 1 "$tmp/account" | cprof-dump -r >"$tmp/a.bin" || exit 1
python3 "$here/convert-made.py" 2 600 hostile | cprof-dump -r >"$tmp/h.bin" || exit 1

# read.py FILE threads|stacks|wakers: follows the packets as the trace processor does, prints their contents
cat >"$tmp/read.py" <<'X'
import collections, sys

def fields(b):
    at, out = 0, []
    def varint():
        nonlocal at
        v = shift = 0
        while True:
            c = b[at]
            at += 1
            v |= (c & 127) << shift
            shift += 7
            if c < 128:
                return v
    while at < len(b):
        key = varint()
        if key & 7 == 0:
            out.append((key >> 3, varint()))
        elif key & 7 == 1:
            out.append((key >> 3, int.from_bytes(b[at:at + 8], "little")))
            at += 8
        else:
            assert key & 7 == 2
            n = varint()
            assert at + n <= len(b)
            out.append((key >> 3, b[at:at + n]))
            at += n
    return out

def one(b):
    return dict(fields(b))

def all_of(b, number):
    return [v for n, v in fields(b) if n == number]

interned = collections.defaultdict(dict)
tracks, commands, open_slices, flows, last = {}, {}, {}, {}, 0
counts, weights, out = {}, collections.Counter(), collections.Counter()
STACKS, FRAMES = 7, 6

def names(iid):
    found = []
    for f in all_of(interned[STACKS][iid], 2):
        frame = one(interned[FRAMES][f])
        assert frame[3] in interned[19] and frame.get(5, 1) in interned[18]
        assert all_of(interned[19][frame[3]], 7)[0] in interned[17]
        found.append(one(interned[5][frame[2]])[2].decode().replace(";", ":"))
    return found

def count(pid, tid, state, stack, ns, samples):
    if sys.argv[2] == "wakers":
        return
    host = "h2" if pid >= 1 << 22 else "h1"
    who = "%s %d %d" % (host, pid % (1 << 22), tid % (1 << 22))
    if sys.argv[2] == "threads":
        out[who, state] += ns
        out[who, state, "n"] += samples
    else:
        leaf = [] if state == "running" else ["[%s]" % state]
        path = names(stack)
        out[";".join([commands[tid]] + (path if path != [commands[tid]] else []) + leaf)] += ns

def annotation(e):
    return one(e[4])[10].decode() + " " + one(e[4])[6].decode() if 4 in e else "-"

def say_waker(p, e):
    """Counts the ends of slices, and the flows with the tracks and the annotations at both ends."""
    name = one(interned[2][e[10]])[2].decode() if 10 in e else ""
    if e[9] == 1:
        out["%s: %s: %s" % (tracks[e[11]], name, annotation(e))] += 1
    elif 47 in e:
        assert e[9] == 3 and e[47] not in flows
        flows[e[47]] = (p[8], tracks[e[11]], annotation(e), name)
    elif 48 in e:
        at, track, words, wakes = flows.pop(e[48])
        assert e[9] == 3 and at == p[8]
        out["%s %s -> %s %s: %s, %s" % (track, wakes, tracks[e[11]], name, words, annotation(e))] += 1

first = True
for number, packet in fields(open(sys.argv[1], "rb").read()):
    assert number == 1
    p = one(packet)
    assert p[10] == 1 and p[13] == (1 if first else 2)
    first = False
    if 12 in p:
        for kind, v in fields(p[12]):
            interned[kind][one(v)[1]] = v
    if 2 in p:
        t = one(one(p[2])[2])
        commands[t[1]] = t[2].decode()
    if 60 in p:
        d = one(p[60])
        t = one(d[4])
        tracks[d[1]] = (t[1], t[2])
    if 66 in p or 11 in p:
        assert p[8] >= last
        last = p[8]
    if 66 in p:
        s = one(p[66])
        ns = s[6] - counts.get(s[1], 0)
        counts[s[1]] = s[6]
        count(s[2], s[3], "running", s[4], ns, 1)
    if 11 in p:
        e = one(p[11])
        if sys.argv[2] == "wakers":
            say_waker(p, e)
        if e[9] == 3:
            continue
        if e[9] == 1:
            assert e[11] not in open_slices
            open_slices[e[11]] = (p[8], one(interned[2][e[10]])[2].decode(), e[56])
        else:
            begin, state, stack = open_slices.pop(e[11])
            count(*tracks[e[11]], state, stack, p[8] - begin, 1)
assert not open_slices and not flows
if sys.argv[2] == "wakers":
    out = {key: n for key, n in out.items() if ":" in key}
for key in sorted(out, key=str):
    if sys.argv[2] == "wakers":
        print(out[key], key)
    elif sys.argv[2] == "stacks":
        sys.stdout.buffer.write(("%s %d\n" % (key, out[key])).encode())
    elif len(key) == 2:
        print(key[0], out[key], out[key + ("n",)], key[1])
X
read_file() { python3 "$tmp/read.py" "$@"; }

cprof-convert --wall -t perfetto "$tmp/a.bin" >"$tmp/a.pf"
read_file "$tmp/a.pf" threads | sort >"$tmp/got"
sort "$tmp/account" >"$tmp/want"
same "--wall: each thread's time in each state, as samples and slices" "$tmp/want" "$tmp/got"
cprof-convert -t perfetto "$tmp/a.bin" >"$tmp/cpu.pf"
read_file "$tmp/cpu.pf" threads | sort >"$tmp/got"
grep running "$tmp/account" | sort >"$tmp/want"
same "without --wall: time on CPUs" "$tmp/want" "$tmp/got"
# Functions without a name are left out: fold does not keep files of one name apart as tables do.
stacks() { # FILE OPTION...
	file=$1; shift
	cprof-convert -i "$@" -t perfetto "$file" >"$tmp/s.pf" 2>"$tmp/err"
	read_file "$tmp/s.pf" stacks | grep -v 'app+0x' | LC_ALL=C sort >"$tmp/got"
	cprof-fold -i --weight ns "$@" "$file" 2>/dev/null | grep -v 'app+0x' | LC_ALL=C sort >"$tmp/want"
}
stacks "$tmp/a.bin" --wall
same "stacks are cprof-fold's" "$tmp/want" "$tmp/got"
stacks "$tmp/h.bin"
same "  also with hostile names" "$tmp/want" "$tmp/got"
is "equal input gives equal bytes" \
	"$(cprof-convert --wall -t perfetto "$tmp/a.bin" | cksum)" "$(cksum <"$tmp/a.pf")"
# main (thread 42) is woken by work (43) and by a thread without samples, work by a timer and, at the moment at
# which it wakes main, by main.
cat >"$tmp/w.txt" <<'X'
segment major=1 minor=6 least=1
meta key="start-monotonic-ns" value="1"
event id=1 name="cpu-clock" unit="ns" period=10000 millihertz=99000
event id=2 name="off-cpu:sleep" unit="ns" period=0 millihertz=0
event id=4 name="off-cpu:run-queue" unit="ns" period=0 millihertz=0
flush
process id=1 time=0 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
process id=2 time=0 pid=9 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=0 process=1 tid=42
thread id=2 time=0 process=1 tid=43
thread id=3 time=0 process=2 tid=9
comm time=0 thread=1 comm="main"
comm time=0 thread=2 comm="work"
comm time=0 thread=3 comm="kworker"
sample time=5000 event=1 cpu=0 thread=2 user=6 kernel=0 weight=5000
sample time=51000 event=2 cpu=0 thread=2 user=6 kernel=0 weight=30000
woken time=51000 thread=2 slept=30000 queued=0 by=timer waker=0
sample time=101000 event=2 cpu=0 thread=1 user=6 kernel=0 weight=100000
sample time=101200 event=4 cpu=0 thread=1 user=6 kernel=0 weight=200
woken time=101200 thread=1 slept=100000 queued=200 by=task waker=2
sample time=101000 event=2 cpu=0 thread=2 user=6 kernel=0 weight=40000
woken time=101000 thread=2 slept=40000 queued=0 by=task waker=1
sample time=105000 event=2 cpu=0 thread=1 user=6 kernel=0 weight=3000
woken time=105000 thread=1 slept=3000 queued=0 by=task waker=3
end time=200000 reason=closed samples=6
flush
X
cprof-dump -r "$tmp/w.txt" | cprof-convert --wall -t perfetto >"$tmp/w.pf"
is "waits have their wakers, and flows lead from them" "$(read_file "$tmp/w.pf" wakers)" \
"1 (42, 42) wakes -> (42, 43) woken: woken work, waker main-42/42
1 (42, 42): sleeping: waker kworker-9/9
1 (42, 42): sleeping: waker work-42/43
1 (42, 42): waiting for a CPU: -
1 (42, 43) wakes -> (42, 42) woken: woken main, waker work-42/43
1 (42, 43): sleeping: waker [timer]
1 (42, 43): sleeping: waker main-42/42"
if command -v protoc >/dev/null; then
	ok "protoc finds it well formed" sh -c "protoc --decode_raw <'$tmp/a.pf' >'$tmp/raw'"
else
	skip "protoc finds it well formed" "there is no protoc"
fi

printf 'a;f 1\n' >"$tmp/folded"
status "folded text has no times" 2 cprof-convert -t perfetto "$tmp/folded"
status "no byte" 3 cprof-convert -t perfetto /dev/null
head -c $(($(wc -c <"$tmp/h.bin") * 2 / 3)) "$tmp/h.bin" >"$tmp/cut.bin"
status "a capture that is cut short" 3 cprof-convert -t perfetto "$tmp/cut.bin"
ok "  is a whole file" python3 "$tmp/read.py" "$tmp/out" threads
ok "a full disk is told" sh -c "cprof-convert -t perfetto $tmp/a.bin >/dev/full 2>$tmp/err; test \$? = 1"
done_testing
