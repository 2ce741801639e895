// What billing is given of a story: what is known at a moment, as it would be read from the database.
import { versionsDuring } from '../../../catalog/pricing-plans/rate-card.ts'
import type { AppliedCoupon } from '../../../subscriptions/coupons/schema.ts'
import type { BillingInputs, PricingInput, ScheduleInput } from '../../terms/billing-inputs.ts'
import { exampleInputs } from '../example-inputs.ts'
import type { Known, Phase } from './known.ts'
import { type Coupon, itemOf, type Price, type Story } from './story.ts'
import { categoryOf } from './story-discounts.ts'
import { configOf, givenBy, termsOf, timeText } from './story-terms.ts'

const PRODUCT = { tax_category: null, display_order: null }

export function inputsOf(story: Story, { phases, cancel, pauses, seats }: Known): BillingInputs {
  const prices = story.plans.flatMap(({ prices: own }) => own)
  const base = exampleInputs({ start: timeText(story.start), items: [] })
  const [product] = exampleInputs({ start: timeText(story.start), items: [{ bands: [] }] }).product_items
  if (!product) throw new Error('an example has an item')
  const MODELS = { FEE: 'RECURRING', SEATS: 'PER_SEAT', USAGE: 'USAGE_BASED', ONCE: 'ONE_OFF' } as const
  const product_items = prices.map(({ id, kind }) => ({
    ...product,
    id: `item ${id}`,
    product_id: `product ${id}`,
    model_type: MODELS[kind],
    meter_value_calculation_id: kind === 'USAGE' ? 'calc' : null,
  }))
  const inputs: BillingInputs = {
    ...base,
    customer: { ...base.customer, timezone: story.zone },
    subscription: {
      ...base.subscription,
      billing_period: story.billing,
      billing_time: story.calendar ? 'CALENDAR' : 'EXACT',
      inactive_periods: [
        ...pauses.map(({ start, end }) => ({
          type: 'PAUSE' as const,
          start_at: timeText(start),
          end_at: timeText(end),
        })),
        ...(cancel
          ? [{ type: 'CANCEL' as const, start_at: timeText(cancel.at), refund_advance_charges: cancel.refund }]
          : []),
      ],
    },
    schedules: phases.map(scheduleOf),
    pricings: story.plans.flatMap(plan => [
      pricingOf(
        plan.id,
        plan.prices.filter(({ addon }) => !addon),
      ),
      {
        ...pricingOf(
          plan.id,
          plan.prices.filter(({ addon }) => addon),
          ' addon',
        ),
        addon: true as const,
      },
      ...(plan.card ?? []).map(({ prices: own }, index) => pricingOf(versionNamed(plan.id, index + 1), own)),
    ]),
    product_items,
    products: prices.map(({ id }) => ({
      ...PRODUCT,
      id: `product ${id}`,
      name: id,
      category_id: categoryOf(id),
    })),
    product_categories: [...new Set(prices.map(({ id }) => categoryOf(id)))].map(id => ({ ...PRODUCT, id, name: id })),
    seats: prices
      .filter(({ kind }) => kind === 'SEATS')
      .flatMap(({ id }) =>
        seats.map(({ start, end }) => ({
          product_item_id: `item ${id}`,
          start_at: timeText(start),
          end_at: end === null ? null : timeText(end),
        })),
      ),
  }
  return withOwnPrices(story, inputs)
}

/**
 * The same inputs with the optional pricing of each plan, the other one or both as the schedules' own: it makes no difference to what is
 * billed. Not of a rate card, whose versions follow each other, nor with a trial, which sells nothing else than what is its own.
 */
function withOwnPrices({ seed, trial, plans }: Story, inputs: BillingInputs): BillingInputs {
  const ownsAddon = seed % 4 === 1 || seed % 4 === 3
  const ownsOther = seed % 4 === 2 || seed % 4 === 3
  const isPlan = (id: string): boolean => !trial && plans.some(plan => plan.id === id && !plan.card)
  const ownOf = (id: string): string => (ownsAddon && ownsOther ? id : `own ${id}`)
  return {
    ...inputs,
    pricings: inputs.pricings.map(pricing => {
      const { pricing_plan_version_id: id, addon } = pricing
      const isOwn = isPlan(id) && (addon ? ownsAddon : ownsOther)
      return isOwn ? { ...pricing, pricing_plan_version_id: ownOf(id) } : pricing
    }),
    schedules: inputs.schedules.map(schedule => {
      const id = schedule.pricing_plan_version_id
      return isPlan(id) && (ownsAddon || ownsOther) ? { ...schedule, own_version_id: ownOf(id) } : schedule
    }),
  }
}

const pricingOf = (plan: string, prices: readonly Price[], more = ''): PricingInput => ({
  id: `pricing ${plan}${more}`,
  pricing_plan_version_id: plan,
  name: plan,
  display_order: null,
  items: prices.map(price => ({
    id: `priced ${price.id}`,
    product_item_ids: [`item ${itemOf(price)}`],
    configs: [configOf(price)],
  })),
})

const versionNamed = (plan: string, version: number): string => (version === 0 ? plan : `${plan}v${version}`)
const LONG_AGO = '2000-01-01T00:00:00Z'

/** The versions of a rate card that are in force during a schedule. */
function rateCardOf({ plan: { id, card }, start, end }: Phase): Pick<ScheduleInput, 'rate_card'> {
  if (!card) return {}
  const starts = [LONG_AGO, ...card.map(version => timeText(version.start))]
  const versions = starts.map((start_at, version) => ({
    pricing_plan_version_id: versionNamed(id, version),
    start_at,
  }))
  const time = { start_at: timeText(start), end_at: end === null ? null : timeText(end) }
  return { rate_card: versionsDuring(versions, time) }
}

const scheduleOf = (phase: Phase): ScheduleInput => ({
  id: phase.id,
  pricing_plan_id: 'plan',
  pricing_plan_version_id: phase.plan.id,
  start_at: timeText(phase.start),
  end_at: phase.end === null ? null : timeText(phase.end),
  pricing_currency: 'EUR',
  billing_period: null,
  ...rateCardOf(phase),
  ...termsOf(phase, {
    pricing: (plan, addon) => `pricing ${plan}${addon ? ' addon' : ''}`,
    item: price => `priced ${price}`,
    config: price => price,
    productItem: price => `item ${price}`,
    product: price => `product ${price}`,
    category: categoryOf,
  }),
  ...(phase.deal.coupons.length === 0 ? {} : { coupons: phase.deal.coupons.map(couponOf) }),
  ...(phase.refund ? { refund_advance_charges: true as const } : {}),
  ...(phase.trial ? { trial: true as const } : {}),
  ...(phase.paid ? { only_overrides: true as const } : {}),
  ...(phase.realign ? { realign: true } : {}),
})

const couponOf = (coupon: Coupon): AppliedCoupon => ({
  coupon_id: coupon.id,
  coupon_name: coupon.id,
  promotion_code_id: null,
  promotion_code: null,
  ...givenBy(coupon),
  meter_value_reference: null,
  limited_to: coupon.price === null ? null : { product_item_ids: [`item ${coupon.price}`] },
  start_at: coupon.since === undefined ? null : timeText(coupon.since),
})
