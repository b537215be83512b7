#!/bin/sh
# cprof-record: functions and positions of JavaScript in Node.js, of all tiers, without a flag.
# shellcheck disable=SC2154 # lib.sh sets tmp and tests
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/python-lib.sh"
may_record_all
[ -f /sys/kernel/btf/vmlinux ] || skip_all "the kernel has no BTF"
[ "$(uname -m)" = x86_64 ] || skip_all "stacks are unwound by tables only on x86-64"
node=${NODE:-$(command -v node || :)}
[ -n "$node" ] && [ -x "$node" ] || skip_all "there is no node"
command -v python3 >/dev/null || skip_all "there is no python3"
loads=$tests/loads

# frames WHAT CAPTURE FILE: see node-frames.py
frames() {
	cprof-dump "$2" >"$2.text"
	python3 "$tests/lib/node-frames.py" "$1" "$2.text" "$3"
}
# number KEY TEXT: the number after the word
number() { printf '%s\n' "$2" | sed -n "s/.*$1 \\([0-9]*\\).*/\\1/p"; }

# Before the recorder has read the file of the interpreter, samples have no names: not-yet. A first process
# waits.
status "a program of known shares" 0 sh -c 'cprof-record -q -F 999 -o "$0/known.bin" -- sh -c \
	"\"\$0\" \"\$1/inlined.js\" 1; \"\$0\" \"\$1/known.js\" 0.25 >\"\$2\"" "$1" "$2" "$0/program"' \
	"$tmp" "$node" "$loads"
cprof-sym <"$tmp/known.bin" 2>/dev/null | cprof-fold --native none - >"$tmp/folded"
like "each of many kinds of calls has its share, within 2 points" \
	"$(shares_of "$tmp/folded" "$tmp/program")" '^all 27$'
is "  and none another" "$(shares_of "$tmp/folded" "$tmp/program" | grep -vc '^all')" 0
is "nothing was unreadable or lost" "$(grep '\[javascript: ' "$tmp/folded" | grep -v not-yet)" ""
is "recursion has each of its frames" \
	"$(grep -o 'recursion;.*spin' "$tmp/folded" | tr ';' '\n' | grep -c recursion)" \
	"$((31 * $(grep -c 'recursion;.*spin' "$tmp/folded")))"

for seconds in 2 8 32; do # longer if others have the CPUs
	cprof-record -q -F 999 -o "$tmp/inlined.bin" -- "$node" "$loads/inlined.js" $seconds
	! frames lines "$tmp/inlined.bin" "$loads/inlined.js" | grep -q ':optimized:1$' ||
		[ "$(grep -c '^sample' "$tmp/inlined.bin.text")" -lt 1000 ] || break
done
got=$(frames shares "$tmp/inlined.bin" "$loads/inlined.js" |
	awk '{ is[$1] = $2 } END { sum = is["half"] + is["third"] + is["fifth"]
		for (n in is) is[n] *= 100 / sum
		print (sum > 90 && near(is["half"], 50) && near(is["third"], 30) && near(is["fifth"], 20)) }
	function near(got, want) { return got > want - 6 && got < want + 6 }')
is "inlined functions have their shares, within 6 points" "$got" 1
diag "$(frames shares "$tmp/inlined.bin" "$loads/inlined.js" | tr '\n' ' ')"
frames lines "$tmp/inlined.bin" "$loads/inlined.js" >"$tmp/lines"
is "  each has its own lines" "$(grep ':optimized:1$' "$tmp/lines" | grep -E '^(half|third|fifth|hot):' |
	grep -vE '^(half:[3-6]|third:([7-9]|10)|fifth:1[0-4]|hot:1[4-9]):')" ""
like "  and the inlined one is optimized" "$(cat "$tmp/lines")" '^half:[34]:optimized:1'

# V8 writes further files into the working directory.
cprof-record -q -F 1999 -o "$tmp/map.bin" -- sh -c 'echo $$ >"$0/pid"
	cd "$0" && exec "$1" --perf-basic-prof "$2/known.js" 0.15' "$tmp" "$node" "$loads" >/dev/null
pid=$(cat "$tmp/pid")
got=$(frames map "$tmp/map.bin" "/tmp/perf-$pid.map")
rm -f "/tmp/perf-$pid.map"
is "compiled functions have the names and lines of V8's own map" "$(number wrong "$got")" 0
diag "$got"
ok "  many of them" [ "$(number right "$got")" -ge 5 ]

compact=--compact-on-every-full-gc
"$node" $compact -e 0 2>/dev/null || compact=--always-compact # before V8 11
for options in "" "--expose-gc --gc-interval=3000 $compact"; do
	# shellcheck disable=SC2086 # words
	cprof-record -q -F 1999 -o "$tmp/churn.bin" -- sh -c '"$@" >"$0"' "$tmp/log" "$node" $options \
		"$loads/churn.js" 300
	got=$(frames churn "$tmp/churn.bin" "$tmp/log")
	is "functions that come and go${options:+ and move} are never confused" "$(number wrong "$got")" 0
	diag "$got"
	ok "  nearly all are seen" [ "$(number right "$got")" -gt $((10 * $(number none "$got"))) ]
done

