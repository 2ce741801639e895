import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { instantOf } from '../time.ts'
import {
  type AttributedCustomer,
  type Attribution,
  attribute,
  type Candidate,
  type PlanVersionPeriod,
} from './attribute.ts'
import { placesOf } from './replicate.ts'
import { SELECTOR_COMPARATORS, SELECTOR_FIELDS, type Selector, selectorOf, subscriptionKey } from './selector.ts'

const at = (time: number) => instantOf(time)
const held = (start: number, end: number | null, over: Partial<PlanVersionPeriod> = {}): PlanVersionPeriod => ({
  start: at(start),
  end: end === null ? null : at(end),
  versionId: 'v',
  planReference: 'basic',
  meters: new Set(['m']),
  ...over,
})
const candidate = (id: string, over: Partial<Candidate> = {}): Candidate => ({
  id,
  reference: `ref-${id}`,
  billingEntityCountry: 'NL',
  held: [held(100, null)],
  replicatesToParent: false,
  ...over,
})
const customer = (subscriptions: Candidate[], over: Partial<AttributedCustomer> = {}): AttributedCustomer => ({
  id: 'c',
  terms: [{ from: at(0), selector: null, parentIds: [] }],
  processingOnly: false,
  subscriptions,
  ...over,
})
const own = (selector: Selector) => ({ terms: [{ from: at(0), selector, parentIds: [] }] })
const event = (subscription = '', timestamp = 150, meterReference = 'm') => ({
  subscription,
  timestamp: at(timestamp),
  meterReference,
})
const outcome = (found: Attribution): string =>
  found.kind === 'NONE' ? found.reason : `${found.subscription.id} ${found.by}`

const COUNTRY = 'BILLING_ENTITY_REGISTERED_ADDRESS_COUNTRY'
const PLAN = 'PRICING_PLAN_REFERENCE'
const selecting = (selector: Parameters<typeof selectorOf>[0]) =>
  subscriptionKey({ kind: 'SELECTOR', selector: selectorOf(selector) })
const byPlan = (value: string, fallback: 'LATEST' | 'NONE' = 'LATEST') =>
  selectorOf({ filters: [{ field: PLAN, type: 'EQUALS', value }], fallback })
const byCountry = selectorOf({ rules: [{ field: COUNTRY, type: 'EQUALS' }], fallback: 'NONE' })

const A = candidate('a')
const B = candidate('b', {
  held: [held(120, null, { planReference: 'gold' })],
  billingEntityCountry: 'DE',
})
const LATER = candidate('later', { held: [held(200, null)] })
const OTHER_METER = candidate('other', { held: [held(100, null, { meters: new Set(['n']) })] })

describe('which subscription an event belongs to', () => {
  const rows: [string, AttributedCustomer, ReturnType<typeof event>, string][] = [
    ['the only one', customer([A]), event(), 'a ONLY'],
    ['none where there is none', customer([]), event(), 'NO_SUBSCRIPTION'],
    ['none before it starts', customer([LATER]), event(), 'NO_SUBSCRIPTION'],
    ['it, the instant it starts', customer([A]), event('', 100), 'a ONLY'],
    ['none, the instant it ends', customer([candidate('x', { held: [held(100, 150)] })]), event(), 'NO_SUBSCRIPTION'],
    ['none that prices another meter', customer([OTHER_METER]), event(), 'NO_PRICING'],
    ['the only one that prices the meter', customer([A, OTHER_METER]), event(), 'a ONLY'],
    ['the one that started last of several', customer([B, A]), event(), 'b LATEST'],
    ['the later made of two that started together', customer([A, candidate('b')]), event(), 'b LATEST'],
    ['not one that starts after it', customer([A, LATER]), event(), 'a ONLY'],
    ['the one it names by id', customer([A, B]), event('id:a'), 'a ID'],
    ['the one it names by reference', customer([A, B]), event('ref:ref-a'), 'a REFERENCE'],
    ['an id is no reference', customer([A]), event('ref:a'), 'SUBSCRIPTION_NOT_FOUND'],
    ['none when it names one that is not there', customer([A]), event('id:zzz'), 'SUBSCRIPTION_NOT_FOUND'],
    ['none when the named one is not in force', customer([A, LATER]), event('id:later'), 'NO_SUBSCRIPTION'],
    ['none when the named one prices other meters', customer([A, OTHER_METER]), event('id:other'), 'NO_PRICING'],
    ['the one a filter passes', customer([A, B]), event(selecting(byPlan('basic'))), 'a EVENT_SELECTOR'],
    ['the latest when no filter passes', customer([A, B]), event(selecting(byPlan('none'))), 'b LATEST'],
    [
      'none when no filter passes and it says so',
      customer([A, B]),
      event(selecting(byPlan('x', 'NONE'))),
      'SELECTOR_NOT_MATCHED',
    ],
    ["the one of the customer's selector", customer([A, B], own(byPlan('basic'))), event(), 'a CUSTOMER_SELECTOR'],
    [
      "the event's selector before the customer's",
      customer([A, B], own(byPlan('basic'))),
      event(selecting(byPlan('gold'))),
      'b EVENT_SELECTOR',
    ],
    [
      "the customer's rules with the event's data",
      customer([A, B], own(byCountry)),
      event(selecting({ data: [{ field: COUNTRY, value: 'NL' }] })),
      'a CUSTOMER_SELECTOR',
    ],
    ['a rule without data passes nobody', customer([A, B], own(byCountry)), event(), 'SELECTOR_NOT_MATCHED'],
    [
      'data alone, without a selector that asks, passes everybody',
      customer([A, B]),
      event(selecting({ data: [{ field: COUNTRY, value: 'NL' }] })),
      'b EVENT_SELECTOR',
    ],
    ['none of one that is never billed', customer([A], { processingOnly: true }), event(), 'PROCESSING_ONLY'],
    ['the name before the selector', customer([A, B], own(byPlan('gold'))), event('id:a'), 'a ID'],
  ]
  test.each(rows)('%s', (_name, of, sent, expected) => expect(outcome(attribute(of, sent))).toBe(expected))

  test('is decided by what held at its time, whatever the customer says since', () => {
    const terms = [
      { from: at(0), selector: byPlan('basic'), parentIds: [] },
      { from: at(160), selector: byPlan('gold'), parentIds: [] },
    ]
    const both = customer([A, B], { terms })
    expect(outcome(attribute(both, event('', 159)))).toBe('a CUSTOMER_SELECTOR')
    expect(outcome(attribute(both, event('', 160)))).toBe('b CUSTOMER_SELECTOR')
  })
})

