#!/bin/sh
# File after file: each is whole, nothing is lost between them, and neither a kill nor a full disk loses
# more than necessary.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
to=$tmp/d
mkdir "$to"

# account FILE...: compares expected ticks with the sum of their outcomes, and emitted samples with those
# in the files
account() {
	for f; do cprof-dump "$f" 2>/dev/null | sed -n 's/^ledger time=[0-9]* cpu=\([0-9]*\) outcome=\([a-z-]*\) count=\([0-9]*\)$/\1 \2 \3/p' |
		awk '{ v[$1 " " $2] = $3 } END { for (k in v) print k, v[k] }'
		cprof-dump "$f" 2>/dev/null | grep -c '^sample ' | sed 's/^/0 samples /'
	done | awk '{ if ($2 == "expected") e += $3; else if ($2 == "samples") n += $3; else if ($2 == "emitted") { m += $3; s += $3 }
		else if ($2 != "sideband-lost") s += $3 } END { print (e == s ? "even" : e " expected, " s " told of"), (n == m ? "all" : n " of " m) }'
}
outcome() { # NAME FILE...
	name=$1; shift
	for f; do cprof-dump "$f" 2>/dev/null | sed -n "s/^ledger .* cpu=\([0-9]*\) outcome=$name count=\([0-9]*\)$/\1 \2/p" |
		awk '{ v[$1] = $2 } END { for (k in v) print v[k] }'; done | awk '{ n += $1 } END { print n + 0 }'
}
ends() { for f; do cprof-dump "$f" 2>/dev/null | sed -n 's/^end .*reason=\([a-z]*\).*/\1/p' | tail -1; done | tr '\n' ' '; }
wait_for() { # PATTERN: waits until a matching file is there
	tries=0
	while [ $tries -lt 100 ]; do
		for f in $1; do [ ! -s "$f" ] || return 0; done
		sleep 0.1
		tries=$((tries + 1))
	done
}

"$BUILD/tests/burn" threads 300 >/dev/null &
busy=$!
trap 'kill $busy 2>/dev/null; umount "$tmp/small" 2>/dev/null; rm -rf "$tmp"' EXIT

# By time, with a command for each file, and the metrics
status "file after file" 0 cprof-record -q -a --rotate 1s --on-rotate 'echo "$1" >>'"$tmp/told" --metrics "$tmp/m.prom" \
	-o "$to/%h-%Y%m%dT%H%M%SZ.cprof" 3.5
set -- "$to"/*.cprof
like "each is called by host and time" "$(ls "$to" | head -1)" "^$(uname -n)-20[0-9]{6}T[0-9]{6}Z\\.cprof\$"
is "and no other file is left" "$(ls -A "$to" | grep -vc '\.cprof$')" 0
like "there are as many as seconds" $# '^[34]$'
like "all but the last go on in the next" "$(ends "$@")" '^(continues ){2,3}closed $'
is "their ledgers and samples add up" "$(account "$@")" "even all"
cat "$@" >"$tmp/all.bin"
status "together they are one capture" 0 cprof-top -v "$tmp/all.bin"
# A busy machine ends it later.
like "as long as the recording" "$(sed -n 's/^Samples:.* in //p' "$tmp/out")" '^(3\.[3-9]|[4-9]\.)'
is "the command was told of each" "$(cat "$tmp/told")" "$(printf '%s\n' "$@")"
figure() { sed -n "s/^cprof_record_$1 //p" "$tmp/m.prom"; }
is "the figures know the files" "$(figure files_total)" $#
is "and the samples" "$(figure 'ticks_total{outcome="emitted",lost="0"}')" "$(outcome emitted "$@")"
is "and the bytes" "$(figure written_bytes_total)" "$(cat "$@" | wc -c)"
frames() { cprof-dump "$tmp/all.bin" | grep '^frame ' | grep -c "$@"; }
from() { sed -n "s/^cprof_record_addresses_total{where=\"$1\",.*} //p" "$tmp/m.prom"; }
is "and the addresses of the kernel" "$(($(from kernel) + $(from kernel-unnamed)))" "$(frames ' process=0 ')"
is "and of programs" "$(($(from file) + $(from memory) + $(from nowhere)))" "$(frames -v ' process=0 ')"
is "most of which have a file" "$(($(from file) > 9 * ($(from memory) + $(from nowhere))))" 1
if command -v promtool >/dev/null; then
	status "promtool has nothing to say" 0 sh -c "promtool check metrics <'$tmp/m.prom'"
else
	is "each figure has a type and a help" "$(grep -v '^#' "$tmp/m.prom" | sed 's/[{ ].*//' | sort -u)" \
		"$(sed -n 's/^# TYPE \([a-z_]*\) .*/\1/p' "$tmp/m.prom" | sort)"
