#!/bin/sh
# Pushing to Pyroscope, against a server that is equally strict: names with labels, times, rates,
# and every sample.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/recipe-lib.sh"
push=$top/contrib/pyroscope/push
command -v curl >/dev/null || skip_all "there is no curl"

serve
got() { tail -n 1 "$tmp/srv/ingest" 2>/dev/null | python3 -c 'import json, sys; v = json.load(sys.stdin)
for k in sys.argv[1:]: v = v[k]
print(v if not isinstance(v, dict) else " ".join("%s=%s" % p for p in sorted(v.items())))' "$@"; }

# The test server refuses what Pyroscope refuses.
send() { curl -s -o /dev/null -w '%{http_code}' --data-binary "$1" "$url/ingest?name=a.cpu%7B%7D&from=1&until=2&sampleRate=99&units=samples&aggregationType=sum&format=folded"; }
is "the server takes folded text" "$(send 'a;b 5')" 200
is "  but no fraction" "$(send 'a;b 5.5')" 422
is "  and no comment" "$(send '# x')" 422

# Hostile names, labels that must be changed, one rate
python3 "$tests/cmd/convert-made.py" 2 600 hostile | sed 's/millihertz=999000/millihertz=99000\nevent id=2 name="off-cpu:sleep" unit="ns" period=0 millihertz=0/; s/^meta key="start-realtime-ns".*/&\nmeta key="start-monotonic-ns" value="0"\nmeta key="label.service" value="shop"\nmeta key="label.k8s.pod" value="a{b},c=d"/' |
	cprof-dump -r >"$tmp/h.bin" || exit 1
cprof-sym "$tmp/h.bin" 2>/dev/null | cprof-fold >"$tmp/h.folded" 2>/dev/null
status "a capture with hostile names" 0 "$push" -l env=prod "$url" "$tmp/h.bin"
diag "$(cat "$tmp/err")"
same "  every byte of it" "$tmp/h.folded" "$tmp/srv/body"
is "  every sample" "$(got total)" "$(awk '{ n += $NF } END { print n }' "$tmp/h.folded")"
is "  by its service" "$(got app)" shop.cpu
like "  with its labels" "$(got labels)" '^env=prod host=[a-z0-9]+ k8s_pod=a_b__c_d service=shop$'
is "  and its rate" "$(got sampleRate)" 99
is "  from its beginning" "$(got from)" 1700000000
is "  to its end" "$(($(got until) > 1700000000))" 1

# The time of day was set between two segments, or the machine was suspended.
for at in 10 90; do
	sed '/^meta key="start-/d; s/^meta key="host".*/&\nmeta key="start-realtime-ns" value="17000000'$at'500000000"\nmeta key="start-monotonic-ns" value="1000000"/' "$tests/data/small.txt"
done | cprof-dump -r >"$tmp/step.bin" || exit 1
status "a clock that was set" 0 "$push" "$url" "$tmp/step.bin"
diag "$(cat "$tmp/err")"
is "  ends the range" "$(got from) $(got until)" "1700000010 1700000091"

# A rate that changed: nanoseconds
sed 's/millihertz=99000/millihertz=49500/; s/^meta key="host".*/&\nmeta key="start-realtime-ns" value="1795294567904089475"/' "$tests/data/small.txt" |
	cprof-dump -r >"$tmp/s.bin" || exit 1
status "a rate in fractions" 0 "$push" -n 'a b' "$url" "$tmp/s.bin"
is "  is sent as time" "$(got sampleRate) $(got total)" "1000000000 $(cprof-fold --weight ns "$tmp/s.bin" 2>/dev/null | awk '{ n += $NF } END { printf "%d", n }')"
is "  with the name that was asked for" "$(got app)" a_b.cpu

if cprof-convert -t pprof "$tmp/h.folded" >/dev/null 2>&1; then
	status "pprof" 0 "$push" -f pprof "$url" "$tmp/h.bin"
	cprof-sym "$tmp/h.bin" 2>/dev/null | cprof-convert -t pprof >"$tmp/h.pb.gz" 2>/dev/null
	same "  every byte of it" "$tmp/h.pb.gz" "$tmp/srv/body"
	is "  with its labels" "$(got format) $(got app)" "pprof shop"
else
	skip "pprof" "cprof was built without it"
fi
status "a server that is not well for a while" 0 "$push" "$url/flaky" "$tmp/s.bin"
status "one that refuses" 1 "$push" "$url/refused" "$tmp/s.bin"
like "  is told of" "$(cat "$tmp/err")" "^push: cannot send .*s.bin to $url/refused: HTTP 403\$"
status "one for which it is too old" 1 "$push" "$url/late" "$tmp/s.bin"
like "  is told with its reason" "$(cat "$tmp/err")" "^push: cannot send .*s.bin to $url/late: profile with labels 'cprof[^ ]*' is outside of ingestion window\$"
echo 'retry = 0' >"$tmp/once"
status "no server" 1 env CPROF_CURLRC="$tmp/once" "$push" http://127.0.0.1:1 "$tmp/s.bin"
like "  is told of" "$(cat "$tmp/err")" "^push: cannot send .*s.bin to http://127.0.0.1:1: .*onnect"

# More than Pyroscope takes at once: split by container, by command, in parts; every stack once, as it is
# in the whole.
awk 'BEGIN {
	print "segment major=1 minor=1 least=1\nmeta key=\"start-realtime-ns\" value=\"1700000000000000000\""
	print "event id=1 name=\"cpu-clock\" unit=\"ns\" period=10101010 millihertz=99000\nflush"
	for (i = 0; i < 150; i++) {
		printf "ksym time=1 address=0x%x size=0x10 name=\"f%d\" module=\"\"\n", 4096 + 16 * i, i
		printf "frame id=%d process=0 kind=exact address=0x%x\nframe id=%d process=0 kind=return address=0x%x\n", 2 * i + 1, 4096 + 16 * i, 2 * i + 2, 4097 + 16 * i
	}
	for (i = 0; i < 150; i++)
		printf "node id=%d parent=0 frame=%d\n", 16 + i, 2 * i + 2
	for (i = 0; i < 150 * 150; i++)
		printf "node id=%d parent=%d frame=%d\n", 166 + i, 16 + int(i / 150), 2 * (i % 150) + 1
	split("/a /b /b /c", container); split("x y z w{=}", comm); split("9000 9000 8000 17000", n)
	for (p = 1; p <= 4; p++) {
		printf "cgroup id=%d path=\"%s\"\nprocess id=%d time=1 pid=%d nspid=0 parent=0 start=5 gen=0 via=snapshot\n", p, container[p], p, 40 + p
		printf "member time=1 process=%d cgroup=%d\nthread id=%d time=1 process=%d tid=%d\ncomm time=1 thread=%d comm=\"%s\"\n", p, p, p, p, 40 + p, p, comm[p]
		for (i = 0; i < n[p]; i++)
			printf "sample time=%d event=1 cpu=0 thread=%d user=0 kernel=%d weight=10101010\n", 1000 + i, p, 166 + i
	}
	print "flush\nend time=99000 reason=closed samples=43000\nflush"
}' | cprof-dump -r >"$tmp/many.bin" || exit 1
cprof-sym "$tmp/many.bin" 2>/dev/null | cprof-fold >"$tmp/many" 2>/dev/null
is "a capture with many stacks" "$(wc -l <"$tmp/many")" 43000
n=$(wc -l <"$tmp/srv/ingest")
rm -f "$tmp/srv/bodies"
status "  is pushed" 0 "$push" -n many "$url" "$tmp/many.bin"
diag "$(cat "$tmp/err")"
LC_ALL=C sort "$tmp/srv/bodies" >"$tmp/got"
LC_ALL=C sort "$tmp/many" >"$tmp/want"
same "  each stack once" "$tmp/got" "$tmp/want"
is "  in parts that are taken" "$(tail -n +$((n + 1)) "$tmp/srv/ingest" | python3 -c 'import json, sys
for v in map(json.loads, sys.stdin): print(v["stacks"], v["app"], *("%s=%s" % p for p in sorted(v["labels"].items()) if p[0] != "host"))' | sort)" \
	"1000 many.cpu comm=w___ container=/c part=2
