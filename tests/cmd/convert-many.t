#!/bin/sh
# Conversions of inputs with many threads, files or types take time and memory in proportion to their size.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"

sanitized && skip_all "takes very long under the sanitizers"
command -v python3 >/dev/null || skip_all "python3 is not here"
printf 'a;f 1\n' >"$tmp/one.folded"
cprof-convert -t pprof "$tmp/one.folded" >/dev/null 2>"$tmp/err"
[ $? != 2 ] || skip_all "cprof was built without protobuf-c, or without the schema"

# 300,000 files and as many commands: pprof's first mapping is the file with a command's name
{
	segment
	process 1
	python3 - <<'X'
for i in range(1, 300001):
    print('file id=%d major=8 minor=1 inode=%d generation=0 build-id= path="/bin/f%d"' % (i, i, i))
    print('mapping time=2 process=1 start=0x%x length=0x1000 offset=0 prot=5 file=%d' % (i << 12, i))
    print('frame id=%d process=1 kind=exact address=0x%x' % (i, i << 12 | 16))
    print('node id=%d parent=1 frame=%d' % (i + 15, i))
    print('thread id=%d time=2 process=1 tid=%d' % (i + 1, i + 1000))
    print('comm time=2 thread=%d comm="%s"' % (i + 1, 'f77777' if i == 5 else 'g%d' % i))
    print('sample time=1000 event=1 cpu=0 thread=%d user=%d kernel=0 weight=1' % (i + 1, i + 15))
X
	finish
} | cprof-dump -r >"$tmp/in"
timeout 300 cprof-convert -t pprof "$tmp/in" >"$tmp/pb" 2>"$tmp/err"
is "many files and commands" "$?" 0
is "  the file with a command's name is the first" "$(python3 - "$tmp/pb" <<'X'
import gzip, sys


def fields(b):
    at = 0

    def varint():
        nonlocal at
        v = shift = 0
        while True:
            v, shift, at = v | (b[at] & 127) << shift, shift + 7, at + 1
            if b[at - 1] < 128:
                return v
    while at < len(b):
        key = varint()
        n = varint()
        if key & 7 == 2:
            yield key >> 3, b[at:at + n]
            at += n
        else:
            yield key >> 3, n


b = open(sys.argv[1], 'rb').read()
texts, mapping = [], None
for field, value in fields(gzip.decompress(b) if b[:2] == b'\x1f\x8b' else b):
    if field == 6:
        texts.append(value)
    elif field == 3 and not mapping:
        mapping = dict(fields(value))
print(texts[mapping[5]].decode())
X
)" /bin/f77777

# 200,000 sample types with one name of 1 MB
python3 - "$tmp/types" <<'X'
import sys


def varint(v):
    out = b''
    while v > 127:
        out, v = out + bytes([v & 127 | 128]), v >> 7
    return out + bytes([v])


def message(field, body):
    return varint(field << 3 | 2) + varint(len(body)) + body


with open(sys.argv[1], 'wb') as f:
    f.write(message(1, b'\x08\x01\x10\x01') * 200000)
    f.write(message(6, b'') + message(6, b'x' * 1000000))
X
timeout 300 "$BUILD/tests/peak" "$tmp/kib" \
	cprof-convert -t stream -f pprof "$tmp/types" >"$tmp/got" 2>"$tmp/err"
like "sample types that share a long name are named in part" \
	"$(cut -c 1-2000 "$tmp/err")" 'x and 199[0-9]* more'
like "  with little memory" "$(cut -d' ' -f1 "$tmp/kib")" '^[0-9]{1,6}$'
done_testing
