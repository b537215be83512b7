#!/bin/sh
# The programs compile with musl's headers, as on Alpine. Compiling all files would take half a minute of CPU
# time: those that include only headers of ISO C and of the tree are left out.
. "$(dirname "$0")/../lib/lib.sh"
cd "$top" || exit 1
command -v musl-gcc >/dev/null || skip_all "musl-gcc is not installed"

# Headers of the kernel and of libraries. musl-gcc looks for musl's own only.
mkdir "$tmp/include"
for h in asm asm-generic bpf dwarf.h elfutils gelf.h jansson.h libdeflate.h libelf.h libiberty linux lzma \
	lzma.h protobuf-c xxhash.h zconf.h zlib.h zstd.h zstd_errors.h; do
	for d in /usr/include "/usr/include/$(gcc -print-multiarch)"; do
		[ ! -e "$d/$h" ] || ln -sfn "$d/$h" "$tmp/include/$h"
	done
done
has() { [ ! -e "$tmp/include/$1" ] || printf '%s' "-DHAVE_$2 "; }
libraries=$(has elfutils/libdw.h LIBDW; has jansson.h JANSSON; has libdeflate.h LIBDEFLATE
	has libiberty/demangle.h LIBIBERTY; has lzma.h LIBLZMA; has zlib.h ZLIB; has zstd.h LIBZSTD)
[ ! -e "$BUILD/pprof/profile.pb-c.h" ] || libraries="$libraries$(has protobuf-c/protobuf-c.h PPROF)"

# musl ARGUMENT...: compiles. The warnings that need no option are errors, as for undeclared functions.
musl() {
	musl-gcc -std=gnu11 -Werror -D_GNU_SOURCE -I. -I"$BUILD" -I"$BUILD/pprof" -isystem "$tmp/include" "$@"
}

printf '#include <malloc.h>\nint main(void)\n{\n\treturn mallopt(1, 2);\n}\n' >"$tmp/glibc.c"
status "the check sees a function of glibc" 1 musl -fsyntax-only "$tmp/glibc.c"
like "  and names it" "$(cat "$tmp/err")" "mallopt"

# beyond_c: of the files on standard input, those that include more than ISO C's headers and the tree's
beyond_c() {
	xargs grep -E '^#include <' |
		grep -Ev '<(assert|ctype|errno|float|inttypes|limits|locale|math|setjmp|signal)\.h>' |
		grep -Ev '<std(arg|atomic|bool|def|int|io|lib|noreturn)\.h>|<(string|time|wchar|wctype)\.h>' |
		sed 's/:.*//' | sort -u
}
# The recorder embeds BPF programs: these files need a build of all.
[ -e "$BUILD/bpf/sample.skel.h" ] && lacking='a^' || lacking='\.skel\.h"'
files=$(find cmd common -name '*.c' | beyond_c | xargs grep -EL "$lacking")
ok "$(echo "$files" | wc -l) files compile" musl -fsyntax-only $libraries $files

# One program without libraries, linked, because some functions of musl do something else.
shared="cli command_line result_file version operands/directory operands/operand_file operands/unpack_child"
ok "cprof-dump is built with musl" musl -O0 -static -ffunction-sections -Wl,--gc-sections -DXXH_INLINE_ALL \
	-o "$tmp/cprof-dump" cmd/cprof-dump.c $(printf 'cmd/shared/%s.c ' $shared) \
	common/base/*.c common/stream/*.c common/compress/*.c common/capture/*.c \
	common/profile/sanitize.c common/select/select.c common/select/time_arg.c
printf 'segment major=1 minor=0 least=1\nmeta key="host" value="h"\nend time=5 reason=closed samples=0\n' \
	>"$tmp/capture.txt"
status "  and makes a capture of text" 0 "$tmp/cprof-dump" -r -o "$tmp/capture" "$tmp/capture.txt"
cprof-dump -r "$tmp/capture.txt" >"$tmp/want"
same "  that glibc's makes, too" "$tmp/capture" "$tmp/want"
for operand in "" "$tmp/capture"; do
	status "an option without its argument${operand:+, after an operand}" 2 "$tmp/cprof-dump" $operand -o
	is "  is reported" "$(head -n 1 "$tmp/err")" "cprof-dump: -o requires an argument"
done
done_testing
