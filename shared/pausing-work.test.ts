import { expect, test } from 'vitest'
import { inOneGo, mapPausing, type PausingWork } from './pausing-work.ts'

test('in one go all of it is done, and a fault of it is thrown', () => {
  const order: string[] = []
  function* work(): PausingWork<string> {
    order.push('first')
    yield
    if (order.length > 1) throw new Error('no result')
    order.push('second')
    return 'result'
  }
  expect(inOneGo(work())).toBe('result')
  expect(order).toEqual(['first', 'second'])
  expect(() => inOneGo(work())).toThrow('no result')
})

test('a list is mapped in its order, with a pause after each', () => {
  const work = mapPausing(['a', 'b'], (each, place) => `${each}${place}`)
  expect([work.next(), work.next(), work.next()]).toEqual([
    { done: false, value: undefined },
    { done: false, value: undefined },
    { done: true, value: ['a0', 'b1'] },
  ])
})
