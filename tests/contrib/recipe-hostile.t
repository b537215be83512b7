#!/bin/sh
# Databases take hostile names of files, labels and events as they are: none becomes part of a program for a
# shell, sqlite3 or ClickHouse.
. "$(dirname "$0")/../lib/lib.sh"
load=$top/contrib/sqlite/load query=$top/contrib/sqlite/query
mkdir "$tmp/in" && cd "$tmp" || exit 1

# One text a line. dash's echo turns \047 into a quote, \n into a newline, and ends at \c; a line for sqlite3
# that begins with a dot is a command.
cat >texts <<'X'
x\047;\n.shell touch canary\n--
x\0047;\n.system touch canary\n--
cut\c short
';.shell touch canary
' || writefile('canary', 'x') || '
two "double" and 'single' quotes''
$(touch canary) and `touch canary`
\x27 \\ \\\\ \t \a %s %n \
 spaces around 
{a,b} [1-3] * ? ~ # ; & | < >
naïve – 名前
-cmd
X
texts=$(wc -l <texts)

# capture TEXT: has TEXT as a label and as an event, besides CPU time
capture() {
	escaped=$(printf '%s\n' "$1" | sed 's/[\\"]/\\&/g')
	cat <<X | cprof-dump -r
segment major=1 minor=0 least=1
meta key="host" value="h"
meta key="start-realtime-ns" value="1700000000000000000"
meta key="start-monotonic-ns" value="1"
meta key="label.odd" value="$escaped"
event id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000
event id=2 name="$escaped" unit="events" period=1 millihertz=0
flush
process id=1 time=1 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=1 process=1 tid=42
comm time=1 thread=1 comm="sh"
frame id=1 process=1 kind=exact address=0x400100
node id=16 parent=0 frame=1
sample time=2000000 event=1 cpu=0 thread=1 user=16 kernel=0 weight=10000000
sample time=3000000 event=2 cpu=0 thread=1 user=16 kernel=0 weight=3
end time=4000000 reason=continues samples=2
flush
X
}
while IFS= read -r text; do
	capture "$text" >"in/$text" || exit 1
done <texts
sort texts >names
unharmed() { is "  and nothing was run" "$(find . -name canary)" ""; }
# --event separates names by commas.
grep -v , names >askable

# dash's echo interprets backslashes; bash's does not.
shell=$(command -v dash || echo sh)
status "all captures become rows, but for an event that is a list" 3 "$shell" "$top/contrib/rows" in/*
grep , texts >lists
sed -n 's/^rows: in.*: cprof-fold cannot select the event //p' err | sort >got
sort lists >want
same "  which is said" want got
# columns FILE: checks the names of files, labels and events in it
columns() {
	cut -f "$2" "$1" | sort -u >got
	same "  the names of files are those" names got
	cut -f "$3" "$1" | sed 's/^odd=//' | sort -u >got
	same "  so are the labels" names got
	cut -f "$4" "$1" | grep -vx cpu-clock | sort -u >got
	same "  and the events" askable got
}
sed 1d out >rows
columns rows 12 11 7
unharmed

if command -v sqlite3 >/dev/null; then
	# Load each by itself, because an error ends a call; without a folder, a name may look like an option.
	(cd in && for name in *; do "$shell" "$load" "$tmp/a.db" "$name"; done) >out 2>err
	is "sqlite takes them" "$(grep -v 'cprof-fold cannot select the event' err)" ""
	sqlite3 -list -separator "$(printf '\t')" a.db 'SELECT capture, labels, event FROM cprof_events' >rows
	columns rows 1 2 3
	sqlite3 -list a.db 'SELECT name FROM cprof_captures' | sort >got
	same "  and the captures that it knows" names got
	status "again" 0 "$shell" "$load" a.db in/*
	sed -n 's,^load: in/\(.*\) is there already$,\1,p' err | sort >got
	same "  each is there already, and said by its name" names got
	while IFS= read -r text; do
		"$shell" "$query" -e "$text" -l "odd=$text" a.db @0 @1800000000
	done <askable >got 2>err
	is "  and each is found by its label and event" "$(sort got | uniq -c | sed 's/^ *//')$(cat err)" "$(wc -l <askable) sh;[unknown]	3"
	printf "CREATE VIEW cprof_events AS SELECT 1 AS time, writefile('canary', 'x') AS stack, 1 AS samples, 1 AS weight, 'ns' AS unit;\n" | sqlite3 view.db
	"$query" view.db @0 @1800000000 >got 2>&1
	unharmed
	# An invalid time is printed as it is.
	status "a hostile time" 2 "$shell" "$query" a.db @0 'x\047\n\c'
	like "  is said as it is" "$(cat err)" '^query: invalid time "x\\047\\n\\c" '
else
	skip "sqlite takes them" "there is no sqlite3"
fi

# A client that keeps its queries: for ClickHouse itself see recipe-clickhouse.t.
cat >client <<'X'
#!/bin/sh
printf '%s\n' "$2" >>asked
case $2 in *count\(\)*) printf '0\n' ;; INSERT*) cat >>inserted ;; esac
X
chmod +x client
status "ClickHouse is given them" 3 env CLICKHOUSE=./client "$shell" "$top/contrib/clickhouse/load" in/*
sed -n "s/^SELECT.*capture = '\(.*\)'\$/\1/p" asked | sed 's/\\\(.\)/\1/g' | sort >got
same "  asked for the names of files, in its quotes" names got
sed 's/\\\\/\\/g' inserted >rows
sed "s/'/\\\\&/g" names >quoted
cut -f 12 rows | sort -u >got
same "  the rows have the names" names got
cut -f 3 rows | sed "s/^\['odd=//; s/'\]\$//" | sort -u >got
sort quoted >want
same "  the labels" want got
cut -f 8 rows | grep -vx cpu-clock | sort -u >got
same "  and the events" askable got
unharmed
is "that was all of them" "$texts" "$(ls -A in | wc -l)"
done_testing
