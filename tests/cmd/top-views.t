#!/bin/sh
# cprof-top's other views: calls, stacks, the tree; intervals; rows for programs. Each against a count
# stack by stack.
. "$(dirname "$0")/../lib/lib.sh"

command -v python3 >/dev/null || skip_all "python3 is not here"
top() { cprof-top "$@" 2>"$tmp/err"; }
reference() { python3 "$here/top-reference.py" "$@"; }

printf '%s\n' 'a;r;s;r;r 4' 'a;s;r 2' 'b;s 1' 'b;r;s 3' 'a;a 5' 'c 7' >"$tmp/r"
top --peek '^[rs]$' "$tmp/r" >"$tmp/got"
cat >"$tmp/want" <<'X'
Total:             22 samples, 2 of 2 matching functions shown

      flat   flat%        cum    cum%       call   call%  function between its callers and callees
                                               6  66.67%    s
                                               4  44.44%    a (command)
                                               3  33.33%    b (command)
         6  27.27%          9  40.91%                      r
                                               7  77.78%    s

                                               7  70.00%    r
                                               2  20.00%    a (command)
                                               1  10.00%    b (command)
         4  18.18%         10  45.45%                      s
                                               6  60.00%    r
X
same "--peek: a call counts once a stack, and recursion is no call" "$tmp/want" "$tmp/got"
like "  a command and a function of one name are two callers" "$(top --peek '^a$' "$tmp/r")" '^ +5 100.00% +a \(command\)$'
is "  sorted and cut as the table" "$(top --cum -n 1 --peek . -o tsv "$tmp/r" | cut -f1 | sort -u | tr '\n' ' ')" "function s "
like "  nothing matches" "$(top --peek xyz "$tmp/r")" '0 of 0 matching functions shown'

top --stacks 2 "$tmp/r" >"$tmp/got"
cat >"$tmp/want" <<'X'
Total:             22 samples, 2 of 6 stacks shown

      flat   flat%    sum%  stack, the innermost frame first
         7  31.82%  31.82%  c

         5  22.73%  54.55%  a
                            a
X
same "--stacks" "$tmp/want" "$tmp/got"

top --tree --min-share 10 "$tmp/r" >"$tmp/got"
cat >"$tmp/want" <<'X'
Total:             22 samples

     total  total%       self   self%
        11  50.00%          0   0.00%  a
         5  22.73%          5  22.73%    a
         4  18.18%          0   0.00%    r
         4  18.18%          0   0.00%      s
         4  18.18%          0   0.00%        r
         4  18.18%          4  18.18%          r
         2   9.09%          0   0.00%    [1 more]
         7  31.82%          7  31.82%  c
         4  18.18%          0   0.00%  b
         3  13.64%          0   0.00%    r
         3  13.64%          3  13.64%      s
         1   4.55%          1   4.55%    [1 more]
X
same "--tree: what is too small is summed up" "$tmp/want" "$tmp/got"
is "  --depth" "$(top --tree --depth 1 "$tmp/r" | sed '1,3d' | awk '{ print $1, $5 }' | tr '\n' ,)" "11 a,7 c,4 b,"
is "  by default half a percent" "$(printf 'a;b 199\na;c 1\n' | top --tree | sed '1,3d' | awk '{ print $1, $5 }' | tr '\n' ,)" \
	"200 a,199 b,1 c,"
like "  and not less" "$(printf 'a;b 200\na;c 1\n' | top --tree | tail -1)" '1 +0.50% +1 +0.50% +.1 more.$'

top --peek '^nosuch$' "$tmp/r" >"$tmp/got" 2>"$tmp/err"
is "--peek of nothing says so, with status 0" "$? $(grep -c '0 of 0 matching' "$tmp/got")" "0 1"
like "  and what there is" "$(cat "$tmp/err")" \
	'no functions selected, the table is empty; no name matches --peek "\^nosuch\$"; heaviest: '
printf 'a;alpha_main 3\n' | cprof-top --peek '^alpha_mian$' >/dev/null 2>"$tmp/err"
like "  with the nearest name" "$(cat "$tmp/err")" \
	'; did you mean alpha_main\?$'

# Random stacks with recursion, direct and in circles, with functions named like commands
python3 - >"$tmp/m" <<'X'
import random
random.seed(11)
for i in range(1500):
    frames = ["f%d" % random.randrange(12)]
    for d in range(random.randrange(14)):
        f = random.choice(["f%d" % random.randrange(12), frames[-1], "g%d" % random.randrange(200), frames[0], "f1.part.0", "f1 x"])
        frames.append(f)
    print(";".join(frames), random.randrange(1, 9))
