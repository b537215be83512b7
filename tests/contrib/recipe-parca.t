#!/bin/sh
# Pushing to Parca, against a server that is equally strict: profile types, labels, times, rates, and every
# sample of every event.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/recipe-lib.sh"
push=$top/contrib/parca/push
command -v curl >/dev/null || skip_all "there is no curl"
printf 'a;f 1\n' >"$tmp/one.folded"
cprof-convert -t pprof "$tmp/one.folded" >/dev/null 2>&1 || skip_all "cprof was built without pprof"

serve
# got FROM-THE-END KEY...: prints a value from a profile that has arrived
got() { tail -n "$1" "$tmp/srv/writeraw" 2>/dev/null | head -n 1 | python3 -c 'import json, sys; v = json.load(sys.stdin)
for k in sys.argv[2:]: v = v[k]
print(v if not isinstance(v, (dict, list)) else " ".join("%s=%s" % p for p in sorted(v.items())) if isinstance(v, dict) else " ".join(map(str, v)))' "$@"; }
arrived() { cat "$tmp/srv/writeraw" 2>/dev/null | wc -l; }

# The test server refuses what Parca refuses.
cat >"$tmp/send.py" <<'P'
import base64, gzip, json, sys, urllib.request
url = sys.argv[1]
def num(field, value):
    out = bytes([field << 3])
    while value > 127:
        out += bytes([value & 127 | 128]); value >>= 7
    return out + bytes([value])
def sub(field, data): return bytes([field << 3 | 2]) + num(0, len(data))[1:] + data
def profile(strings=(b"", b"samples", b"count", b"cpu", b"nanoseconds", b"f"), function=1, location=1, mapping=1, uses=1, key=1, values=1, unit=2):
    return (sub(1, num(1, 1) + num(2, unit)) + sub(2, sub(1, bytes([uses])) + sub(2, bytes([7] * values)) + sub(3, num(1, key) + num(2, 5))) +
            sub(3, num(1, mapping)) + sub(4, num(1, location) + sub(4, num(1, 1))) + sub(5, num(1, function) + num(2, 5)) +
            b"".join(sub(6, s) for s in strings) + num(9, 10**18) + num(10, 10**9) + sub(11, num(1, 3) + num(2, 4)) + num(12, 10))
def status(raw=profile(), labels=(("__name__", "a"), ("k", "v")), text=None):
    body = text or json.dumps({"series": [{"labels": {"labels": [{"name": n, "value": v} for n, v in labels]},
                                           "samples": [{"rawProfile": base64.b64encode(raw).decode()}]}]}).encode()
    try:
        return urllib.request.urlopen(urllib.request.Request(url + "/api/profiles/writeraw", body)).status
    except urllib.error.HTTPError as e:
        return "%d %s" % (e.code, json.loads(e.read())["message"])
name = ("__name__", "a")
for what, answer in (("a profile", status()), ("compressed", status(gzip.compress(profile()))),
        ("in two pieces", status(gzip.compress(profile()) + gzip.compress(num(12, 5)))),
        ("no name", status(labels=[("k", "v")])), ("label twice", status(labels=[name, ("k", "1"), ("k", "2")])),
        ("label's name", status(labels=[name, ("a.b", "1")])), ("hyphen in the name", status(labels=[("__name__", "a-b")])),
        ("colon in the name", status(labels=[("__name__", "a:b")])), ("hyphen in a type", status(profile((b"", b"page-faults", b"count", b"c", b"n", b"f")))),
        ("function ids", status(profile(function=2))), ("location ids", status(profile(location=2))), ("mapping ids", status(profile(mapping=0))),
        ("location of a stack", status(profile(uses=0))), ("location beyond all", status(profile(uses=2))), ("label without key", status(profile(key=0))),
        ("values", status(profile(values=2))), ("text beyond all", status(profile(unit=9))), ("first text", status(profile((b"x", b"a", b"b", b"c", b"d", b"f")))),
        ("no pprof", status(b"\x0a\x7fx")), ("cut gzip", status(gzip.compress(profile())[:40])), ("no JSON", status(text=b'{"series":['))):
    print(what + ":", answer)
P
is "the server refuses what Parca refuses" "$(python3 "$tmp/send.py" "$url" 2>&1 | sed 's/\(proto\|failed to parse profile\|decompressing profile\): .*/\1/')" \
	'a profile: 200
compressed: 200
in two pieces: 200
no name: 400 missing __name__ label
label twice: 400 duplicate label name: k
label'\''s name: 400 invalid label name: a.b
hyphen in the name: 500 invalid profile type at row 0 (a-b:samples:count:cpu:nanoseconds:delta)
colon in the name: 500 the double: no query finds the type
hyphen in a type: 500 invalid profile type at row 0 (a:page-faults:count:c:n:delta)
function ids: 400 invalid profile: function id is not sequential
location ids: 400 invalid profile: location id is not sequential
mapping ids: 400 invalid profile: mapping id is not sequential
location of a stack: 400 invalid profile: location ids of stacktraces must be non-zero, and in range
location beyond all: 400 invalid profile: location ids of stacktraces must be non-zero, and in range
label without key: 400 invalid profile: sample label has no key
values: 400 invalid profile: mismatch: sample has 2 values vs. 1 types
text beyond all: 400 invalid profile: unit has invalid index 9
first text: 400 invalid profile: first item in string table is expected to be empty string
no pprof: 400 failed to parse profile
cut gzip: 500 decompressing profile
no JSON: 400 proto'
is "  and takes the later period" "$(got 1 period)" 5

# Hostile names, and labels that must be changed
total() { awk '{ n += $NF } END { printf "%d", n }'; }
python3 "$tests/cmd/convert-made.py" 2 600 hostile | sed 's/^meta key="start-realtime-ns".*/&\nmeta key="start-monotonic-ns" value="0"\nmeta key="label.service" value="my shop"\nmeta key="label.k8s.pod" value="a{b},c=d\\"\\\\\\x01\\xc3\\xa9\\xf0\\x9f\\x90\\xa7\\xff\\xed\\xa0\\x80."\nmeta key="label.__name__" value="n"\nmeta key="label.env" value="test"/' |
	cprof-dump -r >"$tmp/h.bin" || exit 1
cprof-sym "$tmp/h.bin" >"$tmp/h.sym" 2>/dev/null
status "a capture with hostile names" 0 "$push" -l env=prod -l 'a b=ü"\' "$url" "$tmp/h.bin"
diag "$(cat "$tmp/err")"
is "  as CPU time and as samples, by its service" "$(got 1 types)" "my_shop:samples:count:cpu:nanoseconds:delta my_shop:cpu:nanoseconds:cpu:nanoseconds:delta"
is "  every sample" "$(got 1 sums)" "$(cprof-fold "$tmp/h.sym" 2>/dev/null | total) $(cprof-fold --weight ns "$tmp/h.sym" 2>/dev/null | total)"
cprof-convert -t pprof "$tmp/h.sym" >"$tmp/h.pb.gz" 2>/dev/null
head -c "$(wc -c <"$tmp/h.pb.gz")" "$tmp/srv/pprof" >"$tmp/begins"
same "  every byte of it" "$tmp/h.pb.gz" "$tmp/begins"
is "  with its labels" "$(got 1 labels)" "$(python3 -c 'print("_name_=n a_b=\u00fc\"\\ env=prod host=h2 k8s_pod=a{b},c=d\"\\\x01\u00e9\U0001f427\ufffd\ufffd\ufffd\ufffd. service=my shop")')"
is "  from its beginning" "$(got 1 time)" 1700000000000000000
is "  for as long as it is" "$(got 1 duration)" "$(cprof-dump "$tmp/h.bin" | sed -n 's/^end time=\([0-9]*\).*/\1/p' | awk '{ n += $1 } END { printf "%d", n }')"
is "  with the period of its clock" "$(got 1 period)" 1000000
mkdir "$tmp/elsewhere" && ln -s "$push" "$tmp/elsewhere/push"
sed 's/^meta key="host".*/&\nmeta key="start-realtime-ns" value="1795294567904089475"/' "$tests/data/small.txt" >"$tmp/s.txt"
cprof-dump -r "$tmp/s.txt" >"$tmp/s.bin"
status "by a link" 0 "$tmp/elsewhere/push" -n 7-eleven "$url/" "$tmp/s.bin"
like "  with the name that was asked for" "$(got 1 types)" '^_7_eleven:samples:count:cpu:nanoseconds:delta '
cprof-sym "$tmp/s.bin" 2>/dev/null | cprof-fold | sed 's/^[^;]*;//' | sort >"$tmp/want"
tail -n 1 "$tmp/srv/writeraw" | python3 -c 'import json, sys
for s in json.load(sys.stdin)["stacks"].items(): print("%s %d" % s)' | sort >"$tmp/arrived"
same "  every stack, by its functions" "$tmp/want" "$tmp/arrived"

