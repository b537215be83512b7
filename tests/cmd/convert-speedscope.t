#!/bin/sh
# cprof-convert -t speedscope: the file as its schema has it, and as speedscope itself shows it in a browser;
# also pprof's and callgrind's formats and folded text, which speedscope reads too.
. "$(dirname "$0")/../lib/lib.sh"

printf 'a;f 1\n' | cprof-convert -t speedscope >/dev/null 2>"$tmp/err"
[ $? != 2 ] || skip_all "cprof was built without jansson"

made() { seed=$1; shift; python3 "$here/convert-made.py" $seed "$@" | cprof-dump -r; }
made 1 >"$tmp/a.bin" && made 2 600 hostile >"$tmp/h.bin" && cprof-dump -r "$tests/fuzz/corpus/profile-inlined" >"$tmp/i.bin" || exit 1
cprof-fold "$tmp/h.bin" >"$tmp/h.folded" 2>/dev/null
cprof-dump -r "$tests/data/small.txt" >"$tmp/s.bin"
speedscope() { cprof-convert -t speedscope "$@"; }

cat >"$tmp/want" <<'X'
{"$schema":"https://www.speedscope.app/file-format-schema.json",
"exporter":"cprof-convert",
"activeProfileIndex":0,
"shared":{"frames":[
{"name":"main","file":"/src/main.c"},
{"name":"work","file":"/src/work.c"},
{"name":"step","file":"/src/inc/step.h"},
{"name":"mul","file":"/src/inc/mul.h"}]},
"profiles":[
{"type":"sampled","name":"app 42/42","unit":"none","startValue":0,"endValue":11,
"samples":[
[0,1,2,3],
[0,1,2],
[0,1],
[0,1,2,3],
[0,1,2,2]],
"weights":[3,2,1,4,1]}]}
X
speedscope -i "$tmp/i.bin" | sed '/^"exporter"/s/ [0-9][^"]*"/"/' >"$tmp/got"
same "a capture" "$tmp/want" "$tmp/got"

# Any file is JSON, and consistent; prints "name unit total" of each profile, then "flat cum name" of all.
cat >"$tmp/read.py" <<'X'
import json, sys
d = json.load(open(sys.argv[1], encoding="utf-8"))
frames, flat, cum = d["shared"]["frames"], {}, {}
assert all(set(f) <= {"name", "file", "line"} and f["name"] for f in frames)
assert len({json.dumps(f) for f in frames}) == len(frames)
heaviest = max([p["endValue"] for p in d["profiles"]], default=0)
assert not d["profiles"] or d["profiles"][d["activeProfileIndex"]]["endValue"] == heaviest
for p in d["profiles"]:
    assert p["type"] == "sampled" and p["startValue"] == 0 and len(p["samples"]) == len(p["weights"])
    assert sum(p["weights"]) == p["endValue"] and all(w > 0 for w in p["weights"])
    assert all(a != b for a, b in zip(p["samples"], p["samples"][1:]))
    print("#", p["name"], p["unit"], p["endValue"])
    for s, w in zip(p["samples"], p["weights"]):
        names = [frames[i]["name"] for i in s]
        flat[names[-1]] = flat.get(names[-1], 0) + w
        for n in set(names):
            cum[n] = cum.get(n, 0) + w
for n in cum:
    print(flat.get(n, 0), cum[n], n)
X
row='^ *\([0-9]*\) *[0-9.e-]*% *[0-9.e-]*% *\([0-9]*\) *[0-9.e-]*%  \(.*\)$'
ours() { cprof-top --by function -n 0 "$@" 2>/dev/null | sed -n "s/$row/\1 \2 \3/p" | sort; }
theirs() { PYTHONIOENCODING=utf-8 python3 "$tmp/read.py" "$1"; }
alike() { # NAME OPTION...
	name=$1; shift
	speedscope "$@" "$tmp/$name" >"$tmp/json" 2>"$tmp/err"
	ours "$@" "$tmp/$name" >"$tmp/want"
	theirs "$tmp/json" | grep -v '^#' | sort >"$tmp/got"
	same "stacks are cprof-top's: $name $*" "$tmp/want" "$tmp/got"
}
for f in a.bin h.bin i.bin s.bin; do alike $f; done
for o in -i -U -K "--pid 41" "--comm app" "--match ^loop$" --norm; do alike a.bin $o; done
speedscope -l "$tmp/i.bin" >"$tmp/json"
like "-l tells frames apart by the line" "$(cat "$tmp/json")" '"name":"work","file":"/src/work.c","line":13'
theirs "$tmp/json" | grep -v '^#' | sort >"$tmp/got"
ours "$tmp/i.bin" >"$tmp/want"
same "  and changes nothing else" "$tmp/want" "$tmp/got"
is "--weight ns" "$(speedscope --weight ns "$tmp/i.bin" >"$tmp/json"; theirs "$tmp/json" | sed -n 1p)" "# app 42/42 nanoseconds 11000"

