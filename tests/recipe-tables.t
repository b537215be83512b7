#!/bin/sh
# sqlite and DuckDB over the rows of captures: for any time, label, host and container the lines of cprof-fold.
. "$(dirname "$0")/lib.sh"
rows=$top/contrib/rows load=$top/contrib/sqlite/load query=$top/contrib/sqlite/query
cd "$tmp" || exit 1

made() { # SEED HOST SERVICE SECONDS
	python3 "$here/convert-made.py" $1 200 hostile | sed "s,/opt/o1/app,/opt/o1/other,; s/^meta key=\"host\".*/meta key=\"host\" value=\"$2\"\nmeta key=\"label.service\" value=\"$3\"\nmeta key=\"label.odd\" value=\"it's \\\\\\\\ \\\\\"odd\\\\\"\"\nmeta key=\"start-monotonic-ns\" value=\"1\"/
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
		is "  is no time" "$(cat err)" "query: $no is no time: that is 'YYYY-MM-DD HH:MM:SS' by UTC, YYYY-MM-DDTHH:MM:SSZ, or @SECONDS since 1970"
	done
	for day in 1970-01-01 1999-12-31 2000-02-29 2000-03-01 2023-02-28 2024-02-29 2026-08-31; do
		printf '%s %s\n' "$(. "$top/contrib/query.sh"; moment "$day 01:02:03")" "$(date -u -d "$day 01:02:03" +%s)"
	done >days
	is "seconds of days are those of date(1)" "$(awk '$1 != $2 || NF != 2' days; wc -l <days)" 7
	ask -l "odd=it's \\ \"odd\"" -H "alpha" c.db @0 @1800000000; folded alpha.sym
	same "a label with quotes and backslashes" want got
	ask -H "x' OR '1'='1" c.db @0 @1800000000
	is "an injection is a name" "$(cat got)" ""
else
	skip "sqlite takes captures" "there is no sqlite3"
fi

status "rows" 0 "$rows" alpha.bin beta.bin gamma.bin
mv out all.tsv
is "  have their labels" "$(cut -f 8 all.tsv | sort -u | tr '\037\n' '|,')" "labels,service=mail|odd=it's \\ \"odd\",service=shop|odd=it's \\ \"odd\","
command -v npm >/dev/null || { skip "DuckDB" "there is no npm"; done_testing; }
modules=$(BUILD=$BUILD sh "$here/npm.sh" @duckdb/node-api) || { skip "DuckDB" "$modules"; done_testing; }
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
cprof-top -n 0 --from $since --to $before beta.sym 2>/dev/null | sed -n 's/^ *\([0-9]*\) *[0-9.]*% *[0-9.]*% *\([0-9]*\) *[0-9.]*%  \(.*\)$/\1	\2	\3/p' | sort >want
sort table >got
same "  and the functions of a host are cprof-top's" want got
done_testing
