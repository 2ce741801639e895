// The conventions every resource shares, shown on customers and meters.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { meterResource } from './modules/catalog/meters/meter.ts'
import { meterValueCalculationResource } from './modules/catalog/meters/meter-value-calculation.ts'
import { RESOURCES } from './modules/modules.ts'
import { customerResource } from './modules/parties/customers/resource.ts'
import { type Answer, type ApiHarness, callerWith, startApi, type TestTenant } from './testing/harness.ts'
import { noticesOf } from './testing/notices.ts'

let api: ApiHarness
let a: TestTenant
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
})
afterAll(() => api?.close())

const customer = (more: object = {}) => ({ type: 'ORGANIZATION', reference: a.seed.unique('acme'), ...more })

describe('errors', () => {
  test('unknown fields are refused by name and path, and nothing is stored', async () => {
    const body = customer({ organization: { registered_address: { planet: 'Mars' } } })
    const answer = await a.call('POST', '/v1/customers', body)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({
      type: 'INVALID_REQUEST',
      code: 'INVALID_FIELD',
      field: 'organization.registered_address.planet',
    })
    expect(String(answer.headers['x-request-id'])).toMatch(/^reqr_/)
    expect(answer.headers['content-type']).toBe('application/json')
    expect((await a.call('GET', `/v1/customers/${body.reference}`)).status).toBe(404)
  })

  test.each([
    ['a missing field', { reference: 'x1' }, 'MISSING_FIELD', 'type'],
    ['a wrong type', { type: 'ORGANIZATION', email: 5 }, 'INVALID_FIELD', 'email'],
    ['an unlisted value', { type: 'ROBOT' }, 'INVALID_FIELD', 'type'],
    ['a time zone that does not exist', { type: 'INDIVIDUAL', timezone: 'Mars/Olympus' }, 'INVALID_FIELD', 'timezone'],
    ['a reference with white space', { type: 'INDIVIDUAL', reference: 'a b' }, 'INVALID_FIELD', 'reference'],
    [
      'a reference of the form of an id',
      { type: 'INDIVIDUAL', reference: `cust_${'a'.repeat(22)}` },
      'INVALID_FIELD',
      'reference',
    ],
    [
      'details of the other kind',
      { type: 'INDIVIDUAL', organization: { legal_name: 'X' } },
      'INVALID_FIELD',
      'organization',
    ],
    ['a first status beyond ACTIVE', { type: 'INDIVIDUAL', status: 'ARCHIVED' }, 'INVALID_FIELD', 'status'],
  ])('%s is refused', async (_name, body, code, field) => {
    const answer = await a.call('POST', '/v1/customers', body)
    expect([answer.status, answer.body['code'], answer.body['field']]).toEqual([400, code, field])
  })

  test.each([
    ['malformed JSON', '{"type":', 'application/json', 400],
    ['a poisoned prototype', '{"type":"INDIVIDUAL","__proto__":{"x":1}}', 'application/json', 400],
    ['another content type', 'type=INDIVIDUAL', 'application/x-www-form-urlencoded', 415],
    ['a body over the limit', `{"type":"${'x'.repeat(1_100_000)}"}`, 'application/json', 413],
  ])('%s is refused with the envelope', async (_name, body, type, status) => {
    const answer = await a.call('POST', '/v1/customers', body, { 'content-type': type })
    expect(answer.status).toBe(status)
    expect(answer.body).toMatchObject({ type: 'INVALID_REQUEST', message: expect.any(String) })
  })

  test('a path that does not exist answers 404 with the envelope', async () => {
    const answer = await a.call('GET', '/v1/nonsense')
    expect([answer.status, answer.body['code']]).toEqual([404, 'RESOURCE_NOT_FOUND'])
  })
})

