// Invoices from end to end with real PostgreSQL and ClickHouse: created, closed and numbered once, whatever happens.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createFailpoints } from '../../../shared/failpoint.ts'
import { idOf } from '../../../shared/ids.ts'
import { createTestClickHouse, type TestClickHouse } from '../../../shared/testing/clickhouse.ts'
import { type ClickHouseClient, createClickHouse } from '../../../shared/usage/clickhouse.ts'
import { expectPayloads } from '../../testing/event-payloads.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../testing/harness.ts'
import { noticesOf } from '../../testing/notices.ts'
import type { Row } from '../../testing/wire.ts'
import type { BillingDeps } from '../billing/run/compute-invoice.ts'
import { runBilling } from '../billing/run/run-billing.ts'
import {
  type Billed,
  type BilledOptions,
  billedSubscription,
  succeed,
  useTokens,
} from '../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../billing/testing/no-usage.ts'
import { createUsageReader, type UsageReader } from '../billing/usage/usage-reader.ts'
import { invoiceProducers } from '../modules.ts'
import { finalizeInvoice } from './changes/finalize-invoice.ts'

let clickhouse: TestClickHouse
let client: ClickHouseClient
let api: ApiHarness
let deps: BillingDeps
/** The result of the barrier; tests can make it fail. */
let complete = true

beforeAll(async () => {
  clickhouse = await createTestClickHouse()
  client = createClickHouse(clickhouse.url, clickhouse.database)
  // The figures come from ClickHouse; only the wait for the log, which has no events here, is simulated.
  const { read } = createUsageReader({ client, jsm: undefined as never, partitions: 0 })
  const usage: UsageReader = { ...NO_USAGE, read, settle: async () => complete }
  api = await startApi({ usage })
  deps = { database: api.database, usage }
})
afterAll(async () => {
  await api?.close()
  await client?.close()
  await clickhouse?.drop()
})

const time = (text: string): number => Date.parse(text)
const setTime = (text: string): void => api.clock.set(time(text))
const EUR = (quantity: string) => ({ quantity, currency: 'EUR' })
const ACTOR = { id: null, requestId: null }

async function subscribe(tenant: TestTenant, options: Partial<BilledOptions> = {}): Promise<Billed> {
  return await billedSubscription(tenant, { start_at: '2026-03-11T00:00:00Z', ...options })
}
const run = (tenant: TestTenant, billed: Billed) => runBilling(deps, tenant.tenant, billed.subscriptionId)

async function invoicesOf(tenant: TestTenant, billed: Billed): Promise<Row[]> {
  const url = `/v1/invoices?pricing_plan_subscription_id=${billed.subscriptionId}&include_lines=true&order_direction=asc&order_by=created_at`
  const data: Row[] = (await succeed(tenant, 'GET', url))['data']
  return data.toSorted((a, b) => (a['billing_period_date'] < b['billing_period_date'] ? -1 : 1))
}

/** One DRAFT invoice of March with usage worth 0.05. */
async function draftInvoice(tenant: TestTenant): Promise<{ billed: Billed; invoice: Row }> {
  setTime('2026-04-01T01:00:00Z')
  const billed = await subscribe(tenant)
  await useTokens(client, tenant, { billed, tokens: '3450', timestamp: '2026-03-15 12:00:00.000' })
  await run(tenant, billed)
  const [invoice] = (await invoicesOf(tenant, billed)).filter(each => each['status'] === 'DRAFT')
  if (!invoice) throw new Error('March has ended')
  return { billed, invoice }
}

const eventsOf = (id: string): Promise<Row[]> => noticesOf(api, id)