fi

# The directory is the one that its name leads to; a file that could not get its name gets it later.
rm -rf "$to"; mkdir "$to"
cprof-record -a --rotate 1s -o "$to" 60 2>"$tmp/err" &
recorder=$!
sleep 2.2
rm -rf "$to"
tries=0
until grep -q 'samples are lost' "$tmp/err" || [ $((tries = tries + 1)) -gt 50 ]; do sleep 0.1; done
mkdir "$to"
tries=0
until [ -n "$(ls "$to")" ] || [ $((tries = tries + 1)) -gt 50 ]; do sleep 0.1; done
mv "$to" "$to.away"; mkdir "$to"
tries=0
until [ -n "$(ls "$to")" ] || [ $((tries = tries + 1)) -gt 50 ]; do sleep 0.1; done
kill -INT $recorder
wait $recorder
is "a directory that is removed, made again, and moved away: data is missing" $? 1
like "  is lost, and found again" "$(tr '\n' ' ' <"$tmp/err")" 'No such file or directory: samples are lost until it can be written .*: it can be written again '
is "  each file is complete and has a name" "$(ls -A "$to" "$to.away" | grep -c part)" 0
rm -rf "$to" "$to.away"; mkdir "$to"
if chattr +i "$to" 2>/dev/null && chattr -i "$to"; then
	cprof-record -a --rotate 1s --on-rotate 'echo "$1" >>'"$tmp/named" -o "$to" 60 2>"$tmp/err" &
	recorder=$!
	sleep 2.2
	chattr +i "$to"
	tries=0
	until grep -q 'samples are lost' "$tmp/err" || [ $((tries = tries + 1)) -gt 50 ]; do sleep 0.1; done
	chattr -i "$to"
	sleep 2
	kill -INT $recorder
	wait $recorder
	is "a file that could not have its name has it later" "$(ls -A "$to" | grep -c part)" 0
	set -- "$to"/*.cprof
	is "  and nothing of it is missing" "$(account "$@")" "even all"
	like "  some were lost" "$(cat "$tmp/err")" 'lost: [0-9]+ no-space'
	is "  which are no samples" "$(sed -n 's/^cprof-record: \([0-9]*\) samples .*/\1/p' "$tmp/err")" "$(outcome emitted "$@")"
	is "  the command is told of it, too" "$(sort "$tmp/named")" "$(ls -d "$to"/*)"
else
	skip "a file that could not have its name has it later" "nothing can be made immutable here"
fi
rm -rf "$to"; mkdir "$to"
cprof-record -q -a --rotate 1h -o "$to" 60 &
recorder=$!
for i in 1 2 3 4 5 6; do
	sleep 0.4
	kill -HUP $recorder