speedscope "$tmp/a.bin" >"$tmp/json"
cprof-top --by thread -n 0 "$tmp/a.bin" | sed -n "s/$row/\3 \1/p" | sort >"$tmp/want"
theirs "$tmp/json" | sed -n 's/^# \(.*\) \([0-9]*\)\/\([0-9]*\) on h[12] none \([0-9]*\)$/\1-\2\/\3 \4/p' | sort >"$tmp/got"
same "a profile for each thread, and its total" "$tmp/want" "$tmp/got"
speedscope --by process "$tmp/a.bin" >"$tmp/json"
is "--by process: one for each" "$(theirs "$tmp/json" | grep -c '^#')" 8
speedscope --by all "$tmp/a.bin" >"$tmp/json"
is "--by all: one" "$(theirs "$tmp/json" | grep '^#')" "# all none 600"
cprof-fold "$tmp/a.bin" 2>/dev/null | cprof-convert -t speedscope >"$tmp/json2"
theirs "$tmp/json" | grep -v '/app+' | sort >"$tmp/want"
theirs "$tmp/json2" | grep -v '\[app+' | sort >"$tmp/got"
same "  with the commands as frames, as folded text is shown" "$tmp/want" "$tmp/got"

# Order of time: the samples of perf script's text, those in a row with one stack as one
python3 "$here/convert-timed.py" 3 "$tmp/account" one | cprof-dump -r >"$tmp/t.bin" || exit 1
speedscope "$tmp/t.bin" 2>"$tmp/err" >"$tmp/json"
like "waits that the options leave out are reported" "$(cat "$tmp/err")" ' waited, which is left out \(--wall\)$'
speedscope --wall "$tmp/t.bin" 2>"$tmp/err" >"$tmp/json"
is "  not with --wall" "$(cat "$tmp/err")" ""
cat >"$tmp/order.py" <<'X'
import json, sys
d = json.load(open(sys.argv[1], encoding="utf-8"))
names = [f["name"] for f in d["shared"]["frames"]]
kinds = {"[sleeping]": "off-cpu:sleep", "[uninterruptible]": "off-cpu:uninterruptible",
         "[waiting for a CPU]": "off-cpu:run-queue"}
(p,) = d["profiles"]
got = []
for sample, weight in zip(p["samples"], p["weights"]):
    stack = [names[i] for i in sample]
    kind = kinds.get(stack[-1], "cpu-clock")
    got.append([kind, stack[:-1] if stack[-1] in kinds else stack, weight])
want = []
for sample in open(sys.argv[2], encoding="utf-8").read().strip("\n").split("\n\n"):
    head, *frames = sample.split("\n")
    weight, kind = int(head.split()[-2]), head.split()[-1].strip(":")
    stack = [f.split(" ", 1)[1].rsplit(" (", 1)[0].split("+0x")[0] for f in map(str.strip, frames)][::-1]
    stack = stack or [head.split()[0]]
    if want and want[-1][:2] == [kind, stack]:
        want[-1][2] += weight
    else:
        want.append([kind, stack, weight])
assert len(got) > 30
sys.exit(got != want)
X
speedscope --wall -i --tid 102 "$tmp/t.bin" >"$tmp/json"
cprof-convert -t perfscript --wall --tid 102 "$tmp/t.bin" >"$tmp/text"
ok "--wall: a thread's samples are in order of time" python3 "$tmp/order.py" "$tmp/json" "$tmp/text"
speedscope --wall --by all "$tmp/t.bin" >"$tmp/json"
is "  and --by all has the time of all" "$(theirs "$tmp/json" | sed -n 1p)" \
	"# all nanoseconds $(awk '{ s += $4 } END { print s }' "$tmp/account")"
