// An ADDON that is charged ahead, whose time changes afterwards: no day is charged twice.
import { expect, test } from 'vitest'
import type { EnabledPricing } from '../../subscriptions/enabled-pricings/schema.ts'
import { priceInvoice } from '../pricing/price-invoice.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { exampleInputs, recurring } from '../testing/example-inputs.ts'

type Times = readonly (readonly [from: number, until: number | null])[]
const day = (number: number): string => new Date(Date.UTC(2026, 2, number)).toISOString().replace('.000', '')

/** March and April of an ADDON with a fee of 31.00 ahead. */
function inputsOf(times: Times) {
  const enabled_pricings = times.map(
    ([from, until]): EnabledPricing => ({
      pricing_id: 'pricing',
      start_at: day(from),
      ...(until === null ? {} : { end_at: day(until) }),
    }),
  )
  const items = [recurring('31', { billing_in_advance: true })]
  const inputs = exampleInputs({ start: day(1), items, schedules: [{ enabled_pricings }] })
  return { ...inputs, pricings: inputs.pricings.map(pricing => ({ ...pricing, addon: true as const })) }
}

/** The lines of the opening invoice and of those for March and April, each with what is enabled when it is issued. */
function linesOf(enabled: readonly [Times, Times, Times]): string[][] {
  const billed = new Set<string>()
  return enabled.map((times, index) => {
    const inputs = inputsOf(times)
    const window = [...invoiceWindows(inputs)][index]
    if (!window) throw new Error('an example runs on')
    const { lines, advanceCharges } = priceInvoice(inputs, {
      terms: resolveTerms(inputs),
      window,
      billed: new Set(billed),
      usage: new Map(),
      finalizedAt: null,
    })
    for (const key of advanceCharges) billed.add(key)
    return lines.map(
      line => `${line.service_start?.slice(5, 10)}..${line.service_end?.slice(5, 10)} ${line.amount_excluding_tax}`,
    )
  })
}

test.each<[string, [Times, Times, Times], string[][]]>([
  [
    'that begins earlier than it was charged ahead',
    [[[10, null]], [[2, null]], [[2, null]]],
    [['03-10..04-01 22'], ['03-02..03-10 8', '04-01..05-01 31'], ['05-01..06-01 31']],
  ],
  [
    'that is enabled from an earlier day until it begins',
    [
      [[10, null]],
      [
        [2, 10],
        [10, null],
      ],
      [
        [2, 10],
        [10, null],
      ],
    ],
    [['03-10..04-01 22'], ['03-02..03-10 8', '04-01..05-01 31'], ['05-01..06-01 31']],
  ],
  [
    'that ends and is enabled again in time that is paid',
    [
      [[1, null]],
      [
        [1, 10],
        [20, null],
      ],
      [
        [1, 10],
        [20, null],
      ],
    ],
    [['03-01..04-01 31'], ['04-01..05-01 31'], ['05-01..06-01 31']],
  ],
  [
    'that stays enabled past the end it was first given',
    [[[1, 11]], [[1, 21]], [[1, 21]]],
    [['03-01..03-11 10'], ['03-11..03-21 10'], []],
  ],
])('an ADDON %s is charged for each day once', (_title, enabled, expected) => {
  expect(linesOf(enabled)).toEqual(expected)
})
