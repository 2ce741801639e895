// From stored events to what the API shows: names filled in, and whether each is billed.
import { and, sql } from 'drizzle-orm'
import { namedSubscription, selectorJson } from '../../../../shared/attribution/selector.ts'
import { eventId } from '../../../../shared/contracts/usage-event.ts'
import type { Actor, ReadUow } from '../../../../shared/database/database.ts'
import { preparedQuery } from '../../../../shared/database/statements/prepared.ts'
import { decimal, plain } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { formatInstant } from '../../../../shared/time.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { inPlaceholders } from '../../../resource/tenant-condition.ts'
import { expansionForbidden, viewsOf } from '../../../resource/views.ts'
import { placeText, type StoredEvent } from '../../../usage/stored-events.ts'
import { meterProperties, meterValues } from '../../catalog/meters/table.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { type EventFacts, loadFacts } from './trace/load-facts.ts'

const CUSTOMER_VIEW = 'CUSTOMER.VIEW'

/**
 * Whether the customer of an event is shown. Throws INVALID_FIELD on anything else an event cannot expand, and USER_NOT_ALLOWED when
 * the customer is named by an actor who may not view customers; ALL leaves it out then.
 */
export function wantsCustomer({ may }: Actor, expand: readonly string[]): boolean {
  const unknown = expand.find(name => !['customer', 'customer_id', 'ALL'].includes(name))
  if (unknown === undefined && may?.(CUSTOMER_VIEW) !== false) return expand.length > 0
  if (unknown === undefined) {
    const named = expand.find(name => name !== 'ALL')
    if (named !== undefined) throw expansionForbidden(named, CUSTOMER_VIEW)
    return false
  }
  const message = `METER_DATA cannot expand ${JSON.stringify(unknown)}. It can expand customer, ALL.`
  throw new AppError('INVALID_FIELD', message, { field: 'expand' })
}

/** The views of stored events, in their order. */
export async function viewEvents(
  uow: ReadUow,
  events: readonly StoredEvent[],
  options: { readonly withCustomer: boolean; readonly facts?: EventFacts } = { withCustomer: false },
): Promise<EventView[]> {
  const [facts, ids] = await Promise.all([options.facts ?? loadFacts(uow, events), loadIds(uow, events)])
  const views = events.map(event => viewOf(event, facts, ids))
  if (!options.withCustomer) return views
  const rows = new Map(
    events.map(event => facts.customer(event.customerKey)).flatMap(row => (row ? [[row.id, row]] : [])),
  )
  const shown = await viewsOf(uow, customerResource, [...rows.values()])
  const byId = new Map(shown.map(view => [view.id, view]))
  return views.map(view => ({ ...view, customer: byId.get(view.customer_id) ?? null }))
}

type Ids = { readonly values: ReadonlyMap<string, string>; readonly properties: ReadonlyMap<string, string> }

async function loadIds(uow: ReadUow, events: readonly StoredEvent[]): Promise<Ids> {
  const values = new Set(events.flatMap(event => event.values.map(value => value.reference)))
  const properties = new Set(events.flatMap(event => Object.keys(event.properties)))
  const [valueIds, propertyIds] = await Promise.all([
    idsByReference(uow, meterValues, [...values]),
    idsByReference(uow, meterProperties, [...properties]),
  ])
  return { values: valueIds, properties: propertyIds }
}

const byReference = (name: string, table: typeof meterValues | typeof meterProperties) =>
  preparedQuery(name, (tx, named) =>
    tx
      .select({ id: table.id, reference: table.reference })
      .from(table)
      .where(and(inPlaceholders(table), sql`${table.reference} = any(${sql.placeholder('references')}::text[])`))
      .prepare(named),
  )
const valuesByReference = byReference('meter values of events', meterValues)
const propertiesByReference = byReference('meter properties of events', meterProperties)

async function idsByReference(
  uow: ReadUow,
  table: typeof meterValues | typeof meterProperties,
  references: readonly string[],
): Promise<Map<string, string>> {
  if (references.length === 0) return new Map()
  const { platformId: platform, environment } = uow.tenant
  const ask = table === meterValues ? valuesByReference : propertiesByReference
  const rows = await ask(uow.tx, { platform, environment, references })
  return new Map(rows.map(row => [row.reference, row.id]))
}

/** An event as the API gives it. */
export type EventView = ReturnType<typeof viewOf> & { readonly customer?: Row | null }

function viewOf(event: StoredEvent, facts: EventFacts, ids: Ids) {
  const id = eventId(event.idHash)
  const customer = facts.customer(event.customerKey)
  return {
    object_type: 'METER_DATA',
    id,
    reference: event.reference,
    type: 'INGEST',
    customer_id: customer?.id ?? null,
    // What the sender wrote, while nobody has it.
    customer_reference: customer ? customer.reference : event.customerKey,
    meter_id: facts.meter(event.meterReference)?.id ?? null,
    meter_reference: event.meterReference,
    ...askedOf(event),
    timestamp: formatInstant(event.timestamp),
    created_at: formatInstant(event.receivedAt),
    meter_values: event.values.map(({ reference, quantity, currency }) => {
      const number = plain(decimal(quantity))
      const shared = { id: ids.values.get(reference) ?? null, reference }
      return currency === ''
        ? { ...shared, number, amount: null }
        : { ...shared, number: null, amount: { quantity: number, currency } }
    }),
    meter_properties: Object.entries(event.properties).map(([reference, value]) => ({
      id: ids.properties.get(reference) ?? null,
      reference,
      value,
    })),
    processed_details: processedOf(event, facts, id),
    deleted: event.deleted,
  }
}

/** What the sender wrote about the subscription. */
function askedOf({ subscription }: StoredEvent) {
  const asked = namedSubscription(subscription)
  return {
    pricing_plan_subscription_id: asked.kind === 'ID' ? asked.id : null,
    pricing_plan_subscription_reference: asked.kind === 'REFERENCE' ? asked.reference : null,
    pricing_plan_subscription_selector: asked.kind === 'SELECTOR' ? JSON.parse(selectorJson(asked.selector)) : null,
  }
}

function processedOf(event: StoredEvent, facts: EventFacts, id: string) {
  if (event.duplicate) {
    return {
      type: 'DUPLICATE',
      duplicate_of_meter_data_id: id,
      duplicate: {
        of_meter_data_id: id,
        content_differs: event.contentDiffers,
        log_position: placeText(event.place),
      },
      not_matched: null,
    }
  }
  const decision = facts.decide(event)
  return {
    type: decision.type,
    duplicate_of_meter_data_id: null,
    duplicate: null,
    not_matched: decision.type === 'NOT_MATCHED' ? { variant: decision.variant } : null,
  }
}
