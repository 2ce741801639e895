// The one door to usage: many queries, answered by ClickHouse at once. Settled hours and days come from roll-ups and everything
// else from single events; a test holds the answers equal to those of single events alone, and to a model of the rules.
import { ClickHouseError } from '@clickhouse/client'
import { decimal } from '../../../shared/decimal.ts'
import { AppError } from '../../../shared/errors.ts'
import { othersTurn } from '../../../shared/process/in-turns.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import { type ClickHouseClient, isTooManyRows, selectRows } from '../../../shared/usage/clickhouse.ts'
import type { UsageQuantity, UsageQuery } from '../usage-query.ts'
import type { FigureRow } from './figure-row.ts'
import { createLargeNames, type LargeNames } from './large-names.ts'
import {
  type Bin,
  type Known,
  type Piece,
  type PlannedQuery,
  piecesOf,
  placeKey,
  planQueries,
  type QueryPlan,
} from './plan-queries.ts'
import { figuresOf, inOrder, type Read, splitValue, unsettledBins } from './read-answers.ts'
import { SETTINGS, settingsFor, settingsOfMany } from './read-settings.ts'
import { smallFigures } from './small-figures.ts'
import { type SmallLine, smallStatement } from './small-statement.ts'
import { staleBuckets } from './stale-buckets.ts'
import { distinctExactlySql, usageStatement } from './usage-statement.ts'
import { plainMeters, readsPlainly } from './views-sql.ts'

/** Quantities one query may give; a property with more values than that is no price list. */
export const QUANTITIES_MAX = 10_000
/** Roll-ups of an hour are not looked for before it is past by as much: the aggregator makes them when it is quiet, at the latest by then. */
const RECENT_MS = 20 * 60_000

/** The answer to one query; or why this query alone has none. */
export type Answer = readonly UsageQuantity[] | AppError

/**
 * The answers to these queries, in their order. Each is one quantity for each currency the values carry (and each split value,
 * and each subscription, when grouped by it), sorted, NUMBER first; none when no event matched. Exact: sums are not rounded, an average
 * has 40 places. Reads what ClickHouse holds now; `waitForUsage` waits until that is enough. An INVALID_OPERATION stands in place
 * of an answer of more than `max` quantities.
 */
export async function queryUsages(
  client: ClickHouseClient,
  queries: readonly UsageQuery[],
  max = QUANTITIES_MAX,
): Promise<Answer[]> {
  const answers = new Map<UsageQuery, Answer>()
  for (const group of alike(queries)) {
    const { tenant, source, upTo } = group[0]
    const raw = source === 'RAW' || upTo !== undefined
    const reader: Reader = { client, tenant, upTo, max, raw, source, now: Date.now() }
    const found = await queryTogether(reader, planQueries(group))
    for (const [{ query }, answer] of found) answers.set(query, answer)
  }
  return queries.map(query => answers.get(query) ?? [])
}

/** Queries that one statement can answer: of one tenant, and read up to the same positions from the same sources. */
function alike(queries: readonly UsageQuery[]): [UsageQuery, ...UsageQuery[]][] {
  const groups = new Map<string, [UsageQuery, ...UsageQuery[]]>()
  let last: [UsageQuery, ...UsageQuery[]] | undefined
  for (const query of queries) {
    const { tenant, source, upTo } = query
    // The queries of a billing run share these values, so most need no key.
    if (last && last[0].tenant === tenant && last[0].source === source && last[0].upTo === upTo) {
      last.push(query)
      continue
    }
    const key = JSON.stringify([tenant.platformId, tenant.environment, source, upTo])
    last = groups.get(key)
    if (last) last.push(query)
    else {
      last = [query]
      groups.set(key, last)
    }
  }
  return [...groups.values()]
}

type Reader = {
  readonly client: ClickHouseClient
  readonly tenant: Tenant
  readonly upTo: readonly number[] | undefined
  readonly raw: boolean
  readonly source: UsageQuery['source']
  /** Quantities that an answer may have. */
  readonly max: number
  /** The time of the machine, not of business: where it is wrong, roll-ups are used more, or less, than they could be. */
  readonly now: number
}