describe('billing runs', () => {
  test('a subscription is invoiced in advance and in arrears, closed at the cut and numbered after the grace (scenario A)', async () => {
    const tenant = api.tenants.aLive
    setTime('2026-03-20T10:00:00Z')
    const billed = await subscribe(tenant, { fee: '100' })
    await useTokens(client, tenant, { billed, tokens: '3450', timestamp: '2026-03-15 12:00:00.000' })
    await run(tenant, billed)
    const [first, open] = await invoicesOf(tenant, billed)
    expect([first?.['status'], first?.['tax_summary'].base_amount.quantity]).toEqual(['DRAFT', '67.74'])
    expect(first?.['finalize_at']).toBe('2026-03-20T18:00:00Z')
    expect([open?.['status'], open?.['tax_summary'].base_amount.quantity]).toEqual(['OPEN', '100.05'])
    expect(
      open?.['periods'].map((period: Row) => [
        period['start_at'],
        period['end_at'],
        period['amount_excluding_tax'].quantity,
      ]),
    ).toEqual([
      ['2026-03-11T00:00:00Z', '2026-04-01T00:00:00Z', '0.05'],
      ['2026-04-01T00:00:00Z', '2026-05-01T00:00:00Z', '100.00'],
    ])

    setTime('2026-04-01T00:00:00Z')
    await run(tenant, billed)
    const closed = await invoicesOf(tenant, billed)
    expect(closed.map(each => each['status'])).toEqual(['FINAL', 'DRAFT', 'OPEN'])
    setTime('2026-04-01T08:00:00Z')
    await run(tenant, billed)
    const done = await invoicesOf(tenant, billed)
    expect(done.map(each => each['status'])).toEqual(['FINAL', 'FINAL', 'OPEN'])
    expect(done[1]).toMatchObject({
      invoice_date: '2026-03-31T00:00:00Z',
      due_date: '2026-04-30T00:00:00Z',
      paid: false,
    })
    expect(done.map(each => each['invoice_number'])).toEqual(['INV-2026-00001', 'INV-2026-00002', null])
    const types = (await eventsOf(done[1]?.['id'])).map(event => event['type'])
    expect(types).toEqual([
      'INVOICE.CREATED',
      'INVOICE.UPDATED',
      'INVOICE.STATUS_TO_DRAFT',
      'INVOICE.UPDATED',
      'INVOICE.STATUS_TO_FINAL',
    ])
    await expectPayloads(api, done[1]?.['id'], ['INVOICE.STATUS_TO_DRAFT'])
  })

  test('a price that is split bills each value in its own tiers', async () => {
    const tenant = api.tenants.aLive
    const region = tenant.seed.unique('region')
    setTime('2026-03-20T10:00:00Z')
    const billed = await subscribe(tenant, {
      properties: [region],
      pricing_type: 'TIERED',
      bands: [{ amount: EUR('1'), tier_top_bound: { number: '10' } }, { amount: EUR('0.5') }],
      config: { split_pricing: { meter_properties: [{ reference: region }] } },
    })
    const use = (value: string, tokens: string) =>
      useTokens(client, tenant, {
        billed,
        tokens,
        timestamp: '2026-03-15 12:00:00.000',
        properties: { [region]: value },
      })
    await use('eu', '8')
    await use('us', '12')
    await use('eu', '4')
    await run(tenant, billed)
    const [open] = await invoicesOf(tenant, billed)
    const line = open?.['periods'][0].groups[0].lines[0]
    expect(line.amount_excluding_tax.quantity).toBe('22.00')
    expect(
      line.sub_lines.map((each: Row) => [each['details'].split_pricing.meter_properties[0].value, each['description']]),
    ).toEqual([
      ['eu', `${region} eu: 10 × 1 EUR`],
      ['eu', `${region} eu: 2 × 0.5 EUR`],
      ['us', `${region} us: 10 × 1 EUR`],
      ['us', `${region} us: 2 × 0.5 EUR`],
    ])
  })

  test('a price of each event bills whole minutes of every call, at most 5.00 a call', async () => {
    const tenant = api.tenants.aLive
    setTime('2026-03-20T10:00:00Z')
    const billed = await subscribe(tenant, {
      pricing_type: 'FLAT_TOP_UP',
      bands: [{ amount: EUR('0.5'), block_size: { number: '60' }, maximum_amount: EUR('5') }],
      config: { rate_per: 'EVENT' },
    })
    for (const tokens of ['61', '30', '30', '3600']) {
      await useTokens(client, tenant, { billed, tokens, timestamp: '2026-03-15 12:00:00.000' })
    }
    await run(tenant, billed)
    const [open] = await invoicesOf(tenant, billed)
    const line = open?.['periods'][0].groups[0].lines[0]
    expect(line).toMatchObject({
      amount_excluding_tax: EUR('7.00'),
      meter_value: { number: '3721' },
      details: { meter_value: { count: '4' } },
    })
    expect(line.sub_lines.map((each: Row) => [each['details'].price_bound, each['description']])).toEqual([
      [undefined, '4 blocks of 60 × 0.5 EUR'],
      ['MAXIMUM_AMOUNT', '60 blocks of 60 × 0.5 EUR → 1 × maximum amount 5 EUR'],
    ])
  })

  test('a DRAFT whose period ends later after all, by the time zone of its customer, collects again as OPEN', async () => {
    const tenant = api.tenants.aLive
    const { billed, invoice } = await draftInvoice(tenant)
    await succeed(tenant, 'PATCH', `/v1/customers/${billed.customerId}`, { timezone: 'America/New_York' })
    await run(tenant, billed)
    const again = (await invoicesOf(tenant, billed)).find(each => each['id'] === invoice['id'])
    expect(again).toMatchObject({ status: 'OPEN', finalize_at: null })
    expect((await eventsOf(invoice['id'])).at(-1)?.['type']).toBe('INVOICE.STATUS_TO_OPEN')
    await expectPayloads(api, invoice['id'], ['INVOICE.STATUS_TO_OPEN'])
  })

  test('a run that is repeated, or runs five times at once, changes nothing and makes one invoice a period', async () => {
    const tenant = api.tenants.aTest
    setTime('2026-06-10T00:00:00Z')
    const billed = await subscribe(tenant, { fee: '100' })
    await Promise.all(Array.from({ length: 5 }, () => run(tenant, billed)))
    const invoices = await invoicesOf(tenant, billed)
    expect(invoices.map(each => each['period_start']).toSorted()).toEqual([
      '2026-03-11T00:00:00Z',
      '2026-03-11T00:00:00Z',
      '2026-04-01T00:00:00Z',
      '2026-05-01T00:00:00Z',
      '2026-06-01T00:00:00Z',
    ])
    const counted = () => api.sql(`select count(*) from outbox where object_type = 'INVOICE'`)
    const before = await counted()
    await run(tenant, billed)
    expect(await invoicesOf(tenant, billed)).toEqual(invoices)
    expect(await counted()).toEqual(before)
    const charged = invoices.flatMap(each =>
      each['periods'].flatMap((period: Row) => period['groups'].flatMap((group: Row) => group['lines'])),
    )
    expect(new Set(charged.map((line: Row) => line['id'])).size).toBe(charged.length)
  })

  test('a subscription years behind catches up over several runs, also while its drafts are held', async () => {
    const tenant = api.tenants.bTest
    setTime('2026-06-10T00:00:00Z')
    const billed = await subscribe(tenant, {
      start_at: '2023-01-01T00:00:00Z',
      fee: '100',
      subscription: { init_invoice_on_hold: true },
    })
    const first = await run(tenant, billed)
    expect([first.invoices.length, first.nextBillingAt]).toEqual([24, time('2026-06-10T00:00:00Z')])
    const second = await run(tenant, billed)
    expect(second.nextBillingAt).toBe(time('2026-06-10T01:00:00Z'))
    const counted = await api.sql('select count(*)::int as n from invoices where pricing_plan_subscription_id = $1', [
      billed.subscriptionId,
    ])
    expect(counted[0]?.['n']).toBe(43)
  })

  test('a period without anything to charge takes no number', async () => {
    const tenant = api.tenants.bTest
    setTime('2026-04-02T00:00:00Z')
    const billed = await subscribe(tenant)
    await run(tenant, billed)
    setTime('2026-04-02T08:00:00Z')
    await run(tenant, billed)
    const [march] = await invoicesOf(tenant, billed)
    expect([march?.['status'], march?.['invoice_number']]).toEqual(['ARCHIVED', null])
    await run(tenant, billed)
    expect(await invoicesOf(tenant, billed)).toHaveLength(2)
  })

  test('a cancellation shortens the running period; the last invoice is arrears alone', async () => {
    const tenant = api.tenants.bLive
    setTime('2026-04-10T00:00:00Z')
    const billed = await subscribe(tenant, { fee: '100' })
    await run(tenant, billed)
    await useTokens(client, tenant, { billed, tokens: '1000000', timestamp: '2026-04-12 00:00:00.000' })
    await useTokens(client, tenant, { billed, tokens: '9000000', timestamp: '2026-04-17 00:00:00.000' })
    await succeed(tenant, 'POST', `/v1/pricing-plan-subscriptions/${billed.subscriptionId}/cancel`, {
      type: 'DATE',
      cancel_at: '2026-04-16T00:00:00Z',
    })
    setTime('2026-04-16T00:00:00Z')
    await run(tenant, billed)
    const last = (await invoicesOf(tenant, billed)).at(-1)
    expect([last?.['status'], last?.['period_end'], last?.['tax_summary'].base_amount.quantity]).toEqual([
      'DRAFT',
      '2026-04-16T00:00:00Z',
      '15.00',
    ])
    setTime('2026-07-01T00:00:00Z')
    const { nextBillingAt } = await run(tenant, billed)
    expect(nextBillingAt).toBeNull()
    expect((await invoicesOf(tenant, billed)).map(each => each['status'])).toEqual(['FINAL', 'FINAL', 'FINAL'])
  })

  test('nothing closes while usage is still being counted; the run comes back', async () => {
    const tenant = api.tenants.aLive
    setTime('2026-03-20T00:00:00Z')
    const billed = await subscribe(tenant)
    await run(tenant, billed)
    setTime('2026-04-01T00:00:00Z')
    complete = false
    try {
      const { nextBillingAt } = await run(tenant, billed)
      expect(nextBillingAt).toBe(time('2026-04-01T00:01:00Z'))
      expect((await invoicesOf(tenant, billed)).map(each => each['status'])).toEqual(['OPEN', 'OPEN'])
    } finally {
      complete = true
    }
  })

  test('a change between reading and saving is seen: the invoice is computed again', async () => {
    const tenant = api.tenants.aLive
    setTime('2026-04-01T01:00:00Z')
    const billed = await subscribe(tenant)
    let changed = 0
    const usage: UsageReader = {
      ...deps.usage,
      read: async (...question) => {
        changed += 1
        if (changed === 1) {
          const organization = { legal_name: 'Renamed', registered_address: { country: 'NL' } }
          await succeed(tenant, 'PATCH', `/v1/customers/${billed.customerId}`, { organization })
        }
        return deps.usage.read(...question)
      },
    }
    await runBilling({ ...deps, usage }, tenant.tenant, billed.subscriptionId)
    expect(changed).toBeGreaterThan(2)
    const names = (await invoicesOf(tenant, billed)).map(each => each['customer'].organization.legal_name)
    expect(names).toEqual(['Renamed', 'Renamed'])
  })
})

