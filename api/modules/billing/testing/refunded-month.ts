// The last invoice of a subscription that is cancelled within its first month, with a refund of what was charged ahead.
import { chargesOf } from '../charges/charges.ts'
import { deductedIn } from '../pricing/deducted.ts'
import { priceInvoice } from '../pricing/price-invoice.ts'
import { advanceChargesOf } from '../refunds/advance-charges.ts'
import { type AdvanceCharge, refundsIn, refundTimes } from '../refunds/refunds.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { usageNeeds } from '../usage/usage-needs.ts'
import { type Example, exampleInputs, plainUsage } from './example-inputs.ts'

/** Of February, cancelled at the start of `day`: with usage of 200, and the refund of the charges that `isRefunded` takes. */
export function refundedMonth(
  example: Omit<Partial<Example>, 'subscription'>,
  day: string,
  isRefunded: (charged: AdvanceCharge) => boolean = () => true,
): ReturnType<typeof priceInvoice> {
  const inputsOf = (subscription: NonNullable<Example['subscription']>) =>
    exampleInputs({ start: '2026-02-01T00:00:00Z', items: [], ...example, subscription })
  const before = inputsOf({})
  const start_at = `2026-02-${day}T00:00:00Z`
  const cancelled = inputsOf({ inactive_periods: [{ start_at, end_at: null, refund_advance_charges: true }] })
  const [opening] = invoiceWindows(before)
  const last = [...invoiceWindows(cancelled)].find(({ arrears }) => arrears !== null)
  if (!opening || !last) throw new Error('there are two')
  const asked = { billed: new Set<string>(), usage: new Map(), finalizedAt: null }
  const first = priceInvoice(before, { ...asked, terms: resolveTerms(before), window: opening })
  const billed = new Set(first.advanceCharges)
  const terms = resolveTerms(cancelled)
  const needs = usageNeeds(chargesOf(terms, last, billed))
  return priceInvoice(cancelled, {
    ...asked,
    terms,
    window: last,
    billed,
    deducted: deductedIn('invoice0', first.lines),
    // Combined with others, its lines are on another invoice.
    refunds: refundsIn(last, refundTimes(cancelled), advanceChargesOf(first, 'combined').filter(isRefunded)),
    usage: new Map(needs.map(({ key }) => [key, plainUsage('200')])),
  })
}