async function queryTogether(reader: Reader, plan: QueryPlan): Promise<Map<PlannedQuery, Answer>> {
  const { raw, now } = reader
  const known: Known = { raw, recentFrom: now - RECENT_MS, staleOf: () => undefined }
  await turnBefore(plan)
  const first =
    (await readEvents(reader, plan)) ??
    (await readSmall(reader, plan, known)) ??
    (await readManyEvents(reader, plan)) ??
    (await read(reader, plan, known))
  const unsettled = unsettledBins(first)
  if (unsettled.size === 0) return await answersOf(reader, first)
  // What roll-ups lack is found out hour by hour, and read from single events.
  const again = about(plan, bin => unsettled.has(bin))
  const stale = await staleBuckets(reader.client, reader.tenant, { ...again, settings: SETTINGS })
  const staleOf: Known['staleOf'] = place => stale.get(place.key)
  const second = await read(reader, again, { raw, recentFrom: Number.POSITIVE_INFINITY, staleOf }, { checked: false })
  const settled = { ...first, plan: about(plan, bin => !unsettled.has(bin)) }
  return new Map([...(await answersOf(reader, settled)), ...(await answersOf(reader, second))])
}

/** Each step of so many takes some tens of milliseconds. */
const MANY_QUERIES = 1_000

/** Others get a turn before a step that takes long. */
async function turnBefore({ queries }: QueryPlan): Promise<void> {
  if (queries.length > MANY_QUERIES) await othersTurn()
}

const about = (plan: QueryPlan, holds: (bin: Bin) => boolean): QueryPlan => ({
  ...plan,
  queries: plan.queries.filter(({ bin }) => holds(bin)),
  bins: plan.bins.filter(holds),
})

/** Names on meters that are read as they lie. */
const SMALL_PLACES_MAX = 40
/** Rows of more bytes than this are put together where they lie. */
const SMALL_BYTES_MAX = 1024 * 1024
const TOO_MANY_BYTES = '396'
/** So many single events are read with less work than roll-ups and their marks. */
const FEW_EVENTS = 1_000
const NONE: ReadonlySet<string> = new Set()
const large = createLargeNames()
const eventful = createLargeNames()

/** Whether these bins have more names on meters than are read as they lie. */
const hasManyPlaces = ({ bins }: QueryPlan): boolean => placesOf(bins).size > SMALL_PLACES_MAX

/** The names on meters of these bins, as far as it takes to know that they are many. */
function placesOf(bins: readonly Bin[]): Set<string> {
  const places = new Set<string>()
  for (const { customerKeys, meterReference } of bins) {
    for (const customerKey of customerKeys) places.add(placeKey(customerKey, meterReference))
    if (places.size > SMALL_PLACES_MAX) break
  }
  return places
}

/** The same as `read`, from single events; null where they are more than a few, which is remembered for a while. */
async function readEvents(reader: Reader, plan: QueryPlan): Promise<Read | null> {
  if (reader.source !== undefined || hasManyPlaces(plan)) return null
  const known = onlyEvents(reader)
  return await readLines(reader, { plan, pieces: () => piecesOf(plan, known), known: eventful, limit: FEW_EVENTS })
}

const onlyEvents = ({ now }: Reader): Known => ({ raw: true, recentFrom: now, staleOf: () => undefined })

/**
 * The same as `read`, of many names from single events: far cheaper than as many roll-ups, which are wide, and their marks. Null where
 * ClickHouse would pass over so many events that roll-ups are cheaper; it knows before it reads.
 */
async function readManyEvents(reader: Reader, plan: QueryPlan): Promise<Read | null> {
  if (reader.source !== undefined || reader.raw || !hasManyPlaces(plan)) return null
  const settings = settingsOfMany(plan.bins, reader.now)
  return await read(reader, plan, onlyEvents(reader), { checked: false, settings }).catch((error: unknown) => {
    if (isTooManyRows(error)) return null
    throw error
  })
}

/** The same as `read`, from roll-ups and single events as they lie; null where they are too many, which is remembered for a while. */
async function readSmall(reader: Reader, plan: QueryPlan, known: Known): Promise<Read | null> {
  if (reader.raw || reader.source === 'ROLLED' || hasManyPlaces(plan)) return null
  return await readLines(reader, { plan, pieces: () => piecesOf(plan, known), known: large })
}