{ sed '/^sample /,$d' "$tmp/s.txt" | sed 's/^meta key="start-r.*/&\nmeta key="start-monotonic-ns" value="1000000"/'; grep '^sample' "$tmp/s.txt" | head -n 1; echo 'end time=15001000000 reason=closed samples=1'; echo flush; } |
	cprof-dump -r >"$tmp/idle.bin"
status "one sample in a quarter of a minute" 0 "$push" "$url" "$tmp/idle.bin"
is "  is as long, and of the same type" "$(got 1 duration) $(got 1 types)" "15000000000 cprof:samples:count:cpu:nanoseconds:delta cprof:cpu:nanoseconds:cpu:nanoseconds:delta"

# A rate that changed, waits, page faults, and names with a hyphen or a colon, which Parca gives a meaning
sed 's/^event id=1.*/&\nevent id=2 name="cpu-clock" unit="ns" period=50000000 millihertz=20000\nevent id=3 name="off-cpu:run-queue" unit="ns" period=0 millihertz=0\nevent id=4 name="page-faults" unit="events" period=1 millihertz=0\nevent id=5 name="sched:sched_process_exec" unit="events" period=1 millihertz=0/
	s/^sample time=2600000 .*/&\nsample time=2600000 event=5 cpu=1 thread=1 user=17 kernel=0 weight=1\nsample time=2600000 event=2 cpu=1 thread=1 user=17 kernel=0 weight=50000000\nsample time=2600000 event=3 cpu=1 thread=1 user=17 kernel=0 weight=3000\nsample time=2600000 event=3 cpu=1 thread=1 user=17 kernel=0 weight=5000\nsample time=2600000 event=4 cpu=1 thread=1 user=17 kernel=0 weight=1/' "$tmp/s.txt" |
	sed 's/samples=3/samples=8/' | cprof-dump -r >"$tmp/e.bin" || exit 1
