// A schedule that ends with refunds before something begins that was charged ahead for later days of the period.
import { expect, test } from 'vitest'
import { priceInvoice } from '../pricing/price-invoice.ts'
import type { BillingInputs, ScheduleInput } from '../terms/billing-inputs.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { eur, exampleInputs, recurring } from '../testing/example-inputs.ts'
import { advanceChargesOf } from './advance-charges.ts'
import { refundsIn, refundTimes } from './refunds.ts'

const [APRIL, ENDS, BEGINS] = ['2026-04-01T00:00:00Z', '2026-04-11T00:00:00Z', '2026-04-21T00:00:00Z']

/** A fee of 30.00 ahead, and what is sold from 21 April on. */
function inputsOf(later: { schedule: Partial<ScheduleInput>; pricing: object }, end: Partial<ScheduleInput>) {
  const inputs = exampleInputs({ start: APRIL, items: [recurring('30', { billing_in_advance: true })] })
  const [[schedule], [pricing]] = [inputs.schedules, inputs.pricings]
  if (!schedule || !pricing) throw new Error('an example has both')
  const items = pricing.items.map(item => ({
    ...item,
    id: 'later item',
    configs: item.configs.map(config => ({ ...config, id: 'later', bands: [{ fixed_amount: eur('60') }] })),
  }))
  const first = { ...schedule, ...later.schedule, ...end }
  // The next plan sells nothing here.
  const next = { ...schedule, id: 'next', pricing_plan_version_id: 'other', start_at: ENDS }
  return {
    ...inputs,
    schedules: end.end_at ? [first, next] : [first],
    pricings: [pricing, { ...pricing, id: 'later pricing', items, ...later.pricing }],
  }
}

/** The refunds of the invoice for April, which the schedule did not reach the end of. */
function refundsOf(before: BillingInputs, after: BillingInputs): string[] {
  const [opening] = invoiceWindows(before)
  const last = [...invoiceWindows(after)].find(({ arrears }) => arrears !== null)
  if (!opening || !last) throw new Error('there are two')
  const asked = { billed: new Set<string>(), usage: new Map(), finalizedAt: null }
  const first = priceInvoice(before, { ...asked, terms: resolveTerms(before), window: opening })
  const { lines } = priceInvoice(after, {
    ...asked,
    terms: resolveTerms(after),
    window: last,
    billed: new Set(first.advanceCharges),
    refunds: refundsIn(last, refundTimes(after), advanceChargesOf(first, 'first')),
  })
  return lines.map(
    line => `${line.pricing_item_config_id} ${line.service_start?.slice(5, 10)} ${line.amount_excluding_tax}`,
  )
}

test.each([
  [
    'a version of its rate card',
    {
      schedule: {
        rate_card: [
          { pricing_plan_version_id: 'version', start_at: APRIL },
          { pricing_plan_version_id: 'second', start_at: BEGINS },
        ],
      },
      pricing: { pricing_plan_version_id: 'second' },
    },
    ['config0 04-11 -10', 'later 04-21 -20'],
  ],
  [
    'an ADDON',
    { schedule: { enabled_pricings: [{ pricing_id: 'later pricing', start_at: BEGINS }] }, pricing: { addon: true } },
    ['config0 04-11 -20', 'later 04-21 -20'],
  ],
])('the invoice refunds %s in full that was charged ahead and does not begin any more', (_name, later, expected) => {
  const ended = { end_at: ENDS, refund_advance_charges: true } as const
  expect(refundsOf(inputsOf(later, {}), inputsOf(later, ended)).toSorted()).toEqual(expected)
})
