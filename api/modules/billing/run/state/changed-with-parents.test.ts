// What touches a customer touches those above it.
import { expect, test } from 'vitest'
import { changedWithParents, latest } from './changed-with-parents.ts'

const customer = (id: string, ...parents: string[]) => ({
  id,
  terms: [{ from: '2026-01-01T00:00:00Z', selector: null, parent_customer_ids: parents }],
})

test('the later position of each partition counts, and a partition that is not named is at 0', () => {
  expect(latest([1, 5], [3, 2, 4])).toEqual([3, 5, 4])
  expect(latest([], [])).toEqual([])
})

test('all customers above are touched where the last of those below them was', () => {
  const related = [
    customer('a', 'p'),
    customer('b', 'p', 'q'),
    customer('p', 'top'),
    customer('q', 'beyond'),
    customer('top'),
  ]
  const touched = changedWithParents(
    related,
    new Map([
      ['a', [4, 0]],
      ['b', [1, 7]],
      ['top', [0, 9]],
    ]),
  )
  expect(Object.fromEntries(touched)).toEqual({ a: [4, 0], b: [1, 7], p: [4, 7], q: [1, 7], top: [4, 9] })
})

test('customers that are above each other end nowhere', () => {
  const related = [customer('a', 'b'), customer('b', 'a'), { id: 'c', terms: null }]
  expect(
    Object.fromEntries(
      changedWithParents(
        related,
        new Map([
          ['a', [2]],
          ['c', [1]],
        ]),
      ),
    ),
  ).toEqual({ a: [2], b: [2], c: [1] })
})
