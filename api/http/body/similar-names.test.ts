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

const INIT = [
  'pricing_plan_schedules',
  'pricing_plan_schedule_customizations',
  'pricing_plan_subscription',
  'pricing_plan_subscription_start_at',
  'template_pricing_plan_subscription_id',
  'customer',
]
test.each<[string, string, readonly string[], readonly string[], string[]]>([
  ['a word that many names have says nothing', 'pricing_plan_id', INIT, [], []],
  [
    'but for one more word it is the same',
    'pricing_plan_id',
    [...INIT, 'pricing_plan_version_id'],
    [],
    ['pricing_plan_version_id'],
  ],
  [
    'where a field has the very name',
    'coupon_ids',
    INIT,
    ['pricing_plan_schedules.0.coupon_ids'],
    ['pricing_plan_schedules.0.coupon_ids'],
  ],
  [
    'what is spelled nearly the same comes first',
    'pricing_plan_schedule',
    INIT,
    ['a.pricing_plan_schedule'],
    ['pricing_plan_schedules'],
  ],
])('%s', (_title, name, accepted, elsewhere, expected) => {
  expect(similarNames(name, accepted, elsewhere)).toEqual(expected)
})