X
# rows WANTED-COLUMNS OPTION...: without names and percentages
rows() { c=$1; shift; top -o tsv "$@" "$tmp/m" | sed 1d | cut -f"$c"; }
rows 1,2,4 -n 0 >"$tmp/got"; reference table "$tmp/m" >"$tmp/want"
same "the table of random stacks" "$tmp/want" "$tmp/got"
rows 1-6 -n 0 --peek . >"$tmp/got"; reference peek "$tmp/m" >"$tmp/want"
same "  all calls" "$tmp/want" "$tmp/got"
is "  there are many" "$([ "$(wc -l <"$tmp/got")" -gt 2000 ] && echo yes)" yes
rows 1,3,4 --stacks 0 >"$tmp/got"; reference stacks "$tmp/m" >"$tmp/want"
same "  all stacks" "$tmp/want" "$tmp/got"
rows 1,3,4 --stacks 7 >"$tmp/got"
is "  the first of them" "$(cat "$tmp/got")" "$(head -7 "$tmp/want")"
rows 1-6,8 --tree --min-share 0 >"$tmp/got"; reference tree "$tmp/m" >"$tmp/want"
same "  the tree" "$tmp/want" "$tmp/got"
is "  whatever is summed up, roots and their rest are all" "$(top --tree --min-share 3 -o tsv "$tmp/m" |
	awk -F'\t' '$3 == "0" { n += $6 } END { print n }')" "$(awk '{ n += $NF } END { print n }' "$tmp/m")"
sort -R "$tmp/m" >"$tmp/s"
for o in '-n 0' '-n 0 --peek .' '--stacks 50' '--tree'; do
	is "  in any order of lines: $o" "$(top $o "$tmp/s" | cksum)" "$(top $o "$tmp/m" | cksum)"
done

# Wilson's interval of 12 in 600 is 1.15 to 3.46 %.
printf 'a;f 12\na;g 588\n' >"$tmp/w"
like "--ci" "$(top --ci "$tmp/w")" '^ +12 +2.00% +\(1.15-3.46\) 100.00% +12 +2.00% +\(1.15-3.46\)  f$'
like "  says what it takes for granted" "$(top --ci "$tmp/w")" '^Intervals: .*independent'
is "  in rows" "$(top --ci -o tsv "$tmp/w" | awk -F'\t' '$1 == "f" { printf "%.2f %.2f %.2f\n", $3, $4, $5 }')" "2.00 1.15 3.46"
sed 's/^end /ledger time=9 cpu=1 outcome=expected count=30\nledger time=9 cpu=1 outcome=ring-full count=6\n&/' \
	"$tests/data/small.txt" | cprof-dump -r >"$tmp/c.bin" || exit 1
like "  weights that are no counts: by samples, and it says so" "$(top --ci --weight ns "$tmp/c.bin")" '^ +weights are not counts: computed as if all [0-9]+ samples had the same weight$'
status "  of text nobody knows how many" 2 cprof-top --ci --weight ns "$tmp/w"

