// Rollups = raw: the usage query gives the same figures whether it may use roll-ups or not. A difference is narrowed down
// to the hour it lies in.
import { queryUsage } from '../../api/usage/query-usage.ts'
import type { UsageCalculation } from '../../api/usage/usage-query.ts'
import { plain } from '../../shared/decimal.ts'
import type { Environment } from '../../shared/tenant.ts'
import { instantOf, interval } from '../../shared/time.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import type { Findings } from './findings.ts'

export type RollupCounts = {
  /** One customer's usage of one meter. */
  series: number
  queries: number
  /** Queries whose figures moved while they were asked, because events came in. */
  unsettled: number
}
export type RollupOptions = {
  /** Compare about one series in so many; 1: all. */
  readonly oneIn: number
  /** Another number takes another sample. */
  readonly seed: number
}
type Series = {
  readonly platformId: string
  readonly environment: Environment
  readonly customerKey: string
  readonly meterReference: string
  readonly startMs: number
  readonly endMs: number
}
type SeriesRow = [platform: string, environment: Environment, customer: string, meter: string, from: string, to: string]

const HOUR_MS = 3_600_000
const SERIES_A_PAGE = 500
const ATTEMPTS = 5
const KEY = 'platform_id, environment, customer_key, meter_reference'

/** How many series there are; an upper bound, from the marks. */
export async function countSeries(client: ClickHouseClient): Promise<number> {
  const sql = `SELECT uniq(${KEY}) FROM usage_bucket_marks`
  const [[count = '0'] = []] = await selectRows<[string]>(client, sql)
  return Number(count)
}

/** Compares every series of the sample over all of its time. */
export async function compareRollups(
  client: ClickHouseClient,
  options: RollupOptions,
  findings: Findings,
): Promise<RollupCounts> {
  const counts: RollupCounts = { series: 0, queries: 0, unsettled: 0 }
  for await (const series of sample(client, options)) {
    counts.series += 1
    for (const calculation of await calculationsOf(client, series)) {
      counts.queries += 1
      const outcome = await compare(client, series, calculation)
      if (outcome === 'unsettled') counts.unsettled += 1
      if (outcome !== 'different') continue
      const at = await narrow(client, series, calculation)
      findings.add('ROLLUP_DIFFERS', shown(at, calculation))
    }
  }
  return counts
}

// From both tables: a row without a mark and a mark without a row are differences too.
async function* sample(client: ClickHouseClient, { oneIn, seed }: RollupOptions): AsyncGenerator<Series> {
  let after = ['', '', '', '']
  for (;;) {
    const beyond = `(${KEY}) > ({platform:String}, {environment:String}, {customer:String}, {meter:String})`
    const where = `${beyond} AND cityHash64(${KEY}, {seed:UInt32}) % {oneIn:UInt32} = 0`
    const [platform, environment, customer, meter] = after
    const rows = await selectRows<SeriesRow>(
      client,
      `SELECT ${KEY}, toUnixTimestamp(min(first)), toUnixTimestamp(max(last)) FROM (
         SELECT ${KEY}, toStartOfHour(min(timestamp)) AS first, toStartOfHour(max(timestamp)) AS last
         FROM usage_events WHERE ${where} GROUP BY ${KEY} ORDER BY ${KEY} LIMIT {limit:UInt32}
         UNION ALL
         SELECT ${KEY}, min(hour) AS first, max(hour) AS last
         FROM usage_bucket_marks WHERE ${where} GROUP BY ${KEY} ORDER BY ${KEY} LIMIT {limit:UInt32}
       ) GROUP BY ${KEY} ORDER BY ${KEY} LIMIT {limit:UInt32}`,
      { platform, environment, customer, meter, seed, oneIn, limit: SERIES_A_PAGE },
    )
    for (const row of rows) yield seriesOf(row)
    const last = rows.at(-1)
    if (last === undefined || rows.length < SERIES_A_PAGE) return
    after = last.slice(0, 4)
  }
}

