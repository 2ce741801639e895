// Coupons and promotion codes for tests, created through the API.
import type { TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { succeed } from '../../subscriptions/testing/seed-subscription.ts'

export const PERCENT = { type: 'PERCENTAGE', percentage: '10' }
export const FOREVER = { type: 'FOREVER' }

/** ACTIVE ones of one tenant. */
export function couponsOf(a: TestTenant) {
  const body = (given: object = {}) => ({
    reference: a.seed.unique('coupon'),
    name: 'Welcome',
    status: 'ACTIVE',
    discount: PERCENT,
    duration: FOREVER,
    ...given,
  })
  const coupon = (given: object = {}): Promise<Row> => succeed(a, 'POST', '/v1/coupons', body(given))
  const code = (of: Row, given: object = {}): Promise<Row> =>
    succeed(a, 'POST', '/v1/promotion-codes', { coupon_id: of['id'], status: 'ACTIVE', ...given })
  return { body, coupon, code }
}
