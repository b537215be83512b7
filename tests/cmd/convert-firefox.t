#!/bin/sh
# cprof-convert -t firefox: threads, stacks, times and markers of waits; the Firefox Profiler's importer reads
# them.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/firefox-lib.sh"

printf 'a;f 1\n' | cprof-convert -t speedscope >/dev/null 2>"$tmp/err"
[ $? != 2 ] || skip_all "cprof was built without jansson"

python3 "$here/convert-timed.py" 1 "$tmp/account" | cprof-dump -r >"$tmp/a.bin" || exit 1
python3 "$here/convert-timed.py" 1 "$tmp/throttled" | sed 's/off-cpu:run-queue/off-cpu:throttled/' |
	cprof-dump -r >"$tmp/t.bin" || exit 1
python3 "$here/convert-made.py" 2 600 hostile | cprof-dump -r >"$tmp/h.bin" || exit 1

# read.py FILE threads|stacks|markers: checks the tables, and prints what the file says
cat >"$tmp/read.py" <<'X'
import collections, decimal, json, sys
d = json.load(open(sys.argv[1], encoding="utf-8"), parse_float=decimal.Decimal)
shared, out = d["shared"], collections.Counter()
texts, stacks, frames = shared["stringArray"], shared["stackTable"], shared["frameTable"]
tables = [t for t in shared.values() if isinstance(t, dict)]
tables += [t[name] for t in d["threads"] for name in ("samples", "markers")]
for table in tables:
    assert all(len(c) == table["length"] for c in table.values() if isinstance(c, list)), table
def stack(i):
    names = []
    while i is not None:
        assert stacks["prefix"][i] is None or stacks["prefix"][i] < i
        names.insert(0, texts[shared["funcTable"]["name"][frames["func"][stacks["frame"][i]]]])
        i = stacks["prefix"][i]
    return names
states = {"[%s]" % s: s for s in ("sleeping", "uninterruptible", "waiting for a CPU", "throttled")}
def ns(ms):
    assert ms * 1000000 == int(ms * 1000000)
    return int(ms * 1000000)
for t in d["threads"]:
    pid, host = (t["pid"].split(" on ") + [""])[:2]
    who = "%s %s %s" % (host, pid, t["tid"])
    s, m, waits = t["samples"], t["markers"], []
    assert s["time"] == sorted(s["time"])
    for at, time, weight in zip(s["stack"], s["time"], s["weight"]):
        names = stack(at)
        value = ns(weight) if s["weightType"] == "tracing-ms" else weight
        state = states.get(names[-1], "running")
        category = d["meta"]["categories"][frames["category"][stacks["frame"][at]]]["name"]
        assert (state == "running") == (category in ("Other", "User", "Kernel", "Interpreted and JIT"))
        if state != "running":
            waits.append((ns(time), ns(time) + value, state, at))
        if sys.argv[2] == "threads":
            out[who, state] += value
            out[who, state, "n"] += 1
        elif sys.argv[2] == "stacks":
            out[";".join([t["name"]] + [n.replace(";", ":") for n in names])] += value
    marked = [(ns(a), ns(b), texts[n], x["cause"]["stack"])
              for a, b, n, x in zip(m["startTime"], m["endTime"], m["name"], m["data"])]
    assert s["weightType"] != "tracing-ms" or marked == waits, who
for key in sorted(out, key=str):
    if sys.argv[2] == "stacks":
        sys.stdout.buffer.write(("%s %d\n" % (key, out[key])).encode())
    elif len(key) == 2:
        print(key[0], out[key], out[key + ("n",)], key[1])
X
read_file() { python3 "$tmp/read.py" "$@"; }

cprof-convert --wall -t firefox "$tmp/a.bin" >"$tmp/a.json"
read_file "$tmp/a.json" threads >"$tmp/got"
sort "$tmp/account" >"$tmp/want"
sort "$tmp/got" >"$tmp/sorted"
same "--wall: each thread's time in each state, to the nanosecond" "$tmp/want" "$tmp/sorted"
cprof-convert -t firefox "$tmp/a.bin" >"$tmp/cpu.json"
read_file "$tmp/cpu.json" threads | sort >"$tmp/got"
grep running "$tmp/account" | sort >"$tmp/want"
same "without --wall: time on CPUs" "$tmp/want" "$tmp/got"
cprof-convert --weight samples -t firefox "$tmp/a.bin" >"$tmp/n.json"
read_file "$tmp/n.json" threads | awk '{ s += $4 } END { print s }' >"$tmp/got"
is "--weight samples: each counts 1" "$(cat "$tmp/got")" \
	"$(awk '/running/ { s += $5 } END { print s }' "$tmp/account")"
