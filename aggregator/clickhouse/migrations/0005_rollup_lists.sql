-- The cache of figures, made anew once more: properties, the widest of all, stand once for each combination and not once for
-- each value of it.
DROP TABLE IF EXISTS usage_rollups;

-- One row per bucket and grain. What a row covers and its figures stand together, so they can never disagree, and the
-- combinations a deletion emptied vanish with the row that is replaced.
--   TOTALS  an hour, figures per subscription, value and currency, without properties; every bucket has one
--   HOUR    the same per combination of properties as well; left out when there are too many of them
--   DAY     HOUR, added up over the hours of a day
-- subscriptions, properties and events are parallel lists, an entry a combination; in value_references and what follows it
-- stands, for each combination, the list of its values and currencies. So properties, the widest of all, stand once.
-- covered_hours and covered_seqs, parallel: the hours of the figures, and the sum of the marks of each when it was
-- recomputed. Marks only grow, so an hour is covered when, and only when, the sum of its marks is no greater.
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
ORDER BY (platform_id, environment, customer_key, meter_reference, grain, start)
SETTINGS index_granularity = 128, index_granularity_bytes = 1048576;
