// Exchange rates: what is refused, how a rate is corrected with its history, that activation and preview need one, and rates from an
// address.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { inTenant, SERVICE, type Uow } from '../../../../shared/database/database.ts'
import { createResource, updateResource } from '../../../resource/commands.ts'
import { expectPayloads } from '../../../testing/event-payloads.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import { billedSubscription, succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import { type ServedFeed, serveFeed } from '../exchange-rate-feeds/testing/serve-feed.ts'
import { platformResource } from '../platforms/platform.ts'
import { exchangeRateResource } from './exchange-rate.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.bTest
})
afterAll(() => api?.close())

const RATE = {
  base_currency: 'EUR',
  currency: 'SEK',
  rate: '11.1',
  rate_timestamp: '2026-01-01T00:00:00Z',
  source: 'ECB',
}
const create = (more: object = {}) => tenant.call('POST', '/v1/exchange-rates', { ...RATE, ...more })
const byDate = (a: Row, b: Row): number => (String(a['invoice_date']) < String(b['invoice_date']) ? -1 : 1)
const fault = ({ status, body }: { status: number; body: Row }) => [status, body['code'], body['field']]

test('a rate is given once for a time, and corrected with its history', async () => {
  const { body: made } = await create()
  expect(made).toMatchObject({ object_type: 'EXCHANGE_RATE', ...RATE, corrections: [] })
  expect(fault(await create({ rate: '12' }))).toEqual([409, 'RESOURCE_ALREADY_EXISTS', 'rate_timestamp'])
  for (const [more, code, field] of [
    [{ currency: 'EUR' }, 'INVALID_FIELD', 'currency'],
    [{ currency: 'XYZ' }, 'INVALID_FIELD', 'currency'],
    [{ currency: 'NOK', rate: '0' }, 'INVALID_FIELD', 'rate'],
    [{ currency: 'NOK', rate: '-1' }, 'INVALID_FIELD', 'rate'],
    [{ currency: 'NOK', rate_timestamp: '2999-01-01T00:00:00Z' }, 'INVALID_FIELD', 'rate_timestamp'],
    [{ currency: 'NOK', source: '' }, 'INVALID_FIELD', 'source'],
    [{ currency: 'NOK', corrections: [] }, 'INVALID_FIELD', 'corrections'],
  ] as const)
    expect(fault(await create(more)), JSON.stringify(more)).toEqual([400, code, field])
  const url = `/v1/exchange-rates/${made['id']}`
  expect(fault(await tenant.call('PATCH', url, { currency: 'NOK' }))).toEqual([400, 'INVALID_FIELD', 'currency'])
  const corrected = await succeed(tenant, 'PATCH', url, { rate: '11.15' })
  expect(corrected).toMatchObject({ rate: '11.15', corrections: [{ rate: '11.1', source: 'ECB' }] })
  expect((await succeed(tenant, 'PATCH', url, { rate: '11.15' }))['corrections']).toHaveLength(1)
  await expectPayloads(api, made['id'], ['EXCHANGE_RATE.CREATED', 'EXCHANGE_RATE.UPDATED'])
  const found = await succeed(tenant, 'POST', '/v1/exchange-rates/search', {
    filter_fields: [{ name: 'currency', value: 'SEK' }],
  })
  expect(found['data']).toMatchObject([{ id: made['id'] }])
  expect((await succeed(tenant, 'GET', '/v1/exchange-rates?currency=SEK'))['data']).toHaveLength(1)
  expect((await api.tenants.aTest.call('GET', url)).status).toBe(404)
})

