import { expect, test } from 'vitest'
import type { Tenant } from '../../../shared/tenant.ts'
import { instantOf } from '../../../shared/time.ts'
import { createKnownPositions } from './known-positions.ts'
import { createLongLists } from './long-lists.ts'
import { createPaces } from './paces.ts'
import { createShortLists } from './short-lists.ts'

const tenant = (environment: Tenant['environment']): Tenant => ({ platformId: 'plat_a', environment })

test('a long list is known by its tenant and filter, and not when deletions can shorten it', () => {
  const lists = createLongLists()
  lists.add(tenant('LIVE'), { deleted: true })
  lists.add(tenant('LIVE'), { deleted: false })
  expect(lists.has(tenant('LIVE'), { deleted: true })).toBe(true)
  expect(lists.has(tenant('TEST'), { deleted: true })).toBe(false)
  expect(lists.has(tenant('LIVE'), {})).toBe(false)
  expect(lists.has(tenant('LIVE'), { deleted: false })).toBe(false)
})

test('the place of a record is known by its cursor in its tenant; the oldest of many are forgotten', () => {
  const positions = createKnownPositions()
  const at = (name: number) => ({
    idHash: String(name).padStart(32, '0'),
    timestamp: instantOf(name),
    place: { partition: 1, seq: name, line: 2 },
    duplicate: name === 7,
  })
  const cursor = (name: number): string => `meda_${at(name).idHash}${at(name).duplicate ? `.1/${name}/2` : ''}`
  for (const name of [1, 7]) positions.remember(tenant('LIVE'), at(name))
  for (const name of [1, 7]) expect(positions.of(tenant('LIVE'), cursor(name))).toEqual(at(name))
  expect(positions.of(tenant('TEST'), cursor(1))).toBe(null)
  for (let name = 8; name < 10_008; name += 1) positions.remember(tenant('LIVE'), at(name))
  expect(positions.of(tenant('LIVE'), cursor(1))).toBe(null)
  expect(positions.of(tenant('LIVE'), cursor(10_007))).toEqual(at(10_007))
})

test('a list that was short is known to be, whatever time it is about, until it is longer', () => {
  const lists = createShortLists()
  const filter = { customerKeys: ['a'] }
  lists.note(tenant('LIVE'), { ...filter, from: instantOf(1) }, 8_000)
  expect(lists.has(tenant('LIVE'), { ...filter, before: instantOf(9) })).toBe(true)
  expect(lists.has(tenant('TEST'), filter)).toBe(false)
  expect(lists.has(tenant('LIVE'), { customerKeys: ['b'] })).toBe(false)
  lists.note(tenant('LIVE'), filter, 8_001)
  expect(lists.has(tenant('LIVE'), filter)).toBe(false)
})

test('how much time so many events take is estimated from the list that was read last, with a margin', () => {
  const paces = createPaces()
  const list = { filter: {}, cursor: false }
  expect(paces.of(tenant('LIVE'), list, 500)).toBe(null)
  paces.note(tenant('LIVE'), { ...list, filter: { from: instantOf(5) } }, 1_000, { ms: 60_000 })
  expect(paces.of(tenant('LIVE'), list, 500)).toEqual({ ms: 33_000 })
  expect(paces.of(tenant('LIVE'), list, 300)).toEqual({ ms: 180_000 })
  expect(paces.of(tenant('TEST'), list, 500)).toBe(null)
  expect(paces.of(tenant('LIVE'), { ...list, cursor: true }, 500)).toBe(null)
  // Events of the future.
  paces.note(tenant('LIVE'), list, 500, { ms: -5 })
  expect(paces.of(tenant('LIVE'), list, 500)).toEqual({ ms: 100 })
  paces.note(tenant('LIVE'), list, 500, 'ALL')
  expect(paces.of(tenant('LIVE'), list, 500)).toBe('ALL')
})

test('a much later page is estimated by itself', () => {
  const paces = createPaces()
  const list = { filter: {}, cursor: false }
  paces.note(tenant('LIVE'), list, 50, { ms: 1_000 })
  expect(paces.of(tenant('LIVE'), list, 50_000)).toBe(null)
  paces.note(tenant('LIVE'), list, 50_000, { ms: 3_000_000 })
  expect(paces.of(tenant('LIVE'), list, 50_000)).toEqual({ ms: expect.closeTo(3_300_000, -1) })
  expect(paces.of(tenant('LIVE'), list, 50)).toEqual({ ms: 10_000 })
})

test('time without events before the first one is no part of the pace', () => {
  const paces = createPaces()
  const list = { filter: {}, cursor: false }
  paces.note(tenant('LIVE'), list, 50, { ms: 3_601_000, lead: 3_600_000 })
  expect(paces.of(tenant('LIVE'), list, 50)).toEqual({ ms: 7_210_000 })
})

test('a list whose time holds too much else is not asked by time again until twenty lists later', () => {
  const paces = createPaces()
  const list = { filter: { meterReference: 'rare' }, cursor: false }
  paces.note(tenant('LIVE'), list, 50, 'FAR')
  for (let each = 0; each < 20; each += 1) {
    expect(paces.of(tenant('LIVE'), list, 50)).toBe('FAR')
    paces.note(tenant('LIVE'), list, 50, { ms: 1_000 })
  }
  expect(paces.of(tenant('LIVE'), list, 50)).toBe(null)
  paces.note(tenant('LIVE'), list, 50, { ms: 1_000 })
  expect(paces.of(tenant('LIVE'), list, 50)).toEqual({ ms: 10_000 })
})
