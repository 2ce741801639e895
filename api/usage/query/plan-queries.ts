// Many queries of usage as one reading: of whose rows, from which source, and for which answers each row counts. Pure.

import { type Interval, instantOf, interval } from '../../../shared/time.ts'
import type { UsageCondition, UsageProperty } from '../../../shared/usage/condition.ts'
import type { UsageQuery } from '../usage-query.ts'
import { HOUR_MS, planRead, type StaleBuckets } from './read-plan.ts'

/** From which rows a piece of time is read: single events, or the roll-ups of a grain. */
export type Source = 'RAW' | 'TOTALS' | 'HOUR' | 'DAY' | 'DAY_TOTALS'

/** Events that are counted together: those of some names of one customer on a meter, in a time, that name one of some subscriptions. */
export type Bin = {
  readonly id: number
  readonly customerKeys: readonly string[]
  readonly meterReference: string
  readonly interval: Interval
  readonly askingFor: UsageQuery['askingFor']
  /** Whether they are grouped by the subscription they name. */
  readonly grouped: boolean
}

/** A way to look at the events of a meter: which of them count, and by what they are grouped. Ids start at 1. */
export type View = {
  readonly id: number
  readonly meterReference: string
  readonly condition: UsageCondition | undefined
  readonly splitBy: readonly UsageProperty[]
  /** The property whose different values are counted; null where values of events are put together. */
  readonly distinct: UsageProperty | null
}

/** One name of a customer on one meter; of the pieces of a reading each is one object. */
export type Place = { readonly customerKey: string; readonly meterReference: string; readonly key: string }

/** A piece of time of a place, and the bins its rows are in. */
export type Piece = {
  readonly place: Place
  readonly interval: Interval
  readonly source: Source
  readonly bins: readonly Bin[]
}

/** Where the answer to a query is found. */
export type PlannedQuery = { readonly query: UsageQuery; readonly bin: Bin; readonly view: View }

export type QueryPlan = {
  readonly queries: readonly PlannedQuery[]
  readonly bins: readonly Bin[]
  readonly views: readonly View[]
  /** Bins of which a query needs what totals without properties do not have. */
  readonly byProperties: ReadonlySet<Bin>
}

/** The bins and views of these queries, each once. */
export function planQueries(queries: readonly UsageQuery[]): QueryPlan {
  const bins = new Map<string, Bin>()
  const views = new Map<string, View>()
  const byProperties = new Set<Bin>()
  const numberOf = listNumbers()
  const planned = queries.map((query): PlannedQuery => {
    const bin = once(bins, binKey(query, numberOf), id => binOf(query, id))
    const view = once(views, viewKey(query), id => viewOf(query, id + 1))
    if (needsProperties(query)) byProperties.add(bin)
    return { query, bin, view }
  })
  return { queries: planned, bins: [...bins.values()], views: [...views.values()], byProperties }
}

function once<T>(known: Map<string, T>, key: string, make: (place: number) => T): T {
  const found = known.get(key) ?? make(known.size)
  known.set(key, found)
  return found
}

const needsProperties = ({ calculation, condition, splitBy = [] }: UsageQuery): boolean =>
  calculation.type === 'UNIQUE' || condition !== undefined || splitBy.length > 0

type NumberOf = (list: readonly string[] | undefined) => number

/** The same number for lists with the same texts. The queries of a billing run share their lists, so few are compared by their texts. */
function listNumbers(): NumberOf {
  const known = new WeakMap<readonly string[], number>()
  const byText = new Map<string, number>()
  return list => {
    if (list === undefined) return -1
    const found = known.get(list)
    if (found !== undefined) return found
    const number = once(byText, JSON.stringify(list), place => place)
    known.set(list, number)
    return number
  }
}

function binKey(query: UsageQuery, numberOf: NumberOf): string {
  const { customerKeys, meterReference, interval: within, askingFor, groupBySubscription } = query
  const asking = `${numberOf(askingFor?.keys)} ${askingFor?.orSelector} ${groupBySubscription}`
  return `${numberOf(customerKeys)} ${within.start} ${within.end} ${asking} ${meterReference}`
}

function binOf(query: UsageQuery, id: number): Bin {
  const { meterReference, interval: within, askingFor } = query
  const customerKeys = [...new Set(query.customerKeys)]
  return { id, customerKeys, meterReference, interval: within, askingFor, grouped: query.groupBySubscription === true }
}

const distinctOf = ({ calculation }: UsageQuery): UsageProperty | null =>
  calculation.type === 'UNIQUE' ? calculation.property : null

function viewKey(query: UsageQuery): string {
  const { meterReference, condition, splitBy = [] } = query
  const distinct = distinctOf(query)
  if (condition === undefined && splitBy.length === 0 && distinct === null) return `all of ${meterReference}`
  return JSON.stringify([meterReference, condition, splitBy, distinct])
}

function viewOf(query: UsageQuery, id: number): View {
  const { meterReference, condition, splitBy = [] } = query
  return { id, meterReference, condition, splitBy, distinct: distinctOf(query) }
}