16000 many.cpu comm=w___ container=/c part=1
8000 many.cpu comm=z container=/b
9000 many.cpu comm=y container=/b
9000 many.cpu container=/a"
status "  or whole, where the server takes more" 1 "$push" -m 50000 "$url" "$tmp/many.bin"
like "  this one does not, and says so" "$(cat "$tmp/err")" "cannot send .* to .*: the profile with labels .* exceeds the samples limit .max_profile_stacktrace_samples, actual: 43000, limit: 16000"

# As pprof: parts by time, which together have each stack as often as the whole.
if cprof-convert -t pprof "$tmp/h.folded" >/dev/null 2>&1; then
	n=$(wc -l <"$tmp/srv/ingest")
	status "pprof is pushed" 0 "$push" -f pprof -n many "$url" "$tmp/many.bin"
	diag "$(cat "$tmp/err")"
	tail -n +$((n + 1)) "$tmp/srv/ingest" >"$tmp/parts"
	like "  in several parts" "$(wc -l <"$tmp/parts")" '^[3-9]$'
	is "  of 16,000 stacks and 4 MiB at most" "$(python3 -c 'import json, sys
print(sum(v["stacks"] > 16000 or v["bytes"] > 4 << 20 for v in map(json.loads, sys.stdin)))' <"$tmp/parts")" 0
	is "  with each sample once" "$(python3 -c 'import json, sys
print(sum(v["total"] for v in map(json.loads, sys.stdin)))' <"$tmp/parts")" 43000
	status "  or whole, where the server takes more" 1 "$push" -f pprof -m 50000 "$url" "$tmp/many.bin"
	status "a rate in fractions, a sample a part" 0 "$push" -f pprof -m 1 "$url" "$tmp/s.bin"
fi
status "a part that is refused" 1 "$push" "$url/late" "$tmp/many.bin"
like "  is told of" "$(cat "$tmp/err")" "outside of ingestion window .0 of 5 parts were.\$"
status "-m of no number" 2 "$push" -m x "$url" "$tmp/many.bin"
sed '/^sample /d' "$tests/data/small.txt" | cprof-dump -r >"$tmp/none.bin"
n=$(wc -l <"$tmp/srv/ingest")
status "a capture without samples" 0 "$push" "$url" "$tmp/none.bin"
is "  is not sent" "$(wc -l <"$tmp/srv/ingest")" "$n"
status "a label without a value" 2 "$push" -l env "$url" "$tmp/s.bin"
status "no capture" 1 "$push" "$url" /dev/null
done_testing