const seriesOf = ([platformId, environment, customerKey, meterReference, from, to]: SeriesRow): Series => ({
  platformId,
  environment,
  customerKey,
  meterReference,
  startMs: Number(from) * 1000,
  endMs: Number(to) * 1000 + HOUR_MS,
})

/** What roll-ups keep of a series: sums and extremes of each value, and the values of each property. */
async function calculationsOf(client: ClickHouseClient, series: Series): Promise<UsageCalculation[]> {
  const where = `(${KEY}) = ({platform:String}, {environment:String}, {customer:String}, {meter:String})`
  const [[values = [], properties = []] = []] = await selectRows<[string[], string[]]>(
    client,
    `SELECT groupUniqArrayArray(value_references), groupUniqArrayArray(mapKeys(properties)) FROM (
       SELECT value_references, properties FROM usage_events WHERE ${where}
       UNION ALL
       SELECT arrayFlatten(value_references), arrayElement(properties, 1) FROM usage_rollups WHERE ${where}
     )`,
    {
      platform: series.platformId,
      environment: series.environment,
      customer: series.customerKey,
      meter: series.meterReference,
    },
  )
  return [
    ...values
      .filter(valueReference => valueReference !== '')
      .flatMap(valueReference =>
        (['SUM', 'MIN', 'MAX'] as const).map((type): UsageCalculation => ({ type, valueReference })),
      ),
    ...properties.map(
      (propertyReference): UsageCalculation => ({
        type: 'UNIQUE',
        // Of whatever type it is: read as text, both sides see the same values.
        property: { reference: propertyReference, type: 'STRING' },
      }),
    ),
  ]
}

type Outcome = 'same' | 'different' | 'unsettled'

/** Raw before and after: figures that move between the two say nothing about the roll-ups. */
async function compare(client: ClickHouseClient, series: Series, calculation: UsageCalculation): Promise<Outcome> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const before = await ask(client, { series, calculation, source: 'RAW' })
    const rolled = await ask(client, { series, calculation, source: 'ROLLED' })
    if (before === rolled) return 'same'
    if (before === (await ask(client, { series, calculation, source: 'RAW' }))) return 'different'
  }
  return 'unsettled'
}

async function ask(
  client: ClickHouseClient,
  { series, calculation, source }: { series: Series; calculation: UsageCalculation; source: 'RAW' | 'ROLLED' },
): Promise<string> {
  const quantities = await queryUsage(client, {
    tenant: { platformId: series.platformId, environment: series.environment },
    customerKeys: [series.customerKey],
    meterReference: series.meterReference,
    interval: interval(instantOf(series.startMs), instantOf(series.endMs)),
    calculation,
    source,
  })
  return JSON.stringify(quantities.map(({ currency, number, count }) => [currency, plain(number), count]))
}

/** The first hour in which the two differ; the whole when they differ only as a whole. */
async function narrow(client: ClickHouseClient, series: Series, calculation: UsageCalculation): Promise<Series> {
  let [found, hours] = [series, (series.endMs - series.startMs) / HOUR_MS]
  while (hours > 1) {
    const first = Math.ceil(hours / 2)
    const middle = found.startMs + first * HOUR_MS
    const before = { ...found, endMs: middle }
    const after = { ...found, startMs: middle }
    const [half, size]: [Series | null, number] =
      (await compare(client, before, calculation)) === 'different'
        ? [before, first]
        : (await compare(client, after, calculation)) === 'different'
          ? [after, hours - first]
          : [null, 0]
    if (half === null) return found
    found = half
    hours = size
  }
  return found
}

function shown(at: Series, calculation: UsageCalculation): string {
  const of = calculation.type === 'UNIQUE' ? calculation.property.reference : calculation.valueReference
  const [from, to] = [new Date(at.startMs).toISOString(), new Date(at.endMs).toISOString()]
  return `${at.platformId} ${at.environment}, customer ${JSON.stringify(at.customerKey)}, meter ${JSON.stringify(at.meterReference)}, ${calculation.type} of ${JSON.stringify(of)}, ${from} to ${to}`
}
