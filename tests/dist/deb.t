#!/bin/sh
# The Debian package: checked by lintian, installed into a bare root, its unit run by systemd there, removed
# and purged. BUILD/deb has the package. The root is one of this machine's release: BUILD/distros/RELEASE.tar,
# as tests/distros/root leaves it (make check-distros).
if [ -z "${CPROF_DEB:-}" ]; then
	CPROF_DEB=1 exec unshare -m "$0" "$@"
fi
unset CPROF_DEB
. "$(dirname "$0")/lib.sh"
may_record_all
deb=$(ls "$BUILD"/deb/cprof_*.deb 2>/dev/null) || skip_all "there is no package: make deb"

like "there are debugging symbols beside it" "$(ls "$BUILD/deb")" '^cprof-dbgsym_.*deb$'
dpkg-deb -c "$deb" | awk '{ print $6 }' >"$tmp/list"
for f in ./usr/bin/cprof-record ./usr/bin/cprof-sym ./usr/lib/sysusers.d/cprof.conf ./usr/share/man/man1/cprof-record.1.gz ./usr/share/man/man7/cprof.7.gz \
	./usr/share/bash-completion/completions/cprof-top ./usr/share/zsh/vendor-completions/_cprof ./usr/share/doc/cprof/copyright ./usr/share/doc/cprof/README.Debian; do
	ok "it has $f" grep -qxF "$f" "$tmp/list"
done
is "it has the pages to which README links" "$(absent_pages "$tmp/list")" ""
like "and the unit" "$(cat "$tmp/list")" '^\./(usr/)?lib/systemd/system/cprof\.service$'
if command -v lintian >/dev/null; then
	is "lintian finds nothing" "$(lintian --allow-root --fail-on none "$BUILD"/deb/*.changes 2>&1 | grep -v '^running with root')" ""
else
	fail "lintian finds nothing"
	diag "lintian is not available: apt-get install lintian"
fi

enter_root
ok "the lists are there" quiet apt-get update
# Its dependencies, systemd for its unit, and setcap
ok "what it wants is installed" quiet apt-get install -y --no-install-recommends systemd libcap2-bin $(dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed 's/|.*//; s/(.*//' | xargs)
inside dpkg -l | awk '{ print $1, $2 }' >"$tmp/before"
state >"$tmp/files-before"
cp "$deb" "$root/tmp/cprof.deb"
ok "dpkg -i installs it" quiet dpkg -i /tmp/cprof.deb
is "the user is there" "$(inside getent passwd cprof | cut -d: -f1,6)" "cprof:/var/lib/cprof"
is "nothing is enabled" "$(inside systemctl is-enabled cprof 2>&1)" disabled
inside cprof-record -q -o /tmp/s.bin -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done'
is "it records" "$?" 0
like "and draws" "$(inside sh -c 'cprof-sym /tmp/s.bin 2>/dev/null | cprof-flame' | tail -n 1)" '</html>'
is "the file has no capabilities" "$(inside getcap /usr/bin/cprof-record)" ""
inside dpkg-statoverride --update --add root cprof 0750 /usr/bin/cprof-record
ok "the administrator chooses them" quiet dpkg-reconfigure cprof
like "  and it has them" "$(inside getcap /usr/bin/cprof-record)" 'cap_sys_ptrace,cap_syslog,cap_perfmon,cap_bpf[+=]ep'
is "  for a group alone" "$(inside stat -c '%G %a' /usr/bin/cprof-record)" "cprof 750"
ok "  again when it is installed again" quiet dpkg -i /tmp/cprof.deb
like "  it has them still" "$(inside getcap /usr/bin/cprof-record)" 'cap_bpf'
inside dpkg-statoverride --remove /usr/bin/cprof-record
ok "  until they are taken back" quiet dpkg -i /tmp/cprof.deb
is "  when it has none" "$(inside stat -c '%G %a' /usr/bin/cprof-record) $(inside getcap /usr/bin/cprof-record)" "root 755 "

why=$(run_unit systemctl stop cprof)
if [ -z "$why" ]; then
	is "systemd runs its unit as the user, who owns the captures" "$(sed 's/^StatusText=99 Hz, [1-9][0-9]* samples, .*/its figures/; s/ *$//' "$root/said" | tr '\n' ',')" \
		"its figures,ActiveState=active,cprof,Result=success,cprof:cprof 640,over,"
else
	fail "systemd runs its unit"
	diag "$why"
fi
clear_unit
rm -f "$root/tmp/s.bin"

ok "it is removed" quiet dpkg -r cprof
is "  with its programs" "$(ls "$root/usr/bin" | grep cprof)" ""
ok "and purged" quiet dpkg -P cprof
is "nothing knows of the user" "$(inside getent passwd cprof; inside getent group cprof)" ""
is "no package came or went" "$(inside dpkg -l | awk '{ print $1, $2 }' | diff "$tmp/before" -)" ""
state >"$tmp/files-after"
is "no file is left of it" "$(diff "$tmp/files-before" "$tmp/files-after" | grep -i '^>.*cprof')" ""
is "no directory either" "$(cd "$root" && find . -xdev -name 'cprof*' ! -path './tmp/*' ! -path './var/log/*' ! -path './proc/*' ! -path './sys/*' ! -path './dev/*')" ""
done_testing
