// What an invoice asks for: one charge for each price configuration and each period of it that falls on the invoice.
import {
  type BillingPeriod,
  billingPeriodAt,
  billingPeriods,
  type PeriodLength,
  type Span,
} from '../../../shared/billing/periods.ts'
import type { ToldState } from '../../../shared/billing/told-state.ts'
import { usageInterval } from '../../../shared/billing/usage-interval.ts'
import { decimal } from '../../../shared/decimal.ts'
import { AppError } from '../../../shared/errors.ts'
import { contains, formatInstant, type Instant, type Interval, instantOf, interval } from '../../../shared/time.ts'
import type { UsageCondition } from '../../../shared/usage/condition.ts'
import { type ConditionNames, configConditions } from '../conditions/config-conditions.ts'
import { conditionNamesOf } from '../conditions/load-names.ts'
import type {
  BillingInputs,
  CalculationInput,
  CategoryInput,
  ConfigInput,
  ItemInput,
  PlanInput,
  PricingInput,
  ProductInput,
  ProductItemInput,
  ScheduleInput,
} from './billing-inputs.ts'
import { activeSpan, advanceScan, at, gridOf, type InvoiceWindow } from './windows.ts'

/** A price configuration with everything around it, resolved. */
export type Position = {
  readonly schedule: ScheduleInput
  readonly plan: PlanInput
  readonly pricing: PricingInput
  readonly item: ItemInput
  readonly config: ConfigInput
  readonly productItem: ProductItemInput
  readonly product: ProductInput
  readonly category: CategoryInput | null
  /** Null for an item that is not metered. */
  readonly calculation: CalculationInput | null
  /** Which usage the configuration rates; null for all of the calculation's meter. */
  readonly condition: UsageCondition | null
  /** States that were told of the configuration, in the order of time: usage that is counted from there is on top of them. */
  readonly told: readonly ToldState[]
}

export type Charge = Position & {
  /** The same for the same charge whenever it is computed; two charges of an invoice never share one. */
  readonly key: string
  readonly billingPeriod: PeriodLength
  readonly pricingPeriod: PeriodLength
  /** The billing period of the configuration the charge belongs to. */
  readonly period: BillingPeriod
  /** The service it pays for: the covered part, or one pricing period of it. */
  readonly service: Interval
  /** Usage that is rated; wider than the service when a pricing period is wider than the billing period. Null when not metered. */
  readonly usage: Interval | null
  /** The part of `usage` earlier invoices have charged; null when there is none. */
  readonly charged: Interval | null
  readonly inAdvance: boolean
  /** The same for the charges of one pricing period, which earlier ones of them are taken off from. */
  readonly unit: string
  /** Of usage that came after the invoice for it was closed: that invoice, and what conditions named for it. */
  readonly late: { readonly invoiceId: string; readonly namesHash: string | null } | null
}

/** The price lists of the inputs, each once, in the order of the invoice. */
export function positionsOf(inputs: BillingInputs): Position[] {
  const names = conditionNamesOf(inputs.condition_names)
  return inputs.schedules.flatMap(schedule =>
    inputs.pricings
      .filter(pricing => pricing.pricing_plan_version_id === schedule.pricing_plan_version_id)
      .toSorted((a, b) => byOrder(a, b) || byText(a.name, b.name) || byText(a.id, b.id))
      .flatMap(pricing => positionsOfPricing(inputs, names, { schedule, pricing })),
  )
}

function positionsOfPricing(
  inputs: BillingInputs,
  names: ConditionNames,
  { schedule, pricing }: { readonly schedule: ScheduleInput; readonly pricing: PricingInput },
): Position[] {
  const plan = find(inputs.plans, schedule.pricing_plan_id)
  const positions = pricing.items.flatMap(item =>
    item.product_item_ids.flatMap(id => {
      const productItem = find(inputs.product_items, id)
      const product = find(inputs.products, productItem.product_id)
      const category = product.category_id === null ? null : find(inputs.product_categories, product.category_id)
      const calculationId = productItem.meter_value_calculation_id
      const calculation = calculationId === null ? null : find(inputs.calculations, calculationId)
      const conditions = configConditions(productItem.usage_based?.conditions ?? null, item.configs, names)
      const shared = { schedule, plan, pricing, item, productItem, product, category, calculation }
      return item.configs.map(
        (config): Position => ({
          ...shared,
          config,
          condition: conditions.get(config.id) ?? null,
          told: toldOf(inputs, schedule, config),
        }),
      )
    }),
  )
  return positions.toSorted(
    (a, b) =>
      (a.category?.display_order ?? LAST) - (b.category?.display_order ?? LAST) ||
      byText(a.category?.id ?? '', b.category?.id ?? '') ||
      byOrder(a.item, b.item) ||
      byOrder(a.productItem, b.productItem) ||
      // Whatever is still equal keeps the order the pricing gives it.
      (a.config.order ?? LAST) - (b.config.order ?? LAST),
  )
}

const toldOf = ({ told_states }: BillingInputs, schedule: ScheduleInput, config: ConfigInput): ToldState[] =>
  told_states
    .filter(each => each.schedule_id === schedule.id && each.config_id === config.id)
    .map(({ id, start_at, persist_usage }) => ({ id, at: at(start_at), usage: decimal(persist_usage) }))

const LAST = Number.MAX_SAFE_INTEGER
const byOrder = (a: { display_order?: number | null }, b: { display_order?: number | null }): number =>
  (a.display_order ?? LAST) - (b.display_order ?? LAST)
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function find<T extends { readonly id: string }>(list: readonly T[], id: string): T {
  const found = list.find(entry => entry.id === id)
  if (!found) throw new Error(`the inputs lack ${id}`)
  return found
}

