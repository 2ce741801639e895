// Overrides of a schedule for the prices of another version.
import { expect, test } from 'vitest'
import { carriedOverrides, type PlacedPrice } from './carry-overrides.ts'
import type { OverrideItem, OverridePricing } from './schema.ts'

const price = (versionId: string, path: string, pricingType = 'FLAT'): PlacedPrice => {
  const [pricingId = '', itemId = '', configId = ''] = path.split('/').map(name => `${versionId}-${name}`)
  return { versionId, pricingId, itemId, configId, pricingType }
}
const item = (path: string, kind: 'ALL' | 'SPECIFIC', terms: object | null = null): OverrideItem => {
  const { itemId, configId } = price('old', path)
  const configs = terms ? [{ original_pricing_item_config_id: configId, ...terms }] : []
  return { original_pricing_item_id: itemId, override: kind, configs }
}
const override = (pricing: string, kind: 'ALL' | 'SPECIFIC', ...items: OverrideItem[]): OverridePricing => ({
  original_pricing_id: `old-${pricing}`,
  override: kind,
  name: 'Deal',
  items,
})
const bands = [{ amount: { quantity: '0.01', currency: 'EUR' } }]

/** The overrides in the new version, where each old path becomes the paths named beside it. */
function carried(overrides: OverridePricing[], map: Record<string, readonly (string | PlacedPrice)[]>) {
  const prices = Object.keys(map).map(path => price('old', path))
  return carriedOverrides(overrides, {
    prices,
    replacing: ({ configId }) =>
      Object.entries(map)
        .filter(([path]) => price('old', path).configId === configId)
        .flatMap(([, to]) => to.map(each => (typeof each === 'string' ? price('new', each) : each))),
  })
}
/** Each override in short: `pricing KIND: item KIND [prices]`. */
const short = (overrides: readonly OverridePricing[]) =>
  overrides.map(
    ({ original_pricing_id: id, override: kind, items }) =>
      `${id} ${kind}: ${items
        .map(
          each =>
            `${each.original_pricing_item_id} ${each.override} [${each.configs.map(config => config.original_pricing_item_config_id)}]`,
        )
        .join(', ')}`,
  )

test('a price keeps what was agreed, under the ids of the new version', () => {
  const own = override('p', 'SPECIFIC', item('p/tokens/a', 'SPECIFIC', { bands, billing_in_advance: false }))
  expect(carried([own], { 'p/tokens/a': ['q/tokens/b'], 'p/fee/f': ['q/fee/f'] })).toEqual([
    {
      original_pricing_id: 'new-q',
      override: 'SPECIFIC',
      name: 'Deal',
      items: [
        {
          original_pricing_item_id: 'new-tokens',
          override: 'SPECIFIC',
          configs: [{ original_pricing_item_config_id: 'new-b', bands, billing_in_advance: false }],
        },
      ],
    },
  ])
})

test('what nothing replaces is left out', () => {
  const own = override('p', 'SPECIFIC', item('p/tokens/a', 'SPECIFIC', { bands }))
  expect(carried([own], { 'p/tokens/a': [], 'p/fee/f': ['q/fee/f'] })).toEqual([])
  expect(carried([own], {})).toEqual([])
  expect(carried([], { 'p/tokens/a': ['q/tokens/b'] })).toEqual([])
})

test('bands keep the type of price that they were agreed for; what is of any type does not', () => {
  const to = { 'p/tokens/a': [price('new', 'q/tokens/b', 'TIERED')] }
  const typeOf = (terms: object) =>
    carried([override('p', 'SPECIFIC', item('p/tokens/a', 'SPECIFIC', terms))], to)[0]?.items[0]?.configs[0]
      ?.pricing_type
  expect(typeOf({ bands })).toBe('FLAT')
  expect(typeOf({ bands, pricing_type: 'STAIR_STEP' })).toBe('STAIR_STEP')
  expect(typeOf({ billing_in_advance: true })).toBeUndefined()
})

test('ALL leaves out what it left out, and stays ALL where one pricing replaces one', () => {
  const all = override('p', 'ALL', item('p/tokens/a', 'ALL', { bands }))
  const one = { 'p/tokens/a': ['q/tokens/b'], 'p/fee/f': ['q/fee/g'] }
  expect(short(carried([all], one))).toEqual(['new-q ALL: new-tokens ALL [new-b], new-fee ALL []'])
  // What it stated is not sold any more; the rest stays left out.
  expect(short(carried([all], { ...one, 'p/tokens/a': [] }))).toEqual(['new-q ALL: new-fee ALL []'])
})

test('ALL holds for items alone where pricings are split or joined', () => {
  const all = override('p', 'ALL', item('p/tokens/a', 'ALL', { bands }))
  expect(short(carried([all], { 'p/tokens/a': ['q/tokens/b'], 'p/fee/f': ['r/fee/g'] }))).toEqual([
    'new-q SPECIFIC: new-tokens ALL [new-b]',
    'new-r SPECIFIC: new-fee ALL []',
  ])
  expect(short(carried([all], { 'p/tokens/a': ['q/tokens/b'], 'other/fee/f': ['q/fee/g'] }))).toEqual([
    'new-q SPECIFIC: new-tokens ALL [new-b]',
  ])
})

test('in each version of a rate card, and where two prices become one the first holds', () => {
  const all = override('p', 'ALL', item('p/tokens/a', 'ALL', { bands }))
  const card = [price('first', 'q/tokens/b'), price('second', 'q/tokens/b')]
  expect(short(carried([all], { 'p/tokens/a': card }))).toEqual([
    'first-q ALL: first-tokens ALL [first-b]',
    'second-q ALL: second-tokens ALL [second-b]',
  ])
  const both = override(
    'p',
    'SPECIFIC',
    item('p/tokens/a', 'SPECIFIC', { bands }),
    item('p/more/c', 'SPECIFIC', { bands: [] }),
  )
  const [joined] = carried([both], { 'p/tokens/a': ['q/tokens/b'], 'p/more/c': ['q/tokens/b'] })
  expect(joined?.items[0]?.configs).toEqual([{ original_pricing_item_config_id: 'new-b', bands }])
})