n=$(arrived)
status "a capture of many events" 0 "$push" "$url" "$tmp/e.bin"
diag "$(cat "$tmp/err")"
is "  is a profile for each that has samples" "$(($(arrived) - n))" 4
is "  time" "$(got 4 types)" "cprof:samples:count:cpu:nanoseconds:delta cprof:cpu:nanoseconds:cpu:nanoseconds:delta"
is "    as it was, without waiting" "$(got 4 sums)" "5 $((3 * 10101010 + 50000000 + 5))"
is "    a sample being the mean of both rates" "$(got 4 period)" $(((3 * 10101010 + 50000000 + 5) / 5))
is "  a tracepoint" "$(got 3 types)" "cprof_sched_sched_process_exec:samples:count:sched_sched_process_exec:count:delta cprof_sched_sched_process_exec:sched_sched_process_exec:count:sched_sched_process_exec:count:delta"
is "  waiting" "$(got 2 types)" "cprof_off_cpu_run_queue:samples:count:cpu:nanoseconds:delta $(
	for type in cpu off_cpu_sleep off_cpu_uninterruptible off_cpu_run_queue wall; do
		echo "cprof_off_cpu_run_queue:$type:nanoseconds:cpu:nanoseconds:delta"
	done | xargs)"
is "    as long as it was" "$(got 2 sums), $(got 2 period)" "2 0 0 0 8000 8000, 4000"
is "  faults" "$(got 1 types)" "cprof_page_faults:samples:count:page_faults:count:delta cprof_page_faults:page_faults:count:page_faults:count:delta"
is "    as many as there were" "$(got 1 sums)" "1 1"
is "  all with the same labels" "$(got 1 labels) $(got 2 labels) $(got 4 labels)" "host=h2 host=h2 host=h2"

# An event's name must not be run as a program.
sed 's/^event id=1.*/&\nevent id=2 name="x|`touch${IFS}'"$(echo "$tmp" | sed 's,/,\\/,g')"'\/ran`|e;#" unit="events" period=1 millihertz=0/
	s/^sample time=2600000 .*/&\nsample time=2600000 event=2 cpu=1 thread=1 user=17 kernel=0 weight=1/' "$tmp/s.txt" |
	sed 's/samples=3/samples=4/' | cprof-dump -r >"$tmp/x.bin" || exit 1
