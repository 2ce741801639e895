// Reads the inputs of invoices for any number of subscriptions at once. Reads only the columns that an invoice depends
// on, in a fixed order, so that two readings of the same state have the same inputs_hash.
import type { ReadUow } from '../../../../../shared/database/database.ts'
import type { Instant } from '../../../../../shared/time.ts'
import { inThisTenant } from '../../../../resource/tenant-condition.ts'
import { type CopiedFrom, loadCopiedFields } from '../../../invoices/custom-fields/copied-fields.ts'
import {
  loadBillingEntities,
  loadCustomers,
  loadTaxExchange,
  loadTaxRatesOf,
  missing,
  SETTINGS_COLUMNS,
} from '../../../invoices/document/load-parties.ts'
import { zoneOfParties } from '../../../invoices/document/parties.ts'
import { loadNumberFieldsOf } from '../../../parties/platforms/number-fields.ts'
import { platforms } from '../../../parties/platforms/table.ts'
import {
  type AttributionInputs,
  attributionsOf,
  loadAttribution,
} from '../../../subscriptions/attribution/load-attribution.ts'
import { loadPersistedUsage } from '../../persisted-usage/load-persisted-usage.ts'
import type { BillingInputs, PlatformInput, ScheduleInput, SubscriptionInput } from '../billing-inputs.ts'
import { loadCatalog } from './load-catalog.ts'
import { loadChargedAfterEnd } from './load-charged-after-end.ts'
import { isForeign, loadExchange, type Sold, startOf } from './load-exchange.ts'
import { loadIssuedZones } from './load-issued-zones.ts'
import { loadResumed } from './load-resumed.ts'
import { loadSeats } from './load-seats.ts'
import { loadSubLineCustomers } from './load-sub-line-customers.ts'
import { loadSchedules, loadSubscriptions } from './load-subscriptions.ts'

/**
 * The inputs of a subscription's invoices. Its DRAFT schedules count only for a preview of a subscription that is
 * itself DRAFT. Throws RESOURCE_NOT_FOUND when the tenant has no such subscription.
 */
export async function loadBillingInputs(
  uow: ReadUow,
  subscriptionId: string,
  answersSince?: AnswersSince,
): Promise<BillingInputs> {
  const inputs = (await loadManyInputs(uow, [subscriptionId], answersSince)).get(subscriptionId)
  if (!inputs) throw missing('PRICING_PLAN_SUBSCRIPTION', subscriptionId)
  return inputs
}

/**
 * When the earliest invoice of a subscription starts that is in hand: what a tax engine said about earlier days is not read. Null
 * where that is not known: then from the start of the subscription.
 */
export type AnswersSince = (subscriptionId: string) => Instant | null

/**
 * The same for many subscriptions, in as many statements as for one; a subscription that the tenant does not have is
 * absent.
 */
