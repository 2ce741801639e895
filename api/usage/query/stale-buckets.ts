// Which roll-ups may not be used: those that do not cover every mark of their time.
import type { Tenant } from '../../../shared/tenant.ts'
import { type Interval, instantOf, interval } from '../../../shared/time.ts'
import { type ClickHouseClient, selectRows } from '../../../shared/usage/clickhouse.ts'
import { tenantFilter, withinAny } from '../usage-sql.ts'
import { type Bin, binsByPlace, placeKey } from './plan-queries.ts'
import { covering, DAY_MS, type StaleBuckets } from './read-plan.ts'
import { placesSql, ROLLED } from './rows-sql.ts'

type StaleRow = [
  customerKey: string,
  meter: string,
  hour: number,
  totals: number,
  ofHour: number,
  ofDay: number,
  ofDayTotals: number,
]

/** What the roll-ups of each grain cover, in the order of ROLLED. */
const COVERED = ROLLED.map(grain => `of_${grain.toLowerCase()}`)

const wholeDays = ({ start, end }: Interval): Interval => interval(instantOf(start - (start % DAY_MS)), end)

/**
 * By place (`placeKey`) the buckets of the time of these bins that roll-ups do not cover; a place without any is not there.
 * Read before the figures: whatever a roll-up row is replaced by meanwhile covers at least as much, so time found settled
 * here stays settled. A row that must not be used any more is never rewritten as such, it is left behind its marks.
 */
export async function staleBuckets(
  client: ClickHouseClient,
  tenant: Tenant,
  of: {
    readonly bins: readonly Bin[]
    readonly byProperties: ReadonlySet<Bin>
    readonly settings: Record<string, string>
  },
): Promise<Map<string, StaleBuckets>> {
  const places = binsByPlace(of.bins)
  const intervals = covering(of.bins.map(bin => bin.interval))
  const filter = tenantFilter(tenant)
  const scope = `${filter.scope} AND ${placesSql(places.map(({ place }) => place))}`
  const max = (column: string): string => `max(${column}) AS ${column}`
  const rows = await selectRows<StaleRow>(
    client,
    `SELECT key, meter, toUnixTimestamp(hour), ${COVERED.map(column => `max(${column} < mark)`).join(', ')} FROM (
       SELECT key, meter, hour, ${['mark', ...COVERED].map(max).join(', ')} FROM (
         SELECT customer_key AS key, toString(meter_reference) AS meter, hour, sum(log_seq) AS mark,
           ${COVERED.map(column => `0 AS ${column}`).join(', ')}
         FROM usage_bucket_marks FINAL PREWHERE ${scope} AND ${withinAny('hour', intervals)} GROUP BY key, meter, hour
         UNION ALL
         SELECT customer_key AS key, toString(meter_reference) AS meter, covered_hour AS hour, 0 AS mark,
           ${ROLLED.map(grain => `if(grain = '${grain}', covered_seq, 0)`).join(', ')}
         FROM usage_rollups_by_grain FINAL ARRAY JOIN covered_hours AS covered_hour, covered_seqs AS covered_seq
         PREWHERE ${scope} AND ${withinAny('start', intervals.map(wholeDays))}
       ) GROUP BY key, meter, hour HAVING ${COVERED.map(column => `${column} < mark`).join(' OR ')}
     ) GROUP BY key, meter, hour ORDER BY key, meter, hour`,
    filter.params,
    // So few rows are read faster by one thread than shared out.
    { ...of.settings, max_threads: '1' },
  )
  const byProperties = new Set(
    places.filter(({ bins }) => bins.some(bin => of.byProperties.has(bin))).map(({ place }) => place.key),
  )
  return staleByPlace(rows, byProperties)
}

function staleByPlace(rows: readonly StaleRow[], byProperties: ReadonlySet<string>): Map<string, StaleBuckets> {
  const found = new Map<string, { hours: number[]; days: Set<number> }>()
  for (const [customerKey, meterReference, hour, totals, ofHour, ofDay, ofDayTotals] of rows) {
    const key = placeKey(customerKey, meterReference)
    const detailed = byProperties.has(key)
    const stale = found.get(key) ?? { hours: [], days: new Set<number>() }
    found.set(key, stale)
    const at = hour * 1000
    // A place that is read both ways is read once: an hour of it is stale when either of its rows is.
    if (totals === 1 || (detailed && ofHour === 1)) stale.hours.push(at)
    if (ofDayTotals === 1 || (detailed && ofDay === 1)) stale.days.add(at - (at % DAY_MS))
  }
  return new Map([...found].map(([key, { hours, days }]) => [key, { hours, days: [...days] }]))
}
