// Platform settings and billing entities, through the api.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CURRENCY_LIST } from '../../../../shared/codes/iso-codes.ts'
import { refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { noticesOf } from '../../../testing/notices.ts'
import type { Row } from '../../../testing/wire.ts'
import { billingEntityResource } from '../billing-entities/billing-entity.ts'

let api: ApiHarness
let a: TestTenant
let url: string
beforeAll(async () => {
  api = await startApi({ ingestCeilings: { eventsPerSecond: 20_000, batchLimit: 500 } })
  a = api.tenants.aLive
  url = `/v1/platforms/${a.tenant.platformId}`
})
afterAll(() => api?.close())

describe('the platform', () => {
  test('lists the currencies that it can bill in', async () => {
    const { status, body } = await a.call('GET', `${url}/currencies`)
    expect([status, (body as unknown as Row[]).length]).toEqual([200, CURRENCY_LIST.length])
    expect((body as unknown as Row[]).find(({ code }) => code === 'CHF')).toEqual({
      ...{ code: 'CHF', currencyCode: 'CHF', numeric: 756, currencyId: 756, exponent: 2, sign: 'CHF' },
      ...{ name: 'Swiss Franc', currencyName: 'Swiss Franc' },
      ...{ countryCodes: ['CH', 'LI'], countries: ['Switzerland', 'Liechtenstein'] },
    })
    expect(refusal(await api.tenants.bLive.call('GET', `${url}/currencies`)).slice(0, 2)).toEqual([
      404,
      'RESOURCE_NOT_FOUND',
    ])
  })

  test('reads as the shape, its defaults filled in', async () => {
    const { status, body } = await a.call('GET', url)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      object_type: 'PLATFORM',
      id: a.tenant.platformId,
      name: 'Platform A',
      status: 'ACTIVE',
      timezone: 'UTC',
      default_product_tax_category: 'STANDARD',
      invoice_settings: {},
      ingest_settings: {},
      rounding_settings: [],
    })
    expect(body).not.toHaveProperty('platform_id')
    expect(body).not.toHaveProperty('environment')
  })

  test('of another tenant is not there, and can be neither made nor deleted', async () => {
    const foreign = `/v1/platforms/${api.tenants.bLive.tenant.platformId}`
    expect(refusal(await a.call('GET', foreign))).toEqual([404, 'RESOURCE_NOT_FOUND', undefined])
    expect(refusal(await a.call('PATCH', foreign, { timezone: 'UTC' }))).toEqual([404, 'RESOURCE_NOT_FOUND', undefined])
    expect((await a.call('POST', '/v1/platforms', {})).status).toBe(404)
    expect((await a.call('DELETE', url)).status).toBe(405)
  })

  test('is merged member by member, null clears or goes back to the default, TEST stays as it was', async () => {
    const entity = await a.seed.make(billingEntityResource)
    const first = await a.call('PATCH', url, {
      timezone: 'Europe/Amsterdam',
      default_billing_entity_id: entity['id'],
      default_pricing_currency: 'EUR',
      invoice_settings: {
        invoice_number_configuration: { prefix: 'ACME', minimum_number_of_digits: 6 },
        footnote: 'Thanks.',
      },
      rounding_settings: [{ rounding_target: 'INVOICE', rounding_mode: 'UNROUNDED' }],
    })
    expect(first.status).toBe(200)
    const second = await a.call('PATCH', url, {
      timezone: null,
      invoice_settings: { invoice_number_configuration: { prefix: 'AC' }, footnote: null },
    })
    expect(second.body).toMatchObject({
      timezone: 'UTC',
      default_pricing_currency: 'EUR',
      invoice_settings: { invoice_number_configuration: { prefix: 'AC', minimum_number_of_digits: 6 } },
    })
    expect(second.body['invoice_settings']).not.toHaveProperty('footnote')
    const expanded = await a.call('GET', `${url}?expand[]=default_billing_entity`)
    expect(expanded.body['default_billing_entity']).toMatchObject({ object_type: 'BILLING_ENTITY', id: entity['id'] })
    const inTest = await api.tenants.aTest.call('GET', url)
    expect(inTest.body).toMatchObject({ default_pricing_currency: null, invoice_settings: {} })
    const reset = await a.call('PATCH', url, {
      invoice_settings: null,
      rounding_settings: null,
      default_billing_entity_id: null,
    })
    expect(reset.body).toMatchObject({ invoice_settings: {}, rounding_settings: [], default_billing_entity_id: null })
    const [event] = (await noticesOf(api, a.tenant.platformId)).filter(
      ({ type, environment }) => type === 'PLATFORM.UPDATED' && environment === 'LIVE',
    )
    expect(event).toMatchObject({
      object_id: a.tenant.platformId,
      data: { timezone: 'Europe/Amsterdam' },
      previous_data: { timezone: 'UTC' },
    })
  })

  test('sets its own ingest limits, in each environment apart, and goes back to the defaults', async () => {
    const set = await a.call('PATCH', url, { ingest_settings: { events_per_second: 20_000, batch_limit: 500 } })
    expect(set.body['ingest_settings']).toEqual({ events_per_second: 20_000, batch_limit: 500 })
    expect((await api.tenants.aTest.call('GET', url)).body['ingest_settings']).toEqual({})
    const merged = await a.call('PATCH', url, { ingest_settings: { batch_limit: null } })
    expect(merged.body['ingest_settings']).toEqual({ events_per_second: 20_000 })
    // Set when the installation allowed more: it stands, until it is changed.
    await api.sql(`update platforms set ingest_settings = '{"events_per_second": 30000}' where environment = 'LIVE'`)
    expect((await a.call('PATCH', url, { timezone: 'UTC', description: 'x' })).status).toBe(200)
    const cleared = await a.call('PATCH', url, { ingest_settings: null })
    expect(cleared.body['ingest_settings']).toEqual({})
  })

  const ingest = (settings: object) => ({ ingest_settings: settings })
  const number = (configuration: object) => ({ invoice_settings: { invoice_number_configuration: configuration } })
  const logo = (content: string) => ({ branding: { logo: { content_type: 'image/png', content } } })
  const grace = (configuration: object) => ({ invoice_settings: { invoice_grace_period: configuration } })
  const EXTRA_OPEN = 'invoice_settings.invoice_extra_open_period.value'
  const extraOpen = (value: number, type: string) => ({
    invoice_settings: { invoice_extra_open_period: { value, type } },
  })
  test.each([
    ['a name', { name: 'x' }, 'INVALID_FIELD', 'name'],
    ['a domain', { branding: { domain: 'x' } }, 'INVALID_FIELD', 'branding.domain'],
    ['a colour by name', { branding: { colors: { primary: 'red' } } }, 'INVALID_FIELD', 'branding.colors.primary'],
    ['a logo that is no picture', logo('R0lGODlhAQABAAAAACw='), 'INVALID_FIELD', 'branding.logo.content'],
    ['a logo that is cut off', logo('iVBORw0KGgo='), 'INVALID_FIELD', 'branding.logo.content'],
    ['an extra open period below zero', extraOpen(-1, 'DAY'), 'INVALID_FIELD', EXTRA_OPEN],
    ['an extra open period of 32 days', extraOpen(32, 'DAY'), 'INVALID_FIELD', EXTRA_OPEN],
    ['an extra open period of 745 hours', extraOpen(745, 'HOUR'), 'INVALID_FIELD', EXTRA_OPEN],
    [
      'two series with one prefix',
      { invoice_settings: { credit_invoice_number_configuration: { prefix: 'INV' } } },
      'INVALID_FIELD',
      'invoice_settings.credit_invoice_number_configuration.prefix',
    ],
    [
      'two roundings of predictions',
      {
        rounding_settings: ['DEFAULT', 'UNROUNDED'].map(rounding_mode => ({
          rounding_target: 'COST_PREDICTION',
          rounding_mode,
        })),
      },
      'INVALID_FIELD',
      'rounding_settings.1.rounding_target',
    ],
    [
      'an entity that is not there',
      { default_billing_entity_id: 'bill_nothing' },
      'RESOURCE_NOT_FOUND',
      'default_billing_entity_id',
    ],
    ['a zone that is not there', { timezone: 'Mars/Olympus' }, 'INVALID_FIELD', 'timezone'],
    [
      'numbers that repeat',
      number({ dynamic_prefix: [] }),
      'INVALID_FIELD',
      'invoice_settings.invoice_number_configuration.dynamic_prefix',
    ],
    [
      'numbers that read alike',
      number({ separator: '' }),
      'INVALID_FIELD',
      'invoice_settings.invoice_number_configuration.separator',
    ],
    [
      'a prefix with custom fields',
      number({ prefix: '{{customer.custom_fields[x]}}' }),
      'INVALID_FIELD',
      'invoice_settings.invoice_number_configuration.prefix',
    ],
    [
      'a prefix with code',
      number({ prefix: '{{constructor.x}}' }),
      'INVALID_FIELD',
      'invoice_settings.invoice_number_configuration.prefix',
    ],
    [
      'CUSTOM without a length',
      grace({ type: 'CUSTOM' }),
      'MISSING_FIELD',
      'invoice_settings.invoice_grace_period.configuration',
    ],
    [
      'DEFAULT with a length',
      grace({ type: 'DEFAULT', configuration: { value: 1, type: 'DAY' } }),
      'INVALID_FIELD',
      'invoice_settings.invoice_grace_period.configuration',
    ],
    ['no events at all', ingest({ events_per_second: 0 }), 'INVALID_FIELD', 'ingest_settings.events_per_second'],
    [
      'a rate with a fraction',
      ingest({ events_per_second: 1.5 }),
      'INVALID_FIELD',
      'ingest_settings.events_per_second',
    ],
    [
      'a rate above what is allowed',
      ingest({ events_per_second: 20_001 }),
      'INVALID_FIELD',
      'ingest_settings.events_per_second',
    ],
    ['a batch above what is allowed', ingest({ batch_limit: 501 }), 'INVALID_FIELD', 'ingest_settings.batch_limit'],
    ['another ingest setting', ingest({ burst: 1 }), 'INVALID_FIELD', 'ingest_settings.burst'],
    [
      'a grace of weeks',
      grace({ configuration: { value: 1, type: 'WEEK' } }),
      'INVALID_FIELD',
      'invoice_settings.invoice_grace_period.configuration.type',
    ],
  ])('%s is refused', async (_name, patch, code, field) => {
    const answer = await a.call('PATCH', url, patch)
    expect([answer.body['code'], answer.body['field']]).toEqual([code, field])
    expect((await a.call('GET', url)).body['status']).toBe('ACTIVE')
  })
})

