// Subscriptions that combine their invoices, in memory: what each sells, and what is used of it.

import type { Discount } from '../../../../subscriptions/clauses/discount-schema.ts'
import { chargesOf } from '../../../charges/charges.ts'
import type { InvoiceRequest } from '../../../pricing/invoice-request.ts'
import type { BillingInputs } from '../../../terms/billing-inputs.ts'
import { resolveTerms } from '../../../terms/price-terms.ts'
import { type InvoiceWindow, invoiceWindows } from '../../../terms/windows.ts'
import { type Example, exampleInputs, plainUsage, recurring } from '../../../testing/example-inputs.ts'
import { usageNeeds } from '../../../usage/usage-needs.ts'

export const START = '2026-03-01T00:00:00Z'
export type Sold = Partial<Example> & {
  readonly id: string
  readonly usage?: string
  readonly discount?: Discount
  readonly more?: Partial<InvoiceRequest>
}

/** A subscription that combines; what it sells has ids of its own. */
export function inputsOf({ id, discount, subscription, ...example }: Sold): BillingInputs {
  return exampleInputs({
    start: START,
    items: [recurring('100')],
    ...example,
    schedules: [{ id: `schedule ${id}`, discount: discount ?? null }],
    subscription: { id, combine: true, ...subscription },
  })
}

export const windowOf = (inputs: BillingInputs): InvoiceWindow => {
  for (const window of invoiceWindows(inputs)) if (window.arrears !== null) return window
  throw new Error('no window')
}

export function requestOf(inputs: BillingInputs, { usage = '0', more = {} }: Sold): InvoiceRequest {
  const terms = resolveTerms(inputs)
  const window = windowOf(inputs)
  const billed = new Set<string>()
  const needs = usageNeeds(chargesOf(terms, window, billed))
  const counted = new Map(needs.map(need => [need.key, plainUsage(usage)]))
  return { terms, window, billed, usage: counted, finalizedAt: null, ...more }
}
