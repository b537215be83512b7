#!/bin/sh
# --metrics in a directory that others can write: no link is followed, no pipe is waited for, and the
# directory stays the same.
. "$(dirname "$0")/../lib/lib.sh"
[ -x "$BIN/cprof-record" ] || skip_all "the recorder is not built"
record() { cprof-record -q --metrics "$1" -o "$tmp/bin" -- sleep "${2:-0.1}" 2>"$tmp/err"; }
figures() { grep -c '^cprof_record_ticks_total' "$1" 2>/dev/null; }
mkdir "$tmp/d"

echo precious >"$tmp/victim"
ln -s "$tmp/victim" "$tmp/d/m.prom.part"
record "$tmp/d/m.prom"
is "a link in the way of the part leads nowhere" "$(cat "$tmp/victim")" precious
is "the figures are written all the same" "$(($(figures "$tmp/d/m.prom") > 3))" 1
is "and nothing else is left" "$(ls -A "$tmp/d")" m.prom

rm "$tmp/d/m.prom"
ln -s "$tmp/victim" "$tmp/d/m.prom"
record "$tmp/d/m.prom"
is "a link in the place of the file is replaced" "$(cat "$tmp/victim") $(stat -c %F "$tmp/d/m.prom")" "precious regular file"

mkfifo "$tmp/d/m.prom.part"
record "$tmp/d/m.prom" &
recorder=$!
tries=0
while kill -0 $recorder 2>/dev/null && [ $tries -lt 300 ]; do sleep 0.1; tries=$((tries + 1)); done
is "a pipe in the way is not waited for" "$(kill -0 $recorder 2>/dev/null || echo ended)" ended
kill -9 $recorder 2>/dev/null
is "and is gone" "$(ls -A "$tmp/d")" m.prom

# A link replaces the directory during the recording: the metrics still go to the old one.
rm -f "$tmp/d/m.prom" && mkdir "$tmp/other"
cprof-record -q --metrics "$tmp/d/m.prom" -o "$tmp/bin" -- sleep 600 2>"$tmp/err" &
recorder=$!
tries=0
while [ ! -s "$tmp/d/m.prom" ] && [ $tries -lt 600 ]; do sleep 0.1; tries=$((tries + 1)); done
mv "$tmp/d" "$tmp/moved" && ln -s "$tmp/other" "$tmp/d" && rm "$tmp/moved/m.prom"
kill $recorder && wait $recorder
is "not through a directory that another put in its place" "$(ls -A "$tmp/other")" ""
is "but where they were" "$(($(figures "$tmp/moved/m.prom") > 3))" 1

record "$tmp/missing/m.prom"
like "a directory that is missing is reported" "$(cat "$tmp/err")" "missing/m.prom: No such file or directory"
is "and ends no recording" "$(cprof-dump "$tmp/bin" | grep -c '^end ')" 1
(cd "$tmp/moved" && rm m.prom && record m.prom)
is "a name without a directory is here" "$(($(figures "$tmp/moved/m.prom") > 3))" 1

# The fork server of table workers, and a second one if it has begun, are killed before the program's
# table is requested.
cat >"$tmp/load" <<'X'
for d in /proc/[0-9]*; do
	read -r comm <"$d/comm" && read -r stat <"$d/stat" || continue
	set -- "$1" ${stat##*)}
	[ "$comm" = cprof-tables ] && [ "$3" = $PPID ] && kill -9 "${d#/proc/}" && echo killed
done 2>/dev/null
sleep 1.2 # another one is not begun before a second has gone by
exec "$1" brief 1500
X
killed=$(cprof-record -q --unwind table -F 499 --metrics "$tmp/m.prom" -o "$tmp/bin" -- sh "$tmp/load" "$BUILD/tests/burn" | grep -c killed)
is "the processes that make tables are killed" "$((killed == 1 || killed == 2))" 1
is "which is counted" "$(sed -n 's/^cprof_record_table_process_losses_total //p' "$tmp/m.prom")" "$killed"
is "another one makes them" "$(cprof-sym "$tmp/bin" 2>/dev/null | cprof-fold -U --truncated --comm burn | awk '{ n += $NF } /;main;brief_work/ && !/[[]truncated/ { whole += $NF } END { print (n > 100 && whole > .9 * n) ? "whole" : whole " of " n }')" whole
done_testing
