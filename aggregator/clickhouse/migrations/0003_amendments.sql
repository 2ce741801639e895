-- The history of corrections: each amendment by the place it stands at in the log, with what it replaced. The row of
-- usage_events that it made has a version above that of the event (aggregator/steps/rows.ts); the newest one holds.
CREATE TABLE IF NOT EXISTS usage_amendments (
  platform_id LowCardinality(String),
  environment LowCardinality(String),
  id_hash FixedString(32),
  log_partition UInt16,
  log_seq UInt64,
  log_line UInt32,
  received_at DateTime64(3, 'UTC'),
  actor_id String,
  request_id String,
  reason String,
  value_references Array(LowCardinality(String)),
  value_quantities Array(Decimal(38, 12)),
  value_currencies Array(LowCardinality(String)),
  properties Map(LowCardinality(String), String),
  previous_value_references Array(LowCardinality(String)),
  previous_value_quantities Array(Decimal(38, 12)),
  previous_value_currencies Array(LowCardinality(String)),
  previous_properties Map(LowCardinality(String), String),
  applied UInt8 -- 0: the event had been deleted before
)
ENGINE = ReplacingMergeTree
ORDER BY (platform_id, environment, id_hash, log_partition, log_seq, log_line)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
