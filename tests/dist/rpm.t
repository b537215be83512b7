#!/bin/sh
# The RPM: its contents and dependencies, and identity when built elsewhere; installed by rpm into a bare root
# of Debian, upgraded and erased there, without systemd and with it. BUILD/rpm has the package; the root is
# that of deb.t. Fedora, RHEL and openSUSE are not tested.
if [ -z "${CPROF_RPM:-}" ]; then
	CPROF_RPM=1 exec unshare -m "$0" "$@"
fi
unset CPROF_RPM
. "$(dirname "$0")/lib.sh"
may_record_all
rpm=$(ls "$BUILD"/rpm/cprof-*.rpm 2>/dev/null) || skip_all "there is no package: make rpm"
if ! command -v rpm >/dev/null || ! command -v cpio >/dev/null; then
	fail "rpm is there"
	diag "rpm is not available: apt-get install rpm cpio"
	done_testing
fi
version=$(cat "$BUILD/static/version") machine=$(uname -m)
source=cprof-$version binary=cprof-$version-linux-$machine
asked() { rpm -qp --qf "$1" "$rpm"; }

mkdir -p "$tmp/some/where/else" "$tmp/home" "$tmp/files"
tar -C "$tmp" -xf "$BUILD/dist/$binary.tar.xz"
programs=$(cd "$BIN" && echo cprof*)
rpm -qpl "$rpm" >"$tmp/list"
for p in $programs; do
	ok "it has $p" grep -qxF "/usr/bin/$p" "$tmp/list"
	ok "  and its completion" grep -qxF "/usr/share/bash-completion/completions/$p" "$tmp/list"
done
is "all pages" "$(sed -n 's,^/usr/share/man/man./\(.*\)\.gz$,\1,p' "$tmp/list" | sort)" "$(ls "$top/man" | sort)"
for f in /usr/lib/systemd/system/cprof.service /usr/lib/sysusers.d/cprof.conf /usr/share/doc/cprof/README.rpm; do
	ok "it has $f" grep -qxF "$f" "$tmp/list"
done
is "it has the pages to which README links" "$(absent_pages "$tmp/list")" ""
is "the license is marked as one" "$(rpm -qp --licensefiles "$rpm")" /usr/share/licenses/cprof/LICENSE
ok "the manual is marked as one" sh -c 'rpm -qpd "$0" | grep -qxF /usr/share/doc/cprof/README.md' "$rpm"
is "all is root's, and nobody else may write" "$(rpm -qp --qf '[%{FILEUSERNAME}:%{FILEGROUPNAME} %{FILEMODES:perms}\n]' "$rpm" | sort -u)" \
	"root:root -rw-r--r--
root:root -rwxr-xr-x
root:root drwxr-xr-x"
is "it asks for a shell only" "$(rpm -qpR "$rpm" | grep -v '^rpmlib(' | sort -u)" /bin/sh
is "  and for what rpm of RHEL 8 can" "$(rpm -qpR "$rpm" | sed -n 's/^rpmlib(\(.*\)).*/\1/p' | sort | xargs)" \
	"CompressedFileNames FileDigests PayloadFilesHavePrefix PayloadIsXz"
is "the version has the commit and its time" "$(asked '%{VERSION}-%{RELEASE} %{BUILDTIME}')" \
	"0.1-0.git$(date -u -d "@$(cat "$BUILD/dist/$source/prebuilt/date")" +%Y%m%d.%H%M%S).$(sed 's/-dirty$/.dirty/' "$BUILD/dist/$source/prebuilt/commit") $(cat "$BUILD/dist/$source/prebuilt/date")"

(cd "$tmp/files" && rpm2cpio "$rpm" | cpio -id --quiet)
is "the programs are those of the tarball" "$(diff -r "$tmp/$binary/bin" "$tmp/files/usr/bin")" ""
is "the unit differs in its path and its user" "$(diff "$tmp/$binary/lib/systemd/system/cprof.service" "$tmp/files/usr/lib/systemd/system/cprof.service" | sed -n 's/^> \([^# ]*[= ]\).*/&/p' | cut -c 1-39)" \
	"> ExecStart=/usr/bin/cprof-record -q -a
> DynamicUser=no
> Group=cprof"
is "no path of this machine is in it" "$(grep -aF "$top/" "$rpm" "$tmp/list"; grep -rlF "$top/" "$tmp/files")" ""

# Built with another user's umask, in another place, from files with today's dates
(
	umask 077
	cd "$tmp/some/where/else" && tar -xf "$BUILD/dist/$source.tar.xz" && tar -xmf "$BUILD/dist/$binary.tar.xz" &&
		HOME=$tmp/home TZ=Asia/Tokyo nice "$source/contrib/dist/rpm" "$source" "$binary" out "${version%%+*}" "$machine"
) >"$tmp/out" 2>&1 || diag "$(cat "$tmp/out")"
ok "built elsewhere, it is the same, byte for byte" cmp "$tmp/some/where/else/out/${rpm##*/}" "$rpm"
is "  and nothing else is left there" "$(ls -A "$tmp/some/where/else/out" "$tmp/home" | grep -v "^$tmp\|^/\|^$")" "${rpm##*/}"
# A later commit, for an upgrade
later=$tmp/some/where/else/$source
echo $(($(cat "$later/prebuilt/date") + 1)) >"$later/prebuilt/date"
ok "a later commit is built" nice "$later/contrib/dist/rpm" "$later" "$tmp/some/where/else/$binary" "$tmp/later" "${version%%+*}" "$machine"

