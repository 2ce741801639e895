-- The events of a platform in order of time, for lists of all its customers and for what came in lately: usage_events is sorted by
-- customer, so the newest fifty events of all would be looked for in all of it. What a list needs to order events and to say what
-- becomes of them; whole events are then read by their key. Filled by ClickHouse with every row that usage_events gets, deletions
-- and corrections included: an insert that fails half-way is sent again whole, and the same rows are the same rows.
CREATE TABLE IF NOT EXISTS usage_event_times (
  platform_id LowCardinality(String),
  environment LowCardinality(String),
  timestamp DateTime64(3, 'UTC'),
  id_hash FixedString(32),
  customer_key String,
  meter_reference LowCardinality(String),
  received_at DateTime64(3, 'UTC'),
  properties Map(LowCardinality(String), String),
  subscription String,
  log_partition UInt16,
  log_seq UInt64,
  log_line UInt32,
  version UInt64,
  deleted UInt8,
  -- Most events are received about when they happen, so what was received in an hour lies together.
  INDEX by_received received_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYear(timestamp)
ORDER BY (platform_id, environment, timestamp, id_hash)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS usage_event_times_filled TO usage_event_times AS
  SELECT platform_id, environment, timestamp, id_hash, customer_key, meter_reference, received_at, properties, subscription,
    log_partition, log_seq, log_line, version, deleted
  FROM usage_events;

-- What is there already. Rows that come in meanwhile are stored twice, and are one.
INSERT INTO usage_event_times
  SELECT platform_id, environment, timestamp, id_hash, customer_key, meter_reference, received_at, properties, subscription,
    log_partition, log_seq, log_line, version, deleted
  FROM usage_events SETTINGS max_partitions_per_insert_block = 0;
