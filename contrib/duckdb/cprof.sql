-- Folded lines for any time, label and host: DuckDB reads the tables that contrib/rows wrote, without loading them:
--	contrib/rows captures/*.cprof > rows/host.tsv
--	duckdb -init contrib/duckdb/cprof.sql -noheader -list -separator ' ' -c "SELECT * FROM folded('rows/*.tsv',
--		'2026-11-21 14:03:20', '2026-11-21 14:03:30')" | cprof-flame > all.html
-- Times are UTC. The result is CPU time in samples, as cprof-fold counts it. ns := true gives nanoseconds, which
-- add up if rates differ. event_ is one name of --event of cprof-fold, with the same lines and numbers: event_ :=
-- 'page-faults', 'off-cpu:sleep', or 'off-cpu' for all waits, in nanoseconds. A list of names selects nothing. An
-- event with different units is an error. So are tables that contrib/rows wrote before there were several events:
-- write them again.
-- For frequent queries, convert the rows to Parquet once, which is a nineteenth of the size:
--	COPY (SELECT * FROM cprof('rows/*.tsv')) TO 'rows.parquet' (COMPRESSION zstd)
-- and let cprof() below read that with read_parquet.

-- The rows of files
CREATE OR REPLACE MACRO cprof(files) AS TABLE
	SELECT make_timestamp(time // 1000) AS time, coalesce(host, '') AS host, string_split(coalesce(labels, ''), chr(31)) AS labels,
		coalesce(container, '') AS container, comm, pid, stack, event, unit, weight, samples, capture
	FROM read_csv(files, delim = '\t', header = true, quote = '', escape = '', max_line_size = 16777216, columns = {
		'host': 'VARCHAR', 'time': 'BIGINT', 'comm': 'VARCHAR', 'pid': 'BIGINT', 'container': 'VARCHAR', 'stack': 'VARCHAR',
		'event': 'VARCHAR', 'unit': 'VARCHAR', 'weight': 'BIGINT', 'samples': 'BIGINT', 'labels': 'VARCHAR', 'capture': 'VARCHAR'});

-- Folded lines; event, label, host and part of the container's path may be left out.
CREATE OR REPLACE MACRO folded(files, since, before, label := NULL, host_ := NULL, container_ := NULL, event_ := NULL, ns := false) AS TABLE
	WITH asked AS (SELECT ns OR coalesce(event_, '') LIKE 'off-cpu%' AS timed),
		r AS MATERIALIZED (SELECT stack, CASE WHEN timed OR samples = 0 THEN weight ELSE samples END AS n,
				CASE WHEN timed OR samples = 0 THEN unit ELSE 'samples' END AS kind
			FROM cprof(files), asked
			WHERE time >= since::TIMESTAMP AND time < before::TIMESTAMP AND (label IS NULL OR list_contains(labels, label))
				AND (host_ IS NULL OR host = host_) AND (container_ IS NULL OR contains(container, container_))
				AND CASE WHEN event_ IS NULL THEN samples > 0 ELSE event = event_ OR starts_with(event, event_ || ':') END
				AND (NOT timed OR unit = 'ns'))
	SELECT stack, sum(n)::BIGINT AS weight FROM r
	WHERE CASE WHEN (SELECT count(DISTINCT kind) FROM r) > 1 THEN error('cannot add these events: ' || event_)::BOOLEAN ELSE true END
	GROUP BY stack ORDER BY stack;

-- Functions: self, total, name. The command counts as one only if a stack has nothing else.
CREATE OR REPLACE MACRO functions(files, since, before, label := NULL, host_ := NULL, container_ := NULL, event_ := NULL, ns := false) AS TABLE
	WITH s AS (SELECT string_split(stack, ';') AS frames, weight FROM folded(files, since, before, label := label, host_ := host_,
			container_ := container_, event_ := event_, ns := ns)),
		f AS (SELECT CASE WHEN len(frames) > 1 THEN frames[2:] ELSE frames END AS frames, weight FROM s),
		n AS (SELECT unnest(list_distinct(frames)) AS name, frames[-1] AS last, weight FROM f)
	SELECT sum(CASE WHEN name = last THEN weight ELSE 0 END)::BIGINT AS self, sum(weight)::BIGINT AS total, name FROM n
	GROUP BY name ORDER BY self DESC, total DESC, name;
