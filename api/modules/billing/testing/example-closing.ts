// Invoices for tests that are closed one after the other, while events keep arriving.
import { type Decimal, decimal, max, min, sum, ZERO } from '../../../../shared/decimal.ts'
import type { Interval } from '../../../../shared/time.ts'
import type { LineView } from '../../invoices/schema.ts'
import { chargesOf } from '../charges/charges.ts'
import type { ClosedUsage } from '../late/closed-usage.ts'
import { type LateCharge, lateCharge, lateUnits, termOf } from '../late/late-usage.ts'
import { type PricedInvoice, priceInvoice } from '../pricing/price-invoice.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { activeSpan, invoiceWindows } from '../terms/windows.ts'
import { type CustomerFigure, type UsageFigure, type UsageNeed, usageNeeds } from '../usage/usage-needs.ts'

const DAY_MS = 86_400_000

/**
 * An event: the day of the subscription, its quantity, the number of invoices closed before it arrives, and its
 * customer.
 */
export type Arrival = {
  readonly day: number
  readonly quantity: string
  readonly after: number
  readonly customerId?: string
  /** The currency of a money value; EUR when absent. */
  readonly currency?: string
}

/**
 * The first `invoices` that collect usage, each in turn computed and closed with what has arrived so far. `first` is
 * the index of the first of them.
 */
export function closeInTurn(
  inputs: BillingInputs,
  arrivals: readonly Arrival[],
  invoices: number,
  first?: PricedInvoice,
): PricedInvoice[] {
  const start = activeSpan(inputs)?.start ?? 0
  const terms = resolveTerms(inputs)
  const shared = inputs.subscription.display_invoice_sub_lines_per_processing_only_customer
  const closed: ClosedUsage[] = []
  const priced: PricedInvoice[] = []
  for (const window of invoiceWindows(inputs)) {
    if (closed.length >= invoices) break
    if (window.arrears === null) continue
    const late = lateUnits(closed).flatMap((unit): LateCharge[] => {
      const term = termOf(terms, unit)
      return term ? [lateCharge(term, unit, String(window.cutoffAt))] : []
    })
    const needs = usageNeeds([...chargesOf(terms, window, new Set()), ...late.map(({ charge }) => charge)])
    const during = ({ start: from, end }: Interval): Arrival[] =>
      arrivals.filter(({ day, after }) => {
        const time = start + day * DAY_MS
        return after <= closed.length && from <= time && time < end
      })
    const usage = new Map(needs.map(need => [need.key, figuresOf(need, during(need.interval))]))
    const usageByCustomer = new Map(needs.map(need => [need.key, byCustomer(need, during(need.interval))]))
    const request = { terms, window, billed: new Set<string>(), usage, late, finalizedAt: null }
    const computed = priceInvoice(inputs, { ...request, usageByCustomer: shared ? usageByCustomer : null })
    const one = closed.length === 0 && first ? first : computed
    priced.push(one)
    const counted = { positions: [], customer_keys: [], names_hash: null, charges: one.counted }
    closed.push({ invoice_id: `invoice${closed.length}`, subscription_id: 'subscription', ...counted })
  }
  return priced
}

/** The usage figure of some of the events. */
export function quantityOf(type: string, arrivals: readonly Pick<Arrival, 'quantity'>[]): Decimal {
  const [first = ZERO, ...others] = arrivals.map(({ quantity }) => decimal(quantity))
  if (type === 'MAX') return others.reduce(max, first)
  if (type === 'MIN') return others.reduce(min, first)
  return sum([first, ...others])
}

function figuresOf({ calculation }: UsageNeed, arrivals: readonly Arrival[]): UsageFigure[] {
  const currencyOf = ({ currency = 'EUR' }: Arrival): string | null =>
    calculation.value_type === 'AMOUNT' ? currency : null
  return [...new Set(arrivals.map(currencyOf))].map(currency => {
    const own = arrivals.filter(arrival => currencyOf(arrival) === currency)
    return { currency, number: quantityOf(calculation.calculation_type, own), count: own.length }
  })
}

function byCustomer(need: UsageNeed, arrivals: readonly Arrival[]): CustomerFigure[] {
  const ids = [...new Set(arrivals.map(({ customerId }) => customerId ?? 'customer'))]
  return ids.flatMap(customerId => {
    const own = arrivals.filter(arrival => (arrival.customerId ?? 'customer') === customerId)
    return figuresOf(need, own).map(figure => ({ ...figure, customerId, weight: figure.number }))
  })
}

export const linesIn = ({ columns }: PricedInvoice): LineView[] =>
  columns.content.periods.flatMap(period => period.groups.flatMap(group => group.lines))
