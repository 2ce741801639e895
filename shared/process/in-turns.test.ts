import { expect, test } from 'vitest'
import { inTurns } from './in-turns.ts'

test('whatever waits gets its turn whenever the work pauses', async () => {
  const order: string[] = []
  function* work(): Generator<undefined, string> {
    for (const part of ['first', 'second']) {
      order.push(part)
      yield
    }
    return 'result'
  }
  setImmediate(() => order.push('other'))
  expect(await inTurns(work())).toBe('result')
  expect(order).toEqual(['first', 'other', 'second'])
})

test('a fault of the work is thrown', async () => {
  // biome-ignore lint/correctness/useYield: the generator throws before its first pause.
  function* work(): Generator<undefined, string> {
    throw new Error('no result')
  }
  await expect(inTurns(work())).rejects.toThrow('no result')
})
