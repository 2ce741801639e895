// What the gateway refuses: with the right status, the envelope, a request id, and nothing in the log.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newApiKey } from '../shared/access/api-key.ts'
import { newId } from '../shared/ids.ts'
import { type GatewayRig, startGatewayRig } from './testing/gateway-rig.ts'

let rig: GatewayRig
beforeAll(async () => {
  rig = await startGatewayRig({ INGEST_BODY_BYTES_MAX: '65536' })
  await rig.addMeter('LIVE', 'requests')
})
afterAll(() => rig.stop())

const SINGLE = '/v1/events/ingest'
const LIST = '/v1/events/ingest-list'
const event = (changes: object = {}) => ({
  reference: 'never-stored',
  customer_reference: 'acme',
  meter_reference: 'requests',
  meter_values: [{ reference: 'requests_tokens', number: '1' }],
  ...changes,
})
const key = () => rig.platform.environments.LIVE.api_key

async function expectRefusal(
  sent: { path?: string; body?: unknown; headers?: Record<string, string> },
  status: number,
  body: Record<string, unknown>,
): Promise<void> {
  const reply = await rig.post(sent.path ?? SINGLE, sent.body ?? event(), sent.headers)
  expect(reply.status).toBe(status)
  expect(reply.body).toMatchObject(body)
  expect(reply.body['message']).toEqual(expect.any(String))
  expect(reply.headers.get('x-request-id')).toMatch(/^reqr_[0-9A-Za-z]{22}$/)
  expect(reply.headers.get('content-type')).toBe('application/json')
  expect(await rig.logged()).toEqual([])
}