test('activation and preview need a rate; invoices convert by it and keep it', async () => {
  const start_at = '2026-05-01T00:00:00Z'
  const subscription = { billing_currency: 'DKK' }
  const own = await billedSubscription(tenant, { start_at, fee: '100', subscription, activate: false })
  const url = `/v1/pricing-plan-subscriptions/${own.subscriptionId}`
  const activate = () => tenant.call('PATCH', url, { status: 'ACTIVE' })
  const preview = () =>
    tenant.call('POST', '/v1/invoices/preview', { pricing_plan_subscription_id: own.subscriptionId, start_at })
  expect(fault(await activate())).toEqual([400, 'INVALID_FIELD', 'pricing_currency'])
  expect(fault(await preview())).toEqual([400, 'INVALID_OPERATION', 'billing_currency'])
  const { body: rate } = await create({ currency: 'DKK', rate: '7.5', rate_timestamp: '2026-04-30T00:00:00Z' })
  expect((await preview()).body['invoice']).toMatchObject({
    invoice_amount_excluding_tax: { quantity: '750.00', currency: 'DKK' },
  })
  expect((await activate()).status).toBe(200)
  const run = () => runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, own.subscriptionId)
  await run()
  const list = async (): Promise<Row[]> =>
    (await succeed(tenant, 'GET', `/v1/invoices?pricing_plan_subscription_id=${own.subscriptionId}`))['data']
  const drafts = (await list()).filter(row => row['status'] === 'DRAFT')
  const draft = drafts.find(row => row['invoice_date'] === start_at)
  // Those of later months need a newer rate.
  const latest = await succeed(tenant, 'GET', `/v1/invoices/${drafts.toSorted(byDate).at(-1)?.['id']}`)
  const errors = latest['validation_result'].filter(({ status }: Row) => status === 'ERROR')
  expect(errors).toMatchObject([{ details: expect.stringContaining('2026-04-30') }])
  expect(fault(await tenant.call('PATCH', `/v1/invoices/${latest['id']}`, { status: 'FINAL' }))).toEqual([
    400,
    'INVALID_OPERATION',
    'status',
  ])
  expect(draft).toMatchObject({
    billing_currency: 'DKK',
    invoice_amount_excluding_tax: { quantity: '750.00', currency: 'DKK' },
    used_exchange_rates: [{ base_currency: 'EUR', currency: 'DKK', rate: '7.5', source: 'ECB' }],
  })
  const invoice = `/v1/invoices/${draft?.['id']}`
  await succeed(tenant, 'PATCH', invoice, { status: 'FINAL' })
  // What is corrected later changes no FINAL invoice.
  await succeed(tenant, 'PATCH', `/v1/exchange-rates/${rate['id']}`, { rate: '7.46' })
  await run()
  expect(await succeed(tenant, 'GET', invoice)).toMatchObject({
    invoice_amount_excluding_tax: { quantity: '750.00', currency: 'DKK' },
  })
  expect(await succeed(tenant, 'POST', `${invoice}/verify`)).toMatchObject({ identical: true })
})

