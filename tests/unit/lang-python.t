#!/bin/sh
# Python in files: the images of each version from 3.7 on, damaged files, and lines as the interpreter has
# them.
. "$(dirname "$0")/../lib/lib.sh"
python=$BUILD/tests/lang-python
[ "$(uname -m)" = x86_64 ] || skip_all "for x86-64"
facts=$tests/data/lang/python.txt

# source VERSION SIZE TABLE TEXT FORM: assembly of a file with the numbers of an interpreter
source() {
	cat <<-END
		.globl _PyRuntime, PyCode_Type, _start
		.globl _PyEval_EvalFrameDefault, PyGILState_GetThisThreadState
		.text
		_start: ret
		.type _PyEval_EvalFrameDefault, @function
		_PyEval_EvalFrameDefault: .fill 100, 1, 0x90
			ret
		.size _PyEval_EvalFrameDefault, . - _PyEval_EvalFrameDefault
		.type PyGILState_GetThisThreadState, @function
		PyGILState_GetThisThreadState:
	END
	case $5 in
	exe) printf '\tendbr64\n\tmov %%fs:gilstate@tpoff, %%rax\n\tret\n' ;;
	lib)
		printf '\tpush %%rbp\n\tmov %%rsp, %%rbp\n'
		printf '\tlea gilstate@tlsld(%%rip), %%rdi\n\tcall __tls_get_addr@plt\n'
		printf '\tpop %%rbp\n\tmov gilstate@dtpoff(%%rax), %%rax\n\tret\n'
		;;
	esac
	case $5 in exe) at=8 ;; lib) at=40 ;; esac # where 3.15 has the variable
	cat <<-END
		.fill 64, 1, 0x90
		.section .tbss, "awT", @nobits
		.balign 8
		.zero $at
		gilstate: .zero $((41 - at + 7 * (at / 40)))
		.section .rodata
		.asciz "Python $4"
		.asciz "lib/python${4%.*}"
		.data
		.type PyCode_Type, @object
		PyCode_Type: .quad 1, 0, 0, 0, $2
			.zero 360
		.size PyCode_Type, 400
		.section .PyRuntime, "aw"
		.type _PyRuntime, @object
		_PyRuntime:
	END
	[ "$3" = - ] || echo "	.quad $3"
	cat <<-END
			.zero 4096
		.size _PyRuntime, . - _PyRuntime
	END
	[ "$1" = 0 ] || cat <<-END
		.section .rodata
		.globl Py_Version
		.type Py_Version, @object
		Py_Version: .quad $1
		.size Py_Version, 8
	END
}
# make NAME FORM VERSION SIZE TABLE: builds it as $tmp/NAME
make() {
	source "$3" "$4" "$5" "$(echo "$1" | tr -d a-z)" "$2" >"$tmp/$1.s"
	case $2 in
	exe) set -- "$1" -no-pie -Wl,--export-dynamic,--no-as-needed "$tmp/libother.so" ;;
	lib) set -- "$1" -shared ;;
	esac
	built=$1
	shift
	gcc -nostdlib -o "$tmp/$built" "$tmp/$built.s" "$@" 2>"$tmp/err" || cat "$tmp/err" >&2
}
image() { "$python" identify "$1" | sed 's/ loop [0-9]*//g; s/tls-word [0-9]*/tls-word N/'; }

printf 'int other;\n' | gcc -shared -nostdlib -o "$tmp/libother.so" -x c -
n=0
while IFS='|' read -r numbers want; do
	case $numbers in '#'*) continue ;; esac
	# shellcheck disable=SC2086 # words
	set -- $numbers
	n=$((n + 1))
	make "$1" "$2" "$3" "$4" "$5" || break
	is "$1, $2" "$(image "$tmp/$1")" "${want# }"
	cp "$tmp/$1" "$tmp/stripped"
	strip "$tmp/stripped"
	is "  stripped" "$(image "$tmp/stripped")" "${want# }"
	case $1 in *3.1[35]*) ok "  damaged copies" "$python" broken "$tmp/$1" ;; esac
done <"$facts"
ok "there are files of each version" test "$n" -ge 16

# changed TEXT VERSION USABLE NAME FORM PY_VERSION SIZE TABLE: checks the image of a file with these numbers
changed() {
	text=$1 want="version $2 usable $3"
	shift 3
	make "$@"
	is "$text" "$(image "$tmp/$1" | sed 's/ libc .*//')" "$want"
}
row() { awk -v n="$1" -v f="$2" -v c="$3" '$1 == n && $2 == f { print $c }' "$facts"; }
t13=$(row debian3.13.5 exe 5) t16=$(row debian3.15.2 exe 5 | sed "s/,$((0x30f02f0)),/,$((0x31000f0)),/")
changed "a newer version whose table is as long as the newest known one" 031000 1 \
	debian3.16.0 exe 0x31000f0 208 "$t16"