# A program that leaves optimized code some ten thousand times a second, and one that has none.
for what in all none; do
	cprof-record -q -F 1999 -o "$tmp/deopt.bin" -- sh -c '"$@" >"$0"' "$tmp/deopts" "$node" \
		--allow-natives-syntax --trace-deopt "$loads/deopt.js" 3000 $what
	got=$(frames calls "$tmp/deopt.bin" "$loads/deopt.js")
	deopts=$(grep -c '^\[bailout' "$tmp/deopts")
	# A stack that is being rebuilt may have a caller of before: once in some ten thousand.
	ok "callers are right, deoptimized: $what" [ $(($(number wrong "$got") * 3000)) -le \
		"$(number right "$got")" ]
	diag "$deopts deoptimizations, $got"
	ok "  many of them" [ "$(number right "$got")" -ge 1000 ]
	is "  none has another line" "$(number line "$got")" 0
	ok "  nearly all have a line" [ $(($(number unplaced "$got") * 100)) -le \
		"$(number right "$got")" ]
	ok "  few have a frame without a function" [ $(($(number states "$got") * 25)) -le \
		"$(number right "$got")" ]
	[ $what = none ] || ok "  some thousand times a second" [ "$deopts" -ge 6000 ]
done

# (func (export "loop") (param i32) (result i32) ...): a loop that counts the parameter down
cat >"$tmp/special.js" <<'END'
const body = [1, 1, 127, 3, 64, 32, 1, 65, 31, 108, 32, 0, 106, 33, 1, 32, 0, 65, 1, 107, 34, 0,
	13, 0, 11, 32, 1, 11];
const code = [0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 1, 127, 1, 127, 3, 2, 1, 0, 7, 8, 1, 4,
	108, 111, 111, 112, 0, 0, 10, body.length + 2, 1, body.length, ...body];
const loop = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(code))).exports.loop;
function counted(n) { let x = 0; for (let i = 0; i < n; i++) x += loop(100000); return x; }
function matched(n) {
	let x = 0;
	for (let i = 0; i < n; i++) x += /(a|b|ab)*c+d?x$/.test('ab'.repeat(10) + 'cccc') ? 1 : 0;
	return x;
}
counted(+process.argv[2]);
matched(+process.argv[2]);
END
cprof-record -q -F 999 -o "$tmp/special.bin" -- sh -c '"$0" "$1" 2000; "$0" "$1" 2000' \
	"$node" "$tmp/special.js"
cprof-fold "$tmp/special.bin" >"$tmp/special" 2>/dev/null
like "code of WebAssembly has a name" "$(grep -m 1 'counted;.*(wasm)' "$tmp/special")" \
	'counted;.*\(wasm\) [0-9]+$'
like "  and so has that of a regular expression" "$(grep -m 1 'matched;.*(regexp)' "$tmp/special")" \
	'matched;.*\(regexp\) [0-9]+$'

cat >"$tmp/workers.js" <<'END'
const { Worker, isMainThread } = require('worker_threads');
function spin(ms) {
	let x = 0;
	for (const end = Date.now() + ms; Date.now() < end;) x = (x * 31 + 7) % 1000003;
	return x;
}
function inMain(ms) { return spin(ms); }
function inWorker(ms) { return spin(ms); }
if (isMainThread) {
	new Worker(__filename);
	inMain(700);
} else {
	inWorker(700);
}
END
cprof-record -q -F 999 -o "$tmp/workers.bin" -- "$node" "$tmp/workers.js"
got=$(cprof-fold --native none "$tmp/workers.bin" 2>/dev/null |
	grep -oE ';in(Main|Worker);spin' | sort -u | tr -d '\n')
is "threads of their own have names" "$got" ";inMain;spin;inWorker;spin"

cat >"$tmp/short.js" <<'END'
function work(end) { let s; while (Date.now() < end) s = JSON.stringify({ a: [1, 2, 3] }); return s; }
work(Date.now() + Number(process.argv[2]));
END
cprof-record -q -F 999 -o "$tmp/short.bin" -- sh -c '"$0" "$1" 1500; i=0
	while [ $i -lt 20 ]; do "$0" "$1" 20; i=$((i + 1)); done' "$node" "$tmp/short.js"
cprof-sym <"$tmp/short.bin" 2>/dev/null | cprof-fold --native all --from 2 >"$tmp/short"
named=$(awk '/Invoke;|Execution::Call;/ { n = $NF; all += n
		if ($0 !~ /Builtins_InterpreterEntryTrampoline|\[anon\]|\[javascript: /) good += n }
	END { printf "%d", all ? 1000 * good / all : 0 }' "$tmp/short")
ok "short processes: 97 % of the stacks that run JavaScript have all names ($named of 1000)" \
	[ "$named" -ge 970 ]

cat >"$tmp/wait.js" <<'END'
const fs = require('fs'), cell = new Int32Array(new SharedArrayBuffer(4));
function waiter() { Atomics.wait(cell, 0, 0, 10); }
function writer() { fs.writeFileSync('/dev/null', 'x'); }
for (const end = Date.now() + 1000; Date.now() < end;) {
	waiter();
	writer();
}
END
if cprof-record -q --off-cpu -e syscalls:sys_enter_write -o "$tmp/wait.bin" -- \
	"$node" "$tmp/wait.js" 2>"$tmp/err"; then
	like "waits have frames" \
		"$(cprof-fold --native none --event off-cpu:sleep "$tmp/wait.bin" 2>/dev/null |
			grep -m 1 waiter)" \
		';waiter'
	like "other events have frames" \
		"$(cprof-fold --native none --event syscalls:sys_enter_write "$tmp/wait.bin" 2>/dev/null |
			grep -m 1 writer)" ';writer'
else
	skip "waits have frames" "$(head -n 1 "$tmp/err")"
fi
cprof-record -q --lang none -F 999 -o "$tmp/none.bin" -- "$node" "$tmp/short.js" 300
is "--lang none has none" "$(cprof-dump "$tmp/none.bin" | grep -c lang-frame)" 0
done_testing
