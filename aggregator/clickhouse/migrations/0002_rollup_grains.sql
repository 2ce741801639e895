-- The cache of figures, made anew: nothing of it is lost that is not recomputed from usage_events, and what reads it sees
-- by the marks that it is missing.
DROP TABLE IF EXISTS usage_rollups;

-- One row per bucket and grain. What a row covers and its figures stand together, so they can never disagree, and the
-- combinations a deletion emptied vanish with the row that is replaced.
--   TOTALS  an hour, figures per value, currency and subscription; every bucket has one
--   HOUR    the same per combination of properties; left out when there are too many of them
--   DAY     HOUR, added up over the hours of a day
-- Lists of figures are parallel. In HOUR and DAY an entry of the value '' counts the events of a combination, with values or
-- without any. covered_hours and covered_seqs, parallel as well: the hours of the figures, and the sum of the marks of each
-- when it was recomputed. Marks only grow, so an hour is covered when, and only when, the sum of its marks is no greater.
-- version = the sum of covered_seqs, so that a slower writer never replaces a fresher row.
-- Rows of many combinations are large: short granules keep a reader of one customer from reading others'.
CREATE TABLE IF NOT EXISTS usage_rollups (
  platform_id LowCardinality(String),
  environment LowCardinality(String),
  customer_key String,
  meter_reference LowCardinality(String),
  grain Enum8('TOTALS' = 1, 'HOUR' = 2, 'DAY' = 3),
  start DateTime('UTC'),
  covered_hours Array(DateTime('UTC')),
  covered_seqs Array(UInt64),
  value_references Array(LowCardinality(String)),
  value_currencies Array(LowCardinality(String)),
  subscriptions Array(LowCardinality(String)),
  properties Array(Map(LowCardinality(String), String)),
  counts Array(UInt64),
  sums Array(Decimal(76, 12)),
  minima Array(Decimal(38, 12)),
  maxima Array(Decimal(38, 12)),
  version UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (platform_id, environment, customer_key, meter_reference, grain, start)
SETTINGS index_granularity = 128, index_granularity_bytes = 1048576;
