// Overrides of prices: what a change makes of those that are stored, and the prices that result (semantics 4.3).
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changedOverrides, isOverridden, overridden, pathInBody } from './merge-overrides.ts'
import type { GivenOverride, OverridePricing } from './schema.ts'

const eur = (quantity: string) => ({ amount: { quantity, currency: 'EUR' } })
const flat = (id: string, quantity: string) => ({ original_pricing_item_config_id: id, bands: [eur(quantity)] })
const only = (id: string) => ({ original_pricing_item_config_id: id })
const item = (id: string, configs: GivenOverride['items'][number]['configs'], override?: 'ALL' | 'SPECIFIC') => ({
  original_pricing_item_id: id,
  configs,
  ...(override ? { override } : {}),
})
const pricing = (id: string, items: GivenOverride['items'], more: Partial<GivenOverride> = {}): GivenOverride => ({
  original_pricing_id: id,
  items,
  ...more,
})
/** Such as `P: ALL [i: SPECIFIC [c]]`. */
const shown = (all: readonly OverridePricing[]): string[] =>
  all.map(entry => {
    const items = entry.items.map(each => {
      const configs = each.configs.map(config => {
        const [band] = config.bands ?? []
        return `${config.original_pricing_item_config_id}${band?.amount ? `=${band.amount.quantity}` : ''}`
      })
      return `${each.original_pricing_item_id}: ${each.override} [${configs.join(' ')}]`
    })
    return `${entry.original_pricing_id}${entry.name ? ` ${entry.name}` : ''}: ${entry.override} [${items.join(', ')}]`
  })

const STORED = changedOverrides(
  [],
  [
    pricing('P', [item('i', [flat('a', '1'), flat('b', '2')]), item('j', [flat('c', '3')])]),
    pricing('Q', [item('k', [flat('d', '4')])], { override: 'ALL' }),
  ],
)

