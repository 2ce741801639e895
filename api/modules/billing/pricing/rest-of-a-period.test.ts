// A billing period whose first part was invoiced before the schedule that follows was activated: what the invoice of the rest has.
import { describe, expect, test } from 'vitest'
import type { ScheduleInput } from '../terms/billing-inputs.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { coupon, discounts, START } from '../testing/example-coupons.ts'
import { type ExampleItem, eur, exampleInputs, exampleInvoices, linesOf, recurring } from '../testing/example-inputs.ts'

const CHANGE = '2026-01-11T00:00:00Z'
const NO_SEATS: ExampleItem = {
  item: { model_type: 'PER_SEAT' },
  config: { pricing_type: 'FLAT', billing_in_advance: true, default_seats_value: { number: '0' } },
  bands: [{ amount: eur('10') }],
}
const AHEAD = recurring('310', { billing_in_advance: true })

/** Two schedules, of which the later was activated when the first part of January had been invoiced. */
const inputsOf = (items: readonly ExampleItem[], later: Partial<ScheduleInput>) =>
  exampleInputs({
    start: START,
    items,
    schedules: [{ end_at: CHANGE }, { start_at: CHANGE, ...later }],
    inputs: { resumed_at: [CHANGE] },
  })

describe('the rest of a billing period', () => {
  test('is not charged ahead by the invoice of its first part, which was issued before', () => {
    const times = [...invoiceWindows(inputsOf([AHEAD], { end_at: '2026-03-01T00:00:00Z' }))].map(each =>
      [each.arrears?.start ?? null, each.cutoffAt, each.advance?.end ?? null].map(
        time => time && new Date(time).toISOString().slice(0, 10),
      ),
    )
    expect(times).toEqual([
      [null, '2026-01-01', '2026-01-11'],
      ['2026-01-01', '2026-01-11', null],
      ['2026-01-11', '2026-02-01', '2026-03-01'],
      ['2026-02-01', '2026-03-01', null],
    ])
  })

  test('has the fee ahead of its days', () => {
    const [, second] = exampleInvoices(inputsOf([AHEAD], {}), 2)
    expect(linesOf(second)).toEqual(['2026-01-11..2026-02-01 210.00', '2026-02-01..2026-03-01 310.00'])
  })

  const commitment = { pricings: [{ ids: ['pricing'], amount: eur('310') }] }
  const coupons = [coupon({ duration: { type: 'ONE_TIME' } })]
  test('has the coupon for one invoice of its schedule, also where that charges no seats but a minimum', () => {
    const made = exampleInvoices(inputsOf([NO_SEATS], { commitment, coupons }), 4)
    expect(discounts(made).filter(each => each.length > 0)).toEqual([['-52.00']])
  })
})
