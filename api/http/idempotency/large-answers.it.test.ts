// An answer of megabytes that an Idempotency-Key keeps: other requests are answered while it is written, and a repeat gets its bytes.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LiveKeys } from '../../../shared/access/live-keys.ts'
import { silentLogger } from '../../../shared/process/logger.ts'
import { type ApiHarness, startApi } from '../../testing/harness.ts'
import { createServer } from '../create-server.ts'
import { actionRoute } from '../route.ts'

const LINES = 200
/** So long in one go: many times what a turn takes. */
const LINE_MS = 2
let api: ApiHarness
let server: FastifyInstance
let url: string
/** Called when the first line of the answer is written, and when the last one is. */
let written: { first: () => void; last: () => void }

beforeAll(async () => {
  api = await startApi()
  const { platformId, environment } = api.tenants.aLive.tenant
  const identity = {
    platformId,
    environment,
    keyRowId: 'akey_1',
    roleType: 'ADMINISTRATOR',
    originalUserIds: null,
    expiresAt: null,
  } as const
  const keys: LiveKeys = {
    load: () => Promise.resolve(),
    peek: () => identity,
    find: () => Promise.resolve(identity),
    close: () => Promise.resolve(),
  }
  server = await createServer(silentLogger)
  server.get('/cheap', { config: { permission: 'public' } }, () => ({ cheap: true }))
  actionRoute(
    server,
    { database: api.database, keys, permissionCache: api.permissionCache },
    {
      method: 'POST',
      url: '/large',
      status: 200,
      permission: 'INVOICE.VIEW',
      summary: 'A large answer.',
      tag: 'Tests',
      response: Type.Object({ all: Type.Object({ lines: Type.Array(Type.Object({ id: Type.String() })) }) }),
      large: ['all', 'lines'],
      handle: () => Promise.resolve({ all: { lines: Array.from({ length: LINES }, (_, line) => lineAt(line)) } }),
    },
  )
  url = await server.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(async () => {
  await server?.close()
  await api?.close()
})

const lineAt = (line: number) => ({
  get id() {
    if (line === 0) written.first()
    if (line === LINES - 1) written.last()
    const end = performance.now() + LINE_MS
    while (performance.now() < end);
    return `${line} ${'x'.repeat(2_000)}`
  },
})

const ask = async (key: string | null) => {
  const headers = { 'x-api-key': 'any', ...(key === null ? {} : { 'idempotency-key': key }) }
  const answer = await fetch(`${url}/large`, { method: 'POST', headers })
  return { status: answer.status, replayed: answer.headers.get('idempotent-replayed'), text: await answer.text() }
}

test.each([
  ['without a key', null],
  ['with a key', 'one'],
])('another request is answered first: %s', async (_what, key) => {
  let cheap: Promise<unknown> | null = null
  let isAnswered = false
  let wasFirst = false
  written = {
    first: () => {
      cheap ??= fetch(`${url}/cheap`).then(async answer => {
        isAnswered = (await answer.text()) === '{"cheap":true}'
      })
    },
    last: () => {
      wasFirst = isAnswered
    },
  }
  const answer = await ask(key)
  await cheap
  expect([answer.status, answer.replayed, wasFirst]).toEqual([200, null, true])
  const { lines } = JSON.parse(answer.text).all
  expect(lines).toHaveLength(LINES)
  if (key === null) return
  const again = await ask(key)
  expect([again.status, again.replayed]).toEqual([200, 'true'])
  expect(again.text === answer.text).toBe(true)
})
