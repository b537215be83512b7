-- The rows of contrib/rows, one for each time slice, process, stack and event, with the labels of the recording.
-- Runs on ClickHouse 18.16 and later. On newer ones, use LowCardinality(String) for host, comm, container, event
-- and unit, CODEC(ZSTD(3)) for stack, and
--	ALTER TABLE cprof_events MODIFY TTL time + INTERVAL 30 DAY
-- which drops whole days, as
--	ALTER TABLE cprof_events DROP PARTITION '2026-11-21'
-- does in every version of ClickHouse.
-- A table "cprof" made before there were several events is neither changed nor queried: its rows do not record
-- whether they are CPU time or page faults, nor how long a sample is. Load those captures again, and drop it.
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
	weight UInt64,		-- time, or the number of occurrences
	samples UInt64,		-- CPU time in samples; 0 if it is not CPU time
	capture String		-- the source file: each is loaded once
)
ENGINE = MergeTree
PARTITION BY toDate(time)
ORDER BY (time, host, container, comm, stack);

-- Captures without rows, so that they are not loaded again
CREATE TABLE IF NOT EXISTS cprof_empty
(
	capture String,
	loaded DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(loaded)
ORDER BY capture
