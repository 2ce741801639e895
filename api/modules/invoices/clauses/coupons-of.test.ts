import { expect, test } from 'vitest'
import type { InvoiceRow } from '../table.ts'
import { couponsOf } from './coupons-of.ts'

type Coupon = { coupon_id: string; coupon_name: string; promotion_code_id?: string; promotion_code?: string }
const content = (...periods: (Coupon | null)[][]) =>
  ({
    periods: periods.map(lines => ({
      groups: [{ lines: lines.map(coupon => (coupon ? { coupon_data: coupon } : {})) }],
    })),
  }) as unknown as InvoiceRow['content']
const plain = { coupon_id: 'coup_1', coupon_name: 'Welcome' }
const spring = { coupon_id: 'coup_2', coupon_name: 'Spring', promotion_code_id: 'prco_2', promotion_code: 'SPRING' }

test('each coupon once, whatever the number of its lines, and its code where it was redeemed by one', () => {
  expect(couponsOf(content([null, spring], [plain, spring]))).toEqual({
    coupons: [
      { coupon_id: 'coup_2', coupon_name: 'Spring' },
      { coupon_id: 'coup_1', coupon_name: 'Welcome' },
    ],
    promotion_codes: [{ coupon_id: 'coup_2', promotion_code_details: { promotion_code_id: 'prco_2', code: 'SPRING' } }],
  })
})

test('lists that would be empty are left out', () => {
  expect(couponsOf(content([plain]))).toEqual({ coupons: [plain] })
  expect(couponsOf(content([null]))).toEqual({})
  expect(couponsOf(content())).toEqual({})
})