done
sleep 0.4
kill -INT $recorder
wait $recorder
for f in "$to"/*; do cprof-dump "$f" | sed -n 's/^meta key="start-monotonic-ns" value="\(.*\)"/\1/p'; done >"$tmp/order"
is "files of one second are in order by their names" "$(sort -n "$tmp/order" | cmp - "$tmp/order" && ls "$to" | grep -c 'Zn000[0-9]\.cprof$' | awk '{ print ($1 > 0) }')" 1

# Nobody reads the messages any more: the recording is complete all the same.
rm -rf "$to"; mkdir "$to"
mkfifo "$tmp/messages"
: <"$tmp/messages" & # opens it, and leaves
cprof-record -a --rotate 1h -o "$to" 0.5 2>"$tmp/messages"
is "messages without a reader do not end the recorder" $? 0
is "  its last file has its name" "$(ls -A "$to" | grep -c '^[^.].*\.cprof$')" 1
is "  and is the only one" "$(ls -A "$to" | wc -l)" 1

# By size, by SIGHUP, and with removal, but only of the recorder's own files.
rm -rf "$to"; mkdir "$to"
echo "a letter" >"$to/s.20200101T000000Z"
cprof-record -q -a -F 999 --rotate 1M --rotate 1h --keep 1K -o "$to/s" 4 &
recorder=$!
for i in 1 2 3; do
	sleep 1
	kill -HUP $recorder
done
wait $recorder
is "SIGHUP ends files, not the recorder" $? 0
is "all but the last one are gone" "$(ls "$to" | wc -l)" 2
is "of ours" "$(cat "$to/s.20200101T000000Z")" "a letter"
# In a directory where others may write, their files neither push ours out nor go to the command.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	shared=$tmp/shared
	chmod 755 "$tmp"
	mkdir -m 1777 "$shared"
	cprof-record -q -a --rotate 1h -o "$shared/s" 0.5
	ours=$(ls "$shared")
	cp "$shared/$ours" "$tmp/one" && chmod 644 "$tmp/one"
	head -c 3000000 /dev/zero >>"$tmp/one"
	for name in s.20300101T000000Z .s.20300101T000001Z.part; do
		setpriv --reuid 12345 --regid 12345 --clear-groups cp "$tmp/one" "$shared/$name"
	done
	cprof-record -q -a --rotate 1h --keep 2M --on-rotate 'echo "$1" >>'"$tmp/adopted" -o "$shared/s" 0.5
	is "another user's file in a shared directory pushes none out" "$(ls "$shared" | grep -cx "$ours")" 1
	is "  and none goes to the command" "$(grep -c 20300101 "$tmp/adopted")" 0
	is "  and both stay" "$(ls -A "$shared" | grep -c 20300101)" 2
else
	skip "another user's file in a shared directory" "setpriv"
fi

rm -rf "$to"; mkdir "$to"
cprof-record -q -a --rotate 1s -o "$to" 6 &
recorder=$!
sleep 1.5
for i in 1 2 3 4 5; do
	kill -HUP $recorder
	sleep 0.2
done
wait $recorder
set -- "$to"/*.cprof
if [ $# -ge 9 ]; then pass "SIGHUP puts off none that is due by time"; else fail "SIGHUP puts off none that is due by time"; diag "$# files"; fi
rm -rf "$to"; mkdir "$to"
status "by size" 0 cprof-record -q -a -F 4999 --rotate 50K -o "$to" 6
like "there are several" "$(ls "$to" | wc -l)" '^([2-9]|[1-9][0-9])$'
is "and they add up" "$(account "$to"/*)" "even all"

# Killed: the open file is there, hidden and good, and gets its name from the next recorder.
rm -rf "$to"; mkdir "$to"
cprof-record -q -a --rotate 1h -o "$to" 20 &
recorder=$!
wait_for "$to/.*.part"
tries=0
until cprof-dump "$to"/.*.part 2>/dev/null | grep -q '^sample ' || [ $tries -ge 100 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
kill -9 $recorder
wait $recorder 2>/dev/null
is "a file without its name" "$(ls -A "$to" | grep -c '^\..*\.cprof\.part$')" 1
cprof-record -a --rotate 1h -o "$to" 0.2 2>"$tmp/err"
like "is told of" "$(cat "$tmp/err")" 'recovered 1 file that an earlier recorder left unfinished'
is "and has its name" "$(ls -A "$to" | grep -c '\.cprof$')" 2
set -- "$to"/*.cprof
cprof-dump "$1" >"$tmp/dump" 2>/dev/null
like "a second at most is missing" "$(grep -c '^sample ' "$tmp/dump")" '^[1-9]'
# Two recorders at once do not take each other's files.
cprof-record -q -a --rotate 1h -o "$to" 1.5 &
one=$!
cprof-record -q -a --rotate 1h -o "$to" 1.5 &
wait $one; is "two recorders in one directory" $? 0
wait $!; is "both end well" $? 0
is "each with its file" "$(ls "$to"/*.cprof | grep -c .)-$(ls -A "$to" | grep -c part)" 4-0

# The command runs for a file left by another recorder, too; and a command that hangs does not keep the
# recorder for ever.
rm -rf "$to" "$tmp/told"; mkdir "$to"
cprof-record -q -a --rotate 1h -o "$to" 20 &
recorder=$!
wait_for "$to/.*.part"
kill -9 $recorder
wait $recorder 2>/dev/null
cprof-record -q -a --rotate 1h --on-rotate 'echo "$1" >>'"$tmp/told" -o "$to" 0.5
is "the command is told of what was left" "$(sort "$tmp/told")" "$(ls "$to"/*.cprof)"
cprof-record -q -a --rotate 1s --on-rotate 'exec sleep 300' -o "$to" 30 2>"$tmp/err" &
recorder=$!
sleep 2.5
kill -USR1 $recorder
kill -INT $recorder
sleep 2
kill -INT $recorder
wait $recorder
is "one that hangs is ended by one more signal" $? 0
like "and that is said" "$(cat "$tmp/err")" 'ended by a signal, and is incomplete for [1-9] of the files'
cprof-record -q -a -o "$tmp/one.bin" 1.5 &
recorder=$!
sleep 1
kill -USR1 $recorder
wait $recorder
is "SIGUSR1 that was meant for another does no harm" $? 0

# A full disk: samples without space are counted; the oldest file is removed first.
mkdir "$tmp/small"
if mount -t tmpfs -o size=4m tmpfs "$tmp/small" 2>/dev/null; then
	head -c 4194304 /dev/zero >"$tmp/small/ballast" 2>/dev/null
	cprof-record -a -F 999 --rotate 1s -o "$tmp/small" 6 2>"$tmp/err" &
	recorder=$!
	sleep 2.5
	rm "$tmp/small/ballast"
	wait $recorder
	is "on a disk that fills and is cleared" $? 1
	like "it says when there is no room" "$(cat "$tmp/err")" 'No space left on device: samples are lost until it can be written'
	like "and when there is" "$(cat "$tmp/err")" 'it can be written again'
	set -- "$tmp"/small/*.cprof
	is "what is there adds up" "$(account "$@" | sed 's/ all$//')" even
	like "with what was lost" "$(outcome no-space "$@")" '^[1-9]'
	head -c 4194304 /dev/zero >"$tmp/small/ballast" 2>/dev/null
	rm "$tmp/small/ballast"
	cp "$1" "$to/one"
	old=$tmp/small/$(uname -n)-20200101T000000Z.cprof
	head -c 2000000 /dev/zero | cat "$1" - >"$old"
	touch -d 2020-01-01 "$old"
	head -c 4194304 /dev/zero >"$tmp/small/ballast" 2>/dev/null
	status "where older captures can make room" 0 cprof-record -a -F 999 --rotate 1h -o "$tmp/small" 1.5
	is "the oldest goes" "$([ -e "$old" ] || echo gone), $([ -e "$1" ] && echo the next one stays)" "gone, the next one stays"
	is "and nothing is lost" "$(grep -c 'nothing lost' "$tmp/err")" 1
	# A busy machine may write more in one second than in all before: then try again.
	for try in 1 2 3 4 5; do
		umount "$tmp/small"
		mount -t tmpfs -o size=2560k tmpfs "$tmp/small"
		for i in 1 2 3; do head -c 500000 /dev/zero | cat "$to/one" - >"$tmp/small/s.2020010${i}T000000Z"; touch -d 2020-01-0$i "$tmp/small/s.2020010${i}T000000Z"; done
		cprof-record -a -F 19999 --rotate 1s -o "$tmp/small/s" 5 2>"$tmp/err"
		ended=$?
		[ "$(outcome no-space "$tmp"/small/s.2*)" != 0 ] || break
	done
	is "where more comes in a second than is asked ahead at first" $ended 0
	is "they go for that" "$(outcome no-space "$tmp"/small/s.2*), $([ -e "$tmp/small/s.20200101T000000Z" ] || echo gone)" "0, gone"
	umount "$tmp/small"
else
	for t in "on a disk that fills and is cleared" "it says when there is no room" "and when there is" "what is there adds up" \
		"with what was lost" "where older captures can make room" "the oldest goes" "and nothing is lost" \
		"where more comes in a second than is asked ahead at first" "they go for that"; do skip "$t" "no tmpfs may be mounted"; done
fi

# A write fails in the middle: the file is cut after its good part, the losses are reported in the next.
rm -rf "$to"; mkdir "$to"
(ulimit -f 400; exec cprof-record -q -a -F 4999 --unwind fp --rotate 64M -o "$to" 5 2>"$tmp/err")
is "a write that fails" $? 1
is "is said at the end" "$(tail -n 1 "$tmp/err" | grep -c 'not all of it could be written$')" 1
is "is said once" "$(grep -c "cannot write: File too large: samples are lost" "$tmp/err")" 1
set -- "$to"/*.cprof
is "has cut a file, and is counted" "$(account "$@")-$([ "$(outcome no-space "$@")" -gt 0 ] && echo lost)" "even all-lost"

# A name of conversions alone does not claim the files of others, which are older than all captures.
rm -rf "$to"; mkdir "$to"
for f in my-backup.tar.gz x-1.xz a.zst; do echo precious >"$to/$f"; touch -d 2020-01-01 "$to/$f"; done
echo precious | gzip >"$to/20200101.gz"; touch -d 2020-01-01 "$to/20200101.gz"
cprof-record -q -a -F 999 --rotate 1s --keep 1h -o "$to/%F-%H%M%S" 2.5 2>"$tmp/err"
is "files of others stay" "$(ls "$to" | grep -v '^20[0-9-]*$' | tr '\n' ' ')" \
	"20200101.gz a.zst my-backup.tar.gz x-1.xz "

# A caller that ignores the end of its children
if env --ignore-signal=CHLD true 2>/dev/null; then
	rm -rf "$to"; mkdir "$to"
	timeout 60 env --ignore-signal=CHLD cprof-record -q --rotate 1h --on-rotate 'echo >>'"$tmp/ignored" \
		-o "$to/%s" -- true
	is "a recording of a command ends although SIGCHLD is ignored" $? 0
	is "  and its hook is run" "$(wc -l <"$tmp/ignored")" 1
else
	skip "a recording of a command ends although SIGCHLD is ignored" "env cannot ignore a signal"
fi

# Wrong usage
status "a name that may change only at its end" 2 cprof-record -a --rotate 1s -o "$to/%Y/x" 1
status "an unknown conversion" 2 cprof-record -a --rotate 1s -o "$to/%Q" 1
status "a bare number" 2 cprof-record -a --rotate 60 -o "$to/x" 1
status "no file" 2 cprof-record -a --rotate 60s 1
status "nothing to keep without" 2 cprof-record -a --keep 7d -o "$to/x" 1
status "a directory that is not there" 1 cprof-record -a --rotate 60s -o "$tmp/none/x" 1
done_testing
