#!/bin/sh
# make dist: the contents of the tarballs; and building the second from the first, elsewhere, without clang,
# gives the same bytes.
. "$(dirname "$0")/lib.sh"
version=$(cat "$BUILD/static/version" 2>/dev/null) || skip_all "there are none: make dist"
source=cprof-$version binary=cprof-$version-linux-$(uname -m) dist=$BUILD/dist
[ -e "$dist/$binary.tar.xz" ] || skip_all "there is no $binary.tar.xz: make dist"

is "the checksums beside them are theirs" "$(cd "$dist" && sha256sum -c SHA256SUMS 2>&1)" "$source.tar.xz: OK
$binary.tar.xz: OK"
mkdir -p "$tmp/some/where/else" "$tmp/bin"
tar -C "$tmp" -xf "$dist/$binary.tar.xz"
cd "$tmp/$binary" || exit 1
programs=$(cd "$BIN" && echo cprof*)
is "the files" "$(ls | xargs) $(ls bin | xargs)" "LIBRARIES LICENSE README.md SHA256SUMS bin lib share $programs"
is "with all pages" "$(ls share/man/man* | grep -c '^cprof')" "$(ls "$top/man" | wc -l)"
is "each has its checksum" "$(sha256sum --quiet -c SHA256SUMS; awk '{ print $2 }' SHA256SUMS | sort)" "$(find * -type f ! -name SHA256SUMS | sort)"
is "programs need no library" "$(readelf -ld bin/* | grep -E 'INTERP|NEEDED')" ""
is "  and say their version" "$(for p in bin/*; do "$p" --version; done | sed 's/^[^ ]* //' | sort -u)" "$version"
like "the unit runs what is in /usr/local" "$(cat lib/systemd/system/cprof.service)" '^ExecStart=/usr/local/bin/cprof-record '
like "the libraries' versions are known" "$(cat LIBRARIES)" '^libbpf [0-9.]+$'
is "no path of this machine is in it, debugging information included" "$(grep -lF "$top/" "$BUILD"/static/bin/* bin/*)" ""
bin/cprof-record -q -o s.bin -- true
like "it records" "$(bin/cprof-sym s.bin 2>/dev/null | bin/cprof-flame | tail -n 1)" '</html>'

# A PATH with all programs except those of the kernel part
for d in /usr/local/bin /usr/bin /bin /usr/sbin /sbin; do
	for p in "$d"/*; do
		case ${p##*/} in
		clang* | bpftool* | git) ;;
		*) [ -e "$tmp/bin/${p##*/}" ] || ln -s "$p" "$tmp/bin/" ;;
		esac
	done
done
cd "$tmp/some/where/else" || exit 1
tar -xf "$dist/$source.tar.xz"
is "the source has the version" "$(cd "$source" && make -s b/version BUILD=b && cat b/version)" "$version"
rm -rf "$source/b"
ok "built from it without clang, bpftool and git" env PATH="$tmp/bin" nice make -s -j2 -C "$source" dist
same "the source's tarball is the same, byte for byte" "$source/build/dist/$source.tar.xz" "$dist/$source.tar.xz"
same "so is that of the commands" "$source/build/dist/$binary.tar.xz" "$dist/$binary.tar.xz"
done_testing
