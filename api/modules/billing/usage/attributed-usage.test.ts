// Billing compared with a model: every event by itself, given to the subscription that attribution names.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { placesOf } from '../../../../shared/attribution/replicate.ts'
import { type Decimal, decimalOfInteger, max, min, plain, sum } from '../../../../shared/decimal.ts'
import { type Instant, instantOf, interval } from '../../../../shared/time.ts'
import type { UsageCalculation, UsageQuantity } from '../../../usage/usage-query.ts'
import { type AttributionInputs, directoryOf } from '../../subscriptions/attribution/load-attribution.ts'
import { usageParts } from '../terms/usage-parts.ts'
import { attributedUsage, type UsagePartQuery } from './attributed-usage.ts'
import { usageOfCustomers } from './customer-usage.ts'
import { splitUsage } from './split-usage.ts'

type Event = { customer: string; subscription: string; timestamp: Instant; value: number; user: string }
const METER = 'm'

const part = fc.record({
  start_ms: fc.nat(80),
  end_ms: fc.option(fc.integer({ min: 81, max: 120 })),
  version_id: fc.constant('v'),
  plan_reference: fc.constantFrom('basic', 'gold'),
  meters: fc.subarray([METER, 'n'], { minLength: 1 }),
})
const subscription = fc.record({
  customer_id: fc.constantFrom('parent', 'child', 'sender'),
  replicates: fc.boolean(),
  country: fc.constantFrom('NL', 'DE', null),
  held: fc.tuple(part),
})
const selector = fc.constantFrom(
  null,
  { filters: [{ field: 'PRICING_PLAN_REFERENCE' as const, type: 'EQUALS' as const, value: 'gold' }] },
  {
    rules: [{ field: 'BILLING_ENTITY_REGISTERED_ADDRESS_COUNTRY' as const, type: 'EQUALS' as const }],
    fallback: 'NONE' as const,
  },
)
const terms = (parents: string[]) =>
  fc.tuple(selector, selector, fc.nat(100)).map(([first, second, ms]) => [
    { from: new Date(0).toISOString(), selector: first, parent_customer_ids: parents },
    { from: new Date(ms).toISOString(), selector: second, parent_customer_ids: parents },
  ])
const inputs: fc.Arbitrary<AttributionInputs> = fc
  .record({
    subscriptions: fc.array(subscription, { minLength: 1, maxLength: 4 }),
    own: terms([]),
    child: terms(['parent']),
  })
  .map(({ subscriptions, own, child }) => ({
    customers: [
      { id: 'child', reference: 'child-reference', processing_only: false, terms: child },
      { id: 'parent', reference: null, processing_only: false, terms: own },
      { id: 'sender', reference: null, processing_only: true, terms: child },
    ],
    subscriptions: subscriptions.map((each, index) => ({ ...each, id: `s${index}`, reference: `r${index}` })),
  }))
const event: fc.Arbitrary<Event> = fc.record({
  customer: fc.constantFrom('parent', 'child', 'child-reference', 'sender'),
  subscription: fc.constantFrom(
    '',
    '',
    'id:s0',
    'id:s1',
    'ref:r1',
    'id:nobody',
    'sel:{"data":[{"field":"BILLING_ENTITY_REGISTERED_ADDRESS_COUNTRY","value":"NL"}],"fallback":"LATEST"}',
    'sel:{"filters":[{"field":"PRICING_PLAN_REFERENCE","type":"EQUALS","value":"basic"}],"fallback":"NONE"}',
  ),
  timestamp: fc.nat(110).map(instantOf),
  value: fc.integer({ min: -50, max: 50 }),
  user: fc.constantFrom('u1', 'u2', 'u3'),
})

const VALUE = { valueReference: 'tokens' } as const
const CALCULATIONS: readonly UsageCalculation[] = [
  ...(['SUM', 'MAX', 'MIN', 'AVERAGE'] as const).map(type => ({ type, ...VALUE })),
  { type: 'UNIQUE', property: { reference: 'user', type: 'STRING' } },
]

const numberOf = ({ type }: UsageCalculation, events: readonly Event[]): Decimal => {
  const values = events.map(({ value }) => decimalOfInteger(value))
  switch (type) {
    case 'SUM':
      return sum(values)
    case 'MAX':
      return values.reduce(max)
    case 'MIN':
      return values.reduce(min)
    case 'AVERAGE':
      return sum(values).div(decimalOfInteger(values.length))
    case 'UNIQUE':
      return decimalOfInteger(new Set(events.map(({ user }) => user)).size)
  }
}

/** The figures of each customer from these events, by customer id. */
function byCustomer(calculation: UsageCalculation, events: readonly Event[]) {
  const idOf = ({ customer }: Event): string => (customer === 'child-reference' ? 'child' : customer)
  return ['child', 'parent', 'sender'].flatMap(customerId => {
    const own = events.filter(each => idOf(each) === customerId)
    if (own.length === 0) return []
    const number = numberOf(calculation, own)
    const weight = calculation.type === 'AVERAGE' ? sum(own.map(({ value }) => decimalOfInteger(value))) : number
    return [{ customerId, currency: null, number, count: own.length, weight }]
  })
}

/**
 * Usage as a list of events: what `queryUsage` returns, in a few lines; `byDay` splits it by the tens digit of the day
 * first.
 */
