// Reading an included volume from its wire shape: what is read, and what is refused by its field.
import { expect, test } from 'vitest'
import { plain } from '../../decimal.ts'
import { Fault } from '../parse/band-reader.ts'
import type { Metric } from '../price.ts'
import { type IncludedVolumeInput, readIncludedVolume } from './read-included-volume.ts'

const eur = (quantity: string, currency = 'EUR') => ({ quantity, currency })
const read = (input: IncludedVolumeInput, metric: Metric): string => {
  try {
    const { included, reset, rollover } = readIncludedVolume(input, { metric, currency: 'EUR' }, true)
    return `${plain(included.quantity)} and ${plain(included.count)} ${reset} ${rollover}`
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return `${error.field}: ${error.message}`
  }
}

test.each<[Metric, IncludedVolumeInput, string | RegExp]>([
  ['NUMBER', { number: '100' }, '100 and 0 BILLING_PERIOD true'],
  ['NUMBER', { number: '100', amount: null, count: null, reset_type: null }, '100 and 0 BILLING_PERIOD true'],
  ['NUMBER', { number: '0.5', reset_type: 'SCHEDULE' }, '0.5 and 0 SCHEDULE true'],
  ['AMOUNT', { amount: eur('20') }, '20 and 0 BILLING_PERIOD true'],
  ['AMOUNT', { count: '3', reset_type: 'PRICING_PERIOD' }, '0 and 3 PRICING_PERIOD true'],
  ['AMOUNT', { amount: eur('20'), count: '3', number: null }, '20 and 3 BILLING_PERIOD true'],
  ['NUMBER', { number: '100', count: '1' }, /^default_included_volume\.count: The metric counts numbers/],
  ['NUMBER', { number: '100', amount: eur('1') }, /^default_included_volume\.amount: The metric counts numbers/],
  ['AMOUNT', { number: '100' }, /^default_included_volume\.number: The metric is money/],
  ['AMOUNT', { amount: eur('1', 'USD') }, /^default_included_volume\.amount\.currency: /],
  ['AMOUNT', { amount: eur('1', 'USD'), count: '2' }, /^default_included_volume\.amount\.currency: /],
  ['NUMBER', {}, /^default_included_volume: An included volume needs its number;/],
  ['AMOUNT', {}, /^default_included_volume: An included volume needs its amount or count;/],
  ['NUMBER', { number: '0' }, /^default_included_volume\.number: .* greater than 0/],
  ['NUMBER', { number: '-1' }, /^default_included_volume\.number: .* greater than 0/],
  ['NUMBER', { number: '1e3' }, /^default_included_volume\.number: .* decimal/],
  ['AMOUNT', { amount: eur('x') }, /^default_included_volume\.amount\.quantity: .* decimal/],
  ['AMOUNT', { count: '0' }, /^default_included_volume\.count: .* greater than 0/],
  ['NUMBER', { number: '1', reset_type: 'YEARLY' }, /^default_included_volume\.reset_type: /],
])('%s %o', (metric, input, expected) => {
  if (typeof expected === 'string') expect(read(input, metric)).toBe(expected)
  else expect(read(input, metric)).toMatch(expected)
})
