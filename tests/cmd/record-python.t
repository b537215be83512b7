#!/bin/sh
# cprof-record: functions, files and lines of Python programs, in the stacks of the C code around them.
# shellcheck disable=SC2154 # lib.sh sets tmp and tests
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/python-lib.sh"
may_record_all
[ -f /sys/kernel/btf/vmlinux ] || skip_all "the kernel has no BTF"
[ "$(uname -m)" = x86_64 ] || skip_all "stacks are unwound by tables only on x86-64"
python=${PYTHON:-/usr/bin/python3}
[ -x "$python" ] || skip_all "there is no $python"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 7))' || skip_all "$python is older than 3.7"
known=$tests/loads/known.py
qualified=$("$python" -c 'import sys; print(int(sys.version_info >= (3, 11)))')

status "a program of known shares" 0 \
	sh -c 'cprof-record -q -F 999 -o "$0/known.bin" -- "$1" "$2" 0.4 >"$0/program"' \
	"$tmp" "$python" "$known"
cprof-sym <"$tmp/known.bin" 2>/dev/null >"$tmp/sym.bin"
cprof-fold --native none "$tmp/sym.bin" >"$tmp/folded"
# before 3.11 a static method does not know its class
[ "$qualified" = 1 ] || sed -i 's/^Base\.static/static/' "$tmp/program"
like "each kind of call has its share, within 2 points" \
	"$(shares_of "$tmp/folded" "$tmp/program")" '^all 15$'
is "  and none another" "$(shares_of "$tmp/folded" "$tmp/program" | grep -vc '^all')" 0
# The first samples are from before the interpreter's file was read: not-yet.
is "nothing was unreadable or lost" "$(grep '\[python: ' "$tmp/folded" | grep -v not-yet)" ""

cprof-fold -l --native none "$tmp/sym.bin" >"$tmp/lines"
line() { grep -n "$1" "$known" | head -n 1 | cut -d: -f1; }
is "  each line of a method is that of its call" \
	"$(grep -o ';Derived.method ([^)]*)' "$tmp/lines" | sort -u)" \
	";Derived.method (known.py:$(line 'super().method'))"
is "  each line of a caller is that of its call" \
	"$(sed 's/.*;recursion (known.py:\([0-9]*\));recursion .*/\1/;t;d' "$tmp/lines" | sort -u)" \
	"$(line 'recursion(depth - 1')"
like "compiled text has its name as file" "$(grep -m 1 from_text "$tmp/lines")" \
	'from_text \(<made>:2\);spin \(known.py:'
is "the root is the module's code" \
	"$(grep -v -e in_thread -e '\[' "$tmp/folded" | grep ';measured;' | cut -d';' -f2 | sort -u)" \
	"<module>"
is "a thread's is where it began" "$(grep 'in_thread' "$tmp/folded" | cut -d';' -f2 | sort -u | head -n 1)" \
	Thread._bootstrap
is "recursion has each of its frames" "$(grep 'recursion;spin' "$tmp/folded" | grep -o recursion | wc -l)" \
	"$((21 * $(grep -c 'recursion;spin' "$tmp/folded")))"
like "a C function that calls back stays" "$(cprof-fold --native all "$tmp/sym.bin" | grep -m 1 key_of)" \
	'by_sort;.*;key_of;'
# gcc 16 puts nearly all of it into a part, which has no name in a stripped file.
like "  the loop is there on request" "$(cprof-fold --native all "$tmp/sym.bin" | grep -m 1 key_of)" \
	';<module>;.*(_PyEval_EvalFrameDefault|\[[^;]*\+0x[0-9a-f]+\]);key_of'
unlike "  and otherwise not" "$(cprof-fold "$tmp/sym.bin" | grep ';main;')" _PyEval_EvalFrameDefault

