// Whether the version of a plan can be sold as a schedule says, and which one a schedule of a rate card names.
import { and, eq } from 'drizzle-orm'
import { exchangeBefore } from '../../../../shared/billing/exchange/exchange-rates.ts'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { type Id, idOf } from '../../../../shared/ids.ts'
import { instantOf } from '../../../../shared/time.ts'
import { getOne, notFound } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { requireCreditPeriods, requireSameCadence } from '../../catalog/pricing-plans/checks/check-cadence.ts'
import { pricingPlanResource } from '../../catalog/pricing-plans/pricing-plan.ts'
import { pricingPlanVersionResource } from '../../catalog/pricing-plans/pricing-plan-version.ts'
import { loadRateCards, versionAt, versionsDuring } from '../../catalog/pricing-plans/rate-card.ts'
import { admits } from '../../catalog/pricing-plans/selection/selection-rules.ts'
import {
  type PricingPlan,
  type PricingPlanVersion,
  pricingPlans,
  pricingPlanVersions,
} from '../../catalog/pricing-plans/table.ts'
import { type MissingPrice, missingPriceOf } from '../../catalog/pricing-plans/variants/coverage.ts'
import { periodText } from '../../catalog/pricing-plans/variants/period-length.ts'
import { type Terms, termsOf } from '../../catalog/pricing-plans/variants/variants.ts'
import { pricingsOf } from '../../catalog/pricing-plans/version-pricings.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { loadRates, noExchange } from '../../parties/exchange-rates/load-rates.ts'
import { requireSeller } from '../enabled-pricings/require-seller.ts'
import { subscriptionResource } from '../subscription.ts'
import type { Schedule, Subscription } from '../table.ts'
import { requireOneTax } from './tax-of-neighbours.ts'

/**
 * Throws unless the schedule's version may be sold in its currency. A DRAFT version may be planned, but not activated, and
 * its prices may still change, so they are only judged once it is ACTIVE. Locks the version's status until commit.
 */
export async function requireSellable(
  uow: Uow,
  schedule: Schedule,
  subscription: Subscription,
  activating: boolean,
): Promise<void> {
  const table = pricingPlanVersions
  const where = and(inThisTenant(uow, table), eq(table.id, schedule.pricing_plan_version_id))
  const [version] = await uow.tx.select().from(table).where(where).for('share')
  if (!version) throw notFound(pricingPlanVersionResource, schedule.pricing_plan_version_id, 'pricing_plan_version_id')
  if (version.status !== 'ACTIVE' && (activating || version.status !== 'DRAFT')) {
    const message = `Version ${version.version} of the plan is ${version.status}; only an ACTIVE version can be ${activating ? 'activated' : 'chosen'} here.`
    throw new AppError('INVALID_FIELD', message, { field: 'pricing_plan_version_id' })
  }
  const { billing_currency: billedIn } = subscription
  if (activating) await requireExchange(uow, { from: schedule.pricing_currency, to: billedIn })
  const plan = await planOf(uow, version)
  // What stands without a plan is judged with the prices that it has of its own.
  if (!plan.unlisted) requireOwn(plan, subscription)
  await requireAdmitted(uow, plan, subscription)
  await requireOneTax(uow, schedule, plan)
  const sold = plan.variant === 'RATE_CARD' ? await requireInForce(uow, schedule, activating) : [version]
  for (const each of sold) {
    if (each.status !== 'ACTIVE' || each.id === schedule.own_pricing_plan_version_id) continue
    await requireFit(uow, each, { schedule, subscription, billedIn: activating ? billedIn : null })
  }
  const beside = sold.flatMap(({ id, status }) => (status === 'ACTIVE' ? [id] : []))
  await requireOwnSellable(uow, schedule, { subscription, billedIn: activating ? billedIn : null, beside })
}

/**
 * Throws INVALID_FIELD at the bound that moved when an ACTIVE schedule gets more time, and a version of its rate card that is in force then
 * cannot price it. Its own version was judged when it was activated, and may be DEPRECATED since.
 */
