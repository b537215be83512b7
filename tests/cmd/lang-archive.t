#!/bin/sh
# cprof-archive: functions and lines of scripts are in the capture itself, so an archive suffices on a machine
# that has neither the interpreter nor the script.
# shellcheck disable=SC2154 # lib.sh sets tmp and tests
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/lang-lib.sh"

mkdir "$tmp/app" "$tmp/away" "$tmp/empty"
echo 'python 3 c:start m:main m:loop l:<module>:3 m:builtin_sorted m:loop j:Key.of:9' | lang_capture >"$tmp/c"
cprof-fold -l "$tmp/c" >"$tmp/want"
status "a capture with frames of a script is archived" 0 cprof-archive -d "$tmp/archive" "$tmp/c"
cprof-sym --symfs "$tmp/empty" --debug-dir "$tmp/archive" "$tmp/c" 2>/dev/null | cprof-fold -l >"$tmp/got"
same "  named from the archive, it has the same lines" "$tmp/want" "$tmp/got"
like "    of the script" "$(cat "$tmp/got")" '<module> \(main:3\);.*Key.of \(json:9\)'

python=$(readlink -f /usr/bin/python3)
may_record_all
[ -f /sys/kernel/btf/vmlinux ] && [ "$(uname -m)" = x86_64 ] && [ -x "$python" ] ||
	skip_all "it requires BTF, x86-64 and /usr/bin/python3"
cp "$python" "$tmp/app/python3"
cat >"$tmp/app/work.py" <<'END'
import time
def spin(n):
    end = time.thread_time() + 0.5
    while time.thread_time() < end:
        sorted(range(n), key=lambda i: -i)
spin(500)
END
cprof-record -q -F 999 -o "$tmp/live.bin" -- "$tmp/app/python3" "$tmp/app/work.py"
lines() { cprof-fold -l --native none "$1" 2>/dev/null | grep 'spin (work.py:'; }
cprof-sym "$tmp/live.bin" 2>/dev/null >"$tmp/sym.bin"
lines "$tmp/sym.bin" >"$tmp/want"
cprof-fold "$tmp/sym.bin" 2>/dev/null | grep spin >"$tmp/names"
like "a recorded program has lines" "$(sed 's/spin.<locals>.//' "$tmp/want")" \
	';spin \(work.py:5\);<lambda> \(work.py:5\) '
status "  it is archived" 0 cprof-archive -d "$tmp/kept" "$tmp/live.bin"
mv "$tmp/live.bin" "$tmp/away"
rm -r "$tmp/app"
cd "$tmp/away" || exit 1
cprof-sym --symfs "$tmp/empty" --debug-dir "$tmp/kept" live.bin 2>/dev/null >named.bin
lines named.bin >got
same "  without interpreter and script, the lines are the same" "$tmp/want" got
cprof-fold named.bin 2>/dev/null | grep spin >got
same "  and so are the stacks around them" "$tmp/names" got
lines live.bin >got
same "  the lines even without the archive" "$tmp/want" got
done_testing