/**
 * The charges of one invoice. `billed` are the keys of advance charges that other invoices of the subscription ask, so
 * that one which came late (a schedule added to the running period) is asked once, on the next invoice.
 */
export function chargesOf(inputs: BillingInputs, window: InvoiceWindow, billed: ReadonlySet<string>): Charge[] {
  const span = activeSpan(inputs)
  if (!span) return []
  return positionsOf(inputs).flatMap(position => chargesOfPosition(inputs, { window, billed, span, position }))
}

type Scope = {
  readonly window: InvoiceWindow
  readonly billed: ReadonlySet<string>
  readonly span: Span
  readonly position: Position
}

function chargesOfPosition(inputs: BillingInputs, { window, billed, span, position }: Scope): Charge[] {
  const terms = termsOf(inputs, position, span)
  if (!terms || position.config.pricing_type === 'NONE') return []
  const { own, billingPeriod, inAdvance } = terms
  const until = window.advance?.end ?? window.cutAt
  const charges: Charge[] = []
  for (const period of billingPeriods(gridOf(inputs, span, billingPeriod), own)) {
    if (period.covered.start >= until) break
    if (!belongs(window, period.covered, inAdvance)) continue
    const context = { inputs, span, position, period, ...terms }
    charges.push(...chargesOfPeriod(context).filter(charge => !inAdvance || !billed.has(charge.key)))
  }
  return charges
}

type Terms = {
  /** The schedule's own time. */
  readonly own: Span
  readonly billingPeriod: PeriodLength
  readonly inAdvance: boolean
}

/** Null when nothing of the schedule is left. */
function termsOf(inputs: BillingInputs, { schedule, config }: Position, span: Span): Terms | null {
  const own = clip({ start: at(schedule.start_at), end: schedule.end_at === null ? null : at(schedule.end_at) }, span)
  if (!own) return null
  const billingPeriod = config.billing_period ?? schedule.billing_period ?? inputs.subscription.billing_period
  return { own, billingPeriod, inAdvance: config.billing_in_advance === true }
}

/** The billing period of a price that has this instant; null when the price is not in force then. */
export function periodAt(inputs: BillingInputs, position: Position, instant: Instant): BillingPeriod | null {
  const span = activeSpan(inputs)
  const terms = span && termsOf(inputs, position, span)
  return terms ? billingPeriodAt(gridOf(inputs, span, terms.billingPeriod), terms.own, instant) : null
}

/** What a price asks for the usage of this instant, whichever invoice asks it; null when it asks nothing. */
export function chargeAt(inputs: BillingInputs, position: Position, instant: Instant): Charge | null {
  const span = activeSpan(inputs)
  const terms = span && termsOf(inputs, position, span)
  const period = periodAt(inputs, position, instant)
  if (!terms || !period || position.config.pricing_type === 'NONE') return null
  const charges = chargesOfPeriod({ inputs, span, position, period, ...terms })
  return charges.find(({ service }) => contains(service, instant)) ?? null
}

/** In advance: what starts in the scan. In arrears: what ends in the time collected. */
function belongs(window: InvoiceWindow, covered: Interval, inAdvance: boolean): boolean {
  if (inAdvance) return contains(advanceScan(window), covered.start)
  const { arrears } = window
  return arrears !== null && arrears.start < covered.end && covered.end <= arrears.end
}

function clip(own: Span, within: Span): Span | null {
  const start = instantOf(Math.max(own.start, within.start))
  const ends = [own.end, within.end].filter(end => end !== null)
  const end = ends.length === 0 ? null : instantOf(Math.min(...ends))
  return end !== null && end <= start ? null : { start, end }
}

type PeriodScope = Terms & {
  readonly inputs: BillingInputs
  readonly span: Span
  readonly position: Position
  readonly period: BillingPeriod
}

/** One charge for the period, or one for each pricing period in it when usage is rated over a span of its own. */
function chargesOfPeriod(scope: PeriodScope): Charge[] {
  const { inputs, span, own, position, billingPeriod, period, inAdvance } = scope
  const pricingPeriod = position.config.pricing_period ?? billingPeriod
  const charge = (
    service: Interval,
    usage: Interval | null,
    { charged = null, from = service.start }: { readonly charged?: Interval | null; readonly from?: Instant } = {},
  ): Charge => ({
    ...position,
    key: keyOf(position, service.start),
    unit: keyOf(position, from),
    late: null,
    billingPeriod,
    pricingPeriod,
    period,
    service,
    usage,
    charged,
    inAdvance,
  })
  if (!isMetered(position)) return [charge(period.covered, null)]
  if (inAdvance)
    throw new AppError('INVALID_OPERATION', 'Usage cannot be billed in advance.', { field: 'billing_in_advance' })
  const persist = position.calculation?.persist === true
  const usageOver = (time: Interval) => usageInterval(persist, own.start, time, position.told)
  if (position.config.pricing_type === 'FIXED') return [charge(period.covered, usageOver(period.covered))]
  const pieces = billingPeriods(gridOf(inputs, span, pricingPeriod), period.covered)
  return [...pieces].map(piece => {
    const from: Instant = instantOf(Math.max(piece.full.start, own.start))
    const over = (until: Instant) => usageOver(interval(from, until))
    // What was carried into the pricing period is charged in full once in it, however many invoices it is spread over.
    const charged = from < piece.covered.start ? over(piece.covered.start) : null
    return charge(piece.covered, over(piece.covered.end), { charged, from })
  })
}

export const isMetered = (position: Position): boolean => position.productItem.model_type === 'USAGE_BASED'

const keyOf = ({ schedule, item, config, productItem }: Position, start: Instant): string =>
  [schedule.id, item.id, config.id, productItem.id, formatInstant(start)].join(' ')
