#!/bin/sh
# The whole pipeline over real BPF: it shows the known facts about a workload, here, later and elsewhere.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
work=$tmp/work
mkdir "$work"
make -s -C "$top" BUILD="$BUILD" "$BUILD/contrib/demo" >"$tmp/make" 2>&1 || diag "$(cat "$tmp/make")"
cp "$BUILD/contrib/demo" "$work/known" && cp "$BUILD/tests/burn" "$work"

# percent FUNCTION: percent of the samples of known that end in FUNCTION
percent() {
	awk -v f="$1" '{ n = $NF; sub(/ [0-9]+$/, ""); all += n; k = split($0, s, ";"); if (s[k] == f) hit += n }
		END { printf "%.1f", all ? 100 * hit / all : 0 }' "$tmp/known.folded"
}
within() { # DESCRIPTION VALUE WANT TOLERANCE
	if awk -v v="$2" -v w="$3" -v t="$4" 'BEGIN { exit !(v >= w - t && v <= w + t) }'; then pass "$1"; else
		fail "$1"; diag "$2, not within $4 of $3"; fi
}
lost_nothing() { # DESCRIPTION CAPTURE
	cprof-top -v "$2" >"$tmp/top" 2>&1
	like "$1" "$(grep '^Lost:' "$tmp/top")" '^Lost: +nothing$'
}
# ledger CAPTURE: prints the expected ticks, and the sum of all other outcomes
ledger() {
	cprof-dump "$1" | sed -n 's/^ledger time=[0-9]* cpu=\([0-9]*\) outcome=\([a-z-]*\) count=\([0-9]*\)$/\1 \2 \3/p' |
		awk '{ v[$1 " " $2] = $3 } END { for (k in v) { split(k, a, " ")
			if (a[2] == "expected") e += v[k]; else if (a[2] != "sideband-lost") s += v[k] }
			print e + 0, s + 0 }'
}

# Two busy CPUs, three kinds of work at once: C with known hot functions, a script language, a compiler
cat >"$work/x.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void) { return puts("x") < 0; }
END
(
	end=$(($(date +%s) + 6))
	while [ "$(date +%s)" -lt $end ]; do ${CC:-cc} -O1 -c -o "$work/x.o" "$work/x.c"; done
) &
compile=$!
"$work/known" 6 &
known=$!
python3 -c 'import json, time
until = time.monotonic() + 6
while time.monotonic() < until: json.dumps([{"key": i} for i in range(2000)])' &
python=$!
status "the system is recorded at 999 Hz" 0 cprof-record -F 999 -a -o "$work/mixed.bin" 4
like "with a summary" "$(cat "$tmp/err")" \
	'^cprof-record: [0-9]+ sample[s]* of [0-9]+ processes in 4\.[0-9] s, [0-9]+ bytes; nothing lost.*; cost [0-9.]+ s to start and end, [0-9.]+ s \+ [0-9.]+ s in BPF between = [0-9.]+ % of a CPU per CPU$'
