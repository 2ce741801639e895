// Which subscriptions of a group are saved together.
import { expect, test } from 'vitest'
import { exampleInputs } from '../../testing/example-inputs.ts'
import { inputsOf, START } from '../combined/testing/combining.ts'
import { partsOf } from './part-group.ts'

const single = exampleInputs({ start: START, items: [] })

test('parts have at most as many as asked, in their order, and those that are combined stay together', () => {
  const all = new Map(
    ['a', 'b', 'combined c', 'd', 'e', 'combined f', 'combined g', 'h'].map(id => [
      id,
      { state: { inputs: id.startsWith('combined') ? inputsOf({ id }) : single } },
    ]),
  )
  expect(partsOf(all, 3)).toEqual([
    ['a', 'b', 'combined c', 'combined f', 'combined g'],
    ['d', 'e', 'h'],
  ])
  expect(partsOf(all, 2).map(part => part.length)).toEqual([2, 3, 2, 1])
  expect(partsOf(all, Number.POSITIVE_INFINITY)).toHaveLength(1)
  expect(partsOf(new Map(), 3)).toEqual([])
})
