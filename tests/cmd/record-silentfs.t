#!/bin/sh
# --rotate, --ring and --metrics on a file system that stops answering: the recorder goes on, ends by SIGTERM,
# and counts unwritten samples; the files are whole once it answers again.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
. "$tests/lib/faultfs-lib.sh"
silent='its file system does not answer'

# Something to sample from the first second on, as long as this test runs
(sh -c 'while kill -0 "$0"; do seq 100000 | wc -l; done' $$ >/dev/null 2>&1 &)

clear_back() { rm -f "$back"/* "$back"/.*.part; }
captures() { ls "$back" | grep '\.cprof$'; }
has_part() { ls -A "$back" | grep -q '^\..*\.part$'; }
# lost OUTCOME FILE...: prints how many ticks had it
lost() {
	o=$1; shift
	for f; do
		cprof-dump "$f" 2>/dev/null | awk -v o="outcome=$o" '
			/^ledger/ && $4 == o { v[$3] = substr($5, 7) }
			END { for (k in v) n += v[k]; print n + 0 }'
	done | awk '{ n += $1 } END { print n + 0 }'
}
figure() { sed -n "s/^cprof_record_$1 //p" "$2"; }
# record ARG...: begins a recording, which has been written once when there are metrics
record() {
	rm -f "$tmp/m.prom"
	cprof-record -a -F 199 --metrics "$tmp/m.prom" "$@" 2>"$tmp/err" &
	recorder=$!
}
until_written() { within '[ -s "$tmp/m.prom" ]'; }
# stop TEXT STATUS: one SIGTERM ends the recorder, in peace; status 1: with something left unwritten
stop() {
	kill -TERM $recorder
	is "$1" "$(ended $recorder)" ended
	wait $recorder
	is "  with status $2" $? "$2"
	is "  which it explains" "$(grep -c 'the recording is incomplete' "$tmp/err")" "$2"
}

# While it answers
status "a series of files" 0 cprof-record -q -a -F 199 --rotate 1s --on-rotate 'echo "$1" >>'"$tmp/told" \
	--metrics "$mnt/m.prom" -o "$mnt/%s.cprof" 3.5
set -- "$back"/*.cprof
is "  each has its name" "$(($# >= 3)) $(has_part && echo part)" "1 "
is "  the ledgers add up" "$(unaccounted "$@")" 0
is "  the command was told of each" "$(sed 's,.*/,,' "$tmp/told")" "$(captures)"
is "  the figures are written there, and know them" "$(figure files_total "$back/m.prom")" $#
is "  and nothing else" "$(ls -A "$back" | grep -c part)" 0
status "--keep removes files there" 0 cprof-record -q -a -F 199 --rotate 1s --keep 1K \
	--metrics "$tmp/m.prom" -o "$mnt/%s.cprof" 2.5
is "  all but the newest" "$(captures | grep -c .)" 1
is "  and counts them" "$(($(figure files_removed_total "$tmp/m.prom") >= 4))" 1
status "a name that is invalid there" 2 cprof-record -q -a --rotate 1s -o "$mnt/%Q.cprof" 1
status "a directory that is missing" 1 cprof-record -q -a --rotate 1s -o "$mnt/missing/x.cprof" 1
like "  is named" "$(cat "$tmp/err")" "$mnt/missing: No such file or directory"

# A series, silent for a while
clear_back
begin series
record --rotate 1h -o "$mnt/%s.cprof"
until_written
stall
until_said "$silent" "$tmp/err"
like "a file system that does not answer is reported" "$(cat "$tmp/err")" \
	"^cprof-record: $mnt: $silent: samples are lost until it can be written$"
within '[ "$(figure output_dark "$tmp/m.prom")" = 1 ]'
is "  also as a metric" "$(figure output_dark "$tmp/m.prom")" 1
answer_again
until_said 'can be written again' "$tmp/err"
stop "SIGTERM ends a recording that it answers again" 1
is "  it was reported once" "$(grep -c "$silent" "$tmp/err")" 1
set -- "$back"/*.cprof
is "  both files have their names" "$# $(has_part && echo part)" "2 "
[ $# = 2 ] || set -- "$@" none
status "  the first one is cut, but good" 3 cprof-top "$1"
like "  up to there" "$(cat "$tmp/out")" '^ *[1-9][0-9]* '
is "  the last one is whole" "$(cprof-dump "$2" | sed -n 's/^end .*reason=\([a-z]*\).*/\1/p')" closed
is "  the ledgers add up" "$(unaccounted "$@")" 0
is "  and have what was not written" "$(($(lost no-space "$@") > 0))" 1
is "  no ring was full, because samples are taken all the time" "$(lost ring-full "$@")" 0

# A series that ends meanwhile, by a signal, and by itself
clear_back
begin term
record --rotate 1h -o "$mnt/%s.cprof"
until_written
stall
until_said "$silent" "$tmp/err"
stop "SIGTERM ends a recording that has no answer" 1
like "  which says what is left there" "$(cat "$tmp/err")" \
	"$silent: the last file is incomplete or has no name"
is "  its file has no name" "$(captures; has_part && echo part)" part
begin next
status "the next recorder" 0 cprof-record -a -F 199 --rotate 1h -o "$mnt/%s.cprof" 1.5
like "  recovers it" "$(cat "$tmp/err")" "recovered 1 file that an earlier recorder left unfinished"
status "  it can be read" 3 cprof-top "$(ls "$back"/*.cprof | head -1)"
like "  up to there" "$(cat "$tmp/out")" '^ *[1-9][0-9]* '
begin seconds
record --rotate 1h -o "$mnt/%s.cprof" 6
until_written
stall
is "a recording of some seconds ends by itself" "$(ended $recorder)" ended
wait $recorder
is "  with status 1" $? 1

# Before the start
begin start
stall
record --rotate 1h -o "$mnt/%s.cprof"
until_said 'waiting until it can be opened' "$tmp/err"
kill -TERM $recorder
is "SIGTERM ends the wait for the directory" "$(ended $recorder)" ended
wait $recorder
is "  with status 1" $? 1
like "  and it says why" "$(cat "$tmp/err")" \
	"cannot open: its file system did not answer, and a signal ended the wait"

# One call of a file without an answer
for f in stall-write stall-rename stall-truncate; do
	clear_back
	begin $f
	record --rotate 2s -o "$mnt/$f.%s.cprof"
	until_said "$silent" "$tmp/err"
	stop "$f: SIGTERM ends the recorder" 1
done

# Mounts at names like ours, in a directory that is local
clear_back
begin shared
mkdir "$tmp/local" "$tmp/local/1.cprof" "$tmp/local/.2.cprof.part"
mount --bind "$mnt" "$tmp/local/1.cprof"
mount --bind "$mnt" "$tmp/local/.2.cprof.part"
stall
record --rotate 1s --keep 1K -o "$tmp/local/%s.cprof" 2.5
is "mounts that do not answer, in the place of our files, are not asked" "$(ended $recorder)" ended
is "  and the files are written" "$(($(ls -A "$tmp/local" | grep -c '^[0-9]\{5,\}\.cprof$') >= 1))" 1
umount -l "$tmp/local/1.cprof" "$tmp/local/.2.cprof.part"

# The flight buffer goes on in memory.
clear_back
begin ring
record --ring 30s -o "$mnt/%s.cprof"
ticks() { figure expected_ticks_total "$1"; }
until_written
stall
kill -USR1 $recorder
until_said "$silent" "$tmp/err"
like "a flight buffer waits" "$(cat "$tmp/err")" \
	"^cprof-record: $mnt: $silent: the data in memory waits for it$"
before=$(ticks "$tmp/m.prom")
within '[ "$(ticks "$tmp/m.prom")" -gt $before ]'
is "  the recorder goes on" "$(($(ticks "$tmp/m.prom") > before))" 1
answer_again
within '[ "$(captures)" ]'
stop "SIGTERM ends it" 0
set -- "$back"/*.cprof
is "  the file has its name" "$# $(has_part && echo part)" "1 "
off=$(unaccounted "$1")
is "  its ledger adds up, to a few ticks on their way at its ends" "$((off * off <= 400))" 1
is "  no sample was lost" "$(lost no-space "$1") $(lost ring-full "$1")" "0 0"
begin ring-term
record --ring 30s -o "$mnt/%s.cprof"
until_written
stall
kill -USR1 $recorder
until_said "$silent" "$tmp/err"
stop "SIGTERM ends one that has no answer" 1

# The metrics
clear_back
begin metrics
record --metrics "$mnt/m.prom" -o "$tmp/cap"
within '[ -s "$back/m.prom" ]'
stall
until_said "$silent" "$tmp/err"
is "metrics without an answer are reported once" \
	"$(grep -c "^cprof-record: $mnt/m.prom: $silent\$" "$tmp/err")" 1
cp "$back/m.prom" "$tmp/old"
answer_again
within '! cmp -s "$tmp/old" "$back/m.prom"'
is "  and are written when it answers" "$(($(ticks "$back/m.prom") > $(ticks "$tmp/old")))" 1
stall
stop "SIGTERM ends a recording whose metrics have no answer" 0
is "  no sample was lost" "$(unaccounted "$tmp/cap") $(lost ring-full "$tmp/cap")" "0 0"
done_testing
