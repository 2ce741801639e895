// What is open, paid and refundable of an invoice after payments, credits and wallets, in the forms of other billing systems. By hand.
import { expect, test } from 'vitest'
import { plain } from '../../../../shared/decimal.ts'
import { paymentStatusOf, settlementOf, walletPaidAmount } from './settlement.ts'

type Row = readonly [
  title: string,
  of: {
    readonly total: string
    readonly credited?: string
    readonly paid?: string
    readonly marked?: string
    readonly wallet?: string
  },
  status: string,
  /** Open, closed and refundable. */
  amounts: string,
]

const ROWS: readonly Row[] = [
  ['nothing is paid', { total: '121' }, 'UNPAID', '121 0 0'],
  ['an invoice of nothing is UNPAID, and nothing of it is open', { total: '0' }, 'UNPAID', '0 0 0'],
  ['Stripe: a part is paid', { total: '121', paid: '21' }, 'PARTIALLY_PAID', '100 21 0'],
  ['Stripe: all but a cent is paid', { total: '121', paid: '120.99' }, 'PARTIALLY_PAID', '0.01 120.99 0'],
  ['Stripe: all is paid', { total: '121', paid: '121' }, 'PAID', '0 121 0'],
  ['Stripe: a cent too much is paid', { total: '121', paid: '121.01' }, 'OVERPAID', '0 121 0.01'],
  ['Lago: credited in part before it is paid', { total: '121', credited: '60.5' }, 'UNPAID', '60.5 60.5 0'],
  ['Lago: credited in part, and the rest is paid', { total: '121', credited: '60.5', paid: '60.5' }, 'PAID', '0 121 0'],
  ['Lago: credited in full before it is paid', { total: '121', credited: '121' }, 'PAID', '0 121 0'],
  [
    'Lago: paid, then credited in part: that can be refunded',
    { total: '121', paid: '121', credited: '40' },
    'OVERPAID',
    '0 121 40',
  ],
  ['Lago: paid, then credited in full', { total: '121', paid: '121', credited: '121' }, 'OVERPAID', '0 121 121'],
  [
    'Lago: paid in part, then credited below that',
    { total: '100', paid: '30', credited: '80' },
    'OVERPAID',
    '0 100 10',
  ],
  ['Lago: paid in part, then credited to just that', { total: '100', paid: '30', credited: '70' }, 'PAID', '0 100 0'],
  [
    'Lago: paid in part, then credited above that',
    { total: '100', paid: '30', credited: '20' },
    'PARTIALLY_PAID',
    '50 50 0',
  ],
  ['Kill Bill: marked as paid without a payment', { total: '121', marked: '121' }, 'PAID', '0 121 0'],
  ['Kill Bill: a part is paid and the rest is marked', { total: '121', paid: '21', marked: '100' }, 'PAID', '0 121 0'],
  ['Orb: a balance pays a part', { total: '121', wallet: '50' }, 'PARTIALLY_PAID', '71 50 0'],
  ['Orb: a balance pays all', { total: '121', wallet: '121' }, 'PAID', '0 121 0'],
  ['Orb: a balance and a payment pay all', { total: '121', wallet: '50', paid: '71' }, 'PAID', '0 121 0'],
  ['Orb: a balance and a payment pay too much', { total: '121', wallet: '50', paid: '80' }, 'OVERPAID', '0 121 9'],
  ['an invoice below zero owes to the customer', { total: '-24.2' }, 'UNPAID', '-24.2 0 0'],
  ['a negative invoice, credited in part', { total: '-24.2', credited: '-4.2' }, 'UNPAID', '-20 -4.2 0'],
  ['a negative invoice, credited in full', { total: '-24.2', credited: '-24.2' }, 'PAID', '0 -24.2 0'],
  ['a negative invoice with one of its charges credited', { total: '-24.2', credited: '10' }, 'UNPAID', '-34.2 10 0'],
]

test.each(ROWS)('%s', (_title, { total, credited = '0', paid = '0', marked = '0', wallet = '0' }, status, amounts) => {
  const row = {
    type: 'STANDARD',
    amount_including_tax: total,
    credited_amount: credited,
    paid_amount: paid,
    settled_amount: marked,
    wallet_amount: wallet,
  }
  const payment_status = paymentStatusOf(row)
  expect(payment_status).toBe(status)
  const { open, closed, refundable } = settlementOf({ ...row, payment_status })
  expect([open, closed, refundable].map(plain).join(' ')).toBe(amounts)
  expect(plain(open.plus(closed))).toBe(total)
})

test.each([
  ['nothing is credited', '100', '0', '0', '60', '60'],
  ['less is due than it paid', '100', '70', '0', '60', '30'],
  ['all is credited', '100', '100', '0', '60', '0'],
  ['a payment is paid beside it', '100', '20', '40', '60', '40'],
  ['payments alone pay what is due', '100', '60', '40', '60', '0'],
])('what a balance still pays when %s', (_title, total, credited, paid, wallet, kept) => {
  const row = { amount_including_tax: total, credited_amount: credited, paid_amount: paid, settled_amount: '0' }
  expect(plain(walletPaidAmount({ ...row, wallet_amount: wallet }))).toBe(kept)
})

test('a credit note is settled through its invoice', () => {
  const row = {
    type: 'CREDIT',
    payment_status: 'UNPAID' as const,
    amount_including_tax: '-60.5',
    credited_amount: '0',
    paid_amount: '0',
    settled_amount: '0',
    wallet_amount: '0',
  }
  const { open, closed, refundable } = settlementOf(row)
  expect([open, closed, refundable].map(plain)).toEqual(['0', '-60.5', '0'])
})
