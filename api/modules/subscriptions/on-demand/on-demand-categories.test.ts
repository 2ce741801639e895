// What the list of on-demand items shows: what a charge would accept, and nothing else.
import { expect, test } from 'vitest'
import type { Id } from '../../../../shared/ids.ts'
import { at } from '../../../../shared/time.ts'
import type { PricingItem } from '../../catalog/pricing-plans/schema.ts'
import type { Terms } from '../../catalog/pricing-plans/variants/variants.ts'
import { onDemandCategories, type ShownCategory } from './on-demand-categories.ts'

const item = (id: string, on_demand: boolean) => ({ id, configs: [{ on_demand }] }) as unknown as PricingItem
const pricing = (id: Id<'prcg'>, items: readonly PricingItem[], over: Partial<Shown> = {}): Shown => ({
  id,
  product_type: 'DEFAULT',
  pricing_group_id: null,
  items,
  ...over,
})
type Shown = ShownCategory['pricings'][number]
const CATEGORIES: readonly ShownCategory[] = [
  {
    pricings: [
      pricing('prcg_base', [item('pack', true), item('fee', false)]),
      pricing('prcg_extra', [item('audit', true)], { product_type: 'ADDON' }),
    ],
    pricing_groups: [],
  },
  { pricings: [pricing('prcg_fees', [item('setup', false)])], pricing_groups: [{ pricings: [] }] },
]
const TERMS: Terms = { currency: 'EUR', billingPeriod: { type: 'MONTH', value: 1 } }
const shown = (moment: string) =>
  onDemandCategories(CATEGORIES, {
    enabled: [{ pricing_id: 'prcg_extra', start_at: '2026-03-11T00:00:00Z', end_at: '2026-03-21T00:00:00Z' }],
    moment: at(moment),
    terms: TERMS,
  }).map(({ pricings }) => pricings.map(({ items }) => items.map(({ id }) => id)))

test.each([
  ['2026-03-10T23:59:59Z', [[['pack']]]],
  ['2026-03-11T00:00:00Z', [[['pack'], ['audit']]]],
  ['2026-03-21T00:00:00Z', [[['pack']]]],
])('an ADDON is listed only while it is enabled: %s', (moment, expected) => expect(shown(moment)).toEqual(expected))

test('what is in a pricing group is listed in it, only while it is enabled', () => {
  const inGroup = [pricing('prcg_low', [item('hour', true)], { pricing_group_id: 'prgr_level' })]
  const categories = [{ pricings: [], pricing_groups: [{ pricings: inGroup }] }]
  const moment = at('2026-03-11T00:00:00Z')
  expect(onDemandCategories(categories, { enabled: [], moment, terms: TERMS })).toEqual([])
  expect(onDemandCategories(categories, { enabled: [{ pricing_id: 'prcg_low' }], moment, terms: TERMS })).toEqual(
    categories,
  )
})
