# For tests of packages, in addition to tests/lib/lib.sh. They are not part of `make check`: run make check-dist.
. "$(dirname "$0")/../lib/lib.sh"
[ -e "$BUILD/static" ] || [ -e "$BUILD/dist" ] || skip_all "no packages are built here: run make check-dist"
unset MAKEFLAGS MAKELEVEL MFLAGS

# absent_pages LIST: prints the pages in contrib to which README links and which a package, with the files in
# LIST, lacks. HACKING.md is about the source, which no package has.
absent_pages() {
	grep -oE '\]\(contrib/[A-Z]+\.md\)' "$top/README.md" | grep -oE '[A-Z]+\.md' | sort -u |
		grep -vx HACKING.md | while read -r page; do
		grep -qE "/usr/share/doc/cprof/$page(\.gz)?\$" "$1" || echo "$page"
	done
}

# enter_root: makes $root a bare root of this machine's release, for inside and quiet. The caller must have
# its own mount namespace. ROOT_TAR is a tar of the root to use instead of BUILD/distros/RELEASE.tar.
enter_root() {
	release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	mkdir "$tmp/root"
	root=$tmp/root
	tar=${ROOT_TAR:-$BUILD/distros/$release.tar}
	if [ ! -s "$tar" ]; then
		"$top/tests/distros/root" "$release" "$BUILD/distros" >"$tmp/out" 2>&1
		rm -rf --one-file-system "$BUILD/distros/${release:?}"
	fi
	if ! tar -C "$root" -xpf "$tar" 2>"$tmp/err"; then
		fail "there is a bare root"
		diag "$(cat "$tmp/err" "$tmp/out" 2>/dev/null)"
		done_testing
	fi
	cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
	apt-config dump | grep -E '^Acquire::https?::Proxy ' >"$root/etc/apt/apt.conf.d/proxies"
	echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
	printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
	chmod 755 "$root/usr/sbin/policy-rc.d"
	for d in proc sys dev; do mount --rbind /$d "$root/$d"; done
	trap 'umount -R -l "$root/proc" "$root/sys" "$root/dev"; rm -rf --one-file-system "$tmp"' EXIT
}
inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive chroot "$root" "$@" </dev/null; }
quiet() { inside "$@" >"$tmp/out" 2>&1 || { cat "$tmp/out"; return 1; }; }
# state: lists the root's files, except those that other programs write when a package comes and goes
state() { (cd "$root" && find . -xdev ! -type d ! -path './tmp/*' ! -path './var/cache/*' ! -path './var/log/*' ! -path './var/lib/dpkg/*' ! -path './proc/*' ! -path './sys/*' ! -path './dev/*' | sort); }

# run_unit COMMAND: lets systemd run the unit in this root, as the first process of its own namespaces,
# without --max-cost, as in recipe-service.t. COMMAND ends the unit. The findings go to $root/said; prints a
# reason if there are none.
run_unit() {
	echo "$*" >"$root/end"
	group=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/cprof-${0##*/}-$$
	mkdir "$group" 2>/dev/null || { echo "no control group can be made"; return; }
	mkdir -p "$root/etc/systemd/system/cprof.service.d"
	printf '[Unit]\nDefaultDependencies=no\n[Service]\nExecStart=\n%s\n' "$(sed -n 's/ --max-cost 0.5//; /^ExecStart=/p' "$root"/lib/systemd/system/cprof.service)" \
		>"$root/etc/systemd/system/cprof.service.d/test.conf"
	printf '[Unit]\nDefaultDependencies=no\nWants=cprof.service\n' >"$root/etc/systemd/system/alone.target"
	cat >"$root/init" <<-'END'
		mount -t proc proc /proc && mount -t tmpfs none /run && mount -t cgroup2 none /sys/fs/cgroup || exit
		mkdir -p /run/systemd/system /run/lock
		{
			for _ in $(seq 300); do
				systemctl show -p StatusText cprof 2>/dev/null | grep -q samples && break
				sleep 0.1
			done
			systemctl show -p ActiveState -p StatusText cprof
			ps -o user= -p "$(systemctl show -P MainPID cprof)" 2>/dev/null || stat -c %U "/proc/$(systemctl show -P MainPID cprof)"
			sh /end
			systemctl show -p Result cprof
			stat -c '%U:%G %a' /var/lib/cprof/*.cprof
			echo over
		} >/said 2>&1 </dev/null &
		exec /lib/systemd/systemd --system --log-target=console --unit=alone.target
	END
	container=other sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" \
		unshare -p -m -u -i -C -f --kill-child=KILL sh -c 'mount --rbind "$1" "$1" && cd "$1" && pivot_root . . && umount -l . && cd / &&
			exec chroot . /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin container=other sh /init' sh "$root" >"$tmp/console" 2>&1 </dev/null &
	box=$!
	tries=0
	until grep -q '^over' "$root/said" 2>/dev/null || [ $((tries = tries + 1)) -gt 1200 ]; do sleep 0.1; done
	kill -KILL $box
	wait $box 2>/dev/null
	tries=0
	until find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || [ $((tries = tries + 1)) -gt 50 ]; do sleep 0.1; done
	[ -s "$root/said" ] || { echo "systemd does not start here"; tail -n 5 "$tmp/console"; }
}
# clear_unit: removes all files of run_unit.
clear_unit() {
	rm -rf "$root/init" "$root/said" "$root/end" "$root/etc/systemd/system/alone.target" "$root/etc/systemd/system/cprof.service.d" "$root/run/systemd"
}