cprof-record -q -F 1999 -o "$tmp/methods.bin" -- "$python" "$tests/loads/methods.py" 0.15 >"$tmp/program"
cprof-fold --native none "$tmp/methods.bin" >"$tmp/folded" 2>/dev/null
is "methods have the names of their classes" "$(shares_of "$tmp/folded" "$tmp/program")" "all 20"
is "  and no others" "$(grep ';measured;' "$tmp/folded" | sed 's/ [0-9]*$//' | tr ';' '\n' |
	grep -E '^([A-Z][a-z]+|local)\.' | grep -v -e '^Base.keep' -e '<lambda>$' | sort -u)" \
	"$(sed 's/ .*//; /\./!d' "$tmp/program" | sort -u)"

cat >"$tmp/short.py" <<'END'
import json, sys, time
def work():
    end = time.monotonic() + float(sys.argv[1])
    while time.monotonic() < end:
        json.dumps({"a": [1, 2, 3]})
work()
END
# The first one lasts: on a busy machine it takes long until the recorder has read the interpreter's file.
cprof-record -q -F 999 -o "$tmp/short.bin" -- sh -c '"$0" "$1" 1.5; i=0
	while [ $i -lt 60 ]; do "$0" "$1" 0.03; i=$((i + 1)); done' "$python" "$tmp/short.py"
cprof-sym <"$tmp/short.bin" 2>/dev/null | cprof-fold --native all --from 1.5 >"$tmp/short"
total=$(grep -c . "$tmp/short") # for the message
named=$(awk '/_PyEval_EvalFrameDefault|\[python: / { n = $NF; all += n; if ($0 !~ /\[python: /) good += n }
	END { printf "%d", 1000 * good / all }' "$tmp/short")
ok "60 processes of 40 ms: 98 % of the interpreter's samples have frames ($named of 1000, $total stacks)" \
	[ "${named:-0}" -ge 980 ]

cat >"$tmp/fork.py" <<'END'
import os, time
def in_child():
    end = time.thread_time() + 0.1
    while time.thread_time() < end:
        pass
for _ in range(5):
    if os.fork() == 0:
        in_child()
        os._exit(0)
    os.wait()
END
cprof-record -q -F 999 -o "$tmp/fork.bin" -- "$python" "$tmp/fork.py"
# A function that two CPUs name at once has two ids.
is "forked children have frames" "$(cprof-dump "$tmp/fork.bin" |
	awk '/^function .*name="in_child"/ { sub(/id=/, "function=", $2); ids[$2] }
		/^lang-frame/ { for (i = 1; i <= NF; i++) if ($i in ids && !($3 in seen)) { seen[$3]; n++ } }
		END { print n + 0 }')" 5

# The next program of the process has other functions at the same addresses, with names as long.
cat >"$tmp/first.py" <<'END'
import os, sys, time
def first_name(until):
    while time.thread_time() < until:
        pass
def main():
    first_name(time.thread_time() + 0.4)
    if sys.argv[1] == "1":
        os.execv(sys.executable, [sys.executable, sys.argv[0].replace("first", "other"), "0"])
main()
END
sed 's/first_name/other_name/' "$tmp/first.py" >"$tmp/other.py"
PYTHONHASHSEED=0 setarch -R "$(command -v cprof-record)" -q -F 999 -o "$tmp/exec.bin" -- \
	"$python" "$tmp/first.py" 1
cprof-fold --native none "$tmp/exec.bin" 2>/dev/null >"$tmp/exec"
ok "after exec, functions at the same addresses have their own names" \
	awk '/first_name/ { first += $NF } /other_name/ { other += $NF }
		END { print first + 0, other + 0; exit !(first > 100 && other > 0.4 * (first + other)) }' \
	"$tmp/exec"

# Code of subinterpreters, in the main thread and in another one
if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 8))'; then
	cat >"$tmp/sub.py" <<-'END'
		import sys, threading, time
		try:
		    import _interpreters as interpreters
		except ImportError:
		    import _xxsubinterpreters as interpreters
		code = """
		import time
		def in_NAME():
		    end = time.thread_time() + 0.4
		    while time.thread_time() < end:
		        pass
		in_NAME()
		"""
		def run(name):
		    interpreters.run_string(interpreters.create(), code.replace("NAME", name))
		exec(code.replace("NAME", "main"))
		run("sub")
		t = threading.Thread(target=run, args=("thread",))
		t.start()
		t.join()
	END
	cprof-record -q -F 499 -o "$tmp/sub.bin" -- "$python" "$tmp/sub.py"
	cprof-fold --native none "$tmp/sub.bin" 2>/dev/null >"$tmp/sub"
	ok "subinterpreters have frames, each for its time" \
		awk '{ for (k in n) if (index($0, ";in_" k)) n[k] += $NF }
			BEGIN { n["main"] = n["sub"] = n["thread"] = 0 }
			END { for (k in n) { print k, n[k]; if (n[k] < 150) bad = 1 } exit bad }' "$tmp/sub"
	is "  from their own code on" "$(grep -o ';<module>;in_sub' "$tmp/sub" | sort -u)" ';<module>;in_sub'
	if "$python" -c 'import sys; sys.exit(sys.version_info >= (3, 12))'; then
		is "  and from that of their caller" \
			"$(sed -n '/;in_sub/s/ [0-9]*$//p' "$tmp/sub" | cut -d';' -f2-5 | sort -u)" \
			'<module>;run;<module>;in_sub'
	fi
