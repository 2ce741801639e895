import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { narrowed } from './narrow-differences.ts'

const item = (name: string, quantity: string, more: object = {}) => ({
  product_items: [name],
  configs: [{ pricing_type: 'FLAT', bands: [{ amount: { quantity, currency: 'EUR' } }], ...more }],
})
const at = (before: unknown, after: unknown) =>
  narrowed({ field: 'items', before, after }).map(({ field, before: then, after: now }) => [field, then, now])

test('one amount is listed as one amount', () => {
  expect(at([item('a', '1'), item('b', '2')], [item('a', '1'), item('b', '3')])).toEqual([
    ['items[b].configs.0.bands.0.amount.quantity', '2', '3'],
  ])
})

test('a price goes by what it prices, and what is added or left out is listed whole', () => {
  const [a, b, c] = [item('a', '1'), item('b', '2'), item('c', '9')]
  const a5 = ['items[a].configs.0.bands.0.amount.quantity', '1', '5']
  expect(at([a, b], [c, item('a', '5')])).toEqual([['items[c]', null, c], a5, ['items[b]', b, null]])
  expect(at([b, a], [item('a', '5')])).toEqual([a5, ['items[b]', b, null]])
  expect(at([b], [c])).toEqual([
    ['items[c]', null, c],
    ['items[b]', b, null],
  ])
})

test('another order is listed beside an amount that changed', () => {
  expect(at([item('a', '1'), item('b', '2')], [item('b', '3'), item('a', '1')])).toEqual([
    ['items[b].configs.0.bands.0.amount.quantity', '2', '3'],
    ['items', ['a', 'b'], ['b', 'a']],
  ])
})

test('prices of the same items are numbered', () => {
  const [first, second] = [item('a', '1'), item('a', '2')]
  expect(at([first, second], [first, item('a', '3'), item('a', '4')])).toEqual([
    ['items[a (2)].configs.0.bands.0.amount.quantity', '2', '3'],
    ['items[a (3)]', null, item('a', '4')],
  ])
})

test('members that one side alone has, and lists of texts, are whole', () => {
  expect(at([item('a', '1', { order: 3 })], [item('a', '1')])).toEqual([['items[a].configs.0.order', 3, null]])
  expect(at({ values: ['x'] }, { values: ['x', 'y'] })).toEqual([['items.values', ['x'], ['x', 'y']]])
  expect(at(null, [item('a', '1')])).toEqual([['items', null, [item('a', '1')]]])
})

test('what is the same is no difference, and neither is what is left out on one side and null on the other', () => {
  expect(at([item('a', '1')], [item('a', '1')])).toEqual([])
  expect(at([item('a', '1', { order: null })], [item('a', '2')])).toEqual([
    ['items[a].configs.0.bands.0.amount.quantity', '1', '2'],
  ])
})

test('no path is listed twice, whatever changes', () => {
  const anyItem = fc.record({ name: fc.constantFrom('a', 'b', 'c'), quantity: fc.constantFrom('1', '2') })
  const anyList = fc.array(anyItem, { maxLength: 5 }).map(list => list.map(each => item(each.name, each.quantity)))
  fc.assert(
    fc.property(anyList, anyList, (before, after) => {
      const listed = at(before, after).map(([field]) => field)
      expect(new Set(listed).size).toBe(listed.length)
      expect(listed.length === 0).toBe(isDeepStrictEqual(before, after))
    }),
  )
})
