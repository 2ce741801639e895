-- The records of a customer in order of time, each whole: usage_records_by_time once more, in the order that a customer's list has, so
-- that its page and its count are read from neighbours in one table. Before, they were put together from usage_events and
-- usage_duplicates, whose granules are sixteen times as long and whose rows are several times as wide. Filled from
-- usage_records_by_time, which is filled with every row that those two get; the same rows are the same rows here as well.
CREATE TABLE IF NOT EXISTS usage_records_by_customer (
  platform_id LowCardinality(String),
  environment LowCardinality(String),
  customer_key String,
  timestamp DateTime64(3, 'UTC'),
  id_hash FixedString(32),
  repeat UInt64,
  meter_reference LowCardinality(String),
  received_at DateTime64(3, 'UTC'),
  content String,
  version UInt64,
  deleted UInt8
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYear(timestamp)
ORDER BY (platform_id, environment, customer_key, timestamp, id_hash, repeat)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, index_granularity = 512;

CREATE MATERIALIZED VIEW IF NOT EXISTS usage_records_by_customer_filled TO usage_records_by_customer AS
  SELECT platform_id, environment, customer_key, timestamp, id_hash, repeat, meter_reference, received_at, content, version, deleted
  FROM usage_records_by_time;

-- What is there already. Rows that come in meanwhile are stored twice, and are one.
INSERT INTO usage_records_by_customer
  SELECT platform_id, environment, customer_key, timestamp, id_hash, repeat, meter_reference, received_at, content, version, deleted
  FROM usage_records_by_time SETTINGS max_partitions_per_insert_block = 0;
