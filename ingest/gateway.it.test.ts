// The gateway against real servers: what it accepts, what it keeps, and what it does while one of them is away.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { temporaryFolder } from '../infra/services/temporary.ts'
import { newApiKey } from '../shared/access/api-key.ts'
import { decodeEvent, eventHash, eventId } from '../shared/contracts/usage-event.ts'
import { newId } from '../shared/ids.ts'
import { silentLogger } from '../shared/process/logger.ts'
import { openTestDatabase } from '../shared/testing/database-logins.ts'
import { systemClock } from '../shared/time.ts'
import { createLiveMeters } from './events/parse/live-meters.ts'
import { type GatewayRig, type Reply, startGatewayRig } from './testing/gateway-rig.ts'

const SINGLE = '/v1/events/ingest'
const LIST = '/v1/events/ingest-list'
const event = (reference: string, changes: object = {}) => ({
  reference,
  customer_reference: 'acme',
  meter_reference: 'requests',
  timestamp: '2026-01-31T10:00:00.789+01:00',
  meter_values: [{ reference: 'requests_tokens', number: '12.50' }],
  ...changes,
})
/** Generous, since other tests may have the processor. */
const until = (what: () => Promise<boolean>) => expect.poll(what, { timeout: 60_000, interval: 20 }).toBe(true)

