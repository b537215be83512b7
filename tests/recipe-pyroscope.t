#!/bin/sh
# Pushing to Pyroscope, against a server as strict as it: names with labels, times, rates, and every sample.
. "$(dirname "$0")/lib.sh"
. "$here/recipe-lib.sh"
push=$top/contrib/pyroscope/push
command -v curl >/dev/null || skip_all "there is no curl"

serve
got() { tail -n 1 "$tmp/srv/ingest" 2>/dev/null | python3 -c 'import json, sys; v = json.load(sys.stdin)
for k in sys.argv[1:]: v = v[k]
print(v if not isinstance(v, dict) else " ".join("%s=%s" % p for p in sorted(v.items())))' "$@"; }

# The server itself refuses what Pyroscope refuses.
send() { curl -s -o /dev/null -w '%{http_code}' --data-binary "$1" "$url/ingest?name=a.cpu%7B%7D&from=1&until=2&sampleRate=99&units=samples&aggregationType=sum&format=folded"; }
is "the server takes folded text" "$(send 'a;b 5')" 200
is "  but no fraction" "$(send 'a;b 5.5')" 422
is "  and no comment" "$(send '# x')" 422

# Hostile names, labels that cannot be as they are, one rate.
python3 "$here/convert-made.py" 2 600 hostile | sed 's/millihertz=999000/millihertz=99000\nevent id=2 name="off-cpu:sleep" unit="ns" period=0 millihertz=0/; s/^meta key="start-realtime-ns".*/&\nmeta key="start-monotonic-ns" value="0"\nmeta key="label.service" value="shop"\nmeta key="label.k8s.pod" value="a{b},c=d"/' |
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

# A rate that changed: nanoseconds.
sed 's/millihertz=99000/millihertz=49500/; s/^meta key="host".*/&\nmeta key="start-realtime-ns" value="1795294567904089475"/' "$here/small.txt" |
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
like "  is told of" "$(cat "$tmp/err")" "^push: .*s.bin was not taken by $url/refused\$"
sed '/^sample /d' "$here/small.txt" | cprof-dump -r >"$tmp/none.bin"
n=$(wc -l <"$tmp/srv/ingest")
status "a capture without samples" 0 "$push" "$url" "$tmp/none.bin"
is "  is not sent" "$(wc -l <"$tmp/srv/ingest")" "$n"
status "a label without a value" 2 "$push" -l env "$url" "$tmp/s.bin"
status "no capture" 1 "$push" "$url" /dev/null
done_testing
