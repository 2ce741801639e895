// In which time usage changed after some position of the log: by an event, a deletion or a correction. It is read from the marks
// that the aggregator leaves on every hour it touches, so it costs no reading of usage, however much there is. Any number of
// customers and meters are one statement.
import type { Tenant } from '../../../shared/tenant.ts'
import { type ClickHouseClient, selectRows } from '../../../shared/usage/clickhouse.ts'
import { type Place, placeKey } from '../query/plan-queries.ts'
import { placesSql } from '../query/rows-sql.ts'
import { behindSql, tenantFilter } from '../usage-sql.ts'
import { type ChangeMark, type CountedInterval, changedBy, type Segment, segmentsOf } from './counted-intervals.ts'

export type ChangeQuery = {
  readonly customerKeys: readonly string[]
  readonly meterReference: string
  readonly pieces: readonly CountedInterval[]
}

/** Segments in one statement: each holds a position for every partition. */
const SEGMENTS_MAX = 4_000
const SETTINGS = { max_threads: '1', max_query_size: String(64 * 1024 * 1024) }

/**
 * For each piece of each question whether usage in it changed after its positions. By whole hours, so the edges may say so
 * wrongly.
 */
export async function usageChanges(
  client: ClickHouseClient,
  tenant: Tenant,
  questions: readonly ChangeQuery[],
): Promise<boolean[][]> {
  const segments = segmentsOf(questions.flatMap(({ pieces }) => pieces))
  const places = questions.flatMap(({ customerKeys, meterReference }) => placesOf(customerKeys, meterReference))
  const fresh = questions.flatMap(({ pieces, meterReference }) =>
    placesOf(
      pieces.flatMap(({ newKeys }) => newKeys),
      meterReference,
    ),
  )
  const marks = new Map<string, ChangeMark[]>()
  if (places.length > 0) {
    for (let first = 0; first < segments.length; first += SEGMENTS_MAX) {
      const some = segments.slice(first, first + SEGMENTS_MAX)
      for (const [segment, partition, key, meter, seq] of await changeMarks(client, tenant, { some, places, fresh })) {
        const place = placeKey(key, meter)
        const known = marks.get(place) ?? []
        known.push({ segment: first + segment, partition, key, seq: Number(seq) })
        marks.set(place, known)
      }
    }
  }
  return questions.map(({ customerKeys, meterReference, pieces }) =>
    changedBy(
      pieces,
      segments,
      [...new Set(customerKeys)].flatMap(key => marks.get(placeKey(key, meterReference)) ?? []),
    ),
  )
}

/** Each name and meter once. */
const placesOf = (customerKeys: readonly string[], meterReference: string): Place[] =>
  [...new Set(customerKeys)].map(customerKey => ({
    customerKey,
    meterReference,
    key: placeKey(customerKey, meterReference),
  }))

type MarkRow = [segment: number, partition: number, key: string, meter: string, seq: string]

/** The last mark of each segment, partition, name and meter that may be a change of a piece of it. */
async function changeMarks(
  client: ClickHouseClient,
  tenant: Tenant,
  of: { readonly some: readonly Segment[]; readonly places: readonly Place[]; readonly fresh: readonly Place[] },
): Promise<MarkRow[]> {
  const { some, places, fresh } = of
  const filter = tenantFilter(tenant)
  const isNew = fresh.length === 0 ? '0' : placesSql(fresh)
  const [only] = some
  if (only && some.length === 1)
    // An invoice has one: without the join the statement costs half as much.
    return await selectRows<MarkRow>(
      client,
      `SELECT 0 AS place, log_partition, customer_key, toString(meter_reference) AS meter, max(log_seq) FROM usage_bucket_marks
       WHERE ${filter.scope} AND ${placesSql(places)} AND hour >= toDateTime(${hourOf(only.start)}, 'UTC')
         AND hour < toDateTime(${hourOf(only.end)}, 'UTC') AND (${isNew} OR ${behindSql(only.least)})
       GROUP BY log_partition, customer_key, meter`,
      filter.params,
      SETTINGS,
    )
  // Each hour belongs to the segment that starts last before it, unless that has ended.
  return await selectRows<MarkRow>(
    client,
    `SELECT place, log_partition, customer_key, meter, max(log_seq) FROM (
       SELECT toInt64(toUnixTimestamp(hour)) AS at, 1 AS one, log_partition, log_seq, customer_key,
         toString(meter_reference) AS meter, (${isNew}) AS is_new
       FROM usage_bucket_marks
       WHERE ${filter.scope} AND ${placesSql(places)} AND hour >= toDateTime(${hourOf(some[0]?.start)}, 'UTC')
         AND hour < toDateTime(${hourOf(some.at(-1)?.end)}, 'UTC')
     ) AS marks ASOF JOIN (
       SELECT 1 AS one, toInt64(part[1]) AS start_at, toInt64(part[2]) AS end_at, toUInt32(part[3]) AS place,
         arrayMap(position -> toUInt64OrZero(position), splitByChar(' ', part[4])) AS counted
       FROM (SELECT splitByChar(',', arrayJoin(splitByChar(';', '${some.map(segmentText).join(';')}'))) AS part)
     ) AS segments ON marks.one = segments.one AND marks.at >= segments.start_at
     WHERE at < end_at AND (is_new OR log_seq > counted[log_partition + 1])
     GROUP BY place, log_partition, customer_key, meter`,
    filter.params,
    SETTINGS,
  )
}

/** What a column of hours can hold. */
const hourOf = (ms = 0): number => Math.min(Math.max(0, ms / 1000), 2 ** 32 - 1)

/** Numbers of ours only, so that the text needs no escape; as text they are read far faster than as that many literals. */
function segmentText({ start, end, least }: Segment, place: number): string {
  for (const number of [start, end, ...least]) {
    if (!Number.isSafeInteger(number)) throw new RangeError(`not a time or a position: ${number}`)
  }
  return `${start / 1000},${end / 1000},${place},${least.join(' ')}`
}
