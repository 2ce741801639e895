// Tax ids through the api: what is taken, what the check says of it and since when, and what is refused.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOutboundRequest } from '../../../../shared/outbound/outbound-request.ts'
import { instantOf } from '../../../../shared/time.ts'
import { refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { billingEntityResource } from '../billing-entities/billing-entity.ts'
import { customerResource } from '../customers/resource.ts'
import { checkWithVies } from '../vies/check-with-vies.ts'
import { hasNewIds } from '../vies/jobs.ts'
import type { Vies } from '../vies/query-vies.ts'

let api: ApiHarness
let tenant: TestTenant
let before: number
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aTest
  before = api.clock.now()
})
afterAll(async () => {
  api.clock.set(instantOf(before))
  await api.close()
})

const setTime = (text: string): void => api.clock.set(instantOf(Date.parse(text)))
const UNPROVEN = 'The form is right; no authority was asked whether the id exists.'

async function organizationOf(id: string, patch: Row): Promise<Row> {
  const { status, body } = await tenant.call('PATCH', `/v1/customers/${id}`, { organization: patch })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body['organization']
}

describe('the tax ids of a customer', () => {
  test('carry what the check said, from when, and keep it until something about it changes', async () => {
    setTime('2026-05-01T00:00:00Z')
    const { id } = await tenant.seed.make(customerResource)
    const first = await organizationOf(String(id), { tax_id: 'NL004495445B01' })
    const result = {
      id: 'NL004495445B01',
      validation_date: '2026-05-01T00:00:00Z',
      source: 'FORMAT',
      valid: 'UNKNOWN',
      message: UNPROVEN,
    }
    expect(first).toMatchObject({ tax_id: 'NL004495445B01', tax_id_validation_result: result })
    setTime('2026-05-02T00:00:00Z')
    expect((await organizationOf(String(id), { legal_name: 'Acme' }))['tax_id_validation_result']).toEqual(result)
    const moved = await organizationOf(String(id), { registered_address: { country: 'DE' } })
    expect(moved['tax_id_validation_result']).toEqual(result) // it names its own country, and is right there
    const wrong = await organizationOf(String(id), { tax_id: 'XX' })
    expect(wrong['tax_id_validation_result']).toMatchObject({
      id: 'XX',
      valid: 'NOT_VALID',
      validation_date: '2026-05-02T00:00:00Z',
      message: '"XX" is not of the form of tax ids of DE: it has the wrong length.',
    })
    const none = await organizationOf(String(id), { tax_id: null })
    expect(none).not.toHaveProperty('tax_id_validation_result')
  })

  test('may have types, and stand on registrations, which get ids and keep them', async () => {
    const { id } = await tenant.seed.make(customerResource)
    const organization = await organizationOf(String(id), {
      registered_address: { country: 'CA', state: 'QC' },
      tax_ids: [
        { type: 'CA_QST', id: '1000043172TQ0001', display_name: 'TVQ' },
        { type: 'CA_GST_HST', id: 'nonsense' },
      ],
      tax_registrations: [{ registered_address: { country: 'FR' }, tax_id: 'FR40303265045', description: 'OSS' }],
    })
    expect(organization['tax_ids']).toMatchObject([
      { type: 'CA_QST', display_name: 'TVQ', tax_id_validation_result: { valid: 'UNKNOWN' } },
      { type: 'CA_GST_HST', tax_id_validation_result: { valid: 'NOT_VALID' } },
    ])
    const [registration] = organization['tax_registrations']
    expect(registration).toMatchObject({ tax_id_validation_result: { valid: 'UNKNOWN' }, description: 'OSS' })
    expect(registration.id).toMatch(/^txrg_/)
    const again = await organizationOf(String(id), {
      tax_registrations: [{ id: registration.id, registered_address: { country: 'FR' }, tax_id: 'FR40303265045' }],
    })
    expect(again['tax_registrations']).toMatchObject([{ id: registration.id }])
    const { body } = await tenant.call('GET', `/v1/customers/${id}`)
    expect(body['organization']).toEqual(again)
    // What was read can be sent back, and nobody can write a result of their own.
    expect(await organizationOf(String(id), again)).toEqual(again)
    const [first, ...rest] = again['tax_ids']
    const forged = { ...first.tax_id_validation_result, valid: 'VALID', message: 'Trust me.' }
    const sent = { ...again, tax_ids: [{ ...first, tax_id_validation_result: forged }, ...rest] }
    expect(await organizationOf(String(id), sent)).toEqual(again)
  })

  test.each([
    [{ tax_ids: [{ type: 'CA_QST', id: '1' }] }, 'organization.tax_ids.0.type'],
    [
      {
        tax_ids: [
          { type: 'GENERIC_TAX_ID', id: '1' },
          { type: 'GENERIC_TAX_ID', id: '1' },
        ],
      },
      'organization.tax_ids.1.id',
    ],
    [{ tax_ids: [{ type: 'VAT', id: '1' }] }, 'organization.tax_ids.0.type'],
    [{ tax_ids: [{ type: 'GENERIC_TAX_ID', id: ' ' }] }, 'organization.tax_ids.0.id'],
    [{ tax_ids: [{ type: 'GENERIC_TAX_ID' }] }, 'organization.tax_ids.0.id'],
    [{ tax_registrations: [{ id: 'txrg_other' }] }, 'organization.tax_registrations.0.id'],
    [
      { tax_registrations: [{ registered_address: { country: 'FR' }, tax_ids: [{ type: 'AU_GST', id: '1' }] }] },
      'organization.tax_registrations.0.tax_ids.0.type',
    ],
  ])('%j is refused by name', async (organization, field) => {
    const { id } = await tenant.seed.make(customerResource)
    const answer = await tenant.call('PATCH', `/v1/customers/${id}`, { organization })
    expect([answer.status, answer.body['field']]).toEqual([400, field])
  })
})

