// An ADDON that is charged ahead, whose time changes afterwards: no day is charged twice.
import { expect, test } from 'vitest'
import type { EnabledPricing } from '../../subscriptions/enabled-pricings/schema.ts'
import { priceInvoice } from '../pricing/price-invoice.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { type ExampleItem, eur, exampleInputs, recurring } from '../testing/example-inputs.ts'

type Times = readonly (readonly [from: number, until: number | null])[]
const day = (number: number): string => new Date(Date.UTC(2026, 2, number)).toISOString().replace('.000', '')

const FEE = recurring('31', { billing_in_advance: true })
const SEATS: ExampleItem = {
  item: { model_type: 'PER_SEAT' },
  config: { pricing_type: 'FLAT', billing_in_advance: true },
  bands: [{ amount: eur('31') }],
}
type Sold = {
  readonly item: ExampleItem
  readonly seats: Times
  readonly minimum?: string
  /** Sold by the same ADDON; the minimum is then of both. */
  readonly fee?: ExampleItem
}

/** March and April of an ADDON of 31.00 ahead. */
function inputsOf(times: Times, { item, seats, minimum, fee }: Sold) {
  const ofBoth = { pricings: [{ ids: ['pricing'], amount: eur(minimum ?? '0') }] }
  const ofOne = { pricing_item_configs: [{ ids: ['config0'], amount: eur(minimum ?? '0') }] }
  const commitment = minimum ? (fee ? ofBoth : ofOne) : null
  const enabled_pricings = times.map(
    ([from, until]): EnabledPricing => ({
      pricing_id: 'pricing',
      start_at: day(from),
      ...(until === null ? {} : { end_at: day(until) }),
    }),
  )
  const assigned = seats.map(([from, until]) => ({
    product_item_id: 'item0',
    start_at: day(from),
    end_at: until === null ? null : day(until),
  }))
  const inputs = exampleInputs({
    start: day(1),
    items: fee ? [item, fee] : [item],
    schedules: [{ enabled_pricings, ...(commitment ? { commitment } : {}) }],
    inputs: { seats: assigned },
  })
  return { ...inputs, pricings: inputs.pricings.map(pricing => ({ ...pricing, addon: true as const })) }
}

