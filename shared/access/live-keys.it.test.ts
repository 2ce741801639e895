// API keys in memory against a real PostgreSQL: a key that stops being one is noticed, however that came about.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Database } from '../database/database.ts'
import { newId } from '../ids.ts'
import { silentLogger } from '../process/logger.ts'
import { openTestDatabase } from '../testing/database-logins.ts'
import { createTestDatabase, type TestDatabase } from '../testing/postgres.ts'
import { systemClock } from '../time.ts'
import { newApiKey } from './api-key.ts'
import { createPlatform, type NewPlatform } from './create-platform.ts'
import { createLiveKeys, type LiveKeys } from './live-keys.ts'

/** What the interface promises of a revoked key, in milliseconds (security section 4). */
/** The promise is 5 s: the poll runs every 2 s. Other tests may keep the processor busy. Without the poll this would never end. */
const REVOKED_WITHIN_MS = 60_000

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
  database = await openTestDatabase({ ...options, role: 'millrace_gateway', poolMax: 4 })
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

  test('a key that is revoked stops within seconds', async () => {
    expect(isKnown(live())).toBe(true)
    await owner.query(`update api_keys set revoked_at = now() where environment = 'LIVE'`)
    await untilUnknown(live())
    expect(await keys.find(live())).toBeNull()
    expect(isKnown(platform.environments.TEST.api_key)).toBe(true)
  })

  test('a key whose row is deleted stops within seconds, also when another is made meanwhile', async () => {
    await owner.query(`delete from api_keys where environment = 'LIVE'`)
    const made = await addKey()
    await untilUnknown(live())
    expect(await keys.find(made.text)).toMatchObject({ platformId: platform.id, environment: 'LIVE' })
    await owner.query('truncate api_keys cascade')
    await untilUnknown(made.text)
    await untilUnknown(platform.environments.TEST.api_key)
  })

  test('a key that is revoked with a time long past, as by a host whose clock is wrong, stops within seconds', async () => {
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

test('a key with a wrong checksum is refused without a look-up: also when none can be made', async () => {
  await owner.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  )
  await owner.query(`alter table api_keys rename to api_keys_away`)
  const unknown = newApiKey('LIVE').text
  await expect(keys.find(unknown)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  for (const at of [14, 20, 40, unknown.length - 1]) {
    const wrong = unknown.slice(0, at) + (unknown[at] === 'x' ? 'y' : 'x') + unknown.slice(at + 1)
    expect(await keys.find(wrong)).toBeNull()
  }
})

describe('the last use of a key', () => {
  const lastUses = async () =>
    (await owner.query('select api_key_id, last_used_at from api_key_uses order by last_used_at')).rows
  const noting = async (noteUsesMs: number) => {
    const noted = createLiveKeys({ database, logger: silentLogger, noteUsesMs })
    await noted.load()
    return noted
  }

  test('is written once for all uses, and not while the requests go on', async () => {
    const noted = await noting(3_600_000)
    for (let each = 0; each < 1_000; each += 1) noted.peek(live())
    // A key that is read anew meanwhile is still one key.
    await owner.query(`update api_keys set description = 'other'`)
    await noted.load()
    noted.peek(live())
    expect(await lastUses()).toEqual([])
    await noted.close()
    expect(await lastUses()).toHaveLength(1)
  })

  test('is written after a while by itself, and never goes back', async () => {
    const noted = await noting(20)
    noted.peek(live())
    await expect.poll(lastUses).toHaveLength(1)
    await owner.query(`update api_key_uses set last_used_at = '2100-01-01T00:00:00Z'`)
    noted.peek(live())
    noted.peek(platform.environments.TEST.api_key)
    await expect.poll(lastUses).toHaveLength(2)
    expect((await lastUses())[1].last_used_at.toISOString()).toBe('2100-01-01T00:00:00.000Z')
    await noted.close()
  })

  test('is kept until it can be written, and a key that is gone does not keep the others from it', async () => {
    const noted = await noting(20)
    await owner.query('alter table api_key_uses rename to away')
    noted.peek(live())
    noted.peek(platform.environments.TEST.api_key)
    await sleep(60)
    await owner.query(`delete from api_keys where environment = 'TEST'`)
    await owner.query('alter table away rename to api_key_uses')
    await expect.poll(lastUses).toHaveLength(1)
    await noted.close()
  })

  test('does not make anybody read the keys again', async () => {
    const before = (await owner.query('select max(changed_xid::text::bigint) as xid from api_keys')).rows
    const noted = await noting(3_600_000)
    noted.peek(live())
    await noted.close()
    expect(await lastUses()).toHaveLength(1)
    expect((await owner.query('select max(changed_xid::text::bigint) as xid from api_keys')).rows).toEqual(before)
  })
})
