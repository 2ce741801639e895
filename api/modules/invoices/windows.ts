// When a subscription is invoiced: which time each invoice collects, and which it asks in advance (semantics 5.3).
import {
  type BillingPeriod,
  billingPeriods,
  type PeriodGrid,
  type Span,
  type Zone,
  zoneOf,
} from '../../../shared/billing/periods.ts'
import { type Instant, type Interval, instantOf, interval, parseInstant } from '../../../shared/time.ts'
import type { BillingInputs, ScheduleInput, SubscriptionInput } from './billing-inputs.ts'

type Zoned = { readonly timezone: string | null }
/** What of the inputs says whose days are days. */
export type ZoneInputs = { readonly customer: Zoned; readonly billing_entity: Zoned; readonly platform: Zoned }
/** What of the inputs says when the subscription is billed. */
export type PeriodInputs = ZoneInputs & {
  readonly subscription: Pick<SubscriptionInput, 'billing_period' | 'billing_time' | 'inactive_periods'>
  readonly schedules: readonly Pick<ScheduleInput, 'start_at' | 'end_at'>[]
}

export type InvoiceWindow = {
  /** `[T−p, T)`, collected until the cut T; null on the first invoice, which asks advance charges alone. */
  readonly arrears: Interval | null
  /** `[T, T+p)`, paid ahead; null when the subscription ends at the cut. */
  readonly advance: Interval | null
  readonly cutAt: Instant
  /** From when the invoice exists. */
  readonly opensAt: Instant
}

/** The time an invoice is for: what it collects, or pays ahead when it collects nothing. */
export function periodOf({ arrears, advance }: InvoiceWindow): Interval {
  const period = arrears ?? advance
  if (!period) throw new Error('an invoice is for some time')
  return period
}

/** An instant from a stored time. Throws when it is none: a stored time always is. */
export function at(text: string): Instant {
  const instant = parseInstant(text)
  if (instant === null) throw new Error(`not a time: ${text}`)
  return instant
}

/** The zone days are cut in: customer → billing entity → platform → UTC (semantics 0.4). */
export function zoneOfInputs({ customer, billing_entity, platform }: ZoneInputs): Zone {
  for (const name of [customer.timezone, billing_entity.timezone, platform.timezone, 'UTC']) {
    const zone = name === null ? null : zoneOf(name)
    if (zone !== null) return zone
  }
  throw new Error('UTC is a zone')
}

/** From the first schedule's start to the last one's end or to the cancellation; null when nothing is left. */
export function activeSpan({ schedules, subscription }: PeriodInputs): Span | null {
  const [first] = schedules
  const last = schedules.at(-1)
  if (!first || !last) return null
  const ends = [
    ...(last.end_at === null ? [] : [last.end_at]),
    ...subscription.inactive_periods.map(period => period.start_at),
  ]
  const end = ends.length === 0 ? null : instantOf(Math.min(...ends.map(at)))
  const start = at(first.start_at)
  return end !== null && end <= start ? null : { start, end }
}

/** How the subscription, or a part of it with a period of its own, is cut. EXACT counts from the subscription's start. */
export const gridOf = (inputs: PeriodInputs, span: Span, length = inputs.subscription.billing_period): PeriodGrid => ({
  length,
  billingTime: inputs.subscription.billing_time,
  zone: zoneOfInputs(inputs),
  anchor: span.start,
})

/** Every invoice of the subscription in order, lazily; without an end they run on to the year 2200. */
export function* invoiceWindows(inputs: BillingInputs): Generator<InvoiceWindow, void, undefined> {
  const span = activeSpan(inputs)
  if (!span) return
  let current: BillingPeriod | null = null
  for (const next of billingPeriods(gridOf(inputs, span), span)) {
    const opensAt: Instant = current?.covered.start ?? next.covered.start
    yield { arrears: current?.covered ?? null, advance: next.covered, cutAt: next.covered.start, opensAt }
    current = next
  }
  if (current)
    yield { arrears: current.covered, advance: null, cutAt: current.covered.end, opensAt: current.covered.start }
}

/** The time whose advance charges an invoice asks: what starts in it, and what earlier invoices left out. */
export function advanceScan(window: InvoiceWindow): Interval {
  const start = window.arrears?.start ?? window.cutAt
  return interval(start, window.advance?.end ?? window.cutAt)
}
