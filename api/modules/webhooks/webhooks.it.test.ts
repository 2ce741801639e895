// Webhooks as a tenant manages them: settings, credentials, secrets, test events (contract: Webhook).
import { createHmac } from 'node:crypto'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { outboundPolicy } from '../../../shared/outbound/judge-url.ts'
import { refusal } from '../../testing/catalog.ts'
import { webhookDeps } from '../../testing/ground.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../testing/harness.ts'
import { noticesOf } from '../../testing/notices.ts'
import type { Row } from '../../testing/wire.ts'
import { EVENT_TYPES } from '../modules.ts'
import { type Receiver, startReceiver, status } from './testing/receiver.ts'

let api: ApiHarness
let tenant: TestTenant
let receiver: Receiver
const LOCAL = outboundPolicy({ OUTBOUND_HTTP: 'refuse', OUTBOUND_HOSTS: [], OUTBOUND_NETWORKS: ['127.0.0.0/8'] })

beforeAll(async () => {
  receiver = await startReceiver()
  api = await startApi(webhookDeps(LOCAL))
  tenant = api.tenants.aLive
})
afterAll(async () => {
  await api?.close()
  await receiver?.close()
})

const create = (more: object = {}) =>
  tenant.call('POST', '/v1/webhooks', {
    reference: tenant.seed.unique('hook'),
    name: 'Hook',
    url: receiver.urlOf('/hook'),
    ...more,
  })
const patch = (id: string, body: object) => tenant.call('PATCH', `/v1/webhooks/${id}`, body)
const lastReceived = () => {
  const last = receiver.received.at(-1)
  if (!last) throw new Error('nothing was received')
  return last
}

