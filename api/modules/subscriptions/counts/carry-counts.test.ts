// Which prices take over the seats and units of a price.
import { expect, test } from 'vitest'
import type { PricingItemConfig } from '../../catalog/pricing-plans/schema.ts'
import { replacing } from './carry-counts.ts'
import type { SoldPrice } from './check-counts.ts'

const price = (versionId: string, item: string, model: string, pricing_type = 'FLAT'): SoldPrice => ({
  versionId,
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
])('%s', (_title, from, ids) => expect(replacing(from, SOLD)).toEqual(ids))
