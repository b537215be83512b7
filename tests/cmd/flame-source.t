#!/bin/sh
# cprof-flame --source: the page has the lines of cprof-annotate, and no file that a stranger chose.
# shellcheck disable=SC2154 # lib.sh sets tmp, tests and here
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/annotate-lib.sh"
made 4
cprof-sym -il "$tmp/made.bin" >"$tmp/named.bin" 2>/dev/null

# The block, as its description says (common/annotate/source_block.h)
cat >"$tmp/block.py" <<'X'
import base64, gzip, re, sys
page = open(sys.argv[1]).read()
text = re.search(r'<script id="sources" type="text/plain">(.*?)</script>', page, re.S).group(1)
raw = base64.b64decode(text)
raw = gzip.decompress(raw) if raw[:2] == b'\x1f\x8b' else raw
at = 0


def number():
    global at
    value = shift = 0
    while True:
        b = raw[at]
        at += 1
        value |= (b & 127) << shift
        shift += 7
        if b < 128:
            return value


def string():
    global at
    n = number()
    at += n
    return raw[at - n:at].decode()


total = number() if raw else 0
for _ in range(number() if raw else 0):
    name, module, own, all_ = string(), string(), number(), number()
    for _ in range(number()):
        path, note = string(), string()
        print('function', name, module, path, note)
        for _ in range(number()):
            line, flags = number(), number()
            sums = (number(), number()) if flags & 1 else None
            words = string()
            if sums:
                own, all_ = (f'{100 * n / total:.2f}' if n else '-' for n in sums)
                print(name, line, own, all_)
            print('text', line, words)
assert at == len(raw)
X
block() { cprof-flame --source "$@" >"$tmp/page.html" && python3 "$tmp/block.py" "$tmp/page.html"; }
block "$tmp/made.bin" >"$tmp/block"
for f in work mix climb main; do
	cprof-annotate $f "$tmp/made.bin" | python3 "$here/annotate-count.py" shown >"$tmp/want"
	sed -n "s/^$f \([0-9].*\)/\1/p" "$tmp/block" >"$tmp/got"
	same "lines of $f, as cprof-annotate counts them" "$tmp/want" "$tmp/got"
done
like "  with their text" "$(cat "$tmp/block")" '^text 19 +h \+= h / \(i \| 1\);$'
block "$tmp/named.bin" >"$tmp/got"
same "a capture with names" "$tmp/block" "$tmp/got"
cprof-flame "$tmp/made.bin" >"$tmp/plain.html"
is "without --source the page has none" "$(python3 "$tmp/block.py" "$tmp/plain.html" | wc -l)" 0
is "the picture is the same" "$(sed '/id="sources"/d' "$tmp/plain.html" | cksum)" \
	"$(cprof-flame --source "$tmp/made.bin" | sed '/id="sources"/d' | cksum)"
is "filters" "$(block --match '^climb$' "$tmp/named.bin" | sed -n \
	's/^climb \([0-9]*\) .* \([0-9.]*\)$/\2/p' | sort -n | tail -1)" \
	"$(cprof-annotate --match '^climb$' climb "$tmp/named.bin" | python3 "$here/annotate-count.py" shown |
		cut -d' ' -f3 | sort -n | tail -1)"
echo 'a;b 3' | cprof-flame --source >"$tmp/page.html"
is "folded text has none" "$(python3 "$tmp/block.py" "$tmp/page.html" | wc -l)" 0

# Strangers: tests/cmd/annotate-source.t has all rules.
echo 'the secret sentence' >"$tmp/secret.c"
cprof-dump "$tmp/named.bin" | sed "s|path=\"$program\"|path=\"/nothing/here\"|
s|text=\"$tmp/annotated.c\"|text=\"$tmp/secret.c\"|" | cprof-dump -r >"$tmp/hostile.bin"
block "$tmp/hostile.bin" >"$tmp/got"
is "a file that only the capture names is not in the page" "$(grep -c secret\ sentence "$tmp/got")" 0
like "  which is said" "$(cat "$tmp/got")" \
	'secret.c not shown: only the capture names it: give its directory with --source-dir$'
