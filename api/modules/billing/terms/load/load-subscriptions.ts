// The subscriptions and schedules that invoices are computed from: the columns an invoice depends on, and nothing else.
import { and, asc, eq, inArray, isNotNull } from 'drizzle-orm'
import type { ReadUow } from '../../../../../shared/database/database.ts'
import { anyOf } from '../../../../../shared/database/statements/any-of.ts'
import { NO_MEMBERS } from '../../../../../shared/extended.ts'
import { groupBy } from '../../../../../shared/group-by.ts'
import { idsOf } from '../../../../../shared/ids.ts'
import { inThisTenant } from '../../../../resource/tenant-condition.ts'
import { loadRateCards, versionsDuring } from '../../../catalog/pricing-plans/rate-card.ts'
import { pricingPlans } from '../../../catalog/pricing-plans/table.ts'
import { schedules, subscriptions } from '../../../subscriptions/table.ts'
import type { ScheduleInput, SubscriptionInput } from '../billing-inputs.ts'

/** These subscriptions, in the order of their ids; one that the tenant does not have, and a TEMPLATE, is absent. */
export async function loadSubscriptions(uow: ReadUow, ids: readonly string[]): Promise<SubscriptionInput[]> {
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
    .where(and(inThisTenant(uow, s), anyOf(s.id, idsOf('ppsu', ids)), isNotNull(s.customer_id)))
    .orderBy(asc(s.id))
  return rows.flatMap(({ customer_id, forward_customer_id, variant, combine, payment_acceptor_ids, ...row }) => {
    const { period, type } = row.due_date_configuration
    return customer_id === null
      ? []
      : [
          {
            ...NO_MEMBERS,
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
export async function loadSchedules(
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
      own: s.own_pricing_plan_version_id,
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
      carries: s.carries_usage,
      type: s.type,
      variant: pricingPlans.variant,
    })
    .from(s)
    .innerJoin(pricingPlans, and(inThisTenant(uow, pricingPlans), eq(pricingPlans.id, s.pricing_plan_id)))
    .where(
      and(
        inThisTenant(uow, s),
        anyOf(s.pricing_plan_subscription_id, ids),
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
        ({
          subscription_id: _subscription,
          status: _status,
          refund,
          realign,
          carries,
          type,
          variant: _variant,
          ...given
        }) => {
          const { own: ownVersion, coupons, enabled, markup, commitment, ...stated } = given
          const { override_pricings, included_volumes, seats_values, units, ...schedule } = stated
          const card = cards.get(schedule.pricing_plan_id)
          return {
            ...schedule,
            ...(ownVersion === null ? {} : { own_version_id: ownVersion }),
            ...(card ? { rate_card: versionsDuring(card, schedule) } : {}),
            ...(coupons.length > 0 ? { coupons } : {}),
            ...(enabled.length > 0 ? { enabled_pricings: enabled } : {}),
            ...(markup ? { markup } : {}),
            ...(commitment ? { commitment } : {}),
            ...statedOf({ override_pricings, included_volumes, seats_values, units }),
            ...flagsOf({ refund, realign, carries }),
            ...trialOf({ type, hasPrices: ownVersion !== null || override_pricings.length > 0 }),
          }
        },
      ),
    ]),
  )
}

type Flags = { readonly refund: boolean; readonly realign: boolean; readonly carries: boolean }

/** What is true of a schedule, each absent where it is not. */
const flagsOf = ({ refund, realign, carries }: Flags) => ({
  ...(refund ? { refund_advance_charges: true as const } : {}),
  ...(realign ? { realign } : {}),
  ...(carries ? { carries_usage: true as const } : {}),
})

type Tried = { readonly type: string; readonly hasPrices: boolean }

/** A TRIAL charges nothing, or, where it has prices of its own, those alone (semantics 4.3). Neither for any other schedule. */
function trialOf({ type, hasPrices }: Tried): Pick<ScheduleInput, 'trial' | 'only_overrides'> {
  if (type !== 'TRIAL') return {}
  return hasPrices ? { only_overrides: true } : { trial: true }
}

type Stated = Required<Pick<ScheduleInput, 'override_pricings' | 'included_volumes' | 'seats_values' | 'units'>>

/** What a schedule states of prices, included volumes, seats and units, each absent where it states none. */
const statedOf = ({ override_pricings, included_volumes, seats_values, units }: Stated): Partial<Stated> => ({
  ...(override_pricings.length > 0 ? { override_pricings } : {}),
  ...(included_volumes.length > 0 ? { included_volumes } : {}),
  ...(seats_values.length > 0 ? { seats_values } : {}),
  ...(units.length > 0 ? { units } : {}),
})
