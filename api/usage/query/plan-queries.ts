// Many queries of usage as one reading: of whose rows, from which source, and for which answers each row counts. Pure.

import { type Interval, instantOf, interval } from '../../../shared/time.ts'
import type { UsageCondition, UsageProperty } from '../../../shared/usage/condition.ts'
import type { UsageQuery } from '../usage-query.ts'
import { planRead, type StaleBuckets } from './read-plan.ts'

/** From which rows a piece of time is read: single events, or the roll-ups of a grain. */
export type Source = 'RAW' | 'TOTALS' | 'HOUR' | 'DAY'

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
  const planned = queries.map((query): PlannedQuery => {
    const bin = once(bins, binKey(query), id => binOf(query, id))
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

const binKey = ({ customerKeys, meterReference, interval: within, askingFor, groupBySubscription }: UsageQuery) =>
  JSON.stringify([
    customerKeys,
    meterReference,
    within.start,
    within.end,
    askingFor?.keys,
    askingFor?.orSelector,
    groupBySubscription,
  ])

function binOf(query: UsageQuery, id: number): Bin {
  const { meterReference, interval: within, askingFor } = query
  const customerKeys = [...new Set(query.customerKeys)]
  return { id, customerKeys, meterReference, interval: within, askingFor, grouped: query.groupBySubscription === true }
}

const distinctOf = ({ calculation }: UsageQuery): UsageProperty | null =>
  calculation.type === 'UNIQUE' ? calculation.property : null

const viewKey = (query: UsageQuery): string =>
  JSON.stringify([query.meterReference, query.condition, query.splitBy ?? [], distinctOf(query)])

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
  const plans = new Map<string, readonly Planned[]>()
  return binsByPlace(bins).flatMap(({ place, bins: own }) => {
    const stale = known.staleOf(place)
    return segmentsOf(own).flatMap(segment => {
      const properties = segment.bins.some(bin => byProperties.has(bin))
      const plan = () => planned(segment.interval, known, { stale: stale ?? NONE, properties })
      // Customers of one plan have the same time, and nearly always nothing stale.
      const key = `${segment.interval.start} ${segment.interval.end} ${properties}`
      const pieces = stale === undefined ? once(plans, key, plan) : plan()
      return pieces.map(piece => ({ place, interval: piece.interval, source: piece.source, bins: segment.bins }))
    })
  })
}

type Planned = Pick<Piece, 'interval' | 'source'>

function planned(
  within: Interval,
  { raw, recentFrom }: Known,
  of: { readonly stale: StaleBuckets; readonly properties: boolean },
): Planned[] {
  if (raw) return [{ interval: within, source: 'RAW' }]
  const plan = planRead(within, { ...of.stale, from: recentFrom })
  const pieces = (source: Source, intervals: readonly Interval[]): Planned[] =>
    intervals.map(each => ({ interval: each, source }))
  return [
    ...pieces('RAW', plan.raw),
    ...(of.properties
      ? [...pieces('HOUR', plan.hours), ...pieces('DAY', plan.days)]
      : pieces('TOTALS', [...plan.hours, ...plan.days])),
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