changed "  a table of another length" 031000 0 \
	debian3.16.0 exe 0x31000f0 208 "$(echo "$t16" | sed 's/,936,/,944,/')"
changed "  an offset that is not below the size of its object" 031000 0 debian3.16.0 exe 0x31000f0 208 \
	"$(echo "$t16" | sed 's/,88,8,0,56,80,74,/,88,8,0,96,80,74,/')"
free_threaded() { row "$1" exe 5 | sed 's/^\([0-9]*,[0-9]*\),0,/\1,1,/'; }
changed "free-threaded builds" 030d05 0 free3.13.5 exe 0x30d05f0 200 "$(free_threaded debian3.13.5)"
changed "  of 3.14" 030e0a 0 free3.14.10 exe 0x30e0af0 208 "$(free_threaded debian3.14.10)"
changed "  of 3.15" 030f02 0 free3.15.2 exe 0x30f02f0 208 "$(free_threaded debian3.15.2)"
changed "a table of another version than the file's" 030d04 0 debian3.13.5 exe 0x30d04f0 200 "$t13"
changed "another layout of objects, as in debug builds of 3.7" 030710 0 cpython3.7.16 lib 0 160 -
changed "3.6, if another program has a symbol _PyRuntime" 03060f 0 cpython3.6.15 lib 0 144 -
is "no file of Python" "$("$python" identify "$python")" "no interpreter"

# The loop of an interpreter that is made of tail calls has as many functions as instructions.
{
	cat "$tmp/debian3.15.2.s"
	echo .text
	# symbol NAME BYTES
	symbol() { printf '.type %s, @function\n%s: .zero %s\n.size %s, %s\n' "$1" "$1" "$2" "$1" "$2"; }
	for i in $(seq 200); do
		symbol "_TAIL_CALL_$i" 60
		echo .balign 16
	done
	printf '.section .text.far, "ax"\n.zero 8192\n'
	symbol _TAIL_CALL_X 1
	echo .zero 8192
	symbol _PyEval_EvalFrameDefault.cold 48
} >"$tmp/tail.s"
gcc -nostdlib -shared -o "$tmp/tail" "$tmp/tail.s"
"$python" identify "$tmp/tail" >"$tmp/got"
like "functions of instructions are ranges of the loop" "$(grep -o ' loop.*' "$tmp/got")" \
	'^ loop 101 loop 48 loop 127[0-9][0-9] loop 1 .*loop-called 3$'

# libc: by the interpreter of a program, or by the libraries that it needs
printf 'int other;\n' | gcc -shared -nostdlib -Wl,-soname,libc.musl-x86_64.so.1 -o "$tmp/libmusl.so" -x c -
gcc -nostdlib -shared -Wl,--no-as-needed -o "$tmp/musl" "$tmp/cpython3.13.0.s" "$tmp/libmusl.so"
like "a library of musl" "$("$python" identify "$tmp/musl")" ' libc 1 '
gcc -nostdlib -no-pie -Wl,--export-dynamic,--no-as-needed,-dynamic-linker,/lib/ld-musl-x86_64.so.1 \
	-o "$tmp/musl" "$tmp/debian3.9.2.s" "$tmp/libother.so"
like "a program of musl" "$("$python" identify "$tmp/musl")" ' libc 1 '

# This machine's own
for p in /usr/bin/python3 $(ls /usr/lib/x86_64-linux-gnu/libpython3.*.so.1.0 2>/dev/null); do
	[ -x "$p" ] || [ "${p##*.}" = 0 ] || { skip "$p" "it is not installed"; continue; }
	like "$p" "$(image "$p")" '^version 03[01][0-9a-f]{3} usable 1 .* valid 1 '
done
if [ -x /usr/bin/python3 ]; then
	/usr/bin/python3 "$tests/data/lang/lines.py" 50 >"$tmp/lines"
	like "each offset of 50 modules has the interpreter's line" "$("$python" lines <"$tmp/lines")" \
		'^[1-9][0-9]{3} functions, [1-9][0-9]{5} offsets, 0 wrong$'
	sed 's/ 0:\([0-9]*\)/ 0:1\1/' "$tmp/lines" | "$python" lines >"$tmp/got"
	unlike "  and the check sees another line" "$(tail -n 1 "$tmp/got")" ', 0 wrong'
else
	skip "lines" "there is no /usr/bin/python3"
fi
for v in 3.7 3.8 3.9 3.10 3.11 3.12 3.13 3.14 3.15; do
	like "lines of $v" "$("$python" lines <"$tests/data/lang/lines-$v.txt")" \
		'^[1-9][0-9]* functions, [1-9][0-9]{3} offsets, 0 wrong$'
done
done_testing
