import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { silentLogger } from '../process/logger.ts'
import { createRefresher } from './refresher.ts'

function rig(options: { gapMs?: number; pollMs?: number; fail?: () => boolean } = {}) {
  /** A clock that only a wait moves. */
  let now = 0
  const loadedAt: number[] = []
  let most = 0
  let running = 0
  let held: Promise<void> | undefined
  const refresher = createRefresher({
    name: 'test',
    pollMs: options.pollMs ?? 60_000,
    gapMs: options.gapMs ?? 0,
    logger: silentLogger,
    nowMs: () => now,
    wait: async ms => {
      now += ms
    },
    load: async () => {
      loadedAt.push(now)
      running += 1
      most = Math.max(most, running)
      await held
      running -= 1
      if (options.fail?.()) throw new Error('the source is down')
    },
  })
  /** From here on a load does not end before the function that this gives is called. */
  const hold = (): (() => void) => {
    let release: () => void = () => undefined
    held = new Promise(resolve => (release = resolve))
    return release
  }
  return { refresher, hold, loadedAt, loads: () => loadedAt.length, most: () => most }
}

test('calls that come together share one load, and a call during a load gets a later one', async () => {
  const { refresher, hold, loads, most } = rig()
  await Promise.all(Array.from({ length: 100 }, () => refresher.refresh()))
  expect(loads()).toBe(1)
  const release = hold()
  const first = refresher.refresh()
  await expect.poll(loads).toBe(2)
  const during = [refresher.refresh(), refresher.refresh()]
  release()
  await Promise.all([first, ...during])
  expect(loads()).toBe(3)
  expect(most()).toBe(1)
  await refresher.close()
})

test('two loads are the gap apart, however many ask', async () => {
  const { refresher, loadedAt } = rig({ gapMs: 50 })
  for (let each = 0; each < 3; each += 1) await refresher.refresh()
  expect(loadedAt).toEqual([0, 50, 100])
  await refresher.close()
})

test('a failed load is reported to those who asked, and the next one is tried', async () => {
  let down = true
  const { refresher } = rig({ fail: () => down })
  await expect(refresher.refresh()).rejects.toThrow('down')
  refresher.poke()
  down = false
  await refresher.refresh()
  await refresher.close()
})

test('the poll loads without being asked, until closed', async () => {
  const { refresher, loads } = rig({ pollMs: 10 })
  await expect.poll(loads).toBeGreaterThan(1)
  await refresher.close()
  const before = loads()
  await sleep(40)
  expect(loads()).toBe(before)
})
