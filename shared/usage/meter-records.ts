// The columns of usage_records_by_meter that are worked out, for who fills it and who reads it.

/** The first half of `id_hash` as a number, which has the order of `id_hash`: aggregator/clickhouse/migrations/0012_records_by_meter.sql. */
export const METER_RECORD_ID = 'reinterpretAsUInt64(reverse(unhex(substring(id_hash, 1, 16))))'

/** What no list filters by, of a row of usage_events: aggregator/clickhouse/migrations/0008_records_by_time.sql. */
export const EVENT_CONTENT = `toJSONString((reference, subscription, value_references,
  arrayMap(quantity -> toString(quantity), value_quantities), value_currencies, properties, log_partition, toString(log_seq), log_line, 0))`
