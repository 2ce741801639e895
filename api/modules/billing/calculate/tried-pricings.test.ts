// What a trial of a version enables: everything, but of a group that allows one pricing only one.
import { expect, test } from 'vitest'
import { canonicalItems } from '../../catalog/pricing-plans/canonical-items.ts'
import { type TriedVersion, triedPricings } from './tried-pricings.ts'

type Tried = TriedVersion['pricings'][number]
const pricing = (id: string, over: Partial<Tried> = {}): Tried => ({
  id,
  product_type: 'DEFAULT',
  pricing_group_id: null,
  items: canonicalItems([{ product_item_ids: [id], configs: [{ pricing_type: 'FIXED' }] }], []),
  ...over,
})
const level = { pricing_group_id: 'level' }
const PRICINGS = [
  pricing('base'),
  pricing('addon', { product_type: 'ADDON' }),
  pricing('low', level),
  pricing('high', level),
]
const configOf = (id: string): string => PRICINGS.find(each => each.id === id)?.items[0]?.configs[0]?.id ?? ''
const tried = (selection_constraint: 'ANY' | 'EXACTLY_ONE', ...named: readonly string[]): string[] =>
  triedPricings(
    { pricings: PRICINGS, groups: [{ id: 'level', name: 'Level', selection_constraint }] },
    named.map(id => ({ pricing_item_config_id: configOf(id) })),
  ).map(({ pricing_id }) => pricing_id)

test('all that is optional, and of a group that allows one the first or the one with a quantity', () => {
  expect(tried('ANY')).toEqual(['addon', 'low', 'high'])
  expect(tried('EXACTLY_ONE')).toEqual(['addon', 'low'])
  expect(tried('EXACTLY_ONE', 'base', 'high')).toEqual(['addon', 'high'])
  expect(tried('ANY', 'low', 'high')).toEqual(['addon', 'low', 'high'])
})

test('two quantities of a group that allows one are refused, naming the second', () => {
  expect(() => tried('EXACTLY_ONE', 'high', 'base', 'low')).toThrow(
    expect.objectContaining({ details: { field: 'meter_values.2.pricing_item_config_id' } }),
  )
})
