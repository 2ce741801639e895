import { expect, test } from 'vitest'
import { instantOf } from '../time.ts'
import { createShortMemory } from './short-memory.ts'

function memory(of: { ms: number; refreshMs?: number }) {
  let now = 0
  let loads = 0
  const remember = createShortMemory<number>({ now: () => instantOf(now) }, of)
  const load = async (): Promise<number> => {
    loads += 1
    return loads
  }
  const at = (time: number, from = load): Promise<number> => {
    now = time
    return remember('k', from)
  }
  return { at, remember, load }
}

test('what was read a moment ago is given again, and read anew once it is old', async () => {
  const { at, remember, load } = memory({ ms: 100 })
  expect([await at(0), await at(99), await at(100), await at(150)]).toEqual([1, 1, 2, 2])
  expect(await remember('other', load)).toBe(3)
})

test('calls at the same time read once', async () => {
  const { at } = memory({ ms: 100 })
  expect(await Promise.all([at(0), at(0), at(0)])).toEqual([1, 1, 1])
})

test('what fails is not remembered', async () => {
  const { at } = memory({ ms: 100 })
  await expect(at(0, () => Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect(await at(1)).toBe(1)
})

test('what is refreshed is given once more meanwhile, and never when it is too old', async () => {
  const { at } = memory({ ms: 100, refreshMs: 50 })
  expect([await at(0), await at(60), await at(61), await at(161)]).toEqual([1, 1, 2, 3])
})

test('a refresh that fails leaves what was there until it is too old', async () => {
  const { at } = memory({ ms: 100, refreshMs: 50 })
  const away = () => Promise.reject(new Error('away'))
  expect([await at(0), await at(60, away), await at(99)]).toEqual([1, 1, 1])
  await expect(at(100, away)).rejects.toThrow('away')
})
