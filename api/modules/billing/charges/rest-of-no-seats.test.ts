// Days that come back of a period of seats that was charged ahead, when no seat is taken any more: they are charged no seats.
import { expect, test } from 'vitest'
import { invoiceWindows } from '../terms/windows.ts'
import { type ExampleItem, eur, exampleInputs, exampleInvoice } from '../testing/example-inputs.ts'

const SEATS: ExampleItem = {
  item: { model_type: 'PER_SEAT' },
  config: { pricing_type: 'FLAT', billing_in_advance: true },
  bands: [{ amount: eur('310') }],
}
const MAY = '2026-05-01T00:00:00Z'

/** The opening invoice and those for May and June: until then a cancellation for 20 May was known, which is taken back. */
function bills(minimum: string): string[] {
  const billed = new Set<string>()
  return [true, false, false].map((isCancelled, index) => {
    const inputs = exampleInputs({
      start: MAY,
      items: [SEATS],
      schedules: [{ commitment: { pricing_item_configs: [{ ids: ['config0'], amount: eur(minimum) }] } }],
      subscription: { inactive_periods: isCancelled ? [{ type: 'CANCEL', start_at: '2026-05-20T00:00:00Z' }] : [] },
      inputs: { seats: [{ product_item_id: 'item0', start_at: MAY, end_at: '2026-05-18T00:00:00Z' }] },
    })
    const window = [...invoiceWindows(inputs)][index]
    if (!window) throw new Error(`there is no invoice ${index}`)
    const { amount_excluding_tax, advanceCharges } = exampleInvoice(inputs, window, { usage: '0', billed })
    for (const key of advanceCharges) billed.add(key)
    return amount_excluding_tax
  })
}

test.each([
  // 19 of 31 days of 310.00. May has its minimum by that; June and July have theirs ahead, as no seat is taken.
  ['that what was charged ahead is beyond', '31', ['190', '31', '31']],
  // 380.00 of it ahead, 240.00 for the days that come back; then June, and July.
  ['that is more than what was charged ahead', '620', ['380', '860', '620']],
])('a minimum %s is charged once for such a period', (_title, minimum, expected) => {
  expect(bills(minimum)).toEqual(expected)
})
