#!/bin/sh
# Runtimes with the options of cprof-languages(7): functions have names, and callers are found.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/runtimes-lib.sh"

no_hint() { unlike "  and the summary has no advice" "$(cat sym.err)" 'cprof-languages'; }

# --- Java ---

if command -v javac >/dev/null && command -v java >/dev/null && javac Hot.java 2>err; then
	frames='-XX:+PreserveFramePointer -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Hot::leaf'
	diagnose='-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit'
	# --lang none: by these options alone
	languages='--lang none' runs "a perf map at exit" java $frames $diagnose Hot
	most "Java with a perf map at exit: from the first frame to the last" \
		'start_thread;.*JavaMain;.*;Interpreter;[^;]*;int Hot.leaf.int.'
	no_hint
	languages='--lang none' runs "without one" java $frames Hot
	cprof-sym c.bin 2>sym.err >sym
	like "Java without a perf map: the summary names the page" "$(cat sym.err)" \
		'frames compiled by Java at run time have no name; cprof-languages\(7\)'
	cprof-fold --truncated sym 2>/dev/null | grep JavaMain >folded
	most "  its stacks go on through the interpreter" '^java;clone'
	like "  whose return addresses follow no call, so not all count as complete" \
		"$(cprof-top -v -n 1 sym 2>/dev/null | grep '^Stacks')" ' [1-9][0-9.]*% by frame pointers'
else
	skip "Java" "no JDK is installed"
fi

# --- PHP ---

jit='-d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M'
status='exit(opcache_get_status()["jit"]["on"] ? 0 : 1);'
if command -v php >/dev/null && php $jit -d opcache.jit=tracing -r "$status" 2>/dev/null; then
	for mode in tracing function; do
		runs "opcache.jit=$mode" php $jit -d opcache.jit=$mode hot.php
		most "PHP's $mode JIT compiler: its code is the function's" \
			'<main>;main;middle;leaf(;.php[^;]*)? [0-9]*$'
	done
	for how in '16 perf map' '32 jitdump file'; do
		languages='--lang none' runs "$how" php $jit -d opcache.jit=function \
			-d opcache.jit_debug="${how%% *}" hot.php
		most "  with a ${how#* } and without frames of PHP: by name" 'JIT.leaf [0-9]*$'
	done
else
	skip "PHP's JIT compiler" "no php with opcache is installed"
fi

# --- Erlang ---

if command -v erl >/dev/null && command -v erlc >/dev/null && erlc hot.erl >err 2>&1; then
	runs "+JPperf true" erl +JPperf true -noshell -eval 'hot:main(), halt().'
	most "Erlang with +JPperf: names and callers" '.*;hot:outer/1;(hot:middle/1;)?hot:leaf/2 [0-9]*$'
else
	skip "Erlang" "erl is not installed"
fi

# --- Mono ---

if command -v mono >/dev/null && command -v mcs >/dev/null && mcs hot.cs >err 2>&1; then
	runs "--jitmap" env MONO_DEBUG=disable_omit_fp mono --jitmap hot.exe
	most "Mono with --jitmap: names and callers" \
		'mono_jit_exec;.*;P:Main .*;P:middle .int.;P:leaf .int. [0-9]*$'
else
	skip "Mono" "mono is not installed"
fi

# --- JavaScriptCore ---

if cc -O1 -o jsc jsc.c $(pkg-config --cflags --libs javascriptcoregtk-4.1 2>/dev/null) 2>err; then
	JSC_useJITDump=1 JSC_jitDumpDirectory=$tmp JSC_useFTLJIT=0 JSC_useDFGJIT=0 runs "JSC_useJITDump" ./jsc
	most "JavaScriptCore with a jitdump file: names and callers" \
		'main;jsc_context.*;(JSC-Baseline: middle#|.libjavascript)[^;]*;JSC-Baseline: leaf#'
else
	skip "JavaScriptCore" "libjavascriptcoregtk-4.1-dev is not installed"
fi
done_testing
