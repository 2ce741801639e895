// Which subscriptions of a group are saved together.
import { expect, test } from 'vitest'
import { exampleInputs } from '../../testing/example-inputs.ts'
import { inputsOf, START } from '../combined/testing/combining.ts'
import { partsOf } from './part-group.ts'

const single = exampleInputs({ start: START, items: [] })

const of = (customer: string) => ({ ...single, customer: { ...single.customer, id: customer } })

test('parts have about as many as asked, and those that are combined or of one customer stay together', () => {
  const all = new Map(
    ['a', 'b', 'combined c', 'd', 'e', 'combined f', 'combined g', 'h'].map(id => [
      id,
      { state: { inputs: id.startsWith('combined') ? inputsOf({ id }) : of(id === 'h' ? 'b' : id) } },
    ]),
  )
  expect(partsOf(all, 3)).toEqual([
    ['a', 'b', 'h'],
    ['combined c', 'combined f', 'combined g'],
    ['d', 'e'],
  ])
  expect(partsOf(all, 2)).toEqual([
    ['a', 'b', 'h'],
    ['combined c', 'combined f', 'combined g'],
    ['d', 'e'],
  ])
  expect(partsOf(all, 1).map(part => part.length)).toEqual([1, 1, 1, 3, 1, 1])
  expect(partsOf(all, Number.POSITIVE_INFINITY)).toHaveLength(1)
  expect(partsOf(new Map(), 3)).toEqual([])
})
