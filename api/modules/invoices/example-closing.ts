// Invoices for tests that are closed one after the other, while events keep coming.
import { type Decimal, decimal, plain, sum } from '../../../shared/decimal.ts'
import type { Interval } from '../../../shared/time.ts'
import type { BillingInputs } from './billing-inputs.ts'
import { type PricedInvoice, priceInvoice } from './build-invoice.ts'
import { chargesOf, positionsOf } from './charges.ts'
import type { ClosedUsage } from './closed-usage.ts'
import { plainUsage } from './example-inputs.ts'
import { type LateCharge, lateCharge, lateUnits, positionOf } from './late-usage.ts'
import type { LineView } from './schema.ts'
import { type CustomerFigure, usageNeeds } from './usage-needs.ts'
import { activeSpan, invoiceWindows } from './windows.ts'

const DAY_MS = 86_400_000

/** An event: on which day of the subscription, how much, after how many closed invoices it comes, and whose it is. */
export type Arrival = {
  readonly day: number
  readonly quantity: string
  readonly after: number
  readonly customerId?: string
}

/**
 * The first `invoices` that collect usage, each in turn computed and closed with what has come so far. `first` stands for the
 * first of them.
 */
export function closeInTurn(
  inputs: BillingInputs,
  arrivals: readonly Arrival[],
  invoices: number,
  first?: PricedInvoice,
): PricedInvoice[] {
  const start = activeSpan(inputs)?.start ?? 0
  const shared = inputs.subscription.display_invoice_sub_lines_per_processing_only_customer
  const closed: ClosedUsage[] = []
  const priced: PricedInvoice[] = []
  for (const window of invoiceWindows(inputs)) {
    if (closed.length >= invoices) break
    if (window.arrears === null) continue
    const late = lateUnits(closed).flatMap((unit): LateCharge[] => {
      const position = positionOf(positionsOf(inputs), unit)
      return position ? [lateCharge(position, unit, String(window.cutAt))] : []
    })
    const needs = usageNeeds([...chargesOf(inputs, window, new Set()), ...late.map(({ charge }) => charge)])
    const during = ({ start: from, end }: Interval): Arrival[] =>
      arrivals.filter(({ day, after }) => {
        const time = start + day * DAY_MS
        return after <= closed.length && from <= time && time < end
      })
    const usage = new Map(needs.map(({ key, interval }) => [key, totalOf(during(interval))]))
    const usageByCustomer = new Map(needs.map(({ key, interval }) => [key, byCustomer(during(interval))]))
    const request = { window, billed: new Set<string>(), usage, late, finalisedAt: null }
    const computed = priceInvoice(inputs, { ...request, usageByCustomer: shared ? usageByCustomer : null })
    const one = closed.length === 0 && first ? first : computed
    priced.push(one)
    const counted = { positions: [], customer_keys: [], names_hash: null, charges: one.counted }
    closed.push({ invoice_id: `invoice${closed.length}`, subscription_id: 'subscription', ...counted })
  }
  return priced
}

const quantityOf = (arrivals: readonly Arrival[]): Decimal => sum(arrivals.map(({ quantity }) => decimal(quantity)))
const totalOf = (arrivals: readonly Arrival[]) => plainUsage(plain(quantityOf(arrivals)), arrivals.length)

function byCustomer(arrivals: readonly Arrival[]): CustomerFigure[] {
  const ids = [...new Set(arrivals.map(({ customerId }) => customerId ?? 'customer'))]
  return ids.map(customerId => {
    const own = arrivals.filter(arrival => (arrival.customerId ?? 'customer') === customerId)
    const number = quantityOf(own)
    return { customerId, currency: null, number, weight: number, count: own.length }
  })
}

export const linesIn = ({ built }: PricedInvoice): LineView[] =>
  built.content.periods.flatMap(period => period.groups.flatMap(group => group.lines))
