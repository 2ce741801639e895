// Bills a story with the code of the product: each invoice is closed at its cutoff, with what is known then.
import { decimal, plain } from '../../../../../shared/decimal.ts'
import { at, formatInstant, type Instant, instantOf } from '../../../../../shared/time.ts'
import type { Payers } from '../../../invoices/settlement/funds.ts'
import type { AppliedCoupon } from '../../../subscriptions/coupons/schema.ts'
import { chargesOf } from '../../charges/charges.ts'
import type { ClosedUsage } from '../../late/closed-usage.ts'
import { type LateCharge, lateCharge, lateUnits, termOf } from '../../late/late-usage.ts'
import { type PricedInvoice, priceInvoice } from '../../pricing/price-invoice.ts'
import { advanceChargesOf } from '../../refunds/advance-charges.ts'
import { type AdvanceCharge, refundsIn, refundTimes } from '../../refunds/refunds.ts'
import { keyOfWindow } from '../../run/state/subscription-invoices.ts'
import type { BillingInputs, ConfigInput, ScheduleInput } from '../../terms/billing-inputs.ts'
import { resolveTerms } from '../../terms/price-terms.ts'
import { type InvoiceWindow, invoiceWindows } from '../../terms/windows.ts'
import { type UsageNeed, usageNeeds } from '../../usage/usage-needs.ts'
import { exampleInputs, plainUsage } from '../example-inputs.ts'
import { PRODUCT_RULES } from './product-rules.ts'
import {
  type Coupon,
  DAY,
  type Known,
  knownAt,
  type Phase,
  type Plan,
  type Price,
  type Scope,
  type Story,
  YEAR_DAYS,
} from './story.ts'

export type Closed = { readonly window: InvoiceWindow; readonly invoice: PricedInvoice }

/** Who pays the invoices beside the customer. */
export type YearFunds = {
  payers(id: string, window: InvoiceWindow): Payers
  /** The invoice is FINAL. */
  closed(id: string, closed: Closed): void
}

/** The invoices of the story, in the order in which they close; `until`: those that close by then. */
export function billYear(
  story: Story,
  { funds, until = Number.POSITIVE_INFINITY }: { readonly funds?: YearFunds; readonly until?: number } = {},
): Closed[] {
  const closed: Closed[] = []
  const keys = new Set<string>()
  const billed = new Set<string>()
  const counted: ClosedUsage[] = []
  const ahead: AdvanceCharge[] = []
  for (;;) {
    const next = nextWindow(story, keys, closed.at(-1)?.window.cutoffAt ?? story.start)
    if (next === null || next.window.cutoffAt > until) return closed
    const { window, known } = next
    const inputs = inputsOf(story, known)
    const terms = resolveTerms(inputs)
    const late = lateUnits(counted).flatMap((unit): LateCharge[] => {
      const term = termOf(terms, unit)
      return term ? [lateCharge(term, unit, `${window.cutoffAt}`)] : []
    })
    const needs = usageNeeds([...chargesOf(terms, window, billed), ...late.map(({ charge }) => charge)])
    const id = `invoice${closed.length}`
    const invoice = priceInvoice(inputs, {
      terms,
      window,
      ...funds?.payers(id, window),
      billed: new Set(billed),
      usage: new Map(needs.map(need => [need.key, usageIn(story, need, window.cutoffAt)])),
      late,
      refunds: refundsIn(window, refundTimes(inputs), ahead),
      finalizedAt: window.cutoffAt,
    })
    keys.add(keyOfWindow(window))
    closed.push({ window, invoice })
    funds?.closed(id, { window, invoice })
    for (const key of invoice.advanceCharges) billed.add(key)
    ahead.push(
      ...advanceChargesOf(invoice, id).filter(each => !(each.excludingTax.eq('0') && each.includingTax.eq('0'))),
    )
    const figures = { positions: [], customer_keys: [], names_hash: null, charges: invoice.counted }
    counted.push({ invoice_id: id, subscription_id: 'subscription', ...figures })
  }
}

/** The next invoice to close and what is known then: what happens before it closes may move or remove it. */
function nextWindow(story: Story, keys: ReadonlySet<string>, from: number) {
  let moment = from
  for (;;) {
    const known = knownAt(story, moment, PRODUCT_RULES)
    const window = firstOpen(inputsOf(story, known), keys)
    const until = window === null ? Number.POSITIVE_INFINITY : Math.max(window.cutoffAt, from)
    const action = story.actions.find(({ at: time }) => time > moment && time <= until)
    if (action) {
      moment = action.at
      continue
    }
    if (window === null || window.cutoffAt > story.start + YEAR_DAYS * DAY) return null
    return { window, known: knownAt(story, until, PRODUCT_RULES) }
  }
}

