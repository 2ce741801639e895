// Exchange rates: what is refused, how a rate is corrected with its history, and that activation and preview need one.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { asSystem, openDatabase } from '../../../../shared/database/database.ts'
import { createOutboundRequest } from '../../../../shared/outbound/outbound-request.ts'
import { silentLogger } from '../../../../shared/process/logger.ts'
import { loginOf } from '../../../../shared/testing/database-logins.ts'
import { createWorkerMetrics } from '../../../jobs/metrics.ts'
import { runJob } from '../../../jobs/testing/run-job.ts'
import { expectPayloads } from '../../../testing/event-payloads.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import { billedSubscription, succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import { feedJobs, loadFeeds } from '../exchange-rate-feeds/jobs.ts'

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

test('rates come from the address of the platform, and what is stored stays unless the platform says otherwise', async () => {
  let answer: { status: number; body: unknown } = { status: 500, body: {} }
  const server = createServer((_request, response) => {
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const address = `http://127.0.0.1:${port}/daily?base=CHF`
  const own = api.tenants.aTest
  const system = await openDatabase({
    ...{ url: loginOf(api.databaseUrl, 'millrace_worker'), role: 'millrace_worker', poolMax: 1 },
    ...{ clock: api.clock, logger: silentLogger },
  })
  const policy = { ports: { 'https:': [443], 'http:': [] }, hosts: new Set([`127.0.0.1:${port}`]) }
  const times = { connectMs: 60_000, headMs: 60_000, silenceMs: 60_000 }
  const deps = {
    ...{ database: api.database, system, logger: silentLogger, metrics: createWorkerMetrics(new Registry()) },
    rates: { request: createOutboundRequest(policy, times), policy, bytesMax: 1_000, deadlineMs: 60_000 },
  }
  const payload = { platform_id: own.tenant.platformId, environment: own.tenant.environment }
  const platform = `/v1/platforms/${own.tenant.platformId}`
  const settings = (more: object) => succeed(own, 'PATCH', platform, { exchange_rate_settings: more })
  const fetched = async () => {
    await runJob(feedJobs, 'fetch-exchange-rates', deps, payload)
    return (await succeed(own, 'GET', platform))['exchange_rate_status']
  }
  const rates = async (): Promise<string[]> =>
    (await succeed(own, 'GET', '/v1/exchange-rates?base_currency=CHF&limit=100'))['data']
      .map((row: Row) => `${row['currency']} ${row['rate']} ${row['source']} ${row['corrections'].length}`)
      .toSorted()
  const due = async (): Promise<string> => {
    const feeds = await asSystem(system, 'find-due-exchange-rates', tx => loadFeeds(tx, api.clock.now()))
    const found = feeds.find(({ platform_id }) => platform_id === payload.platform_id)
    return found ? `due ${found.due}, faulty ${found.faulty}` : 'none'
  }
  try {
    api.clock.set(Date.parse('2026-04-01T12:00:00Z'))
    for (const url of ['ftp://rates.example', 'https://a:b@rates.example', 'rates', 'https://rates example'])
      expect(fault(await own.call('PATCH', platform, { exchange_rate_settings: { url } }))).toEqual([
        400,
        'INVALID_FIELD',
        'exchange_rate_settings.url',
      ])
    expect(await due()).toBe('none')
    await settings({ url: address, source: 'SNB' })
    expect(await due()).toBe('due true, faulty false')
    expect(await fetched()).toMatchObject({ fault: 'The server answered 500.', rates_of: null })
    const byHand = { base_currency: 'CHF', rate_timestamp: '2026-03-31T00:00:00Z', currency: 'EUR', rate: '1.05' }
    await succeed(own, 'POST', '/v1/exchange-rates', { ...byHand, source: 'By hand' })
    const published = { base: 'CHF', date: '2026-03-31', rates: { EUR: 1.06, USD: '1.1303', BTC: 1 } }
    answer = { status: 200, body: published }
    const good = { fault: null, rates_of: '2026-03-31T00:00:00Z', next_attempt_at: '2026-04-01T18:00:00Z' }
    // At once, again, and by two workers: each rate is there once.
    for (let time = 0; time < 2; time += 1) expect(await fetched()).toMatchObject(good)
    expect(await rates()).toEqual(['EUR 1.05 By hand 0', 'USD 1.1303 SNB 0'])
    const [usd] = (await succeed(own, 'GET', '/v1/exchange-rates?base_currency=CHF&currency=USD'))['data']
    await expectPayloads(api, usd['id'], ['EXCHANGE_RATE.CREATED'])
    await settings({ overwrite: true })
    await fetched()
    expect(await rates()).toEqual(['EUR 1.06 SNB 1', 'USD 1.1303 SNB 0'])
    answer = { status: 200, body: { ...published, rates: { EUR: -1 } } }
    expect(await fetched()).toMatchObject({ fault: expect.stringContaining('EUR'), rates_of: good.rates_of })
    answer = { status: 200, body: { ...published, note: 'x'.repeat(1_000) } }
    expect(await fetched()).toMatchObject({ fault: 'The answer has more than 1000 bytes.' })
    expect(await due()).toBe('due false, faulty true')
    // Another address says nothing yet, and one that the operator does not allow is not asked.
    expect((await settings({ url: 'http://127.0.0.1:1/daily' }))['exchange_rate_status']).toBeNull()
    expect(await fetched()).toMatchObject({ fault: expect.stringMatching(/^The address must/) })
    expect((await settings({ url: null }))['exchange_rate_status']).toBeNull()
    expect(await fetched()).toBeNull()
  } finally {
    server.closeAllConnections()
    server.close()
    await system.close()
  }
})
