#!/bin/sh
# A machine whose CPUs are all busy: the recorder runs when it must. Tables are built while a cold large
# program runs, and mappings are not lost beside processes that map without end. Programs that the recorder
# runs for its user have the user's priority.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
burn=$BUILD/tests/burn
pids=
trap 'kill $pids 2>/dev/null' EXIT
nice_of() { awk '{ print $19 }' "/proc/$1/stat"; }
[ "$(nice)" = 0 ] || { skip "a busy machine" "the tests run under nice(1)"; done_testing; }

cprof-record -q -a -o "$tmp/on.bin" 600 &
recorder=$! pids=$!
i=0
while [ ! -s "$tmp/on.bin" ] && [ $((i += 1)) -lt 600 ]; do sleep 0.1; done
is "the recorder's priority is raised" "$(nice_of $recorder)" -10
of_processes() {
	for p in $(cat /proc/$recorder/task/$recorder/children); do
		echo "$(cat "/proc/$p/comm") $(nice_of "$p")"
	done | sort -u
}
is "  and that of its processes" "$(of_processes | grep -v '^cprof-tables' | sed 's/.* //' | sort -u)" -10
is "  that for tables of root's files even more" "$(of_processes | grep '^cprof-tables')" "cprof-tables -20"
apart() {
	for p in $(cat /proc/$recorder/task/$recorder/children); do
		case $(cat "/proc/$p/comm") in
		cprof-tables | cprof-maps | cprof-opener | cprof-remote) ;;
		*) continue ;;
		esac
		[ "$(awk '{ print $6 }' "/proc/$p/stat")" = "$p" ] || cat "/proc/$p/stat"
		[ ! -e "/proc/$p/autogroup" ] || grep -v 'nice -10$' "/proc/$p/autogroup"
	done
}
is "  which leave a session that the recorder does not lead, for raised ones" "$(apart)" ""
kill $recorder
wait $recorder
nice -n 3 "$BIN/cprof-record" -q -a -o "$tmp/nice.bin" 600 &
recorder=$! pids=$!
i=0
while [ ! -s "$tmp/nice.bin" ] && [ $((i += 1)) -lt 600 ]; do sleep 0.1; done
is "under nice(1) it is not" "$(nice_of $recorder)" 3
kill $recorder
wait $recorder
cprof-record -q -o "$tmp/command.bin" -- sh -c "nice >$tmp/of-command" 2>/dev/null
is "a command has the user's" "$(cat "$tmp/of-command")" 0
mkdir "$tmp/files"
cprof-record -q -a --rotate 1h --on-rotate "nice >$tmp/of-hook" -o "$tmp/files" 0.5
is "and so has what is run for each file" "$(cat "$tmp/of-hook")" 0

# Twenty programs that each want all CPUs
pids=
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	"$burn" threads 600 >/dev/null & pids="$pids $!"
done
if sanitized; then
	skip "a cold compiler beside twenty that burn" \
		"a sanitized worker exceeds its 20 s for the compiler's table"
elif command -v clang >/dev/null; then
	i=0
	while [ $((i += 1)) -le 120 ]; do
		echo "int f$i(const char *s, int n) { int x = $i; for (int k = 0; k < n && s[k]; k++) x = x * 31 + (s[k] ^ k); return x; }"
	done >"$tmp/large.c"
	cprof-record -o "$tmp/large.bin" -- clang -O2 -c -o "$tmp/large.o" "$tmp/large.c" 2>"$tmp/err"
	whole=$(sed -n 's/.*user stacks \([0-9]*\)\.[0-9]* % complete.*/\1/p' "$tmp/err")
	if [ "${whole:-0}" -ge 75 ]; then
		pass "a cold compiler beside twenty that burn: stacks are whole"
	else
		fail "a cold compiler beside twenty that burn: stacks are whole"
		diag "$(cat "$tmp/err")"
	fi
else
	skip "a cold compiler beside twenty that burn" "no clang"
fi
kill $pids
wait

"$BUILD/tests/storm" remap 600 >/dev/null & pids=$!
"$BUILD/tests/storm" remap 600 >/dev/null & pids="$pids $!"
# Whether a ring overflows beside two such loops depends on the scheduler: one of six must lose nothing.
for attempt in 1 2 3 4 5 6; do
	cprof-record -o "$tmp/storm.bin" -- sh -c "i=0; while [ \$((i += 1)) -le 5 ]; do $burn brief 300; done" 2>"$tmp/err"
	lost=$(cprof-dump "$tmp/storm.bin" | grep -c sideband-lost)
	diag "recording $attempt: $lost"
	[ "$lost" != 0 ] || break
done
is "beside two that map and unmap without end, no mapping is lost" "$lost" 0
diag "$(cat "$tmp/err")"
done_testing
