import { expect, test } from 'vitest'
import { decidingAttribution } from './deciding-attribution.ts'
import type { AttributionInputs, AttributionSubscription } from './load-attribution.ts'

type Held = AttributionSubscription['held'][number]
const held = (more: Partial<Held> = {}): Held => ({
  start_ms: 0,
  end_ms: null,
  version_id: 'v1',
  plan_reference: 'basic',
  meters: ['tokens'],
  ...more,
})
const inputsOf = (...parts: Held[]): AttributionInputs => ({
  customers: [{ id: 'c', reference: 'acme', processing_only: false, terms: null }],
  subscriptions: [{ id: 's', reference: null, customer_id: 'c', replicates: false, country: null, held: parts }],
})
const before = decidingAttribution(inputsOf(held()))
const moved = (more: Partial<Held>) =>
  decidingAttribution(inputsOf(held({ end_ms: 10 }), held({ start_ms: 10, ...more })))

test('a move to another version of the plan that has the same meters decides nothing', () => {
  expect(moved({ version_id: 'v2' })).toEqual(before)
  expect(moved({ version_id: 'v2', pricing_ids: ['p'] })).toEqual(before)
})

test.each<[string, Partial<Held>]>([
  ['other meters', { meters: ['tokens', 'calls'] }],
  ['another plan', { plan_reference: 'large' }],
  ['a gap', { start_ms: 11 }],
  ['an end', { end_ms: 20 }],
])('%s decides', (_, more) => expect(moved({ version_id: 'v2', ...more })).not.toEqual(before))
