// What a trial of a version enables: everything, but of a group that allows one pricing only one.
import { expect, test } from 'vitest'
import type { Id } from '../../../../shared/ids.ts'
import { canonicalItems } from '../../catalog/pricing-plans/canonical-items.ts'
import { type TriedVersion, triedPricings } from './tried-pricings.ts'

type Tried = TriedVersion['pricings'][number]
const pricing = (id: Id<'prcg'>, over: Partial<Tried> = {}): Tried => ({
  id,
  product_type: 'DEFAULT',
  pricing_group_id: null,
  items: canonicalItems([{ product_item_ids: [id], configs: [{ pricing_type: 'FIXED' }] }], []),
  ...over,
})
const level = { pricing_group_id: 'prgr_level' } as const
const PRICINGS = [
  pricing('prcg_base'),
  pricing('prcg_addon', { product_type: 'ADDON' }),
  pricing('prcg_low', level),
  pricing('prcg_high', level),
]
const configOf = (id: string): string => PRICINGS.find(each => each.id === id)?.items[0]?.configs[0]?.id ?? ''
const tried = (selection_constraint: 'ANY' | 'EXACTLY_ONE', ...named: readonly string[]): string[] =>
  triedPricings(
    { pricings: PRICINGS, groups: [{ id: 'prgr_level', name: 'Level', selection_constraint }] },
    named.map(id => ({ pricing_item_config_id: configOf(id) })),
  ).map(({ pricing_id }) => pricing_id)

test('all that is optional, and of a group that allows one the first or the one with a quantity', () => {
  expect(tried('ANY')).toEqual(['prcg_addon', 'prcg_low', 'prcg_high'])
  expect(tried('EXACTLY_ONE')).toEqual(['prcg_addon', 'prcg_low'])
  expect(tried('EXACTLY_ONE', 'prcg_base', 'prcg_high')).toEqual(['prcg_addon', 'prcg_high'])
  expect(tried('ANY', 'prcg_low', 'prcg_high')).toEqual(['prcg_addon', 'prcg_low', 'prcg_high'])
})

test('two quantities of a group that allows one are refused, naming the second', () => {
  expect(() => tried('EXACTLY_ONE', 'prcg_high', 'prcg_base', 'prcg_low')).toThrow(
    expect.objectContaining({ details: { field: 'meter_values.2.pricing_item_config_id' } }),
  )
})
