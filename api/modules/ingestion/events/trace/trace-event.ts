// The way of one event: when it was received, taken and processed, and what bills it, or why nothing does.
import { sql } from 'drizzle-orm'
import { eventId } from '../../../../../shared/contracts/usage-event.ts'
import { type ReadUow, readTenant } from '../../../../../shared/database/database.ts'
import { AppError } from '../../../../../shared/errors.ts'
import { idOf } from '../../../../../shared/ids.ts'
import type { Tenant } from '../../../../../shared/tenant.ts'
import { at, formatInstant } from '../../../../../shared/time.ts'
import type { Row } from '../../../../resource/define-resource.ts'
import type { StoredEvent } from '../../../../usage/stored-events.ts'
import { findInvoice } from '../../../invoices/repository.ts'
import { expandLinks, type TraceExpansion } from '../expand-links.ts'
import { eventNotFound, findEvent, hashesFor } from '../get-event.ts'
import type { EventsDeps } from '../list-events.ts'
import { viewAmendments } from '../view-amendments.ts'
import { viewEvents } from '../view-events.ts'
import { type EventFacts, loadFacts, type RatedOnce } from './load-facts.ts'

const RETRY_AFTER_S = 2

/**
 * The trace of the event with this id or reference. Throws RESOURCE_NOT_FOUND, and SERVICE_UNAVAILABLE while the log does not
 * answer. An event that is deleted or not matched has no links; `meter_data` says which.
 */
export async function traceEvent(
  deps: EventsDeps,
  tenant: Tenant,
  of: { readonly idOrReference: string; readonly wanted: ReadonlySet<TraceExpansion> },
): Promise<Row> {
  const event = await findEvent(deps, tenant, hashesFor(tenant, of.idOrReference))
  if (!event) throw eventNotFound(of.idOrReference)
  const takenAt = await deps.events.log.takenAt(event).catch((cause: unknown) => {
    const message = 'The usage log does not answer; send it again.'
    throw new AppError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_S, cause })
  })
  const amendments = event.changed ? await deps.events.amendments(tenant, event.idHash) : []
  const { storedAt } = event
  return await readTenant(deps.database, tenant, async uow => {
    const facts = await loadFacts(uow, [event])
    const withCustomer = of.wanted.has('customer')
    const [view] = await viewEvents(uow, [event], { withCustomer, facts })
    if (!view) throw new Error('one event has one view')
    const { customer, ...meter_data } = view
    const billed = !event.deleted && view.processed_details.type === 'DEFAULT'
    return {
      object_type: 'EVENT_TRACE',
      id: view.id,
      meter_data_id: view.id,
      meter_data,
      customer_id: view.customer_id,
      ...(withCustomer ? { customer } : {}),
      received_time: formatInstant(event.receivedAt),
      ingest_time: takenAt === null ? null : formatInstant(takenAt),
      processed_time: storedAt === null ? null : formatInstant(storedAt),
      amendments: await viewAmendments(uow, event, amendments),
      links: billed ? await expandLinks(uow, await linksOf(uow, event, facts), of.wanted) : [],
    }
  })
}

/** One link for each price configuration that rates something the event carries. */
async function linksOf(uow: ReadUow, event: StoredEvent, facts: EventFacts) {
  const places = facts.ratedPlaces(event)
  const invoices = await invoicesAt(uow, event, places)
  const carried = new Set([...event.values.map(value => value.reference), ...Object.keys(event.properties)])
  const links = places.flatMap(({ subscriptionId, by, ratings }) => {
    const own = ratings.filter(
      ({ valueReference: value, propertyReference: property, billedBy }) =>
        billedBy.kind !== 'REPLACED' &&
        [value, property].some(reference => reference !== null && carried.has(reference)),
    )
    return [...new Set(own.map(rating => rating.configId))].map(configId => {
      const of = own.filter(rating => rating.configId === configId)
      return {
        object_type: 'EVENT_TRACE_LINK',
        id: `${eventId(event.idHash)}.${subscriptionId}.${configId}`,
        meter_value_calculation_ids: [...new Set(of.map(rating => rating.calculationId))],
        product_item_ids: [...new Set(of.map(rating => rating.productItemId))],
        pricing_plan_subscription_id: subscriptionId,
        attributed_by: by,
        pricing_item_config_id: configId,
        invoice_id: invoiceOf(of, invoices.get(subscriptionId) ?? null),
      }
    })
  })
  const lines = await linesAt(uow, event, unique(links.flatMap(link => link.invoice_id ?? [])))
  return links.map(link => ({ ...link, invoice_line_id: lines(link) }))
}

/**
 * The invoice that has, or will have, what these ratings of one config price. Of time that is not closed it is known when
 * the price has no period of its own: then it is the one whose time has the event.
 */
function invoiceOf(ratings: readonly RatedOnce[], ofItsTime: string | null): string | null {
  const found = ratings.map(({ billedBy, invoicedOnce }) => {
    if (billedBy.kind === 'OPEN') return invoicedOnce ? ofItsTime : null
    return billedBy.kind === 'NEVER' || billedBy.kind === 'REPLACED' ? null : billedBy.invoiceId
  })
  return new Set(found).size === 1 ? (found[0] ?? null) : null
}

type Link = {
  readonly invoice_id: string | null
  readonly pricing_item_config_id: string
  readonly product_item_ids: readonly string[]
}

/** The line of a link on its invoice as it is: of the config and the item, for the time that has the event. */
async function linesAt(
  uow: ReadUow,
  { timestamp }: StoredEvent,
  invoiceIds: readonly string[],
): Promise<(link: Link) => string | null> {
  const rows = new Map(
    (await Promise.all(invoiceIds.map(id => findInvoice(uow, idOf('invo', id))))).map(row => [row?.id, row]),
  )
  return ({ invoice_id, pricing_item_config_id, product_item_ids }) => {
    const periods = invoice_id === null ? [] : (rows.get(idOf('invo', invoice_id))?.content.periods ?? [])
    const lines = periods
      .filter(({ start_at, end_at }) => at(start_at) <= timestamp && timestamp < at(end_at))
      .flatMap(({ groups }) => groups.flatMap(group => group.lines))
    const found = lines.find(
      line =>
        line.pricing_item_config_id === pricing_item_config_id &&
        line.product_items.some(({ id }) => product_item_ids.includes(id)),
    )
    return found?.id ?? null
  }
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)]

/** The invoice of each of these subscriptions whose time has the event. */
async function invoicesAt(
  uow: ReadUow,
  event: StoredEvent,
  places: readonly { subscriptionId: string }[],
): Promise<Map<string, string>> {
  if (places.length === 0) return new Map()
  const { platformId, environment } = uow.tenant
  const at = sql`to_timestamp(${event.timestamp}::float8 / 1000)`
  const { rows } = await uow.tx.execute<{ id: string; subscription_id: string }>(sql`
    select min(coalesce(combined_into_id, id)) as id, pricing_plan_subscription_id as subscription_id from invoices
    where platform_id = ${platformId} and environment = ${environment} and holds_period and status <> 'VOID' and not advance_only
      and pricing_plan_subscription_id = any(${sql.param(places.map(place => place.subscriptionId))})
      and period_start <= ${at} and period_end > ${at}
    group by pricing_plan_subscription_id`)
  return new Map(rows.map(row => [row.subscription_id, row.id]))
}
