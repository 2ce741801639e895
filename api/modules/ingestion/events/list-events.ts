// Lists of events. ClickHouse finds and orders them; whether one is billed depends on customers, plans and invoices as they
// are now, so DEFAULT and NOT_MATCHED are distinguished here, over as many events as a list reaches.
import { type Database, type ReadUow, readTenant } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { type Instant, parseInstant } from '../../../../shared/time.ts'
import { dateRange, type Page } from '../../../http/pagination.ts'
import { type CursorSlice, cursorNotFound, type Slice } from '../../../list/slice.ts'
import { findOne } from '../../../resource/store.ts'
import { cursorText, parseCursor } from '../../../usage/event-cursor.ts'
import type { EventStore } from '../../../usage/event-store.ts'
import { createKnownPositions } from '../../../usage/list/known-positions.ts'
import { LIST_DEPTH } from '../../../usage/list/list-stored-events.ts'
import type { EventFilter } from '../../../usage/list/sources.ts'
import type { StoredEvent } from '../../../usage/stored-events.ts'
import { meterResource } from '../../catalog/meters/meter.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { type EventFacts, loadFacts } from './trace/load-facts.ts'
import { type EventView, viewEvents } from './view-events.ts'

export type EventsDeps = { readonly database: Database; readonly events: EventStore }

export type EventListRequest = {
  readonly customer_id?: string | undefined
  readonly meter_id?: string | undefined
  readonly reference?: string | undefined
  readonly timestamp?: string | undefined
  readonly deleted?: 'true' | 'false' | undefined
  readonly processed_details_type?: 'DEFAULT' | 'NOT_MATCHED' | 'DUPLICATE' | undefined
}

export type EventList = {
  readonly views: readonly EventView[]
  /** Cursors to read on from at either end; null when there is no record. */
  readonly first: string | null
  readonly last: string | null
  readonly more: boolean
  /** Of a page by its number: how many there are, as far as a list reaches; by a verdict, as far as was looked. */
  readonly total: number | null
}
type Wanted = { readonly request: EventListRequest; readonly slice: Slice; readonly withCustomer: boolean }

/**
 * One part of the events, newest by their own time first. Throws INVALID_FIELD for a page beyond what a list reaches, and for a
 * cursor that names nothing here.
 */
export async function listEvents(deps: EventsDeps, tenant: Tenant, of: Wanted): Promise<EventList> {
  const { slice, request } = of
  const now = deps.database.clock.now()
  const filter = filterOf(request, await keysOf(deps, tenant, request))
  const type = request.processed_details_type
  const verdict = type === 'DEFAULT' || type === 'NOT_MATCHED' ? type : null
  const found =
    slice.kind === 'PAGE'
      ? await readPage(deps, tenant, { filter, now, verdict, page: slice })
      : await readOn(deps, tenant, { filter, verdict, slice })
  const { events, facts } = found
  const views = await readTenant(deps.database, tenant, uow =>
    viewEvents(uow, events, { withCustomer: of.withCustomer, ...(facts ? { facts } : {}) }),
  )
  const [newest, oldest] = [events[0], events.at(-1)]
  const first = slice.kind === 'BEFORE' ? (found.last ?? newest) : newest
  const last = slice.kind === 'BEFORE' ? oldest : (found.last ?? oldest)
  for (const end of [first, last]) if (end) positions.remember(tenant, end)
  return {
    views,
    first: first ? cursorText(first) : null,
    last: last ? cursorText(last) : null,
    more: found.more,
    total: found.total,
  }
}

/** The ends of pages: a client that pages on sends one of them next. */
const positions = createKnownPositions()

type Verdict = 'DEFAULT' | 'NOT_MATCHED'
type Found = {
  readonly events: readonly StoredEvent[]
  readonly more: boolean
  readonly total: number | null
  /** Where to go on from, when that is not the last event. */
  readonly last?: StoredEvent
  /** What decided about all of them, where that was read at once. */
  readonly facts?: EventFacts | undefined
}