# shares: reads "user stacks 97.6 % complete, 1.9 % by ..." and prints the percentages complete, by frame
# pointers, truncated; 0 if missing
shares() { sed 's/%/ /g' | awk '{ for (i = 2; i <= NF; i++) if ($i ~ /^(complete|by|truncated)/) v[substr($i, 1, 2)] = $(i - 1) }
	END { print v["co"] + 0, v["by"] + 0, v["tr"] + 0 }'; }
said=$(sed -n 's/.*; user stacks \([^;]*\);.*/\1/p' "$tmp/err" | shares)
shown=$(cprof-top -v "$work/mixed.bin" | sed -n 's/^Stacks: *[0-9]* user, //p' | shares)
is "  how whole the stacks are is as cprof-top has it" \
	"$(echo "$said $shown" | awk '{ for (i = 1; i < 4; i++) { s += $i; d = $i - $(i + 3); if (d > 0.06 || d < -0.06) exit } print (s > 99.8 && s < 100.2) }')" 1
diag "user stacks: $said; cprof-top: $shown"
wait $compile $known $python
lost_nothing "nothing is lost" "$work/mixed.bin"
ledger "$work/mixed.bin" >"$tmp/ledger"
within "every tick has an outcome" "$(cut -d' ' -f2 "$tmp/ledger")" "$(cut -d' ' -f1 "$tmp/ledger")" 4
within "as many were expected as CPUs and seconds make" "$(cut -d' ' -f1 "$tmp/ledger")" "$((4 * 999 * $(nproc)))" \
	"$((200 * $(nproc)))"

# All of it has exited when the names are looked up.
status "it is symbolized" 0 cprof-sym "$work/mixed.bin"
mv "$tmp/out" "$work/mixed.sym"
cprof-fold "$work/mixed.sym" >"$work/here.folded"
cprof-fold --comm known -U "$work/mixed.sym" >"$tmp/known.folded"
within "hot_50 takes 50 %" "$(percent hot_50)" 50 3
within "hot_30 takes 30 %" "$(percent hot_30)" 30 3
within "hot_20 takes 20 %" "$(percent hot_20)" 20 3
like "under those that called it" "$(cat "$tmp/known.folded")" '^known;.*main;.*hot_50 [0-9]+$'
for comm in known python3 cc1; do
	like "$comm is in the picture" "$(cut -d';' -f1 "$work/here.folded" | sort -u)" "^$comm"
done
like "and the kernel's functions by name" "$(cat "$work/here.folded")" ';(do_syscall_64|el0t_64_sync|asm_exc_page_fault)'

# The same from a copy of the files, after the programs themselves are gone
mkdir "$tmp/copy"
# Copies the mapped files, and the debug files that gave names.
cprof-dump "$work/mixed.sym" | sed -n 's/^\(file\|source\) .* path="\(\/.*\)"$/\2/p' | sort -u | while read -r f; do
	[ ! -f "$f" ] || case $f in /proc/*) ;; *) cp -L --parents "$f" "$tmp/copy" ;; esac
done
mv "$work/known" "$tmp/gone"
cprof-sym "$work/mixed.bin" 2>/dev/null | cprof-fold --comm known >"$tmp/without.folded"
unlike "with the program gone its names are gone" "$(cat "$tmp/without.folded")" 'hot_50'
cprof-sym --symfs "$tmp/copy" "$work/mixed.bin" 2>"$tmp/err" | cprof-fold >"$tmp/copy.folded"
same "a copied tree gives the same, byte for byte" "$work/here.folded" "$tmp/copy.folded"
mv "$tmp/gone" "$work/known"

# Processes that live 5 ms are named as well as those that stay.
sh -c 'while :; do "$1/burn" brief 5; done' sh "$work" &
loop=$!
cprof-record -F 999 -a -o "$work/brief.bin" 3 2>"$tmp/err"
kill $loop
wait $loop 2>/dev/null
cprof-sym "$work/brief.bin" 2>/dev/null | cprof-fold -U --comm burn -p >"$tmp/brief.folded"
named() { awk '{ n = $NF; sub(/ [0-9]+$/, ""); all += n; k = split($0, s, ";"); if (s[k] !~ /^\[/) hit += n }
	END { printf "%.1f", all ? 100 * hit / all : 0 }' "$1"; }
within "at least 95 % of the innermost user frames of brief processes have names" "$(named "$tmp/brief.folded")" 100 5
unlike "and none is left of the image before" "$(cat "$tmp/brief.folded")" ';\[unknown\] [0-9]+$'
like "there were many of them" "$(cut -d';' -f1 "$tmp/brief.folded" | sort -u | wc -l)" '^ *[0-9]{3}'
like "known by their function" "$(cat "$tmp/brief.folded")" '^burn-[0-9]+;.*main;brief_work [0-9]+$'
lost_nothing "and nothing lost" "$work/brief.bin"

# Files whose build ID the kernel cannot read: Go's, from its own note
if command -v go >/dev/null; then
	printf 'package main\nimport "time"\nfunc work(x uint32) uint32 { for i := 0; i < 1000; i++ { x = x*1664525 + 1013904223 }; return x }\n%s\n' \
		'func main() { x := uint32(1); for s := time.Now(); time.Since(s) < 500*time.Millisecond; { x = work(x) }; if x == 1 { println(x) } }' >"$work/x.go"
	if (cd "$work" && HOME=$work go build -o goprog x.go) >"$tmp/go" 2>&1; then
		cprof-record -q -F 499 -o "$work/go.bin" -- "$work/goprog"
		like "a Go program has its own build ID" "$(cprof-dump "$work/go.bin" | grep '^file .*goprog')" ' build-id=[0-9a-f]{40,} '
		like "and names" "$(cprof-sym "$work/go.bin" 2>/dev/null | cprof-fold)" '^goprog;.*main\.main.* [0-9]+$'
	else
		skip "a Go program" "go does not build here"
	fi
else
	skip "a Go program" "go is not here"
fi
done_testing
