-- A page of a platform's list is found from the newest rows on. Where few of them match, indexes pass over the others: of a meter (the
-- one before held at most eight names for 4,096 rows, so it passed over nothing of a platform with more meters), of repeats and of
-- deleted events. What is there already is indexed by and by; until then it is read without an index.
ALTER TABLE usage_records_by_time DROP INDEX IF EXISTS by_meter;
ALTER TABLE usage_records_by_time
  ADD INDEX IF NOT EXISTS by_meter_name meter_reference TYPE bloom_filter(0.001) GRANULARITY 8,
  ADD INDEX IF NOT EXISTS by_repeat repeat TYPE minmax GRANULARITY 8,
  ADD INDEX IF NOT EXISTS by_deleted deleted TYPE minmax GRANULARITY 8;
ALTER TABLE usage_records_by_time MATERIALIZE INDEX by_meter_name, MATERIALIZE INDEX by_repeat, MATERIALIZE INDEX by_deleted
  SETTINGS mutations_sync = 0;
