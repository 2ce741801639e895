import { expect, test } from 'vitest'
import { type AttributionCustomer, type AttributionSubscription, attributionsOf } from './load-attribution.ts'

test('the customers of a subscription are its own, their children and those of these, and no others', () => {
  const customer = (id: string, ...parents: string[]): AttributionCustomer => ({
    id,
    reference: null,
    processing_only: false,
    terms: parents.map(parent => ({ from: '2026-01-01T00:00:00Z', selector: null, parent_customer_ids: [parent] })),
  })
  const held = (id: string, customer_id: string): AttributionSubscription => ({
    id,
    reference: null,
    customer_id,
    replicates: false,
    country: null,
    held: [],
  })
  const all = {
    customers: [
      customer('a'),
      customer('b', 'x', 'a'),
      customer('c', 'b'),
      customer('d'),
      customer('e', 'd'),
      customer('loop', 'loop'),
    ],
    subscriptions: [held('1', 'a'), held('2', 'c'), held('3', 'd')],
  }
  const found = attributionsOf(all, ['a', 'b', 'd', 'loop', 'nobody'])
  const ids = [...found].map(([of, { customers, subscriptions }]) => [
    of,
    ...[customers, subscriptions].map(list => list.map(({ id }) => id).join('')),
  ])
  expect(ids).toEqual([
    ['a', 'abc', '12'],
    ['b', 'bc', '2'],
    ['d', 'de', '3'],
    ['loop', 'loop', ''],
    ['nobody', '', ''],
  ])
})
