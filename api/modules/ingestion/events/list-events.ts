// Lists of events. ClickHouse finds and orders them; whether one is billed depends on customers, plans and invoices as they
// are now, so DEFAULT and NOT_MATCHED are told apart here, over as many events as a list reaches.
import { type Database, type ReadUow, readTenant } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { type Instant, parseInstant } from '../../../../shared/time.ts'
import { dateRange, type Page } from '../../../http/pagination.ts'
import { findOne } from '../../../resource/store.ts'
import type { EventStore } from '../../../usage/event-store.ts'
import { type EventFilter, type EventKey, LIST_DEPTH } from '../../../usage/stored-events.ts'
import { meterResource } from '../../catalog/meters/meter.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { loadFacts } from './load-facts.ts'
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

/**
 * One page, newest by their own time first, and how many there are as far as a list reaches. Throws INVALID_FIELD for a page
 * beyond that.
 */
export async function listEvents(
  deps: EventsDeps,
  tenant: Tenant,
  of: { readonly request: EventListRequest; readonly page: Page; readonly withCustomer: boolean },
): Promise<{ views: EventView[]; total: number }> {
  const { request, page, withCustomer } = of
  const offset = (page.page - 1) * page.limit
  if (offset + page.limit > LIST_DEPTH) throw tooDeep(page)
  const { filter, now } = await readTenant(deps.database, tenant, async uow => ({
    filter: await filterOf(uow, request),
    now: uow.now,
  }))
  const type = request.processed_details_type
  const decided = type === 'DEFAULT' || type === 'NOT_MATCHED'
  const wanted = decided ? { limit: LIST_DEPTH, offset: 0 } : { limit: page.limit, offset }
  const found = await deps.events.list(tenant, { filter, now, ...wanted })
  const { keys, total } = decided ? await decidedPage(deps, tenant, { keys: found.keys, type, page, offset }) : found
  const events = await deps.events.read(tenant, keys)
  const views = await readTenant(deps.database, tenant, uow => viewEvents(uow, events, { withCustomer }))
  return { views, total }
}

const tooDeep = ({ limit }: Page): AppError =>
  new AppError(
    'INVALID_FIELD',
    `A list of events reaches the newest ${LIST_DEPTH} that match: page ${Math.floor(LIST_DEPTH / limit)} of this limit. ` +
      'To see older ones, give timestamp=[,to], customer_id or meter_id.',
    { field: 'page' },
  )

async function decidedPage(
  deps: EventsDeps,
  tenant: Tenant,
  of: { keys: readonly EventKey[]; type: 'DEFAULT' | 'NOT_MATCHED'; page: Page; offset: number },
): Promise<{ keys: readonly EventKey[]; total: number }> {
  const matching = await readTenant(deps.database, tenant, async uow => {
    const facts = await loadFacts(uow, of.keys)
    return of.keys.filter(key => facts.decide(key).type === of.type)
  })
  return { keys: matching.slice(of.offset, of.offset + of.page.limit), total: matching.length }
}

async function filterOf(uow: ReadUow, request: EventListRequest): Promise<EventFilter> {
  const { customer_id, meter_id, reference, deleted, processed_details_type: type } = request
  const range = request.timestamp === undefined ? null : dateRange('timestamp', request.timestamp)
  return {
    customerKeys: customer_id === undefined ? undefined : await customerKeys(uow, customer_id),
    meterReference: meter_id === undefined ? undefined : await meterReference(uow, meter_id),
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