describe('settings', () => {
  test('are created, read by id and reference, listed, changed and deleted, each with its event', async () => {
    const made = await create({ excluded_actions: ['CUSTOMER.UPDATED'] })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      object_type: 'WEBHOOK',
      active: true,
      include_previous_data: false,
      included_actions: [],
      excluded_actions: ['CUSTOMER.UPDATED'],
      authentication_type: 'NONE',
      disabled_reason: null,
      penalty_box_data: null,
      secret_key: null,
      password: null,
    })
    const { id, reference } = made.body
    expect((await tenant.call('GET', `/v1/webhooks/${reference}`)).body).toEqual(made.body)
    expect((await tenant.call('GET', '/v1/webhooks?active=true')).body['data']).toContainEqual(made.body)
    const changed = await patch(id, { name: 'Other', excluded_actions: null, include_previous_data: true })
    expect(changed.body).toMatchObject({ name: 'Other', excluded_actions: [], include_previous_data: true })
    expect((await patch(id, { name: 'Other' })).body).toEqual(changed.body)
    expect((await tenant.call('DELETE', `/v1/webhooks/${id}`)).body).toEqual(changed.body)
    expect((await tenant.call('GET', `/v1/webhooks/${id}`)).status).toBe(404)
    expect((await noticesOf(api, id)).map(({ type }) => type)).toEqual([
      'WEBHOOK.CREATED',
      'WEBHOOK.UPDATED',
      'WEBHOOK.DELETED',
    ])
  })

  test.each([
    ['no url', { url: undefined }, 400, 'MISSING_FIELD', 'url'],
    ['no name', { name: undefined }, 400, 'MISSING_FIELD', 'name'],
    ['no reference', { reference: undefined }, 400, 'MISSING_FIELD', 'reference'],
    ['an address that is none', { url: 'hooks.example.com' }, 400, 'INVALID_FIELD', 'url'],
    ['the address of a network', { url: 'https://10.0.0.1/' }, 400, 'INVALID_FIELD', 'url'],
    ['the address of a metadata service', { url: 'http://169.254.169.254/' }, 400, 'INVALID_FIELD', 'url'],
    ['a password in the address', { url: 'https://me:pass@hooks.example.com/' }, 400, 'INVALID_FIELD', 'url'],
    [
      'an action there is not',
      { included_actions: ['CUSTOMER.CREATED', 'CUSTOMER.*'] },
      400,
      'INVALID_FIELD',
      'included_actions.1',
    ],
    ['an action in lower case', { excluded_actions: ['customer.created'] }, 400, 'INVALID_FIELD', 'excluded_actions.0'],
    ['the type of test events', { included_actions: ['WEBHOOK.TEST'] }, 400, 'INVALID_FIELD', 'included_actions.0'],
    [
      'an action twice',
      { included_actions: ['CUSTOMER.CREATED', 'CUSTOMER.CREATED'] },
      400,
      'INVALID_FIELD',
      'included_actions',
    ],
    ['a secret of its own', { secret_key: 'whsec_x' }, 400, 'INVALID_FIELD', 'secret_key'],
    ['a reason to be disabled', { disabled_reason: 'x' }, 400, 'INVALID_FIELD', 'disabled_reason'],
    [
      'a type of authentication there is not',
      { authentication_type: 'OAUTH' },
      400,
      'INVALID_FIELD',
      'authentication_type',
    ],
    ['PASSWORD without one', { authentication_type: 'PASSWORD', username: 'me' }, 400, 'MISSING_FIELD', 'password'],
    ['PASSWORD without a name', { authentication_type: 'PASSWORD', password: 'p' }, 400, 'MISSING_FIELD', 'username'],
    ['API_KEY without one', { authentication_type: 'API_KEY' }, 400, 'MISSING_FIELD', 'api_key'],
    [
      'credentials of two types',
      { username: 'a', password: 'b', api_key: 'c' },
      400,
      'INVALID_FIELD',
      'authentication_type',
    ],
    ['a key with NONE', { authentication_type: 'NONE', api_key: 'c' }, 400, 'INVALID_FIELD', 'api_key'],
    ['the header Host', { api_key: 'k', api_header_field: 'Host' }, 400, 'INVALID_FIELD', 'api_header_field'],
    [
      'a header with a line break',
      { api_key: 'k', api_header_field: 'X-K\r\nX-L' },
      400,
      'INVALID_FIELD',
      'api_header_field',
    ],
    ['a key with a line break', { api_key: 'k\r\nX-Other: 1' }, 400, 'INVALID_FIELD', 'api_key'],
    ['a name with a colon', { username: 'a:b', password: 'c' }, 400, 'INVALID_FIELD', 'username'],
    ['what stands for a password', { username: 'a', password: '********' }, 400, 'INVALID_FIELD', 'password'],
  ])('are refused with %s', async (_name, more, code, error, field) => {
    expect(refusal(await create(more))).toEqual([code, error, field])
  })

  test('a reference is taken once', async () => {
    const { body } = await create()
    expect(refusal(await create({ reference: body['reference'] }))).toEqual([
      409,
      'RESOURCE_ALREADY_EXISTS',
      'reference',
    ])
    expect(refusal(await patch(body['id'], { reference: 'other' }))).toEqual([400, 'INVALID_FIELD', 'reference'])
  })

  test('the event types to choose from are those that are emitted', async () => {
    const { body } = await tenant.call('GET', '/v1/webhooks/actions')
    const listed = body['data'].flatMap((each: Row) => each['actions'])
    expect(listed.toSorted()).toEqual([...EVENT_TYPES])
    expect(body['data']).toContainEqual({
      object_type: 'CUSTOMER',
      actions: ['CUSTOMER.CREATED', 'CUSTOMER.DELETED', 'CUSTOMER.UPDATED'],
    })
  })

  test('a tenant has at most 100', async () => {
    const own = api.tenants.bTest
    await api.sql(
      `insert into webhooks (platform_id, environment, id, reference, name, url)
       select $1, 'TEST', 'webh_' || n, 'r' || n, 'n', 'https://hooks.example.com/' from generate_series(1, 100) n`,
      [own.tenant.platformId],
    )
    const answer = await own.call('POST', '/v1/webhooks', {
      reference: 'r',
      name: 'n',
      url: 'https://hooks.example.com/',
    })
    expect(refusal(answer)).toEqual([400, 'INVALID_OPERATION', undefined])
  })
})