describe('rates from the address of the platform', () => {
  let own: TestTenant
  let feed: ServedFeed
  beforeAll(async () => {
    own = api.tenants.aTest
    feed = await serveFeed(api, own)
    api.clock.set(Date.parse('2026-04-01T12:00:00Z'))
  })
  afterAll(() => feed?.close())
  const good = { fault: null, rates_of: '2026-03-31T00:00:00Z', next_attempt_at: '2026-04-01T18:00:00Z' }
  const byHand = (base_currency: string, currency: string, rate: string) => {
    const body = { base_currency, currency, rate, rate_timestamp: '2026-03-31T00:00:00Z', source: 'By hand' }
    return succeed(own, 'POST', '/v1/exchange-rates', body)
  }
  /** Fetches while a transaction holds what `change` wrote, and commits that when the job waits for it. */
  const fetchedDuring = async (change: (uow: Uow) => Promise<unknown>): Promise<Row> => {
    let fetched: Promise<Row> | undefined
    await inTenant(api.database, own.tenant, SERVICE, async uow => {
      await change(uow)
      fetched ??= feed.fetched()
      const waiting = `select pid from pg_locks join pg_stat_activity using (pid) where not granted and datname = current_database()`
      await Promise.race([
        fetched,
        vi.waitFor(async () => expect(await api.sql(waiting)).not.toEqual([]), { timeout: 60_000, interval: 20 }),
      ])
    })
    if (!fetched) throw new Error('nothing was fetched')
    return await fetched
  }

  test('are stored; what is stored stays unless the platform says otherwise', async () => {
    for (const url of ['ftp://rates.example', 'https://a:b@rates.example', 'rates', 'https://rates example'])
      expect(fault(await own.call('PATCH', feed.platform, { exchange_rate_settings: { url } }))).toEqual([
        400,
        'INVALID_FIELD',
        'exchange_rate_settings.url',
      ])
    expect(await feed.due()).toBe('none')
    await feed.settings({ url: feed.url, source: 'SNB' })
    expect(await feed.due()).toBe('due true, faulty false')
    expect(await feed.fetched()).toMatchObject({ fault: 'The server answered 500.', rates_of: null })
    await byHand('CHF', 'EUR', '1.05')
    const published = { base: 'CHF', date: '2026-03-31', rates: { EUR: 1.06, USD: '1.1303', BTC: 1 } }
    Object.assign(feed.answer, { status: 200, body: published })
    // At once and again: each rate is there once.
    for (let time = 0; time < 2; time += 1) expect(await feed.fetched()).toMatchObject(good)
    expect(await feed.rates('CHF')).toEqual(['EUR 1.05 By hand 0', 'USD 1.1303 SNB 0'])
    const [usd] = (await succeed(own, 'GET', '/v1/exchange-rates?base_currency=CHF&currency=USD'))['data']
    await expectPayloads(api, usd['id'], ['EXCHANGE_RATE.CREATED'])
    await feed.settings({ overwrite: true })
    await feed.fetched()
    expect(await feed.rates('CHF')).toEqual(['EUR 1.06 SNB 1', 'USD 1.1303 SNB 0'])
    feed.answer.body = { ...published, rates: { EUR: -1 } }
    expect(await feed.fetched()).toMatchObject({ fault: expect.stringContaining('EUR'), rates_of: good.rates_of })
    feed.answer.body = { ...published, note: 'x'.repeat(1_000) }
    expect(await feed.fetched()).toMatchObject({ fault: 'The answer has more than 1000 bytes.' })
    expect(await feed.due()).toBe('due false, faulty true')
  })

  test('are stored but for one that is refused, and the platform hears of that', async () => {
    await feed.settings({ url: feed.url, source: 'SNB', overwrite: true })
    const { id } = await byHand('SEK', 'EUR', '0.09')
    await api.sql(
      `update exchange_rates set corrections = (select jsonb_agg(jsonb_build_object('rate', '1', 'source', 'SNB',
         'corrected_at', '2026-03-31T00:00:00Z')) from generate_series(1, 100)) where id = $1`,
      [id],
    )
    const rates = { CHF: 0.0841123456785, EUR: 0.091, NOK: 1.2e-8 }
    Object.assign(feed.answer, { status: 200, body: { base: 'SEK', date: '2026-03-31', rates } })
    expect(await feed.fetched()).toMatchObject({
      ...good,
      next_attempt_at: '2026-04-01T13:00:00Z',
      fault: 'Not stored: EUR. The rate of EUR: A rate can be corrected 100 times.',
    })
    expect(await feed.due()).toBe('due false, faulty true')
    expect(await feed.rates('SEK')).toEqual([
      'CHF 0.084112345679 SNB 0',
      'EUR 0.09 By hand 100',
      'NOK 0.000000012 SNB 0',
    ])
  })

  test('leave a rate that somebody gives at the same time', async () => {
    await feed.settings({ url: feed.url, source: 'SNB', overwrite: null })
    Object.assign(feed.answer, {
      status: 200,
      body: { base: 'NOK', date: '2026-03-31', rates: { EUR: 0.08, USD: 0.09 } },
    })
    const given = {
      base_currency: 'NOK',
      currency: 'EUR',
      rate: '0.081',
      rate_timestamp: good.rates_of,
      source: 'By hand',
    }
    expect(await fetchedDuring(uow => createResource(uow, exchangeRateResource, given))).toMatchObject(good)
    expect(await feed.rates('NOK')).toEqual(['EUR 0.081 By hand 0', 'USD 0.09 SNB 0'])
  })

  test('follow the settings at their storing, not at their asking', async () => {
    await feed.settings({ url: feed.url, source: 'SNB', overwrite: true })
    const { id } = await byHand('DKK', 'EUR', '0.13')
    Object.assign(feed.answer, {
      ...{ status: 200, body: { base: 'DKK', date: '2026-03-31', rates: { EUR: 0.134, USD: 0.15 } } },
      before: async () => {
        delete feed.answer.before
        await feed.settings({ overwrite: false, source: 'Nationalbank' })
        await succeed(own, 'PATCH', `/v1/exchange-rates/${id}`, { rate: '0.132' })
      },
    })
    expect(await feed.fetched()).toMatchObject(good)
    expect(await feed.rates('DKK')).toEqual(['EUR 0.132 By hand 1', 'USD 0.15 Nationalbank 0'])
  })

  test('say nothing of an address that came after them', async () => {
    await feed.settings({ url: feed.url })
    const exchange_rate_settings = { url: `${feed.url}?other` }
    const { platformId } = own.tenant
    const change = (uow: Uow) => updateResource(uow, platformResource, platformId, { exchange_rate_settings })
    expect(await fetchedDuring(change)).toBeNull()
    expect(await feed.due()).toBe('due true, faulty false')
    // One that the operator does not allow is not asked.
    expect((await feed.settings({ url: 'http://127.0.0.1:1/daily' }))['exchange_rate_status']).toBeNull()
    expect(await feed.fetched()).toMatchObject({ fault: expect.stringMatching(/^The address must/) })
    expect((await feed.settings({ url: null }))['exchange_rate_status']).toBeNull()
    expect(await feed.fetched()).toBeNull()
  })
})
