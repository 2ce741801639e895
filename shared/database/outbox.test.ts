// Nothing writes a notice but the one door: consumers, the audit trail and retention rest on how it does.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type SQL, sql } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { ACCOUNT_EVENTS } from '../access/account-events.ts'
import { type EventType, eventTypesOf } from '../contracts/event-types.ts'
import { bodyOf, type DomainEvent, writeNotices } from './outbox.ts'

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

/** What a notice says of its resource, read back from the values that its row was given. */
async function writtenOf(events: readonly DomainEvent[]) {
  const rows: unknown[][] = []
  const tx = {
    execute: (query: SQL) => {
      const { params } = new PgDialect().sqlToQuery(query)
      for (let first = COMMON; first < params.length; first += COLUMNS) rows.push(params.slice(first, first + COLUMNS))
    },
  } as never
  const tenant = { platformId: 'plat_1', environment: 'LIVE' } as const
  await writeNotices(tx, { tenant, actor: { id: null, requestId: null }, at: sql`${'now'}` }, events)
  const json = (text: unknown) => (text === null ? null : JSON.parse(String(text)))
  const dataOf = new Map(rows.map(row => [row[ID], row[DATA]]))
  return rows.map(row => ({
    ...bodyOf({
      data: json(row[DATA] ?? dataOf.get(row[DATA_IN])),
      data_changes: json(row[CHANGES]),
      previous_data: null,
      former_values: json(row[FORMER]),
    }),
    isHolder: row[DATA] !== null,
  }))
}
/** Values that all rows of a statement have in common, and then those of each. */
const [COMMON, COLUMNS] = [9, 9]
const [ID, DATA, DATA_IN, CHANGES, FORMER] = [0, 3, 4, 5, 6]

test('whatever notices of a resource share, each says what it was given, and the resource is stored once', async () => {
  const value = fc.option(fc.jsonValue({ maxDepth: 2 }), { nil: undefined })
  // Versions share members, as those of an invoice do, and differ in others; one has fields that another has not.
  const versions = fc.array(value, { minLength: 1, maxLength: 4 }).chain(pool =>
    fc.array(fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), fc.constantFrom(...pool)), {
      minLength: 2,
      maxLength: 4,
    }),
  )
  const [type = expect.unreachable()] = eventTypesOf(ACCOUNT_EVENTS)
  await fc.assert(
    fc.asyncProperty(versions, async given => {
      const events = given.map(
        (data, place): DomainEvent => ({
          type,
          objectId: 'oaug_1',
          data,
          previous: given[place - 1] ?? null,
        }),
      )
      const stored = (data: unknown) => (data === null ? null : JSON.parse(JSON.stringify(data)))
      const written = await writtenOf(events)
      expect(written.map(({ data, previous_data }) => ({ data, previous_data }))).toEqual(
        events.map(({ data, previous }) => ({ data: stored(data), previous_data: stored(previous) })),
      )
      expect(written.at(-1)?.isHolder).toBe(true)
    }),
  )
})

test('a change of little writes the resource out once', async () => {
  const [type = expect.unreachable()] = eventTypesOf(ACCOUNT_EVENTS)
  const shared = {
    lines: Array.from({ length: 200 }, (_, line) => ({ line, amount: { quantity: '1', currency: 'EUR' } })),
  }
  const before = { status: 'DRAFT', number: null, ...shared }
  const events = [
    { type, objectId: 'oaug_1', data: before, previous: null },
    { type, objectId: 'oaug_1', data: { status: 'FINAL', number: 'A-1', ...shared }, previous: before },
  ]
  const write = vi.spyOn(JSON, 'stringify')
  const [made, updated] = await writtenOf(events)
  const written = write.mock.results.map(({ value }) => String(value ?? '').length)
  write.mockRestore()
  expect(written.filter(length => length > 1_000)).toHaveLength(1)
  expect([made?.data, updated?.data, updated?.previous_data]).toEqual([events[0]?.data, events[1]?.data, before])
})

test('an undeclared type does not compile', () => {
  const known: EventType = 'OAUTH_GRANT.REVOKED'
  // @ts-expect-error no module declares it
  const unknown: EventType = 'OAUTH_GRANT.RENEWED'
  expect(known).not.toBe(unknown)
})
