// Coupons of a schedule in tests, and what invoices deduct for them.
import type { AppliedCoupon } from '../../subscriptions/coupons/schema.ts'
import { type Example, eur, exampleInputs, exampleInvoices, recurring } from './example-inputs.ts'

export const START = '2026-01-01T00:00:00Z'
export const MONTH = { type: 'MONTH', value: 1 } as const
export const coupon = (given: Partial<AppliedCoupon> = {}): AppliedCoupon => ({
  coupon_id: 'coup_1',
  coupon_name: 'Welcome',
  promotion_code_id: null,
  promotion_code: null,
  discount: { type: 'PERCENTAGE', percentage: '10' },
  meter_value_reference: null,
  duration: { type: 'FOREVER' },
  limited_to: null,
  start_at: null,
  ...given,
})
export const amountOff = (quantity: string) => ({ type: 'AMOUNT' as const, amount: eur(quantity) })

/** The first invoices of a subscription of 200 a month, or as `example` says, with these coupons. */
export function invoicesOf(coupons: readonly AppliedCoupon[], example: Partial<Example> = {}, count = 3, usage = '0') {
  const inputs = exampleInputs({
    start: START,
    items: [recurring('200')],
    ...example,
    schedules: [{ coupons }],
  })
  return exampleInvoices(inputs, count, usage)
}
type Invoice = ReturnType<typeof exampleInvoices>[number]
export const lines = (invoice: Invoice | undefined) =>
  (invoice?.content.periods ?? []).flatMap(({ groups }) => groups.flatMap(group => group.lines))
export const discounts = (invoices: readonly Invoice[]) =>
  invoices.map(invoice =>
    lines(invoice).flatMap(line => (line.type === 'DISCOUNT' ? [line.amount_excluding_tax.quantity] : [])),
  )
