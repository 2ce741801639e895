// The ingest calls through the api, with the real gateway behind it: the same answers, byte for byte.

import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { type AddressInfo, connect as connectSocket } from 'node:net'
import { pino } from 'pino'
import { type Dispatcher, Pool } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ingestConfig } from '../../ingest/config.ts'
import { type Gateway, startGateway } from '../../ingest/gateway.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { loginOf } from '../../shared/testing/database-logins.ts'
import { startTestNats, type TestNats } from '../../shared/testing/nats.ts'
import { meterResource } from '../modules/catalog/meters/meter.ts'
import { type ApiHarness, startApi, type TestTenant } from '../testing/harness.ts'
import { FORWARDED } from './forward-ingest.ts'

let nats: TestNats
let api: ApiHarness
let gateway: Gateway
let pool: Pool
let tenant: TestTenant
let base: string

beforeAll(async () => {
  nats = await startTestNats()
  // The gateway wants the database of the api, and the api the address of the gateway.
  const dispatcher = { request: (options: Dispatcher.RequestOptions) => pool.request(options) } as Dispatcher
  api = await startApi({ gateway: { dispatcher, bodyBytesMax: BODY_BYTES_MAX } })
  const settings = {
    PORT: '0',
    METRICS_PORT: '0',
    DATABASE_URL: loginOf(api.databaseUrl, 'millrace_gateway'),
    NATS_URL: nats.url,
    PARTITIONS: '2',
    DURABILITY: 'local',
  }
  gateway = await startGateway(ingestConfig(settings), silentLogger)
  pool = new Pool(`http://127.0.0.1:${gateway.port}`)
  base = await api.app.listen({ port: 0, host: '127.0.0.1' })
  tenant = api.tenants.aLive
})
afterAll(async () => {
  await api.close()
  await pool.close()
  await gateway.stop()
  await nats.stop()
})

type Call = { path?: string; headers?: Record<string, string>; body?: string }
async function post(origin: string, { path = '/v1/events/ingest', headers = {}, body = '' }: Call) {
  const response = await fetch(`${origin}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': tenant.key, ...headers },
    body,
  })
  return {
    status: response.status,
    headers: response.headers,
    body: Buffer.from(await response.arrayBuffer()).toString(),
  }
}

const BODY_BYTES_MAX = 262_144
let counter = 0
async function eventOf(): Promise<Record<string, unknown>> {
  const meter = await tenant.seed.make(meterResource)
  counter += 1
  return {
    reference: `event-${counter}`,
    customer_reference: 'acme',
    meter_reference: meter['reference'],
    timestamp: '2026-03-11T10:00:00Z',
    meter_values: [{ reference: meter['meter_values'][0].reference, number: '42.5' }],
  }
}

test('an event is accepted through either address and is the same event', async () => {
  const body = JSON.stringify(await eventOf())
  const through = await post(base, { body })
  const direct = await post(`http://127.0.0.1:${gateway.port}`, { body })
  expect(through.status).toBe(201)
  expect(JSON.parse(through.body)['id']).toBe(JSON.parse(direct.body)['id'])
  expect(through.headers.get('content-type')).toBe('application/json')
  expect(through.headers.get('x-request-id')).toMatch(/^reqr_[0-9A-Za-z]{22}$/)
})

test.each(Object.keys(FORWARDED))('%s is there', async path => {
  const event = await eventOf()
  const isList = /list|batch|datas/.test(path)
  expect((await post(base, { path, body: JSON.stringify(isList ? [event] : event) })).status).toBe(201)
})

describe('a refusal is the same as at the gateway', () => {
  test.each<[string, Call, number]>([
    ['malformed JSON', { body: '{"reference": ' }, 400],
    ['no body', {}, 400],
    ['an unknown field', { body: '{"nonsense": 1}' }, 400],
    ['another content type', { body: '{}', headers: { 'content-type': 'text/plain' } }, 415],
    ['an encoded body', { body: '{}', headers: { 'content-encoding': 'gzip' } }, 415],
    ['an unknown query parameter', { path: '/v1/events/ingest?nonsense=1', body: '{}' }, 400],
  ])('%s', async (_name, call, status) => {
    const [through, direct] = [await post(base, call), await post(`http://127.0.0.1:${gateway.port}`, call)]
    expect(through.status).toBe(status)
    expect([through.status, through.body]).toEqual([direct.status, direct.body])
    expect(through.headers.get('content-type')).toBe(direct.headers.get('content-type'))
  })

  test.each<[string, Record<string, string>, number]>([
    ['an unknown key', { 'x-api-key': 'nonsense' }, 401],
    ['both ways to authenticate', { authorization: 'Bearer x' }, 400],
  ])('%s, in words of its own', async (_name, headers, status) => {
    const call = { body: '{}', headers }
    const [through, direct] = [await post(base, call), await post(`http://127.0.0.1:${gateway.port}`, call)]
    expect([through.status, direct.status]).toEqual([status, status])
    expect(JSON.parse(through.body)['code']).toBe(JSON.parse(direct.body)['code'])
  })
})

test('meter_validation that is neither STATIC nor DYNAMIC: the refusal names both', async () => {
  const { status, body } = await post(base, { path: '/v1/events/ingest?meter_validation=FOO', body: '{}' })
  expect([status, JSON.parse(body)['message']]).toEqual([400, 'meter_validation must be STATIC or DYNAMIC.'])
})

