-- Roll-ups of days without properties, and all roll-ups in the order of their grain. A month of a meter that is used every hour is then 31
-- neighbours to read; it was 744 roll-ups of hours, each beside others that were decompressed with it.
--   TOTALS      an hour, figures per subscription, value and currency, without properties; every bucket has one
--   HOUR        the same per combination of properties as well; left out when there are too many of them
--   DAY         HOUR, added up over the hours of a day
--   DAY_TOTALS  TOTALS, added up over the hours of a day
-- Otherwise rows are as before (0005_rollup_lists.sql).
CREATE TABLE IF NOT EXISTS usage_rollups_by_grain (
  platform_id LowCardinality(String),
  environment LowCardinality(String),
  customer_key String,
  meter_reference LowCardinality(String),
  grain Enum8('TOTALS' = 1, 'HOUR' = 2, 'DAY' = 3, 'DAY_TOTALS' = 4),
  start DateTime('UTC'),
  covered_hours Array(DateTime('UTC')),
  covered_seqs Array(UInt64),
  subscriptions Array(LowCardinality(String)),
  properties Array(Map(LowCardinality(String), String)),
  events Array(UInt64),
  value_references Array(Array(LowCardinality(String))),
  value_currencies Array(Array(LowCardinality(String))),
  counts Array(Array(UInt64)),
  sums Array(Array(Decimal(76, 12))),
  minima Array(Array(Decimal(38, 12))),
  maxima Array(Array(Decimal(38, 12))),
  version UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (platform_id, environment, grain, customer_key, meter_reference, start)
SETTINGS index_granularity = 128, index_granularity_bytes = 1048576;

-- What is there already. The aggregator makes the totals of earlier days by and by; until then their hours are read. usage_rollups stays, without
-- rows, for processes of the version before, which read single events instead.
INSERT INTO usage_rollups_by_grain SELECT * FROM usage_rollups;
TRUNCATE TABLE usage_rollups;
