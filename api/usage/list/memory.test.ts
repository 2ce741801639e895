import { expect, test } from 'vitest'
import type { Tenant } from '../../../shared/tenant.ts'
import { instantOf } from '../../../shared/time.ts'
import { createKnownPositions } from './known-positions.ts'
import { createLongLists } from './long-lists.ts'

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