describe('accepted events', () => {
  let rig: GatewayRig
  let meterId: string
  beforeAll(async () => {
    rig = await startGatewayRig()
    meterId = await rig.addMeter('LIVE', 'requests')
  })
  afterAll(() => rig.stop())
  const idOf = (reference: string) => eventId(eventHash(rig.platform.id, 'LIVE', reference))
  const linesOf = async (reference: string) =>
    (await rig.logged()).map(decodeEvent).filter(each => each.reference === reference)

  test('one event is answered 201 with its view and stands in the log with what was sent', async () => {
    const reply = await rig.post(SINGLE, event('one'))
    expect(reply.status).toBe(201)
    expect(reply.headers.get('x-request-id')).toMatch(/^reqr_[0-9A-Za-z]{22}$/)
    expect(reply.headers.get('content-type')).toBe('application/json')
    expect(reply.body).toEqual({
      object_type: 'METER_DATA',
      id: idOf('one'),
      reference: 'one',
      type: 'INGEST',
      customer_reference: 'acme',
      meter_id: meterId,
      meter_reference: 'requests',
      timestamp: '2026-01-31T09:00:00Z',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      meter_properties: [],
      meter_values: [{ id: expect.stringMatching(/^metv_/), reference: 'requests_tokens', number: '12.50' }],
    })
    expect(await linesOf('one')).toMatchObject([
      {
        platformId: rig.platform.id,
        environment: 'LIVE',
        customerKey: 'acme',
        meterReference: 'requests',
        timestampMs: Date.UTC(2026, 0, 31, 9, 0, 0, 789),
        valueReferences: ['requests_tokens'],
        valueQuantities: ['12.50'],
      },
    ])
  })

  test('a list is answered in the form it was sent in, on every path', async () => {
    const bare = await rig.post(LIST, [event('l1'), event('l2', { reference: 'größe "2"' })])
    expect(bare).toMatchObject({ status: 201, body: [{ reference: 'l1' }, { reference: 'größe "2"' }] })
    const wrapped = await rig.post('/v1/ingest/meter-datas', { meter_datas: [event('l3')] })
    expect(wrapped).toMatchObject({ status: 201, body: { meter_datas: [{ id: idOf('l3') }] } })
    expect((await rig.post('/v1/events/ingest-batch', [event('l4')])).status).toBe(201)
    expect((await rig.post('/v1/ingest/meter-data', event('l5'))).status).toBe(201)
    for (const reference of ['l1', 'größe "2"', 'l3', 'l4', 'l5']) expect(await linesOf(reference)).toHaveLength(1)
  })

  test('an identical repeat is answered alike and spared the log, other content is logged', async () => {
    const first = await rig.post(SINGLE, event('again'))
    const repeats = await Promise.all(Array.from({ length: 20 }, () => rig.post(SINGLE, event('again'))))
    for (const repeat of repeats) expect(repeat).toMatchObject({ status: 201, body: { id: first.body['id'] } })
    expect(await linesOf('again')).toHaveLength(1)
    expect(await rig.post(SINGLE, event('again', { customer_reference: 'other' }))).toMatchObject({
      status: 201,
      body: { id: first.body['id'] },
    })
    expect(await linesOf('again')).toMatchObject([{ customerKey: 'acme' }, { customerKey: 'other' }])
    await rig.post(
      LIST,
      Array.from({ length: 10 }, () => event('in one batch')),
    )
    expect(await linesOf('in one batch')).toHaveLength(1)
  })

  test('a repeat with other content is answered with the event that counts, alone and within a list', async () => {
    const meter_values = [{ reference: 'requests_tokens', number: '99' }]
    const changed = { customer_reference: 'other', meter_values, timestamp: '2026-02-01T00:00:00Z' }
    const first = await rig.post(SINGLE, event('counts'))
    for (const _again of [1, 2]) expect((await rig.post(SINGLE, event('counts', changed))).body).toEqual(first.body)
    const list = await rig.post(LIST, [event('counts-2', changed), event('counts', changed), event('counts-3')])
    expect(list.body).toMatchObject([{ customer_reference: 'other' }, first.body, { reference: 'counts-3' }])
    const wrapped = await rig.post('/v1/ingest/meter-datas', { meter_datas: [event('counts-2')] })
    expect(wrapped.body['meter_datas']).toEqual([list.body[0]])
    expect((await linesOf('counts')).map(({ customerKey }) => customerKey)).toEqual(['acme', 'other', 'other', 'other'])
  })

  test('a body that comes in pieces is read whole', async () => {
    const body = JSON.stringify(event('pieces'))
    const head = `POST ${SINGLE} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-API-KEY: ${rig.platform.environments.LIVE.api_key}\r\n`
    const chunks = [body.slice(0, 50), body.slice(50)]
      .map(part => `${part.length.toString(16)}\r\n${part}\r\n`)
      .join('')
    const { text } = await rig.raw(`${head}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`)
    expect(text).toMatch(/^HTTP\/1\.1 201 /)
    const padded =
      JSON.stringify(
        Array.from({ length: 50 }, (_, index) => event(`padded-${index}`, { customer_reference: 'c'.repeat(250) })),
      ) + ' '.repeat(200_000)
    expect((await rig.post(LIST, padded)).status).toBe(201)
    expect(await linesOf('padded-49')).toHaveLength(1)
  })

  test('a meter and a key made a moment ago work at once; a revoked key and a deprecated meter stop', async () => {
    await rig.addMeter('LIVE', 'fresh')
    const fresh = event('fresh', {
      meter_reference: 'fresh',
      meter_values: [{ reference: 'fresh_tokens', number: '1' }],
    })
    expect((await rig.post(SINGLE, fresh)).status).toBe(201)
    const key = newApiKey('LIVE')
    await rig.sql(
      `insert into api_keys (platform_id, environment, id, key_id, sha256, display_prefix, last_four) values ($1, 'LIVE', $2, $3, $4, $5, $6)`,
      [rig.platform.id, newId('akey'), key.keyId, key.sha256, key.displayPrefix, key.lastFour],
    )
    const send = (): Promise<Reply> => rig.post(SINGLE, fresh, { 'X-API-KEY': key.text })
    expect((await send()).status).toBe(201)
    await rig.sql(`update meters set status = 'DEPRECATED' where reference = 'fresh'`)
    await until(async () => (await send()).status === 400)
    await rig.sql('update api_keys set revoked_at = now(), updated_at = clock_timestamp() where key_id = $1', [
      key.keyId,
    ])
    await until(async () => (await send()).status === 401)
  })

  test('a meter that is changed is checked against as it is now', async () => {
    await rig.addMeter('LIVE', 'changing')
    const of = (meter: string, number: string) =>
      event('changing', { meter_reference: meter, meter_values: [{ reference: 'changing_tokens', number }] })
    expect((await rig.post(SINGLE, of('changing', '1'))).status).toBe(201)
    await rig.sql(`update meters set reference = 'changed' where reference = 'changing'`)
    await until(async () => (await rig.post(SINGLE, of('changing', '1'))).status === 400)
    expect((await rig.post(SINGLE, of('changed', '1'))).status).toBe(201)
    await rig.sql(`update meter_values set reference = 'changed_tokens' where reference = 'changing_tokens'`)
    await until(async () => (await rig.post(SINGLE, of('changed', '1'))).status === 400)
  })

  test('a change of a meter is known by the notice of it', async () => {
    const logger = silentLogger
    const database = await openTestDatabase({
      url: rig.database.url,
      role: 'millrace_gateway',
      clock: systemClock,
      poolMax: 2,
      logger,
    })
    const meters = createLiveMeters({ database, logger, pollMs: 3_600_000 })
    await meters.load()
    const tenant = { platformId: rig.platform.id, environment: 'LIVE' } as const
    const before = meters.of(tenant)
    await rig.addMeter('LIVE', 'noticed')
    await until(async () => meters.of(tenant) !== before)
    await meters.close()
    await database.close()
  })

  test('health on the public port, metrics on the other and there alone', async () => {
    expect((await fetch(`${rig.url}/health/live`)).status).toBe(200)
    expect((await fetch(`${rig.url}/health/ready`)).status).toBe(200)
    expect((await fetch(`${rig.url}/metrics`)).status).toBe(404)
    await rig.post(SINGLE, event(''))
    const text = await (await fetch(`${rig.metricsUrl}/metrics`)).text()
    expect(text).toMatch(/^millrace_ingest_events_accepted_total [1-9]/m)
    expect(text).toMatch(/^millrace_ingest_duplicates_recent_total [1-9]/m)
    expect(text).toMatch(/^millrace_ingest_requests_refused_total\{code="INVALID_FIELD"\} [1-9]/m)
    expect(text).toMatch(/^millrace_ingest_publish_seconds_count [1-9]/m)
  })
})

