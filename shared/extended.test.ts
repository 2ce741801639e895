import { expect, test } from 'vitest'
import { extended, NO_MEMBERS } from './extended.ts'

test('the members of the second are added, or take the place of those of the first, in the order of a spread', () => {
  const value = Object.freeze({ id: 'a', name: 'first' })
  const made = extended(value, { name: 'second', size: 2 })
  expect(JSON.stringify(made)).toBe('{"id":"a","name":"second","size":2}')
  expect(value).toEqual({ id: 'a', name: 'first' })
})

test('neither copies what prototypes have, nor changes the empty object', () => {
  const made = extended(Object.create({ inherited: true }), { own: 1 })
  expect(Object.entries(made)).toEqual([['own', 1]])
  expect(NO_MEMBERS).toEqual({})
})