json() { python3 -c 'import json, sys
d = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$1"; }
if printf 'a;b 1\n' | top -o json >"$tmp/j"; then
	is "-o json" "$(top -o json -n 2 "$tmp/r" | json '[d["unit"], d["total"], d["shown"], d["of"], [(r["name"], r["flat"], r["cum"]) for r in d["rows"]]]')" \
		"['samples', 22, 2, 4, [('c', 7, 7), ('r', 6, 9)]]"
	is "  no capture, no ledger" "$(top -o json "$tmp/r" | json '"capture" in d')" False
	is "  of a capture the ledger" "$(top -o json "$tmp/c.bin" | json '[d["capture"][k] for k in ("samples", "looked_at", "lost")]')" \
		"$(top -v "$tmp/c.bin" | awk '/^Samples/ { n = $2 } /^Lost/ { l = $2 == "nothing" ? 0 : $2 } END { printf "[%d, %d, %d]", n, n, l }')"
	is "  its outcomes" "$(top -o json "$tmp/c.bin" | json '", ".join(f"{n} {k}" for k, n in d["capture"]["ledger"].items() if k not in ("expected", "sideband-lost"))')" \
		"$(top -v "$tmp/c.bin" | sed -n 's/^Ledger:.*: //p')"
	for o in --tree '--peek .' '--stacks 3'; do
		is "  $o as an array and line by line are the same rows" \
			"$(top -o json $o "$tmp/m" | sed '1d; $d; s/,$//' | cksum)" "$(top -o ndjson $o "$tmp/m" | cksum)"
	done
	is "  nothing matches" "$(top -o json --match xyz "$tmp/r" | json '[d["total"], d["rows"]]')" "[0, []]"
else
	skip "-o json" "built without jansson"
fi
like "what is lost is said where rows have no place for it" "$(cprof-top -o tsv "$tmp/c.bin" 2>&1 >/dev/null)" '\(ring-full 12\)$'

# Hostile names, each in a valid row; a deep stack; many roots; a single sample
python3 - >"$tmp/h" <<'X'
import sys
names = ["</script>", 'quo"te\\', "it's", "tab\there", "x" * 10000, "ünï", "a b  c", "%s%n", "-"]
for i, n in enumerate(names):
    sys.stdout.buffer.write(("root;%s;leaf %d\n" % (n, i + 1)).encode())
sys.stdout.buffer.write(b"root;bad\xff\xfeutf;leaf 3\n")
X
for o in '-n 0' '-n 0 --peek .' '--stacks 0' '--tree'; do
	for format in tsv ndjson json; do
		[ $format = tsv ] || [ -s "$tmp/j" ] || continue
		top -o $format $o "$tmp/h" >"$tmp/hostile $o.$format"
	done
done
ok "hostile names are valid rows in each form" python3 - "$tmp"/hostile* <<'X'
import json, sys
assert len(sys.argv) > 4
for path in sys.argv[1:]:
    text = open(path, encoding="utf-8").read()
    assert "x" * 10000 in text and "</script>" in text.replace("<\\/", "</"), path
    lines = text.split("\n")[:-1]
    if path.endswith("tsv"):
        assert len(lines) > 10 and len({l.count("\t") for l in lines}) == 1, path
    else:
        rows = [json.loads(l) for l in lines] if path.endswith("ndjson") else json.loads(text)["rows"]
        assert len(rows) >= 10, path
X
for o in '' '--peek .' '--stacks 3' --tree --ci; do
	is "a single sample: cprof-top $o" "$(echo 'a;func 1' | top $o | grep -c 'func$')" 1
	status "an empty profile is said: cprof-top $o" 3 cprof-top $o /dev/null
done
awk 'BEGIN { for (i = 0; i < 60000; i++) print "root" i ";f 1" }' >"$tmp/60000"
is "60,000 roots: the tree sums them up" "$(top --tree "$tmp/60000" | tail -1 | awk '{ print $1, $5, $6 }')" "60000 [60000 more]"
is "  and names all where asked" "$(top --tree --min-share 0 "$tmp/60000" | wc -l)" 120003
is "  calls of one function" "$(top --peek '^f$' "$tmp/60000" | wc -l)" 60004
is "  stacks" "$(top --stacks 0 -o tsv "$tmp/60000" | wc -l)" 60001
awk 'BEGIN { s = "a"; for (i = 0; i < 9000; i++) s = s ";f" i % 7; print s " 1" }' >"$tmp/deep"
is "a deep stack takes no more indentation" "$(top --tree "$tmp/deep" | awk '{ n = length > n ? length : n } END { print NR, n < 150 }')" "9004 1"
like "  and says how deep it is" "$(top --tree "$tmp/deep" | tail -1)" '\(9000\) f'

for o in '--peek .' '--stacks 3' --tree; do
	status "stacks of what has none: cprof-top --by process $o" 2 cprof-top --by process $o "$tmp/r"
	like "  is told" "$(cat "$tmp/err")" "${o% *} requires --by function, module or language"
done
status "two views at once" 2 cprof-top --tree --stacks 3 "$tmp/r"
like "  are named" "$(cat "$tmp/err")" '--tree and --stacks are mutually exclusive'
status "an expression that is none" 2 cprof-top --peek '(' "$tmp/r"
status "-o of another kind" 2 cprof-top -o xml "$tmp/r"
status "--min-share without --tree" 2 cprof-top --min-share 3 "$tmp/r"
top --tree --min-share 10% "$tmp/r" >"$tmp/sign"
top --tree --min-share 10 "$tmp/r" >"$tmp/got"
same "--min-share may end in a percent sign" "$tmp/sign" "$tmp/got"
status "--min-share beyond 100" 2 cprof-top --tree --min-share 101 "$tmp/r"
status "--ci with --tree" 2 cprof-top --ci --tree "$tmp/r"
status "-n with --stacks" 2 cprof-top -n 3 --stacks 3 "$tmp/r"
for o in '' '--tree' '--stacks 0' '--peek .' '-o tsv'; do
	status "a full disk: cprof-top $o" 1 sh -c "cprof-top $o '$tmp/m' >/dev/full"
done
done_testing
