# shellcheck shell=sh
# Guests, for check and bpf: needs kernels and root, and here and tmp of lib.sh.
# shellcheck disable=SC2154
for p in qemu-system-x86_64:qemu-system-x86 cpio:cpio apt-get:apt dpkg-deb:dpkg busybox:busybox-static; do
	command -v "${p%:*}" >/dev/null || missing="${missing:-} ${p#*:}"
done
! ldd "$(command -v busybox)" >/dev/null 2>&1 || missing="${missing:-} busybox-static" # a guest has no libraries
if [ -n "${missing:-}" ]; then
	echo "tests/kernels: please install${missing}; all it needs: apt-get install --no-install-recommends" \
		"qemu-system-x86 cpio busybox-static" >&2
	exit 1
fi
[ "$(uname -m)" = x86_64 ] || { echo "tests/kernels: only on x86_64 so far" >&2; exit 1; }

# guest JOB RELEASE VMLINUZ: its console and what it left are in $out
guest() {
	out=$kernels/out-$2
	install -m 755 "$(command -v busybox)" "$root/bin/busybox"
	mkdir -p "$root/etc" "$root/tmp"
	install -m 644 "$1" "$root/job"
	"$here/boot" "$3" "$root" "$out" 2>"$tmp/boot.err"
}