describe('authentication', () => {
  test.each([
    ['no key', {}, 401],
    ['a malformed key', { 'x-api-key': 'nonsense' }, 401],
    ['an empty key', { 'x-api-key': '' }, 400],
    ['a bearer token', { authorization: 'Bearer x' }, 401],
  ])('%s is refused', async (_name, headers, status) => {
    const answer = await callerWith(api.app, headers as Record<string, string>)('GET', '/v1/customers')
    expect(answer.status).toBe(status)
  })

  test.each([
    ['a body that lacks a field', '{}', {}, 401],
    ['a body that is no JSON', '{"type":', {}, 401],
    ['a body that is no JSON, with a key', '{"type":', null, 400],
  ])('is judged before the body: %s', async (_what, body, headers, status) => {
    const as = headers === null ? { 'x-api-key': a.key } : headers
    const answer = await api.app.inject({
      method: 'POST',
      url: '/v1/customers',
      headers: { 'content-type': 'application/json', ...as },
      payload: body,
    })
    expect(answer.statusCode).toBe(status)
  })

  test('a key with Authorization beside it is ambiguous, and refused', async () => {
    expect((await a.call('GET', '/v1/customers', undefined, { authorization: 'Bearer x' })).status).toBe(400)
  })

  test('a key cannot be used for another platform', async () => {
    const headers = { 'x-platform-id': api.tenants.bLive.tenant.platformId }
    expect((await a.call('GET', '/v1/customers', undefined, headers)).status).toBe(401)
  })

  test('a key with one character changed is refused', async () => {
    const key = a.key.slice(0, -8) + (a.key.at(-8) === 'a' ? 'b' : 'a') + a.key.slice(-7)
    expect((await callerWith(api.app, { 'x-api-key': key })('GET', '/v1/customers')).status).toBe(401)
  })

  test('a read-only key reads and changes nothing', async () => {
    const { aTest } = api.tenants
    await api.sql(
      `update api_keys set role_type = 'READ_ONLY', updated_at = now() where platform_id = $1 and environment = 'TEST'`,
      [aTest.tenant.platformId],
    )
    await expect.poll(async () => (await aTest.call('POST', '/v1/customers', customer())).status).toBe(403)
    expect((await aTest.call('GET', '/v1/customers')).status).toBe(200)
    await api.sql(`update api_keys set role_type = 'ADMINISTRATOR', updated_at = now() where platform_id = $1`, [
      aTest.tenant.platformId,
    ])
    await expect.poll(async () => (await aTest.call('POST', '/v1/customers', customer())).status).toBe(201)
  })

  test('a revoked key is refused within five seconds', async () => {
    const { bTest } = api.tenants
    expect((await bTest.call('GET', '/v1/customers')).status).toBe(200)
    await api.sql(`update api_keys set revoked_at = now() where platform_id = $1 and environment = 'TEST'`, [
      bTest.tenant.platformId,
    ])
    await expect.poll(async () => (await bTest.call('GET', '/v1/customers')).status, { timeout: 60_000 }).toBe(401)
    await api.sql('update api_keys set revoked_at = null')
    await expect.poll(async () => (await bTest.call('GET', '/v1/customers')).status, { timeout: 60_000 }).toBe(200)
  })
})

