// Which prices take over the seats and units of a price.
import { expect, test } from 'vitest'
import type { PricingItemConfig } from '../../catalog/pricing-plans/schema.ts'
import { replacing } from './carry-counts.ts'
import type { SoldPrice } from './check-counts.ts'

const price = (versionId: string, item: string, model: string, pricing_type = 'FLAT'): SoldPrice => ({
  versionId,
  pricingId: 'pricing',
  itemId: item,
  config: { pricing_type } as PricingItemConfig,
  productItemIds: [item],
  model,
})
const SOLD = new Map([
  ['seats-1', price('first', 'seats', 'PER_SEAT')],
  ['more-seats-1', price('first', 'seats', 'PER_SEAT', 'TIERED')],
  ['seats-2', price('second', 'seats', 'PER_SEAT', 'TIERED')],
  ['setup-1', price('first', 'setup', 'ONE_OFF', 'FIXED')],
  ['setup-2', price('second', 'setup', 'ONE_OFF')],
])

test.each<[string, SoldPrice | undefined, string[]]>([
  [
    'seats, in each version of a rate card, however it prices them',
    price('old', 'seats', 'PER_SEAT'),
    ['seats-1', 'seats-2'],
  ],
  ['units, only where they are priced the same way', price('old', 'setup', 'ONE_OFF'), ['setup-2']],
  ['an item that is not sold', price('old', 'other', 'PER_SEAT'), []],
  ['a price of another version', undefined, []],
])('%s', (_title, from, ids) => expect(replacing(from, SOLD, new Map())).toEqual(ids))

test('what is included of the usage of one model goes to the price of that model, and never to another', () => {
  const of = (versionId: string, model: string | null) => {
    const tokens = price(versionId, 'tokens', 'USAGE_BASED', 'TIERED')
    const conditions = model && { name: `${versionId} ${model}`, meter_properties: [{ id: 'model', value: model }] }
    return { ...tokens, config: { ...tokens.config, conditions } as unknown as PricingItemConfig }
  }
  const [small, large] = [of('old', 'small'), of('old', 'large')]
  const old = new Map([
    ['small-1', small],
    ['large-1', large],
  ])
  const sold = new Map([
    ['small-2', of('new', 'small')],
    ['large-2', of('new', 'large')],
  ])
  expect([small, large].map(each => replacing(each, sold, old))).toEqual([['small-2'], ['large-2']])
  // Priced together from now on: neither stands for both.
  const together = new Map([['all-2', of('new', null)]])
  expect([small, large].map(each => replacing(each, together, old))).toEqual([[], []])
  expect(replacing(small, together, new Map([['small-1', small]]))).toEqual(['all-2'])
})
