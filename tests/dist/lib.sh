# What the tests of artefacts have besides tests/lib.sh. They are not part of `make check`: make check-dist.
. "$(dirname "$0")/../lib.sh"
top=$(cd "$here/../.." && pwd)
unset MAKEFLAGS MAKELEVEL MFLAGS

# enter_root: $root is a bare root of the release that this machine has, for inside and quiet. The caller has a mount namespace
# of its own. ROOT_TAR is a tar of the root to use instead of BUILD/distros/RELEASE.tar.
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
# Files of the system that others write when a package comes and goes.
state() { (cd "$root" && find . -xdev ! -type d ! -path './tmp/*' ! -path './var/cache/*' ! -path './var/log/*' ! -path './var/lib/dpkg/*' ! -path './proc/*' ! -path './sys/*' ! -path './dev/*' | sort); }