describe('finalizing', () => {
  test('twenty concurrent finalizations give one number', async () => {
    const tenant = api.tenants.bLive
    const { invoice } = await draftInvoice(tenant)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => tenant.call('PATCH', `/v1/invoices/${invoice['id']}`, { status: 'FINAL' })),
    )
    expect(new Set(answers.map(answer => answer.status))).toEqual(new Set([200]))
    expect(new Set(answers.map(answer => answer.body['invoice_number'])).size).toBe(1)
    const types = (await eventsOf(invoice['id'])).map(event => event['type'])
    expect(types.filter(type => type === 'INVOICE.STATUS_TO_FINAL')).toHaveLength(1)
  })

  /** How to pay is not part of the invoice, so its notices leave it out. */
  const asNotice = (read: Row): Row => {
    const { payment_acceptor_ids: _ids, payment_actions: _actions, meter_values: _values, ...invoice } = read
    return invoice
  }

  test('its notice holds the invoice once: of the draft only what differs, and consumers read all of it', async () => {
    const tenant = api.tenants.bLive
    const { invoice } = await draftInvoice(tenant)
    const final = await succeed(tenant, 'PATCH', `/v1/invoices/${invoice['id']}`, { status: 'FINAL' })
    const updated = (await eventsOf(invoice['id'])).findLast(({ type }) => type === 'INVOICE.UPDATED')
    expect(updated?.['previous_data']).toEqual({
      ...asNotice(invoice),
      updated_at: updated?.['previous_data'].updated_at,
    })
    expect(updated?.['data']).toEqual(asNotice(final))
    const stored = await api.sql(
      `select type, pg_column_size(data) as whole, pg_column_size(former_values) as former, previous_data from outbox
       where object_id = $1 order by seq`,
      [invoice['id']],
    )
    const [told, last] = stored.slice(-2)
    expect(told).toMatchObject({ type: 'INVOICE.UPDATED', whole: null, previous_data: null })
    expect(last).toMatchObject({ type: 'INVOICE.STATUS_TO_FINAL', former: null })
    expect(told?.['former']).toBeLessThan(last?.['whole'] / 2)
  })

  test('numbers of invoices finalized in parallel, some of which fail, have no gap', async () => {
    const tenant = api.tenants.aTest
    const drafts = await Promise.all(Array.from({ length: 6 }, () => draftInvoice(tenant)))
    const failing = { ...deps, failpoint: createFailpoints('invoices.before-commit:error') }
    const finalize = (which: BillingDeps, id: string) =>
      finalizeInvoice(
        { ...which, producers: invoiceProducers(which) },
        { tenant: tenant.tenant, actor: ACTOR, id: idOf('invo', id) },
      )
    const attempts = await Promise.allSettled(
      drafts.flatMap(({ invoice }) => [finalize(failing, invoice['id']), finalize(deps, invoice['id'])]),
    )
    expect(attempts.filter(attempt => attempt.status === 'fulfilled').length).toBeGreaterThanOrEqual(6)
    const rows = await api.sql(
      `select invoice_number as number from invoices where platform_id = $1 and environment = 'TEST' and status = 'FINAL' order by 1`,
      [tenant.tenant.platformId],
    )
    const numbers = rows.map(row => Number(row['number'].slice(-5)))
    expect(numbers).toEqual(numbers.map((_, index) => index + 1))
    expect(numbers.length).toBeGreaterThanOrEqual(6)
  })

  test('a crash before the commit leaves a DRAFT without a number', async () => {
    const tenant = api.tenants.aLive
    const { invoice } = await draftInvoice(tenant)
    const failing = { ...deps, failpoint: createFailpoints('invoices.before-commit:error') }
    await expect(
      finalizeInvoice(
        { ...failing, producers: invoiceProducers(failing) },
        { tenant: tenant.tenant, actor: ACTOR, id: invoice['id'] },
      ),
    ).rejects.toThrow('failpoint')
    expect(await succeed(tenant, 'GET', `/v1/invoices/${invoice['id']}`)).toMatchObject(invoice)
  })

  test('a FINAL invoice cannot be changed by a call nor by SQL, only its payment can', async () => {
    const tenant = api.tenants.bLive
    const { invoice } = await draftInvoice(tenant)
    const url = `/v1/invoices/${invoice['id']}`
    const final = await succeed(tenant, 'PATCH', url, { status: 'FINAL' })
    expect(final).toMatchObject({
      status: 'FINAL',
      payment_status: 'UNPAID',
      open_invoice_amount: { quantity: '0.06', currency: 'EUR' },
    })
    expect((await tenant.call('PATCH', url, { on_hold: true })).body).toMatchObject({
      code: 'INVALID_OPERATION',
      field: 'on_hold',
    })
    expect((await tenant.call('POST', `${url}/refresh`, { types: ['FULL'] })).body).toMatchObject({
      code: 'INVALID_OPERATION',
    })
    for (const change of [
      `amount_including_tax = 1, amount_excluding_tax = 1, tax_amount = 0`,
      `content = '{}'`,
      `status = 'VOID'`,
    ]) {
      await expect(api.sql(`update invoices set ${change} where id = $1`, [invoice['id']])).rejects.toThrow(
        'cannot change',
      )
    }
    await expect(api.sql('delete from invoices where id = $1', [invoice['id']])).rejects.toThrow('cannot change')
    const paid = await succeed(tenant, 'PATCH', url, { payment_status: 'PAID', paid: true })
    expect(paid).toMatchObject({
      paid: true,
      open_invoice_amount: { quantity: '0.00' },
      paid_invoice_amount: { quantity: '0.06' },
    })
    expect((await eventsOf(invoice['id'])).at(-1)?.['type']).toBe('INVOICE.PAID')
    expect(await succeed(tenant, 'PATCH', url, { paid: false })).toMatchObject({ payment_status: 'UNPAID' })
    // Late usage and a second finalization do not change it.
    expect((await succeed(tenant, 'PATCH', url, { status: 'FINAL' }))['periods']).toEqual(final['periods'])
  })

  test('what may not be patched is refused by name', async () => {
    const tenant = api.tenants.bLive
    const { billed, invoice } = await draftInvoice(tenant)
    const url = `/v1/invoices/${invoice['id']}`
    const refused = async (body: unknown) => (await tenant.call('PATCH', url, body)).body
    expect(await refused({ payment_status: 'PAID' })).toMatchObject({
      code: 'INVALID_OPERATION',
      field: 'payment_status',
    })
    expect(await refused({ payment_status: 'OVERPAID' })).toMatchObject({
      code: 'INVALID_FIELD',
      field: 'payment_status',
    })
    expect(await refused({ payment_status: 'PARTIALLY_PAID' })).toMatchObject({
      code: 'INVALID_FIELD',
      field: 'payment_status',
    })
    expect(await refused({ payment_status: 'PAID', paid: false })).toMatchObject({
      code: 'INVALID_FIELD',
      field: 'paid',
    })
    expect(await refused({ status: 'DRAFT' })).toMatchObject({ code: 'INVALID_FIELD', field: 'status' })
    expect(await refused({ note: 'x' })).toMatchObject({ code: 'INVALID_FIELD', field: 'note' })
    const open = (await invoicesOf(tenant, billed)).find(each => each['status'] === 'OPEN')
    const early = await tenant.call('PATCH', `/v1/invoices/${open?.['id']}`, { status: 'FINAL' })
    expect([early.status, early.body['code']]).toEqual([400, 'INVALID_OPERATION'])
  })

  test('an invoice on hold stays DRAFT; its release restarts the grace period', async () => {
    const tenant = api.tenants.bLive
    const { billed, invoice } = await draftInvoice(tenant)
    const url = `/v1/invoices/${invoice['id']}`
    expect(await succeed(tenant, 'PATCH', url, { on_hold: true })).toMatchObject({ on_hold: true, finalize_at: null })
    setTime('2026-04-05T00:00:00Z')
    await run(tenant, billed)
    expect(await succeed(tenant, 'GET', url)).toMatchObject({ status: 'DRAFT', on_hold: true })
    expect(await succeed(tenant, 'PATCH', url, { on_hold: false })).toMatchObject({
      finalize_at: '2026-04-05T08:00:00Z',
    })
    setTime('2026-04-05T08:00:00Z')
    await run(tenant, billed)
    expect(await succeed(tenant, 'GET', url)).toMatchObject({ status: 'FINAL', on_hold: false })
  })

  test('while usage is still being counted it answers 503 with Retry-After', async () => {
    const tenant = api.tenants.bLive
    const { invoice } = await draftInvoice(tenant)
    complete = false
    try {
      const answer = await tenant.call('PATCH', `/v1/invoices/${invoice['id']}`, { status: 'FINAL' })
      expect([answer.status, answer.headers['retry-after']]).toEqual([503, '5'])
    } finally {
      complete = true
    }
  })

  test('a sale inside the US without a percentage cannot become FINAL, by hand or by itself', async () => {
    const tenant = api.tenants.bTest
    const { billed, invoice } = await draftInvoice(tenant)
    const { billing_entity_id } = await succeed(tenant, 'GET', `/v1/invoices/${invoice['id']}`)
    const registered_address = { country: 'US', state: 'NY' }
    await succeed(tenant, 'PATCH', `/v1/billing-entities/${billing_entity_id}`, { registered_address })
    await succeed(tenant, 'PATCH', `/v1/customers/${billed.customerId}`, { organization: { registered_address } })
    const answer = await tenant.call('PATCH', `/v1/invoices/${invoice['id']}`, { status: 'FINAL' })
    expect(answer.body['message']).toContain('sales_tax_percentage')
    setTime('2026-04-02T00:00:00Z')
    await run(tenant, billed)
    const kept = await succeed(tenant, 'GET', `/v1/invoices/${invoice['id']}`)
    expect(kept).toMatchObject({ status: 'DRAFT', validation_result: [{ status: 'ERROR' }] })
    const subscription = `/v1/pricing-plan-subscriptions/${billed.subscriptionId}`
    await succeed(tenant, 'PATCH', subscription, { sales_tax_percentage: '8' })
    const final = await succeed(tenant, 'PATCH', `/v1/invoices/${invoice['id']}`, { status: 'FINAL' })
    expect(final).toMatchObject({ status: 'FINAL', sales_tax_percentage: '8' })
  })

  test('a subscription between two parties in the US is not activated without a percentage', async () => {
    const tenant = api.tenants.bTest
    const billed = await subscribe(tenant, { fee: '100', activate: false })
    const subscription = `/v1/pricing-plan-subscriptions/${billed.subscriptionId}`
    const { billing_entity_id } = await succeed(tenant, 'GET', subscription)
    const registered_address = { country: 'US', state: 'NY' }
    await succeed(tenant, 'PATCH', `/v1/billing-entities/${billing_entity_id}`, { registered_address })
    await succeed(tenant, 'PATCH', `/v1/customers/${billed.customerId}`, { organization: { registered_address } })
    const { status, body } = await tenant.call('PATCH', subscription, { status: 'ACTIVE' })
    expect([status, body['code'], body['field']]).toEqual([400, 'MISSING_FIELD', 'sales_tax_percentage'])
    expect((await succeed(tenant, 'GET', subscription))['status']).toBe('DRAFT')
    await succeed(tenant, 'PATCH', subscription, { status: 'ACTIVE', sales_tax_percentage: '0' })
  })
})