describe('a comparator of a selector', () => {
  const rows: [(typeof SELECTOR_COMPARATORS)[number], string | null, string | null, boolean][] = [
    ['EQUALS', 'NL', 'NL', true],
    ['EQUALS', 'nl', 'NL', false],
    ['IN', 'NL', 'NL', true],
    ['NOT_EQUALS', 'DE', 'NL', true],
    ['NOT_EQUALS', 'NL', 'NL', false],
    ['NOT_IN', null, 'NL', true],
    ['CONTAINS', 'gold-2', 'gold', true],
    ['NOT_CONTAINS', 'gold-2', 'gold', false],
    ['EMPTY', null, null, true],
    ['NOT_EMPTY', 'NL', null, true],
    ['NOT_EMPTY', null, null, false],
  ]
  test.each(rows)('%s of %s with %s', (type, field, value, passes) => {
    const selector = selectorOf({ filters: [{ field: COUNTRY, type, value }], fallback: 'NONE' })
    const found = attribute(customer([candidate('a', { billingEntityCountry: field })]), event(selecting(selector)))
    expect(found.kind === 'SUBSCRIPTION').toBe(passes)
  })
})

describe('an event goes on to parents', () => {
  const related = (over: Partial<AttributedCustomer>, parentIds: string[]) =>
    customer([], { terms: [{ from: at(0), selector: null, parentIds }], ...over })
  const directory = (...all: AttributedCustomer[]) => new Map(all.map(each => [each.id, each]))
  const places = (all: AttributedCustomer[], sent = event()) =>
    placesOf(directory(...all), 'child', sent).map(
      ({ customerId, attribution }) => `${customerId}: ${outcome(attribution)}`,
    )
  const parent = customer([B], { id: 'parent' })

  test('when its subscription replicates, and not when it does not', () => {
    const replicating = [candidate('a', { replicatesToParent: true })]
    expect(places([related({ id: 'child', subscriptions: replicating }, ['parent']), parent])).toEqual([
      'child: a ONLY',
      'parent: b ONLY',
    ])
    expect(places([related({ id: 'child', subscriptions: [A] }, ['parent']), parent])).toEqual(['child: a ONLY'])
  })
  test('when its customer is never billed itself, and there by what a selector says but not by name', () => {
    const child = related({ id: 'child', processingOnly: true }, ['parent'])
    const two = customer([A, B], { id: 'parent' })
    expect(places([child, two], event('id:a'))).toEqual(['child: PROCESSING_ONLY', 'parent: b LATEST'])
    expect(places([child, two], event(selecting(byPlan('basic'))))).toEqual([
      'child: PROCESSING_ONLY',
      'parent: a EVENT_SELECTOR',
    ])
  })
  test('who is NON_PROCESSING, and is billed for them though never for events of its own', () => {
    const holding = customer([A], { id: 'holding', nonProcessing: true })
    const child = related({ id: 'child', processingOnly: true }, ['holding'])
    expect(places([child, holding])).toEqual(['child: PROCESSING_ONLY', 'holding: a ONLY'])
    const replicating = customer([candidate('b', { replicatesToParent: true })], { id: 'child' })
    for (const sent of [event(), event('id:b')])
      expect(places([related({ ...replicating, nonProcessing: true }, ['parent']), parent], sent)).toEqual([
        'child: NO_SUBSCRIPTION',
      ])
  })
  test('over generations, to each of several, and to nobody twice', () => {
    const all = [
      related({ id: 'child', processingOnly: true }, ['left', 'right']),
      related({ id: 'left', processingOnly: true }, ['parent']),
      related({ id: 'right', processingOnly: true }, ['parent', 'nobody-knows', 'child']),
      parent,
    ]
    expect(places(all)).toEqual([
      'child: PROCESSING_ONLY',
      'left: PROCESSING_ONLY',
      'right: PROCESSING_ONLY',
      'parent: b ONLY',
    ])
  })
})