describe('the rate limit', () => {
  let rig: GatewayRig
  beforeEach(async () => {
    rig = await startGatewayRig({ INGEST_RATE_LIVE: '60', INGEST_RATE_TEST: '1' })
    await rig.addMeter('LIVE', 'requests')
  })
  afterEach(() => rig.stop())

  test('a batch over the rate is 429 whole with a true Retry-After, nothing of it is stored, and it passes unchanged then', async () => {
    const batch = (name: string) => Array.from({ length: 50 }, (_, index) => event(`${name}-${index}`))
    // Most of a second after a batch the next one passes; a machine that is busy may need that long to send it.
    let taken = 0
    let refused = await rig.post(LIST, batch('0'))
    for (; refused.status === 201 && taken < 50; refused = await rig.post(LIST, batch(String(taken)))) taken += 1
    expect(refused).toMatchObject({ status: 429, body: { type: 'INVALID_REQUEST', code: 'RATE_LIMIT_EXCEEDED' } })
    expect(await rig.logged()).toHaveLength(50 * taken)
    const retryAfter = refused.headers.get('retry-after') ?? ''
    expect(retryAfter).toMatch(/^[1-9][0-9]*$/)
    // A timer may be early by a millisecond.
    await sleep(Number(retryAfter) * 1_000 + 10)
    expect((await rig.post(LIST, batch(String(taken)))).status).toBe(201)
    expect(await rig.logged()).toHaveLength(50 * (taken + 1))
  })
})

describe('when a server is away', () => {
  let rig: GatewayRig
  beforeEach(async () => {
    rig = await startGatewayRig()
    await rig.addMeter('LIVE', 'requests')
    expect((await rig.post(SINGLE, event('before'))).status).toBe(201)
  })
  afterEach(() => rig.stop())

  test('without NATS every event is 503 with Retry-After, and after its return 201 again with nothing lost', async () => {
    await rig.nats.kill()
    const away = await rig.post(SINGLE, event('away'))
    expect(away).toMatchObject({ status: 503, body: { type: 'API_ERROR', code: 'SERVICE_UNAVAILABLE' } })
    expect(away.headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/)
    await until(async () => (await fetch(`${rig.url}/health/ready`)).status === 503)
    expect(await (await fetch(`${rig.url}/health/ready`)).json()).toEqual({ status: 'not_ready' })
    const full = await fetch(`${rig.metricsUrl}/health/ready`)
    expect([full.status, await full.json()]).toEqual([503, { status: 'not_ready', reason: expect.any(String) }])
    await rig.nats.restart()
    await until(async () => (await rig.post(SINGLE, event('away'))).status === 201)
    const references = (await rig.logged()).map(line => decodeEvent(line).reference)
    expect(new Set(references)).toEqual(new Set(['before', 'away']))
  })

  test('without PostgreSQL known keys and meters keep working, unknown ones are 503 and not 401', async () => {
    await rig.closeDatabase()
    expect((await rig.post(SINGLE, event('known'))).status).toBe(201)
    const unknownKey = await rig.post(SINGLE, event('unknown key'), { 'X-API-KEY': newApiKey('LIVE').text })
    expect(unknownKey).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } })
    expect((await rig.post(SINGLE, event('unknown meter', { meter_reference: 'nope' }))).status).toBe(503)
    expect((await fetch(`${rig.url}/health/ready`)).status).toBe(200)
  })
})

describe('a stop', () => {
  test('answers what is open, closes the connections, and then refuses new ones', async () => {
    const folder = temporaryFolder('millrace-stop-')
    const failpoints = join(folder, 'failpoints')
    writeFileSync(failpoints, 'gateway.after-ack:hold')
    const rig = await startGatewayRig({ FAILPOINT: `@${failpoints}` })
    try {
      await rig.addMeter('LIVE', 'requests')
      const open = Array.from({ length: 20 }, (_, index) => rig.post(SINGLE, event(`stop-${index}`)))
      await until(async () => (await rig.logged()).length === 20)
      const stopped = rig.gateway.stop()
      writeFileSync(failpoints, '')
      await stopped
      for (const reply of await Promise.all(open)) {
        expect(reply.status).toBe(201)
        expect(reply.headers.get('connection')).toBe('close')
      }
      await expect(rig.raw('')).rejects.toThrow('ECONNREFUSED')
    } finally {
      await rig.stop()
      rmSync(folder, { recursive: true })
    }
  })

  test('a second gateway on the port is refused rather than given half of the connections', async () => {
    const rig = await startGatewayRig()
    try {
      await expect(startGatewayRig({ PORT: String(rig.gateway.port) })).rejects.toThrow('cannot be listened on')
    } finally {
      await rig.stop()
    }
  })
})
