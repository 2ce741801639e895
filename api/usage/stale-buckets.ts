// Which roll-ups may not be used: those that do not cover every mark of their time.
import { type Interval, instantOf, interval } from '../../shared/time.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import { DAY_MS, type StaleBuckets } from './read-plan.ts'
import type { UsageQuery } from './usage-query.ts'
import { usageFilter, withinAny } from './usage-sql.ts'

/** Whether a query asks what TOTALS cannot answer. */
export const needsProperties = ({ calculation, condition, splitBy = [] }: UsageQuery): boolean =>
  calculation.type === 'UNIQUE' || condition !== undefined || splitBy.length > 0

const wholeDays = ({ start, end }: Interval): Interval => interval(instantOf(start - (start % DAY_MS)), end)

/**
 * Read before the figures: whatever a roll-up row is replaced by meanwhile covers at least as much, so time found settled
 * here stays settled. A row that must not be used any more is never rewritten as such, it is left behind its marks.
 */
export async function staleBuckets(client: ClickHouseClient, query: UsageQuery): Promise<StaleBuckets> {
  const filter = usageFilter(query)
  const byDay = needsProperties(query)
  const grains = byDay ? `grain IN ('HOUR', 'DAY')` : `grain = 'TOTALS'`
  const rows = await selectRows<[hour: number, byHour: number, byDay: number]>(
    client,
    `SELECT toUnixTimestamp(hour), max(of_hour < mark), max(of_day < mark) FROM (
       SELECT hour, max(seq) AS mark, max(seq_of_hour) AS of_hour, max(seq_of_day) AS of_day FROM (
         SELECT customer_key, hour, sum(log_seq) AS seq, 0 AS seq_of_hour, 0 AS seq_of_day
         FROM usage_bucket_marks FINAL WHERE ${filter.scope} AND ${withinAny('hour', [query.interval])}
         GROUP BY customer_key, hour
         UNION ALL
         SELECT customer_key, covered_hour AS hour, 0 AS seq,
           if(grain = 'DAY', 0, covered_seq) AS seq_of_hour, if(grain = 'DAY', covered_seq, 0) AS seq_of_day
         FROM usage_rollups FINAL ARRAY JOIN covered_hours AS covered_hour, covered_seqs AS covered_seq
         WHERE ${filter.scope} AND ${grains} AND ${withinAny('start', [wholeDays(query.interval)])}
       ) GROUP BY customer_key, hour HAVING of_hour < mark${byDay ? ' OR of_day < mark' : ''}
     ) GROUP BY hour ORDER BY hour`,
    filter.params,
    // So few rows are read faster by one thread than shared out.
    { max_threads: '1' },
  )
  const at = rows.map(([hour]) => hour * 1000)
  return {
    hours: at.filter((_, place) => rows[place]?.[1] === 1),
    days: [...new Set(at.filter((_, place) => byDay && rows[place]?.[2] === 1).map(hour => hour - (hour % DAY_MS)))],
  }
}
