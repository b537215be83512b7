#!/bin/sh
# Python with -X perf (CPython 3.12) and -X perf_jit (3.13): its trampolines are followed, and are the names
# if no interpreter is read. PYTHON: as for record-python.t.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/runtimes-lib.sh"

python=
active='import sys; sys.exit(not sys.is_stack_trampoline_active())'
for p in ${PYTHON:-python3 python3.14 python3.13 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python}; do
	[ -z "$python" ] && "$p" -X perf -c "$active" 2>/dev/null && python=$p
done
if [ -n "$python" ]; then
	for x in perf perf_jit; do
		"$python" -X $x -c "$active" 2>/dev/null || continue
		runs "-X $x" "$python" -X $x hot.py
		most "Python with -X $x: each function once" ';<module>;main;middle;leaf(;[^;]*)* [0-9]*$'
		languages='--lang none' runs "-X $x" "$python" -X $x hot.py
		# The first stacks are continued in user space, without the trampolines' code.
		most "  and without frames of Python: by its trampolines" \
			'py::<module>:[^;]*;.*;py::main:[^;]*;.*;py::middle:[^;]*;.*;py::leaf:[^;]*' 0.6
	done
else
	skip "Python with -X perf" "CPython 3.12 or newer is not installed"
fi
done_testing
