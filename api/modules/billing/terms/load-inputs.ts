// Reads the inputs of invoices for any number of subscriptions at once. Reads only the columns that an invoice depends
// on, in a fixed order, so that two readings of the same state have the same inputs_hash.
import { and, asc, eq, inArray, isNotNull } from 'drizzle-orm'
import type { ExchangeRate } from '../../../../shared/billing/exchange/exchange-rates.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { at, type Instant, instantOf } from '../../../../shared/time.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { loadRateCards, versionsDuring } from '../../catalog/pricing-plans/rate-card.ts'
import { pricingPlans } from '../../catalog/pricing-plans/table.ts'
import { type CopiedFrom, loadCopiedFields } from '../../invoices/custom-fields/copied-fields.ts'
import {
  loadBillingEntities,
  loadCustomers,
  loadTaxExchange,
  loadTaxRatesOf,
  missing,
  SETTINGS_COLUMNS,
} from '../../invoices/document/load-parties.ts'
import { loadRates, ratesOf } from '../../parties/exchange-rates/load-rates.ts'
import { loadNumberFieldsOf } from '../../parties/platforms/number-fields.ts'
import { platforms } from '../../parties/platforms/table.ts'
import {
  type AttributionInputs,
  attributionsOf,
  loadAttribution,
} from '../../subscriptions/attribution/load-attribution.ts'
import { schedules, subscriptions } from '../../subscriptions/table.ts'
import { loadPersistedUsage } from '../persisted-usage/load-persisted-usage.ts'
import type { BillingInputs, PlatformInput, ScheduleInput, SubscriptionInput } from './billing-inputs.ts'
import { type CatalogInputs, loadCatalog } from './load-catalog.ts'
import { loadSeats } from './load-seats.ts'
import { loadSubLineCustomers } from './load-sub-line-customers.ts'

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
  const catalogOf = await loadCatalog(uow, [...scheduled.values()].flat())
  const attributions = await loadAttributions(uow, found)
  const platform = await loadPlatform(uow)
  const customers = await loadCustomers(uow, [...new Set(found.flatMap(each => [billedId(each), each.customer_id]))])
  const entities = await loadBillingEntities(uow, [...new Set(found.map(each => each.billing_entity_id))])
  const bothOf = (subscription: SubscriptionInput) => ({
    customer: known(customers, 'CUSTOMER', billedId(subscription)),
    billing_entity: known(entities, 'BILLING_ENTITY', subscription.billing_entity_id),
  })
  const invoicedOf = (subscription: SubscriptionInput) => ({
    ...bothOf(subscription),
    currency: subscription.billing_currency,
    since: schedulesOf(subscription).length === 0 ? uow.now : startOf({ schedules: schedulesOf(subscription) }),
  })
  const askingOf = (subscription: SubscriptionInput) => {
    const { since, ...both } = invoicedOf(subscription)
    return { ...both, since: answersSince?.(subscription.id) ?? since }
  }
  const taxRates = await loadTaxRatesOf(uow, found.map(askingOf))
  const taxExchange = await loadTaxExchange(uow, found.map(invoicedOf))
  const numberFields = await loadNumberFieldsOf(
    uow,
    platform.invoice_settings,
    found.map(each => ({ customerId: billedId(each), billingEntityId: each.billing_entity_id })),
  )
  const persisted = await loadPersistedUsage(
    uow,
    found.map(({ id }) => id),
  )
  const each = found.map((subscription, place) => {
    const attribution = attributions[place]
    const catalog = catalogOf(schedulesOf(subscription))
    if (!attribution) throw new Error('every subscription has its attribution')
    return { subscription, attribution, catalog, schedules: schedulesOf(subscription) }
  })
  const copied = await loadCopiedFields(uow, each.map(copiedFrom))
  const sharing = await loadSubLineCustomers(uow, each)
  const seats = await loadSeats(uow, each)
  const rates = await loadExchange(uow, each)
  return new Map(
    each.map(({ subscription, attribution, catalog, schedules: own }, place) => {
      const { condition_names, calculations, ...sold } = catalog
      const seated = seats.get(subscription.id)
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

type Sold = {
  readonly subscription: SubscriptionInput
  readonly catalog: CatalogInputs
  readonly schedules: readonly ScheduleInput[]
}

const copiedFrom = ({ subscription, catalog, schedules: own }: Sold): CopiedFrom[] => [
  { type: 'CUSTOMER', ids: [billedId(subscription)] },
  { type: 'BILLING_ENTITY', ids: [subscription.billing_entity_id] },
  { type: 'PRICING_PLAN_SUBSCRIPTION', ids: [subscription.id] },
  { type: 'PRICING_PLAN', ids: own.map(schedule => schedule.pricing_plan_id) },
  { type: 'PRODUCT', ids: catalog.products.map(product => product.id) },
  { type: 'PRODUCT_ITEM', ids: catalog.product_items.map(item => item.id) },
]

type Priced = Sold

const isForeign = (priced: Priced): boolean => currenciesOf(priced).length > 1

/** What it is billed in, what its schedules are priced in, and what prices of these currencies fall back to. */
function currenciesOf({ subscription, catalog, schedules: own }: Priced): string[] {
  const priced = new Set([subscription.billing_currency, ...own.map(({ pricing_currency }) => pricing_currency)])
  const fallbacks = catalog.pricings.flatMap(({ items }) =>
    items.flatMap(({ pricing_currency_configs: entries = [] }) =>
      entries.flatMap(({ currency, fallback_currency }) => (priced.has(currency) ? (fallback_currency ?? []) : [])),
    ),
  )
  return [...new Set([...priced, ...fallbacks])]
}

const startOf = ({ schedules: own }: Pick<Priced, 'schedules'>): Instant =>
  instantOf(Math.min(...own.map(({ start_at }) => at(start_at))))

/**
 * The exchange rates of each; the same for a subscription whichever others are read with it. Few are priced in another
 * currency than they are billed in, and the others need no query.
 */
async function loadExchange(uow: ReadUow, all: readonly Priced[]) {
  const foreign = all.filter(isForeign)
  const loaded =
    foreign.length === 0
      ? []
      : await loadRates(uow, [...new Set(foreign.flatMap(currenciesOf))], instantOf(Math.min(...foreign.map(startOf))))
  return (priced: Priced): ExchangeRate[] => ratesOf(loaded, currenciesOf(priced), startOf(priced))
}

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

async function loadSubscriptions(uow: ReadUow, ids: readonly string[]): Promise<SubscriptionInput[]> {
  const s = subscriptions
  const rows = await uow.tx
    .select({
      id: s.id,
      status: s.status,
      name: s.name,
      purchase_order_number: s.purchase_order_number,
      customer_id: s.customer_id,
      billing_entity_id: s.billing_entity_id,
      billing_period: s.billing_period,
      billing_currency: s.billing_currency,
      billing_time: s.billing_time,
      billing_anchor: s.billing_anchor,
      due_date_configuration: s.due_date_configuration,
      sales_tax_percentage: s.sales_tax_percentage,
      variant: s.variant,
      forward_customer_id: s.forward_customer_id,
      init_invoice_on_hold: s.init_invoice_on_hold,
      combine: s.combine,
      payment_acceptor_ids: s.payment_acceptor_ids,
      display_invoice_sub_lines_per_processing_only_customer: s.display_invoice_sub_lines_per_processing_only_customer,
      inactive_periods: s.inactive_periods,
    })
    .from(s)
    // A TEMPLATE has no customer, and so no invoices.
    .where(and(inThisTenant(uow, s), inArray(s.id, idsOf('ppsu', ids)), isNotNull(s.customer_id)))
    .orderBy(asc(s.id))
  return rows.flatMap(({ customer_id, forward_customer_id, variant, combine, payment_acceptor_ids, ...row }) => {
    const { period, type } = row.due_date_configuration
    return customer_id === null
      ? []
      : [
          {
            ...row,
            ...(variant === 'DEFAULT' ? {} : { variant }),
            ...(forward_customer_id === null ? {} : { forward_customer_id }),
            ...(combine ? { combine, payment_acceptor_ids } : {}),
            customer_id,
            due_date_configuration: { type, period: period ?? null },
          },
        ]
  })
}

/** By subscription: the schedules in force, and for a DRAFT subscription its DRAFT schedules too. */
async function loadSchedules(
  uow: ReadUow,
  all: readonly SubscriptionInput[],
): Promise<ReadonlyMap<string, ScheduleInput[]>> {
  const s = schedules
  const drafts = new Set(all.flatMap(({ id, status }) => (status === 'DRAFT' ? [id] : [])))
  const ids = idsOf(
    'ppsu',
    all.map(({ id }) => id),
  )
  const rows = await uow.tx
    .select({
      subscription_id: s.pricing_plan_subscription_id,
      status: s.status,
      id: s.id,
      pricing_plan_id: s.pricing_plan_id,
      pricing_plan_version_id: s.pricing_plan_version_id,
      start_at: s.start_at,
      end_at: s.end_at,
      pricing_currency: s.pricing_currency,
      billing_period: s.billing_period,
      discount: s.discount,
      coupons: s.applied_coupons,
      enabled: s.enabled_pricings,
      override_pricings: s.override_pricings,
      included_volumes: s.included_volumes,
      markup: s.markup,
      commitment: s.commitment,
      seats_values: s.seats_values,
      units: s.units,
      refund: s.refund_advance_charges,
      realign: s.realign_invoice_date_to_pricing_plan_schedule_start_at,
      type: s.type,
      variant: pricingPlans.variant,
    })
    .from(s)
    .innerJoin(pricingPlans, and(inThisTenant(uow, pricingPlans), eq(pricingPlans.id, s.pricing_plan_id)))
    .where(
      and(
        inThisTenant(uow, s),
        inArray(s.pricing_plan_subscription_id, ids),
        inArray(s.status, drafts.size > 0 ? ['DRAFT', 'ACTIVE'] : ['ACTIVE']),
      ),
    )
    .orderBy(asc(s.start_at), asc(s.id))
  const held = rows.filter(({ status, subscription_id: id }) => status === 'ACTIVE' || drafts.has(id))
  const cards = await loadRateCards(
    uow,
    held.flatMap(row => (row.variant === 'RATE_CARD' ? [row.pricing_plan_id] : [])),
  )
  return new Map(
    [...groupBy(held, row => row.subscription_id)].map(([id, own]) => [
      id,
      own.map(
        ({ subscription_id: _subscription, status: _status, refund, realign, type, variant: _variant, ...given }) => {
          const { coupons, enabled, markup, commitment, ...stated } = given
          const { override_pricings, included_volumes, seats_values, units, ...schedule } = stated
          const card = cards.get(schedule.pricing_plan_id)
          return {
            ...schedule,
            ...(card ? { rate_card: versionsDuring(card, schedule) } : {}),
            ...(coupons.length > 0 ? { coupons } : {}),
            ...(enabled.length > 0 ? { enabled_pricings: enabled } : {}),
            ...(markup ? { markup } : {}),
            ...(commitment ? { commitment } : {}),
            ...statedOf({ override_pricings, included_volumes, seats_values, units }),
            ...(refund ? { refund_advance_charges: true as const } : {}),
            ...(type === 'TRIAL' ? { trial: true as const } : {}),
            ...(realign ? { realign } : {}),
          }
        },
      ),
    ]),
  )
}

type Stated = Required<Pick<ScheduleInput, 'override_pricings' | 'included_volumes' | 'seats_values' | 'units'>>

/** What a schedule states of prices, included volumes, seats and units, each absent where it states none. */
const statedOf = ({ override_pricings, included_volumes, seats_values, units }: Stated): Partial<Stated> => ({
  ...(override_pricings.length > 0 ? { override_pricings } : {}),
  ...(included_volumes.length > 0 ? { included_volumes } : {}),
  ...(seats_values.length > 0 ? { seats_values } : {}),
  ...(units.length > 0 ? { units } : {}),
})

/** The settings of the platform that billing depends on. */
export async function loadPlatform(uow: ReadUow): Promise<PlatformInput> {
  const columns = { ...SETTINGS_COLUMNS, late_event_policy: platforms.late_event_policy }
  const [row] = await uow.tx.select(columns).from(platforms).where(inThisTenant(uow, platforms))
  if (!row) throw new Error('every tenant has a platform')
  return row
}
