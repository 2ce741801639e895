// A TRIAL charges nothing: what its plan sells is charged from the start of the next schedule.
import { expect, test } from 'vitest'
import { formatInstant } from '../../../../shared/time.ts'
import { changedOverrides } from '../../subscriptions/overrides/merge-overrides.ts'
import { chargesOf } from '../charges/charges.ts'
import {
  type ExampleItem,
  eur,
  exampleInputs,
  exampleInvoices,
  linesOf,
  metered,
  recurring,
} from '../testing/example-inputs.ts'
import type { ScheduleInput } from './billing-inputs.ts'
import { resolveTerms } from './price-terms.ts'
import { invoiceWindows } from './windows.ts'

test.each([
  ['in arrears', false, ['2026-03-11T00:00:00Z 21/31', '2026-04-01T00:00:00Z 30/30']],
  ['in advance', true, ['2026-03-11T00:00:00Z 21/31', '2026-04-01T00:00:00Z 30/30', '2026-05-01T00:00:00Z 31/31']],
])('a fee %s is charged after it', (_title, billing_in_advance, expected) => {
  const inputs = exampleInputs({ start: '2026-02-25T00:00:00Z', items: [recurring('100', { billing_in_advance })] })
  const [first] = inputs.schedules
  if (!first) throw new Error('there is a schedule')
  const until = '2026-03-11T00:00:00Z'
  const schedules = [
    { ...first, end_at: until, trial: true as const },
    { ...first, id: 'schedule1', start_at: until },
  ]
  const all = { ...inputs, schedules }
  const terms = resolveTerms(all)
  const billed = new Set<string>()
  const charged: string[] = []
  for (const window of invoiceWindows(all)) {
    if (window.cutoffAt > Date.parse('2026-05-01T00:00:00Z')) break
    for (const charge of chargesOf(terms, window, billed)) {
      billed.add(charge.key)
      charged.push(`${formatInstant(charge.service.start)} ${charge.period.coveredDays}/${charge.period.fullDays}`)
    }
  }
  expect(charged).toEqual(expected)
})

const [START, END] = ['2026-01-01T00:00:00Z', '2026-01-15T00:00:00Z']
const fee = recurring('310', { billing_in_advance: true })
const windowsOf = (over: Partial<Parameters<typeof exampleInputs>[0]>) =>
  [...invoiceWindows(exampleInputs({ start: START, items: [fee], ...over }))]
    .slice(0, 2)
    .map(({ arrears, cutoffAt }) => [arrears && formatInstant(arrears.start), formatInstant(cutoffAt)])
const trial = { trial: true as const, end_at: END }

test('invoices begin where a trial at the start ends, and are cut as without it', () => {
  const february = [END, '2026-02-01T00:00:00Z']
  expect(windowsOf({ schedules: [trial, { start_at: END }] })).toEqual([[null, END], february])
  const exact = { billing_time: 'EXACT' as const, billing_anchor: '2026-01-31T00:00:00Z' }
  expect(windowsOf({ schedules: [trial, { start_at: END }], subscription: exact })).toEqual([
    [null, END],
    [END, '2026-01-31T00:00:00Z'],
  ])
})

test('a trial that nothing follows, or that is cancelled, has no invoice', () => {
  expect(windowsOf({ schedules: [{ trial: true }] })).toEqual([])
  expect(windowsOf({ schedules: [trial] })).toEqual([])
  const cancelled = { inactive_periods: [{ type: 'CANCEL' as const, start_at: '2026-01-10T00:00:00Z' }] }
  expect(windowsOf({ schedules: [trial, { start_at: END }], subscription: cancelled })).toEqual([])
})

test('a trial between two schedules is in the invoices of its periods', () => {
  const [from, until] = [END, '2026-01-20T00:00:00Z']
  const between = [{ end_at: from }, { start_at: from, end_at: until, trial: true as const }, { start_at: until }]
  expect(windowsOf({ schedules: between })).toEqual([
    [null, START],
    [START, '2026-02-01T00:00:00Z'],
  ])
})

const own = (override: 'ALL' | 'SPECIFIC') =>
  changedOverrides(
    [],
    [
      {
        original_pricing_id: 'pricing',
        override,
        items: [
          {
            original_pricing_item_id: 'priced0',
            configs: [
              {
                original_pricing_item_config_id: 'config0',
                pricing_type: 'FIXED',
                bands: [{ fixed_amount: eur('31') }],
              },
            ],
          },
        ],
      },
    ],
  )

const paid = (override: 'ALL' | 'SPECIFIC', more: Partial<ScheduleInput> = {}) => [
  { only_overrides: true as const, end_at: END, override_pricings: own(override) },
  { start_at: END, ...more },
]

test.each(['ALL', 'SPECIFIC'] as const)('a trial with prices of its own (%s) charges those alone', override => {
  const items = [recurring('310'), recurring('62'), metered([{ amount: eur('0.1') }])]
  const inputs = exampleInputs({ start: START, items, schedules: paid(override) })
  expect(exampleInvoices(inputs, 2, '1000').map(linesOf)).toEqual([
    ['2026-01-01..2026-01-15 14.00'],
    ['2026-01-15..2026-02-01 170.00', '2026-01-15..2026-02-01 34.00', '2026-01-15..2026-02-01 100.00'],
  ])
})

test('what follows it is charged ahead when it ends, also what is sold once', () => {
  const ahead: ExampleItem = recurring('310', { billing_in_advance: true })
  const setUp: ExampleItem = { ...recurring('500'), item: { model_type: 'ONE_OFF' } }
  const schedules = paid('SPECIFIC', { carries_usage: true })
  expect(exampleInvoices(exampleInputs({ start: START, items: [ahead, setUp], schedules }), 3).map(linesOf)).toEqual([
    ['2026-01-01..2026-01-15 14.00'],
    ['2026-01-15..2026-02-01 170.00', '2026-01-15..2026-02-01 500.00'],
    ['2026-02-01..2026-03-01 310.00'],
  ])
})

test('who leaves before it ends is charged the trial alone', () => {
  const schedules = paid('SPECIFIC')
  const cancelled = { inactive_periods: [{ type: 'CANCEL' as const, start_at: END }] }
  const inputs = exampleInputs({ start: START, items: [fee, recurring('62')], schedules, subscription: cancelled })
  expect(exampleInvoices(inputs, 3).map(linesOf)).toEqual([['2026-01-01..2026-01-15 14.00']])
})
