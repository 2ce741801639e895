// What is read of usage, as parts of a statement: single events, the combinations of roll-ups, and the marks behind roll-ups. Every
// part starts with its tenant; what else a tenant chose stands in it as hexadecimal digits. PREWHERE reads the columns that it names before
// all others. It has only columns of the table's key, which are the same in every version of a row, so that FINAL finds the newest.
import { groupBy } from '../../../shared/group-by.ts'
import type { Interval } from '../../../shared/time.ts'
import { textSql } from '../condition-sql.ts'
import { behindSql, type UsageFilter, withinAny } from '../usage-sql.ts'
import type { Piece, Place, Source } from './plan-queries.ts'
import { covering } from './read-plan.ts'

/** What is read of every row under a name: of an event, and of a roll-up as a list with an entry a combination. */
export type RawColumn = { readonly name: string; readonly raw: string }
export type RolledColumn = { readonly name: string; readonly rolled: string }
export type Column = RawColumn & RolledColumn

export const PROPERTIES = 'properties'
export const SUBSCRIPTION: Column = { name: 'named', raw: 'subscription', rolled: 'subscriptions' }
export const COMBINATION: Column = { name: PROPERTIES, raw: PROPERTIES, rolled: PROPERTIES }
export const EVENTS: Column = { name: 'events', raw: 'toUInt64(1)', rolled: 'events' }

type RowsOf = {
  readonly filter: UsageFilter
  readonly pieces: readonly Piece[]
  /** The slots of time that rows are grouped by. */
  readonly slots: Slots
}
export type RawRowsOf = RowsOf & {
  readonly columns: readonly RawColumn[]
  readonly upTo: readonly number[] | undefined
}
export type RolledRowsOf = RowsOf & {
  readonly columns: readonly RolledColumn[]
  /** Which combination of a roll-up stands for all of it; SQL over the columns of the table. */
  readonly carrier: string
}

/** Where pieces begin and end, in milliseconds and in order: no piece begins or ends within a slot. */
export type Slots = { readonly raw: readonly number[]; readonly rolled: readonly number[] }

export const isRaw = ({ source }: Pick<Piece, 'source'>): boolean => source === 'RAW'
/** The grains of roll-ups. */
export const ROLLED = ['TOTALS', 'HOUR', 'DAY', 'DAY_TOTALS'] as const
export type Rolled = (typeof ROLLED)[number]
/** Whether roll-ups of a grain are of days, and cover several hours. */
export const isOfDay = (source: Source): boolean => source === 'DAY' || source === 'DAY_TOTALS'
export const isRolled = ({ source }: Pick<Piece, 'source'>): boolean => source !== 'RAW'

/** The slots of these pieces. */
export function slotsOf(pieces: readonly Piece[]): Slots {
  const raw = new Set<number>()
  const rolled = new Set<number>()
  for (const { source, interval } of pieces) {
    const edges = source === 'RAW' ? raw : rolled
    edges.add(interval.start)
    edges.add(interval.end)
  }
  const inOrder = (edges: ReadonlySet<number>): number[] => [...edges].sort((a, b) => a - b)
  return { raw: inOrder(raw), rolled: inOrder(rolled) }
}

/** Sources as the statement tells them apart. */
export const GRAINS: Readonly<Record<Source, number>> = { RAW: 0, TOTALS: 1, HOUR: 2, DAY: 3, DAY_TOTALS: 4 }

const json = (rows: Iterable<unknown>): string => textSql([...rows].map(row => JSON.stringify(row)).join('\n'))

/** The names and meters of these places, as a condition that an index can use. */
export function placesSql(places: Iterable<Place>): string {
  const byMeter = new Map<string, Place[]>()
  for (const place of new Set(places)) {
    const own = byMeter.get(place.meterReference)
    if (own) own.push(place)
    else byMeter.set(place.meterReference, [place])
  }
  const lists = [...byMeter.values()]
  const keys = [...new Set(lists.flatMap(list => list.map(({ customerKey }) => customerKey)))]
  if (lists.some(list => list.length < keys.length)) {
    const pairs = json(
      lists.flatMap(list => list.map(({ customerKey, meterReference }) => [customerKey, meterReference])),
    )
    return `(customer_key, meter_reference) IN (SELECT key, meter FROM format(JSONCompactEachRow, 'key String, meter String', ${pairs}))`
  }
  const ofMeters = `meter_reference IN (${[...byMeter.keys()].map(textSql).join(', ')})`
  // A few names stand in the list; more are read faster as a table than as so many functions.
  if (keys.length <= NAMES_MAX) return `customer_key IN (${keys.map(textSql).join(', ')}) AND ${ofMeters}`
  const names = json(keys.map(key => [key]))
  return `customer_key IN (SELECT key FROM format(JSONCompactEachRow, 'key String', ${names})) AND ${ofMeters}`
}
const NAMES_MAX = 8

/** Texts as a condition on a column; digits in the statement. */
export const amongSql = (column: string, texts: ReadonlySet<string>): string =>
  texts.size === 0
    ? '0'
    : texts.size <= NAMES_MAX
      ? `${column} IN (${[...texts].map(textSql).join(', ')})`
      : `${column} IN (SELECT text FROM format(JSONCompactEachRow, 'text String', ${json([...texts].map(text => [text]))}))`

/** Time that holds all of these pieces; what is read of it besides them is in no piece. */
const intervalsOf = (pieces: readonly Piece[]): Interval[] =>
  covering(
    pieces.map(piece => piece.interval),
    INTERVALS_MAX,
  )
