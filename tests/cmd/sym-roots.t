#!/bin/sh
# Files as the processes saw them: in other mount namespaces and roots, deleted, replaced, and afterwards
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"
may_record_all
unshare -m true 2>/dev/null || skip_all 'no mount namespace can be made'

pids=
stop() { [ -z "$pids" ] || kill -KILL $pids 2>/dev/null; wait 2>/dev/null; pids=; }
# Processes that are not our children may take a moment to leave the group.
leave() { i=0; until [ ! -d "$group" ] || rmdir "$group" 2>/dev/null || [ $i = 100 ]; do sleep 0.05; i=$((i + 1)); done; }
trap 'stop; leave; rm -rf "$tmp"' EXIT
group=$(awk '{ for (i = 7; $i != "-"; i++); if ($(i + 1) == "cgroup2") { print $5; exit } }' /proc/self/mountinfo)/cprof-test.$$
mkdir "$group" 2>/dev/null || group=
chmod 755 "$tmp"

# lib FILE FUNCTION [none]: builds a library whose spin() never leaves FUNCTION; with a build ID or without
lib() {
	gcc -O1 -shared -fPIC -fno-omit-frame-pointer -Wl,--build-id="${3:-sha1}" -DNAME="$2" -o "$1" -x c - <<'X'
volatile long counter;
__attribute__((noinline, noclone)) void NAME(void) { for (;;) counter++; }
void spin(void) { NAME(); counter++; }
X
}
# begin NAME COMMAND...: COMMAND becomes a process that spins during the recording
begin() {
	name=$1
	shift
	"$@" >"$tmp/$name.ready" 2>&1 &
	pids="$pids $!"
	eval "pid_$name=$!"
	i=0
	while ! grep -qs ready "$tmp/$name.ready" && [ $i -lt 200 ]; do sleep 0.05; i=$((i + 1)); done
	grep -q ready "$tmp/$name.ready" || diag "$name: $(cat "$tmp/$name.ready")"
	kill -STOP $!
}
# leaf NAME [CAPTURE]: prints the innermost function in most of its samples
leaf() {
	cprof-fold -U --comm "$1" "${2:-$tmp/sym}" 2>/dev/null |
		awk '{ n = $NF; sub(/ [0-9]+$/, ""); k = split($0, f, ";"); s[f[k]] += n } END { for (l in s) if (s[l] > m) { m = s[l]; b = l } print b }'
}
# why PATH: prints the status of the file whose path begins with PATH, and where it was found
why() {
	cprof-dump "$tmp/sym" | awk -v p="path=\"$1" '
	$1 == "file" && index($0, p) { sub(/id=/, "", $2); id[$2] = 1 }
	$1 == "source" { f = substr($2, 6); if (f in id) { sub(/status=/, "", $3); sub(/^path="/, "", $5); sub(/"$/, "", $5); print $3, $5 } }' |
		sed 's,/[0-9][0-9]*/,/PID/,; s,map_files/.*,map_files/…,; s,task/[0-9]*/,task/TID/,' | sort -u
}

spin=$BUILD/tests/sym-roots
[ -x "$spin" ] || skip_all 'tests/sym-roots is not built'
mkdir "$tmp/d" "$tmp/n"
cp "$spin" "$tmp/spin"

# One path with one file for everybody, and other files for two containers
for kind in sha1 none; do
	lib "$tmp/$kind.so" outside $kind
	for who in one two; do lib "$tmp/n/$who-$kind.so" "inside_$who" $kind; done
done
cat >"$tmp/container" <<X
mount -t tmpfs none $tmp/d && cp $tmp/n/\$1-sha1.so $tmp/d/sha1.so && cp $tmp/n/\$1-none.so $tmp/d/none.so &&
	exec $tmp/spin $tmp/d/\$2.so \$3
X
cp "$tmp/sha1.so" "$tmp/none.so" "$tmp/d"
for kind in sha1 none; do
	begin "all_$kind" "$tmp/spin" "$tmp/d/$kind.so" "all_$kind"
	for who in one two; do begin "${who}_$kind" unshare -m sh "$tmp/container" $who $kind "${who}_$kind"; done
