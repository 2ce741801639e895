import { expect, test } from 'vitest'
import { similarNames } from './similar-names.ts'

const CONFIG = ['pricing_type', 'billing_period', 'pricing_period', 'bands', 'billing_in_advance', 'default_units']

test.each<[string, string[]]>([
  ['billing_perod', ['billing_period']],
  ['billing_timing', ['billing_period', 'billing_in_advance']],
  ['BillingPeriod', ['billing_period']],
  ['band', ['bands']],
  ['bnads', ['bands']],
  ['unit', ['default_units']],
  ['colour', []],
  ['', []],
])('%s', (name, expected) => {
  expect(similarNames(name, CONFIG)).toEqual(expected)
})
