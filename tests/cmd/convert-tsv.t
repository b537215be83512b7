#!/bin/sh
# cprof-convert -t tsv writes the rows of cprof-fold -o tsv; DuckDB's sums of them equal cprof-top.
. "$(dirname "$0")/../lib/lib.sh"

python3 "$here/convert-made.py" 1 | cprof-dump -r >"$tmp/a.bin" && python3 "$here/convert-made.py" 2 600 hostile | cprof-dump -r >"$tmp/h.bin" ||
	exit 1
cprof-fold "$tmp/h.bin" >"$tmp/h.folded" 2>/dev/null
alike() {
	cprof-convert -t tsv "$@" >"$tmp/got" 2>"$tmp/err"
	cprof-fold -o tsv "$@" >"$tmp/want" 2>/dev/null
	same "as cprof-fold has it: $(echo "$*" | sed "s,$tmp/,,g")" "$tmp/want" "$tmp/got"
}
for o in "" -il --norm "--min 1" "--base loop --collapse-recursion" "--comm app" "--weight ns"; do alike $o "$tmp/a.bin"; done
alike "$tmp/h.bin"
alike "$tmp/h.folded"
alike "$tmp/a.bin" "$tmp/h.bin" "$tmp/h.folded"
is "samples that were lost are told" \
	"$(grep -v "count twice" "$tmp/err")" \
	"cprof-convert: 12 of 1212 expected samples lost (ring-full 12)"
status "no byte" 3 cprof-convert -t tsv /dev/null
is "  is the head alone" "$(wc -l <"$tmp/out")" 1

command -v npm >/dev/null || { skip "DuckDB reads it" "there is no npm"; done_testing; }
modules=$(sh "$tests/lib/npm.sh" @duckdb/node-api) || { skip "DuckDB reads it" "$modules"; done_testing; }
cprof-convert -t tsv "$tmp/a.bin" >"$tmp/a.tsv" 2>/dev/null
cat >"$tmp/cumulative.js" <<'X'
const { DuckDBInstance } = require('@duckdb/node-api')
const table = `read_csv('${process.argv[2]}', delim = '\t', header = true, quote = '', escape = '')`
const sql = `with s as (select string_split(stack, ';') as frames, weight from ${table}),
	f as (select frames[-1] as name, weight as flat, 0 as cum from s where len(frames) > 1
		union all select unnest(list_distinct(frames[2:])), 0, weight from s
		union all select frames[1], weight, weight from s where len(frames) = 1)
	select sum(flat)::bigint as flat, sum(cum)::bigint as cum, name from f group by name`
async function main() {
	const connection = await (await DuckDBInstance.create(':memory:')).connect()
	const rows = (await connection.runAndReadAll(sql)).getRows()
	for (const r of rows)
		console.log(`${r[0]} ${r[1]} ${r[2]}`)
}
main()
X
ok "DuckDB reads it" sh -c "NODE_PATH='$modules' node '$tmp/cumulative.js' '$tmp/a.tsv' | sort >'$tmp/got'"
cprof-fold "$tmp/a.bin" 2>/dev/null | cprof-top -n 0 | sed -n 's/^ *\([0-9]*\) *[0-9.]*% *[0-9.]*% *\([0-9]*\) *[0-9.]*%  \(.*\)$/\1 \2 \3/p' | sort >"$tmp/want"
same "  and by SQL each function has what cprof-top says" "$tmp/want" "$tmp/got"
done_testing