const usageOf =
  (events: readonly Event[], byDay = false) =>
  async (question: UsagePartQuery): Promise<UsageQuantity[]> => {
    const { customerKeys, interval: within, calculation, askingFor, grouped, splitBy } = question
    const asked = events.filter(
      each =>
        customerKeys.includes(each.customer) &&
        within.start <= each.timestamp &&
        each.timestamp < within.end &&
        (!askingFor ||
          askingFor.keys.includes(each.subscription) ||
          (askingFor.orSelector && each.subscription.startsWith('sel:'))),
    )
    const groups = new Map<string, Event[]>()
    for (const each of asked) {
      const day = byDay ? [dayOf(each)] : []
      const name = JSON.stringify([grouped ? each.subscription : null, [...day, ...(splitBy ? [each.user] : [])]])
      groups.set(name, [...(groups.get(name) ?? []), each])
    }
    return [...groups].map(([name, members]) => {
      const [subscription, split] = JSON.parse(name) as [string | null, string[]]
      return { currency: null, number: numberOf(calculation, members), count: members.length, split, subscription }
    })
  }

const dayOf = ({ timestamp }: Event): string => String(Math.floor(timestamp / 10))

test('every subscription is billed the events that attribution gives it, by every calculation', async () => {
  await fc.assert(
    fc.asyncProperty(
      inputs,
      fc.array(event, { maxLength: 25 }),
      fc.tuple(fc.nat(40), fc.integer({ min: 41, max: 110 })),
      async (attribution, events, [start, end]) => {
        const directory = directoryOf(attribution)
        const within = interval(instantOf(start), instantOf(end))
        for (const { id } of attribution.subscriptions) {
          const ours = events.filter(each => {
            if (each.timestamp < start || each.timestamp >= end) return false
            const customerId = each.customer === 'child-reference' ? 'child' : each.customer
            return placesOf(directory, customerId, { ...each, meterReference: METER }).some(
              ({ attribution: found }) => found.kind === 'SUBSCRIPTION' && found.subscription.id === id,
            )
          })
          const parts = usageParts(attribution, { subscriptionId: id, meterReference: METER, interval: within })
          for (const calculation of CALCULATIONS) {
            const figures = await attributedUsage(parts, calculation, usageOf(events))
            const answered = figures.map(({ number, count }) => [plain(number), count])
            expect(answered).toEqual(ours.length === 0 ? [] : [[plain(numberOf(calculation, ours)), ours.length]])
            const shared = await usageOfCustomers(parts, calculation, usageOf(events))
            expect(shared.figures).toEqual(figures)
            expect(shared.byCustomer).toEqual(byCustomer(calculation, ours))
            const split = await splitUsage(parts, calculation, { read: usageOf(events, true), width: 1 })
            const days = [...new Set(ours.map(dayOf))].map(day => {
              const own = ours.filter(each => dayOf(each) === day)
              return [day, plain(numberOf(calculation, own)), own.length]
            })
            expect(split.map(each => [each.split?.[0], plain(each.number), each.count]).sort()).toEqual(days.sort())
          }
        }
      },
    ),
    { numRuns: 300 },
  )
})

test('usage that can belong to no other subscription is read in one piece', () => {
  const held = [{ start_ms: 0, end_ms: null, version_id: 'v', plan_reference: 'basic', meters: [METER] }]
  const attribution: AttributionInputs = {
    customers: [{ id: 'c', reference: 'acme', processing_only: false, terms: null }],
    subscriptions: [{ id: 's', reference: null, customer_id: 'c', replicates: false, country: null, held }],
  }
  const within = interval(instantOf(10), instantOf(20))
  const parts = usageParts(attribution, { subscriptionId: 's', meterReference: METER, interval: within })
  expect(parts).toMatchObject([{ customerKeys: ['c', 'acme'], interval: within, keys: ['', 'id:s'] }])
  expect([parts[0]?.isOurs(''), parts[0]?.isOurs('id:s'), parts[0]?.isOurs('id:other')]).toEqual([true, true, false])
})

test('figures per customer need no more reads than figures of all, except for distinct values', async () => {
  const held = [{ start_ms: 0, end_ms: null, version_id: 'v', plan_reference: 'basic', meters: [METER] }]
  const terms = [{ from: new Date(0).toISOString(), selector: null, parent_customer_ids: ['parent'] }]
  const attribution: AttributionInputs = {
    customers: [
      { id: 'a', reference: null, processing_only: true, terms },
      { id: 'b', reference: null, processing_only: true, terms },
      { id: 'parent', reference: null, processing_only: false, terms: null },
    ],
    subscriptions: [{ id: 's', reference: null, customer_id: 'parent', replicates: false, country: null, held }],
  }
  const within = interval(instantOf(10), instantOf(20))
  const parts = usageParts(attribution, { subscriptionId: 's', meterReference: METER, interval: within })
  const events = ['a', 'a', 'b', 'parent'].map(
    (customer, index): Event => ({ customer, subscription: '', timestamp: instantOf(12), value: index, user: 'u1' }),
  )
  for (const calculation of CALCULATIONS) {
    const counting = async (by: typeof attributedUsage | typeof usageOfCustomers): Promise<number> => {
      let reads = 0
      const read = usageOf(events)
      await by(parts, calculation, question => {
        reads += 1
        return read(question)
      })
      return reads
    }
    expect(await counting(usageOfCustomers)).toBe(await counting(attributedUsage))
  }
})
