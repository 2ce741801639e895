// The statement that reads the usage of a few names as it lies: rows of roll-ups, single events and marks, and nothing computed of
// them. What a statement of figures costs is nearly all for its analysis, which grows with every expression in it; of a customer or
// two there are so few rows that putting them together here costs a tenth of that.
import type { Tenant } from '../../../shared/tenant.ts'
import { behindSql, tenantFilter, withinAny } from '../usage-sql.ts'
import type { Piece, PlannedQuery } from './plan-queries.ts'
import { covering } from './read-plan.ts'
import { isRaw, isRolled, ROLLED, type Rolled } from './rows-sql.ts'
import type { Statement } from './usage-statement.ts'

/** Lines of the answer, by what they are of; the columns of each are below. */
export const LINES = { rolled: 1, event: 2, mark: 3 } as const

type Properties = Readonly<Record<string, string>>
/** Of what no figure needs there are empty lists. */
export type RolledLine = readonly [
  line: 1,
  key: string,
  meter: string,
  grain: Rolled,
  /** Seconds, here and below. */
  start: number,
  version: string,
  coveredHours: readonly number[],
  coveredSeqs: readonly string[],
  subscriptions: readonly string[],
  events: readonly string[],
  references: readonly (readonly string[])[],
  codes: readonly (readonly string[])[],
  counts: readonly (readonly string[])[],
  properties: readonly Properties[],
  sums: readonly (readonly string[])[],
  minima: readonly (readonly string[])[],
  maxima: readonly (readonly string[])[],
]
export type EventLine = readonly [
  line: 2,
  key: string,
  meter: string,
  /** Milliseconds. */
  at: string,
  id: string,
  version: string,
  deleted: number,
  subscription: string,
  references: readonly string[],
  quantities: readonly string[],
  codes: readonly string[],
  properties: Properties,
]
export type MarkLine = readonly [line: 3, key: string, meter: string, hour: number, partition: number, seq: string]
export type SmallLine = RolledLine | EventLine | MarkLine

export type SmallOf = {
  readonly tenant: Tenant
  readonly queries: readonly PlannedQuery[]
  readonly pieces: readonly Piece[]
  /** Only events up to these positions of the log; then all pieces are RAW. */
  readonly upTo?: readonly number[] | undefined
  /** Events are read up to this number. */
  readonly limit?: number
}

/** Every version of a row is read, and the newest taken here (`small-figures.ts`): FINAL costs more than these few rows. */
export function smallStatement({ tenant, queries, pieces, upTo, limit }: SmallOf): Statement {
  const filter = tenantFilter(tenant)
  const keys = filter.bind([...new Set(pieces.map(({ place }) => place.customerKey))], 'Array(String)')
  const meters = filter.bind([...new Set(pieces.map(({ place }) => place.meterReference))], 'Array(String)')
  const scope = `${filter.scope} AND customer_key IN ${keys} AND meter_reference IN ${meters}`
  const rolled = pieces.filter(isRolled)
  const raw = pieces.filter(isRaw)
  const properties = queries.some(needsProperties)
  const column = (name: string, wanted: boolean): string => (wanted ? name : '[]')
  const types = new Set(queries.map(({ query }) => query.calculation.type))
  const parts = [
    ...(rolled.length === 0
      ? []
      : [
          lineSql(
            LINES.rolled,
            [
              'customer_key, meter_reference, grain, toUnixTimestamp(start), version',
              "CAST(covered_hours, 'Array(UInt32)'), covered_seqs, subscriptions, events, value_references, value_currencies, counts",
              column('properties', properties),
              column('sums', types.has('SUM') || types.has('AVERAGE')),
              column('minima', types.has('MIN')),
              column('maxima', types.has('MAX')),
            ],
            `usage_rollups_by_grain WHERE ${scope} AND (${grainsSql(rolled)})`,
          ),
          lineSql(
            LINES.mark,
            ['customer_key, meter_reference, toUnixTimestamp(hour), log_partition, log_seq'],
            `usage_bucket_marks WHERE ${scope} AND ${withinHours('hour', rolled)}`,
          ),
        ]),
    ...(raw.length === 0
      ? []
      : [
          lineSql(
            LINES.event,
            [
              'customer_key, meter_reference, toUnixTimestamp64Milli(timestamp), id_hash, version, deleted, subscription',
              'value_references, value_quantities, value_currencies',
              properties ? 'properties' : 'map()',
            ],
            // Every version of a row has the place of its event, so this holds of the newest.
            `usage_events WHERE ${scope} AND ${withinAny('timestamp', timeOf(raw))}${upTo ? ` AND NOT ${behindSql(upTo)}` : ''}${limit === undefined ? '' : ` LIMIT ${limit}`}`,
          ),
        ]),
  ]
  // Texts with an end of line each, so that they are the lines of the answer when written as they are.
  return { sql: `${parts.join('\nUNION ALL\n')}\nFORMAT TSVRaw`, params: filter.params }
}

const needsProperties = ({ view: { condition, splitBy, distinct } }: PlannedQuery): boolean =>
  condition !== undefined || splitBy.length > 0 || distinct !== null

const lineSql = (line: number, columns: readonly string[], from: string): string =>
  `SELECT formatRowNoNewline('JSONCompactEachRow', ${line}, ${columns.join(', ')}) FROM ${from}`

const timeOf = (pieces: readonly Piece[]) => covering(pieces.map(piece => piece.interval))

function grainsSql(rolled: readonly Piece[]): string {
  const grains = ROLLED.flatMap(source => {
    const own = rolled.filter(piece => piece.source === source)
    return own.length === 0 ? [] : [`(grain = '${source}' AND ${withinHours('start', own)})`]
  })
  return grains.join(' OR ')
}

/** Roll-ups are of whole hours, and so are the pieces read from them. */
function withinHours(column: string, pieces: readonly Piece[]): string {
  const parts = timeOf(pieces).map(({ start, end }) => {
    const [from, until] = [start / 1000, end / 1000]
    if (!Number.isSafeInteger(from) || !Number.isSafeInteger(until)) throw new RangeError('roll-ups are of whole hours')
    // What a column of hours can hold.
    return `(${column} >= ${Math.max(0, from)} AND ${column} < ${Math.min(Math.max(0, until), 2 ** 32 - 1)})`
  })
  return `(${parts.join(' OR ')})`
}
