import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { untilLeft } from './until-left.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const endless = (): Promise<void> => new Promise(() => undefined)
/** Says whether the promise is settled. */
function watched(promise: Promise<void>): () => boolean {
  let settled = false
  void promise.finally(() => {
    settled = true
  })
  return () => settled
}

test('work that never ends is left a while after the stop, and not before', async () => {
  const stop = new AbortController()
  const isLeft = watched(untilLeft(endless(), stop.signal, 5_000))
  await vi.advanceTimersByTimeAsync(60_000)
  expect(isLeft()).toBe(false)
  stop.abort()
  await vi.advanceTimersByTimeAsync(4_999)
  expect(isLeft()).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect(isLeft()).toBe(true)
  const isLeftLate = watched(untilLeft(endless(), stop.signal, 5_000))
  await vi.advanceTimersByTimeAsync(5_000)
  expect(isLeftLate()).toBe(true)
})

test('it ends, and fails, with the work', async () => {
  const { signal } = new AbortController()
  await expect(untilLeft(Promise.resolve(), signal, 5_000)).resolves.toBeUndefined()
  await expect(untilLeft(Promise.reject(new Error('of the work')), signal, 5_000)).rejects.toThrow('of the work')
})