theirs "$tmp/json" | sed -n 's/^\([0-9]*\) [0-9]* \[\([a-z].*\)\]$/\1 \2/p' | sort >"$tmp/got"
awk '!/running/ { n = $4; sub(/^([^ ]* ){5}/, ""); s[$0] += n } END { for (k in s) print s[k], k }' \
	"$tmp/account" | sort >"$tmp/want"
same "  each kind of wait has a frame" "$tmp/want" "$tmp/got"

status "no byte" 3 cprof-convert -t speedscope /dev/null
ok "  is a file without a profile" python3 "$tmp/read.py" "$tmp/out"
head -c $(($(wc -c <"$tmp/a.bin") * 2 / 3)) "$tmp/a.bin" >"$tmp/cut.bin"
status "a capture that is cut short" 3 cprof-convert -t speedscope "$tmp/cut.bin"
ok "  is a whole file" python3 "$tmp/read.py" "$tmp/out"
awk 'BEGIN { for (i = 0; i < 60000; i++) print "root" i ";f" i % 7 " 1" }' | speedscope >"$tmp/json"
is "60,000 roots" "$(theirs "$tmp/json" | sed -n 1p)" "# all none 60000"
ok "a full disk is told" sh -c "cprof-convert -t speedscope $tmp/a.bin >/dev/full 2>$tmp/err; test \$? = 1"

# In speedscope
command -v chromium >/dev/null || { skip "speedscope opens it" "there is no chromium"; done_testing; }
modules=$(sh "$tests/lib/npm.sh" speedscope@1.25) || { skip "speedscope opens it" "$modules"; done_testing; }
printf 'app;main;work;mul 40\napp;main;work 20\napp;main;read 7\nsh;main;fork 3\n' >"$tmp/simple.folded"
speedscope --by all "$tmp/h.bin" >"$tmp/all.json"
cprof-convert -t pprof "$tmp/h.folded" >"$tmp/h.pb" 2>/dev/null || cp "$tmp/h.folded" "$tmp/h.pb"
cprof-convert -t callgrind "$tmp/simple.folded" >"$tmp/callgrind.out.simple"
ok "speedscope opens all of them, and complains of nothing" sh -c "python3 '$here/convert-speedscope.py' '$modules/speedscope/dist/release/index.html' \
	'$tmp/all.json' '$tmp/h.pb' '$tmp/h.folded' '$tmp/callgrind.out.simple' >'$tmp/seen'"
seen() { sed -n "s/^$1: \([0-9,]* [0-9,]* .*\)/\1/p" "$tmp/seen" | tr -s ' ' | sort; }
turn() { sed 's/^\([0-9]*\) \([0-9]*\) /\2 \1 /' | tr -s ' ' | sort; }
is "a file for speedscope: its title" "$(sed -n 's/^all.json: \(.*\) - speedscope/\1/p' "$tmp/seen")" "all"
theirs "$tmp/all.json" | grep -v '^#' >"$tmp/all"
# speedscope keeps functions of one name in several files apart.
sort_names() { awk '{ n = $0; sub(/^[^ ]* [^ ]* /, "", n); f[n] += $2 } END { for (n in f) print f[n], n }' | sort; }
seen all.json | sort_names >"$tmp/got"
sed 's/^\([0-9]*\) \([0-9]*\) /\2 \1 /' "$tmp/all" | tr -s ' ' | sort_names >"$tmp/want"
same "  each function's own samples, whatever it is called" "$tmp/want" "$tmp/got"
ours "$tmp/h.folded" | turn >"$tmp/want"
seen h.pb >"$tmp/got"
same "pprof's: own samples and totals" "$tmp/want" "$tmp/got"
seen h.folded | grep -vE ' (app|sh|work|ThreadPool 1)$' >"$tmp/got"
ours "$tmp/h.folded" | turn | grep -vE ' (app|sh|work|ThreadPool 1)$' >"$tmp/want"
same "folded text: own samples and totals" "$tmp/want" "$tmp/got"
is "callgrind's" "$(seen callgrind.out.simple | grep -vE ' (app|sh)$')" "$(ours "$tmp/simple.folded" | turn)"
done_testing
