// What is sold once is charged once, also over schedules that continue each other (semantics 2).
import { expect, test } from 'vitest'
import { type ExampleItem, exampleInputs, exampleInvoices, linesOf, recurring } from '../testing/example-inputs.ts'
import type { PricingInput, ScheduleInput } from './billing-inputs.ts'

const [MARCH, APRIL, MAY] = ['2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z', '2026-05-01T00:00:00Z']
const setup: ExampleItem = { ...recurring('10'), item: { model_type: 'ONE_OFF' } }
const FIRST = '2026-03-01..2026-04-01 10.00'
const SECOND = '2026-04-01..2026-05-01 10.00'
const CONTINUES = { carries_usage: true } as const

/** The lines of March and later, of two schedules and these prices. */
const billed = (
  second: Partial<ScheduleInput>,
  {
    first = {},
    pricings = given => given,
  }: {
    first?: Partial<ScheduleInput>
    pricings?: (given: readonly PricingInput[]) => readonly PricingInput[]
  } = {},
) => {
  const schedules = [
    { end_at: APRIL, ...first },
    { start_at: APRIL, ...second },
  ]
  const inputs = exampleInputs({ start: MARCH, items: [setup], schedules })
  return exampleInvoices({ ...inputs, pricings: pricings(inputs.pricings) }, 3).flatMap(linesOf)
}
const addons = (given: readonly PricingInput[]) => given.map(each => ({ ...each, addon: true as const }))
const enabled = (start_at?: string, end_at?: string) => ({
  enabled_pricings: [{ pricing_id: 'pricing', ...(start_at ? { start_at } : {}), ...(end_at ? { end_at } : {}) }],
})
const onDemand = (given: readonly PricingInput[]) =>
  given.flatMap(each => [
    {
      ...each,
      items: each.items.map(item => ({ ...item, configs: item.configs.map(one => ({ ...one, on_demand: true })) })),
    },
    { ...each, id: 'later', pricing_plan_version_id: 'later' },
  ])
const later = (given: readonly PricingInput[]) =>
  given.flatMap(each => [
    { ...each, items: [] },
    { ...each, id: 'later', pricing_plan_version_id: 'later' },
  ])

test.each<[string, readonly string[], Parameters<typeof billed>]>([
  ['of a schedule that continues another, once', [FIRST], [CONTINUES]],
  ['of a schedule that continues none, again', [FIRST, SECOND], [{}]],
  ['of a trial, when what follows it starts', [SECOND], [CONTINUES, { first: { trial: true } }]],
  [
    'that the earlier version did not sell, by the later one',
    [SECOND],
    [{ ...CONTINUES, pricing_plan_version_id: 'later' }, { pricings: later }],
  ],
  [
    'that was bought on demand before, by the later version',
    [SECOND],
    [{ ...CONTINUES, pricing_plan_version_id: 'later' }, { pricings: onDemand }],
  ],
  [
    'of an ADDON that stays enabled, once',
    [FIRST],
    [
      { ...CONTINUES, ...enabled() },
      { first: enabled(), pricings: addons },
    ],
  ],
  [
    'of an ADDON that is enabled again, again',
    ['2026-03-01..2026-03-11 10.00', SECOND],
    [
      { ...CONTINUES, ...enabled() },
      { first: enabled(MARCH, '2026-03-11T00:00:00Z'), pricings: addons },
    ],
  ],
  [
    'of an ADDON that is enabled later, then',
    [FIRST, '2026-05-01..2026-06-01 10.00'],
    [
      { ...CONTINUES, ...enabled(MAY) },
      { first: enabled(), pricings: addons },
    ],
  ],
])('a fee %s', (_which, expected, [second, more]) => {
  expect(billed(second, more)).toEqual(expected)
})
