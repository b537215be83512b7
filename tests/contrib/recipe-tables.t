#!/bin/sh
# sqlite and DuckDB over the rows of captures: for any time, event, label, host and container, the
# lines of cprof-fold.
. "$(dirname "$0")/../lib/lib.sh"
. "$here/recipe-events.sh"
rows=$top/contrib/rows load=$top/contrib/sqlite/load query=$top/contrib/sqlite/query
cd "$tmp" || exit 1

made() { # SEED HOST SERVICE SECONDS
	python3 "$tests/cmd/convert-made.py" $1 200 hostile | sed "s,/opt/o1/app,/opt/o1/other,; s/^meta key=\"host\".*/meta key=\"host\" value=\"$2\"\nmeta key=\"label.service\" value=\"$3\"\nmeta key=\"label.odd\" value=\"it's \\\\\\\\ \\\\\"odd\\\\\"\"\nmeta key=\"start-monotonic-ns\" value=\"1\"/
		s/^meta key=\"start-realtime-ns\".*/meta key=\"start-realtime-ns\" value=\"$4000000000\"/; s/^\\(sample time=[0-9]*\\)/\\10/
		s/comm=\"work\"/comm=\"\\\\\"work\"/" | cprof-dump -r >"$2.bin" || exit 1
	cprof-sym "$2.bin" >"$2.sym" 2>/dev/null
}
made 1 alpha shop 1700000000 && made 2 beta shop 1700000003 && made 3 gamma mail 1700000060
folded() { cprof-fold --max-line 4194304 -T "$@" 2>/dev/null >want; [ -s want ] || diag "nothing to compare"; }
since=@1700000002 before=@1700000006

