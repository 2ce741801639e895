// One caller's calls are bounded, say what is left, and take nothing from another's.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiHarness, callerWith, startApi } from '../../testing/harness.ts'
import { createRequestLimits } from './request-limits.ts'

const nowMs = () => performance.now()

describe('a credential', () => {
  let api: ApiHarness
  beforeAll(async () => {
    api = await startApi()
  })
  afterAll(() => api?.close())

  test('may make as many calls at once as its platform allows, counted for each environment; a refusal says when to try again', async () => {
    const { aLive, aTest, bLive } = api.tenants
    const url = `/v1/platforms/${aLive.tenant.platformId}`
    const before = await aLive.call('GET', url)
    expect(before.headers).toMatchObject({ 'x-ratelimit-limit': '5000', 'x-ratelimit-reset': '1' })
    const settings = { api_settings: { requests_per_second: 1, burst: 3 } }
    expect((await aLive.call('PATCH', url, settings)).body).toMatchObject(settings)
    await expect.poll(async () => (await aLive.call('GET', url)).headers['x-ratelimit-limit']).toBe('3')
    // All at once, however slow the machine is.
    const made = (index: number) => ({ reference: `credit-${index}`, name: 'Credit', status: 'ACTIVE' })
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => aLive.call('POST', '/v1/credit-types', made(index))),
    )
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused[0]).toMatchObject({
      headers: { 'retry-after': '1', 'x-ratelimit-remaining': '0' },
      body: { type: 'INVALID_REQUEST', code: 'RATE_LIMIT_EXCEEDED' },
    })
    for (const other of [aTest, bLive])
      expect((await other.call('GET', `/v1/platforms/${other.tenant.platformId}`)).status).toBe(200)
    await api.sql(`update platforms set api_settings = '{}' where platform_id = $1`, [aLive.tenant.platformId])
    await expect.poll(async () => (await aLive.call('GET', url)).headers['x-ratelimit-limit']).toBe('5000')
    // What was refused did nothing.
    const rows = await api.sql('select count(*)::int as n from credit_types where platform_id = $1', [
      aLive.tenant.platformId,
    ])
    expect(rows[0]?.['n']).toBe(answers.filter(({ status }) => status === 201).length)
  })

  test('counts for its credential when it is refused for another reason', async () => {
    const { call, tenant } = api.tenants.bLive
    const made = await call('POST', '/v1/api-keys', { role_type: 'READ_ONLY' })
    await api.sql(
      `update platforms set api_settings = '{"requests_per_second": 1, "burst": 4}' where platform_id = $1`,
      [tenant.platformId],
    )
    const reader = callerWith(api.app, { 'x-api-key': made.body['api_key'] })
    await expect.poll(async () => (await reader('GET', '/v1/customers')).headers['x-ratelimit-limit']).toBe('4')
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => reader('POST', '/v1/customers', { type: 'INDIVIDUAL' })),
    )
    expect(new Set(answers.map(({ status }) => status))).toContain(429)
    await api.sql(`update platforms set api_settings = '{}' where platform_id = $1`, [tenant.platformId])
    await expect.poll(async () => (await reader('GET', '/v1/customers')).headers['x-ratelimit-limit']).toBe('5000')
    const refused = await reader('POST', '/v1/customers', { type: 'INDIVIDUAL' })
    expect([refused.status, refused.headers['x-ratelimit-limit']]).toEqual([403, '5000'])
  })

  test.each([
    [{ requests_per_second: 0 }, 'requests_per_second'],
    [{ requests_per_second: 10_001 }, 'requests_per_second'],
    [{ burst: 0 }, 'burst'],
    [{ burst: 100_001 }, 'burst'],
    [{ per_minute: 1 }, 'per_minute'],
  ])('a platform cannot set %j', async (api_settings, field) => {
    const { call, tenant } = api.tenants.bTest
    const { status, body } = await call('PATCH', `/v1/platforms/${tenant.platformId}`, { api_settings })
    expect([status, body['code'], body['field']]).toEqual([400, 'INVALID_FIELD', `api_settings.${field}`])
  })
})

test('an address has a limit of its own, with or without a credential, and not of pages', async () => {
  const usual = { perSecond: 1_000, burst: 1_000 }
  const rates = { usual, of: () => usual, close: async () => undefined }
  const api = await startApi({ limits: createRequestLimits({ rates, addressPerSecond: 1, nowMs }) })
  const ask = (url: string, remoteAddress: string, headers = {}) => api.app.inject({ url, remoteAddress, headers })
  const key = { 'x-api-key': api.tenants.aLive.key }
  const statuses = []
  for (let count = 0; count < 30; count += 1)
    statuses.push((await ask('/v1/customers', '192.0.2.1', count % 2 ? key : { 'x-api-key': 'wrong' })).statusCode)
  expect(new Set(statuses)).toEqual(new Set([200, 401, 429]))
  const refused = await ask('/v1/customers', '192.0.2.1', key)
  expect([refused.statusCode, refused.headers['retry-after'], refused.headers['x-ratelimit-remaining']]).toEqual([
    429,
    '1',
    '0',
  ])
  expect((await ask('/v1/customers', '192.0.2.2', key)).statusCode).toBe(200)
  expect((await ask('/docs', '192.0.2.1')).statusCode).toBe(200)
  // However the path is written, and whether it leads anywhere or not.
  for (const url of ['/%761/customers', '/v1/nothing']) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(url, '192.0.2.1', { 'x-api-key': 'wrong' })))
    expect(answers.map(({ statusCode }) => statusCode)).toContain(429)
  }
  await api.close()
})
