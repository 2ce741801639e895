// credentials.json as the start-up contract has it, over a real database.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkPassword } from '../../identity/sign-in/sign-in.ts'
import { membershipsOf } from '../../shared/access/memberships.ts'
import { asSystem } from '../../shared/database/database.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { openTestDatabase } from '../../shared/testing/database-logins.ts'
import { createTestDatabase, type TestDatabase } from '../../shared/testing/postgres.ts'
import { systemClock } from '../../shared/time.ts'
import { findOrCreateAccounts, writeCredentials } from './accounts.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'millrace-accounts-'))
const file = join(dataDir, 'credentials.json')
const addresses = {
  base_url: 'http://127.0.0.1:1',
  identity_url: 'http://127.0.0.1:2',
  ingest_url: 'http://127.0.0.1:3',
  console_url: 'http://127.0.0.1:1/console',
}
let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(async () => {
  await database.drop()
  rmSync(dataDir, { recursive: true })
})

test('two platforms with a key in each environment, and a user; the file appears only when all is ready', async () => {
  const accounts = await findOrCreateAccounts(database.url, dataDir)
  expect(existsSync(file)).toBe(false)
  expect(writeCredentials(dataDir, addresses, accounts)).toBe(file)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const written = JSON.parse(readFileSync(file, 'utf8'))
  expect(Object.keys(written)).toEqual([...Object.keys(addresses), 'platforms', 'user'])
  expect(written.platforms).toHaveLength(2)
  for (const platform of written.platforms) {
    expect(Object.keys(platform)).toEqual(['id', 'name', 'environments'])
    expect(platform.environments.TEST.api_key).toMatch(/^millrace_test_/)
    expect(platform.environments.LIVE.api_key).toMatch(/^millrace_live_/)
  }
  expect(written.user).toEqual({ email: expect.stringContaining('@'), password: expect.stringMatching(/.{20,}/) })
})

test('a second start keeps the keys, also after a start that was killed before it was ready', async () => {
  const first = JSON.parse(readFileSync(file, 'utf8'))
  const second = await findOrCreateAccounts(database.url, dataDir)
  expect(existsSync(file)).toBe(false)
  const third = await findOrCreateAccounts(database.url, dataDir)
  expect([second.platforms, third.platforms]).toEqual([first.platforms, first.platforms])
  expect(third.user).toEqual(first.user)
  writeCredentials(dataDir, addresses, third)
})

test('its user signs in with what the file says, and administers both platforms', async () => {
  const { user, platforms } = JSON.parse(readFileSync(file, 'utf8'))
  const identityDatabase = await openTestDatabase({
    url: database.url,
    role: 'millrace_identity',
    clock: systemClock,
    logger: silentLogger,
    poolMax: 1,
  })
  try {
    const userId = await checkPassword(identityDatabase, user.email, user.password)
    expect(userId).not.toBe(null)
    const memberships = await asSystem(identityDatabase, 'identity', tx => membershipsOf(tx, userId ?? ''))
    expect(memberships.map(each => each.platformId).toSorted()).toEqual(
      platforms.flatMap(({ id }: { id: string }) => [id, id]).toSorted(),
    )
    for (const { permissions } of memberships) expect(permissions.allows('API_KEY.CREATE')).toBe(true)
  } finally {
    await identityDatabase.close()
  }
})

test('keys of another database are not handed out', async () => {
  const before = JSON.parse(readFileSync(file, 'utf8'))
  const other = await createTestDatabase()
  const accounts = await findOrCreateAccounts(other.url, dataDir)
  expect(accounts.platforms.map(each => each.id)).not.toEqual(before.platforms.map((each: { id: string }) => each.id))
  await other.drop()
})
