import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decimal, plain, ZERO } from '../../decimal.ts'
import { amountVolume, numberVolume } from '../price.ts'
import { rate } from '../rate.ts'
import { price } from '../testing/prices.ts'
import { applyIncludedVolume, type IncludedVolume } from './included-volume.ts'

const free = (quantity: string, count = '0'): IncludedVolume => ({ quantity: decimal(quantity), count: decimal(count) })

test('5000 used, 1000 included: tiers rate the remaining 4000 from the start, 340', () => {
  const { billable, details } = applyIncludedVolume(numberVolume(decimal('5000')), free('1000'))
  const tiers = price('TIERED', { amount: '0.10', topBound: '1000' }, { amount: '0.08' })
  expect(plain(rate(tiers, billable).total.quantity)).toBe('340')
  expect(plain(details.used.quantity)).toBe('1000')
  expect(plain(details.periodVolume.quantity)).toBe('5000')
})

const cases: readonly [used: string, before: string, billable: string, left: string][] = [
  ['600', '0', '0', '400'],
  ['1000', '0', '0', '0'],
  ['1000.5', '0', '0.5', '0'],
  ['600', '700', '300', '0'],
  ['600', '2000', '600', '0'],
  ['0', '0', '0', '1000'],
  ['-5', '0', '-5', '1000'],
]
test.each(cases)('of 1000 included, %s used after %s leaves %s to bill and %s free', (used, before, billable, left) => {
  const result = applyIncludedVolume(numberVolume(decimal(used)), free('1000'), free(before))
  expect(plain(result.billable.quantity)).toBe(billable)
  expect(plain(result.details.left.quantity)).toBe(left)
})

test('free money and free events of an AMOUNT metric are deducted separately', () => {
  const { billable } = applyIncludedVolume(amountVolume(decimal('300'), 'EUR', decimal('12')), free('100', '2'))
  expect([plain(billable.quantity), plain(billable.count)]).toEqual(['200', '10'])
})

test('a window shared by two periods bills what one period of both would', () => {
  const volume = fc.integer({ min: 0, max: 10_000 }).map(value => decimal(String(value)))
  fc.assert(
    fc.property(volume, volume, volume, (included, first, second) => {
      const all: IncludedVolume = { quantity: included, count: ZERO }
      const a = applyIncludedVolume(numberVolume(first), all)
      const b = applyIncludedVolume(numberVolume(second), all, a.details.used)
      const whole = applyIncludedVolume(numberVolume(first.plus(second)), all)
      expect(a.billable.quantity.plus(b.billable.quantity).eq(whole.billable.quantity)).toBe(true)
      expect(a.billable.quantity.plus(a.details.used.quantity).eq(first)).toBe(true)
    }),
  )
})
