// Which invoices a preview shows.

import { expect, test } from 'vitest'
import { AppError } from '../../../../shared/errors.ts'
import { at, formatInstant } from '../../../../shared/time.ts'
import { UNTOUCHED } from '../../invoices/table.ts'
import { SUBSCRIPTION_BILLING, type SubscriptionInvoice } from '../run/state/subscription-invoices.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { type ExampleItem, eur, exampleInputs, metered, recurring } from '../testing/example-inputs.ts'
import { previewWindows } from './preview-windows.ts'

const START = '2026-03-01T00:00:00Z'
const USAGE = metered([{ amount: eur('1') }])
const FEE = recurring('100', { billing_in_advance: true })

const row = (month: number, status: 'FINAL' | 'DRAFT' | 'OPEN'): SubscriptionInvoice => ({
  platform_id: 'p',
  environment: 'TEST',
  id: `invo_${month}`,
  created_at: START,
  updated_at: START,
  invoice_number: null,
  status,
  producer: SUBSCRIPTION_BILLING,
  type: 'STANDARD',
  billing_type: 'DEFAULT',
  customer_id: 'cust_1',
  billing_entity_id: 'bill_1',
  pricing_plan_subscription_id: 'ppsu_1',
  period_start: `2026-0${month}-01T00:00:00Z`,
  period_end: `2026-0${month + 1}-01T00:00:00Z`,
  advance_only: false,
  cutoff_at: `2026-0${month + 1}-01T00:00:00Z`,
  usage_from: null,
  invoice_date: null,
  delivery_date: null,
  due_date: null,
  billing_currency: 'EUR',
  timezone: 'UTC',
  amount_excluding_tax: '0',
  tax_amount: '0',
  amount_including_tax: '0',
  sales_tax_percentage: null,
  on_hold: false,
  payment_status: 'UNPAID',
  ...UNTOUCHED,
  inputs_hash: '',
  finalize_at: null,
  updated_to_final_at: null,
  to_be_reprocessed_at: null,
  advance_charges: [],
})

const preview = (
  items: readonly ExampleItem[],
  rows: readonly SubscriptionInvoice[],
  from: string,
  perSchedule = 2,
) => {
  const inputs = exampleInputs({ start: START, items })
  const chosen = previewWindows({ inputs, terms: resolveTerms(inputs), rows, from: at(from), perSchedule })
  return chosen.map(({ window, billsLateUsage }) => [formatInstant(window.cutoffAt).slice(0, 10), billsLateUsage])
}

test.each([
  ['nothing is billed in advance', [USAGE]],
  ['something is billed in advance', [USAGE, FEE]],
])('late usage goes on the first invoice that is not closed, where %s', (_, items) => {
  const rows = [row(3, 'FINAL'), row(4, 'OPEN')]
  const advance = { ...row(3, 'FINAL'), advance_only: true, cutoff_at: START }
  expect(preview(items, [advance, ...rows], '2026-04-10T00:00:00Z')).toEqual([
    ['2026-05-01', true],
    ['2026-06-01', false],
  ])
})

test('late usage goes on a DRAFT that is still to close, not on the running period', () => {
  expect(preview([USAGE], [row(3, 'DRAFT'), row(4, 'OPEN')], '2026-04-01T05:00:00Z', 1)).toEqual([
    ['2026-05-01', false],
  ])
})

test.each([
  ['the start of a period belongs to it', '2026-04-01T00:00:00Z', '2026-05-01'],
  ['the last second before it belongs to the period before', '2026-03-31T23:59:59Z', '2026-04-01'],
  ['before the subscription is its first period', '2026-02-01T00:00:00Z', '2026-04-01'],
])('periods are half-open: %s', (_, from, cutoff) => {
  expect(preview([USAGE], [], from, 1).map(([end]) => end)).toEqual([cutoff])
})

test('from the start on, what is billed in advance comes first', () => {
  expect(preview([USAGE, FEE], [], START, 2).map(([end]) => end)).toEqual(['2026-03-01', '2026-04-01'])
})

test('what is charged ahead only later in the first period is shown on the next invoice', () => {
  expect(preview([USAGE, FEE], [row(3, 'OPEN')], START, 1)).toEqual([['2026-04-01', true]])
  expect(preview([USAGE, FEE], [], START, 1)).toEqual([['2026-03-01', true]])
})

test.each([
  ['usage', [USAGE, USAGE]],
  ['fees that are charged ahead', [FEE, USAGE]],
])(
  'of %s by the day, years ahead are found without walking through all periods for each, and more are refused',
  (_, items) => {
    const inputs = exampleInputs({
      start: START,
      items,
      subscription: { billing_period: { type: 'DAY', value: 1 } },
    })
    const endsOf = (from: string) =>
      previewWindows({ inputs, terms: resolveTerms(inputs), rows: [], from: at(from), perSchedule: 1 }).map(
        ({ window }) => formatInstant(window.cutoffAt),
      )
    expect(endsOf('2032-03-01T00:00:00Z')).toEqual(['2032-03-02T00:00:00Z'])
    let refused: unknown
    try {
      endsOf('2199-06-01T00:00:00Z')
    } catch (error) {
      refused = error instanceof AppError ? [error.code, error.details.field] : error
    }
    expect(refused).toEqual(['INVALID_FIELD', 'start_at'])
  },
)
