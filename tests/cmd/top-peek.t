#!/bin/sh
# cprof-top --peek against go tool pprof -peek on the same stacks: each call of each function, and its weight
. "$(dirname "$0")/../lib/lib.sh"

pprof=$(ls /usr/lib/go*/pkg/tool/*/pprof 2>/dev/null | tail -1)
[ -n "$pprof" ] || skip_all "go tool pprof is not here"
command -v python3 >/dev/null || skip_all "python3 is not here"
command -v cprof-convert >/dev/null && echo 'a;b 1' | cprof-convert -t pprof >"$tmp/p" 2>/dev/null ||
	skip_all "cprof-convert writes no pprof here"

# Stacks with recursion, direct and in circles
python3 - >"$tmp/m" <<'X'
import random
random.seed(23)
for i in range(800):
    frames = ["cmd"]
    for d in range(1 + random.randrange(12)):
        frames.append(random.choice(["f%d" % random.randrange(12), frames[-1] if d else "main", "g%d" % random.randrange(60)]))
    print(";".join(frames), random.randrange(1, 9))
X
cprof-convert -t pprof "$tmp/m" >"$tmp/m.pb"
HOME=$tmp "$pprof" -sample_index=samples -nodefraction=0 -edgefraction=0 -nodecount=100000 -peek . "$tmp/m.pb" >"$tmp/out" 2>"$tmp/err"
# pprof's blocks are the callers, the function, which begins further left after the bar, and the callees.
python3 - "$tmp/out" <<'X' | sort >"$tmp/want"
import sys
for block in open(sys.argv[1]).read().split("-------------\n")[2:]:
    lines = [line.split("|") for line in block.splitlines() if "|" in line]
    at = next((i for i, (_, name) in enumerate(lines) if not name.startswith("   ")), None)
    if at is None:
        continue
    function = lines[at][1].strip()
    flat, _, _, cum, _ = lines[at][0].split()
    for i, (numbers, name) in enumerate(lines):
        if i == at:
            print(function, flat, cum, "self", function, flat, sep="\t")
        else:
            print(function, flat, cum, "caller" if i < at else "callee", name.strip(), numbers.split()[0], sep="\t")
X
cprof-top -n 0 --peek . -o tsv "$tmp/m" | sed 1d | cut -f1-6 | awk -F'\t' '$4 != "command"' | sort >"$tmp/got"
same "callers and callees are those of pprof" "$tmp/want" "$tmp/got"
is "  there are many" "$([ "$(wc -l <"$tmp/got")" -gt 1000 ] && echo yes)" yes
done_testing
