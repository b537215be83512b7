#!/bin/sh
# Files on a file system that does not answer, and a process whose memory is locked for ever: cprof-sym,
# cprof-archive and cprof-annotate leave them out, say so, and name all others.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"
[ -e /dev/fuse ] || skip_all "no /dev/fuse"
[ "$(id -u)" = 0 ] || skip_all "mounting takes root"
mnt=$tmp/mnt back=$tmp/back server='' stall='' locked='' recorder=''
mkdir "$mnt" "$back" "$tmp/stall"
end_all() {
	for p in $server $stall $locked $recorder; do kill -KILL "$p" 2>/dev/null; done
	wait 2>/dev/null
	umount -l "$mnt" "$tmp/stall" 2>/dev/null
	server='' stall='' locked='' recorder=''
}
trap 'end_all; rm -rf "$tmp"' EXIT
serve() {
	rm -f "$tmp/server"
	"$BUILD/tests/faultfs" "$mnt" "$back" >"$tmp/server" 2>&1 &
	server=$!
	until [ -s "$tmp/server" ]; do sleep 0.05; done
	grep -q ready "$tmp/server"
}
serve || skip_all "FUSE cannot be mounted: $(head -1 "$tmp/server")"

# A library of one function and some 100 kB for each file; source files, too
make_file() { # DIR NAME FUNCTION
	echo "int $3(int x); int $3(int x) { return x * 31; } const char fill_$3[100000] = { 1 };" >"$tmp/$3.c"
	${CC:-cc} -g -O1 -shared -fPIC -Wl,--build-id=sha1 -o "$1/$2" "$tmp/$3.c"
}
address() { readelf -sW "$1" | awk -v f="$2" '$8 == f && $7 != "UND" { v = "0x" $2 } END { print v }'; }
i=0
for f in stall-lookup stall-open stall-read later-read good; do
	make_file "$back" "$f.so" "$(echo "in_$f" | tr - _)"
done
make_file "$tmp" before.so in_before
make_file "$tmp" after.so in_after

# capture FILE FUNCTION...: of processes with one library each
capture() {
	segment
	id=0
	for pair in "$@"; do
		id=$((id + 1)) path=${pair%%:*} name=${pair#*:} real=${pair%%:*}
		case $path in "$mnt"/*) real=$back/${path##*/} ;; esac
		process $id
		file $id "$path" "$(build_id "$real")"
		loads $id $id "$real"
		printf '%d\n' "$(address "$real" "$name")" | frames $id exact $((id * 100))
	done
	finish
}
functions() { names "$1" | sed 's/^[^ ]* //; s/+.*//' | tr '\n' ' '; }

capture "$mnt/good.so:in_good" "$tmp/after.so:in_after" | cprof-dump -r >"$tmp/cap"
status "a file system that answers" 0 cprof-sym -l -o "$tmp/sym" "$tmp/cap"
is "  names its files" "$(functions "$tmp/sym")" "in_good in_after "
status "  for an archive" 0 cprof-archive -d "$tmp/archive" "$tmp/cap"
is "  as well" "$(find "$tmp/archive" -name '*.debug' | wc -l)" 2

for f in stall-lookup stall-open stall-read later-read; do
	name=$(echo "in_$f" | tr - _) left_out="cannot read $mnt/$f.so: it did not answer in 2 s"
	capture "$tmp/before.so:in_before" "$mnt/$f.so:$name" "$mnt/good.so:in_good" \
		"$tmp/after.so:in_after" |
		cprof-dump -r >"$tmp/cap"
	status "$f: cprof-sym ends" 0 timeout -k 1 60 cprof-sym -i -l -o "$tmp/sym" "$tmp/cap"
	is "  and names all others" "$(functions "$tmp/sym" | tr ' ' '\n' | grep -cE '^in_(before|after)$')" 2
	like "  and says which file it left out" "$(cat "$tmp/err")" "^cprof-sym: $left_out"
	rm -rf "$tmp/archive"
	status "  cprof-archive ends" 0 timeout -k 1 60 cprof-archive --debug -d "$tmp/archive" "$tmp/cap"
	for b in before after; do
		find "$tmp/archive" -name "$(build_id "$tmp/$b.so" | cut -c3-).debug"
	done >"$tmp/kept"
	is "  and keeps all others" "$(wc -l <"$tmp/kept")" 2
	like "  and says which file it left out" "$(cat "$tmp/err")" "^cprof-archive: $left_out"
done
kill -USR1 $server # ends all waits
kill -KILL $server
wait $server 2>/dev/null
umount -l "$mnt"
server=''

# A process that holds the lock of its memory, and whose program is found only among its mappings
may_record_all
rm -f "$tmp/server"
"$BUILD/tests/stallfs" serve "$tmp/stall" "$BUILD/tests/stallfs" >"$tmp/server" 2>&1 &
stall=$!
until [ -s "$tmp/server" ]; do sleep 0.05; done
cp "$BUILD/tests/stallfs" "$tmp/locked"
cp "$BUILD/tests/burn" "$tmp/burner"
cprof-record -q -a -F 499 -o "$tmp/live" 600 &
recorder=$!
until [ -s "$tmp/live" ]; do sleep 0.1; done
"$tmp/locked" lock "$tmp/stall/x" >"$tmp/running" 2>&1 &
locked=$!
"$tmp/burner" step 3 1000000 >/dev/null &
burner=$!
until [ -s "$tmp/running" ]; do sleep 0.1; done
rm "$tmp/locked"
wait $burner
kill -TERM $recorder
wait $recorder
recorder=''
is "a process that locks its memory" "$(cat "$tmp/running")" running
is "  was recorded with its program" "$(cprof-dump "$tmp/live" | grep -c "^file.*path=\"$tmp/locked")" 1
status "  cprof-sym ends" 0 timeout -k 1 100 cprof-sym -v -o "$tmp/sym" "$tmp/live"
like "  and names others" "$(cprof-fold "$tmp/sym" 2>/dev/null)" "^burner;.*first_half"
done_testing