async function readPage(
  deps: EventsDeps,
  tenant: Tenant,
  of: { readonly filter: EventFilter; readonly now: Instant; readonly verdict: Verdict | null; readonly page: Page },
): Promise<Found> {
  const { filter, now, verdict, page } = of
  const offset = (page.page - 1) * page.limit
  const end = offset + page.limit
  if (end > (verdict === null ? LIST_DEPTH : DECIDED_DEPTH)) throw tooDeep(page, verdict)
  if (verdict === null) {
    const found = await deps.events.list(tenant, { filter, now, limit: page.limit, offset })
    const { events, ended } = found
    const total = found.total ?? (ended ? offset + events.length : await deps.events.count(tenant, filter))
    // Of more than pages reach it is not counted how many there are.
    const more = total > end || (end === LIST_DEPTH && (await hasOlder(deps, tenant, filter, events.at(-1))))
    return { events, total: more ? Math.max(total, end + 1) : total, more }
  }
  // As many are decided as it takes to know that more follow; so the pages that are counted then are those that are known.
  let limit = Math.min(DECIDED_DEPTH, Math.ceil(FIRST_SHARE * end) + 1)
  let { events, ended } = await deps.events.list(tenant, { filter, now, limit, offset: 0 })
  let seen = events.length
  const first = await decided(deps, tenant, events, verdict)
  const matching = [...first.events]
  for (; matching.length <= end && !ended && seen < DECIDED_DEPTH; seen += events.length) {
    const position = events.at(-1)
    if (!position) break
    limit = Math.min(DECIDED_DEPTH - seen, 2 * seen)
    events = await deps.events.beyond(tenant, { filter, position, side: 'OLDER', limit })
    ended = events.length < limit
    matching.push(...(await decided(deps, tenant, events, verdict)).events)
  }
  const facts = first.events.length >= end ? first.facts : undefined
  const isUndecided =
    matching.length <= end && seen >= DECIDED_DEPTH && (await hasOlder(deps, tenant, filter, events.at(-1)))
  if (isUndecided && offset > 0 && offset >= matching.length) throw noneLeft(verdict)
  const more = matching.length > end || isUndecided
  return { events: matching.slice(offset, end), total: Math.max(matching.length, more ? end + 1 : 0), more, facts }
}

/** Whether any event that matches is older than this one. */
const hasOlder = async (
  { events }: EventsDeps,
  tenant: Tenant,
  filter: EventFilter,
  position: StoredEvent | undefined,
): Promise<boolean> =>
  position !== undefined && (await events.beyond(tenant, { filter, position, side: 'OLDER', limit: 1 })).length > 0

/**
 * What follows or precedes a record. Of a verdict that few events have, as many are decided as a list reaches; the answer may then
 * hold fewer than the limit, and the reader continues from the last one that was examined.
 */
async function readOn(
  deps: EventsDeps,
  tenant: Tenant,
  of: { readonly filter: EventFilter; readonly verdict: Verdict | null; readonly slice: CursorSlice },
): Promise<Found> {
  const { filter, verdict, slice } = of
  const side = slice.kind === 'AFTER' ? 'OLDER' : 'NEWER'
  const cursor = parseCursor(slice.id)
  let position = cursor && (positions.of(tenant, slice.id) ?? (await deps.events.position(tenant, cursor)))
  if (!position) throw cursorNotFound(slice)
  const inOrder = (events: StoredEvent[]): StoredEvent[] => (side === 'OLDER' ? events : events.toReversed())
  const events: StoredEvent[] = []
  let limit = (verdict === null ? slice.limit : Math.ceil(FIRST_SHARE * slice.limit)) + 1
  for (let seen = 0; ; limit = Math.min(DECIDED_AT_ONCE, 4 * limit)) {
    const next: readonly StoredEvent[] = await deps.events.beyond(tenant, { filter, position, side, limit })
    const round = verdict === null ? { events: next } : await decided(deps, tenant, next, verdict)
    events.push(...round.events)
    // Of later rounds not all events are decided by the same reading.
    const facts = seen === 0 && 'facts' in round ? round.facts : undefined
    seen += next.length
    const last = next.at(-1)
    if (events.length > slice.limit)
      return { events: inOrder(events.slice(0, slice.limit)), more: true, total: null, facts }
    if (!last || next.length < limit) return { events: inOrder(events), more: false, total: null }
    if (seen >= DECIDED_DEPTH) return { events: inOrder(events), more: true, total: null, last }
    position = last
  }
}

