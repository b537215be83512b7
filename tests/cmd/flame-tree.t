#!/bin/sh
# The tree in cprof-flame's page: one function below one caller is one box, with its full weight.
. "$(dirname "$0")/../lib/lib.sh"

block() { "$here/flame-block.py" "$@"; }
brute() { "$here/flame-brute.py" "$@"; }
flame() { cprof-flame "$@" 2>"$tmp/err"; }

printf '%s\n' 'a;foo 5' 'a;foo.part.0;z 3' 'a;foo;z 7' | flame | block boxes >"$tmp/got"
cat >"$tmp/want" <<'E'
a 0 15
a;foo 5 12
a;foo;z 7 7
a;foo.part.0 0 3
a;foo.part.0;z 3 3
E
same "a function is one box, however its lines sort" "$tmp/want" "$tmp/got"

# Many random stacks, against a tree made in the simplest way
awk 'BEGIN { srand(11); for (i = 0; i < 3000; i++) { s = "c" int(rand() * 4); d = int(rand() * 14)
	for (k = 0; k < d; k++) { r = rand(); s = s ";f" int(rand() * 9) (r < .1 ? ".part.0" : r < .2 ? " (int)" : r < .3 ? "_[k]" : r < .4 ? "_[i]" : "") }
	print s, 1 + int(rand() * 900) * int(rand() * 900) } }' >"$tmp/m"
flame "$tmp/m" >"$tmp/m.html"
block boxes "$tmp/m.html" >"$tmp/got"; brute <"$tmp/m" >"$tmp/want"
same "3,000 random stacks: each box, its self and its total" "$tmp/want" "$tmp/got"
is "  there are many" "$(($(wc -l <"$tmp/got") > 5000))" 1
sed 's/_\[[ki]\]//g' "$tmp/m" | cprof-top -n 0 | sed '1,/^ *flat /d' |
	awk '{ f = $1; c = $4; $1 = $2 = $3 = $4 = $5 = ""; sub(/^ */, ""); print f, c, $0 }' | sort >"$tmp/want"
block table "$tmp/m.html" | sort >"$tmp/got"
same "  self and total of each name are cprof-top's" "$tmp/want" "$tmp/got"
sort -R --random-source=/dev/zero "$tmp/m" >"$tmp/m2"; split -n l/3 "$tmp/m2" "$tmp/part."
flame "$tmp"/part.* >"$tmp/m2.html"
same "the same bytes in whatever order the lines come, from however many files" "$tmp/m.html" "$tmp/m2.html"
cprof-fold "$tmp/m" | flame >"$tmp/m2.html"
same "  and from cprof-fold" "$tmp/m.html" "$tmp/m2.html"

# Kinds of frames
printf '%s\n' 'sh;main;read_[k];[kernel]_[k] 1' 'sh;main;in_[i];js_[j] 1' 'sh;py::f:a.py_[j];~g;JS:~h_[j];JS:*h_[j] 1' \
	'sh;[libx.so+0x10];[unknown];[...] 1' 'sh;foo_[u];C.f_[l];[php: lost] 1' |
	flame | block labels >"$tmp/got"
cat >"$tmp/want" <<'E'
4 C.f
3 JS:*h
4 JS:~h
8 [...]
1 [kernel]
6 [libx.so+0x10]
4 [php: lost]
6 [unknown]
0 foo_[u]
2 in
3 js
0 main
4 py::f:a.py
1 read
5 sh
4 ~g
E
same "kinds of frames" "$tmp/want" "$tmp/got"
printf 'sh;main;%s 1\n' '[sleeping]' '[uninterruptible]' '[waiting for a CPU]' '[other]' '[truncated: depth]' '[kernel.kallsyms]' '[jit]' '[vdso]' '[vdso+0x8]' '[libc.so.6]' '[anon]' >"$tmp/in"
is "  words in brackets are no code without a name" "$(flame "$tmp/in" | block labels | grep -F '[' | sort -n | tr '\n' ,)" \
	"$(printf %s "0 [vdso],1 [kernel.kallsyms],3 [jit],6 [anon],6 [libc.so.6],6 [vdso+0x8]," \
		"7 [sleeping],8 [other],8 [truncated: depth],9 [uninterruptible],10 [waiting for a CPU],")"
is "  and have names of their own" 4 \
	"$(flame -o svg "$tmp/in" | grep -c '>left out \|>sleeping \|>uninterruptible \|>waiting for a CPU ')"
is "names that are one to the eye are one box" \
	"$(printf '%s\n' 'sh;py::f 1' 'sh;py::f_[j] 2' 'sh;py::f;x 3' | flame | block boxes | tr '\n' ,)" "sh 0 6,sh;py::f 3 6,sh;py::f;x 3 3,"
is "  names of two kinds are two" \
	"$(printf '%s\n' 'sh;f 1' 'sh;f_[k] 2' | flame | block boxes | tr '\n' ,)" "sh 0 3,sh;f 1 1,sh;f 2 2,"

