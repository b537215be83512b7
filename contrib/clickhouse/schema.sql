-- One row for each slice of time, process and stack: what cprof-fold -o tsv writes, with the labels of the recording.
-- Runs on any ClickHouse from 18.16 on. Newer ones: LowCardinality(String) for host, comm and container, CODEC(ZSTD(3)) for stack, and
--	ALTER TABLE cprof MODIFY TTL time + INTERVAL 30 DAY
-- which drops whole days, as
--	ALTER TABLE cprof DROP PARTITION '2026-11-21'
-- does at any age of ClickHouse.
CREATE TABLE IF NOT EXISTS cprof
(
	time DateTime,		-- beginning of the slice
	host String,
	labels Array(String),	-- 'service=shop', 'env=prod'
	container String,	-- path of the control group
	comm String,
	pid UInt32,
	stack String,		-- frames from the outermost on, ';' between them
	weight UInt64,		-- samples
	capture String		-- the file it came from: none is loaded twice
)
ENGINE = MergeTree
PARTITION BY toDate(time)
ORDER BY (time, host, container, comm, stack);

-- Captures without a row, which are not loaded again either
CREATE TABLE IF NOT EXISTS cprof_empty
(
	capture String,
	loaded DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(loaded)
ORDER BY capture