if command -v sqlite3 >/dev/null; then
	status "sqlite takes captures" 0 "$load" c.db alpha.bin beta.bin
	status "  and more" 0 "$load" c.db beta.bin gamma.bin
	diag "$(cat err)"
	ask() { "$query" "$@" >got 2>err || diag "$(cat err)"; }
	ask c.db @0 @1800000000; folded alpha.sym beta.sym gamma.sym
	same "all of it, and nothing twice" want got
	ask -H beta -p '"work' c.db $since $before; folded --from $since --to $before --comm '"work' beta.sym
	same "some seconds of a command of a host" want got
	ask -l service=shop -c docker/1 c.db "2023-11-14 22:13:22" "2023-11-14 22:13:26"
	folded --label service=shop --in /docker/1 --from $since --to $before alpha.sym beta.sym gamma.sym
	same "of a service's container" want got
	ask c.db 2023-11-14T22:13:22Z 2023-11-14T22:13:26Z; folded --from $since --to $before alpha.sym beta.sym gamma.sym
	same "by times with a T and a Z" want got
	for no in "yesterday at noon" 22:13:22 now "2023-02-29 00:00:00" @ ""; do
		status "'$no'" 2 "$query" c.db @0 "$no"
		is "  is no time" "$(cat err)" "query: invalid time \"$no\" (expected 'YYYY-MM-DD HH:MM:SS' in UTC, YYYY-MM-DDTHH:MM:SSZ, or @SECONDS since 1970)"
	done
	for day in 1970-01-01 1999-12-31 2000-02-29 2000-03-01 2023-02-28 2024-02-29 2026-08-31; do
		printf '%s %s\n' "$(. "$top/contrib/query.sh"; moment "$day 01:02:03")" "$(date -u -d "$day 01:02:03" +%s)"
	done >days
	is "seconds of days are those of date(1)" "$(awk '$1 != $2 || NF != 2' days; wc -l <days)" 7
	ask -l "odd=it's \\ \"odd\"" -H "alpha" c.db @0 @1800000000; folded alpha.sym
	same "a label with quotes and backslashes" want got
	ask -H "x' OR '1'='1" c.db @0 @1800000000
	is "an injection is a name" "$(cat got)" ""
	ask -e "x' OR '1'='1" c.db @0 @1800000000
	is "  of an event, too" "$(cat got; sed 's/;.*//' err)" "query: no events x' OR '1'='1"

	# Other events, waits that begin in other seconds, two rates
	eventful 5 one 1700000100 100 && eventful 6 two 1700000100 250 || exit 1
	status "sqlite takes all events" 0 "$load" e.db one.bin two.bin
	alike() { # FROM TO "OPTIONS OF query" "OPTIONS OF cprof-fold"
		"$query" $3 e.db "$1" "$2" >got 2>err || diag "$(cat err)"
		folded $4 --from "$1" --to "$2" one.sym two.sym
		if [ -s want ]; then same "  ${3:-CPU time} of $(($(echo "$2 - $1" | tr -d @))) seconds, $(wc -l <want) stacks" want got; else fail "  nothing to compare"; fi
	}
	for window in "@1700000000 @1700001000" "@1700000103 @1700000104" "@1700000105 @1700000109"; do
		alike $window "" ""
		alike $window -n "--weight ns"
		for event in cpu-clock off-cpu off-cpu:sleep page-faults sched page-faults,sched cpu-clock,off-cpu; do
			alike $window "-e $event" "--event $event"
		done
	done
	alike @1700000105 @1700000109 "-e off-cpu -c docker/1 -l service=shop -p work" "--event off-cpu --in /docker/1 --label service=shop --comm work"
	for events in page-faults,cpu-clock off-cpu,page-faults; do
		status "$events" 2 "$query" -e $events e.db @0 @1800000000
		like "  are no sum" "$(cat out err)" '^query: -e: cannot add .* and page-faults \(.*\)$'
	done
	status "no time" 0 "$query" -n -e page-faults e.db @0 @1800000000
	is "  is no sum of it" "$(cat out err)" "query: page-faults does not measure time"
	is "an event that is not there" "$("$query" -e minor e.db @0 @1800000000 2>&1)" \
		"query: no events minor; recorded events: cpu-clock, off-cpu:run-queue, off-cpu:sleep, page-faults, sched:sched_switch"

	# Missing files, files that are not captures, and idle captures do not affect the rest; one name
	# is one capture.
	gzip -c one.bin | gzip >one.bin.gz; head -c 600 two.bin >cut.bin
	sed '/^sample /d; s/samples=.*/samples=0/' <<X | cprof-dump -r >idle.bin
$(cprof-dump alpha.bin)
X
	mkdir -p other && cp two.bin other/one.bin
	status "files that are none, and captures behind them" 1 "$load" f.db one.bin.gz none.bin cut.bin idle.bin one.bin other/one.bin
	is "  are told apart" "$(sed 's/: block .*//' err)" "rows: cprof-sym: one.bin.gz: compressed with gzip: decompress it first
rows: cprof-sym: none.bin: No such file or directory
rows: cprof-sym: cut.bin
load: other/one.bin is there already"
	"$query" f.db @0 @1800000000 >got; folded one.sym; same "  and the first of a name is there" want got
	status "again" 1 "$load" f.db one.bin.gz cut.bin idle.bin one.bin
	is "  those without samples are not read again" "$(sed -n 's/^load: //p' err | tr '\n' ,)" \
		"cut.bin is there already,idle.bin is there already,one.bin is there already,"
	sqlite3 old.db 'CREATE TABLE cprof (time INTEGER, stack TEXT, weight INTEGER); CREATE TABLE captures (name TEXT); INSERT INTO captures VALUES ("one.bin")'
	status "beside a table of before" 0 "$load" old.db one.bin
	"$query" old.db @0 @1800000000 >got; same "  there is a new one" want got
else
	eventful 5 one 1700000100 100 && eventful 6 two 1700000100 250 || exit 1
	skip "sqlite takes captures" "there is no sqlite3"
fi