describe('billing entities', () => {
  test('are ACTIVE at once, found by reference, and listed as bare data', async () => {
    const made = await a.seed.make(billingEntityResource)
    expect(made).toMatchObject({ object_type: 'BILLING_ENTITY', status: 'ACTIVE', tax_id: 'NL004495445B01' })
    expect((await a.call('GET', `/v1/billing-entities/${made['reference']}`)).body).toEqual(made)
    const list = await a.call('GET', `/v1/billing-entities?reference=${made['reference']}`)
    expect(list.body).toEqual({ data: [made] })
    expect((await a.call('DELETE', `/v1/billing-entities/${made['id']}`)).status).toBe(405)
    expect((await a.call('POST', `/v1/billing-entities/${made['id']}/archive`)).status).toBe(404)
  })

  test('PUT creates once and updates after; addresses merge; null clears', async () => {
    const body = {
      reference: a.seed.unique('e'),
      legal_name: 'Acme',
      registered_address: { country: 'NL', city: 'Utrecht' },
    }
    expect((await a.call('PUT', '/v1/billing-entities', body)).status).toBe(201)
    const again = await a.call('PUT', '/v1/billing-entities', { ...body, legal_name: 'Acme BV' })
    expect([again.status, again.body['legal_name']]).toEqual([200, 'Acme BV'])
    const patch = { registered_address: { city: 'Delft' }, legal_name: null, email: ' ' }
    const patched = await a.call('PATCH', `/v1/billing-entities/${body.reference}`, patch)
    expect(patched.body).toMatchObject({
      registered_address: { country: 'NL', city: 'Delft' },
      legal_name: null,
      email: null,
    })
  })

  test('a tax registration keeps its id while it is sent back, and takes none from elsewhere', async () => {
    const made = await a.seed.make(billingEntityResource)
    const at = `/v1/billing-entities/${made['id']}`
    const [registration] = made['tax_registrations']
    expect(registration.id).toMatch(/^txrg_/)
    const patch = { tax_registrations: [{ ...registration, description: 'Berlin' }, { tax_id: 'FR1' }] }
    const { body } = await a.call('PATCH', at, patch)
    expect(body['tax_registrations']).toMatchObject([{ id: registration.id, description: 'Berlin' }, { tax_id: 'FR1' }])
    const refused = await a.call('PATCH', at, { tax_registrations: [{ id: 'txrg_nothing' }] })
    expect(refusal(refused)).toEqual([400, 'INVALID_FIELD', 'tax_registrations.0.id'])
  })

  test.each([
    ['no reference', { legal_name: 'x' }, 'MISSING_FIELD', 'reference'],
    ['an email that is none', { reference: 'x', email: 'nobody' }, 'INVALID_FIELD', 'email'],
    [
      'a country that is none',
      { reference: 'x', registered_address: { country: 'Holland' } },
      'INVALID_FIELD',
      'registered_address.country',
    ],
    [
      'a selector of a currency that is none',
      { reference: 'x', default_billing_currency_selector: ['XXZ'] },
      'INVALID_FIELD',
      'default_billing_currency_selector.0',
    ],
  ])('%s is refused', async (_name, body, code, field) => {
    expect(refusal(await a.call('POST', '/v1/billing-entities', body))).toEqual([400, code, field])
  })
})
