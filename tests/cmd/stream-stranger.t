#!/bin/sh
# A reader that was written from cprof-stream(5) alone reads the same as the programs here: the page is
# complete, and correct.
. "$(dirname "$0")/../lib/lib.sh"
command -v python3 >/dev/null || skip_all "python3 is not here"
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$here"
page=$top/man/cprof-stream.5

# The sentence of a damage record is for people, and may differ.
read_by() { # OUTPUT COMMAND FILE...: its text, and its status in the last line
	output=$1
	shift
	"$@" >"$tmp/text" 2>"$tmp/err"
	echo "status $?" >>"$tmp/text"
	sed '/^damage /s/ what=.*/ what=/' "$tmp/text" >"$output"
}
alike() { # DESCRIPTION FILE...: both read the same out of these
	description=$1
	shift
	read_by "$tmp/want" cprof-dump "$@"
	read_by "$tmp/got" python3 "$here/stranger.py" "$@"
	same "$description" "$tmp/want" "$tmp/got"
}
ends() { is "  with status $1" "$(tail -n 1 "$tmp/got")" "status $1"; }

# The example of the page
sed -n '/^89 63 70 66/,/^\.Ed/p' "$page" | sed '$d' |
	python3 -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(sys.stdin.read()))' >"$tmp/example.bin"
sed -n '/^segment major=/,/^\.Ed/p' "$page" | sed '$d; s/\\-/-/g' >"$tmp/example.txt"
echo "status 0" >>"$tmp/example.txt"
alike "the example of the page" "$tmp/example.bin"
same "  is the text beside it" "$tmp/example.txt" "$tmp/got"
sed '$d' "$tmp/example.txt" | cprof-dump -r >"$tmp/written.bin"
same "  and is written as it stands there" "$tmp/example.bin" "$tmp/written.bin"

# Every entry of the page's tables, and the next unknown number of each
python3 "$here/stranger.py" --every >"$tmp/every.txt"
is "a table of each record, and of each kind of value" \
	"$(python3 -c 'import stranger; print(len(stranger.RECORDS), len(stranger.VALUES))')" "39 $(grep -c '^\.Ss Values of' "$page")"
status "all that the tables have can be written" 0 cprof-dump -r "$tmp/every.txt"
cprof-dump -r "$tmp/every.txt" >"$tmp/every.bin"
alike "all that the tables have, and the next unknown numbers" "$tmp/every.bin"
ends 3
echo "status 3" | cat "$tmp/every.txt" - | sed '/^damage /s/ what=.*/ what=/' >"$tmp/want"
same "  and reads as it was written" "$tmp/want" "$tmp/got"

# Streams as they are used: concatenated, in several files, cut, named; and files that are not streams
small=$tmp/small.bin
cprof-dump -r "$tests/data/small.txt" >"$small"
alike "a small capture" "$small"
ends 0
cat "$small" "$tmp/example.bin" "$small" >"$tmp/cat.bin"
alike "cat a b a" "$tmp/cat.bin"
ends 0
cat "$small" "$tmp/every.bin" "$small" | tail -c +99 >"$tmp/tail.bin"
alike "the rest of a longer one" "$tmp/tail.bin"
ends 3
alike "several files" "$small" "$tmp/example.bin" "$tmp/tail.bin"
cprof-sym "$small" >"$tmp/named.bin" 2>/dev/null
alike "a capture with names" "$tmp/named.bin"
for f in /dev/null "$page"; do
	alike "no stream: $(basename "$f")" "$f"
	ends 3
done
head -c 65504 /dev/zero | cat - "$small" >"$tmp/near.bin"
head -c 65505 /dev/zero | cat - "$small" >"$tmp/far.bin"
alike "a good head whole in the first 65536 bytes" "$tmp/near.bin"
is "  is found" "$(grep -c '^damage offset=0 bytes=65504 ' "$tmp/got")" 1
alike "and one behind them" "$tmp/far.bin"
is "  is not" "$(wc -l <"$tmp/got" | tr -d ' ')" 1

# Damage of each kind, at each place of a small capture. Checksums of changed payloads are recomputed.
cat >"$tmp/damage.py" <<'END'
import struct
import sys
from stranger import SYNC, xxh3

def split(stream):
    at = 0
    while at < len(stream):
        size = 32 + struct.unpack_from("<I", stream, at + 8)[0]
        yield stream[at:at + size]
        at += size