describe('whatever the customer has and the event says', () => {
  const field = fc.constantFrom(...SELECTOR_FIELDS)
  const value = fc.constantFrom('NL', 'DE', 'basic', 'gold')
  const test_ = fc.record({ field, type: fc.constantFrom(...SELECTOR_COMPARATORS) })
  const selector = fc
    .record({
      data: fc.array(fc.record({ field, value }), { maxLength: 3 }),
      rules: fc.array(test_, { maxLength: 2 }),
      filters: fc.array(
        fc.tuple(test_, value).map(([each, given]) => ({ ...each, value: given })),
        { maxLength: 2 },
      ),
      fallback: fc.constantFrom('LATEST' as const, 'NONE' as const),
    })
    .map(selectorOf)
  const part = fc
    .record({
      start: fc.integer({ min: 0, max: 90 }),
      length: fc.option(fc.integer({ min: 1, max: 60 })),
      planReference: fc.constantFrom('basic', 'gold'),
      meters: fc.subarray(['m', 'n']),
    })
    .map(({ start, length, planReference, meters }) =>
      held(start, length === null ? null : start + length, { planReference, meters: new Set(meters) }),
    )
  const subscription = fc.record({
    held: fc.array(part, { minLength: 1, maxLength: 1 }),
    country: fc.option(fc.constantFrom('NL', 'DE')),
  })
  const subscriptions = fc
    .array(subscription, { maxLength: 4 })
    .map(list =>
      list.map((each, index) => candidate(`s${index}`, { held: each.held, billingEntityCountry: each.country })),
    )
  const key = fc.oneof(
    fc.constant(''),
    fc.constantFrom('id:s0', 'ref:ref-s1', 'id:nobody'),
    selector.map(each => subscriptionKey({ kind: 'SELECTOR', selector: each })),
  )
  const anything = fc.record({
    subscriptions,
    own: fc.option(selector),
    key,
    timestamp: fc.integer({ min: 0, max: 150 }),
  })
  const asked = ({
    subscriptions: list,
    own: chosen,
    key: sent,
    timestamp,
  }: typeof anything extends fc.Arbitrary<infer T> ? T : never) =>
    attribute(customer(list, { terms: [{ from: at(0), selector: chosen, parentIds: [] }] }), event(sent, timestamp))

  test('it belongs to one that is in force at its time and prices its meter, or to none', () => {
    fc.assert(
      fc.property(anything, given => {
        const found = asked(given)
        if (found.kind === 'NONE') return
        expect(found.held.start).toBeLessThanOrEqual(given.timestamp)
        expect(found.held.end ?? Number.POSITIVE_INFINITY).toBeGreaterThan(given.timestamp)
        expect(found.held.meters.has('m')).toBe(true)
        expect(given.subscriptions).toContain(found.subscription)
      }),
    )
  })
  test('the order in which subscriptions are read does not matter', () => {
    fc.assert(
      fc.property(anything, given => {
        expect(outcome(asked({ ...given, subscriptions: given.subscriptions.toReversed() }))).toBe(
          outcome(asked(given)),
        )
      }),
    )
  })
  test('without names and with LATEST to fall back on, usage that something prices is never left out', () => {
    const falling = anything.map(given => ({
      ...given,
      own: given.own && { ...given.own, fallback: 'LATEST' as const },
      key: given.key.startsWith('sel:') ? given.key.replace('"NONE"', '"LATEST"') : '',
    }))
    fc.assert(
      fc.property(falling, given => {
        const priced = given.subscriptions.some(({ held: parts }) =>
          parts.some(
            ({ start, end, meters }) =>
              start <= given.timestamp && given.timestamp < (end ?? Number.POSITIVE_INFINITY) && meters.has('m'),
          ),
        )
        expect(asked(given).kind === 'SUBSCRIPTION').toBe(priced)
      }),
    )
  })
  test('a text that an event carries says the same again when it is read', () => {
    fc.assert(
      fc.property(selector, each => {
        const text = subscriptionKey({ kind: 'SELECTOR', selector: each })
        const shuffled = {
          ...each,
          data: each.data.toReversed(),
          filters: [...each.filters, ...each.filters].toReversed(),
        }
        expect(subscriptionKey({ kind: 'SELECTOR', selector: shuffled })).toBe(text)
        expect(subscriptionKey({ kind: 'SELECTOR', selector: selectorOf(JSON.parse(text.slice(4))) })).toBe(text)
      }),
    )
  })
})