async function readLines(
  { client, tenant, upTo, now }: Reader,
  of: {
    readonly plan: QueryPlan
    readonly pieces: () => readonly Piece[]
    readonly known: LargeNames
    readonly limit?: number
  },
): Promise<Read | null> {
  const { plan, known, limit } = of
  const { queries, bins } = plan
  const names = [...placesOf(bins)].map(place => `${tenant.platformId} ${tenant.environment} ${place}`)
  const length = lengthOf(bins)
  if (known.hasAny(names, length, now)) return null
  const pieces = of.pieces()
  await turnBefore(plan)
  const { sql, params } = smallStatement({
    tenant,
    queries,
    pieces,
    upTo,
    ...(limit === undefined ? {} : { limit: limit + 1 }),
  })
  const settings = { max_threads: '1', max_result_bytes: String(SMALL_BYTES_MAX) }
  const lines = await selectRows<SmallLine>(client, sql, params, settings).catch((error: unknown) => {
    if (error instanceof ClickHouseError && error.code === TOO_MANY_BYTES) return null
    throw error
  })
  if (lines !== null && lines.length <= (limit ?? lines.length))
    return {
      plan,
      pieces,
      rows: smallFigures({ queries, pieces }, lines),
      plain: readsPlainly(queries) ? plainMeters(queries) : NONE,
    }
  known.add(names, length, now)
  return null
}

/** From the first begin of these bins to the last end, in milliseconds. */
const lengthOf = (bins: readonly Bin[]): number =>
  bins.reduce((end, bin) => Math.max(end, bin.interval.end), 0) -
  bins.reduce((start, bin) => Math.min(start, bin.interval.start), Number.POSITIVE_INFINITY)

async function read(
  reader: Reader,
  plan: QueryPlan,
  known: Known,
  {
    checked = !reader.raw,
    settings = {},
  }: { readonly checked?: boolean; readonly settings?: Record<string, string> } = {},
): Promise<Read> {
  const { client, tenant, upTo, now } = reader
  const pieces = piecesOf(plan, known)
  await turnBefore(plan)
  const { sql, params } = usageStatement({
    tenant,
    queries: plan.queries,
    pieces,
    upTo,
    checked,
    limit: reader.max + 1,
  })
  const rows = await selectRows<FigureRow>(client, sql, params, { ...settingsFor(pieces, now), ...settings })
  return { plan, pieces, rows, plain: plainMeters(plan.queries) }
}

async function answersOf(reader: Reader, found: Read): Promise<Map<PlannedQuery, Answer>> {
  await turnBefore(found.plan)
  const answers = new Map<PlannedQuery, Answer>()
  for (const [planned, figures] of figuresOf(found)) {
    const quantities = figures ?? (await distinctExactly(reader, planned, found))
    answers.set(planned, quantities.length > reader.max ? tooMany(planned.query, reader.max) : quantities)
  }
  return answers
}

/** The number of different values of one question, where they are so many that they are counted where they lie. */
async function distinctExactly(reader: Reader, planned: PlannedQuery, { pieces }: Read): Promise<UsageQuantity[]> {
  const { client, tenant, upTo, now } = reader
  const own = pieces.filter(piece => piece.bins.includes(planned.bin))
  const of = { tenant, queries: [planned], pieces: own, upTo, checked: false, limit: reader.max + 1 }
  const { sql, params } = distinctExactlySql(of, planned)
  const rows = await selectRows<[string, string[], string, string]>(client, sql, params, settingsFor(own, now))
  return rows
    .map(
      ([label, split, count, number]): UsageQuantity => ({
        currency: null,
        number: decimal(number),
        count: Number(count),
        split: split.map(splitValue),
        subscription: planned.bin.grouped ? label : null,
      }),
    )
    .sort(inOrder)
}

function tooMany({ splitBy = [] }: UsageQuery, max: number): AppError {
  const by = splitBy.map(({ reference }) => reference).join(', ')
  return new AppError(
    'INVALID_OPERATION',
    `The usage falls into more than ${max} quantities${by === '' ? '' : ` by ${by}`}; split it by a property with fewer values.`,
  )
}
