import { expect, test } from 'vitest'
import { unitCodeOf } from './unit-codes.ts'

test.each([
  ['hour', 'hours', 'HUR'],
  ['Minute', 'Minutes', 'MIN'],
  ['GB', 'GB', 'E34'],
  ['kWh', 'kWh', 'KWH'],
  ['kilowatt-hour', 'kilowatt-hours', 'KWH'],
  ['s', 's', 'SEC'],
  ['kilometres', 'kilometres', 'KMT'],
  ['piece', 'pieces', 'H87'],
  ['token', 'tokens', 'C62'],
  ['seat', 'seats', 'C62'],
  ['', '', 'C62'],
])('%s, %s: %s', (singular, plural, code) => {
  expect(unitCodeOf({ singular, plural })).toBe(code)
})

test('without a unit it is one', () => {
  expect(unitCodeOf(undefined)).toBe('C62')
})
