#!/bin/sh
# A program that spends its time in an inlined function: recorded, named and folded, the function is there,
# at its line. Names come from binutils' addr2line first, as input for the readers, then from cprof-sym,
# which must agree.
. "$(dirname "$0")/../lib/lib.sh"
[ -x "$BIN/cprof-record" ] || skip_all "the recorder is not built"
command -v addr2line >/dev/null && command -v gcc >/dev/null || skip_all "no gcc or addr2line"

cat >"$tmp/hot.c" <<'X'
#include <stdlib.h>
static unsigned long sum;
static inline __attribute__((always_inline)) unsigned long spin(unsigned long n)
{
	unsigned long x = n;
	for (unsigned long i = 0; i < n; i++)             /* loop */
		x = x * 6364136223846793005 + (x >> 33); /* body */
	return x;
}
static inline __attribute__((always_inline)) unsigned long middle(unsigned long n)
{
	return spin(n) ^ 5;   /* calls spin */
}
__attribute__((noipa)) unsigned long work(unsigned long n)
{
	return middle(n) + 1; /* calls middle */
}
int main(int argc, char **argv)
{
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	for (long i = atol(argv[1]); i > 0; i--)
		sum += work(n); /* calls work */
	return sum == 42;
}
X
gcc -O2 -g -fno-omit-frame-pointer -no-pie -o "$tmp/hot" "$tmp/hot.c" || exit 1
at() { grep -n "/\* $1 \*/" "$tmp/hot.c" | cut -d: -f1; }
cprof-record -q -F 499 -o "$tmp/raw.bin" -- "$tmp/hot" 1000 1000000 2>"$tmp/err" || skip_all "nothing can be recorded here: $(head -1 "$tmp/err")"

# Give the program's own frames the names and lines from addr2line.
cat >"$tmp/name.py" <<'X'
import re, subprocess, sys
program, strings, lines = sys.argv[1], {}, []
def string(text):
    if text not in strings:
        strings[text] = len(strings) + 1
        lines.append('string id=%d text="%s"' % (strings[text], text))
    return strings[text]
for line in sys.stdin:
    if line.startswith("end "):
        print("\n".join(lines))
    print(line, end="")
    m = re.match(r"frame id=(\d+) process=[1-9]\d* kind=(\w+) address=(0x[0-9a-f]+)$", line)
    if not m or int(m[3], 16) >= 0x1000000: # where a program that is not relocatable lies
        continue
    at = int(m[3], 16) - (m[2] == "return")
    out = subprocess.run(["addr2line", "-fie", program, hex(at)], stdout=subprocess.PIPE, text=True).stdout.split("\n")
    pairs = [(out[i], re.sub(r" \(discriminator.*", "", out[i + 1])) for i in range(0, len(out) - 1, 2)]
    for level, (name, where) in enumerate(reversed(pairs)):
        path, number = where.rsplit(":", 1)
        if name != "??" and number != "?":
            n, f = string(name), string(path)
            lines.append("symbol frame=%s from=0 level=%d source=symtab name=%d offset=0 file=%d line=%s" % (m[1], level, n, f, number))
X
cprof-dump "$tmp/raw.bin" | python3 "$tmp/name.py" "$tmp/hot" | cprof-dump -r >"$tmp/by-addr2line" || fail "the capture is named by addr2line"

# share FILE REGEX: percent of the samples whose stack ends like this
share() { RE="$2 [0-9]+\$" awk '{ all += $NF; if ($0 ~ ENVIRON["RE"]) hit += $NF } END { printf "%d", all ? 100 * hit / all : 0 }' "$1"; }
most() { # DESCRIPTION FILE REGEX
	s=$(share "$2" "$3")
	if [ "$s" -ge 90 ]; then pass "$1"; else fail "$1"; diag "$s % end in $3:"; diag "$(sort -t' ' -k2nr "$2" | head -5)"; fi
}
spin="spin \\(hot.c:($(at loop)|$(at body))\\)"
shows() { # FILE
	cprof-fold -U --comm hot "$1" >"$tmp/plain"
	most "the function that the code belongs to" "$tmp/plain" ';main;work'
	cprof-fold -Ui --comm hot "$1" >"$tmp/inlined"
	most "-i: what is inlined into it" "$tmp/inlined" ';main;work;middle;spin'
	cprof-fold -Uia --comm hot "$1" >"$tmp/marked"
	most "  marked" "$tmp/marked" ';main;work;middle_\[i];spin_\[i]'
	cprof-fold -Uil --comm hot "$1" >"$tmp/lines"
	most "-i -l: each at its line" "$tmp/lines" \
		";main \\(hot.c:$(at 'calls work')\\);work \\(hot.c:$(at 'calls middle')\\);middle \\(hot.c:$(at 'calls spin')\\);$spin"
	cprof-fold -Ul --comm hot "$1" >"$tmp/own"
	most "-l: the function's own line" "$tmp/own" ";main \\(hot.c:$(at 'calls work')\\);work \\(hot.c:$(at 'calls middle')\\)"
	like "cprof-top -i: flat is of the innermost" "$(cprof-top -Ui --comm hot "$1" | sed -n '/flat%/{n;p}')" ' 9[0-9]\.[0-9]*%  spin$| 100.00%  spin$'
	like "  cum of those around it" "$(cprof-top -Ui --comm hot "$1")" ' 0 +0\.00% .* (9[0-9]\.[0-9]*|100\.00)%  middle$'
	like "cprof-top --full-paths" "$(cprof-top -Ui --full-paths --comm hot "$1" | sed -n '/flat%/{n;p}')" "  spin \\($tmp/hot.c:($(at loop)|$(at body))\\)\$"
}
shows "$tmp/by-addr2line"
diag "from here on by cprof-sym"
if ! cprof-sym -i -l --help >/dev/null 2>&1; then
	skip "the same by cprof-sym" "it gives neither inlined functions nor lines"
elif ! ldd "$BIN/cprof-sym" | grep -q libdw; then
	skip "the same by cprof-sym" "built without libdw"
else
	status "cprof-sym -i -l" 0 cprof-sym -i -l "$tmp/raw.bin"
	cp "$tmp/out" "$tmp/by-sym"
	shows "$tmp/by-sym"
	# Do not compare frames that only one of them names, as the callees in libc.
	ours() { cprof-fold -Uil --full-paths --comm hot "$1" | sed -n 's/.*;\(main (.*\)/\1/p' |
		awk -F';' '{ for (i = 1; i <= NF; i++) if ($i !~ /\/hot\.c:[0-9]+\)/) next; print }' | cprof-fold; }
	ours "$tmp/by-addr2line" >"$tmp/want"
	ours "$tmp/by-sym" >"$tmp/got"
	same "and all of main is as addr2line has it" "$tmp/want" "$tmp/got"
fi
done_testing
