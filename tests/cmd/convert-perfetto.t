#!/bin/sh
# cprof-convert -t perfetto: the protobuf of a trace, read by a decoder that knows only field numbers. No
# package has Perfetto's trace processor; its own schema decodes the file without unknown fields.
. "$(dirname "$0")/../lib/lib.sh"

python3 "$here/convert-timed.py" 1 "$tmp/account" | cprof-dump -r >"$tmp/a.bin" || exit 1
python3 "$here/convert-made.py" 2 600 hostile | cprof-dump -r >"$tmp/h.bin" || exit 1

# read.py FILE threads|stacks: follows the packets as the trace processor does, and prints their contents
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
tracks, commands, open_slices, last = {}, {}, {}, 0
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
    host = "h2" if pid >= 1 << 22 else "h1"
    who = "%s %d %d" % (host, pid % (1 << 22), tid % (1 << 22))
    if sys.argv[2] == "threads":
        out[who, state] += ns
        out[who, state, "n"] += samples
    else:
        leaf = [] if state == "running" else ["[%s]" % state]
        path = names(stack)
        out[";".join([commands[tid]] + (path if path != [commands[tid]] else []) + leaf)] += ns

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
        if e[9] == 1:
            assert e[11] not in open_slices
            open_slices[e[11]] = (p[8], one(interned[2][e[10]])[2].decode(), e[56])
        else:
            begin, state, stack = open_slices.pop(e[11])
            count(*tracks[e[11]], state, stack, p[8] - begin, 1)
assert not open_slices
for key in sorted(out, key=str):
    if sys.argv[2] == "stacks":
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
