#!/bin/sh
# contrib/bootstrap with the package managers of other distributions, replaced by programs that
# log their arguments
. "$(dirname "$0")/../lib/lib.sh"

# A system with only these programs; paths that show that something is installed are below $tmp/root.
mkdir -p "$tmp/tree/contrib" "$tmp/root" "$tmp/base" "$tmp/empty"
for p in sh env dirname cat sort tr sed grep head id nproc awk sha256sum; do
	ln -s "$(command -v $p)" "$tmp/base/$p"
done
# Like BusyBox's, without long options
rm "$tmp/base/sha256sum"
printf '#!/bin/sh\ncase $* in *--*) exit 1 ;; esac\nexec %s "$@"\n' \
	"$(command -v sha256sum)" >"$tmp/base/sha256sum"
chmod +x "$tmp/base/sha256sum"
sed "s,^\(	[a-z]* *\)/\(usr\|lib\)/,\1$tmp/root/\2/," "$top/contrib/bootstrap" >"$tmp/tree/contrib/bootstrap"

# fake DIRECTORY PROGRAM...: makes programs that log their arguments, and fail if DIRECTORY/fails exists
fake() {
	mkdir -p "$1"
	d=$1
	shift
	for p; do
		printf '#!/bin/sh\necho "%s $*" >>%s\n[ ! -e "%s/fails" ]\n' "$p" "$tmp/log" "$d" >"$d/$p"
		chmod +x "$d/$p"
	done
}
# bootstrap DIRECTORY TARGET: prints the calls except those of make, one a line
bootstrap() {
	: >"$tmp/log"
	PATH=$1:$tmp/base sh "$tmp/tree/contrib/bootstrap" "$2" </dev/null >"$tmp/out" 2>"$tmp/err"
	st=$?
	grep -v '^make' "$tmp/log"
	return $st
}
for m in apt-get dnf zypper apk pacman; do
	fake "$tmp/$m" "$m" make
done
fake "$tmp/apt-get" apt-cache
for m in dnf zypper; do
	printf '#!/bin/sh\n[ -e "%s/full" ]\n' "$tmp/$m" >"$tmp/$m/rpm"
	chmod +x "$tmp/$m/rpm"
done
# These two are asked for installed packages, too; and make finds no bpftool.
printf '#!/bin/sh\nif [ "$1" = info ]; then [ -e "%s/full" ]; else echo "apk $*" >>%s; fi\n' "$tmp/apk" "$tmp/log" >"$tmp/apk/apk"
printf '#!/bin/sh\nif [ "$1" = -Q ]; then [ -e "%s/full" ]; else echo "pacman $*" >>%s; fi\n' "$tmp/pacman" "$tmp/log" >"$tmp/pacman/pacman"
for m in apt-get dnf zypper apk pacman; do
	printf '#!/bin/sh\necho "make $*" >>%s\n[ "$*" != "-s bpftool" ]\n' "$tmp/log" >"$tmp/$m/make"
done

rows=$(sed -n "/<<-'END'/,/^	END/p" "$top/contrib/bootstrap" | sed '1d;$d')
is "each row has a target, a program or path, and a name for each manager" "$(echo "$rows" | awk 'NF != 7' | head)" ""
is "each package is a name or -" "$(echo "$rows" | tr -s ' \t' '\n' | grep -vE '^([A-Za-z][A-Za-z0-9+._-]*|-|/.*|)$')" ""
is "only the pprof schema is not known to all for the build" "$(echo "$rows" | awk '$1 == "build" && / - /' | awk '{ print $3 }')" golang-github-google-pprof-dev

# make check-distros: a suite has one root, which a second argument would find used.
status "a suite that is given twice" 2 env DISTROS="trixie:demo sid trixie:core" "$tests/distros/check"
is "  the message says what to do" "$(cat "$tmp/err")" \
	"check-distros: trixie is given twice: join its pieces, as trixie:demo,core"

skip_root=$([ "$(id -u)" = 0 ] || echo 1)
if [ "$skip_root" ]; then
	skip "the managers' calls" "not root: bootstrap would look for sudo"
	done_testing
fi
build() { echo "$rows" | awk -v c="$1" '$1 == "build" && $c != "-" && $c != "make" { print $c }' | sort -u | xargs; }
PACMAN_LISTS=$tmp/empty
export PACMAN_LISTS

