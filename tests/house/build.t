#!/bin/sh
# Each header compiles alone, and programs without a kernel part are built without its tools.
. "$(dirname "$0")/../lib/lib.sh"
cd "$top" || exit 1

flags="-std=gnu11 -D_GNU_SOURCE -Wall -Wextra -I. -I$BUILD $(pkg-config --cflags libelf libxxhash)"
target=x86
[ "$(uname -m)" != aarch64 ] || target=arm64
for h in $(find common cmd bpf tests -name '*.h' ! -path 'tests/kernels/*' | sort); do
	# A file includes the header twice, to test its guard, too.
	printf '#include "%s"\n#include "%s"\n' "$h" "$h" >"$tmp/alone.c"
	case $h in
	common/walk/walk*.h | common/walk/java_*.h) asks="-DWALK_ENV=void* -DWALK_FN=static -DWALK_INLINE=inline" ;; # expected from the including file
	bpf/offcpu/*) asks=-D__TARGET_ARCH_$target ;;
	*) asks= ;;
	esac
	ok "$h compiles alone" gcc $flags $asks -fsyntax-only "$tmp/alone.c"
done

# A PATH with all programs except those of the kernel part
mkdir "$tmp/bin"
for d in /usr/local/bin /usr/bin /bin /usr/sbin /sbin; do
	for p in "$d"/*; do
		case ${p##*/} in
		clang* | bpftool*) ;;
		*) [ -e "$tmp/bin/${p##*/}" ] || ln -s "$p" "$tmp/bin/" ;;
		esac
	done
done
without() { env -u SAN -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u BUILD -u BIN PATH="$tmp/bin" "$@"; }

is "this PATH has no clang" "$(without sh -c "command -v clang bpftool")" ""
like "all of it would use them" "$(without make -n BUILD="$tmp/build" all)" "clang .*bpf"
said=$(without make -n BUILD="$tmp/build" offline)
like "make offline would compile" "$said" "gcc .*cprof-dump"
unlike "make offline asks for neither clang, bpftool nor libbpf" "$said" "clang|bpftool|-lbpf"
ok "make offline works without them" without make BUILD="$tmp/build" offline

# For another machine, with a fake compiler that only prints its target: nothing of this machine is used.
mkdir "$tmp/cross"
printf '#!/bin/sh\n[ "$1" != -dumpmachine ] || echo aarch64-linux-gnu\n' >"$tmp/cross/aarch64-linux-gnu-gcc"
chmod 755 "$tmp/cross/aarch64-linux-gnu-gcc"
said=$(env -u SAN -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u BUILD -u BIN PATH="$tmp/cross:$PATH" \
	make -Bn V=1 CROSS=aarch64-linux-gnu- SYSROOT=/nowhere PKG_CONFIG=true all | grep -E "^[^ ]*(gcc|ar|clang) |TARGET_ARCH|idirafter")
like "CROSS= takes the target's compiler, its libraries and a directory of its own" "$said" \
	"^aarch64-linux-gnu-gcc .*--sysroot=/nowhere .*-o build/aarch64-linux-gnu/bin/cprof-record "
like "and its ar" "$said" "^aarch64-linux-gnu-ar "
like "BPF programs are the target's, too" "$said" "^clang .*-D__TARGET_ARCH_arm64 "
like "and take its headers" "$said" "-idirafter /nowhere/usr/include/aarch64-linux-gnu "
unlike "nothing is of this machine" "$said" "^(gcc|ar) |x86"

# The linker silently takes the first of two functions of one name, even if they belong to different rooms.
is "no name has two meanings in the library" \
	"$(nm -g --defined-only "$tmp/build/libcprof.a" | awk '$2 ~ /[TDBR]/ { print $3 }' | sort | uniq -d | tr '\n' ' ')" ""
for c in cmd/cprof.c cmd/cprof-*; do
	name=$(basename "$c" .c)
	[ "$name" != cprof-record ] || continue # it needs the kernel part
	is "$name runs" "$("$tmp/build/bin/$name" --version)" "$name $(cat "$tmp/build/version")"
done
done_testing