export async function requirePricedTime(uow: Uow, schedule: Schedule, previous: Schedule | null): Promise<void> {
  if (previous?.status !== 'ACTIVE' || schedule.status !== 'ACTIVE') return
  const startsEarlier = schedule.start_at < previous.start_at
  const endsLater = previous.end_at !== null && (schedule.end_at === null || schedule.end_at > previous.end_at)
  if (!startsEarlier && !endsLater) return
  const plan = await planOf(uow, schedule)
  if (plan.variant !== 'RATE_CARD') return
  const subscription = await getOne(uow, subscriptionResource, schedule.pricing_plan_subscription_id)
  const before = new Set((await requireInForce(uow, previous, false)).map(({ id }) => id))
  const added = (await requireInForce(uow, schedule, startsEarlier)).filter(({ id }) => !before.has(id))
  const { own_pricing_plan_version_id: ownId } = schedule
  const terms = termsOf(schedule, subscription)
  for (const { id } of added) {
    try {
      await requireFit(uow, { id }, { schedule, subscription, billedIn: subscription.billing_currency })
      if (ownId !== null) await requireSameCadence(uow, { ownId, otherIds: [id], terms })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const { start_at, end_at } = schedule
      const time = end_at === null ? `from ${start_at} on` : `from ${start_at} until ${end_at}`
      const message = `The version ${id} of the rate card cannot price the schedule ${schedule.id} ${time}. ${error.message}`
      const field = startsEarlier ? 'start_at' : 'end_at'
      throw new AppError(error.code, message, { field, resourceId: schedule.id, resourceType: 'PRICING_PLAN_SCHEDULE' })
    }
  }
}

type Selling = { readonly subscription: Subscription; readonly billedIn: string | null }

async function requireFit(
  uow: Uow,
  version: Pick<PricingPlanVersion, 'id'>,
  { schedule, subscription, billedIn }: Selling & { readonly schedule: Schedule },
): Promise<void> {
  const terms = termsOf(schedule, subscription)
  await requirePrices(uow, version, terms, billedIn)
  await requireCreditPeriods(uow, version.id, terms)
  await requireSeller(uow, version.id, subscription.billing_entity_id)
}

/** The prices that it has without a plan, or besides: of a draft too, since they are for this schedule. */
async function requireOwnSellable(
  uow: Uow,
  schedule: Schedule,
  { beside, ...of }: Selling & { readonly beside: readonly Id<'ppve'>[] },
): Promise<void> {
  const { own_pricing_plan_version_id: id } = schedule
  if (id === null || id === undefined) return
  const [own] = await uow.tx
    .select({ customer_id: pricingPlans.customer_id })
    .from(pricingPlanVersions)
    .innerJoin(
      pricingPlans,
      and(inThisTenant(uow, pricingPlans), eq(pricingPlans.id, pricingPlanVersions.pricing_plan_id)),
    )
    .where(and(inThisTenant(uow, pricingPlanVersions), eq(pricingPlanVersions.id, id)))
    .for('share')
  if (own?.customer_id && own.customer_id !== of.subscription.customer_id) {
    const message = 'A product of these prices is for another customer alone; give prices without it.'
    throw new AppError('INVALID_FIELD', message, { field: 'pricing_categories' })
  }
  await requireFit(uow, { id }, { ...of, schedule }).catch(error => {
    const isOfVersion = error instanceof AppError && error.details.field === 'pricing_plan_version_id'
    throw isOfVersion ? error.at('pricing_categories') : error
  })
  const otherIds = beside.filter(each => each !== id)
  if (otherIds.length > 0)
    await requireSameCadence(uow, { ownId: id, otherIds, terms: termsOf(schedule, of.subscription) })
}

/** Throws INVALID_FIELD when there is no rate by which its prices could be invoiced: none is guessed (semantics 5.6). */
async function requireExchange(uow: Uow, { from, to }: { readonly from: string; readonly to: string }): Promise<void> {
  if (from === to) return
  const rates = await loadRates(uow, [from, to], uow.now)
  if (exchangeBefore(rates, { from, to, until: instantOf(uow.now + 1) })) return
  throw new AppError('INVALID_FIELD', noExchange(from, to), { field: 'pricing_currency' })
}

