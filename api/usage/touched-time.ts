// Which time was touched after some position of the log: by an event, a deletion or a correction. It is read from the marks
// that the aggregator leaves on every hour it touches, so it costs no reading of usage, however much there is.
import type { Tenant } from '../../shared/tenant.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import { type LateMark, type Segment, segmentsOf, type TouchedPiece, touchedBy } from './touched-pieces.ts'
import { CUSTOMER_KEYS_MAX, usageFilter } from './usage-sql.ts'

export type TouchedQuestion = {
  readonly customerKeys: readonly string[]
  readonly meterReference: string
  readonly pieces: readonly TouchedPiece[]
}

/** Segments in one statement: each holds a position for every partition. */
const SEGMENTS_MAX = 4_000
const SETTINGS = { max_threads: '1', max_query_size: String(64 * 1024 * 1024) }

/** For each piece whether its time was touched after its positions. By whole hours, so the edges may say so wrongly. */
export async function touchedTime(
  client: ClickHouseClient,
  tenant: Tenant,
  { customerKeys, meterReference, pieces }: TouchedQuestion,
): Promise<boolean[]> {
  const segments = segmentsOf(pieces)
  const newKeys = [...new Set(pieces.flatMap(piece => piece.newKeys))]
  const marks: LateMark[] = []
  for (let key = 0; key < customerKeys.length; key += CUSTOMER_KEYS_MAX) {
    const keys = customerKeys.slice(key, key + CUSTOMER_KEYS_MAX)
    const scope = { tenant, customerKeys: keys, meterReference }
    for (let first = 0; first < segments.length; first += SEGMENTS_MAX) {
      const some = segments.slice(first, first + SEGMENTS_MAX)
      const fresh = newKeys.filter(each => keys.includes(each))
      for (const mark of await lateMarks(client, scope, { segments: some, fresh })) {
        marks.push({ ...mark, segment: first + mark.segment })
      }
    }
  }
  return touchedBy(pieces, segments, marks)
}

type MarkRow = [segment: number, partition: number, key: string, seq: string]

/** The last mark of each segment, partition and new key that may touch a piece of it. */
async function lateMarks(
  client: ClickHouseClient,
  scope: Parameters<typeof usageFilter>[0],
  of: { readonly segments: readonly Segment[]; readonly fresh: readonly string[] },
): Promise<LateMark[]> {
  const { segments, fresh } = of
  const filter = usageFilter(scope)
  const isNew = fresh.length === 0 ? '0' : `customer_key IN ${filter.bind(fresh, 'Array(String)')}`
  // Each hour belongs to the segment that starts last before it, unless that has ended.
  const rows = await selectRows<MarkRow>(
    client,
    `SELECT place, log_partition, key, max(log_seq) FROM (
       SELECT toInt64(toUnixTimestamp(hour)) AS at, 1 AS one, log_partition, log_seq, if(${isNew}, customer_key, '') AS key
       FROM usage_bucket_marks
       WHERE ${filter.scope} AND hour >= toDateTime(${hourOf(segments[0]?.start)}, 'UTC')
         AND hour < toDateTime(${hourOf(segments.at(-1)?.end)}, 'UTC')
     ) AS marks ASOF JOIN (
       SELECT 1 AS one, toInt64(part[1]) AS start_at, toInt64(part[2]) AS end_at, toUInt32(part[3]) AS place,
         arrayMap(position -> toUInt64OrZero(position), splitByChar(' ', part[4])) AS counted
       FROM (SELECT splitByChar(',', arrayJoin(splitByChar(';', '${segments.map(segmentText).join(';')}'))) AS part)
     ) AS segments ON marks.one = segments.one AND marks.at >= segments.start_at
     WHERE at < end_at AND (key != '' OR log_seq > counted[log_partition + 1])
     GROUP BY place, log_partition, key`,
    filter.params,
    SETTINGS,
  )
  return rows.map(([segment, partition, key, seq]) => ({ segment, partition, key, seq: Number(seq) }))
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