/** A month by the day has an edge a day where the zone is off by half an hour; each is read for itself. */
const INTERVALS_MAX = 40

function slotSql(at: string, starts: readonly number[]): string {
  const [only, ...others] = starts
  if (starts.some(start => !Number.isSafeInteger(start))) throw new RangeError('slots start at whole milliseconds')
  // What ends with the last one is in the one before.
  return others.length <= 1 ? `toInt64(${only ?? 0})` : `roundDown(${at}, CAST([${starts.join(', ')}], 'Array(Int64)'))`
}

const KEYS = 'customer_key AS key, meter_reference AS meter'

/** Rows of (key, meter, source, slot, columns): an event each, of the raw pieces. */
export function rawSql({ filter, pieces, columns, upTo, slots }: RawRowsOf): string {
  const own = pieces.filter(isRaw)
  // Every version of a row has the place of its event, so this holds of the newest.
  const placed = upTo === undefined ? '' : ` AND NOT ${behindSql(upTo)}`
  const slot = slotSql('toUnixTimestamp64Milli(timestamp)', slots.raw)
  return `SELECT ${KEYS}, toInt8(${GRAINS.RAW}) AS source, ${slot} AS slot${columns.map(({ name, raw }) => `, ${raw} AS ${name}`).join('')}
    FROM usage_events FINAL
    PREWHERE ${filter.scope} AND ${placesSql(own.map(({ place }) => place))} AND ${withinAny('timestamp', intervalsOf(own))}
    WHERE deleted = 0${placed}`
}

/**
 * Rows of (key, meter, source, slot, carries, weighed_0, weighed_1, columns): of roll-ups, a combination each. One of each roll-up carries
 * what it covers: the sum of its marks, each hour's by a weight of its own. So the sums of roll-ups that cover all their marks are the sums of the marks.
 */
export function rolledSql({ filter, pieces, columns, slots, carrier }: RolledRowsOf): string {
  const own = pieces.filter(isRolled)
  const hasDays = own.some(({ source }) => isOfDay(source))
  const weighed = (seed: number): string => {
    const ofHour = `${weightSql(seed, 'start')} * version`
    const ofDay = `arraySum((hour, seq) -> ${weightSql(seed, 'hour')} * seq, covered_hours, covered_seqs)`
    return hasDays ? `if(grain IN ('DAY', 'DAY_TOTALS'), ${ofDay}, ${ofHour})` : ofHour
  }
  const slot = slotSql('toInt64(toUnixTimestamp(start)) * 1000', slots.rolled)
  return `SELECT ${KEYS}, toInt8(grain) AS source, ${slot} AS slot, nth = ${carrier} AS carries, ${weighed(0)} AS weighed_0, ${weighed(1)} AS weighed_1
      ${columns.map(({ name }) => `, of_${name} AS ${name}`).join('')}
    FROM usage_rollups_by_grain FINAL ARRAY JOIN arrayEnumerate(subscriptions) AS nth${columns.map(({ name, rolled }) => `, ${rolled} AS of_${name}`).join('')}
    PREWHERE ${filter.scope} AND ${placesSql(own.map(({ place }) => place))} AND (${grainsSql(own)})`
}

/** Which roll-ups of which time. A meter whose figures need no properties has them in totals, and no other grain is read of it. */
function grainsSql(pieces: readonly Piece[]): string {
  const sources = new Map<string, Set<Source>>()
  for (const { place, source } of pieces) {
    const known = sources.get(place.meterReference)
    if (known) known.add(source)
    else sources.set(place.meterReference, new Set([source]))
  }
  const kinds = new Map([...sources].map(([meter, own]) => [meter, ROLLED.filter(source => own.has(source)).join()]))
  const kindOf = (meter: string): string => kinds.get(meter) ?? ''
  const byKind = groupBy([...kinds.keys()], kindOf)
  const ofPieces = groupBy(pieces, ({ place, source }) => `${kindOf(place.meterReference)} ${source}`)
  return [...byKind]
    .map(([kind, meters]) => {
      const grains = ROLLED.flatMap(source => {
        const some = ofPieces.get(`${kind} ${source}`)
        return some ? [`(grain = '${source}' AND ${withinAny('start', intervalsOf(some))})`] : []
      }).join(' OR ')
      return byKind.size === 1 ? grains : `(${amongSql('meter_reference', new Set(meters))} AND (${grains}))`
    })
    .join(' OR ')
}

const weightSql = (seed: number, hour: string): string => `sipHash64(${seed}, ${hour})`

/** Rows of (key, meter, slot, first, second): the sums of marks, weighed as those of roll-ups. */
export function marksSql({ filter, pieces, slots }: Pick<RowsOf, 'filter' | 'pieces' | 'slots'>): string {
  const own = pieces.filter(isRolled)
  const sumOf = (seed: number): string => `sum(${weightSql(seed, 'hour')} * log_seq)`
  return `SELECT ${KEYS}, ${slotSql('toInt64(toUnixTimestamp(hour)) * 1000', slots.rolled)} AS slot, ${sumOf(0)} AS first, ${sumOf(1)} AS second
    FROM usage_bucket_marks FINAL
    PREWHERE ${filter.scope} AND ${placesSql(own.map(({ place }) => place))} AND ${withinAny('hour', intervalsOf(own))} GROUP BY key, meter, slot`
}