# Small and strange input
printf 'sh;main 1\n' | flame >"$tmp/one.html"
is "one sample" "$(block boxes "$tmp/one.html" | tr '\n' ,)" "sh 0 1,sh;main 1 1,"
: >"$tmp/empty"
status "an empty file is said" 3 cprof-flame "$tmp/empty"
like "  so" "$(cat "$tmp/err")" 'empty input'
is "  and no page is written" "$(wc -c <"$tmp/out")" 0
printf 'sh;main 0\n' >"$tmp/zero"
status "a profile without samples is a page" 0 cprof-flame "$tmp/zero"
like "  that is said" "$(cat "$tmp/err")" '^cprof-flame: no samples selected, the picture is empty$'
is "  of no boxes" "$(block boxes "$tmp/out")" ""
seq 60000 | awk '{ print "root" $1 ";main", 1 }' >"$tmp/roots"
is "60,000 roots" "$(flame "$tmp/roots" | block boxes | awk '{ n++; s += $2; t += $3 } END { print n, s, t }')" "120000 60000 120000"
awk 'BEGIN { s = "c"; for (i = 0; i < 100000; i++) s = s ";f"; print s, 1 }' >"$tmp/deep"
is "100,000 levels" "$(flame "$tmp/deep" >"$tmp/deep.html"; echo $?; head -c 300 "$tmp/deep.html" | grep -c 'cprof-flame')" "0
1"
python3 - >"$tmp/hostile" <<'E'
import sys
names = ['</script><script>alert(1)</script>', '<!--', ']]>', '"\'&amp;', 'a\\u2028b', '\u2028', '\u202eabc', 'Ünï日本', '😀', '\x01\x1b[31m', 'std::map<' + 'x' * 10000 + '>', ' lead', '%s%n', '../..', '${x}`']
for n in names:
    sys.stdout.buffer.write(('sh;main;%s 3\n' % n).encode())
sys.stdout.buffer.write(b'sh;\xff\xfe\xed\xa0\x80;x 2\n;;; 1\n')
E
status "hostile names" 0 cprof-flame --title '</title><script>' --subtitle "$(printf '\377;\001')" --search '</script>' "$tmp/hostile"
mv "$tmp/out" "$tmp/hostile.html"
cprof-fold "$tmp/hostile" | brute >"$tmp/want"; block boxes "$tmp/hostile.html" >"$tmp/got"
same "  each is a box" "$tmp/want" "$tmp/got"
like "  a long one as well" "$(block labels "$tmp/hostile.html")" '^0 std::map<x{10000}>$'
is "  none of them is part of the page" "$(grep -c 'alert(1)' "$tmp/hostile.html")" 0
is "  nor is the title" "$(grep -o '^<title>.*</title>' "$tmp/hostile.html")" "<title>&lt;/title&gt;&lt;script&gt;</title>"
is "  and what closes a script stands where scripts end" "$(grep -c '</script>' "$tmp/hostile.html")" "$(grep -c '</script>' "$tmp/one.html")"
is "  texts are UTF-8" "$(block head "$tmp/hostile.html" | sed -n 2p)" "texts|</title><script>|?;?|samples||"

# The options reach the page.
block head <<E | grep -v "^option \(samples\|summary\) " | sort >"$tmp/got"
$(flame --title T --subtitle S --notes N --colors green --height 20 --fontsize 11 --minwidth 1 --search x --reverse --inverted --hash --weight ns "$tmp/m")
E
cat >"$tmp/want" <<'E'
flags 12
ledger Ledger = from folded text: the losses are unknown
ledger Notes = N
option colors = green
option fontsize = 11
option height = 20
option inverted = 1
option minwidth = 1
option reverse = 1
option search = x
texts|T|S|ns||
E
same "options go to the page" "$tmp/want" "$tmp/got"
is "filters are there" "$(flame --focus 'f1$' --base '^c1$' --min 99 "$tmp/m" | block boxes | cut -d' ' -f1 | sed 's/.*;//' | sort -u | tr '\n' ' ')" "[other] c1 "

# Exit status
status "no such file" 1 cprof-flame "$tmp/none"
sh -c 'cprof-flame "$1" >/dev/full' sh "$tmp/m" 2>"$tmp/err"; is "a full disk is told" $? 1
sh -c 'cprof-flame -o svg "$1" >/dev/full' sh "$tmp/m" 2>"$tmp/err"; is "  of a picture too" $? 1
printf 'a;b 1\na;c x\n' >"$tmp/bad"
status "a bad line is told" 3 cprof-flame "$tmp/bad"
is "  and the others are drawn" "$(block boxes "$tmp/out" | tr '\n' ,)" "a 0 1,a;b 1 1,"
head -c 5000 /dev/urandom | tr '\000-\037' '\000' >"$tmp/noise"
status "what is no profile gives no page" 3 cprof-flame "$tmp/noise"
is "  " "$(wc -c <"$tmp/out")" 0
for kind in html svg; do
	flame -o $kind "$tmp/m" >"$tmp/markup"
	status "its own output is no input: $kind" 3 cprof-flame "$tmp/markup"
	is "  one sentence says so" "$(sed "s|$tmp/||" "$tmp/err")" "cprof-flame: markup: this is HTML or XML, neither a capture nor folded text"
done
status "a function may begin as a tag" 0 cprof-flame - <<'E'
<svg as Shape>::draw;<html>::f 3
E
for bad in "-o png" "--colors x" "--width 5" "--width 1e3" "--height x" "--bgcolors url(x)" "--slice 3" "--negate" "--heatmap -o svg" \
	"--heatmap --diff" "--heatmap --reverse" "--diff a b c" "--diff - -" "--nosuch" "--slice 20" "--search (" \
	"--search a)" "--search [a" "--search a\\" "-o svg --search (" "-o svg --search [a"; do
	status "usage: $bad" 2 cprof-flame $bad </dev/null
done
for good in '(a|b)' '[(]' '\(' '[]' 'a{' '(?<x>a)'; do
	status "a page takes JavaScript's $good" 0 cprof-flame --search "$good" "$tmp/m"
done
ok "a page that lacks a part is an error: see flame-parts.c" "$BUILD/tests/flame-parts"
status "--heatmap needs captures" 2 cprof-flame --heatmap "$tmp/m"
done_testing
