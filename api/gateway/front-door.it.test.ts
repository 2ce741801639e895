// What a stranger sends to either address at which events are taken: it is answered, at once, and no one else waits for it
// (security 8, A16 and A17).

import { once } from 'node:events'
import { connect } from 'node:net'
import { type Dispatcher, Pool } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ingestConfig } from '../../ingest/config.ts'
import { type Gateway, startGateway } from '../../ingest/gateway.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { loginOf } from '../../shared/testing/database-logins.ts'
import { startTestNats, type TestNats } from '../../shared/testing/nats.ts'
import { meterResource } from '../modules/catalog/meters/meter.ts'
import { type ApiHarness, startApi } from '../testing/harness.ts'
import type { Row } from '../testing/wire.ts'

let nats: TestNats
let api: ApiHarness
let gateway: Gateway
let pool: Pool
let meter: Row
const ports = { api: 0, gateway: 0 }
const EITHER = ['api', 'gateway'] as const

beforeAll(async () => {
  nats = await startTestNats()
  // The gateway wants the database of the api, and the api the address of the gateway.
  const dispatcher = { request: (options: Dispatcher.RequestOptions) => pool.request(options) } as Dispatcher
  api = await startApi({ gateway: { dispatcher, bodyBytesMax: 262_144 } })
  const settings = {
    PORT: '0',
    METRICS_PORT: '0',
    DATABASE_URL: loginOf(api.databaseUrl, 'millrace_gateway'),
    NATS_URL: nats.url,
    DURABILITY: 'local',
  }
  gateway = await startGateway(ingestConfig(settings), silentLogger)
  pool = new Pool(`http://127.0.0.1:${gateway.port}`, { connections: 64 })
  ports.gateway = gateway.port
  ports.api = Number(new URL(await api.app.listen({ port: 0, host: '127.0.0.1' })).port)
  meter = await api.tenants.aLive.seed.make(meterResource)
})
afterAll(async () => {
  await api?.close()
  await pool?.destroy()
  await gateway?.stop()
  await nats?.stop()
})

/** What is not understood and not refused is given up after 8 s, with 408 or without an answer: with none of what is expected here. */
const PATIENCE_MS = 60_000
let events = 0
function event(): string {
  events += 1
  const values = [{ reference: meter['meter_values'][0].reference, number: '1' }]
  return JSON.stringify({
    reference: `event-${events}`,
    customer_reference: 'acme',
    meter_reference: meter['reference'],
    meter_values: values,
  })
}
const request = (headers: string, target = '/v1/events/ingest', version = '1.1', body = '{}') =>
  `POST ${target} HTTP/${version}\r\nHost: x\r\nContent-Type: application/json\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`
const keyed = (headers = '', body = event()) =>
  request(`X-API-KEY: ${api.tenants.aLive.key}\r\n${headers}`, undefined, undefined, body)

/** The status of the first answer to these bytes; null when none comes in time. */
async function statusOf(port: number, text: string): Promise<number | null> {
  const socket = connect({ host: '127.0.0.1', port })
  socket.on('error', () => undefined)
  try {
    socket.write(text, 'latin1')
    const [data] = (await once(socket, 'data', { signal: AbortSignal.timeout(PATIENCE_MS) })) as [Buffer]
    return Number(/^HTTP\/1\.1 (\d{3}) /.exec(data.toString('latin1'))?.[1] ?? 0)
  } catch {
    return null
  } finally {
    socket.destroy()
  }
}
async function expectAnswer(at: 'api' | 'gateway', text: string, statuses: readonly number[]): Promise<void> {
  expect(statuses).toContain(await statusOf(ports[at], text))
}

/** Every character a header's name may have besides letters and digits (RFC 9110, 5.6.2). */
const TCHARS = [..."!#$%&'*+-.^_`|~"]
const many = (count: number) => Array.from({ length: count }, (_, at) => `X-H${at}: 1\r\n`).join('')

describe.each(EITHER)('the %s answers at once', at => {
  test.each(TCHARS)('a header with %s in its name: without a key 401, with one 201', async each => {
    await expectAnswer(at, request(`X${each}A: 1\r\n`), [401])
    await expectAnswer(at, keyed(`X${each}A: 1\r\n`), [201])
  })
  test.each([51, 99, 500, 5_000])('%d headers', async count => {
    await expectAnswer(at, request(many(count)), [400, 401, 431])
    await expectAnswer(at, keyed(many(count)), at === 'api' && count < 100 ? [201] : [201, 400, 431])
  })
  test('an absolute target', async () => {
    await expectAnswer(at, request('', 'http://x/v1/events/ingest'), [401, 505])
  })
  test('HTTP/1.0, and versions there are none of', async () => {
    await expectAnswer(at, request('', undefined, '1.0'), [401, 505])
    for (const version of ['1.2', '2.0', '3.0', '9.9', 'x'])
      await expectAnswer(at, request('', undefined, version), [400, 401, 505])
  })
  test.each([
    ['a space before the colon', 'X-A : 1\r\n'],
    ['a folded line', 'X-A: 1\r\n b\r\n'],
    ['a NUL in a value', 'X-A: a\0b\r\n'],
    ['a name with a bracket', 'X(A): 1\r\n'],
    ['20 KB in one header', `X-A: ${'a'.repeat(20_000)}\r\n`],
  ])('%s', async (_name, headers) => {
    await expectAnswer(at, request(headers), [400, 431])
  })
  test('a chunk with an extension', async () => {
    const chunked = request('Transfer-Encoding: chunked\r\n')
      .replace(/Content-Length: 2\r\n/, '')
      .replace(/\{\}$/, '2;x=1\r\n{}\r\n0\r\n\r\n')
    await expectAnswer(at, chunked, [400, 401])
  })
})

test.each([
  ['an empty line before it', `\r\n${request('')}`],
  ['a carriage return alone between its headers', request('').replace('Host: x\r\n', 'Host: x\rY: z\r\n')],
  ['no request line', 'hello\r\n\r\n'],
])('a request without a key and with %s is answered at the api', async (_, text) => {
  expect([400, 401]).toContain(await statusOf(ports.api, text))
})

test.each(EITHER)('500 such calls at once are answered, and a good one among them is taken at the %s', async at => {
  const strange = [
    ...TCHARS.map(each => request(`X${each}A: 1\r\n`)),
    request(many(51)),
    request('', 'http://x/v1/events/ingest'),
  ]
  const flood = Array.from({ length: 500 }, (_, index) => statusOf(ports[at], strange[index % strange.length] ?? ''))
  await expectAnswer(at, keyed(), [201])
  const statuses = await Promise.all(flood)
  expect(statuses.filter(status => status === null)).toEqual([])
  await expectAnswer(at, keyed(), [201])
})