describe('changes', () => {
  test('a resource is created, read by id and by reference, merged, and cleared by null', async () => {
    const body = customer({ organization: { legal_name: 'Acme', tax_id: 'NL1' }, timezone: 'UTC' })
    const created = await a.call('POST', '/v1/customers', body)
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({ object_type: 'CUSTOMER', status: 'DRAFT', ...body })
    expect(created.body).not.toHaveProperty('platform_id')
    const patched = await a.call('PATCH', `/v1/customers/${body.reference}`, {
      organization: { legal_name: 'Acme BV' },
      timezone: null,
    })
    expect(patched.body['organization']).toMatchObject({ legal_name: 'Acme BV', tax_id: 'NL1' })
    expect(patched.body['timezone']).toBe(null)
    expect((await a.call('GET', `/v1/customers/${created.body['id']}`)).body).toEqual(patched.body)
  })

  test.each([null, '', '   '])('email %j clears the email', async email => {
    const created = await a.call('POST', '/v1/customers', customer({ email: 'x@example.com' }))
    const answer = await a.call('PATCH', `/v1/customers/${created.body['id']}`, { email })
    expect([answer.status, answer.body['email']]).toEqual([200, null])
  })

  test('a reference is unique in its tenant, and free in another', async () => {
    const body = customer()
    expect((await a.call('POST', '/v1/customers', body)).status).toBe(201)
    const again = await a.call('POST', '/v1/customers', body)
    expect([again.status, again.body['code'], again.body['field']]).toEqual([
      409,
      'RESOURCE_ALREADY_EXISTS',
      'reference',
    ])
    expect((await api.tenants.aTest.call('POST', '/v1/customers', body)).status).toBe(201)
    expect((await api.tenants.bLive.call('POST', '/v1/customers', body)).status).toBe(201)
  })

  test('PUT creates once and updates after', async () => {
    const body = customer({ email: 'one@example.com' })
    expect((await a.call('PUT', '/v1/customers', body)).status).toBe(201)
    const second = await a.call('PUT', '/v1/customers', { ...body, email: 'two@example.com' })
    expect([second.status, second.body['email']]).toEqual([200, 'two@example.com'])
  })

  test('PUT without a reference is refused in the same way by every resource', async () => {
    const answers: unknown[][] = []
    for (const resource of RESOURCES.filter(({ operations }) => operations.includes('upsert'))) {
      const { reference: _reference, ...body } = await resource.fixture.create(a.seed)
      const { status, body: refusal } = await a.call('PUT', `/v1/${resource.path}`, body)
      answers.push([resource.path, status, refusal['code'], refusal['field']])
    }
    expect(answers.length).toBeGreaterThanOrEqual(6)
    expect(answers).toEqual(answers.map(([path]) => [path, 400, 'MISSING_FIELD', 'reference']))
  })

  test('statuses follow their rules; a verb repeated changes nothing; only a DRAFT is deleted', async () => {
    const { body } = await a.call('POST', '/v1/customers', customer())
    const verb = async (name: string) => await a.call('POST', `/v1/customers/${body['id']}/${name}`)
    expect((await verb('archive')).body['code']).toBe('INVALID_OPERATION')
    expect((await verb('activate')).body['status']).toBe('ACTIVE')
    expect((await verb('activate')).body['status']).toBe('ACTIVE')
    expect((await a.call('DELETE', `/v1/customers/${body['id']}`)).status).toBe(409)
    expect((await verb('archive')).body['status']).toBe('ARCHIVED')
    expect((await verb('activate')).status).toBe(400)
    const draft = await a.call('POST', '/v1/customers', customer())
    expect((await a.call('DELETE', `/v1/customers/${draft.body['id']}`)).status).toBe(200)
    expect((await a.call('GET', `/v1/customers/${draft.body['id']}`)).status).toBe(404)
  })

  test('what events rest on does not change once live', async () => {
    const meter = await a.seed.make(meterResource)
    for (const patch of [{ reference: 'other' }, { meter_values: [] }]) {
      expect((await a.call('PATCH', `/v1/meters/${meter['id']}`, patch)).body['code']).toBe('INVALID_FIELD')
    }
    const value = meter['meter_values'][0]
    expect((await a.call('PATCH', `/v1/meter-values/${value.id}`, { status: 'DRAFT' })).body['code']).toBe(
      'INVALID_OPERATION',
    )
  })

  test('a reference to what is not there is refused with its field', async () => {
    const answer = await a.call('POST', '/v1/meter-value-calculations', {
      reference: a.seed.unique('sum'),
      calculation_type: 'SUM',
      meter_id: 'metr_nothing',
      meter_value_id: 'metv_nothing',
    })
    expect([answer.status, answer.body['code'], answer.body['field']]).toEqual([404, 'RESOURCE_NOT_FOUND', 'meter_id'])
  })
})

describe('lists', () => {
  test('pages hold every row once, newest first, with links', async () => {
    const { bLive } = api.tenants
    for (let index = 0; index < 7; index += 1) await bLive.seed.make(customerResource)
    const seen: string[] = []
    let url: string | null = '/v1/customers?limit=3'
    let pages = 0
    while (url) {
      const { body }: Answer = await bLive.call('GET', url)
      seen.push(...body['data'].map((row: { id: string }) => row.id))
      pages += 1
      url = body['links'].next
    }
    expect(new Set(seen).size).toBe(seen.length)
    expect(pages).toBe(Math.ceil(seen.length / 3))
    const ascending = (await bLive.call('GET', '/v1/customers?order_direction=asc&limit=100')).body['data'].map(
      (row: { id: string }) => row.id,
    )
    expect(ascending).toEqual(seen.toReversed())
  })

  test.each(['limit=0', 'limit=101', 'limit=x', 'page=0', 'order_by=secret', 'colour=red', 'statuses[]=LOST'])(
    '%s is refused',
    async query => {
      const answer = await a.call('GET', `/v1/customers?${query}`)
      expect([answer.status, answer.body['code']]).toEqual([400, 'INVALID_FIELD'])
      expect(answer.body['field']).toContain(query.split('=')[0]?.replace('[]', '') ?? '')
    },
  )

  test('filters and search narrow; wildcards in a value are only characters', async () => {
    const made = await a.seed.make(customerResource)
    const found = await a.call('GET', `/v1/customers?reference=${made['reference']}&statuses[]=ACTIVE&statuses[]=DRAFT`)
    expect(found.body['data'].map((row: { id: string }) => row.id)).toEqual([made['id']])
    const search = async (value: string) =>
      (
        await a.call('POST', '/v1/customers/search', {
          search_fields: [{ name: 'reference', value, wildcard_end: true }],
        })
      ).body['data'].length
    expect(await search(String(made['reference']).slice(0, -1))).toBeGreaterThan(0)
    expect(await search('%')).toBe(0)
  })

  test('expand fills in what an id names, ALL fills in everything, an unknown name is refused', async () => {
    const made = await a.seed.make(meterValueCalculationResource)
    const url = `/v1/meter-value-calculations/${made['id']}`
    const one = await a.call('GET', `${url}?expand[]=meter`)
    expect(one.body['meter']).toMatchObject({ object_type: 'METER', id: made['meter_id'] })
    expect(one.body).not.toHaveProperty('meter_value')
    expect((await a.call('GET', `${url}?expand[]=ALL`)).body['meter_value']).toMatchObject({
      id: made['meter_value_id'],
    })
    expect((await a.call('GET', `${url}?expand[]=moon`)).body).toMatchObject({ code: 'INVALID_FIELD', field: 'expand' })
  })
})