status "an event with a name for a shell" 0 "$push" "$url" "$tmp/x.bin"
is "  is sent under another" "$(got 1 types | sed 's/:.*//')" "cprof_x__touch__IFS_$(echo "$tmp/ran" | tr -c 'A-Za-z0-9\n' _)__e__"
ok "  and is not run" test ! -e "$tmp/ran"

# One with blanks
sed 's/^event id=1.*/&\nevent id=2 name=" two  words " unit="events" period=1 millihertz=0/
	s/^sample time=2600000 .*/&\nsample time=2600000 event=2 cpu=1 thread=1 user=17 kernel=0 weight=1/' "$tmp/s.txt" |
	sed 's/samples=3/samples=4/' | cprof-dump -r >"$tmp/b.bin" || exit 1
status "an event with blanks in its name" 0 "$push" "$url" "$tmp/b.bin"
diag "$(cat "$tmp/err")"
is "  is sent under one word" "$(got 1 types | sed 's/ .*//')" \
	"cprof__two__words_:samples:count:_two__words_:count:delta"

# Damaged captures, errors, and captures without samples
head -c $(($(wc -c <"$tmp/h.bin") * 2 / 3)) "$tmp/h.bin" >"$tmp/cut.bin"
status "a capture that is cut short" 0 "$push" "$url" "$tmp/cut.bin"
is "  is sent as far as it is whole" "$(got 1 sums | sed 's/ .*//')" "$(cprof-fold "$tmp/cut.bin" 2>/dev/null | total)"
ok "  which is something" test "$(got 1 sums | sed 's/ .*//')" -gt 0
n=$(arrived)
sed '/^sample /d' "$tmp/s.txt" | cprof-dump -r >"$tmp/none.bin"
status "a capture without samples" 0 "$push" "$url" "$tmp/none.bin"
is "  says so" "$(cat "$tmp/err")" "push: $tmp/none.bin has no samples; nothing sent"
status "no capture" 1 "$push" "$url" /dev/null
cprof-dump -r "$tests/data/small.txt" >"$tmp/when.bin"
status "a capture of no time" 1 "$push" "$url" "$tmp/when.bin"
is "  says so" "$(cat "$tmp/err")" "push: $tmp/when.bin does not say when it was recorded"
status "a server that refuses" 1 "$push" "$url/refused" "$tmp/s.bin"
is "  is told of, with what it said" "$(cat "$tmp/err")" "push: cannot send $tmp/s.bin to $url/refused: who are you?"
status "one that finds it wrong" 1 "$push" "$url/strange" "$tmp/s.bin"
is "  too" "$(cat "$tmp/err")" "push: cannot send $tmp/s.bin to $url/strange: no \"room\" for it"
status "one before it that takes no more" 1 "$push" "$url/small" "$tmp/s.bin"
is "  has no message" "$(cat "$tmp/err")" "push: cannot send $tmp/s.bin to $url/small: HTTP 413"
sed 's|/api/profiles/|/|' "$push" >"$tmp/elsewhere/wrong" && sed "s|^\. .*push.sh\"|. $top/contrib/push.sh|" "$tmp/elsewhere/wrong" >"$tmp/wrong"
status "a page where there should be an answer" 1 sh "$tmp/wrong" "$url" "$tmp/s.bin"
is "  is none" "$(cat "$tmp/err")" "push: cannot send $tmp/s.bin to $url: the answer is not Parca's"
mkdir "$tmp/big" && printf '#!/bin/sh\nhead -c 67108864 /dev/zero\n' >"$tmp/big/cprof-convert" && chmod +x "$tmp/big/cprof-convert"
status "more than Parca takes" 1 env PATH="$tmp/big:$PATH" "$push" "$url" "$tmp/s.bin"
is "  is told" "$(cat "$tmp/err")" "push: cannot send $tmp/s.bin: Parca accepts at most 64 MiB at once; record shorter files (--rotate)"
is "of all these nothing arrived" "$(arrived)" "$n"
status "a server that is not well for a while" 0 "$push" "$url/flaky" "$tmp/s.bin"
is "  has it once" "$(arrived)" $((n + 1))
printf 'header = "Authorization: Bearer x"\n' >"$tmp/curlrc"
status "options of curl" 0 env CPROF_CURLRC="$tmp/curlrc" "$push" "$url" "$tmp/s.bin"
is "  reach the server" "$(tail -n 1 "$tmp/srv/bearer")" "Bearer x"
status "a label without a value" 2 "$push" -l env "$url" "$tmp/s.bin"
done_testing