describe('reading', () => {
  test('a preview of a DRAFT subscription is the invoice that follows, and saves nothing', async () => {
    const tenant = api.tenants.aLive
    setTime('2026-03-20T00:00:00Z')
    const billed = await subscribe(tenant, { fee: '100', activate: false })
    await useTokens(client, tenant, { billed, tokens: '3450', timestamp: '2026-03-15 12:00:00.000' })
    const body = { pricing_plan_subscription_id: billed.subscriptionId, invoices_per_schedule: 2 }
    const preview = await succeed(tenant, 'POST', '/v1/invoices/preview', body)
    expect(await invoicesOf(tenant, billed)).toEqual([])
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${billed.subscriptionId}`, { status: 'ACTIVE' })
    await run(tenant, billed)
    const [first, open] = await invoicesOf(tenant, billed)
    const [info] = preview['invoice_infos']
    for (const [seen, real] of [
      [preview['first_invoice'], first],
      [info.invoices[1], open],
    ]) {
      for (const name of [
        'periods',
        'tax_categories',
        'tax_summary',
        'invoice_amount_including_tax',
        'invoice_date',
        'due_date',
      ]) {
        expect(seen[name]).toEqual(real[name])
      }
    }
  })

  test('a refresh computes a DRAFT from usage that came since', async () => {
    const tenant = api.tenants.aLive
    const { billed, invoice } = await draftInvoice(tenant)
    await useTokens(client, tenant, { billed, tokens: '1000000', timestamp: '2026-03-20 00:00:00.000' })
    const fresh = await succeed(tenant, 'POST', `/v1/invoices/${invoice['id']}/refresh`, { types: ['FULL'] })
    expect(fresh['tax_summary'].base_amount.quantity).toBe('15.05')
    const wrong = await tenant.call('POST', `/v1/invoices/${invoice['id']}/refresh`, { types: ['NOTHING'] })
    expect(wrong.body['code']).toBe('INVALID_FIELD')
  })

  test('lists filter, page and leave out what was not requested', async () => {
    const tenant = api.tenants.bTest
    const { billed } = await draftInvoice(tenant)
    const get = (query: string) => succeed(tenant, 'GET', `/v1/invoices?customer_id=${billed.customerId}${query}`)
    const bare = (await get(''))['data']
    expect(bare).toHaveLength(2)
    expect(bare[0]).not.toHaveProperty('periods')
    const periods = (await get('&include_periods=true'))['data']
    expect(periods[0]['periods'][0]?.groups[0] ?? {}).not.toHaveProperty('lines')
    expect((await get('&statuses[]=DRAFT'))['data']).toHaveLength(1)
    expect((await get('&statuses[]=DRAFT&statuses[]=OPEN'))['data']).toHaveLength(2)
    expect((await get('&on_hold=true'))['data']).toEqual([])
    expect((await get('&paid=false'))['data']).toHaveLength(2)
    expect((await get('&invoice_date=[2026-03-31T00:00:00Z,2026-03-31T00:00:00Z]'))['data']).toHaveLength(1)
    expect((await get('&invoice_date=[2026-04-01T00:00:00Z,]'))['data']).toHaveLength(1)
    const pages = await Promise.all([get('&limit=1&page=1'), get('&limit=1&page=2')])
    expect(new Set(pages.map(page => page['data'][0]['id'])).size).toBe(2)
    const found = await succeed(tenant, 'POST', '/v1/invoices/search', {
      filter_fields: [
        { name: 'customer_id', value: billed.customerId },
        { name: 'invoice_date', value: '[2026-01-01T00:00:00Z,2026-03-31T23:59:59Z]' },
      ],
    })
    expect(found['data']).toHaveLength(1)
    const unknown = await tenant.call('POST', '/v1/invoices/search', {
      filter_fields: [{ name: 'content', value: 'x' }],
    })
    expect(unknown.body).toMatchObject({ code: 'INVALID_FIELD', field: 'filter_fields.0.name' })
  })

  test('the PDF has the number, and is the same file every time', async () => {
    const tenant = api.tenants.aLive
    const { invoice } = await draftInvoice(tenant)
    await succeed(tenant, 'PATCH', `/v1/invoices/${invoice['id']}`, { status: 'FINAL' })
    const fetch = () =>
      api.app.inject({ method: 'GET', url: `/v1/invoices/${invoice['id']}/pdf`, headers: { 'x-api-key': tenant.key } })
    const [first, second] = [await fetch(), await fetch()]
    expect([first.statusCode, first.headers['content-type']]).toEqual([200, 'application/pdf'])
    expect(first.headers['content-disposition']).toMatch(/^inline; filename="INV-2026-[0-9]{5}\.pdf"$/)
    expect(first.rawPayload.subarray(0, 5).toString()).toBe('%PDF-')
    expect(first.rawPayload.equals(second.rawPayload)).toBe(true)
  })

  test("another tenant's invoice does not exist", async () => {
    const { invoice } = await draftInvoice(api.tenants.aLive)
    for (const tenant of [api.tenants.aTest, api.tenants.bLive]) {
      for (const [method, path, body] of [
        ['GET', '', undefined],
        ['GET', '/pdf', undefined],
        ['PATCH', '', { status: 'FINAL' }],
        ['POST', '/refresh', { types: ['FULL'] }],
      ] as const) {
        expect((await tenant.call(method, `/v1/invoices/${invoice['id']}${path}`, body)).status).toBe(404)
      }
    }
  })
})