describe('a change of overrides', () => {
  test.each<[string, GivenOverride[], string[]]>([
    [
      'that names nothing leaves them',
      [],
      ['P: SPECIFIC [i: SPECIFIC [a=1 b=2], j: SPECIFIC [c=3]]', 'Q: ALL [k: ALL [d=4]]'],
    ],
    [
      'of one price leaves the others',
      [pricing('P', [item('i', [flat('b', '9')])])],
      ['P: SPECIFIC [i: SPECIFIC [a=1 b=9], j: SPECIFIC [c=3]]', 'Q: ALL [k: ALL [d=4]]'],
    ],
    [
      'adds a price, an item and a pricing at the end',
      [
        pricing('P', [item('j', [flat('e', '5')]), item('m', [flat('f', '6')])]),
        pricing('R', [item('n', [flat('g', '7')])]),
      ],
      [
        'P: SPECIFIC [i: SPECIFIC [a=1 b=2], j: SPECIFIC [c=3 e=5], m: SPECIFIC [f=6]]',
        'Q: ALL [k: ALL [d=4]]',
        'R: SPECIFIC [n: SPECIFIC [g=7]]',
      ],
    ],
    [
      'takes back a price that it names without terms',
      [pricing('P', [item('i', [only('a')])])],
      ['P: SPECIFIC [i: SPECIFIC [b=2], j: SPECIFIC [c=3]]', 'Q: ALL [k: ALL [d=4]]'],
    ],
    [
      'takes back an item without prices',
      [pricing('P', [item('i', [])])],
      ['P: SPECIFIC [j: SPECIFIC [c=3]]', 'Q: ALL [k: ALL [d=4]]'],
    ],
    [
      'takes back a pricing without items',
      [pricing('Q', [])],
      ['P: SPECIFIC [i: SPECIFIC [a=1 b=2], j: SPECIFIC [c=3]]'],
    ],
    [
      'with ALL replaces what is stored',
      [pricing('P', [item('j', [flat('c', '8')])], { override: 'ALL', name: 'Deal' })],
      ['P Deal: ALL [j: ALL [c=8]]', 'Q: ALL [k: ALL [d=4]]'],
    ],
    [
      'with ALL on an item replaces that item',
      [pricing('P', [item('i', [flat('b', '8')], 'ALL')])],
      ['P: SPECIFIC [i: ALL [b=8], j: SPECIFIC [c=3]]', 'Q: ALL [k: ALL [d=4]]'],
    ],
    [
      'takes back an item of a pricing of ALL, which then has the prices of the plan',
      [pricing('Q', [item('k', [], 'SPECIFIC')])],
      ['P: SPECIFIC [i: SPECIFIC [a=1 b=2], j: SPECIFIC [c=3]]', 'Q: ALL [k: SPECIFIC []]'],
    ],
    [
      'with SPECIFIC changes a price of an override of ALL',
      [pricing('Q', [item('k', [flat('d', '5')], 'SPECIFIC')])],
      ['P: SPECIFIC [i: SPECIFIC [a=1 b=2], j: SPECIFIC [c=3]]', 'Q: ALL [k: ALL [d=5]]'],
    ],
  ])('%s', (_title, given, expected) => expect(shown(changedOverrides(STORED, given))).toEqual(expected))

  test('takes back an item that was overridden as a whole: it is not left out for nothing', () => {
    const whole = changedOverrides(
      [],
      [pricing('P', [item('i', [flat('b', '8')], 'ALL'), item('j', [flat('c', '3')])])],
    )
    const taken = changedOverrides(whole, [pricing('P', [item('i', [])])])
    expect(shown(taken)).toEqual(['P: SPECIFIC [j: SPECIFIC [c=3]]'])
    expect(changedOverrides(whole, [pricing('P', [item('i', []), item('j', [])])])).toEqual([])
  })

  test('merges the terms of one price, and takes the other name of its type', () => {
    const included = { original_pricing_item_config_id: 'a', type: 'TIERED', default_included_volume: { number: '5' } }
    const [first] = changedOverrides(STORED, [pricing('P', [item('i', [included])])])
    expect(first?.items[0]?.configs[0]).toEqual({
      ...flat('a', '1'),
      pricing_type: 'TIERED',
      default_included_volume: { number: '5' },
    })
  })

  test('is the same a second time, and what is stored is left as it is by itself', () => {
    const configs = fc.array(
      fc.constantFrom('a', 'b').chain(id => fc.constantFrom(flat(id, '1'), flat(id, '2'), only(id))),
      { maxLength: 2 },
    )
    const kind = fc.constantFrom<('ALL' | 'SPECIFIC')[]>('ALL', 'SPECIFIC')
    const items = fc.array(
      fc.record({ original_pricing_item_id: fc.constantFrom('i', 'j'), override: kind, configs }),
      { maxLength: 2 },
    )
    const list = fc
      .uniqueArray(fc.record({ original_pricing_id: fc.constantFrom('P', 'Q'), override: kind, items }), {
        selector: each => each.original_pricing_id,
      })
      // A price, and an item, once.
      .filter(all => all.every(each => isOnce(each.items.map(own => own.original_pricing_item_id))))
      .filter(all =>
        all.every(each =>
          each.items.every(own => isOnce(own.configs.map(config => config.original_pricing_item_config_id))),
        ),
      )
    fc.assert(
      fc.property(list, list, (before, given) => {
        const stored = changedOverrides([], before)
        expect(changedOverrides(stored, [])).toEqual(stored)
        expect(changedOverrides([], stored)).toEqual(stored)
        const once = changedOverrides(stored, given)
        expect(changedOverrides(once, given)).toEqual(once)
      }),
    )
  })
})
const isOnce = (ids: readonly string[]): boolean => new Set(ids).size === ids.length