# Functions without a name are left out: fold does not keep files of one name apart as tables do.
stacks() { # FILE OPTION...
	file=$1; shift
	cprof-convert -i "$@" -t firefox "$file" >"$tmp/s.json" 2>"$tmp/err"
	read_file "$tmp/s.json" stacks | grep -v 'app+0x' | LC_ALL=C sort >"$tmp/got"
	cprof-fold -i --weight ns "$@" "$file" 2>/dev/null | grep -v 'app+0x' | LC_ALL=C sort >"$tmp/want"
}
stacks "$tmp/a.bin" --wall --match work
same "stacks are cprof-fold's" "$tmp/want" "$tmp/got"
stacks "$tmp/t.bin" --wall --match work
same "  also of throttled threads" "$tmp/want" "$tmp/got"
stacks "$tmp/h.bin" --match 'std::vector'
same "  also with hostile names" "$tmp/want" "$tmp/got"
grep -o '"pid":"[^"]*"' "$tmp/a.json" | sort -u >"$tmp/pids"
is "a thread of another host is another process" "$(tr '\n' ' ' <"$tmp/pids")" \
	'"pid":"100 on h1" "pid":"100 on h2" "pid":"200 on h1" "pid":"200 on h2" '
is "equal input gives equal bytes" \
	"$(cprof-convert --wall -t firefox "$tmp/a.bin" | cksum)" "$(cksum <"$tmp/a.json")"

printf 'a;f 1\n' >"$tmp/folded"
status "folded text has no times" 2 cprof-convert -t firefox "$tmp/folded"
like "  and the message says what is needed" "$(cat "$tmp/err")" "requires a capture"
status "no byte" 3 cprof-convert -t firefox /dev/null
ok "  is a file without a thread" python3 "$tmp/read.py" "$tmp/out" threads
head -c $(($(wc -c <"$tmp/h.bin") * 2 / 3)) "$tmp/h.bin" >"$tmp/cut.bin"
status "a capture that is cut short" 3 cprof-convert -t firefox "$tmp/cut.bin"
ok "  is a whole file" python3 "$tmp/read.py" "$tmp/out" threads
ok "a full disk is told" sh -c "cprof-convert -t firefox $tmp/a.bin >/dev/full 2>$tmp/err; test \$? = 1"

# The importer: "state ns" of each thread, from the functions that it lists
firefox() (
	firefox_begin "$1" "$tmp/info" profile info --all
	for t in $(grep -o '"threadHandle": "[^"]*"' "$tmp/info" | cut -d'"' -f4); do
		"$cli" thread functions --thread "$t" --include-idle --limit 0 --session s --json \
			>"$tmp/functions"
		python3 - "$tmp/functions" <<'END'
import json, sys
d = json.load(open(sys.argv[1], encoding="utf-8"))
sums = {}
for f in d["functions"]:
    state = f["name"].strip("[]")
    state = state if state in ("sleeping", "uninterruptible", "waiting for a CPU") else "running"
    sums[state] = sums.get(state, 0) + f["selfSamples"]
for state, ms in sums.items():
    print(d["friendlyThreadName"].split(" ")[0], round(ms * 1000000), state)
END
		"$cli" thread markers --thread "$t" --session s >>"$tmp/markers" 2>&1
	done | sort >"$2"
	firefox_end
)
if ! command -v npm >/dev/null; then
	skip "the Firefox Profiler imports it" "there is no npm"
elif ! modules=$(sh "$tests/lib/npm.sh" @firefox-devtools/profiler-cli); then
	skip "the Firefox Profiler imports it" "$modules"
else
	: >"$tmp/markers"
	firefox "$tmp/a.json" "$tmp/got"
	# Thread 101 is app1, 102 app2, 200 app3 and 201 app4.
	awk '{ s = $0; sub(/^([^ ]* ){5}/, "", s); print "app" ($3 < 200 ? $3 - 100 : $3 - 197), $4, s }' \
		"$tmp/account" | sort >"$tmp/want"
	same "the Firefox Profiler imports it: each thread's time in each state" "$tmp/want" "$tmp/got"
	is "  and its waits as markers" \
		"$(awk '/^Markers in thread/ { s += $(NF - 1) } END { print s }' "$tmp/markers")" \
		"$(awk '!/running/ { s += $5 } END { print s }' "$tmp/account")"
fi
done_testing
