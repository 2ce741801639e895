// No text of any call may end as a failure of ours: what cannot be stored is refused with its field, on every route there is.
import { Writable } from 'node:stream'
import { sql } from 'drizzle-orm'
import pino from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTenant } from '../../../shared/database/database.ts'
import { type ApiHarness, startApi } from '../../testing/harness.ts'
import type { Row } from '../../testing/wire.ts'

let api: ApiHarness
const logged: Row[] = []
beforeAll(async () => {
  const lines = new Writable({
    write: (chunk, _encoding, done) => {
      logged.push(JSON.parse(String(chunk)))
      done()
    },
  })
  api = await startApi({ logger: pino({ level: 'error' }, lines) })
})
afterAll(() => api.close())

const BAD = { NUL: 'a\u0000b', 'a lone surrogate': 'a\ud800b' }
const pathOf = (url: string, id: string): string => url.replace(/:[a-zA-Z]+/g, id)
/** Their body is no JSON. */
const STREAMED = /^\/v1\/files\/:id\/content$/

test('every path parameter refuses NUL by its name', async () => {
  const answers = []
  for (const { method, url } of api.routes.filter(route => route.url.includes(':'))) {
    const body = ['POST', 'PUT', 'PATCH'].includes(method) && !STREAMED.test(url) ? {} : undefined
    const { status, body: refusal } = await api.tenants.aLive.call(method, pathOf(url, 'a%00b'), body)
    answers.push({ route: `${method} ${url}`, status, code: refusal['code'] })
  }
  expect(answers.length).toBeGreaterThan(80)
  expect(answers.filter(({ status, code }) => status !== 400 || code !== 'INVALID_FIELD')).toEqual([])
})

test.each(Object.entries(BAD))('every body refuses %s, however deep, with the dotted path', async (_name, text) => {
  const answers = []
  for (const { method, url } of api.routes.filter(route => ['POST', 'PUT', 'PATCH'].includes(route.method))) {
    if (STREAMED.test(url)) continue
    const body = { outer: [{ inner: text }] }
    const { status, body: refusal } = await api.tenants.aLive.call(method, pathOf(url, 'x'), body)
    answers.push({ route: `${method} ${url}`, status, field: refusal['field'] })
  }
  expect(answers.length).toBeGreaterThan(60)
  expect(answers.filter(({ status, field }) => status !== 400 || field !== 'outer.0.inner')).toEqual([])
})

test('every query parameter refuses NUL by its name', async () => {
  const { body: description } = await api.tenants.aLive.call('GET', '/v1/openapi.json')
  const answers = []
  for (const [url, path] of Object.entries<Row>(description['paths'])) {
    for (const [method, operation] of Object.entries<Row>(path)) {
      for (const { name, in: place } of operation['parameters'] ?? []) {
        if (place !== 'query') continue
        const body = ['post', 'put', 'patch'].includes(method) ? {} : undefined
        const at = `${url.replace(/\{[a-zA-Z]+\}/g, 'x')}?${encodeURIComponent(name)}=a%00b`
        const answer = await api.tenants.aLive.call(method.toUpperCase(), at, body)
        answers.push({ route: `${method} ${url}`, name, status: answer.status, field: answer.body['field'] })
      }
    }
  }
  expect(answers.length).toBeGreaterThan(150)
  expect(answers.filter(({ name, status, field }) => status !== 400 || field !== name)).toEqual([])
})

test('what reaches the database all the same is the caller’s fault, and not a failure of ours', async () => {
  const { tenant } = api.tenants.aLive
  const actor = { id: null, requestId: null }
  const stored = inTenant(api.database, tenant, actor, async uow => {
    await uow.tx.execute(sql`select ${'a\u0000b'}::text`)
  })
  await expect(stored).rejects.toMatchObject({ code: 'INVALID_REQUEST', status: 400 })
  const asJson = inTenant(api.database, tenant, actor, async uow => {
    await uow.tx.execute(sql`select (${'{"a": "\\u0000"}'}::jsonb) ->> 'a'`)
  })
  await expect(asJson).rejects.toMatchObject({ code: 'INVALID_REQUEST', status: 400 })
})

test('and none of it wrote a line that asks a person to act', () => {
  expect(logged).toEqual([])
})
