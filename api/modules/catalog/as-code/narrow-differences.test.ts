import { expect, test } from 'vitest'
import { narrowed } from './narrow-differences.ts'

const item = (name: string, quantity: string, more: object = {}) => ({
  product_items: [name],
  configs: [{ pricing_type: 'FLAT', bands: [{ amount: { quantity, currency: 'EUR' } }], ...more }],
})
const at = (before: unknown, after: unknown) =>
  narrowed({ field: 'items', before, after }).map(({ field, before: then, after: now }) => [field, then, now])

test('one amount is told as one amount', () => {
  expect(at([item('a', '1'), item('b', '2')], [item('a', '1'), item('b', '3')])).toEqual([
    ['items.1.configs.0.bands.0.amount.quantity', '2', '3'],
  ])
})

test('a price that moves is told by what it prices, and what is added or left out whole', () => {
  const [a, b, c] = [item('a', '1'), item('b', '2'), item('c', '9')]
  expect(at([a, b], [c, item('a', '5')])).toEqual([
    ['items.0', null, c],
    ['items.1.configs.0.bands.0.amount.quantity', '1', '5'],
    ['items.1', b, null],
  ])
})

test('members that one side alone has, and lists of texts, are whole', () => {
  expect(at([item('a', '1', { order: 3 })], [item('a', '1')])).toEqual([['items.0.configs.0.order', 3, null]])
  expect(at({ values: ['x'] }, { values: ['x', 'y'] })).toEqual([['items.values', ['x'], ['x', 'y']]])
  expect(at(null, [item('a', '1')])).toEqual([['items', null, [item('a', '1')]]])
})

test('what is the same is no difference', () => {
  expect(at([item('a', '1'), item('b', '2')], [item('b', '2'), item('a', '1')])).toEqual([])
})
