import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fraction, WHOLE } from '../../billing/fraction.ts'
import { decimal, plain, sum, ZERO } from '../../decimal.ts'
import { numberVolume } from '../price.ts'
import type { IncludedVolumeReset } from './included-volume.ts'
import { applyIncludedOverTime, type IncludedPeriod } from './included-windows.ts'

/** Three months of a quarter, then three of the next. */
const months = (used: readonly string[], share = WHOLE): IncludedPeriod[] =>
  used.map((text, index) => ({
    volume: numberVolume(decimal(text)),
    billingPeriod: `Q${Math.floor(index / 3)}`,
    pricingPeriod: `M${index}`,
    share,
  }))
const billable = (used: readonly string[], reset: IncludedVolumeReset, rollover = false, share = WHOLE): string =>
  applyIncludedOverTime(months(used, share), { included: { quantity: decimal('100'), count: ZERO }, reset, rollover })
    .map(({ billable: of }) => plain(of.quantity))
    .join(' ')

const cases: readonly [reset: IncludedVolumeReset, rollover: boolean, used: string, billed: string][] = [
  ['PRICING_PERIOD', false, '60 150 80 120', '0 50 0 20'],
  ['BILLING_PERIOD', false, '60 150 80 120', '0 110 80 20'],
  ['SCHEDULE', false, '60 150 80 120', '0 110 80 120'],
  ['PRICING_PERIOD', true, '60 150 80 120', '0 10 0 0'],
  ['BILLING_PERIOD', true, '20 30 10 120 50', '0 0 0 0 30'],
]
test.each(cases)('100 per %s, rollover %s: usage %s is billed as %s', (reset, rollover, used, billed) => {
  expect(billable(used.split(' '), reset, rollover)).toBe(billed)
})

test('a partial billing period is granted its share by days, a pricing period all of it', () => {
  const part = fraction(21, 31)
  expect(billable(['100'], 'BILLING_PERIOD', false, part).slice(0, 5)).toBe('32.25')
  expect(billable(['100'], 'PRICING_PERIOD', false, part)).toBe('0')
})

test('what is billed and what is free is what was used, and nothing is free twice', () => {
  const used = fc.array(fc.integer({ min: 0, max: 300 }).map(String), { minLength: 1, maxLength: 12 })
  const resets = fc.constantFrom<IncludedVolumeReset>('BILLING_PERIOD', 'PRICING_PERIOD', 'SCHEDULE')
  fc.assert(
    fc.property(used, resets, fc.boolean(), (texts, reset, rollover) => {
      const terms = { included: { quantity: decimal('100'), count: ZERO }, reset, rollover }
      const results = applyIncludedOverTime(months(texts), terms)
      for (const [index, { billable: of, details }] of results.entries()) {
        expect(of.quantity.plus(details.used.quantity).eq(texts[index] ?? '')).toBe(true)
      }
      const windows = { BILLING_PERIOD: Math.ceil(texts.length / 3), PRICING_PERIOD: texts.length, SCHEDULE: 1 }[reset]
      expect(sum(results.map(({ details }) => details.used.quantity)).lte(String(100 * windows))).toBe(true)
    }),
  )
})

test('what a schedule grants once changes with the terms that it states later, and what was used stays used', () => {
  const granted = (text: string) => ({ quantity: decimal(text), count: ZERO })
  const periods = months(['60', '60', '60']).map((period, index) => ({
    ...period,
    granted: index === 0 ? granted('100') : granted('150'),
  }))
  const of = (reset: IncludedVolumeReset) =>
    applyIncludedOverTime(periods, { included: granted('1'), reset, rollover: false }).map(({ billable: rest }) =>
      plain(rest.quantity),
    )
  // Of 150 in all 60 and 60 are used: 30 are left for the third month.
  expect(of('SCHEDULE')).toEqual(['0', '0', '30'])
  // A billing period keeps what it was granted when it began, 100, for its three months.
  expect(of('BILLING_PERIOD')).toEqual(['0', '20', '60'])
  expect(of('PRICING_PERIOD')).toEqual(['0', '0', '0'])
})
