// What earlier invoices charged ahead, with the coupons that were limited to it there: discounts lower what counts towards
// a commitment, also on a later invoice. Pure.
import type { Clauses } from '../../../../shared/billing/steps/clauses.ts'
import type { AppliedCoupon } from '../../subscriptions/coupons/schema.ts'
import type { Charge } from '../charges/charge.ts'
import { chargesOf } from '../charges/charges.ts'
import { textsOf } from '../charges/paid-parts.ts'
import {
  applicableCoupons,
  chargesInAdvance,
  couponDiscounts,
  isLimitedTo,
  isOnceForThings,
  onceEach,
  schedulesWith,
} from '../rating/coupon-clauses.ts'
import type { ExchangeOf } from '../rating/exchange.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { isMetered, type PriceTerm } from '../terms/price-terms.ts'
import { type InvoiceWindow, invoiceWindows } from '../terms/windows.ts'
import type { PastRules } from './past-rules.ts'

/** Charges of one earlier invoice, and the clauses that it had for them. */
export type EarlierInvoice = {
  /** Those that were paid ahead. */
  readonly paid: readonly Charge[]
  /** The others that its coupons were divided over. */
  readonly beside: readonly Charge[]
  readonly clauses: Clauses
}

type Of = {
  readonly terms: readonly PriceTerm[]
  /** The invoice that is priced now. */
  readonly window: InvoiceWindow
  /** What other invoices than this one bill ahead. */
  readonly billed: ReadonlySet<string>
  readonly clauses: Clauses
  readonly exchangeOf: ExchangeOf
  readonly rules: PastRules | null
}

/** What was paid ahead by the invoice that charged it. Coupons count where what they took follows from prices alone. */
export function earlierInvoices(inputs: BillingInputs, paid: readonly Charge[], of: Of): EarlierInvoice[] {
  const { terms, window, clauses } = of
  const without = (charges: readonly Charge[]) => (charges.length === 0 ? [] : [{ paid: charges, beside: [], clauses }])
  const isAny = inputs.schedules.some(({ coupons = [] }) => coupons.some(each => each.limited_to !== null))
  if (!isAny || paid.length === 0) return without(paid)
  const found: EarlierInvoice[] = []
  const billed = new Set<string>()
  let rest = paid
  for (const earlier of invoiceWindows(inputs)) {
    if (earlier.cutoffAt >= window.cutoffAt || rest.length === 0) break
    const charges = chargesOf(terms, earlier, new Set(billed))
    const ahead = new Set(charges.flatMap(({ key, inAdvance }) => (inAdvance ? [key] : [])))
    const own = rest.filter(({ key }) => ahead.has(key))
    if (own.length > 0)
      found.push({ ...invoiceOf(inputs, { window: earlier, charges, billed: new Set(billed) }, of), paid: own })
    rest = rest.filter(({ key }) => !ahead.has(key))
    for (const key of ahead) for (const text of [key, ...textsOf(key, of.billed)]) billed.add(text)
  }
  return [...found.map(each => ({ ...each, beside: withoutPaid(each) })), ...without(rest)]
}

const withoutPaid = ({ paid, beside }: EarlierInvoice): Charge[] =>
  beside.filter(({ key }) => !paid.some(each => each.key === key))

type Invoice = {
  readonly window: InvoiceWindow
  readonly charges: readonly Charge[]
  readonly billed: ReadonlySet<string>
}

function invoiceOf(inputs: BillingInputs, { window, charges, billed }: Invoice, of: Of): Omit<EarlierInvoice, 'paid'> {
  const { terms, clauses, exchangeOf, rules } = of
  const isInAdvance = chargesInAdvance(charges)
  const coupons = applicableCoupons(inputs, { terms, window, billed, isInAdvance }).filter(
    each => each.coupon.limited_to !== null && !dependsOnUsage(each.coupon, schedulesWith(inputs, each), charges),
  )
  const counting = onceEach(coupons, { charges, rules })
  const discounts = [...clauses.discounts, ...couponDiscounts(counting, { terms, exchangeOf, rules })]
  return { beside: charges.filter(charge => !isMetered(charge)), clauses: { ...clauses, discounts } }
}

/** An amount that is divided over usage too: how much of it was for the fees is not known from prices alone. */
const dependsOnUsage = (coupon: AppliedCoupon, having: ReadonlySet<string>, charges: readonly Charge[]): boolean =>
  isOnceForThings(coupon) &&
  charges.some(charge => isMetered(charge) && having.has(charge.schedule.id) && isLimitedTo(coupon, charge))
