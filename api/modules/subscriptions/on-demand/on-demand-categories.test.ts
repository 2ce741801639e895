// What the list of on-demand items shows: what a charge would accept, and nothing else.
import { expect, test } from 'vitest'
import { at } from '../../../../shared/time.ts'
import type { PricingItem } from '../../catalog/pricing-plans/schema.ts'
import { onDemandCategories, type ShownCategory } from './on-demand-categories.ts'

const item = (id: string, on_demand: boolean) => ({ id, configs: [{ on_demand }] }) as unknown as PricingItem
const CATEGORIES: readonly ShownCategory[] = [
  {
    pricings: [
      { id: 'base', product_type: 'DEFAULT', items: [item('pack', true), item('fee', false)] },
      { id: 'extra', product_type: 'ADDON', items: [item('audit', true)] },
    ],
  },
  { pricings: [{ id: 'fees', product_type: 'DEFAULT', items: [item('setup', false)] }] },
]
const shown = (moment: string) =>
  onDemandCategories(CATEGORIES, {
    enabled: [{ pricing_id: 'extra', start_at: '2026-03-11T00:00:00Z', end_at: '2026-03-21T00:00:00Z' }],
    moment: at(moment),
  }).map(({ pricings }) => pricings.map(({ items }) => items.map(({ id }) => id)))

test.each([
  ['2026-03-10T23:59:59Z', [[['pack']]]],
  ['2026-03-11T00:00:00Z', [[['pack'], ['audit']]]],
  ['2026-03-21T00:00:00Z', [[['pack']]]],
])('an ADDON is listed only while it is enabled: %s', (moment, expected) => expect(shown(moment)).toEqual(expected))