describe('credentials', () => {
  const sendTest = (id: string) => tenant.call('POST', `/v1/webhooks/${id}/send-test`)

  test('go out as the tenant chose, and are in no answer, no event and no table', async () => {
    const basic = await create({ username: 'me', password: 'pässword-of-the-test' })
    expect(basic.body).toMatchObject({ authentication_type: 'PASSWORD', username: 'me', password: '********' })
    expect((await sendTest(basic.body['id'])).body).toEqual({ successful: true, message: 'The endpoint answered 200.' })
    const encoded = Buffer.from('me:pässword-of-the-test').toString('base64')
    expect(lastReceived().headers.authorization).toBe(`Basic ${encoded}`)
    const keyed = await create({ api_key: 'key-of-the-test' })
    expect(keyed.body).toMatchObject({
      authentication_type: 'API_KEY',
      api_header_field: 'X-API-KEY',
      api_key: '********',
    })
    await sendTest(keyed.body['id'])
    expect(lastReceived().headers).toMatchObject({ 'x-api-key': 'key-of-the-test' })
    for (const text of ['pässword-of-the-test', 'key-of-the-test']) {
      for (const table of ['webhooks', 'outbox', 'idempotency_keys']) {
        expect(await api.sql(`select 1 from ${table} t where t::text like '%' || $1 || '%'`, [text])).toEqual([])
      }
    }
  })

  test('of another type replace those of before; null takes them away', async () => {
    const { id } = (await create({ username: 'me', password: 'first' })).body
    const [stored] = await api.sql('select password_sealed from webhooks where id = $1', [id])
    await patch(id, { name: 'Renamed', password: 'first' })
    expect(await api.sql('select password_sealed from webhooks where id = $1', [id])).toEqual([stored])
    const keyed = await patch(id, { authentication_type: 'API_KEY', api_key: 'k', api_header_field: 'Authorization' })
    expect(keyed.body).toMatchObject({ username: null, password: null, api_header_field: 'Authorization' })
    await sendTest(id)
    expect(lastReceived().headers.authorization).toBe('k')
    expect(refusal(await patch(id, { api_key: null }))).toEqual([400, 'MISSING_FIELD', 'api_key'])
    const none = await patch(id, { authentication_type: 'NONE' })
    expect(none.body).toMatchObject({ api_key: null, api_header_field: null })
    await sendTest(id)
    expect(lastReceived().headers).not.toHaveProperty('authorization')
  })
})

describe('a secret', () => {
  const roll = (id: string, body: object = {}) => tenant.call('PATCH', `/v1/webhooks/${id}/secret-key`, body)
  const sentBy = async (id: string) => {
    await tenant.call('POST', `/v1/webhooks/${id}/send-test`)
    return lastReceived()
  }
  const contractSignature = (secret: string, { headers, body }: ReturnType<typeof lastReceived>) =>
    `v1=${createHmac('sha256', secret).update(`${headers['x-payload-signature-timestamp']}.${body}`).digest('hex')}`

  test('signs; after a roll both sign for the given hours; after removal none does', async () => {
    api.clock.set(Date.now())
    const { id } = (await create()).body
    const first = (await roll(id)).body
    expect(first).toMatchObject({
      signing_protocol: 'v1',
      previous_secret_key: null,
      secret_rolled_at: expect.any(String),
    })
    expect(first['secret_key']).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect((await tenant.call('GET', `/v1/webhooks/${id}`)).body['secret_key']).toBe('********')
    const one = await sentBy(id)
    expect(one.headers['x-payload-signature']).toBe(contractSignature(first['secret_key'], one))
    const second = (await roll(id, { previous_secret_valid_hours: 2 })).body
    expect(second).toMatchObject({ previous_secret_key: '********', previous_signing_protocol: 'v1' })
    const both = await sentBy(id)
    expect(both.headers['x-payload-signature']).toBe(
      [second, first].map(({ secret_key }) => contractSignature(secret_key, both)).join(','),
    )
    for (const { secret_key } of [first, second]) {
      const verified = new StandardWebhook(secret_key).verify(both.body, both.headers as Record<string, string>)
      expect(verified).toEqual(JSON.parse(both.body))
    }
    api.clock.set(Date.parse(second['previous_secret_valid_until']))
    const later = await sentBy(id)
    expect(later.headers['x-payload-signature']).toBe(contractSignature(second['secret_key'], later))
    expect((await tenant.call('GET', `/v1/webhooks/${id}`)).body['previous_secret_key']).toBeNull()
    // A second roll while two secrets sign ends the oldest.
    await roll(id)
    const fourth = (await roll(id)).body
    const newest = await sentBy(id)
    expect(String(newest.headers['x-payload-signature']).split(',')).toHaveLength(2)
    expect(newest.headers['x-payload-signature']).toContain(contractSignature(fourth['secret_key'], newest))
    expect(newest.headers['x-payload-signature']).not.toContain(contractSignature(second['secret_key'], newest))
    expect((await tenant.call('DELETE', `/v1/webhooks/${id}/secret-key`)).body).toMatchObject({
      secret_key: null,
      signing_protocol: null,
    })
    expect((await sentBy(id)).headers).not.toHaveProperty('x-payload-signature')
  })

  test('that was replaced ends at once with an overlap of 0; the maximum is 24 hours', async () => {
    const { id } = (await create()).body
    await roll(id)
    expect((await roll(id, { previous_secret_valid_hours: 0 })).body['previous_secret_key']).toBeNull()
    expect(refusal(await roll(id, { previous_secret_valid_hours: 25 }))).toEqual([
      400,
      'INVALID_FIELD',
      'previous_secret_valid_hours',
    ])
    const rolled = (await roll(id)).body
    const hours =
      (Date.parse(rolled['previous_secret_valid_until']) - Date.parse(rolled['secret_rolled_at'])) / 3_600_000
    expect(hours).toBe(24)
  })

  test('is kept sealed, and shown by no other call', async () => {
    const { id } = (await create()).body
    const { secret_key: secret } = (await roll(id)).body
    for (const table of ['webhooks', 'outbox']) {
      expect(await api.sql(`select 1 from ${table} t where t::text like '%' || $1 || '%'`, [secret])).toEqual([])
    }
    expect(JSON.stringify((await tenant.call('GET', '/v1/webhooks')).body)).not.toContain(secret)
  })
})

