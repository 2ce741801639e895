import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { silentLogger } from '../logger.ts'
import { createRefresher } from './refresher.ts'

function rig(options: { gapMs?: number; pollMs?: number; fail?: () => boolean } = {}) {
  let loads = 0
  let most = 0
  let running = 0
  const refresher = createRefresher({
    name: 'test',
    pollMs: options.pollMs ?? 60_000,
    gapMs: options.gapMs ?? 0,
    logger: silentLogger,
    load: async () => {
      loads += 1
      running += 1
      most = Math.max(most, running)
      await sleep(5)
      running -= 1
      if (options.fail?.()) throw new Error('the source is down')
    },
  })
  return { refresher, loads: () => loads, most: () => most }
}

test('calls that come together share one load, and a call during a load gets a later one', async () => {
  const { refresher, loads, most } = rig()
  await Promise.all(Array.from({ length: 100 }, () => refresher.refresh()))
  expect(loads()).toBe(1)
  const first = refresher.refresh()
  await sleep(2)
  await Promise.all([first, refresher.refresh(), refresher.refresh()])
  expect(loads()).toBe(3)
  expect(most()).toBe(1)
  await refresher.close()
})

test('two loads are the gap apart, however many ask', async () => {
  const { refresher, loads } = rig({ gapMs: 50 })
  const startedAt = performance.now()
  for (let each = 0; each < 3; each += 1) await refresher.refresh()
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(100)
  expect(loads()).toBe(3)
  await refresher.close()
})

test('a failed load is told to those who asked, and the next one is tried', async () => {
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
  await sleep(60)
  expect(loads()).toBeGreaterThan(1)
  await refresher.close()
  const before = loads()
  await sleep(40)
  expect(loads()).toBe(before)
})