done
# In a root of its own; the library is replaced by an absolute link while it runs.
cat >"$tmp/pivot" <<X
mount -t tmpfs none $tmp/n && cd $tmp/n && mkdir -p old lib opt && cp $tmp/spin spin && cp $tmp/pivot.so lib/f.so &&
	for f in \$(ldd spin | grep -o '/[^ ]*'); do mkdir -p ./\${f%/*} && cp \$f ./\$f || exit; done
pivot_root . old && exec /spin /lib/f.so pivot \$1
X
lib "$tmp/pivot.so" in_a_root
lib "$tmp/second.so" in_a_second_thread
begin pivot unshare -m sh "$tmp/pivot"
root=/proc/$pid_pivot/root
# The same, with only a second thread left
begin second unshare -m sh -c "sed 's/ pivot / second /; s/pivot.so/second.so/' $tmp/pivot >$tmp/pivot2; exec sh $tmp/pivot2 exit"
# A root without a namespace
lib "$tmp/chroot.so" in_a_chroot none
mkdir "$tmp/c" && for f in "$tmp/spin" $(ldd "$tmp/spin" | grep -o '/[^ ]*'); do mkdir -p "$tmp/c/${f%/*}" && cp "$f" "$tmp/c/$f"; done
cp "$tmp/chroot.so" "$tmp/c/f.so"
begin chroot chroot "$tmp/c" "$tmp/spin" /f.so chroot
# Processes that will be gone, and another of their container that stays: known by its control group, or
# not at all
cat >"$tmp/fellows" <<X
[ \$1 = sha1 ] || echo \$\$ >$group/cgroup.procs
mount -t tmpfs none $tmp/d && cp $tmp/gone-\$1.so $tmp/d/gone-\$1.so || exit
sleep 900 >/dev/null 2>&1 &
echo \$! >$tmp/fellow-\$1
exec $tmp/spin $tmp/d/gone-\$1.so gone_\$1
X
for kind in sha1 ${group:+none}; do
	lib "$tmp/gone-$kind.so" "gone_with_$kind" $kind
	begin gone_$kind unshare -m sh "$tmp/fellows" $kind
	pids="$pids $(cat "$tmp/fellow-$kind")"
done
# Deleted, and replaced
for kind in sha1 none; do
	for what in deleted replaced; do
		lib "$tmp/$what-$kind.so" "now_$what" $kind
		begin "${what}_$kind" "$tmp/spin" "$tmp/$what-$kind.so" "${what}_$kind"
	done
	rm "$tmp/deleted-$kind.so"
	lib "$tmp/new" wrong $kind && mv "$tmp/new" "$tmp/replaced-$kind.so"
done

kill -CONT $pids
status 'the system is recorded' 0 cprof-record -F 499 -a -o "$tmp/bin" 1
kill -STOP $pids
root=/proc/$pid_pivot/root
mv "$root/lib/f.so" "$root/opt/g.so" && ln -s /opt/g.so "$root/lib/f.so"
sym() { cprof-sym "$@" "$tmp/bin" 2>"$tmp/err" >"$tmp/sym"; }
sym
for kind in sha1 none; do
	is "what all see ($kind)" "$(leaf all_$kind)" outside
	for who in one two; do is "  a container of the same path: $who" "$(leaf ${who}_$kind)" "inside_$who"; done
	for what in deleted replaced; do is "a file that was $what" "$(leaf ${what}_$kind)" "now_$what"; done
	is '  it is taken from the process' "$(why "$tmp/deleted-$kind.so")" 'ok /proc/PID/map_files/…'
done
is 'a root of its own, and an absolute link in it' "$(leaf pivot)" in_a_root
is 'the main thread has exited' "$(leaf second)" in_a_second_thread
is 'a root without a namespace' "$(leaf chroot)" in_a_chroot
is '  where it was found' "$(why /lib/f.so | tr '\n' ' ')" 'ok /proc/PID/root/lib/f.so ok /proc/PID/task/TID/root/lib/f.so '
is 'nothing is named wrongly' "$(cprof-fold -U "$tmp/sym" | grep -c ';wrong')" 0
cprof-sym "$tmp/sym" >"$tmp/again" 2>"$tmp/err"
same 'a second run changes no byte' "$tmp/sym" "$tmp/again"

# A user without permission gets a message, and no names of another file.
cp "$tmp/bin" "$tmp/nobody.bin" && chmod 644 "$tmp/nobody.bin"
if setpriv --reuid=65534 --clear-groups "$BIN/cprof-sym" "$tmp/nobody.bin" 2>"$tmp/err" >"$tmp/sym"; then
	is 'without the right to look there' "$(why "$tmp/d/sha1.so" | grep permission)" 'permission /proc/PID/root'
	unlike '  nothing is named after another file' "$(leaf one_sha1)$(leaf two_none)$(leaf replaced_none)$(leaf replaced_sha1)" 'outside|wrong'
else
	skip 'without the right to look there' 'nobody cannot run cprof-sym here'
fi

# A file is replaced after the capture, while its process lives.
lib "$tmp/new" wrong none && mv "$tmp/new" "$tmp/d/none.so"
sym
is 'a file that is replaced afterwards' "$(leaf all_none)" outside

# After the process has ended
for kind in sha1 none; do
	[ -e "$tmp/fellow-$kind" ] || { skip "another process of the container ($kind)" 'no control group can be made'; continue; }
	eval "kill -KILL \$pid_gone_$kind; wait \$pid_gone_$kind" 2>/dev/null
	lib "$tmp/d/gone-$kind.so" wrong $kind
	sym
	is "the process has gone, another of its container is there ($kind)" "$(leaf gone_$kind)" "gone_with_$kind"
	kill -KILL "$(cat "$tmp/fellow-$kind")"
	while [ -e "/proc/$(cat "$tmp/fellow-$kind")" ]; do sleep 0.05; done
	sym
	unlike '  and when that has gone, too, there is no name' "$(leaf gone_$kind)" 'gone_with|wrong'
done
is '  the reason is that there is another file' "$(why "$tmp/d/gone-sha1.so")" "build-id-mismatch $tmp/d/gone-sha1.so"
stop
sym
like 'all have gone' "$(leaf pivot) $(leaf deleted_none) $(leaf replaced_sha1)" '^\[.*\] \[.*\] \[.*\]$'
is '  a file that was replaced' "$(why "$tmp/replaced-sha1.so")" "build-id-mismatch $tmp/replaced-sha1.so"
is '  one that was deleted' "$(why "$tmp/deleted-sha1.so")" "no-file $tmp/deleted-sha1.so"
done_testing