describe('a pricing with overrides', () => {
  const config = (id: string, quantity: string) => ({
    id,
    pricing_type: 'FLAT',
    type: 'FLAT',
    bands: [eur(quantity)],
    conditions: { of: id },
    top_up: { rollover: true },
  })
  const PLAN = {
    id: 'P',
    name: 'Standard',
    items: [
      { id: 'i', configs: [config('a', '10'), config('b', '20')] },
      { id: 'j', configs: [config('c', '30')] },
    ],
  }
  const prices = (given: readonly GivenOverride[]): string[] =>
    overridden(PLAN, changedOverrides([], given)).items.flatMap(own =>
      own.configs.map(({ id, pricing_type, bands }) =>
        `${id} ${pricing_type} ${bands.map(({ amount }) => amount.quantity)}`.trim(),
      ),
    )

  test.each<[string, GivenOverride, string[]]>([
    ['of one price', pricing('P', [item('i', [flat('b', '5')])]), ['a FLAT 10', 'b FLAT 5', 'c FLAT 30']],
    [
      'of everything',
      pricing('P', [item('i', [flat('b', '5')])], { override: 'ALL' }),
      ['a NONE', 'b FLAT 5', 'c NONE'],
    ],
    ['of all of an item', pricing('P', [item('i', [flat('b', '5')], 'ALL')]), ['a NONE', 'b FLAT 5', 'c FLAT 30']],
    [
      'of everything but one item',
      pricing('P', [item('j', [], 'SPECIFIC'), item('i', [flat('b', '5')])], { override: 'ALL' }),
      ['a NONE', 'b FLAT 5', 'c FLAT 30'],
    ],
    ['of another pricing', pricing('Q', [item('i', [flat('b', '5')])]), ['a FLAT 10', 'b FLAT 20', 'c FLAT 30']],
  ])('%s', (_title, given, expected) => expect(prices([given])).toEqual(expected))

  test('keeps its ids and the usage that each price is of; terms of another type go', () => {
    const given = pricing('P', [item('i', [{ ...flat('a', '5'), pricing_type: 'TIERED' }])], { name: 'Deal' })
    const result = overridden(PLAN, changedOverrides([], [given]))
    expect(result).toMatchObject({ id: 'P', name: 'Deal' })
    expect(result.items[0]?.configs[0]).toEqual({
      ...config('a', '5'),
      pricing_type: 'TIERED',
      type: 'TIERED',
      top_up: null,
      step_accumulation: null,
    })
    expect(overridden(PLAN, [])).toBe(PLAN)
  })

  test('of another type, or of everything, no longer rounds blocks', () => {
    const [first] = PLAN.items
    const rounding = { ...config('a', '10'), block_rounding: 'UP' }
    const plan = { ...PLAN, items: [{ id: 'i', configs: [rounding, ...(first?.configs.slice(1) ?? [])] }] }
    const said = (given: GivenOverride) => overridden(plan, changedOverrides([], [given])).items[0]?.configs[0]
    expect(said(pricing('P', [item('i', [flat('a', '5')])]))).toMatchObject({ block_rounding: 'UP' })
    expect(said(pricing('P', [item('i', [{ ...flat('a', '5'), pricing_type: 'NONE' }])]))).toMatchObject({
      block_rounding: null,
    })
    expect(said(pricing('P', [item('j', [flat('c', '5')])], { override: 'ALL' }))).toMatchObject({
      pricing_type: 'NONE',
      block_rounding: null,
    })
    expect(said(pricing('P', [item('i', [flat('a', '5')])], { override: 'ALL' }))).toMatchObject({
      block_rounding: null,
    })
  })

  test('a price without bands, sent as null, has none', () => {
    const given = pricing('P', [item('i', [{ original_pricing_item_config_id: 'a', type: 'NONE', bands: null }])])
    expect(overridden(PLAN, changedOverrides([], [given])).items[0]?.configs[0]).toMatchObject({
      type: 'NONE',
      bands: [],
    })
  })

  test('says which of its prices are overridden', () => {
    const overrides = changedOverrides([], [pricing('P', [item('i', [flat('b', '5')])])])
    const is = (itemId: string, configId: string) =>
      isOverridden(overrides, { pricing: PLAN, item: { id: itemId }, config: { id: configId } })
    expect([is('i', 'a'), is('i', 'b'), is('j', 'c')]).toEqual([false, true, false])
  })
})

test.each<[string, string]>([
  ['override_pricings.0.original_pricing_id', 'override_pricings'],
  ['override_pricings.1.original_pricing_id', 'override_pricings.0.original_pricing_id'],
  ['override_pricings.1.items.0.configs.1.bands.0.amount', 'override_pricings.0.items.0.configs.0.bands.0.amount'],
  ['override_pricings.1.items.0.configs.0.bands', 'override_pricings.0.items.0'],
  ['override_pricings.1.items.1', 'override_pricings.0'],
])('what is refused at %s of the result stands at %s of the body', (field, expected) => {
  const given = [pricing('P', [item('i', [flat('b', '9')])])]
  const stored = changedOverrides(
    [],
    [
      pricing('Q', [item('k', [flat('d', '4')])]),
      ...[pricing('P', [item('i', [flat('a', '1'), flat('b', '2')]), item('j', [flat('c', '3')])])],
    ],
  )
  expect(pathInBody(field, changedOverrides(stored, given), given)).toBe(expected)
})
