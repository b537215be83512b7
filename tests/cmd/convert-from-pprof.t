#!/bin/sh
# cprof-convert -t stream reads profiles of pprof: its own, those of go tool pprof, and one made by hand.
. "$(dirname "$0")/../lib/lib.sh"

made() { seed=$1; shift; python3 "$here/convert-made.py" $seed "$@" | cprof-dump -r; }
stream() { cprof-convert -t stream "$@"; }
python3 "$here/convert-made-pprof.py" "$tmp/heap.pb" || exit 1
python3 "$here/convert-made-pprof.py" "$tmp/bad.pb" bad || exit 1

status "a heap profile with a row below 0" 3 stream "$tmp/heap.pb"
cp "$tmp/out" "$tmp/heap.bin"
is "  the messages count the losses" "$(sed 's/.*heap.pb: //' "$tmp/err")" \
	"sample types left out: alloc_space (--sample-type)
1 rows left out: they have no value, or one below 0
1 labels left out: only pid, tid, comm, container and host are kept"
both="main.work (main.go:12);main.inlined (main.go:7)"
is "  the default type, counted, with inlined functions and lines" "$(cprof-fold -i -l "$tmp/heap.bin")" \
	"serve;main.main;$both 100
server;main.main;$both;$both 2048"
is "  processes" "$(cprof-fold -p --by process "$tmp/heap.bin" | xargs)" "serve-5 100 server-6 2048"
cprof-dump "$tmp/heap.bin" | grep -o 'event id=1 name="[^"]*" unit="[^"]*"' >"$tmp/got"
is "  the name of the event" "$(cat "$tmp/got")" \
	'event id=1 name="inuse_space" unit="events"'
is "  modules" \
	"$(cprof-fold --by module "$tmp/heap.bin" | xargs)" \
	"serve;server;server 100 server;server;server;server 2048"
stream --sample-type alloc_space "$tmp/heap.pb" >"$tmp/space.bin" 2>"$tmp/err"
is "--sample-type alloc_space" "$(cprof-fold --by process "$tmp/space.bin" | xargs)" \
	"serve-5 350 server-0 10 server-6 4096"
status "  one that is not there" 2 stream --sample-type cpu "$tmp/heap.pb"
status "  for another format" 2 cprof-convert -t pprof --sample-type cpu "$tmp/heap.pb"
status "a cut profile" 3 stream "$tmp/bad.pb"
like "  with a stack whose location is missing" "$(cat "$tmp/err")" \
	"1 frames left out: their locations are not"
like "  and an end that cannot be read" "$(cat "$tmp/err")" "1 messages that cannot be read to their end"
is "  keeps what is good" "$(cprof-fold --by process "$tmp/out" | xargs)" \
	"serve-5 100 server-0 7 server-6 2048"
printf '\022\006\012\001\200\022\001\005' >"$tmp/inside.pb"
status "a stack that cannot be read to its end" 3 stream -f pprof "$tmp/inside.pb"
like "  is counted" "$(cat "$tmp/err")" "1 messages that cannot be read to their end"
is "-f pprof is not needed, and allowed" \
	"$(stream -f pprof "$tmp/heap.pb" 2>/dev/null | cksum)" "$(cksum <"$tmp/heap.bin")"
printf 'x 1 1.0: 1 cycles:\n\t1 f (a)\n\n' >"$tmp/script"
status "perf script's text as pprof" 3 stream -f pprof "$tmp/script"
like "  says that it is none" "$(cat "$tmp/err")" "this is not a profile of pprof"
status "pprof as perf script's text" 3 stream -f perfscript "$tmp/heap.pb"
ok "perf script's text is still recognized, also from a pipe" \
	sh -c "cprof-convert -t stream <'$tmp/script' | cprof-fold | grep 'x;f 1'"
ok "a full disk is told" sh -c "cprof-convert -t stream $tmp/heap.pb >/dev/full 2>$tmp/err; test \$? = 1"

# Empty strings take two bytes of a file and 16 of memory: these would take a gigabyte.
python3 -c 'import gzip, sys
sys.stdout.buffer.write(gzip.compress(open(sys.argv[1], "rb").read() + b"2\0" * (1 << 26), 1))' \
	"$tmp/heap.pb" >"$tmp/many.pb.gz" || exit 1
