import { expect, test } from 'vitest'
import { decimal, plain } from '../../decimal.ts'
import { numberVolume } from '../../rating/price.ts'
import { takeUsageDiscounts } from './usage-discounts.ts'

const charge = (key: string, quantity: string, meterValueId = 'metv_1') => ({
  key,
  meterValueId,
  volume: numberVolume(decimal(quantity), decimal('7')),
})
const free = (id: string, quantity: string, meterValueId = 'metv_1') => ({
  id,
  meterValueId,
  quantity: decimal(quantity),
})

test('free usage is taken off in the order of the items until it is used up', () => {
  const { charges, taken } = takeUsageDiscounts(
    [charge('a', '60'), charge('other', '60', 'metv_2'), charge('b', '60'), charge('c', '60')],
    [free('coupon', '100')],
  )
  expect(charges.map(({ key, volume }) => `${key} ${plain(volume.quantity)} of ${plain(volume.count)}`)).toEqual([
    'a 0 of 7',
    'other 60 of 7',
    'b 20 of 7',
    'c 60 of 7',
  ])
  expect(taken.map(({ key, quantity }) => `${key} ${plain(quantity)}`)).toEqual(['a 60', 'b 40'])
})

test('a second coupon takes what the first one left, and corrections below zero take nothing', () => {
  const { charges, taken } = takeUsageDiscounts(
    [charge('minus', '-5'), charge('a', '60')],
    [free('one', '20'), free('two', '100')],
  )
  expect(charges.map(({ volume }) => plain(volume.quantity))).toEqual(['-5', '0'])
  expect(taken.map(({ discountId, quantity }) => `${discountId} ${plain(quantity)}`)).toEqual(['one 20', 'two 40'])
})
