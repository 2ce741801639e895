// What a call stands on is slow without end: every reading route is refused with 503 and Retry-After in its time, and none is cut off.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { UsageReader } from './modules/billing/usage/usage-reader.ts'
import { type Answer, type ApiHarness, callerWith, startOwnApi } from './testing/harness.ts'
import { callsOf } from './testing/probe-tenants.ts'
import type { EventStore } from './usage/event-store.ts'

const ANSWER_MS = 1_000
const AT_ONCE = 80
/** Every one of its methods is asked and never answers. */
const never = <T extends object>(): T =>
  new Proxy({} as T, { get: (_target, name) => (name === 'log' ? never() : () => new Promise(() => undefined)) })

let api: ApiHarness
let slow: Awaited<ReturnType<ApiHarness['appWith']>>
let call: ReturnType<typeof callerWith>
let reads: Awaited<ReturnType<typeof callsOf>>

beforeAll(async () => {
  // What the calls are made with is made in its own time.
  api = await startOwnApi()
  const routes = api.routes.filter(({ method, permission }) => method === 'GET' || permission.endsWith('.VIEW'))
  reads = await callsOf(api, routes, api.tenants.aLive)
  slow = await api.appWith({ usage: never<UsageReader>(), events: never<EventStore>(), answerMs: ANSWER_MS })
  call = callerWith(slow.app, { 'x-api-key': api.tenants.aLive.key })
}, 120_000)
afterAll(async () => {
  await slow?.close()
  await api?.close()
})

type Seen = { readonly what: string; readonly answer: Answer }

async function readAll(): Promise<Seen[]> {
  const seen: Seen[] = []
  const queue = reads.values()
  const worker = async (): Promise<void> => {
    for (const { what, method, url, body, headers } of queue)
      seen.push({ what, answer: await call(method, url, body, headers) })
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return seen
}
const shown = ({ what, answer: { status, headers, body } }: Seen): string =>
  `${what}: ${status} ${headers['retry-after']} ${JSON.stringify(body).slice(0, 100)}`
const isRight = ({ answer: { status, headers, body } }: Seen): boolean =>
  status < 500 || (status === 503 && body['code'] === 'SERVICE_UNAVAILABLE' && Number(headers['retry-after']) > 0)
const refused = (seen: readonly Seen[]): string[] =>
  seen.filter(({ answer }) => answer.status === 503).map(({ what }) => what)

test('usage that is never read', async () => {
  const seen = await readAll()
  expect(seen.length).toBeGreaterThan(100)
  expect(seen.filter(each => !isRight(each)).map(shown)).toEqual([])
  expect(refused(seen)).toEqual(
    expect.arrayContaining(['GET /v1/events', 'GET /v1/events/:id', 'GET /v1/events/:id/event_trace', 'GET /v1/usage']),
  )
  await expect.poll(async () => (await call('GET', '/v1/customers')).status).toBe(200)
})

/** Reads of the api's own that meet the locks in another order may end in a deadlock, which takes back all of them. */
async function lockAll(statement: string): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    await api.sql('begin')
    try {
      await api.sql(statement)
      return
    } catch (error) {
      await api.sql('rollback')
      if (tries === 9 || !/deadlock/.test(String(error))) throw error
    }
  }
}

test('tables that stay locked', async () => {
  const tables = await api.sql(
    `select string_agg(format('%I', relname), ', ') as names from pg_class
     where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  )
  await lockAll(`lock table ${tables[0]?.['names']} in access exclusive mode`)
  const seen = await readAll()
  await api.sql('rollback')
  expect(seen.filter(each => !isRight(each)).map(shown)).toEqual([])
  expect(refused(seen)).toEqual(expect.arrayContaining(['GET /v1/customers', 'GET /v1/invoices', 'GET /v1/events']))
  // What was begun ends, and the next call is answered as ever.
  await expect.poll(async () => (await call('GET', '/v1/customers')).status).toBe(200)
}, 120_000)
