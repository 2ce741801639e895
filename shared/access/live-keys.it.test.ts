// API keys in memory against a real PostgreSQL: a key that stops being one is noticed, however that came about.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Database, openDatabase } from '../database/database.ts'
import { newId } from '../ids.ts'
import { silentLogger } from '../logger.ts'
import { createTestDatabase, type TestDatabase } from '../testing/postgres.ts'
import { systemClock } from '../time.ts'
import { newApiKey } from './api-key.ts'
import { createPlatform, type NewPlatform } from './create-platform.ts'
import { createLiveKeys, type LiveKeys } from './live-keys.ts'

/** What the interface promises of a revoked key, in milliseconds (security section 4). */
const REVOKED_WITHIN_MS = 5_000

let testDatabase: TestDatabase
let owner: pg.Client
let platform: NewPlatform
let database: Database
let keys: LiveKeys
beforeEach(async () => {
  testDatabase = await createTestDatabase()
  owner = new pg.Client({ connectionString: testDatabase.url })
  await owner.connect()
  platform = await createPlatform(testDatabase.url, 'Test')
  const options = { url: testDatabase.url, clock: systemClock, logger: silentLogger }
  database = await openDatabase({ ...options, role: 'millrace_gateway', poolMax: 4 })
  keys = createLiveKeys({ database, logger: silentLogger })
  await keys.load()
})
afterEach(async () => {
  await keys.close()
  await database.close()
  await owner.end()
  await testDatabase.drop()
})

const live = (): string => platform.environments.LIVE.api_key
const isKnown = (key: string): boolean => keys.peek(key) !== undefined
async function addKey(client: pg.Client = owner): Promise<{ text: string; id: string }> {
  const made = newApiKey('LIVE')
  const id = newId('akey')
  await client.query(
    `insert into api_keys (platform_id, environment, id, key_id, sha256, display_prefix, last_four) values ($1, 'LIVE', $2, $3, $4, $5, $6)`,
    [platform.id, id, made.keyId, made.sha256, made.displayPrefix, made.lastFour],
  )
  return { text: made.text, id }
}
async function untilUnknown(key: string): Promise<void> {
  const startedAt = performance.now()
  while (isKnown(key)) {
    if (performance.now() - startedAt > REVOKED_WITHIN_MS) throw new Error('the key still works')
    await sleep(20)
  }
}

describe.each([
  ['with notices', async () => undefined],
  ['with the notices lost', () => owner.query('alter table api_keys disable trigger api_keys_changed')],
])('%s', (_name, prepare) => {
  beforeEach(prepare)

  test('a key that is revoked stops within 5 s', async () => {
    expect(isKnown(live())).toBe(true)
    await owner.query(`update api_keys set revoked_at = now() where environment = 'LIVE'`)
    await untilUnknown(live())
    expect(await keys.find(live())).toBeNull()
    expect(isKnown(platform.environments.TEST.api_key)).toBe(true)
  })

  test('a key whose row is deleted stops within 5 s, also when another is made meanwhile', async () => {
    await owner.query(`delete from api_keys where environment = 'LIVE'`)
    const made = await addKey()
    await untilUnknown(live())
    expect(await keys.find(made.text)).toMatchObject({ platformId: platform.id, environment: 'LIVE' })
    await owner.query('truncate api_keys')
    await untilUnknown(made.text)
    await untilUnknown(platform.environments.TEST.api_key)
  })

  test('a key that is revoked with a time long past, as by a host whose clock is wrong, stops within 5 s', async () => {
    const long = `now() - interval '3 days'`
    await owner.query(`update api_keys set revoked_at = ${long}, updated_at = ${long} where environment = 'LIVE'`)
    await untilUnknown(live())
  })
})

test('a transaction that was open while others committed is not missed', async () => {
  const slow = new pg.Client({ connectionString: testDatabase.url })
  await slow.connect()
  await slow.query('begin')
  await slow.query(`update api_keys set revoked_at = now() where environment = 'LIVE'`)
  for (let each = 0; each < 3; each += 1) {
    const { text } = await addKey()
    expect(await keys.find(text)).not.toBeNull()
  }
  expect(isKnown(live())).toBe(true)
  await slow.query('commit')
  await slow.end()
  await untilUnknown(live())
})
