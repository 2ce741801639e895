import { expect, test } from 'vitest'
import { once } from './once.ts'

test('what is made is made by the first call, once', () => {
  let times = 0
  const made = once(() => {
    times += 1
    return { times }
  })
  expect(times).toBe(0)
  expect([made(), made()]).toEqual([{ times: 1 }, { times: 1 }])
  expect(made()).toBe(made())
})

test('what throws is tried again by the next call', () => {
  let fails = true
  const made = once(() => {
    if (fails) throw new Error('not yet')
    return {}
  })
  expect(made).toThrow('not yet')
  fails = false
  expect(made()).toEqual({})
})
