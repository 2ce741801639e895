-- The raw truth: one logical row per event. The leading columns are EVENT_FIELDS in their order, so that a wire line is
-- inserted as it stands with the aggregator's own columns appended. The sorting key holds nothing a replay could change:
-- duplicates never reach this table (the first-seen index decides), so the event's timestamp may stand in it.
-- Partitions are years: any age is accepted, and a batch that spreads over every month since 1970 would cost one part a
-- month (5 seconds an insert, for everybody).
-- Every insert is fsynced: the log position moves past a batch as soon as its rows are acknowledged.
CREATE TABLE IF NOT EXISTS usage_events (
  id_hash FixedString(32),
  content_hash FixedString(16),
  platform_id LowCardinality(String),
  environment LowCardinality(String),
  reference String,
  customer_key String,
  meter_reference LowCardinality(String),
  timestamp DateTime64(3, 'UTC'),
  received_at DateTime64(3, 'UTC'),
  value_references Array(LowCardinality(String)),
  value_quantities Array(Decimal(38, 12)),
  value_currencies Array(LowCardinality(String)),
  properties Map(LowCardinality(String), String),
  subscription String,
  log_partition UInt16,
  log_seq UInt64,
  log_line UInt32,
  version UInt64,
  deleted UInt8,
  INDEX id_hash_bloom id_hash TYPE bloom_filter(0.001) GRANULARITY 1,
  INDEX reference_bloom reference TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYear(timestamp)
ORDER BY (platform_id, environment, customer_key, meter_reference, timestamp, id_hash)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Every repeat that reached the log, by the place it stands at; never counted, shown in the events list.
CREATE TABLE IF NOT EXISTS usage_duplicates (
  id_hash FixedString(32),
  content_hash FixedString(16),
  platform_id LowCardinality(String),
  environment LowCardinality(String),
  reference String,
  customer_key String,
  meter_reference LowCardinality(String),
  timestamp DateTime64(3, 'UTC'),
  received_at DateTime64(3, 'UTC'),
  value_references Array(LowCardinality(String)),
  value_quantities Array(Decimal(38, 12)),
  value_currencies Array(LowCardinality(String)),
  properties Map(LowCardinality(String), String),
  subscription String,
  log_partition UInt16,
  log_seq UInt64,
  log_line UInt32,
  first_seq UInt64,
  first_line UInt32,
  content_differs UInt8,
  INDEX id_hash_bloom id_hash TYPE bloom_filter(0.001) GRANULARITY 1,
  INDEX reference_bloom reference TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toYear(timestamp)
ORDER BY (platform_id, environment, customer_key, meter_reference, timestamp, id_hash, log_partition, log_seq, log_line)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- What stood in the log and could not be read as a record, kept with its reason and its place.
CREATE TABLE IF NOT EXISTS usage_dead_letters (
  log_partition UInt16,
  log_seq UInt64,
  log_line UInt32,
  reason LowCardinality(String),
  record String
)
ENGINE = ReplacingMergeTree
ORDER BY (log_partition, log_seq, log_line)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- "Partition p last touched this bucket at log_seq"; written after the raw rows it speaks of. A roll-up that does not
-- cover its marks is not used, so a missing or late roll-up costs time and never a wrong answer.
CREATE TABLE IF NOT EXISTS usage_bucket_marks (
  platform_id LowCardinality(String),
  environment LowCardinality(String),
  customer_key String,
  meter_reference LowCardinality(String),
  hour DateTime('UTC'),
  log_partition UInt16,
  log_seq UInt64
)
ENGINE = ReplacingMergeTree(log_seq)
ORDER BY (platform_id, environment, customer_key, meter_reference, hour, log_partition)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- A cache, one row per bucket: what it covers and its figures stand in one row, so they can never disagree, and the
-- combinations a deletion emptied vanish with the row that is replaced. version = the sum of covered_seqs, which grows
-- with every mark covered, so that a slower writer never replaces a fresher row.
CREATE TABLE IF NOT EXISTS usage_rollups (
  platform_id LowCardinality(String),
  environment LowCardinality(String),
  customer_key String,
  meter_reference LowCardinality(String),
  hour DateTime('UTC'),
  covered_partitions Array(UInt16),
  covered_seqs Array(UInt64),
  value_references Array(LowCardinality(String)),
  value_currencies Array(LowCardinality(String)),
  properties Array(Map(LowCardinality(String), String)),
  counts Array(UInt64),
  sums Array(Decimal(76, 12)),
  minima Array(Decimal(38, 12)),
  maxima Array(Decimal(38, 12)),
  version UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (platform_id, environment, customer_key, meter_reference, hour);

-- How far ClickHouse is complete, per partition of the log: every effect of every message up to log_seq is here.
CREATE TABLE IF NOT EXISTS usage_positions (
  log_partition UInt16,
  log_seq UInt64,
  log_time DateTime64(3, 'UTC'),
  stream_created String
)
ENGINE = ReplacingMergeTree(log_seq)
ORDER BY log_partition
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
