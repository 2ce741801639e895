import { expect, test } from 'vitest'
import type { PausingWork } from '../pausing-work.ts'
import { inTurns } from './in-turns.ts'

/** A clock on which each look takes so long. */
const clock = (ms: number): (() => number) => {
  let time = 0
  return () => {
    time += ms
    return time
  }
}

function* noting(order: string[]): PausingWork<string> {
  for (const part of ['first', 'second', 'third']) {
    order.push(part)
    yield
  }
  return 'result'
}

test('whatever waits gets its turn when the work pauses after its own is over', async () => {
  const order: string[] = []
  setImmediate(() => order.push('other'))
  expect(await inTurns(noting(order), clock(10))).toBe('result')
  expect(order).toEqual(['first', 'other', 'second', 'third'])
})

test('work goes on at a pause before its turn is over', async () => {
  const order: string[] = []
  setImmediate(() => order.push('other'))
  expect(await inTurns(noting(order), clock(5))).toBe('result')
  expect(order).toEqual(['first', 'second', 'other', 'third'])
})

test('a fault of the work is thrown', async () => {
  // biome-ignore lint/correctness/useYield: the generator throws before its first pause.
  function* work(): PausingWork<string> {
    throw new Error('no result')
  }
  await expect(inTurns(work())).rejects.toThrow('no result')
})
