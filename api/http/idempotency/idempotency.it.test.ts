// Idempotency-Key at every POST there is (contract: Idempotency; semantics 9.5). Ingestion is not among them: its key is the event's
// reference, and the gateway answers it.
import { hash } from 'node:crypto'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isObject, objectIn } from '../../description/json.ts'
import { type ApiHarness, startOwnApi, type TestTenant } from '../../testing/harness.ts'
import { callsOf } from '../../testing/probe-tenants.ts'

let api: ApiHarness
let tenant: TestTenant
let posts: Awaited<ReturnType<typeof callsOf>>
beforeAll(async () => {
  api = await startOwnApi()
  tenant = api.tenants.aLive
  posts = (await callsOf(api, api.routes, tenant)).filter(({ method }) => method === 'POST')
}, 120_000)
afterAll(() => api.close())

const hashOf = (body: unknown): string => hash('sha256', JSON.stringify([{}, body ?? null]), 'hex')

/** As an earlier run of this very call, or of another with the same key, left it. */
const storeAnswer = (url: string, key: string, requestHash: string) =>
  api.sql(
    `insert into idempotency_keys (platform_id, environment, method, path, key, request_hash, response_status, response_body)
     values ($1, 'LIVE', 'POST', $2, $3, $4, 200, '{"stored":"answer"}')`,
    [tenant.tenant.platformId, url, key, requestHash],
  )
const rows = async () =>
  (await api.sql('select (select count(*) from outbox) as events, (select count(*) from action_intents) as intents'))[0]

const INGESTION = /^\/v1\/(events\/ingest(-list|-batch)?|ingest\/meter-datas?)$/

describe('every POST', () => {
  test('is among those tried', () => {
    const described = Object.entries(objectIn(JSON.parse(JSON.stringify(api.app.swagger())), 'paths'))
      .filter(([path, item]) => isObject(item) && 'post' in item && !INGESTION.test(path))
      .map(([path]) => `POST ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`)
    const tried = new Set(posts.map(post => post.what))
    expect(described.filter(what => !tried.has(what))).toEqual([])
    expect(posts.length).toBeGreaterThan(60)
    const what = posts.map(post => post.what)
    for (const one of ['/v1/customers', '/v1/customers/search', '/v1/invoices/preview', '/v1/invoices/:id/refresh'])
      expect(what).toContain(`POST ${one}`)
    for (const one of ['/v1/events/:id/delete', '/v1/events/amend', '/v1/api-keys/search', '/v1/events/calculate'])
      expect(what).toContain(`POST ${one}`)
  })

  test('answers a repeat with the stored answer, and does nothing', async () => {
    const before = await rows()
    const wrong: string[] = []
    for (const { what, url, body, headers } of posts) {
      const key = tenant.seed.unique('replay')
      await storeAnswer(url, key, hashOf(body))
      const answer = await tenant.call('POST', url, body, { ...headers, 'idempotency-key': key })
      const said = [answer.status, answer.body, answer.headers['idempotent-replayed']]
      if (JSON.stringify(said) !== '[200,{"stored":"answer"},"true"]') wrong.push(`${what}: ${JSON.stringify(said)}`)
    }
    expect(wrong).toEqual([])
    expect(await rows()).toEqual(before)
  })

  test('refuses another request under the same key with 409, and does nothing', async () => {
    const before = await rows()
    const wrong: string[] = []
    for (const { what, url, body, headers } of posts) {
      const key = tenant.seed.unique('other')
      await storeAnswer(url, key, hashOf({ another: 'body' }))
      const answer = await tenant.call('POST', url, body, { ...headers, 'idempotency-key': key })
      if (answer.status !== 409 || answer.body['code'] !== 'IDEMPOTENCY_CHECK_FAILED')
        wrong.push(`${what}: ${answer.status} ${answer.body['code']}`)
    }
    expect(wrong).toEqual([])
    expect(await rows()).toEqual(before)
  })

  test('stores its answer with the key when it succeeds, and keeps nothing when it is refused', async () => {
    const wrong: string[] = []
    let succeeded = 0
    for (const { what, url, body, headers } of posts) {
      const key = tenant.seed.unique('first')
      const answer = await tenant.call('POST', url, body, { ...headers, 'idempotency-key': key })
      const stored = await api.sql('select response_status from idempotency_keys where key = $1', [key])
      const isDone = answer.status < 300
      if (isDone) succeeded += 1
      if (stored.length !== (isDone ? 1 : 0)) wrong.push(`${what}: ${answer.status}, ${stored.length} stored`)
      if (!isDone) continue
      const again = await tenant.call('POST', url, body, { ...headers, 'idempotency-key': key })
      // A key is shown once, also to a repeat of the call that made it.
      const shown = what === 'POST /v1/api-keys' ? { ...answer.body, api_key: null } : answer.body
      if (JSON.stringify(again.body) !== JSON.stringify(shown)) wrong.push(`${what}: a repeat differs`)
      if (again.status !== answer.status || again.headers['idempotent-replayed'] !== 'true')
        wrong.push(`${what}: not replayed`)
    }
    expect(wrong).toEqual([])
    expect(succeeded).toBeGreaterThan(40)
    const left = await api.sql('select action, path from action_intents where leased_until > now()')
    expect(left).toEqual([])
  })
})

test('a key that is given twice is refused', async () => {
  await api.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = api.app.server.address() as AddressInfo
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', method: 'POST', path: '/v1/customers' }, answer => {
      answer.resume()
      resolve(answer.statusCode)
    })
    sent.on('error', reject)
    sent.setHeader('x-api-key', tenant.key)
    sent.setHeader('content-type', 'application/json')
    sent.setHeader('idempotency-key', ['one', 'two'])
    sent.end('{"type":"INDIVIDUAL"}')
  })
  expect(status).toBe(400)
  expect(await api.sql(`select 1 from idempotency_keys where key like '%one%'`)).toEqual([])
})