def block(payload, kind, flags, field, number):
    head = SYNC + struct.pack("<BBHIII", kind, flags, 0, len(payload), field, number)
    return head + struct.pack("<IQ", xxh3(head) & 0xffffffff, xxh3(payload)) + payload

def anew(old, payload=None, **changed):
    kind, flags, _, _, field, number = struct.unpack_from("<BBHIII", old, 4)
    of = dict(kind=kind, flags=flags, field=field, number=number)
    of.update(changed)
    return block(old[32:] if payload is None else payload, **of)

def cuts(stream, blocks):
    for n in range(len(stream)):
        yield stream[:n]

def bits(stream, blocks):
    for n in range(len(stream)):
        yield stream[:n] + bytes([stream[n] ^ 1 << n % 8]) + stream[n + 1:]

def moves(stream, blocks):
    for i in range(len(blocks)):
        for j in range(len(blocks)):
            less = blocks[:i] + blocks[i + 1:]
            yield b"".join(blocks[:j] + [blocks[i]] + blocks[j:])
            yield b"".join(less[:j] + [blocks[i]] + less[j:])
            yield b"".join(less[:j] + [b"\x89cpf\x89", blocks[i][:40]] + less[j:])
            yield b"".join(less[:j] + less[j + 1:])
    bad = bytearray(anew(blocks[1], b"\x28\xff\x7f" + stream))
    bad[24] ^= 1
    for behind in blocks[2:], [], [b"x"] + blocks[2:], [bad] + blocks[2:], [blocks[2][:20]], [bad[:-1]]:
        yield b"".join([blocks[0], bad] + behind)
    yield blocks[0] + bad[:-1]

def heads(stream, blocks):
    for i, b in enumerate(blocks):
        for changed in ([{"kind": k} for k in (0, 1, 2, 3)] + [{"flags": 1}, {"field": 7}] +
                        [{"number": n} for n in (0, 1, 2, 9, 0xffffffff)] + [{"payload": p} for p in (b"", b"abcde")]):
            yield b"".join(blocks[:i] + [anew(b, **changed)] + blocks[i + 1:])

def payloads(stream, blocks):
    for i, b in enumerate(blocks):
        p = b[32:]
        for n in range(len(p)):
            for new in p[:n] + p[n + 1:], p[:n] + bytes([p[n] ^ 1 << n % 8]) + p[n + 1:], p[:n] + b"\xff" + p[n:], p[:n]:
                changed = anew(b, new)
                field = xxh3(new) & 0xffffffff
                later = [anew(x, field=field) if b[4] == 1 and x[12:16] == b[12:16] else x for x in blocks[i + 1:]]
                yield b"".join(blocks[:i] + [changed] + later)

stream = open(sys.argv[2], "rb").read()
for n, damaged in enumerate(globals()[sys.argv[1]](stream, list(split(stream)))):
    with open("%s/%05d.bin" % (sys.argv[3], n), "wb") as f:
        f.write(damaged)
END
for kind in cuts bits moves heads payloads; do
	mkdir "$tmp/$kind"
	python3 "$tmp/damage.py" $kind "$small" "$tmp/$kind"
	set -- "$tmp/$kind"/*
	[ -e "$1" ] || fail "damaged streams could be made"
	alike "$kind: $# damaged streams" "$@"
	ends 3
done

# A recorded capture
why=$(may_record_all)
if [ -n "$why" ]; then
	skip "a recorded capture" "${why#*SKIP }"
elif ! { "$BUILD/tests/burn" brief 1500 & cprof-record -a 1 >"$tmp/live.bin" 2>"$tmp/err"; }; then
	fail "a recorded capture"
	diag "$(cat "$tmp/err")"
else
	alike "a recorded capture" "$tmp/live.bin"
	ends 0
	like "  with samples" "$(sed -n 's/^\(sample\) .*/\1/p' "$tmp/got" | head -n 1)" sample
	cprof-sym "$tmp/live.bin" >"$tmp/named.bin" 2>/dev/null
	alike "  and with names" "$tmp/named.bin"
	head -c $(($(wc -c <"$tmp/live.bin") * 2 / 3)) "$tmp/live.bin" >"$tmp/cut.bin"
	alike "  and cut" "$tmp/cut.bin"
	ends 3
fi
done_testing