/** The lines of the opening invoice and of those for March and April, each with what is enabled when it is issued. */
function linesOf(enabled: readonly [Times, Times, Times], sold: Sold = { item: FEE, seats: [] }): string[][] {
  const billed = new Set<string>()
  return enabled.map((times, index) => {
    const inputs = inputsOf(times, sold)
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

const ENABLED_AGAIN: [Times, Times, Times] = [
  [[1, null]],
  [
    [1, 10],
    [20, null],
  ],
  [
    [1, 10],
    [20, null],
  ],
]

const CASES: [string, [Times, Times, Times], string[][]][] = [
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
]

test.each(CASES)('an ADDON %s is charged for each day once', (_title, enabled, expected) => {
  expect(linesOf(enabled)).toEqual(expected)
})

test.each(CASES)('an ADDON %s, with a seat, is charged for each day once', (_title, enabled, expected) => {
  expect(linesOf(enabled, { item: SEATS, seats: [[1, null]] })).toEqual(expected)
})

test.each<[string, Times, [Times, Times, Times], string[][]]>([
  [
    'added while it is not enabled is charged from where it is enabled again',
    [
      [1, null],
      [15, null],
    ],
    ENABLED_AGAIN,
    [['03-01..04-01 31'], ['03-20..04-01 12', '04-01..05-01 62'], ['05-01..06-01 62']],
  ],
  [
    'added before it ends is charged until then, and from where it is enabled again',
    [
      [1, null],
      [5, null],
    ],
    ENABLED_AGAIN,
    [['03-01..04-01 31'], ['03-05..03-10 5', '03-20..04-01 12', '04-01..05-01 62'], ['05-01..06-01 62']],
  ],
  [
    'that has gone when it is enabled again is not charged',
    [
      [1, null],
      [1, 15],
    ],
    ENABLED_AGAIN,
    [['03-01..04-01 62'], ['04-01..05-01 31'], ['05-01..06-01 31']],
  ],
  [
    'added after it is enabled again is charged from then on',
    [
      [1, null],
      [25, null],
    ],
    ENABLED_AGAIN,
    [['03-01..04-01 31'], ['03-25..04-01 7', '04-01..05-01 62'], ['05-01..06-01 62']],
  ],
  [
    'that is enabled again before its time ends is charged for the days that are not paid',
    [[1, null]],
    [[[1, 10]], [[5, 20]], [[5, 20]]],
    [['03-01..03-10 9'], ['03-10..03-20 10'], []],
  ],
])('a seat of an ADDON %s', (_title, seats, enabled, expected) => {
  expect(linesOf(enabled, { item: SEATS, seats })).toEqual(expected)
})

test('a minimum of seats of an ADDON is charged for each day once, and given back as seats are added', () => {
  const sold = { item: SEATS, minimum: '310' }
  const added: Times = [
    [1, null],
    [15, null],
  ]
  expect(linesOf(ENABLED_AGAIN, { ...sold, seats: added }).slice(0, 2)).toEqual([
    ['03-01..04-01 31', '03-01..04-01 279'],
    ['03-01..04-01 -12', '03-20..04-01 12', '04-01..05-01 62', '04-01..05-01 248'],
  ])
  const earlier: [Times, Times, Times] = [[[10, null]], [[2, null]], [[2, null]]]
  expect(linesOf(earlier, { ...sold, seats: [[1, null]] }).slice(0, 2)).toEqual([
    ['03-10..04-01 22', '03-10..04-01 198'],
    ['03-02..03-10 8', '03-02..03-10 72', '04-01..05-01 31', '04-01..05-01 279'],
  ])
})

const APRIL = { none: ['04-01..05-01 310'], seat: ['04-01..05-01 31', '04-01..05-01 279'] }
const MAY = { none: ['05-01..06-01 310'], seat: ['05-01..06-01 31', '05-01..06-01 279'] }
const EARLIER: [Times, Times, Times] = [[[10, null]], [[2, null]], [[2, null]]]

// 310.00 of each month; what is left of it is given back as seats are added.
test.each<[string, [Times, Times, Times], Times, string[][]]>([
  ['that is enabled again, where no seat comes', ENABLED_AGAIN, [], [['03-01..04-01 310'], APRIL.none, MAY.none]],
  [
    'that is enabled again, where a seat comes after that',
    ENABLED_AGAIN,
    [[25, null]],
    [['03-01..04-01 310'], ['03-01..04-01 -7', '03-25..04-01 7', ...APRIL.seat], MAY.seat],
  ],
  [
    'that is enabled again, where a seat comes and goes before that',
    ENABLED_AGAIN,
    [[12, 15]],
    [['03-01..04-01 310'], APRIL.none, MAY.none],
  ],
  [
    'that is enabled again, where a seat comes before that',
    ENABLED_AGAIN,
    [[15, null]],
    [['03-01..04-01 310'], ['03-01..04-01 -12', '03-20..04-01 12', ...APRIL.seat], MAY.seat],
  ],
  [
    'that begins earlier, where no seat comes',
    EARLIER,
    [],
    [['03-10..04-01 220'], ['03-02..03-10 80', ...APRIL.none], MAY.none],
  ],
  [
    'that begins earlier, where a seat comes',
    EARLIER,
    [[25, null]],
    [['03-10..04-01 220'], ['03-02..03-10 80', '03-10..04-01 -7', '03-25..04-01 7', ...APRIL.seat], MAY.seat],
  ],
])('a minimum of an ADDON without a seat %s, is charged for each day once', (_title, enabled, seats, expected) => {
  expect(linesOf(enabled, { item: SEATS, minimum: '310', seats }).map(lines => lines.toSorted())).toEqual(
    expected.map(lines => lines.toSorted()),
  )
})

test.each([
  ['is enabled again', ENABLED_AGAIN],
  ['begins earlier', EARLIER],
])(
  'a minimum that the fee of an ADDON reaches is not charged where the ADDON %s, whatever seats there are',
  (_title, times) => {
    const fee = recurring('310', { billing_in_advance: true })
    const sums = (invoices: string[][]): number[] =>
      invoices.map(lines => lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0))
    const totals = (seats: Times): number[] => sums(linesOf(times, { item: SEATS, minimum: '310', fee, seats }))
    const [none, one] = [totals([]), totals([[1, null]])]
    expect(none).toEqual(sums(linesOf(times, { item: fee, seats: [] })))
    // 7 days of March, April; May.
    for (const [seats, without] of [
      [[], none],
      [[[1, null]], one],
    ] as const)
      expect(totals([...seats, [25, null]]).map((total, index) => total - (without[index] ?? 0))).toEqual([0, 38, 31])
  },
)
