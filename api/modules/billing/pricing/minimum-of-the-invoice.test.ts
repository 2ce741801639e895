// The minimum of a whole invoice in a billing period that it has only a part of, whichever prices are charged in it.
import { expect, test } from 'vitest'
import type { ScheduleInput } from '../terms/billing-inputs.ts'
import {
  type Example,
  type ExampleInvoice,
  eur,
  exampleInputs,
  exampleInvoices,
  metered,
  recurring,
} from '../testing/example-inputs.ts'

const [FROM, CHANGE] = ['2026-03-17T00:00:00Z', '2026-03-27T00:00:00Z']
/** 10.00 for a day of March. */
const commitment = { totals: [{ amount: eur('310') }] }
const AHEAD = recurring('31', { billing_in_advance: true })
const PER_UNIT = metered([{ amount: eur('1') }])
const QUARTERS = recurring('31', { billing_period: { type: 'MONTH', value: 3 } })

const minimums = (invoice: ExampleInvoice | undefined): string[] =>
  (invoice?.content.periods ?? []).flatMap(({ groups }) =>
    groups.flatMap(({ lines }) =>
      lines.flatMap(({ type, amount_excluding_tax: { quantity } }) => (type === 'COMMITMENT' ? [quantity] : [])),
    ),
  )

const last = (example: Partial<Example>, count: number): ExampleInvoice | undefined =>
  exampleInvoices(exampleInputs({ start: FROM, items: [AHEAD], ...example }), count).at(-1)

const two: Partial<ScheduleInput>[] = [
  { end_at: CHANGE, commitment },
  { start_at: CHANGE, commitment },
]

// With a fee ahead, the 15.50 of March are on the invoice before, which does not count here, and the 31.00 of April are on this one.
test.each<[string, Partial<Example>, number, string[]]>([
  ['that has a fee ahead alone', { schedules: [{ commitment }] }, 2, ['119.00']],
  ['that has a fee for quarters alone', { items: [QUARTERS], schedules: [{ commitment }] }, 1, ['144.83']],
  ['in which the plan changes', { items: [PER_UNIT], schedules: two }, 1, ['100.00', '50.00']],
  ['in which it ends', { items: [PER_UNIT], schedules: [{ commitment, end_at: CHANGE }] }, 1, ['100.00']],
])('the minimum of an invoice is due for the days of a partial period %s', (_title, example, count, expected) => {
  expect(minimums(last(example, count))).toEqual(expected)
})