/** Of a verdict, so many events are decided for a list: what decides is read for each of them. */
const DECIDED_DEPTH = 10_000
/** Of a verdict that most events have, so many times as many as the page needs are decided at first. */
const FIRST_SHARE = 1.25
/** Events whose verdict is found out in one reading. */
const DECIDED_AT_ONCE = 1_000

const OLDER = 'To read on, use starting_after; to see older ones, give timestamp=[,to].'

const noneLeft = (verdict: Verdict): AppError =>
  new AppError('INVALID_FIELD', `Of the newest ${DECIDED_DEPTH} events, no more are ${verdict}. ${OLDER}`, {
    field: 'page',
  })

function tooDeep({ limit }: Page, verdict: Verdict | null): AppError {
  const [depth, which] = verdict === null ? [LIST_DEPTH, ''] : [DECIDED_DEPTH, ` by ${verdict}`]
  const message =
    `A list of events${which} reaches the newest ${depth} that match: page ${Math.floor(depth / limit)} of this limit. ` +
    OLDER
  return new AppError('INVALID_FIELD', message, { field: 'page' })
}

/** The events that have this verdict, with the facts that decided it, so that the view does not read them again. */
const decided = (
  deps: EventsDeps,
  tenant: Tenant,
  events: readonly StoredEvent[],
  verdict: Verdict,
): Promise<{ readonly events: readonly StoredEvent[]; readonly facts: EventFacts }> =>
  readTenant(deps.database, tenant, async uow => {
    const facts = await loadFacts(uow, events)
    return { events: events.filter(event => facts.decide(event).type === verdict), facts }
  })

/** What events carry instead of ids. */
type Keys = Pick<EventFilter, 'customerKeys' | 'meterReference'>

/** The keys of the customer and the meter that are named. A list that names neither needs no transaction for it. */
async function keysOf(deps: EventsDeps, tenant: Tenant, { customer_id, meter_id }: EventListRequest): Promise<Keys> {
  if (customer_id === undefined && meter_id === undefined) return {}
  return await readTenant(deps.database, tenant, async uow => ({
    customerKeys: customer_id === undefined ? undefined : await customerKeys(uow, customer_id),
    meterReference: meter_id === undefined ? undefined : await meterReference(uow, meter_id),
  }))
}

function filterOf(request: EventListRequest, keys: Keys): EventFilter {
  const { reference, deleted, processed_details_type: type } = request
  const range = request.timestamp === undefined ? null : dateRange('timestamp', request.timestamp)
  return {
    customerKeys: keys.customerKeys,
    meterReference: keys.meterReference,
    reference,
    deleted: deleted === undefined ? undefined : deleted === 'true',
    duplicate: type === undefined ? undefined : type === 'DUPLICATE',
    from: bound(range?.from),
    before: bound(range?.before),
  }
}

const bound = (text: string | null | undefined): Instant | undefined =>
  text === null || text === undefined ? undefined : (parseInstant(text) ?? undefined)

/** Every name events may carry the customer by. A name nobody has is taken as it is: its events wait for their customer. */
async function customerKeys(uow: ReadUow, idOrReference: string): Promise<string[]> {
  const row = await findOne(uow, customerResource, idOrReference)
  if (!row) return [idOrReference]
  return [row.id, ...(row.reference === null ? [] : [row.reference])]
}

async function meterReference(uow: ReadUow, idOrReference: string): Promise<string> {
  const row = await findOne(uow, meterResource, idOrReference)
  return row?.['reference'] ?? idOrReference
}