export async function loadManyInputs(
  uow: ReadUow,
  subscriptionIds: readonly string[],
  answersSince?: AnswersSince,
): Promise<Map<string, BillingInputs>> {
  if (subscriptionIds.length === 0) return new Map()
  const found = await loadSubscriptions(uow, subscriptionIds)
  if (found.length === 0) return new Map()
  const scheduled = await loadSchedules(uow, found)
  const schedulesOf = ({ id }: SubscriptionInput): ScheduleInput[] => scheduled.get(id) ?? []
  // What does not depend on each other is asked together: the server answers while the next questions are on their way.
  const [catalogOf, attributions, platform, customers, entities, persisted] = await Promise.all([
    loadCatalog(uow, [...scheduled.values()].flat()),
    loadAttributions(uow, found),
    loadPlatform(uow),
    loadCustomers(uow, [...new Set(found.flatMap(each => [billedId(each), each.customer_id]))]),
    loadBillingEntities(uow, [...new Set(found.map(each => each.billing_entity_id))]),
    loadPersistedUsage(
      uow,
      found.map(({ id }) => id),
    ),
  ])
  const bothOf = (subscription: SubscriptionInput) => ({
    customer: known(customers, 'CUSTOMER', billedId(subscription)),
    billing_entity: known(entities, 'BILLING_ENTITY', subscription.billing_entity_id),
  })
  const invoicedOf = (subscription: SubscriptionInput) => ({
    currency: subscription.billing_currency,
    since: schedulesOf(subscription).length === 0 ? uow.now : startOf({ schedules: schedulesOf(subscription) }),
    ...bothOf(subscription),
  })
  const askingOf = (subscription: SubscriptionInput) => {
    const { since, ...both } = invoicedOf(subscription)
    return { since: answersSince?.(subscription.id) ?? since, ...both }
  }
  const each = found.map((subscription, place) => {
    const attribution = attributions[place]
    const catalog = catalogOf(schedulesOf(subscription))
    if (!attribution) throw new Error('every subscription has its attribution')
    return { subscription, attribution, catalog, schedules: schedulesOf(subscription) }
  })
  const [taxRates, taxExchange, numberFields, copied, sharing, seats, rates, resumed, chargedAfterEnd, issuedZones] =
    await Promise.all([
      loadTaxRatesOf(uow, found.map(askingOf)),
      loadTaxExchange(uow, found.map(invoicedOf)),
      loadNumberFieldsOf(
        uow,
        platform.invoice_settings,
        found.map(one => ({ customerId: billedId(one), billingEntityId: one.billing_entity_id })),
      ),
      loadCopiedFields(uow, each.map(copiedFrom)),
      loadSubLineCustomers(uow, each),
      loadSeats(uow, each),
      loadExchange(uow, each),
      loadResumed(uow, [...scheduled]),
      loadChargedAfterEnd(uow, each),
      loadIssuedZones(
        uow,
        found.map(one => [one.id, zoneOfParties({ platform, ...bothOf(one) })]),
      ),
    ])
  return new Map(
    each.map(({ subscription, attribution, catalog, schedules: own }, place) => {
      const { condition_names, calculations, ...sold } = catalog
      const seated = seats.get(subscription.id)
      const resumedAt = resumed.get(subscription.id)
      const charged = chargedAfterEnd.get(subscription.id)
      const zonesBefore = issuedZones.get(subscription.id)
      const both = bothOf(subscription)
      const inputs: BillingInputs = {
        platform,
        ...both,
        ...(subscription.forward_customer_id
          ? { forwarded_from: known(customers, 'CUSTOMER', subscription.customer_id) }
          : {}),
        ...taxRates(askingOf(subscription)),
        ...taxExchange(invoicedOf(subscription)),
        number_fields: numberFields[place] ?? [],
        subscription,
        schedules: own,
        ...(resumedAt ? { resumed_at: resumedAt } : {}),
        ...(charged ? { charged_after_end: charged } : {}),
        ...(zonesBefore ? { issued_zones: zonesBefore } : {}),
        ...sold,
        calculations,
        persisted_usages: persisted.get(subscription.id) ?? [],
        ...(seated ? { seats: seated } : {}),
        ...(isForeign({ subscription, catalog, schedules: own })
          ? { exchange_rates: rates({ subscription, catalog, schedules: own }) }
          : {}),
        condition_names,
        attribution,
        copied_fields: copied[place] ?? [],
        sub_line_customers: sharing[place] ?? [],
      }
      return [subscription.id, inputs]
    }),
  )
}

const billedId = ({ customer_id, forward_customer_id }: SubscriptionInput): string => forward_customer_id ?? customer_id

function known<T>(found: ReadonlyMap<string, T>, type: string, id: string): T {
  const one = found.get(id)
  if (one === undefined) throw missing(type, id)
  return one
}

const copiedFrom = ({ subscription, catalog, schedules: own }: Sold): CopiedFrom[] => [
  { type: 'CUSTOMER', ids: [billedId(subscription)] },
  { type: 'BILLING_ENTITY', ids: [subscription.billing_entity_id] },
  { type: 'PRICING_PLAN_SUBSCRIPTION', ids: [subscription.id] },
  { type: 'PRICING_PLAN', ids: own.map(schedule => schedule.pricing_plan_id) },
  { type: 'PRODUCT', ids: catalog.products.map(product => product.id) },
  { type: 'PRODUCT_ITEM', ids: catalog.product_items.map(item => item.id) },
]

/**
 * What decides which customers' events belong to them, in the order of the subscriptions. A DRAFT subscription counts
 * as if it were activated.
 */
async function loadAttributions(uow: ReadUow, all: readonly SubscriptionInput[]): Promise<AttributionInputs[]> {
  const customerIds = [...new Set(all.flatMap(each => (each.status === 'DRAFT' ? [] : [each.customer_id])))]
  const found = attributionsOf(await loadAttribution(uow, { customerIds, with: 'CHILDREN' }), customerIds)
  const attributions: AttributionInputs[] = []
  for (const { id, status, customer_id } of all) {
    const own = status === 'DRAFT' ? null : found.get(customer_id)
    const previewing = { customerIds: [customer_id], with: 'CHILDREN', previewing: id } as const
    attributions.push(own ?? (await loadAttribution(uow, previewing)))
  }
  return attributions
}

/** The settings of the platform that billing depends on. */
export async function loadPlatform(uow: ReadUow): Promise<PlatformInput> {
  const columns = { ...SETTINGS_COLUMNS, late_event_policy: platforms.late_event_policy }
  const [row] = await uow.tx.select(columns).from(platforms).where(inThisTenant(uow, platforms))
  if (!row) throw new Error('every tenant has a platform')
  return row
}