/** The same for no two places, whatever their names hold. */
export const placeKey = (customerKey: string, meterReference: string): string =>
  `${meterReference.length} ${meterReference} ${customerKey}`

/** The bins of each name and meter. */
export function binsByPlace(bins: readonly Bin[]): { readonly place: Place; readonly bins: readonly Bin[] }[] {
  const places = new Map<string, { readonly place: Place; readonly bins: Bin[] }>()
  for (const bin of bins) {
    for (const customerKey of bin.customerKeys) {
      const { meterReference } = bin
      const key = placeKey(customerKey, meterReference)
      once(places, key, () => ({ place: { customerKey, meterReference, key }, bins: [] })).bins.push(bin)
    }
  }
  return [...places.values()]
}

/** What is known of a place before it is read. */
export type Known = {
  /** Only single events are read. */
  readonly raw: boolean
  /** Time from here on is read from single events: roll-ups of it are not expected. */
  readonly recentFrom: number
  /** Time that roll-ups do not cover. */
  staleOf(place: Place): StaleBuckets | undefined
}

const NONE: StaleBuckets = { hours: [], days: [] }

/** The pieces that these bins are read in: they tile the time of each bin, once for each of its names. */
export function piecesOf({ bins, byProperties }: Pick<QueryPlan, 'bins' | 'byProperties'>, known: Known): Piece[] {
  const tilings = new Map<string, readonly Tile[]>()
  const pieces: Piece[] = []
  for (const { place, bins: own } of binsByPlace(bins)) {
    const stale = known.staleOf(place)
    const tiles = () => tile(own, byProperties, { known, stale: stale ?? NONE })
    // Customers of one plan have the same times, and nearly always nothing stale.
    const tiling = stale === undefined ? once(tilings, timesOf(own, byProperties), tiles) : tiles()
    for (const { parts, places } of tiling) {
      const among = places.length === own.length ? own : places.flatMap(index => own[index] ?? [])
      for (const { interval, source } of parts) pieces.push({ place, interval, source, bins: among })
    }
  }
  return pieces
}

/** A time with the places of the bins that have it, and how it is read. */
type Tile = { readonly places: readonly number[]; readonly parts: readonly Planned[] }

/** The same for bins that are read in the same times from the same sources. */
function timesOf(bins: readonly Bin[], byProperties: ReadonlySet<Bin>): string {
  let key = ''
  for (const bin of bins) key += `${bin.interval.start} ${bin.interval.end} ${byProperties.has(bin)} `
  return key
}

function tile(
  bins: readonly Bin[],
  byProperties: ReadonlySet<Bin>,
  { known, stale }: { readonly known: Known; readonly stale: StaleBuckets },
): Tile[] {
  const placeOf = new Map(bins.map((bin, index) => [bin, index]))
  return segmentsOf(bins).map(segment => ({
    places: segment.bins.flatMap(bin => placeOf.get(bin) ?? []),
    parts: planned(segment.interval, known, { stale, properties: segment.bins.some(bin => byProperties.has(bin)) }),
  }))
}

type Planned = Pick<Piece, 'interval' | 'source'>

/** Totals of a day are looked for when it is over for so long: the aggregator makes them when its hours have settled. */
const YOUNG_DAY_MS = 3 * HOUR_MS

function planned(
  within: Interval,
  { raw, recentFrom }: Known,
  of: { readonly stale: StaleBuckets; readonly properties: boolean },
): Planned[] {
  if (raw) return [{ interval: within, source: 'RAW' }]
  const daysFrom = of.properties ? {} : { daysFrom: recentFrom - YOUNG_DAY_MS }
  const plan = planRead(within, { ...of.stale, from: recentFrom, ...daysFrom })
  const pieces = (source: Source, intervals: readonly Interval[]): Planned[] =>
    intervals.map(each => ({ interval: each, source }))
  return [
    ...pieces('RAW', plan.raw),
    ...(of.properties
      ? [...pieces('HOUR', plan.hours), ...pieces('DAY', plan.days)]
      : [...pieces('TOTALS', plan.hours), ...pieces('DAY_TOTALS', plan.days)]),
  ]
}

type Segment = { readonly interval: Interval; readonly bins: readonly Bin[] }

/** Time cut where any of the bins begins or ends; time in which there is none is in none. */
function segmentsOf(bins: readonly Bin[]): Segment[] {
  const [only, ...others] = bins
  if (!only) return []
  if (others.length === 0) return [{ interval: only.interval, bins }]
  const edges = [...new Set(bins.flatMap(({ interval: { start, end } }) => [start, end]))].sort((a, b) => a - b)
  const sorted = bins.toSorted((a, b) => a.interval.start - b.interval.start)
  const segments: Segment[] = []
  let open: Bin[] = []
  let next = 0
  for (const [place, start] of edges.entries()) {
    open = open.filter(bin => bin.interval.end > start)
    for (let bin = sorted[next]; bin !== undefined && bin.interval.start <= start; bin = sorted[next]) {
      open.push(bin)
      next += 1
    }
    const end = edges[place + 1]
    if (end !== undefined && open.length > 0)
      segments.push({ interval: interval(instantOf(start), instantOf(end)), bins: [...open] })
  }
  return segments
}