status "rows" 0 "$rows" alpha.bin beta.bin gamma.bin
mv out all.tsv
is "  have their labels" "$(cut -f 11 all.tsv | sort -u | tr '\037\n' '|,')" "labels,service=mail|odd=it's \\ \"odd\",service=shop|odd=it's \\ \"odd\","
command -v npm >/dev/null || { skip "DuckDB" "there is no npm"; done_testing; }
modules=$(BUILD=$BUILD sh "$tests/lib/npm.sh" @duckdb/node-api) || { skip "DuckDB" "$modules"; done_testing; }
cat >ask.js <<'X'
const { DuckDBInstance } = require('@duckdb/node-api')
const fs = require('fs')
async function main() {
	const connection = await (await DuckDBInstance.create(':memory:')).connect()
	await connection.run(fs.readFileSync(process.argv[2], 'utf8'))
	for (let i = 3; i + 1 < process.argv.length; i += 2) {
		const rows = (await connection.runAndReadAll('SELECT * FROM ' + process.argv[i])).getRows()
		fs.writeFileSync(process.argv[i + 1], rows.map(r => r.join('\t') + '\n').join(''))
	}
}
main().catch(e => { console.error(String(e)); process.exit(1) })
X
times="'2023-11-14 22:13:22', '2023-11-14 22:13:26'"
ok "DuckDB reads them" env NODE_PATH="$modules" node ask.js "$top/contrib/duckdb/cprof.sql" "folded('all.tsv', '2000-01-01', '2100-01-01')" all \
	"folded('all.tsv', $times, label := 'service=shop', container_ := 'docker/1')" some \
	"functions('all.tsv', $times, host_ := 'beta')" table
folded alpha.sym beta.sym gamma.sym; same "  all of it" want all
folded --label service=shop --in /docker/1 --from $since --to $before alpha.sym beta.sym gamma.sym; same "  some seconds of a service's container" want some
folded --from $since --to $before beta.sym
cprof-top -n 0 want 2>/dev/null | sed -n 's/^ *\([0-9]*\) *[0-9.]*% *[0-9.]*% *\([0-9]*\) *[0-9.]*%  \(.*\)$/\1	\2	\3/p' | sort >rows; mv rows want
sort table >got
same "  and the functions of a host are cprof-top's" want got

status "rows of several events" 0 "$rows" one.bin two.bin
cp out events.tsv
times="'2023-11-14 22:15:05', '2023-11-14 22:15:09'"
ok "DuckDB reads them" env NODE_PATH="$modules" node ask.js "$top/contrib/duckdb/cprof.sql" "folded('events.tsv', $times)" cpu \
	"folded('events.tsv', $times, ns := true)" time "folded('events.tsv', $times, event_ := 'off-cpu')" waits \
	"folded('events.tsv', $times, event_ := 'off-cpu:sleep', container_ := 'docker/1')" sleeps "folded('events.tsv', $times, event_ := 'page-faults')" faults \
	"functions('events.tsv', $times, event_ := 'off-cpu')" table
while read -r name options; do
	folded --from @1700000105 --to @1700000109 $options one.sym two.sym
	same "  $name${options:+: $options}" want "$name"
done <<X
cpu
time --weight ns
waits --event off-cpu
sleeps --event off-cpu:sleep --in /docker/1
faults --event page-faults
X
is "  and the functions have the same sum" "$(awk '{ n += $1 } END { printf "%.0f", n }' table)" "$(awk '{ n += $NF } END { printf "%.0f", n }' waits)"
sed 's/	sched:sched_switch	events/	page-faults	samples/' events.tsv >odd.tsv
status "one name of two units" 1 env NODE_PATH="$modules" node ask.js "$top/contrib/duckdb/cprof.sql" "folded('odd.tsv', $times, event_ := 'page-faults')" odd
like "  is no sum" "$(cat err)" 'cannot add these events: page-faults'
cut -f 1-6,9,11,12 events.tsv >old.tsv
status "rows without an event" 1 env NODE_PATH="$modules" node ask.js "$top/contrib/duckdb/cprof.sql" "folded('old.tsv', $times)" odd
done_testing
