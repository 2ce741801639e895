// The columns of usage_records_by_meter that are worked out, for who fills it and who reads it.

/** The first half of `id_hash` as a number, which has the order of `id_hash`: aggregator/clickhouse/migrations/0012_records_by_meter.sql. */
export const METER_RECORD_ID = 'reinterpretAsUInt64(reverse(unhex(substring(id_hash, 1, 16))))'

/** How a meter of a tenant is named where it is said which meters have records that usage_records_by_meter may not have. */
export const meterKey = (platformId: string, environment: string, meterReference: string): string =>
  `${platformId}/${environment}/${meterReference}`
/** The same of a row. */
export const METER_KEY = "concat(platform_id, '/', environment, '/', meter_reference)"

/** Instead of a time, in milliseconds: all records are there, whenever they were received. */
export const ALL_COPIED = 7_258_118_400_000
/** What is said of a common meter, of which none may be there, has its key behind this instead of an aggregator. */
export const COMMON_METER = 'common/'

/** What no list filters by, of a row of usage_events: aggregator/clickhouse/migrations/0008_records_by_time.sql. */
export const EVENT_CONTENT = `toJSONString((reference, subscription, value_references,
  arrayMap(quantity -> toString(quantity), value_quantities), value_currencies, properties, log_partition, toString(log_seq), log_line, 0))`