said=$(bootstrap "$tmp/dnf" build)
is "dnf asks nothing" "$said" "dnf -y --setopt=install_weak_deps=False install $(build 4)"
like "  and has Fedora's names" "$said" ' bpftool clang elfutils-devel elfutils-libelf-devel gcc glibc-devel '
said=$(bootstrap "$tmp/apk" build)
is "apk never asks" "$said" "apk update
apk add $(build 5)"
like "  and has Alpine's names" "$said" ' elfutils-dev gcc jansson-dev libbpf-dev libdeflate-dev linux-headers musl-dev '
said=$(bootstrap "$tmp/pacman" build)
is "pacman asks nothing, and fetches lists if there are none" "$said" "pacman -Sy --noconfirm
pacman -S --noconfirm --needed $(build 6)"
like "  and has Arch's names" "$said" ' binutils bpf clang gcc glibc jansson libbpf libdeflate libelf linux-api-headers '
touch "$tmp/empty/core.db"
is "  those that are there stay: the rest of the system fits them" "$(bootstrap "$tmp/pacman" build)" "pacman -S --noconfirm --needed $(build 6)"
said=$(bootstrap "$tmp/zypper" build)
is "zypper asks nothing" "$said" "zypper --non-interactive refresh
zypper --non-interactive install --no-recommends $(build 7)"
like "  and has openSUSE's names" "$said" ' glibc-devel libbpf-devel libdeflate-devel libdw-devel libelf-devel '
like "apt as before" "$(bootstrap "$tmp/apt-get" build | grep '^apt-get')" '^apt-get install -y --no-install-recommends .*linux-tools-common.* gcc .*libiberty-dev'
like "the tests' packages come for the tests" "$(bootstrap "$tmp/dnf" check)" ' gcc-c\+\+ .*perl-Test-Harness .*python3 '
unlike "  and no others" "$(bootstrap "$tmp/dnf" check)" ' - '
is "then it is built and tested" "$(grep '^make' "$tmp/log" | tail -n 2 | xargs)" "make -j$(nproc) all make check"

PATH=$tmp/dnf:$tmp/base sh "$tmp/tree/contrib/bootstrap" check A=1 B="2 3" </dev/null >/dev/null 2>&1
is "settings are handed to make" "$(grep '^make' "$tmp/log" | tail -n 2 | xargs)" "make -j$(nproc) A=1 B=2 3 all make A=1 B=2 3 check"
PATH=$tmp/dnf:$tmp/base sh "$tmp/tree/contrib/bootstrap" check now </dev/null >/dev/null 2>"$tmp/err" && st=0 || st=$?
is "  anything else is an error" "$st $(cat "$tmp/err")" "2 usage: contrib/bootstrap build | demo | check [NAME=VALUE]..."

for m in dnf zypper apk pacman; do
	touch "$tmp/$m/full"
	is "$m: what is installed is not installed again" "$(bootstrap "$tmp/$m" build; cat "$tmp/err")" ""
done
cp "$tmp/dnf/dnf" "$tmp/zypper/zypper" "$tmp/apk/apk" "$tmp/pacman/pacman" "$tmp/apt-get/"
is "a Debian that has other managers, too, uses its own" "$(bootstrap "$tmp/apt-get" build | sed 's/ .*//' | grep -v apt-cache | sort -u)" apt-get

rm "$tmp/dnf/full"
mkdir "$tmp/tree/prebuilt"
echo source >"$tmp/tree/source"
(cd "$tmp/tree" && sha256sum source >prebuilt/sources)
is "a release's build asks for neither clang nor bpftool" "$(bootstrap "$tmp/dnf" build)" \
	"dnf -y --setopt=install_weak_deps=False install $(build 4 | sed 's/ bpftool clang / /; s/^bpftool clang //; s/ bpftool / /; s/ clang / /')"
like "  but the tests do" "$(bootstrap "$tmp/dnf" check)" ' bpftool .*clang '
echo changed >"$tmp/tree/source"
like "  and so does a changed source" "$(bootstrap "$tmp/dnf" build)" ' bpftool .*clang '
rm -r "$tmp/tree/prebuilt"
touch "$tmp/dnf/fails"
bootstrap "$tmp/dnf" build >/dev/null && st=0 || st=$?
is "where the packages cannot be installed it ends" "$st: $(grep '^make -j' "$tmp/log")" "1: "
fake "$tmp/none" make
printf '#!/bin/sh\n[ "$*" != "-s bpftool" ]\n' >"$tmp/none/make"
bootstrap "$tmp/none" build >/dev/null && st=0 || st=$?
is "without a manager, too" "$st" 1
like "  and says what is to be installed" "$(cat "$tmp/err")" \
	'apt-get, dnf, apk, pacman, zypper.* bpftool .*libbpf-dev'

if command -v gcc >/dev/null && [ -e /usr/include/libiberty/demangle.h ]; then
	mkdir "$tmp/fedora"
	ln -s /usr/include/libiberty/*.h "$tmp/fedora/"
	for h in /usr/include/*; do [ "${h##*/}" = libiberty ] || [ -e "$tmp/fedora/${h##*/}" ] || ln -s "$h" "$tmp/fedora/"; done
	ok "libiberty's header may be where Fedora has it" gcc -std=gnu11 -D_GNU_SOURCE -DHAVE_LIBIBERTY -I"$top" -nostdinc \
		-isystem "$(gcc -print-file-name=include)" -isystem "$tmp/fedora" -isystem "/usr/include/$(gcc -print-multiarch)" \
		-fsyntax-only "$top/common/demangle/demangle.c"
else
	skip "libiberty's header may be where Fedora has it" "it is not here"
fi
done_testing
