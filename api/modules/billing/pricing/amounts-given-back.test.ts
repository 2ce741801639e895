// What the refund of a fee ahead gives back of an amount that is not on the fee alone.
import { expect, test } from 'vitest'
import { chargesOf } from '../charges/charges.ts'
import { advanceChargesOf } from '../refunds/advance-charges.ts'
import { refundsIn, refundTimes } from '../refunds/refunds.ts'
import type { ScheduleInput } from '../terms/billing-inputs.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { eur, exampleInputs, metered, plainUsage, recurring } from '../testing/example-inputs.ts'
import { usageNeeds } from '../usage/usage-needs.ts'
import { deductedIn } from './deducted.ts'
import { priceInvoice } from './price-invoice.ts'

const ONCE = { ...recurring('40'), item: { model_type: 'ONE_OFF' as const } }
const ITEMS = [metered([{ amount: eur('1') }]), recurring('100', { billing_in_advance: true }), ONCE]

/** The lines of the last invoice, for February, of a subscription that is cancelled in the middle of it: usage of 200, and the refund. */
function lastLines(discount: ScheduleInput['discount']): string[] {
  const inputsOf = (inactive_periods: { start_at: string; end_at: null; refund_advance_charges: true }[]) =>
    exampleInputs({
      start: '2026-02-01T00:00:00Z',
      items: ITEMS,
      subscription: { inactive_periods },
      schedules: [{ discount }],
    })
  const before = inputsOf([])
  const cancelled = inputsOf([{ start_at: '2026-02-15T00:00:00Z', end_at: null, refund_advance_charges: true }])
  const [opening] = invoiceWindows(before)
  const last = [...invoiceWindows(cancelled)].find(({ arrears }) => arrears !== null)
  if (!opening || !last) throw new Error('there are two')
  const asked = { billed: new Set<string>(), usage: new Map(), finalizedAt: null }
  const first = priceInvoice(before, { ...asked, terms: resolveTerms(before), window: opening })
  const billed = new Set(first.advanceCharges)
  const terms = resolveTerms(cancelled)
  const needs = usageNeeds(chargesOf(terms, last, billed))
  const { lines } = priceInvoice(cancelled, {
    ...asked,
    terms,
    window: last,
    billed,
    deducted: deductedIn('first', first.lines),
    refunds: refundsIn(last, refundTimes(cancelled), advanceChargesOf(first, 'first')),
    usage: new Map(needs.map(({ key }) => [key, plainUsage('200')])),
  })
  return lines.map(line => line.amount_excluding_tax)
}

const FEE = { ids: ['config1'], percentage: '10' }
const everything = (amount: string) => ({ ids: ['pricing'], amount: eur(amount) })

test('the refund of a fee gives back its part of an amount, and nothing of other discounts on the fee', () => {
  // 10.00 of the fee by its own discount. The 65.00 are 45.00 of its 90.00 and 20.00 of the 40.00: half of the 45.00 goes back.
  const lines = lastLines({ pricing_item_configs: [FEE], pricings: [everything('65')] })
  expect(lines.toSorted()).toEqual(['-22.5', '-22.5', '200'].toSorted())
})

test('of two amounts on a fee, its refund gives back the part of each', () => {
  // 20.00 of the fee, and then 60.00: 40.00 of its 80.00 and 20.00 of the 40.00. It was 40.00.
  const lines = lastLines({ product_items: [{ ids: ['item0', 'item1'], amount: eur('20') }], products: [PRODUCT] })
  expect(lines.toSorted()).toEqual(['-10', '-20', '-20', '200'].toSorted())
})
const PRODUCT = { ids: ['product'], amount: eur('60') }
