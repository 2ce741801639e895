// Worked periods as rows: what is sold, from when, and the periods and amounts that come of it.
import { expect, test } from 'vitest'
import type { BillingTime, PeriodLength } from '../../../../../shared/billing/periods.ts'
import { exampleInputs, exampleInvoices, linesOf, recurring } from '../example-inputs.ts'

type Terms = {
  readonly start: string
  readonly end?: string
  readonly anchor?: string
  readonly zone?: string
  readonly time?: BillingTime
  /** The billing period, and the period that the fee is for when that is another. */
  readonly every: string
  readonly priced?: string
  readonly inAdvance?: boolean
  readonly fee: string
}

/** What it shows, the terms, and each period with its amount. */
export type PeriodCase = readonly [string, Terms, readonly string[]]

/** Whole periods one after another: each from a day to the next one, all of one amount. */
export const inTurn = (amount: string, ...days: readonly string[]): string[] =>
  days.slice(1).map((day, index) => `${days[index]}..${day} ${amount}`)

const lengthOf = (text: string): PeriodLength => {
  const [type, value] = text.split(' ')
  return { type, value: Number(value) } as PeriodLength
}

export const testPeriods = (cases: readonly PeriodCase[]): void =>
  test.each(cases)('%s', (_title, { start, end, anchor, zone, time, every, priced, inAdvance, fee }, lines) => {
    const inputs = exampleInputs({
      start,
      ...(end === undefined ? {} : { end }),
      items: [
        recurring(fee, {
          billing_in_advance: inAdvance ?? false,
          ...(priced === undefined ? {} : { pricing_period: lengthOf(priced) }),
        }),
      ],
      subscription: { billing_period: lengthOf(every), billing_time: time ?? 'EXACT', billing_anchor: anchor ?? null },
    })
    const zoned = { ...inputs, customer: { ...inputs.customer, timezone: zone ?? null } }
    expect(exampleInvoices(zoned, lines.length).flatMap(linesOf)).toEqual(lines)
  })