describe('where VIES is asked', () => {
  /** What the stranger answers, and what it was asked. */
  const asked: string[] = []
  let answer: (id: string) => { status?: number; body: string } | null
  const server = createServer((request, response) => {
    const id = request.url?.split('/').slice(-3).join(' ') ?? ''
    asked.push(id)
    const said = answer(id)
    // Without one it stays silent until the question is given up.
    if (said) response.writeHead(said.status ?? 200, { 'content-type': 'application/json' }).end(said.body)
  })
  let vies: Vies
  beforeAll(async () => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const policy = { ports: { 'https:': [443], 'http:': [] }, hosts: new Set([host]) }
    const times = { connectMs: 60_000, headMs: 60_000, silenceMs: 60_000 }
    vies = { url: `http://${host}/rest-api`, request: createOutboundRequest(policy, times), policy, deadlineMs: 60_000 }
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  const never = new AbortController().signal
  const check = (customerId: string, more: { last?: boolean; vies?: Vies | null; stop?: AbortSignal } = {}) =>
    checkWithVies(
      { database: api.database, vies: more.vies === undefined ? vies : more.vies },
      { tenant: tenant.tenant, customerId, last: more.last ?? false, stop: more.stop ?? never },
    )
  const saved = async (id: string): Promise<Row> =>
    (await tenant.call('GET', `/v1/customers/${id}`)).body['organization']
  const made = async (organization: object): Promise<string> => {
    const { id } = await tenant.seed.make(customerResource)
    await organizationOf(String(id), { registered_address: { country: 'NL' }, ...organization })
    asked.length = 0
    return String(id)
  }
  const VALID = { body: '{"isValid":true,"userError":"VALID"}' }
  const INVALID = { body: '{"isValid":false,"userError":"INVALID"}' }

  test('what it says is saved with its name and date, and kept when other fields change', async () => {
    setTime('2026-06-01T00:00:00Z')
    const id = await made({
      tax_id: 'NL004495445B01',
      tax_ids: [{ type: 'GENERIC_TAX_ID', id: 'XX' }],
      tax_registrations: [{ registered_address: { country: 'DE' }, tax_id: 'DE136695976' }],
    })
    answer = which => (which.includes('DE') ? INVALID : VALID)
    await check(id, { vies: null })
    expect(asked).toEqual([])
    setTime('2026-06-02T00:00:00Z')
    await check(id)
    expect(asked.toSorted()).toEqual(['DE vat 136695976', 'NL vat 004495445B01'])
    const valid = { valid: 'VALID', source: 'VIES', validation_date: '2026-06-02T00:00:00Z' }
    expect(await saved(id)).toMatchObject({
      tax_id_validation_result: valid,
      tax_ids: [{ tax_id_validation_result: { valid: 'NOT_VALID', source: 'FORMAT' } }],
      tax_registrations: [{ tax_id_validation_result: { valid: 'NOT_VALID', source: 'VIES' } }],
    })
    const renamed = await organizationOf(id, { legal_name: 'Acme' })
    expect(renamed).toMatchObject({ tax_id_validation_result: valid })
    await check(id)
    expect(asked).toHaveLength(2)
    expect(await organizationOf(id, { registered_address: { country: 'BE' } })).toMatchObject({
      tax_id_validation_result: { valid: 'UNKNOWN', source: 'FORMAT' },
    })
  })

  test('what it cannot say is tried again, and in the end is UNKNOWN with the reason', async () => {
    const id = await made({ tax_id: 'NL004495445B01', tax_ids: [{ type: 'GENERIC_TAX_ID', id: 'DE136695976' }] })
    answer = which => (which.includes('DE') ? VALID : { body: '{"isValid":false,"userError":"MS_UNAVAILABLE"}' })
    await expect(check(id)).rejects.toThrow('MS_UNAVAILABLE')
    expect(await saved(id)).toMatchObject({
      tax_id_validation_result: { valid: 'UNKNOWN', source: 'FORMAT' },
      tax_ids: [{ tax_id_validation_result: { valid: 'VALID', source: 'VIES' } }],
    })
    answer = () => ({ status: 502, body: '<html>' })
    await check(id, { last: true })
    expect(asked.at(-1)).toBe('NL vat 004495445B01')
    const { tax_id_validation_result: unknown } = await saved(id)
    expect(unknown).toMatchObject({ valid: 'UNKNOWN', source: 'VIES', message: expect.stringContaining('502') })
    const previous = await saved(id)
    // Whatever of the customer changes then, it is asked once more.
    const renamed = await organizationOf(id, { legal_name: 'Acme' })
    expect(renamed).toMatchObject({
      tax_id_validation_result: { valid: 'UNKNOWN', source: 'FORMAT' },
      tax_ids: [{ tax_id_validation_result: { valid: 'VALID', source: 'VIES' } }],
    })
    expect(hasNewIds({ data: { organization: renamed }, previous_data: { organization: previous } })).toBe(true)
    answer = () => VALID
    await check(id)
    expect(await saved(id)).toMatchObject({ tax_id_validation_result: { valid: 'VALID', source: 'VIES' } })
  })

  test('silence is given up, and an id that was changed meanwhile keeps its own result', async () => {
    const id = await made({ tax_id: 'NL004495445B01' })
    answer = () => null
    await expect(check(id, { vies: { ...vies, deadlineMs: 1 } })).rejects.toThrow('no answer in time')
    const stop = new AbortController()
    const stopping = new Error('the worker stops')
    answer = () => {
      stop.abort(stopping)
      return null
    }
    await expect(check(id, { stop: stop.signal })).rejects.toThrow(stopping.message)
    let changed: Promise<unknown> = Promise.resolve()
    server.once('request', (_request, response) => {
      changed = organizationOf(id, { tax_id: 'NL1' }).then(() => response.end(VALID.body))
    })
    answer = () => null
    await check(id)
    await changed
    expect(await saved(id)).toMatchObject({
      tax_id: 'NL1',
      tax_id_validation_result: { valid: 'NOT_VALID', source: 'FORMAT' },
    })
  })
})

describe('the tax ids of a billing entity', () => {
  test('carry what the check said, and clear', async () => {
    const { id } = await tenant.seed.make(billingEntityResource)
    const url = `/v1/billing-entities/${id}`
    const { body } = await tenant.call('PATCH', url, {
      tax_id: 'NL1',
      tax_ids: [{ type: 'GENERIC_TAX_ID', id: 'GB980780684' }],
    })
    expect(body).toMatchObject({
      tax_id_validation_result: { id: 'NL1', valid: 'NOT_VALID' },
      tax_ids: [{ id: 'GB980780684', tax_id_validation_result: { valid: 'UNKNOWN' } }],
      tax_registrations: [{ tax_id: 'DE136695976', tax_id_validation_result: { valid: 'UNKNOWN' } }],
    })
    const cleared = await tenant.call('PATCH', url, { tax_id: null, tax_ids: null, tax_registrations: null })
    expect(cleared.body).toMatchObject({
      tax_id: null,
      tax_id_validation_result: null,
      tax_ids: null,
      tax_registrations: null,
    })
    expect(refusal(await tenant.call('PATCH', url, { tax_ids: [{ type: 'AU_GST', id: '1' }] }))).toEqual([
      400,
      'INVALID_FIELD',
      'tax_ids.0.type',
    ])
    expect(refusal(await tenant.call('PATCH', url, { tax_id_validation_result: null }))).toEqual([
      400,
      'INVALID_FIELD',
      'tax_id_validation_result',
    ])
  })
})

describe('the calls on tax ids', () => {
  test('list the types of a country, or all', async () => {
    const typesOf = async (query: string) =>
      (await tenant.call('GET', `/v1/tax-id-types${query}`)).body['allowed_types']
    expect(await typesOf('?country=AU')).toEqual(['GENERIC_TAX_ID', 'AU_GST'])
    expect(await typesOf('?country=NL')).toEqual(['GENERIC_TAX_ID'])
    expect(await typesOf('?country=CA')).toHaveLength(7)
    expect(await typesOf('')).toHaveLength(8)
    expect(refusal(await tenant.call('GET', '/v1/tax-id-types?country=XX'))).toEqual([
      400,
      expect.any(String),
      'country',
    ])
  })

  test('check the ids of a customer that is not saved', async () => {
    const organization = {
      registered_address: { country: 'DE' },
      tax_id: 'DE136695976',
      tax_ids: [{ type: 'GENERIC_TAX_ID', id: 'DE136695977' }],
      tax_registrations: [{ registered_address: { country: 'FR' }, tax_id: 'FR1' }],
    }
    const { body } = await tenant.call('POST', '/v1/customers/validate-tax-id', { type: 'ORGANIZATION', organization })
    expect(body['data'].map((each: Row) => [each['id'], each['valid']])).toEqual([
      ['DE136695976', 'UNKNOWN'],
      ['DE136695977', 'NOT_VALID'],
      ['FR1', 'NOT_VALID'],
    ])
    const nobody = await tenant.call('POST', '/v1/customers/validate-tax-id', { type: 'INDIVIDUAL' })
    expect(nobody.body).toEqual({ data: [] })
    expect(refusal(await tenant.call('POST', '/v1/customers/validate-tax-id', { organization }))[2]).toBe('type')
  })
})
