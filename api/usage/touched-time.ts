// Which time was touched after some position of the log: by an event, a deletion or a correction. It is read from the marks
// that the aggregator leaves on every hour it touches, so it costs no reading of usage, however much there is.
import type { Tenant } from '../../shared/tenant.ts'
import { type Interval, instantOf, interval } from '../../shared/time.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import { behindSql, CUSTOMER_KEYS_MAX, type UsageFilter, usageFilter, withinAny } from './usage-sql.ts'

export type TouchedQuestion = {
  readonly customerKeys: readonly string[]
  readonly meterReference: string
  readonly pieces: readonly {
    readonly interval: Interval
    /** By partition; a partition that is not there was at nothing. */
    readonly positions: readonly number[]
    /** Of these customer keys everything counts, whatever its position. */
    readonly newKeys: readonly string[]
  }[]
}
type Piece = TouchedQuestion['pieces'][number]

const HOUR_MS = 3_600_000
/** Pieces in one statement: each holds a position for every partition. */
const PIECES_MAX = 50

/** For each piece whether its time was touched after its positions. By whole hours, so the edges may say so wrongly. */
export async function touchedTime(
  client: ClickHouseClient,
  tenant: Tenant,
  { customerKeys, meterReference, pieces }: TouchedQuestion,
): Promise<boolean[]> {
  const touched = pieces.map(() => false)
  for (let key = 0; key < customerKeys.length; key += CUSTOMER_KEYS_MAX) {
    const keys = customerKeys.slice(key, key + CUSTOMER_KEYS_MAX)
    for (let first = 0; first < pieces.length; first += PIECES_MAX) {
      const some = pieces.slice(first, first + PIECES_MAX)
      const filter = usageFilter({ tenant, customerKeys: keys, meterReference })
      const all = withinAny(
        'hour',
        some.map(piece => hoursOf(piece)),
      )
      const [flags] = await selectRows<number[]>(
        client,
        `SELECT ${some.map(piece => `max(${touchedSql(filter, piece, keys)})`).join(', ')} FROM usage_bucket_marks
         WHERE ${filter.scope} AND ${all}`,
        filter.params,
        { max_threads: '1' },
      )
      for (const [place, flag] of (flags ?? []).entries()) if (flag === 1) touched[first + place] = true
    }
  }
  return touched
}

const hoursOf = (piece: Piece): Interval =>
  interval(instantOf(Math.floor(piece.interval.start / HOUR_MS) * HOUR_MS), piece.interval.end)

function touchedSql(filter: UsageFilter, piece: Piece, keys: readonly string[]): string {
  const fresh = piece.newKeys.filter(key => keys.includes(key))
  const isNew = fresh.length === 0 ? '' : ` OR customer_key IN ${filter.bind(fresh, 'Array(String)')}`
  return `${withinAny('hour', [hoursOf(piece)])} AND (${behindSql(piece.positions)}${isNew})`
}