describe('a test event', () => {
  test('has the payload of the contract, and the webhook as its data', async () => {
    const { body: webhook } = await create()
    const { body, headers } = await tenant.call('POST', `/v1/webhooks/${webhook['id']}/send-test`)
    expect(body['successful']).toBe(true)
    const sent = lastReceived()
    expect(JSON.parse(sent.body)).toEqual({
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      type: 'WEBHOOK.TEST',
      original_request_id: headers['x-request-id'],
      environment: 'LIVE',
      data: webhook,
    })
    expect(sent.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Millrace-Webhooks/1',
      'x-event-id': expect.stringMatching(/^evnt_/),
      'webhook-id': sent.headers['x-event-id'],
    })
  })

  test('that fails says why, in words of ours, and changes nothing', async () => {
    const { body: webhook } = await create()
    receiver.answer((response, received) => status(500)(response.setHeader('x-inside', 'SECRET'), received))
    const { body } = await tenant.call('POST', `/v1/webhooks/${webhook['id']}/send-test`)
    expect(body).toEqual({ successful: false, message: 'The endpoint answered 500.' })
    receiver.answer(status(200))
    expect((await tenant.call('GET', `/v1/webhooks/${webhook['id']}`)).body).toEqual(webhook)
  })

  test('goes to a webhook that is not saved, with its credentials', async () => {
    const before = (await tenant.call('GET', '/v1/webhooks')).body['data'].length
    const body = { reference: 'tried', name: 'Tried', url: receiver.urlOf('/tried'), api_key: 'k' }
    const answer = await tenant.call('POST', '/v1/webhooks/test-connection', body)
    expect(answer.body).toEqual({ successful: true, message: 'The endpoint answered 200.' })
    const sent = lastReceived()
    expect([sent.path, sent.headers['x-api-key']]).toEqual(['/tried', 'k'])
    expect(JSON.parse(sent.body)).toMatchObject({
      type: 'WEBHOOK.TEST',
      data: { object_type: 'WEBHOOK', name: 'Tried' },
    })
    expect(sent.body).not.toContain('"k"')
    expect((await tenant.call('GET', '/v1/webhooks')).body['data']).toHaveLength(before)
    const refused = await tenant.call('POST', '/v1/webhooks/test-connection', { ...body, url: 'https://10.0.0.1/' })
    expect(refusal(refused)).toEqual([400, 'INVALID_FIELD', 'url'])
  })

  test('is refused while the service has disabled the webhook, until it is active again', async () => {
    const { id } = (await create()).body
    await api.sql(`update webhooks set active = false, disabled_reason = 'It failed.' where id = $1`, [id])
    const answer = await tenant.call('POST', `/v1/webhooks/${id}/send-test`)
    expect(refusal(answer)).toEqual([400, 'INVALID_OPERATION', 'active'])
    expect((await patch(id, { active: true })).body).toMatchObject({ active: true, disabled_reason: null })
    expect((await tenant.call('POST', `/v1/webhooks/${id}/send-test`)).status).toBe(200)
  })
})
