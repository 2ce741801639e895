// A preview of thousands of lines pauses all the way, and is answered with the bytes of a short one.
import { expect, test } from 'vitest'
import { inOneGo, type PausingWork } from '../../../../shared/pausing-work.ts'
import { instantOf } from '../../../../shared/time.ts'
import { serializerCompiler } from '../../../http/body/serialization.ts'
import { partsWriter } from '../../../http/body/write-in-parts.ts'
import { showingPeriods } from '../../invoices/view.ts'
import { chargesOf } from '../charges/charges.ts'
import { priceInvoice, pricingInvoice } from '../pricing/price-invoice.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { type ExampleItem, eur, exampleInputs, metered, plainUsage } from '../testing/example-inputs.ts'
import { usageNeeds } from '../usage/usage-needs.ts'
import { previewView } from './preview-invoices.ts'
import { LARGE_MEMBERS, PreviewAnswer } from './preview-shape.ts'

const DAYS = 365
const TIERS = [{ amount: eur('0.10'), tier_top_bound: { number: '10' } }, { amount: eur('0.05') }]
/** A year that is priced by the day: a line for each day. */
const daily = (item: string): ExampleItem => {
  const price = metered(TIERS, { pricing_type: 'TIERED', pricing_period: { type: 'DAY', value: 1 } })
  return { ...price, item: { ...price.item, id: item } }
}
const inputs = exampleInputs({
  start: '2026-01-01T00:00:00Z',
  items: [daily('a'), daily('b')],
  subscription: { billing_period: { type: 'YEAR', value: 1 } },
})
const terms = resolveTerms(inputs)
const [, window] = invoiceWindows(inputs)
if (!window) throw new Error('a year has an invoice')
const billed = new Set<string>()
const usage = new Map(usageNeeds(chargesOf(terms, window, billed)).map(need => [need.key, plainUsage('25')]))
const request = { terms, window, billed, usage, finalizedAt: null }

function counted<T>(work: PausingWork<T>): { readonly pauses: number; readonly result: T } {
  for (let pauses = 0; ; pauses += 1) {
    const { done, value } = work.next()
    if (done) return { pauses, result: value }
  }
}

const tenant = { platformId: 'plat_a', environment: 'LIVE' } as const
const shown = () => {
  const invoice = priceInvoice(inputs, request)
  inOneGo(showingPeriods(invoice.columns.content))
  return previewView(inputs, invoice, { tenant, now: instantOf(window.cutoffAt) })
}

test('it is priced with pauses for each line, to the same invoice as in one go', () => {
  const { pauses, result } = counted(pricingInvoice(inputs, request))
  expect(result.lines).toHaveLength(2 * DAYS)
  // When it is rated, drafted and laid out, and its sub lines are made.
  expect(pauses).toBeGreaterThan(4 * 2 * DAYS)
  expect(result).toEqual(priceInvoice(inputs, request))
})

test('what it shows is put together with pauses for each line', () => {
  const { columns } = priceInvoice(inputs, request)
  expect(counted(showingPeriods(columns.content)).pauses).toBeGreaterThanOrEqual(2 * DAYS)
})

test('it is written with a pause for each line, to the text that the serializer writes', () => {
  const view = shown()
  const other = { ...view, invoice_number: 'null or not', purchase_order_number: '"lines":[]' }
  const answer = {
    invoice: other,
    first_invoice: view,
    invoice_infos: [
      { pricing_plan_schedule_id: 'a', invoices: [view, other] },
      { pricing_plan_schedule_id: 'b', invoices: [] },
    ],
  }
  const { pauses, result } = counted(partsWriter(PreviewAnswer, new Set(LARGE_MEMBERS))(answer))
  expect(result.join('') === serializerCompiler({ schema: PreviewAnswer })(answer)).toBe(true)
  // What both invoices hold is written once, wherever it stands.
  expect(pauses).toBe(2 * DAYS)
})