enter_root
cp "$BUILD/tests/burn" "$root/tmp/"
# Runs this machine's rpm without dependency checks, because the root's rpm database lists no shell. Drops the
# advice of Debian's rpm to use alien.
manage() {
	[ "$1" = -q ] || set -- --nodeps "$@"
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin rpm --root "$root" --dbpath /var/lib/rpm "$@" >"$tmp/out" 2>&1 </dev/null
	st=$?
	grep -vE '^rpm: (RPM should not be used|However assuming)' "$tmp/out"
	return $st
}
left() { (cd "$root" && find . -xdev -name 'cprof*' ! -path './tmp/*' ! -path './var/log/*' ! -path './proc/*' ! -path './sys/*' ! -path './dev/*'); }

# installed: tests that it is there, records, and names.
installed() {
	state >"$tmp/files-before"
	is "rpm installs it without a word" "$(manage -i "$rpm"; echo $?)" 0
	is "  all as packed" "$(manage -V cprof; echo $?)" 0
	is "the user is there" "$(inside getent passwd cprof | cut -d: -f1,6)" "cprof:/var/lib/cprof"
	is "the recorder runs" "$(inside cprof-record --version)" "cprof-record $version"
	inside cprof-record -q -o /tmp/s.bin -- /tmp/burn brief 500
	is "it records" "$?" 0
	like "and names" "$(inside sh -c 'cprof-sym /tmp/s.bin 2>/dev/null | cprof-fold')" '^burn;.*;main;.*brief_work [0-9]+$'
	like "and draws" "$(inside sh -c 'cprof-sym /tmp/s.bin 2>/dev/null | cprof-flame' | tail -n 1)" '</html>'
	is "the file has no capabilities" "$(getcap "$root/usr/bin/cprof-record")" ""
}
# erased: tests that nothing is left.
erased() {
	is "nothing knows of the user" "$(inside getent passwd cprof; inside getent group cprof)" ""
	is "no file or directory is left of it" "$(left)" ""
	state >"$tmp/files-after"
	is "nor of another name" "$(diff "$tmp/files-before" "$tmp/files-after" | grep '^>' | grep -vE '^> \./(run/systemd/|var/lib/rpm/|etc/(passwd|group|shadow|gshadow|subuid|subgid)-$)')" ""
}

is "this root has no systemd" "$(inside sh -c 'command -v systemctl systemd-sysusers setcap')" ""
installed
is "rpm erases it" "$(manage -e cprof; echo $?)" 0
erased
manage -i "$rpm" >/dev/null
mkdir "$root/var/lib/cprof"
cp "$root/tmp/s.bin" "$root/var/lib/cprof/"
is "it is erased where there are captures" "$(manage -e cprof; echo $?)" 0
is "  which stay, and with them the user" "$(left; inside getent passwd cprof | cut -d: -f1)" "./var/lib/cprof
cprof"
is "  all of them" "$(ls "$root/var/lib/cprof")" s.bin
rm -r "$root/var/lib/cprof"
is "once they are gone, it is erased with its user" "$(manage -i "$rpm"; manage -e cprof; echo $?)" 0
erased

ok "the lists are there" quiet apt-get update
ok "systemd, setcap and the unit's kill are installed" quiet apt-get install -y --no-install-recommends systemd libcap2-bin procps
installed
is "nothing is enabled" "$(inside systemctl is-enabled cprof 2>&1)" disabled
is "systemd has nothing against the unit" "$(inside systemd-analyze verify --man=no /usr/lib/systemd/system/cprof.service 2>&1)" ""
ok "the administrator enables it" quiet systemctl enable cprof
inside chgrp cprof /usr/bin/cprof-record
inside chmod 0750 /usr/bin/cprof-record
ok "and chooses capabilities" quiet setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog+ep /usr/bin/cprof-record
is "it is upgraded" "$(manage -U "$tmp"/later/cprof-*.rpm; echo $?)" 0
is "  to the later one alone" "$(manage -q cprof).rpm" "$(cd "$tmp/later" && ls)"
like "  and has the capabilities still" "$(inside getcap /usr/bin/cprof-record)" 'cap_sys_ptrace,cap_syslog,cap_perfmon,cap_bpf[+=]ep'
is "  for the group alone" "$(inside stat -c '%G %a' /usr/bin/cprof-record)" "cprof 750"
is "  enabled as before" "$(inside systemctl is-enabled cprof 2>&1)" enabled
inside setcap -r /usr/bin/cprof-record
is "capabilities that are taken back" "$(manage -U --force "$tmp"/later/cprof-*.rpm; echo $?)" 0
is "  do not come again" "$(inside stat -c '%G %a' /usr/bin/cprof-record) $(inside getcap /usr/bin/cprof-record)" "root 755 "
manage -e cprof >"$tmp/erased"
is "rpm erases it" "$?" 0
is "  and says at most that the unit is no longer enabled" "$(grep -v '^Removed ' "$tmp/erased")" ""
erased

# Erased while the unit runs, by the root's own rpm
ok "rpm is installed" quiet apt-get install -y --no-install-recommends rpm
manage -i "$rpm" >/dev/null
why=$(run_unit rpm --dbpath /var/lib/rpm --nodeps -e cprof)
if [ -z "$why" ]; then
	is "systemd runs the unit as the user; erasing ends it, and leaves the captures and their owner" \
		"$(grep -vE '^(rpm: |Removed )' "$root/said" | sed 's/^StatusText=99 Hz, [1-9][0-9]* samples, .*/its figures/; s/ *$//' | tr '\n' ',')" \
		"its figures,ActiveState=active,cprof,Result=success,cprof:cprof 640,over,"
else
	fail "systemd runs the unit"
	diag "$why"
fi
clear_unit
is "  and nothing else" "$(left | grep -v '^\./var/lib/cprof$')" ""
done_testing