describe('Idempotency-Key', () => {
  test('a repeat gets the stored answer and changes nothing', async () => {
    const body = customer()
    const headers = { 'idempotency-key': a.seed.unique('key') }
    const first = await a.call('POST', '/v1/customers', body, headers)
    const second = await a.call('POST', '/v1/customers', body, headers)
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.body).toEqual(first.body)
    expect(second.headers['idempotent-replayed']).toBe('true')
    expect(first.headers['idempotent-replayed']).toBeUndefined()
    const other = await a.call('POST', '/v1/customers', customer(), headers)
    expect([other.status, other.body['code']]).toEqual([409, 'IDEMPOTENCY_CHECK_FAILED'])
  })

  test('a refused request may be corrected under the same key', async () => {
    const headers = { 'idempotency-key': a.seed.unique('key') }
    expect((await a.call('POST', '/v1/customers', { type: 'ROBOT' }, headers)).status).toBe(400)
    expect((await a.call('POST', '/v1/customers', customer(), headers)).status).toBe(201)
  })

  test('of many at once, one does the work; the others wait their turn or get its answer', async () => {
    const body = customer()
    const headers = { 'idempotency-key': a.seed.unique('key') }
    const answers = await Promise.all(Array.from({ length: 10 }, () => a.call('POST', '/v1/customers', body, headers)))
    expect(answers.every(({ status }) => status === 201 || status === 422)).toBe(true)
    for (const { status, headers: answered } of answers) if (status === 422) expect(answered['retry-after']).toBe('1')
    const stored = await api.sql('select count(*)::int as n from customers where reference = $1', [body.reference])
    expect(stored[0]?.['n']).toBe(1)
  })

  test('the same key is free for another tenant', async () => {
    const headers = { 'idempotency-key': a.seed.unique('key') }
    expect((await a.call('POST', '/v1/customers', customer(), headers)).status).toBe(201)
    expect((await api.tenants.bLive.call('POST', '/v1/customers', customer(), headers)).status).toBe(201)
  })
})

describe('outbox', () => {
  const eventsOf = (id: unknown) => noticesOf(api, id)

  test('every change leaves its notice, with previous state, request and environment', async () => {
    const { body, headers } = await a.call('POST', '/v1/customers', customer())
    await a.call('PATCH', `/v1/customers/${body['id']}`, { email: 'a@example.com' })
    await a.call('DELETE', `/v1/customers/${body['id']}`)
    const events = await eventsOf(body['id'])
    expect(events.map(event => event['type'])).toEqual(['CUSTOMER.CREATED', 'CUSTOMER.UPDATED', 'CUSTOMER.DELETED'])
    expect(events[0]).toMatchObject({
      data: body,
      previous_data: null,
      request_id: headers['x-request-id'],
      environment: 'LIVE',
    })
    expect(events[1]).toMatchObject({ data: { email: 'a@example.com' }, previous_data: { email: null } })
  })

  test('a change that changes nothing, and one that is refused, leave none', async () => {
    const { body } = await a.call('POST', '/v1/customers', customer({ email: 'a@example.com' }))
    await a.call('PATCH', `/v1/customers/${body['id']}`, { email: 'a@example.com' })
    await a.call('PATCH', `/v1/customers/${body['id']}`, { email: 'not an address' })
    expect(await eventsOf(body['id'])).toHaveLength(1)
  })
})

describe('API description', () => {
  test('is OpenAPI 3.1, shows every route with its permission, and can be read as a page', async () => {
    const { body } = await callerWith(api.app, {})('GET', '/v1/openapi.json')
    expect(body['openapi']).toBe('3.1.0')
    expect(body['paths']['/v1/customers/{id}'].patch['x-permission']).toBe('CUSTOMER.UPDATE')
    const page = await callerWith(api.app, {})('GET', '/v1/docs/')
    expect(page.status).toBe(200)
  })
})
