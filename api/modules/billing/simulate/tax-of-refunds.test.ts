// A simulated refund has the tax of the simulated fee, as a refund that is billed has that of its fee (semantics 5.5).
import { expect, test } from 'vitest'
import { pinnedRequest } from '../pinned/pinned.ts'
import type { InvoiceRequest } from '../pricing/invoice-request.ts'
import { type PricedInvoice, priceInvoice } from '../pricing/price-invoice.ts'
import { advanceChargesOf } from '../refunds/advance-charges.ts'
import { type Refund, refundsIn, refundTimes } from '../refunds/refunds.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { type InvoiceWindow, invoiceWindows } from '../terms/windows.ts'
import { type Example, exampleInputs, recurring } from '../testing/example-inputs.ts'
import type { Candidate } from './candidate.ts'
import { afterSimulated, nothingSimulated, planSimulated, priceSimulated } from './simulate-invoice.ts'

const START = '2026-04-01T00:00:00Z'
const ENDS = '2026-04-16T00:00:00Z'

/** A fee of 121.00 with tax, a month ahead. */
const inputsOf = (subscription: Example['subscription'] = {}): BillingInputs => ({
  ...exampleInputs({
    start: START,
    items: [recurring('121', { billing_in_advance: true })],
    amountType: 'INCLUDING_TAX',
    subscription,
  }),
})

/** Cancelled by a customer who has become exempt. */
function cancelled(): BillingInputs {
  const inputs = inputsOf({ inactive_periods: [{ start_at: ENDS, end_at: null, refund_advance_charges: true }] })
  const { customer } = inputs
  return { ...inputs, customer: { ...customer, organization: { ...customer.organization, tax_exempt: true } } }
}

const closed = (inputs: BillingInputs, place: number, request: InvoiceRequest) => ({
  ...{ inputs, request: pinnedRequest(request), invoiceId: `invoice${place}` },
  ...{ positions: [], customerKeys: [], namesHash: null },
})

/** The invoice of the fee and the one that refunds it, and both as simulated by a copy of the version. */
function invoices(refundsOf: (refunds: Refund[]) => Refund[]) {
  const [before, after] = [inputsOf(), cancelled()]
  const [opening] = invoiceWindows(before)
  const last = [...invoiceWindows(after)].find(({ arrears }) => arrears !== null)
  if (!opening || !last) throw new Error('there are two')
  const asked = (inputs: BillingInputs, window: InvoiceWindow): InvoiceRequest => ({
    ...{ window, terms: resolveTerms(inputs), usage: new Map(), finalizedAt: null },
    billed: new Set<string>(),
  })
  const first = asked(before, opening)
  const charged = priceInvoice(before, first)
  const ahead = advanceChargesOf(charged, 'invoice0')
  const second: InvoiceRequest = {
    ...asked(after, last),
    billed: new Set(charged.advanceCharges),
    refunds: refundsOf(refundsIn(last, refundTimes(after), ahead)),
  }
  let soFar = nothingSimulated(new Set(['invoice0', 'invoice1']))
  const simulated = [closed(before, 0, first), closed(after, 1, second)].map(invoice => {
    const plan = planSimulated(invoice, copyOf(before), { soFar, names: new Map() })
    const priced = priceSimulated(plan, { late: [], usage: { usage: new Map(), usageByCustomer: new Map() } })
    soFar = afterSimulated(soFar, plan, priced)
    return amountsOf(priced)
  })
  return { billed: [charged, priceInvoice(after, second)].map(amountsOf), simulated }
}

const amountsOf = ({
  columns: { amount_excluding_tax, tax_amount },
}: {
  columns: PricedInvoice['columns'] | Figures
}) => `${amount_excluding_tax} + ${tax_amount}`
type Figures = Pick<PricedInvoice['columns'], 'amount_excluding_tax' | 'tax_amount'>

/** The same prices under other ids. */
function copyOf(inputs: BillingInputs): Candidate {
  const { plans, product_items, products, product_categories, calculations, condition_names } = inputs
  const pricings = inputs.pricings.map(pricing => ({
    ...pricing,
    id: 'copied pricing',
    pricing_plan_version_id: 'copy',
    items: pricing.items.map(item => ({
      ...{ ...item, id: `copied ${item.id}` },
      configs: item.configs.map(config => ({ ...config, id: `copied ${config.id}` })),
    })),
  }))
  const catalog = { plans, pricings, product_items, products, product_categories, calculations, condition_names }
  return { planId: 'plan', versionId: 'copy', catalog }
}

const withoutTax = (refunds: Refund[]): Refund[] =>
  refunds.map(({ charged: { tax: _tax, ...charged }, ...refund }) => ({ ...refund, charged }))

test.each([
  ['the tax of its fee', ['100 + 21', '-50 + -10.5'], (refunds: Refund[]) => refunds],
  ['the tax of its own day where its invoice is older than that rule', ['100 + 21', '-60.5 + 0'], withoutTax],
])('a refund is simulated with %s', (_, expected, refundsOf) => {
  const { billed, simulated } = invoices(refundsOf)
  expect(billed).toEqual(expected)
  expect(simulated).toEqual(expected)
})