test.each([0, 1])('a body %i byte above the limit', async above => {
  const { status, body } = await post(base, { body: ' '.repeat(BODY_BYTES_MAX + above) })
  expect(JSON.parse(body)['code']).toBe(above ? 'PAYLOAD_TOO_LARGE' : 'BAD_REQUEST')
  expect(status).toBe(above ? 413 : 400)
})

describe('what passes', () => {
  let peer: Server
  let peerPool: Pool
  let forwarder: ApiHarness
  let forwarderPort: number
  let seen: { headers: IncomingHttpHeaders; rawHeaders: string[]; url: string; body: Buffer } | null = null

  beforeAll(async () => {
    peer = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        seen = {
          headers: request.headers,
          rawHeaders: request.rawHeaders,
          url: request.url ?? '',
          body: Buffer.concat(chunks),
        }
        response.writeHead(429, {
          'content-type': 'application/json',
          'retry-after': '7',
          'x-request-id': 'reqr_peer',
          connection: 'keep-alive',
        })
        response.end('{"a":  1}\n')
      })
    })
    await new Promise<void>(resolve => peer.listen(0, '127.0.0.1', resolve))
    peerPool = new Pool(`http://127.0.0.1:${(peer.address() as AddressInfo).port}`)
    forwarder = await startApi({ gateway: { dispatcher: peerPool, bodyBytesMax: BODY_BYTES_MAX } })
    forwarderPort = Number(new URL(await forwarder.app.listen({ port: 0, host: '127.0.0.1' })).port)
  })
  afterAll(async () => {
    await forwarder.close()
    await peerPool.destroy()
    peer.closeAllConnections()
    await new Promise(resolve => peer.close(resolve))
  })

  /** Sends raw bytes and gives what comes back once the connection is closed. */
  const raw = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connectSocket(forwarderPort, '127.0.0.1', () => socket.write(text))
      let answer = ''
      socket.on('data', chunk => {
        answer += chunk.toString()
      })
      socket.on('close', () => resolve(answer))
      socket.on('error', reject)
    })

  const keyed = () => `X-API-KEY: ${forwarder.tenants.aLive.key}\r\nConnection: close\r\n`

  test('the path of the route, the headers the gateway reads and the body in its bytes; the answer with its status, headers and bytes', async () => {
    const more = Array.from({ length: 60 }, (_, at) => `X_${at}: 1\r\n`).join('')
    const answer = await raw(
      `POST http://elsewhere/v1/events/%69ngest?cost_prediction=false HTTP/1.1\r\nHost: a\r\n${keyed()}Cookie: a=b\r\n${more}` +
        `Content-Type: application/json; ${'o'.repeat(5_000)}\r\nContent-Length: 7\r\n\r\n{"é" :`,
    )
    expect(seen?.url).toBe('/v1/events/ingest')
    expect(seen?.body.toString()).toBe('{"é" :')
    expect(Object.keys(seen?.headers ?? {}).sort()).toEqual([
      'connection',
      'content-length',
      'content-type',
      'host',
      'x-api-key',
    ])
    expect(seen?.headers['content-type']).toMatch(/^application\/json; o{50,90}$/)
    expect(seen?.headers['content-length']).toBe('7')
    expect(seen?.rawHeaders.filter(name => name.toLowerCase() === 'x-api-key')).toHaveLength(1)
    expect(answer).toMatch(/^HTTP\/1.1 429 /)
    expect(answer).toContain('retry-after: 7\r\n')
    expect(answer.match(/x-request-id: .*\r\n/gi)).toEqual(['x-request-id: reqr_peer\r\n'])
    expect(answer.endsWith('\r\n\r\n{"a":  1}\n')).toBe(true)
  })

  test('a chunked body', async () => {
    await raw(
      `POST /v1/events/ingest HTTP/1.1\r\nHost: a\r\n${keyed()}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`,
    )
    expect(seen?.body.toString()).toBe('abcde')
  })

  test.each([
    ['no key', ''],
    ['an unknown key', 'X-API-KEY: nonsense\r\n'],
    ['two keys', 'X-API-KEY: one\r\nX-API-KEY: two\r\n'],
  ])('nothing of a caller with %s', async (_name, headers) => {
    seen = null
    const answer = await raw(
      `POST /v1/events/ingest HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}Content-Length: 2\r\n\r\n{}`,
    )
    expect(answer).toMatch(/^HTTP\/1.1 40[01] /)
    expect(seen).toBeNull()
  })
})

test('without a gateway the events are to be sent again, and no line of the log calls for a person', async () => {
  const nowhere = new Pool('http://127.0.0.1:1')
  const errors: string[] = []
  const logger = pino({ level: 'error' }, { write: line => void errors.push(line) })
  const alone = await startApi({ gateway: { dispatcher: nowhere, bodyBytesMax: BODY_BYTES_MAX }, logger })
  const { status, headers, body } = await alone.tenants.aLive.call('POST', '/v1/events/ingest', {})
  expect(status).toBe(503)
  expect(headers['retry-after']).toBe('1')
  expect(body).toMatchObject({ type: 'API_ERROR', code: 'SERVICE_UNAVAILABLE' })
  expect(errors).toEqual([])
  await alone.close()
  await nowhere.destroy()
})
