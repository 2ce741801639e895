// Which invoices a preview shows.

import { expect, test } from 'vitest'
import { decimal, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { inOneGo } from '../../../../shared/pausing-work.ts'
import { at, formatInstant, interval } from '../../../../shared/time.ts'
import { UNTOUCHED } from '../../invoices/table.ts'
import type { AdvanceCharge } from '../refunds/refunds.ts'
import { SUBSCRIPTION_BILLING, type SubscriptionInvoice } from '../run/state/subscription-invoices.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { type ExampleItem, eur, exampleInputs, metered, recurring } from '../testing/example-inputs.ts'
import { choosingWindows, findingWindow, siblingsBound } from './preview-windows.ts'

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
  const asked = { inputs, terms: resolveTerms(inputs), rows, ahead: [], from: at(from), perSchedule }
  const chosen = inOneGo(choosingWindows(asked))
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
    const asked = { inputs, terms: resolveTerms(inputs), rows: [], ahead: [], perSchedule: 1 }
    const endsOf = (from: string) =>
      inOneGo(choosingWindows({ ...asked, from: at(from) })).map(({ window }) => formatInstant(window.cutoffAt))
    expect(endsOf('2032-03-01T00:00:00Z')).toEqual(['2032-03-02T00:00:00Z'])
    const refusedAt = (work: () => unknown): unknown => {
      try {
        return work()
      } catch (error) {
        return error instanceof AppError ? [error.code, error.details.field] : error
      }
    }
    expect(refusedAt(() => endsOf('2199-06-01T00:00:00Z'))).toEqual(['INVALID_FIELD', 'start_at'])
    // Of several that are invoiced together, all count.
    const bound = siblingsBound()
    const find = (from: string) => inOneGo(findingWindow({ ...asked, from: at(from) }, () => true, bound))
    for (const year of ['2032', '2031', '2030', '2029', '2028', '2028'])
      expect(find(`${year}-03-01T00:00:00Z`)?.window.cutoffAt).toBe(at(`${year}-03-02T00:00:00Z`))
    expect(refusedAt(() => find('2032-03-01T00:00:00Z'))).toEqual(['INVALID_FIELD', 'start_at'])
  },
)

test('it pauses at each period, also at those that are passed over', () => {
  const inputs = exampleInputs({ start: START, items: [USAGE] })
  const asked = { inputs, terms: resolveTerms(inputs), ahead: [], from: at('2028-03-10T00:00:00Z'), perSchedule: 1 }
  const pausesOf = (rows: readonly SubscriptionInvoice[]): number => {
    const work = choosingWindows({ ...asked, rows })
    for (let pauses = 0; ; pauses += 1) if (work.next().done) return pauses
  }
  expect(pausesOf([])).toBeGreaterThan(24)
  expect(pausesOf([row(3, 'FINAL'), row(4, 'FINAL')])).toBeGreaterThan(24)
})

test('the invoice that only refunds is shown, also of a subscription that ended', () => {
  const end = '2026-04-01T00:00:00Z'
  const period_end = '2026-05-01T00:00:00Z'
  const ended = [{ type: 'CANCEL' as const, start_at: end, refund_advance_charges: true }]
  const inputs = {
    ...exampleInputs({ start: START, items: [FEE], subscription: { inactive_periods: ended } }),
    charged_after_end: { start_at: end, end_at: period_end },
  }
  const [schedule] = inputs.schedules
  const charged = {
    invoiceId: 'invo_3',
    key: 'fee',
    scheduleId: schedule?.id ?? '',
    pricingItemId: null,
    configId: null,
    productItemId: null,
    isMinimum: false,
    service: interval(at(end), at(period_end)),
    paused: [],
    taxCategory: 'STANDARD' as const,
    excludingTax: decimal('100'),
    includingTax: decimal('121'),
    deducted: ZERO,
    closedAt: [at(end)],
  }
  const asked = { inputs, terms: resolveTerms(inputs), rows: [row(3, 'FINAL')], from: at(end), perSchedule: 1 }
  const shown = (ahead: readonly AdvanceCharge[]) =>
    inOneGo(choosingWindows({ ...asked, ahead })).map(({ window, schedules }) => [
      formatInstant(window.cutoffAt),
      [...schedules],
    ])
  expect(shown([charged])).toEqual([[end, [schedule?.id]]])
  expect(shown([])).toEqual([])
})
