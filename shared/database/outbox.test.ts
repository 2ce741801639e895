// Nothing writes a notice but the one door: consumers, the audit trail and retention rest on how it does.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import type { EventType } from '../contracts/event-types.ts'
import { writeNotices } from './outbox.ts'

const ROOT = join(import.meta.dirname, '..', '..')

test('the outbox is written in one file', () => {
  const writers = ['aggregator', 'api', 'identity', 'infra', 'ingest', 'shared'].flatMap(part =>
    readdirSync(join(ROOT, part), { recursive: true, encoding: 'utf8' })
      .filter(file => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.includes('node_modules'))
      .filter(file => /insert\s+into\s+outbox\b/i.test(readFileSync(join(ROOT, part, file), 'utf8')))
      .map(file => `${part}/${file}`),
  )
  expect(writers).toEqual(['shared/database/outbox.ts'])
})

test('a notice of an event that no module declares is refused before anything is written', async () => {
  const tx = { execute: () => expect.unreachable('it was written') } as never
  const of = {
    tenant: { platformId: 'plat_1', environment: 'LIVE' },
    actor: { id: null, requestId: null },
    at: sql`now()`,
  } as const
  const event = { type: 'CUSTOMER.RENAMED' as EventType, objectId: 'cust_1', data: {}, previous: null }
  await expect(writeNotices(tx, of, [event])).rejects.toThrow('no module declares the event CUSTOMER.RENAMED')
})

test('an undeclared type does not compile', () => {
  const known: EventType = 'OAUTH_GRANT.REVOKED'
  // @ts-expect-error no module declares it
  const unknown: EventType = 'OAUTH_GRANT.RENEWED'
  expect(known).not.toBe(unknown)
})
