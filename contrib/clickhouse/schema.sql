-- One row for each slice of time, process, stack and event: those of contrib/rows, with the labels of the recording.
-- Runs on any ClickHouse from 18.16 on. Newer ones: LowCardinality(String) for host, comm, container, event and unit, CODEC(ZSTD(3)) for stack, and
--	ALTER TABLE cprof_events MODIFY TTL time + INTERVAL 30 DAY
-- which drops whole days, as
--	ALTER TABLE cprof_events DROP PARTITION '2026-11-21'
-- does at any age of ClickHouse.
-- A table "cprof" made before there were several events is not touched, and not asked: its rows do not say whether they are CPU time or page
-- faults, nor how long a sample is. Load those captures anew, and drop it.
CREATE TABLE IF NOT EXISTS cprof_events
(
	time DateTime,		-- beginning of the slice
	host String,
	labels Array(String),	-- 'service=shop', 'env=prod'
	container String,	-- path of the control group
	comm String,
	pid UInt32,
	stack String,		-- frames from the outermost on, ';' between them
	event String,		-- 'cpu-clock', 'off-cpu:sleep', 'page-faults'
	unit String,		-- of weight: 'ns', 'events', 'samples'; different ones do not add up
	weight UInt64,		-- time, or how often it happened
	samples UInt64,		-- CPU time by its samples; 0 where it is no CPU time
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