sed -n 1,60p "$tests/data/annotated.c" | sed 's/.*/the secret sentence/' >"$tmp/secret.c"
like "  --source-dir" "$(block --source-dir "$tmp" "$tmp/hostile.bin" | grep -c 'secret sentence')" '^[1-9]'
printf '</script><script>alert(1)</script>%.0s\n' $(seq 60) >"$tmp/secret.c"
is "no text of a source ends the block" "$(block --source-dir "$tmp" "$tmp/hostile.bin" >/dev/null; grep \
	-c alert "$tmp/page.html")" 0
head -c 9000000 /dev/zero | tr '\0' x | fold -w 200000 >"$tmp/secret.c"
like "long lines are cut" "$(block --source-dir "$tmp" "$tmp/hostile.bin" | awk \
	'{ if (length > n) n = length } END { print n }')" '^3[0-9][0-9]$'
status "--source-dir requires --source" 2 cprof-flame --source-dir "$tmp" "$tmp/made.bin"
status "an SVG has no sources" 2 cprof-flame --source -o svg "$tmp/made.bin"
status "nor has a comparison" 2 cprof-flame --source --diff "$tmp/made.bin" "$tmp/made.bin"

# In a browser
. "$tests/lib/browser-lib.sh"
if command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome \
	>/dev/null; then
	cprof-flame --source "$tmp/named.bin" >"$tmp/page.html"
	cprof-annotate work "$tmp/named.bin" | python3 "$here/annotate-count.py" shown >"$tmp/want"
	mkdir -p "$BUILD/screenshots"
	python3 - "$tests/lib" "$tmp" "$BUILD/screenshots" >"$tmp/browser" <<'E'
import sys
sys.path.insert(0, sys.argv[1])
from browser import Browser
tmp, shots = sys.argv[2:4]
ROWS = '''[...document.querySelectorAll('#sourcebody tr')]
    .map((row) => [...row.cells].map((cell) => cell.textContent))
    .filter((row) => row.length === 4 && row[1] !== '' && row[1] !== 'callees')
    .map((row) => [row[2], row[0] || '-', row[1]].join(' ').replace(/ %/g, '')).join('\\n')'''
with Browser() as b:
    b.open(f'{tmp}/plain.html')
    b.value('cprof.ready')
    print('none', b.value("document.querySelectorAll('#source, #sourcebutton').length"), len(b.errors))
    b.open(f'{tmp}/page.html')
    b.value('cprof.ready')
    b.settle()
    print('closed', b.value("document.getElementById('source').hidden"))
    b.click(*(lambda f: (f['clientX'], f['clientY']))(
        next(f for f in b.value('cprof.frames()') if f['name'] == 'work')))
    b.key('l')
    b.settle()
    print('open', not b.value("document.getElementById('source').hidden"))
    open(f'{tmp}/got', 'w').write(b.value(ROWS) + '\n')
    b.screenshot(f'{shots}/flame-source.png')
    b.value("""(({ table, p }) => {
        const labels = [...Array(p.labels).keys()];
        table.events.pick(labels.find((l) => p.name(l) === 'climb'));
        return 1;
    })(cprof.app)""")
    b.settle()
    b.value('cprof.app.reset() || 1')
    print('table', b.value("document.querySelector('#sourcebody h3').textContent.split(' ')[0]"))
    b.value("document.querySelector('#sourcetop button').click() || 1")
    print('closed', b.value("document.getElementById('source').hidden"))
    print('errors', b.errors, b.requests)
E
	is "a page without sources has no panel, and one with sources has it closed" \
		"$(sed 2q "$tmp/browser" | tr '\n' ' ')" "none 0 0 closed True "
	is "  l opens it for the focused function" "$(sed -n 3p "$tmp/browser")" "open True"
	same "  with its lines" "$tmp/want" "$tmp/got"
	is "  a function of the table, and Close" "$(sed -n 4,5p "$tmp/browser" | tr '\n' ' ')" \
		"table climb closed True "
	is "  no error, and nothing is fetched" "$(tail -1 "$tmp/browser")" "errors [] []"
else
	skip "the panel" "there is no browser"
fi
done_testing
