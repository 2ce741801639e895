import { expect, test } from 'vitest'
import { at } from '../../../../shared/time.ts'
import { exampleInputs, exampleInvoices, recurring } from '../../billing/testing/example-inputs.ts'
import { settlementOf } from '../settlement/settlement.ts'
import { type InvoiceRow, UNTOUCHED } from '../table.ts'
import { isPaymentOverdue } from './payment-overdue.ts'

const [columns] = exampleInvoices(exampleInputs({ start: '2026-01-01T00:00:00Z', items: [recurring('100')] }), 1, '0')
if (!columns) throw new Error('there is an invoice')

/** A FINAL invoice of 100, due on 28 March in its zone. */
const invoice = (more: Partial<InvoiceRow>): InvoiceRow => ({
  ...columns,
  ...UNTOUCHED,
  platform_id: 'p',
  environment: 'TEST',
  id: 'invo_1',
  created_at: '2026-02-01T00:00:00Z',
  updated_at: '2026-02-01T00:00:00Z',
  invoice_number: 'INV-1',
  status: 'FINAL',
  producer: 'SUBSCRIPTION',
  type: 'STANDARD',
  billing_type: 'DEFAULT',
  customer_id: 'cust_1',
  billing_entity_id: 'bill_1',
  pricing_plan_subscription_id: null,
  on_hold: false,
  payment_status: 'UNPAID',
  inputs_hash: '',
  finalize_at: null,
  updated_to_final_at: null,
  to_be_reprocessed_at: null,
  custom_fields: [],
  amount_including_tax: '100',
  timezone: 'Europe/Amsterdam',
  due_date: '2026-03-27T23:00:00Z',
  ...more,
})

const LATE = '2026-04-10T00:00:00Z'
test.each<[what: string, more: Partial<InvoiceRow>, now: string, overdue: boolean]>([
  ['on its due date', {}, '2026-03-28T22:59:59.999Z', false],
  ['from the next day of its zone', {}, '2026-03-28T23:00:00Z', true],
  // Clocks are set forward on 29 March, so this day has 23 hours.
  [
    'when its due date is the day on which clocks change',
    { due_date: '2026-03-28T23:00:00Z' },
    '2026-03-29T21:59:59Z',
    false,
  ],
  ['after such a day', { due_date: '2026-03-28T23:00:00Z' }, '2026-03-29T22:00:00Z', true],
  [
    'in a zone west of UTC',
    { timezone: 'America/Los_Angeles', due_date: '2026-03-28T07:00:00Z' },
    '2026-03-29T06:59:59Z',
    false,
  ],
  [
    'a day later there',
    { timezone: 'America/Los_Angeles', due_date: '2026-03-28T07:00:00Z' },
    '2026-03-29T07:00:00Z',
    true,
  ],
  ['paid in part', { payment_status: 'PARTIALLY_PAID', paid_amount: '99.99' }, LATE, true],
  ['paid', { payment_status: 'PAID', settled_amount: '100' }, LATE, false],
  ['paid beyond it', { payment_status: 'OVERPAID', paid_amount: '101' }, LATE, false],
  ['credited in part', { credited_amount: '99.99' }, LATE, true],
  ['over nothing', { amount_including_tax: '0' }, LATE, false],
  ['a credit note', { type: 'CREDIT', amount_including_tax: '-100' }, LATE, false],
  ['not FINAL', { status: 'DRAFT' }, LATE, false],
  ['VOID', { status: 'VOID' }, LATE, false],
  ['without a due date', { due_date: null }, LATE, false],
])('an invoice %s', (_what, more, now, overdue) => {
  expect(isPaymentOverdue(invoice(more), settlementOf(invoice(more)).open, at(now))).toBe(overdue)
})