describe('bad input', () => {
  const cases: [
    string,
    { path?: string; body?: unknown; headers?: Record<string, string> },
    number,
    Record<string, unknown>,
  ][] = [
    ['malformed JSON', { body: '{"reference":' }, 400, { type: 'INVALID_REQUEST', code: 'BAD_REQUEST' }],
    ['an empty body', { body: '' }, 400, { code: 'BAD_REQUEST' }],
    ['bytes that are no UTF-8', { body: Buffer.from([0x22, 0xff, 0x22]) }, 400, { code: 'BAD_REQUEST' }],
    ['a key twice', { body: '{"reference":"a","reference":"b"}' }, 400, { code: 'MISSING_FIELD' }],
    [
      'a key twice in a good event',
      { body: JSON.stringify(event()).replace('{', '{"reference":"a",') },
      400,
      { code: 'BAD_REQUEST' },
    ],
    ['wrong types', { body: event({ reference: 5 }) }, 400, { code: 'INVALID_FIELD', field: 'reference' }],
    ['unknown fields', { body: event({ colour: 1 }) }, 400, { code: 'INVALID_FIELD', field: 'colour' }],
    ['__proto__', { body: '{"__proto__":{"x":1}}' }, 400, { code: 'INVALID_FIELD', field: '__proto__' }],
    [
      'a bad decimal',
      { body: event({ meter_values: [{ reference: 'requests_tokens', number: '1e9' }] }) },
      400,
      { code: 'INVALID_FIELD', field: 'meter_values.0.number' },
    ],
    [
      'a JSON number',
      { body: event({ meter_values: [{ reference: 'requests_tokens', number: 1 }] }) },
      400,
      { code: 'INVALID_FIELD', field: 'meter_values.0.number' },
    ],
    [
      'a timestamp without offset',
      { body: event({ timestamp: '2026-01-31T10:00:00' }) },
      400,
      { code: 'INVALID_FIELD', field: 'timestamp' },
    ],
    [
      'an unknown meter',
      { body: event({ meter_reference: 'nope' }) },
      400,
      { code: 'RESOURCE_NOT_FOUND', field: 'meter_reference' },
    ],
    [
      'a batch of 51',
      { path: LIST, body: Array.from({ length: 51 }, () => event()) },
      400,
      { code: 'INVALID_REQUEST' },
    ],
    [
      'a batch of none',
      { path: LIST, body: { meter_datas: [] } },
      400,
      { code: 'INVALID_REQUEST', field: 'meter_datas' },
    ],
    [
      'a batch with one bad event',
      { path: LIST, body: [event({ reference: 'a' }), event({ reference: '' })] },
      400,
      { field: '1.reference' },
    ],
    ['a list sent as one event', { body: [event()] }, 400, { code: 'INVALID_REQUEST' }],
    ['nesting beyond 32', { body: `${'['.repeat(30_000)}` }, 400, { code: 'BAD_REQUEST' }],
    [
      'a body over the limit',
      { body: JSON.stringify(event({ reference: 'x'.repeat(70_000) })) },
      413,
      { code: 'PAYLOAD_TOO_LARGE' },
    ],
    ['another content type', { headers: { 'Content-Type': 'text/plain' } }, 415, { code: 'UNSUPPORTED_MEDIA_TYPE' }],
    [
      'another charset',
      { headers: { 'Content-Type': 'application/json; charset=latin1' } },
      415,
      { code: 'UNSUPPORTED_MEDIA_TYPE' },
    ],
    ['a compressed body', { headers: { 'Content-Encoding': 'gzip' } }, 415, { code: 'UNSUPPORTED_MEDIA_TYPE' }],
    [
      'DYNAMIC validation',
      { path: `${SINGLE}?meter_validation=DYNAMIC` },
      400,
      { code: 'INVALID_FIELD', field: 'meter_validation' },
    ],
    [
      'cost prediction',
      { path: `${LIST}?cost_prediction=true` },
      400,
      { code: 'INVALID_FIELD', field: 'cost_prediction' },
    ],
    ['an unknown parameter', { path: `${SINGLE}?x=1` }, 400, { code: 'INVALID_FIELD', field: 'x' }],
    ['an unknown path', { path: '/v1/events/ingests' }, 404, { code: 'RESOURCE_NOT_FOUND' }],
  ]
  for (const [name, sent, status, body] of cases) test(`${name}: ${status}`, () => expectRefusal(sent, status, body))

  test.each([
    ['GET', SINGLE, 'POST'],
    ['DELETE', LIST, 'POST'],
    ['OPTIONS', LIST, 'POST'],
    ['POST', '/health/ready', 'GET'],
  ])('%s %s is 405 and says which method is taken', async (method, path, allowed) => {
    const { status, headers, text } = await fetch(rig.url + path, { method }).then(async answer => ({
      status: answer.status,
      headers: answer.headers,
      text: await answer.text(),
    }))
    expect([status, headers.get('allow')]).toEqual([405, allowed])
    expect(JSON.parse(text)).toEqual({
      type: 'INVALID_REQUEST',
      code: 'INVALID_OPERATION',
      message: `This path takes ${allowed} only.`,
    })
  })

  test('every answer has an id, is kept by no cache, and is read as nothing but what it says', async () => {
    for (const path of ['/health/live', '/nowhere', SINGLE]) {
      const { headers } = await fetch(rig.url + path)
      expect(headers.get('x-request-id')).toMatch(/^reqr_/)
      expect([headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual(['no-store', 'nosniff'])
    }
  })
})

describe('who may not', () => {
  const insertKey = async (options: {
    environment: 'LIVE' | 'TEST'
    role?: string
    revoked?: boolean
  }): Promise<string> => {
    const made = newApiKey('LIVE')
    await rig.sql(
      `insert into api_keys (platform_id, environment, id, key_id, sha256, display_prefix, last_four, role_type, revoked_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [
        rig.platform.id,
        options.environment,
        newId('akey'),
        made.keyId,
        made.sha256,
        made.displayPrefix,
        made.lastFour,
        options.role ?? 'ADMINISTRATOR',
        options.revoked ? new Date() : null,
      ],
    )
    return made.text
  }
  const withKey = (text: string) => ({ headers: { 'X-API-KEY': text } })

  test('no key: 401', async () => {
    const response = await fetch(rig.url + SINGLE, {
      method: 'POST',
      body: '{}',
      headers: { 'Content-Type': 'application/json' },
    })
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({ code: 'UNAUTHORISED' })
  })
  test('a made-up key: 401', () => expectRefusal(withKey('secret'), 401, { code: 'UNAUTHORISED' }))
  test('a key with one character changed: 401', () =>
    expectRefusal(withKey(`${key().slice(0, -1)}${key().endsWith('0') ? '1' : '0'}`), 401, { code: 'UNAUTHORISED' }))
  test('a well-formed key that nobody made: 401', () =>
    expectRefusal(withKey(newApiKey('LIVE').text), 401, { code: 'UNAUTHORISED' }))
  test('an empty key: 400', () => expectRefusal(withKey(''), 400, { code: 'BAD_REQUEST' }))
  test('key and Authorization together: 400', () =>
    expectRefusal({ headers: { Authorization: 'Bearer x' } }, 400, { code: 'BAD_REQUEST' }))
  test('a READ_ONLY key: 403', async () =>
    expectRefusal(withKey(await insertKey({ environment: 'LIVE', role: 'READ_ONLY' })), 403, {
      code: 'USER_NOT_ALLOWED',
    }))
  test('a revoked key: 401', async () =>
    expectRefusal(withKey(await insertKey({ environment: 'LIVE', revoked: true })), 401, { code: 'UNAUTHORISED' }))
  test('a key whose prefix is not of its environment: 401', async () =>
    expectRefusal(withKey(await insertKey({ environment: 'TEST' })), 401, { code: 'UNAUTHORISED' }))
  test('a meter of the other environment: 400', () =>
    expectRefusal(withKey(rig.platform.environments.TEST.api_key), 400, {
      code: 'RESOURCE_NOT_FOUND',
      field: 'meter_reference',
    }))
})

describe('what is wrong with the request itself', () => {
  test('a refusal before the body leaves the connection in step', async () => {
    const body = JSON.stringify(event())
    const request = (apiKey: string) =>
      `POST ${SINGLE} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-API-KEY: ${apiKey}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const { text } = await rig.raw(request('wrong') + request('wrong too'))
    expect(text.match(/HTTP\/1\.1 401 /g)?.length).toBe(2)
  })
  test('nothing of all this is in the log', async () => expect(await rig.logged()).toEqual([]))
})