/** Held, so that the versions of a rate card stay as they are until commit (rate-cards/guards.ts). */
async function planOf(
  uow: Uow,
  { pricing_plan_id: id }: Pick<PricingPlanVersion, 'pricing_plan_id'>,
): Promise<PricingPlan> {
  const where = and(inThisTenant(uow, pricingPlans), eq(pricingPlans.id, id))
  const [plan] = await uow.tx.select().from(pricingPlans).where(where).for('share')
  if (!plan) throw notFound(pricingPlanResource, id, 'pricing_plan_id')
  return plan
}

/** The versions of the rate card that price the schedule. Throws when none is in force at its start, from which it is priced. */
async function requireInForce(uow: Uow, schedule: Schedule, activating: boolean) {
  const versions = (await loadRateCards(uow, [schedule.pricing_plan_id])).get(schedule.pricing_plan_id) ?? []
  if (activating && !versionAt(versions, schedule.start_at)) {
    const message = `The rate card has no ACTIVE version in force at ${schedule.start_at}; activate one that is.`
    throw new AppError('INVALID_FIELD', message, { field: 'start_at' })
  }
  return versionsDuring(versions, schedule).map(each => ({
    id: idOf('ppve', each.pricing_plan_version_id),
    status: 'ACTIVE' as const,
  }))
}

/** The version that a schedule names: on a rate card the one in force at its start, once there is one. */
export async function versionAtStart(uow: ReadUow, schedule: Schedule): Promise<Id<'ppve'>> {
  const versions = (await loadRateCards(uow, [schedule.pricing_plan_id])).get(schedule.pricing_plan_id) ?? []
  const inForce = versionAt(versions, schedule.start_at)
  return inForce ? idOf('ppve', inForce.pricing_plan_version_id) : schedule.pricing_plan_version_id
}

/** A CUSTOM plan is for one customer (semantics 3.1). */
function requireOwn(plan: PricingPlan, { customer_id }: Subscription): void {
  if (plan.customer_id === null || plan.customer_id === customer_id) return
  throw new AppError('INVALID_FIELD', 'The plan is for another customer; choose one for all, or its own.', {
    field: 'pricing_plan_version_id',
  })
}

/** The rules of a plan decide by the country of the customer (semantics 3.1). A TEMPLATE is for no customer yet. */
async function requireAdmitted(uow: Uow, plan: PricingPlan, { customer_id }: Subscription): Promise<void> {
  if (plan.pricing_plan_selection_rules.length === 0 || customer_id === null) return
  const { individual, organization } = await getOne(uow, customerResource, customer_id)
  const country = (organization?.registered_address ?? individual?.residential_address)?.country ?? null
  if (admits(plan.pricing_plan_selection_rules, country)) return
  const message = `The plan is not offered to customers ${country === null ? 'without a country' : `in ${country}`}; choose another, or change its pricing_plan_selection_rules.`
  throw new AppError('INVALID_FIELD', message, { field: 'pricing_plan_version_id' })
}

/**
 * Throws INVALID_FIELD when a pricing of the version has no price for the currency and billing period (semantics 3.1), or falls back to
 * prices that cannot be converted to the currency that they are `billedIn`; null: that is judged when the schedule is activated.
 */
export async function requirePrices(
  uow: Uow,
  version: Pick<PricingPlanVersion, 'id'>,
  terms: Terms,
  billedIn: string | null,
): Promise<void> {
  for (const { name, items } of await pricingsOf(uow, [version.id])) {
    for (const item of items) {
      const lack = missingPriceOf(item, terms)
      if (lack?.kind === 'FALLBACK') {
        if (billedIn !== null) await requireExchange(uow, { from: lack.to, to: billedIn })
      } else if (lack) throw lacking(`The pricing ${name}`, lack, terms)
    }
  }
}

function lacking(
  what: string,
  lack: Exclude<MissingPrice, { kind: 'FALLBACK' }>,
  { currency, billingPeriod }: Terms,
): AppError {
  const refuse = (field: string, message: string) => new AppError('INVALID_FIELD', message, { field })
  switch (lack.kind) {
    case 'CURRENCY':
      return refuse('pricing_currency', `${what} is in ${lack.sold.join(', ')}, not in ${currency}.`)
    case 'BILLING_PERIOD': {
      const periods = lack.sold.map(periodText).join(', ')
      return refuse(
        'billing_period',
        `${what} has prices for a billing period of ${periods}, and none for ${periodText(billingPeriod)}; choose one that it has.`,
      )
    }
  }
}
