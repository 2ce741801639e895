// The questions of a worker's loops against a real database: asked together, as often as they are due and no more.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../shared/database/database.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { openTestDatabase } from '../../shared/testing/database-logins.ts'
import { createTestDatabase, type TestDatabase } from '../../shared/testing/postgres.ts'
import { at } from '../../shared/time.ts'
import { type Asker, createRounds, type Question, secondsSince } from './rounds.ts'

let testDatabase: TestDatabase
let database: Database
const NOW = '2026-03-01T10:00:00Z'
/** Longer than a test lasts: what is not asked at once is never asked. */
const NEVER_MS = 3_600_000

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = await openTestDatabase({
    url: testDatabase.url,
    role: 'millrace_worker',
    clock: { now: () => at(NOW) },
    logger: silentLogger,
    poolMax: 4,
  })
})
afterAll(async () => {
  await database.close()
  await testDatabase.drop()
})

const { signal: stop } = new AbortController()
/** Which statement answered, and which question. */
const question = (by: Asker, name: string): Question => ({
  by,
  text: `select '${name} ' || statement_timestamp()::text`,
})
const statementOf = (answer: string | null): string => answer?.slice(answer.indexOf(' ')) ?? expect.fail('no answer')

test('questions that wait at one time are one statement, and each gets its own answer', async () => {
  const rounds = createRounds(database)
  const answers = await Promise.all(
    (['relay', 'consumers', 'senders'] as const).map(by => rounds.ask(question(by, by), { stop })),
  )
  expect(answers.map(answer => answer?.split(' ')[0])).toEqual(['relay', 'consumers', 'senders'])
  expect(new Set(answers.map(statementOf)).size).toBe(1)
  // Nothing found, and the time of the clock.
  const none = { by: 'relay', text: `select 'x' from outbox` } as const
  const time = { by: 'senders', text: `select to_char($1::timestamptz, 'YYYY-MM-DD"T"HH24:MI:SS"Z"')` } as const
  expect(await Promise.all([none, time].map(each => rounds.ask(each, { stop })))).toEqual([null, NOW])
})

test('a question is asked once a round, the first time at once; and at once where there may be more', async () => {
  const roundMs = 100
  const rounds = createRounds(database, { roundMs })
  const one = question('relay', 'one')
  await rounds.ask(one, { stop })
  const startedAt = performance.now()
  for (let turn = 0; turn < 5; turn += 1) await rounds.ask(one, { stop })
  // The first of them may wait for the rest of a round only.
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(4 * roundMs - 5)
  const rare = createRounds(database, { roundMs: NEVER_MS })
  for (let turn = 0; turn < 5; turn += 1) await rare.ask(one, { stop, atOnce: true })
})

test('those that are woken are asked at once, also when they come only then, and others wait on', async () => {
  const rounds = createRounds(database, { roundMs: NEVER_MS })
  const [relay, senders] = [question('relay', 'relay'), question('senders', 'senders')]
  await Promise.all([relay, senders].map(each => rounds.ask(each, { stop })))
  const leaving = new AbortController()
  let relayed: string | null | undefined
  const waits = rounds.ask(relay, { stop: leaving.signal }).then(answer => {
    relayed = answer
  })
  const woken = rounds.ask(senders, { stop })
  rounds.wake('senders')
  expect(await woken).toMatch(/^senders /)
  rounds.wake('senders')
  expect(await rounds.ask(senders, { stop })).toMatch(/^senders /)
  expect(relayed).toBe(undefined)
  // One that stops waits for nothing, and asks nothing more.
  leaving.abort()
  await waits
  expect(relayed).toBe(null)
  rounds.wake('relay')
  expect(await rounds.ask(relay, { stop: leaving.signal, atOnce: true })).toBe(null)
})

test('a round that fails fails for all that were asked in it, and the next one is another', async () => {
  const rounds = createRounds(database, { roundMs: 50 })
  const broken = { by: 'relay', text: 'select no_such_column' } as const
  const sound = question('consumers', 'sound')
  const settled = await Promise.allSettled([broken, sound].map(each => rounds.ask(each, { stop })))
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await rounds.ask(sound, { stop })).toMatch(/^sound /)
})

test('how long ago is never below zero, and 0 where nothing was found', () => {
  const cases: [string | null, number][] = [
    [null, 0],
    ['2026-03-01 09:59:58+00', 2],
    ['2026-03-01 10:00:07+00', 0],
  ]
  for (const [found, seconds] of cases) expect(secondsSince(database, found)).toBe(seconds)
})