limited() { (limit_memory 600000; stream "$@"); }
status "64 Mi empty strings, with 600 MB of memory" 3 limited "$tmp/many.pb.gz"
like "  are counted beyond the limit" "$(cat "$tmp/err")" \
	"58720273 entries left out: a table may have 8388608"
is "  and the profile is read" "$(cksum <"$tmp/out")" "$(cksum <"$tmp/heap.bin")"

status "the viewers do not read it" 3 cprof-top "$tmp/heap.pb"
like "  and say what does" "$(cat "$tmp/err")" "a profile of pprof: convert it with cprof-convert -t stream"

# Our own profiles, there and back. A stack without frames has its command as frame then.
printf 'a;f 1\n' | cprof-convert -t pprof >/dev/null 2>"$tmp/err"
[ $? != 2 ] || { skip "round trip" "built without protobuf-c, or without the schema"; done_testing; }
made 1 >"$tmp/a.bin" && made 2 600 hostile >"$tmp/h.bin" || exit 1
cprof-dump -r "$tests/fuzz/corpus/profile-inlined" >"$tmp/i.bin" || exit 1
folded() { cprof-fold -i -t "$@" 2>/dev/null |
	sed 's/^\([^;]*\)-\([0-9/]*\);\1 /\1-\2 /; s,\[\(bin\|o1\)/app+,[app+,g' |
	awk '{ n = $NF; sub(/ [0-9]*$/, ""); s[$0] += n } END { for (k in s) print k, s[k] }' |
	LC_ALL=C sort; }
for f in a h i; do
	cprof-convert -i -t pprof "$tmp/$f.bin" >"$tmp/$f.pb" 2>/dev/null
	stream "$tmp/$f.pb" >"$tmp/again.bin" 2>"$tmp/err"
	is "$f.bin as pprof and back: nothing is lost" "$(cat "$tmp/err")" ""
	folded "$tmp/$f.bin" >"$tmp/want"
	folded "$tmp/again.bin" >"$tmp/got"
	same "  stacks, samples, processes, threads" "$tmp/want" "$tmp/got"
	cprof-fold --weight ns "$tmp/$f.bin" 2>/dev/null | awk '{ s += $NF } END { print s }' >"$tmp/want"
	cprof-fold --weight ns "$tmp/again.bin" 2>/dev/null | awk '{ s += $NF } END { print s }' >"$tmp/got"
	same "  nanoseconds" "$tmp/want" "$tmp/got"
done
like "the end of stacks is not known" "$(cprof-top -v "$tmp/again.bin")" "100.00% ended for an unknown reason"
gzip -dc "$tmp/i.pb" >"$tmp/i.raw"
is "without compression it is the same" "$(stream "$tmp/i.raw" | cksum)" "$(stream "$tmp/i.pb" | cksum)"
if command -v go >/dev/null; then
	export HOME="$tmp" PPROF_TMPDIR="$tmp"
	go tool pprof -proto -output "$tmp/go.pb" "$tmp/a.pb" >"$tmp/out" 2>"$tmp/err"
	stream "$tmp/go.pb" >"$tmp/again.bin" 2>"$tmp/err"
	folded "$tmp/a.bin" >"$tmp/want"
	folded "$tmp/again.bin" >"$tmp/got"
	same "as go tool pprof writes it" "$tmp/want" "$tmp/got"
else
	skip "as go tool pprof writes it" "there is no go"
fi

# Each cut and each changed byte of a small profile
n=$(wc -c <"$tmp/heap.pb")
python3 - "$tmp" "$n" "$BIN/cprof-convert" <<'X' >"$tmp/each"
import subprocess, sys
tmp, n, tool = sys.argv[1], int(sys.argv[2]), sys.argv[3]
data = open(tmp + "/heap.pb", "rb").read()
inputs = [data[:i] for i in range(0, n, 7)]
inputs += [data[:i] + bytes([data[i] ^ 0x81]) + data[i + 1:] for i in range(0, n, 5)]
codes = set()
for d in inputs:
    done = subprocess.run([tool, "-f", "pprof", "-t", "stream"], input=d, capture_output=True)
    codes.add(done.returncode)
print(*sorted(codes - {0, 3}))
X
is "cuts and changed bytes end with 0 or 3" "$(cat "$tmp/each")" ""
done_testing