function firstOpen(inputs: BillingInputs, keys: ReadonlySet<string>): InvoiceWindow | null {
  for (const window of invoiceWindows(inputs)) {
    if (!keys.has(keyOfWindow(window))) return window
  }
  return null
}

/** Every need is for the one meter: what has arrived by then of what was used in its time. */
function usageIn({ usage }: Story, { interval }: UsageNeed, cutoff: Instant) {
  const quantities = usage
    .filter(({ time }) => interval.start <= time && time < interval.end)
    .flatMap(({ versions }) => versions.findLast(({ arrives }) => arrives <= cutoff)?.quantity ?? [])
  if (quantities.length === 0) return []
  return plainUsage(String(quantities.reduce((sum, quantity) => sum + quantity, 0)), quantities.length)
}

const euro = (amount: number, places: number) => ({
  quantity: plain(decimal(`${amount}e-${places}`)),
  currency: 'EUR',
})
const timeText = (moment: number): string => formatInstant(instantOf(moment))

function inputsOf(story: Story, { phases, cancel, pauses, seats }: Known): BillingInputs {
  const prices = story.plans.flatMap(({ prices: own }) => own)
  const base = exampleInputs({ start: timeText(story.start), items: [] })
  const [product] = exampleInputs({ start: timeText(story.start), items: [{ bands: [] }] }).product_items
  if (!product) throw new Error('an example has an item')
  const MODELS = { FEE: 'RECURRING', SEATS: 'PER_SEAT', USAGE: 'USAGE_BASED', ONCE: 'ONE_OFF' } as const
  const product_items = prices.map(({ id, kind }) => ({
    ...product,
    id: `item ${id}`,
    model_type: MODELS[kind],
    meter_value_calculation_id: kind === 'USAGE' ? 'calc' : null,
  }))
  return {
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
    pricings: story.plans.map(plan => ({
      id: `pricing ${plan.id}`,
      pricing_plan_version_id: plan.id,
      name: plan.id,
      display_order: null,
      items: plan.prices.map(price => ({
        id: `priced ${price.id}`,
        product_item_ids: [`item ${price.id}`],
        configs: [configOf(price)],
      })),
    })),
    product_items,
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
}

function bandsOf({ kind, amount, above }: Price) {
  const price = kind === 'FEE' ? { fixed_amount: euro(amount, 4) } : { amount: euro(amount, 4) }
  return above
    ? [{ ...price, tier_top_bound: { number: String(above.quantity) } }, { amount: euro(above.amount, 4) }]
    : [price]
}

export function configOf(price: Price): ConfigInput {
  const { id, kind, above, inAdvance, billing, pricing } = price
  return {
    id,
    pricing_type: above ? 'TIERED' : kind === 'FEE' ? 'FIXED' : 'FLAT',
    bands: bandsOf(price),
    billing_in_advance: inAdvance,
    ...(billing ? { billing_period: billing } : {}),
    ...(pricing ? { pricing_period: pricing } : {}),
  }
}

const scheduleOf = (phase: Phase): ScheduleInput => ({
  id: phase.id,
  pricing_plan_id: 'plan',
  pricing_plan_version_id: phase.plan.id,
  start_at: timeText(phase.start),
  end_at: phase.end === null ? null : timeText(phase.end),
  pricing_currency: 'EUR',
  billing_period: null,
  ...termsOf(phase, { pricing: plan => `pricing ${plan}`, item: price => `priced ${price}`, config: price => price }),
  ...(phase.deal.coupons.length === 0 ? {} : { coupons: phase.deal.coupons.map(couponOf) }),
  ...(phase.refund ? { refund_advance_charges: true as const } : {}),
  ...(phase.trial ? { trial: true as const } : {}),
  ...(phase.realign ? { realign: true } : {}),
})

/** What a coupon takes off, and for how long. */
export const givenBy = ({ percentage, cents, lasts }: Coupon) => ({
  discount:
    percentage === null
      ? { type: 'AMOUNT' as const, amount: euro(cents, 2) }
      : { type: 'PERCENTAGE' as const, percentage: String(percentage) },
  duration: typeof lasts === 'string' ? { type: lasts } : { type: 'PERIOD' as const, period: lasts },
})

const couponOf = (coupon: Coupon): AppliedCoupon => ({
  coupon_id: coupon.id,
  coupon_name: coupon.id,
  promotion_code_id: null,
  promotion_code: null,
  ...givenBy(coupon),
  meter_value_reference: null,
  limited_to: coupon.price === null ? null : { product_item_ids: [`item ${coupon.price}`] },
  start_at: null,
})

/** The ids of a plan's pricing, of a price's item in it and of its config. */
export type PriceIds = {
  readonly pricing: (plan: string) => string
  readonly item: (price: string) => string
  readonly config: (price: string) => string
}

/** What a schedule says of its prices besides its plan: discounts, minimums, other amounts and what it includes. */
export function termsOf({ plan, deal, start, end }: Phase, ids: PriceIds) {
  const own = plan.prices.filter(price => deal.amounts.has(price.id))
  const included = deal.included.filter(
    entry =>
      plan.prices.some(price => price.id === entry.price && price.kind === 'USAGE') &&
      (entry.end === null || entry.end > start) &&
      (end === null || entry.start < end),
  )
  const discounts = plan.prices.flatMap(price =>
    price.discount === null ? [] : [{ ids: [ids.config(price.id)], percentage: String(price.discount) }],
  )
  const commitment = minimumsOf(plan, ids)
  return {
    discount: discounts.length === 0 ? null : { pricing_item_configs: discounts },
    ...(Object.keys(commitment).length === 0 ? {} : { commitment }),
    ...(own.length === 0
      ? {}
      : {
          override_pricings: [
            {
              original_pricing_id: ids.pricing(plan.id),
              override: 'SPECIFIC' as const,
              items: own.map(price => ({
                original_pricing_item_id: ids.item(price.id),
                override: 'SPECIFIC' as const,
                configs: [{ original_pricing_item_config_id: ids.config(price.id), bands: bandsOf(price) }],
              })),
            },
          ],
        }),
    ...(included.length === 0
      ? {}
      : {
          included_volumes: included.map(entry => ({
            pricing_item_config_id: ids.config(entry.price),
            number: String(entry.quantity),
            start_at: timeText(Math.max(entry.start, start)),
            ...(entry.end === null ? {} : { end_at: timeText(entry.end) }),
          })),
        }),
  }
}

/** The minimums of a plan's prices, by what they are of. */
function minimumsOf(plan: Plan, ids: PriceIds) {
  const found: Partial<Record<Scope, { ids: string[]; amount: ReturnType<typeof euro> }[]>> = {}
  const add = (scope: Scope, id: string, cents: number) => {
    found[scope] = [...(found[scope] ?? []), { ids: [id], amount: euro(cents, 2) }]
  }
  for (const { id, minimum, second } of plan.prices) {
    if (minimum !== null) add('pricing_item_configs', ids.config(id), minimum)
    if (second?.scope === 'pricing_item_configs') add(second.scope, ids.config(id), second.cents)
    if (second?.scope === 'pricings') add(second.scope, ids.pricing(plan.id), second.cents)
  }
  return found
}

/** A line in the form in which both sides are compared: kind, price or coupon, schedule, time and cents. */
export type YearLine = {
  readonly kind: string
  readonly price: string
  readonly phase: string
  readonly start: number
  readonly end: number
  readonly cents: number
}

/** The lines of an invoice that are not zero. */
export const linesOfYear = ({ invoice }: Closed): YearLine[] =>
  invoice.lines.flatMap(line => {
    const cents = Number(plain(decimal(line.amount_excluding_tax).times('100')))
    if (cents === 0) return []
    const phase = line.pricing_plan_schedule_id ?? ''
    const coupon = couponNamed(line.source)
    if (coupon !== null) return [{ kind: 'COUPON', price: coupon, phase, start: 0, end: 0, cents }]
    const kind = line.source['refund_of_invoice_id'] === undefined ? line.kind : 'REFUND'
    const start = line.service_start === null ? 0 : at(line.service_start)
    const end = line.service_end === null ? 0 : at(line.service_end)
    return [{ kind, price: line.pricing_item_config_id ?? '', phase, start, end, cents }]
  })

/** The id of the coupon that made a line; null for any other line. */
export const couponNamed = ({ clause }: Readonly<Record<string, unknown>>): string | null =>
  /^\S+ coupon_discount\.\w+\.(\S+)$/.exec(String(clause ?? ''))?.[1] ?? null
