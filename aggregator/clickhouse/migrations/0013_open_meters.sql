-- Which meters have records that usage_records_by_meter may not have. Lists of a meter read it first: of all others, that table alone is
-- read then, and before, each list of a meter read from usage_records_by_time as well.
--   meters  those of which records may be missing that were received from complete_before on; none are named where any may be
ALTER TABLE usage_records_by_meter_progress ADD COLUMN IF NOT EXISTS meters Array(String);

-- Common meters are named there, too: as what is said by an owner of their own, without end. Where this file was applied but not
-- recorded, it finds none.
CREATE TABLE IF NOT EXISTS usage_common_meters (
  platform_id LowCardinality(String),
  environment LowCardinality(String),
  meter_reference String
)
ENGINE = ReplacingMergeTree
ORDER BY (platform_id, environment, meter_reference);
INSERT INTO usage_records_by_meter_progress (owner, complete_before, published_at, version, meters)
  SELECT concat('common/', key), toDateTime64(0, 3, 'UTC'), toDateTime64(0, 3, 'UTC'), 0, [key]
  FROM (SELECT DISTINCT concat(platform_id, '/', environment, '/', meter_reference) AS key FROM usage_common_meters);
DROP TABLE IF EXISTS usage_common_meters;
