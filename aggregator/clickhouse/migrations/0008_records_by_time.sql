-- The records of a platform in order of time: its events and their repeats in one table, each whole, so that a page of a list is one
-- statement over neighbours. usage_event_times held the order alone, and a page was then read from fifty places of usage_events; it
-- goes. Short granules keep a page from reading thousands of records. Filled by ClickHouse with every row that usage_events and
-- usage_duplicates get, deletions and corrections included: an insert that fails half-way is sent again whole, and the same rows are
-- the same rows.
--   repeat   0 for the event that counts; of a repeat, its place in the log as log_seq * 2^20 + log_line (a partition holds all
--            records of one reference)
--   content  what no list filters by, as JSON, since an insert pays for each column: reference, subscription, values' references,
--            quantities and currencies, properties, log_partition, log_seq, log_line, content_differs
CREATE TABLE IF NOT EXISTS usage_records_by_time (
  platform_id LowCardinality(String),
  environment LowCardinality(String),
  timestamp DateTime64(3, 'UTC'),
  id_hash FixedString(32),
  repeat UInt64,
  customer_key String,
  meter_reference LowCardinality(String),
  received_at DateTime64(3, 'UTC'),
  content String,
  version UInt64,
  deleted UInt8,
  -- Most events are received about when they happen, so what was received in an hour lies together.
  INDEX by_received received_at TYPE minmax GRANULARITY 8,
  -- Passes over time in which a meter that few use had no event.
  INDEX by_meter meter_reference TYPE set(8) GRANULARITY 8
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYear(timestamp)
ORDER BY (platform_id, environment, timestamp, id_hash, repeat)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, index_granularity = 512;

CREATE MATERIALIZED VIEW IF NOT EXISTS usage_events_by_time TO usage_records_by_time AS
  SELECT platform_id, environment, timestamp, id_hash, toUInt64(0) AS repeat, customer_key, meter_reference, received_at,
    toJSONString((reference, subscription, value_references, arrayMap(quantity -> toString(quantity), value_quantities),
      value_currencies, properties, log_partition, toString(log_seq), log_line, 0)) AS content,
    version, deleted
  FROM usage_events;

CREATE MATERIALIZED VIEW IF NOT EXISTS usage_duplicates_by_time TO usage_records_by_time AS
  SELECT platform_id, environment, timestamp, id_hash, log_seq * 1048576 + log_line AS repeat, customer_key, meter_reference, received_at,
    toJSONString((reference, subscription, value_references, arrayMap(quantity -> toString(quantity), value_quantities),
      value_currencies, properties, log_partition, toString(log_seq), log_line, content_differs)) AS content,
    toUInt64(0) AS version, toUInt8(0) AS deleted
  FROM usage_duplicates;

-- What is there already. Rows that come in meanwhile are stored twice, and are one.
INSERT INTO usage_records_by_time
  SELECT platform_id, environment, timestamp, id_hash, toUInt64(0) AS repeat, customer_key, meter_reference, received_at,
    toJSONString((reference, subscription, value_references, arrayMap(quantity -> toString(quantity), value_quantities),
      value_currencies, properties, log_partition, toString(log_seq), log_line, 0)) AS content,
    version, deleted
  FROM usage_events SETTINGS max_partitions_per_insert_block = 0;
INSERT INTO usage_records_by_time
  SELECT platform_id, environment, timestamp, id_hash, log_seq * 1048576 + log_line AS repeat, customer_key, meter_reference, received_at,
    toJSONString((reference, subscription, value_references, arrayMap(quantity -> toString(quantity), value_quantities),
      value_currencies, properties, log_partition, toString(log_seq), log_line, content_differs)) AS content,
    toUInt64(0) AS version, toUInt8(0) AS deleted
  FROM usage_duplicates SETTINGS max_partitions_per_insert_block = 0;

DROP VIEW IF EXISTS usage_event_times_filled;
DROP TABLE IF EXISTS usage_event_times;
