#!/bin/sh
# cprof-annotate: lines of interpreted languages, as cprof-top -l counts them.
# shellcheck disable=SC2154 # lib.sh sets tmp, tests and here
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/lang-lib.sh"
command -v python3 >/dev/null || skip_all "python3 is not here"

mkdir -p "$tmp/src/app"
for i in $(seq 20); do echo "line $i of the script"; done >"$tmp/src/app/main"
for l in python ruby perl php javascript java; do
	lang_capture >"$tmp/$l.bin" <<X
$l 5 l:<module>:3 l:run:9
$l 2 l:<module>:3 l:run:9 l:run:11
$l 4 l:<module>:4 l:run:12 c:memcpy
$l 1 l:<module>:5
X
	cprof-annotate --source-dir "$tmp/src" run "$tmp/$l.bin" >"$tmp/text"
	python3 "$here/annotate-count.py" shown <"$tmp/text" >"$tmp/got"
	# 12 samples: lines 9, 11 and 12 of run
	printf '9 41.67 58.33\n11 16.67 16.67\n12 %s 33.33\n' \
		"$(cprof-top -l "$tmp/$l.bin" | sed -n 's/^ *\([0-9]*\) *[0-9.]*%.*run (main:12)$/\1/p' |
		sed 's/^0$/-/; s/^4$/33.33/')" >"$tmp/want"
	same "$l: lines" "$tmp/want" "$tmp/got"
	like "  with their text" "$(cat "$tmp/text")" '^ +41.67% +58.33% +9  line 9 of the script$'
done
like "the script is the module" "$(cprof-annotate run "$tmp/ruby.bin" | head -1)" '^run in /app/main$'
like "a script that is not here" "$(cprof-annotate run "$tmp/ruby.bin")" 'source: /app/main'
like "  is said" "$(cprof-annotate run "$tmp/ruby.bin")" 'not shown: no such file here'
like "its instructions are not" "$(cprof-annotate -a run "$tmp/ruby.bin")" 'no instructions: .* of a script'
echo 'a stranger names it' >"$tmp/secret"
sed 1q "$tmp/secret" | cat - "$tmp/src/app/main" >"$tmp/script"
cprof-dump "$tmp/ruby.bin" | sed "s|path=\"/app/main\"|path=\"$tmp/script\"|" | cprof-dump -r \
	>"$tmp/stranger.bin"
is "as text, a script is read at its path" \
	"$(cprof-annotate -C 99 run "$tmp/stranger.bin" | grep -c 'a stranger names it')" 1
is "  but no page has it" "$(cprof-annotate -C 99 -o html run "$tmp/stranger.bin" | grep -c \
	'a stranger names it')" 0
is "  without --source-dir" "$(cprof-annotate -C 99 -o html --source-dir "$tmp" run "$tmp/stranger.bin" |
	grep -c 'a stranger names it')" 1

# A recording of Python: cprof-top's table is of the same samples.
if [ "$(id -u)" = 0 ] && [ -x "$BIN/cprof-record" ] && [ -x /usr/bin/python3 ] && [ "$(uname -m)" = x86_64 \
	]; then
	cat >"$tmp/load.py" <<'X'
import time


def heavy(until):
    x = 1
    while time.thread_time() < until:
        for i in range(500):
            x = x * 31 % 1000003
            x += i ^ x
    return x


def light(until):
    while time.thread_time() < until:
        pass


heavy(1.2)
light(1.6)
X
	cprof-record -q -F 499 -o "$tmp/py.bin" -- /usr/bin/python3 "$tmp/load.py" 2>"$tmp/err"
	cprof-sym -l "$tmp/py.bin" >"$tmp/py.sym" 2>/dev/null
	for f in heavy light; do
		cprof-top -l -n 0 "$tmp/py.sym" 2>/dev/null | tr -s ' ' | tr -d '%()' | sed 's/^ //' |
			awk -v f=$f '$6 == f && sub(/load.py:/, "", $7) { print $7, $1 ? $2 : "-", $5 }' |
			sort -n >"$tmp/want"
		cprof-annotate $f "$tmp/py.sym" | python3 "$here/annotate-count.py" shown >"$tmp/got"
		if [ -s "$tmp/want" ]; then same "a recording: lines of $f" "$tmp/want" "$tmp/got"; else
			skip "a recording: lines of $f" "this Python's functions are not known"; fi
	done
else
	skip "a recording" "only root records Python's functions, on x86-64"
fi

# A recording of JavaScript without names: the positions of its code become lines when names are looked up.
if [ "$(id -u)" = 0 ] && [ -x "$BIN/cprof-record" ] && command -v node >"$tmp/out" &&
	printf '%s\n' 'const until = Date.now() + 700;' \
		'function slow(n) { let t = 0; while (n--) t = (t * 31 + n) % 1000003; return t; }' \
		'while (Date.now() < until) slow(300000);' >"$tmp/slow.js" &&
	cprof-record -q -F 499 -o "$tmp/js.bin" -- node "$tmp/slow.js" 2>"$tmp/err" &&
	cprof-top -n 0 "$tmp/js.bin" 2>"$tmp/err" | grep -q ' slow$'; then
	like "JavaScript without names" "$(cprof-annotate slow "$tmp/js.bin" 2>"$tmp/err")" \
		'^ +[0-9.]+% +[0-9.]+% +2  function slow'
	unlike "  --no-names" "$(cprof-annotate --no-names slow "$tmp/js.bin" 2>"$tmp/err")" \
		'^ +[0-9.]+% +[0-9.]+% +2  function slow'
else
	skip "JavaScript without names" "node cannot be recorded here"
fi
done_testing