fi

# Otherwise a script that runs it, as tests/lang/fetch makes
if [ "$(od -An -tx1 -N4 "$(readlink -f "$python")" | tr -d ' ')" = 7f454c46 ]; then
	cp "$(readlink -f "$python")" "$tmp/gone"
	cprof-record -q -F 999 -o "$tmp/gone.bin" -- \
		sh -c '"$0/gone" "$0/fork.py" & while [ "$(readlink /proc/$!/exe)" != "$0/gone" ]; do :; done
			rm "$0/gone"; wait' "$tmp"
	like "a deleted interpreter has frames" \
		"$(cprof-fold --native none "$tmp/gone.bin" 2>/dev/null | grep -m 1 in_child)" 'in_child'
fi

cprof-record -q --lang none -F 999 -o "$tmp/none.bin" -- "$python" "$tmp/short.py" 0.03
is "--lang none has none" "$(cprof-dump "$tmp/none.bin" | grep -c lang-frame)" 0
cprof-record -q --lang perl,ruby -F 999 -o "$tmp/none.bin" -- "$python" "$tmp/short.py" 0.03
is "  nor has a list of others" "$(cprof-dump "$tmp/none.bin" | grep -c lang-frame)" 0
status "an unknown language is refused" 2 cprof-record --lang cobol -- true
like "  by name" "$(cat "$tmp/err")" 'invalid --lang "cobol"'

cat >"$tmp/wait.py" <<'END'
import sys, threading, time
lock = threading.Lock()
def holder():
    for _ in range(20):
        with lock:
            time.sleep(0.01)
        time.sleep(0.001)
def waiter():
    for _ in range(20):
        with lock:
            pass
        time.sleep(0.002)
time.sleep(float(sys.argv[1])) # until the interpreter was read
threads = [threading.Thread(target=f) for f in (holder, waiter)]
for t in threads: t.start()
for t in threads: t.join()
open("/dev/null").close()
END
known=0.3
! sanitized || known=5
if cprof-record -q --off-cpu -e page-faults -o "$tmp/wait.bin" -- \
	"$python" "$tmp/wait.py" $known 2>"$tmp/err"; then
	cprof-fold --native none -l --event off-cpu:sleep "$tmp/wait.bin" >"$tmp/waits" 2>/dev/null
	like "a wait for a lock has its line" "$(grep -m 1 'waiter (' "$tmp/waits")" \
		"waiter \\(wait.py:$(grep -n 'with lock' "$tmp/wait.py" | tail -n 1 | cut -d: -f1)\\)"
	like "  and a sleep" "$(grep -m 1 'holder (.*s\(leep\|elect\)' "$tmp/waits")" \
		"holder \\(wait.py:$(grep -n 'sleep(0.01)' "$tmp/wait.py" | cut -d: -f1)\\)"
	like "other events have frames" \
		"$(cprof-fold --native none --event page-faults "$tmp/wait.bin" 2>/dev/null |
			grep -m 1 '<module>')" '<module>'
else
	skip "waits have lines" "$(head -n 1 "$tmp/err")"
fi
done_testing
