-- The records of a meter in order of time, each whole. Those of a meter that few events name lie scattered over usage_records_by_time, and
-- to count them ClickHouse read from each of those places. Filled in the background, for many inserts at once, so that an insert pays
-- nothing; an event that is changed or deleted is copied at once (aggregator/meter-lists).
--   id       the first half of id_hash as a number, which has its order; with the time and the repeat it tells records apart
--   version  0 of what was not changed
CREATE TABLE IF NOT EXISTS usage_records_by_meter (
  platform_id LowCardinality(String),
  environment LowCardinality(String),
  meter_reference LowCardinality(String),
  timestamp DateTime64(3, 'UTC'),
  id UInt64,
  repeat UInt64,
  received_at DateTime64(3, 'UTC'),
  version UInt64,
  deleted UInt8,
  id_hash FixedString(32),
  customer_key String,
  content String
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYear(timestamp)
ORDER BY (platform_id, environment, meter_reference, timestamp, id, repeat)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compress_block_size = 16384, index_granularity = 512;

-- The meters of which not all records stand there: the ones with most events, whose records are neighbours in usage_records_by_time.
CREATE TABLE IF NOT EXISTS usage_common_meters (
  platform_id LowCardinality(String),
  environment LowCardinality(String),
  meter_reference String
)
ENGINE = ReplacingMergeTree
ORDER BY (platform_id, environment, meter_reference)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- How far it is filled. Of all other meters, what was received before the earliest complete_before of all owners stands there; what was
-- received later is found in usage_records_by_time. An owner is an aggregator. It moves its time back before it stores what was received
-- earlier, and forward after it has copied what it stored.
CREATE TABLE IF NOT EXISTS usage_records_by_meter_progress (
  owner String,
  complete_before DateTime64(3, 'UTC'),
  published_at DateTime64(3, 'UTC'),
  version UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY owner
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- What is there already: the meters with fewest events, up to a tenth of all or 100,000.
INSERT INTO usage_common_meters
  SELECT platform_id, environment, meter_reference FROM (
    SELECT platform_id, environment, meter_reference,
      sum(records) OVER (ORDER BY records, platform_id, environment, meter_reference) AS so_far, sum(records) OVER () AS total
    FROM (
      SELECT platform_id, environment, meter_reference, count() AS records
      FROM usage_records_by_time GROUP BY platform_id, environment, meter_reference
    )
  ) WHERE so_far > greatest(100000, total / 10);
INSERT INTO usage_records_by_meter
  SELECT platform_id, environment, meter_reference, timestamp, reinterpretAsUInt64(reverse(unhex(substring(id_hash, 1, 16)))) AS id, repeat,
    received_at, if(version >= 2305843009213693952, version, 0) AS version, deleted, id_hash, customer_key, content
  FROM usage_records_by_time
  WHERE (platform_id, environment, meter_reference) NOT IN (SELECT platform_id, environment, meter_reference FROM usage_common_meters)
  SETTINGS max_partitions_per_insert_block = 0;

-- What an aggregator may have stored meanwhile is copied by the first one that starts, which then removes this limit. Without a row
-- everything is found in usage_records_by_time.
INSERT INTO usage_records_by_meter_progress
  SELECT 'migration', now64(3) - toIntervalDay(1), toDateTime64(0, 3, 'UTC'), 0
  WHERE (SELECT count() FROM usage_records_by_time) > 0;
