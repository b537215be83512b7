#!/bin/sh
# The released source has its BPF programs built, so it requires neither clang nor bpftool. Packing gives the
# same bytes each time.
. "$(dirname "$0")/../lib/lib.sh"
[ -x "$BIN/cprof-record" ] || skip_all "the recorder is not built"
cd "$top" || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS SAN

arch=$(uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/')
ok "the source is copied" contrib/dist/source "$tmp/a/cprof" "$BUILD/bpf" "$arch"
tree=$tmp/a/cprof
is "with the commit" "$(cat "$tree/prebuilt/commit" 2>/dev/null)" "$(contrib/dist/commit)"
is "  and its time" "$(cat "$tree/prebuilt/date")" "$(contrib/dist/commit date)"
is "  and all BPF programs" "$(cd "$tree/prebuilt/$arch" && echo *)" "$(cd bpf && for p in *.bpf.c; do echo "${p%.bpf.c}.skel.h"; done | xargs)"
like "  and what they are made of" "$(cat "$tree/prebuilt/sources")" '  common/walk/walk\.h$'
is "  all of it" "$(awk '{ print $2 }' "$tree/prebuilt/sources" | grep -c '^bpf/.*\.bpf\.c$')" "$(ls bpf/*.bpf.c | wc -l)"
is "nothing that was built otherwise" "$(cd "$tree" && find . -name build -o -name '*.skel.h' ! -path './prebuilt/*')" ""

# said VARIABLE=VALUE...: prints how make would build the skeletons there
said() { make -n -C "$tree" BUILD=b V=1 "$@" $(cd bpf && for p in *.bpf.c; do echo "b/bpf/${p%.bpf.c}.skel.h"; done) 2>&1; }
unlike "they are taken as they are" "$(said)" 'clang|bpftool|gen skeleton'
like "  from prebuilt" "$(said)" "cp prebuilt/$arch/"
ok "  and are those of the build" make -s -C "$tree" BUILD=b b/bpf/sample.skel.h
same "  byte for byte" "$tree/b/bpf/sample.skel.h" "$BUILD/bpf/sample.skel.h"
other=aarch64
[ "$(uname -m)" != aarch64 ] || other=x86_64
like "not for another processor" "$(said PROCESSOR=$other | grep -e ' -c -o ')" '-c -o b/bpf/event.bpf.o'
echo "/* changed */" >>"$tree/common/walk/walk.h"
like "nor if a source was changed since" "$(said | grep -e ' -c -o ')" '-c -o b/bpf/sample.bpf.o'

# The same files in another place, by a user with another umask, at another time
mkdir "$tmp/b" "$tmp/c"
cp -r contrib "$tmp/b/cprof"
(umask 077 && cp -r contrib "$tmp/c/cprof")
find "$tmp/c/cprof" -exec touch -d 2001-01-01 {} +
ok "a directory is packed" contrib/dist/pack "$tmp/b/cprof" 1700000000
ok "and a copy of it" contrib/dist/pack "$tmp/c/cprof" 1700000000
same "to the same bytes" "$tmp/b/cprof.tar.xz" "$tmp/c/cprof.tar.xz"
is "of one time, of nobody" "$(TZ=UTC tar --numeric-owner -tvf "$tmp/b/cprof.tar.xz" | awk '{ print $2, $4, $5 }' | sort -u)" "0/0 2023-11-14 22:13"
is "that all can read and only their owner write" "$(tar -tvf "$tmp/b/cprof.tar.xz" | cut -c 1-10 | sort -u | xargs)" "-rw-r--r-- -rwxr-xr-x drwxr-xr-x"
done_testing
