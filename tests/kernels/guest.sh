# shellcheck shell=sh
# Guests, for check, bpf and cpus: requires kernels and root, and here and tmp of lib.sh. GUEST_ARCH is
# their machine, as in uname -m: this one's by default, or aarch64, with the busybox of
# tests/arm64/root, in $BUILD/sysroot.
# shellcheck disable=SC2154
export GUEST_ARCH="${GUEST_ARCH:-$(uname -m)}" arch
case $GUEST_ARCH in
x86_64) limit=${GUEST_SECONDS:-300} arch=amd64 qemu=qemu-system-x86 busybox=$(command -v busybox) ;;
aarch64) limit=1200 arch=arm64 qemu=qemu-system-arm busybox=$BUILD/sysroot/bin/busybox ;;
*) echo "tests/kernels: there are no guests of $GUEST_ARCH so far" >&2; exit 1 ;;
esac
for p in "qemu-system-$GUEST_ARCH:$qemu" cpio:cpio apt-get:apt dpkg-deb:dpkg; do
	command -v "${p%:*}" >/dev/null || missing="${missing:-} ${p#*:}"
done
# A guest has no libraries.
[ -x "$busybox" ] && ! ldd "$busybox" >/dev/null 2>&1 || missing="${missing:-} busybox-static"
if [ -n "${missing:-}" ]; then
	echo "tests/kernels: please install${missing}; all it needs: apt-get install --no-install-recommends" \
		"$qemu cpio busybox-static" >&2
	exit 1
fi

# guest JOB RELEASE VMLINUZ: its console and the files it left are in $out
guest() {
	out=$kernels/out-$2
	install -m 755 "$busybox" "$root/bin/busybox"
	mkdir -p "$root/etc" "$root/tmp"
	install -m 644 "$1" "$root/job"
	"$here/boot" "$3" "$root" "$out" $limit 2>"$tmp/boot.err"
}

within() { # DESCRIPTION VALUE LEAST MOST
	if awk -v v="$2" -v a="$3" -v b="$4" 'BEGIN { exit !(v >= a && v <= b) }'; then pass "$1"; else
		fail "$1"; diag "$2, not within $3 and $4"; fi
}
# ledger CAPTURE: prints the expected ticks, and the sum of all outcomes of a tick, over all CPUs
ledger() {
	cprof-dump "$1" | sed -n 's/^ledger time=[0-9]* cpu=\([0-9]*\) outcome=\([a-z-]*\) count=\([0-9]*\)$/\1 \2 \3/p' |
		awk '{ v[$1 " " $2] = $3 } END { for (k in v) { split(k, a, " ")
			if (a[2] == "expected") e += v[k]; else if (a[2] != "sideband-lost") s += v[k] }
			print e + 0, s + 0 }'
}
