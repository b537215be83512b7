#!/bin/sh
# A program in another root, whose libraries are copies of those that other programs use here, with the same
# paths and builds: one file to a reader of names, two files to the kernel.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
[ "$(uname -m)" = x86_64 ] || skip_all "tables are made for x86-64 alone"
[ "$(id -u)" = 0 ] || skip_all "chroot takes root"
deep=$BUILD/frameless/deep
[ -x "$deep" ] || make -s -C "$top" BUILD="$BUILD" "$deep" >"$tmp/make" 2>&1

root=$tmp/root
mkdir -p "$root/proc" "$root/sys" "$root/dev" "$root/tmp"
cp "$deep" "$root/deep"
cp "$BIN/cprof-record" "$root/cprof-record"
ldd "$deep" "$BIN/cprof-record" | grep -o '/[^ ]*\.so[^ ]*' | sort -u | while read -r lib; do
	file=$(readlink -f "$lib") # the kernel's name for it
	mkdir -p "$root${lib%/*}" "$root${file%/*}"
	cp "$file" "$root$file"
	[ "$lib" = "$file" ] || ln -sf "$file" "$root$lib"
done
chroot "$root" /deep 0.01 2>"$tmp/err" || skip_all "no program runs in a root of its own here: $(head -1 "$tmp/err")"

# Other programs here have the C library mapped and are known before the recorded one, but only that one is
# sampled. Within a chroot the namespace cannot be made private, because there is no mount at its root. So
# each mount is a new one, with no others below it, and is undone in any case.
apart="unshare -m"
$apart true 2>/dev/null || apart="unshare -m --propagation unchanged"
: >"$root/dev/null"
$apart sh -c 'status=77
	mount -t proc proc "$0/proc" && mount -t sysfs sysfs "$0/sys" && mount --bind /dev/null "$0/dev/null" && {
		chroot "$0" /cprof-record -q -F 499 -o /tmp/bin -- /deep 2
		status=$?
	}
	for d in dev/null sys proc; do umount "$0/$d" 2>/dev/null; done
	exit $status' "$root" 2>"$tmp/err"
status=$?
[ $status != 77 ] || skip_all "nothing can be mounted here"
is "it is recorded" "$status" 0
cp "$root/tmp/bin" "$tmp/bin"
cprof-sym "$tmp/bin" 2>/dev/null >"$tmp/sym"
cprof-fold -U --truncated --comm deep "$tmp/sym" >"$tmp/folded"
share=$(awk '{ n += $NF } !/\[truncated/ { k += $NF } END { print (n > 100) ? int(100 * k / n) : -1 }' "$tmp/folded")
ok "the program's stacks are whole, nearly all" test "$share" -ge 90 || diag "$(grep -v ';_start;' "$tmp/folded" | head -3)"
done_testing
