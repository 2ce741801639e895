// Reprocessing through the API and its job: OPEN and DRAFT invoices follow current usage, FINAL ones never change, and
// an interrupted run continues where it stopped. The test supplies the usage figures.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { decimal } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { instantOf } from '../../../../shared/time.ts'
import { expectPayloads } from '../../../testing/event-payloads.ts'
import { type ApiHarness, startOwnApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { invoiceProducers } from '../../modules.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import { runBilling } from '../run/run-billing.ts'
import { type Billed, billedSubscription, succeed } from '../testing/billed-subscription.ts'
import { NO_USAGE } from '../testing/no-usage.ts'
import type { UsageReader } from '../usage/usage-reader.ts'
import { type ReprocessDeps, runReprocess } from './run-reprocess.ts'

const NOW = '2026-03-20T00:00:00Z'
let api: ApiHarness
let tenant: TestTenant
let deps: BillingDeps
/** Tokens that every customer has used, and by customer what replaces that figure. */
let tokens: string
let faults: Map<string, Error>
let complete: boolean
let upToDate: () => Promise<number>

const usage: UsageReader = {
  ...NO_USAGE,
  read: async (_tenant, parts) => {
    const fault = parts.flatMap(part => part.customerKeys.map(key => faults.get(key))).find(Boolean)
    if (fault) throw fault
    return [{ currency: null, number: decimal(tokens), count: 1 }]
  },
  settle: async () => complete,
  upToDateUntil: async () => instantOf(await upToDate()),
}

beforeAll(async () => {
  api = await startOwnApi({ usage })
  tenant = api.tenants.aLive
  deps = { database: api.database, usage }
})
afterAll(() => api?.close())
beforeEach(async () => {
  api.clock.set(Date.parse(NOW))
  tokens = '1000000'
  faults = new Map()
  complete = true
  upToDate = async () => Date.parse(NOW)
  // Ignore what earlier tests left behind.
  await api.sql('truncate reprocess_items, reprocesses')
  await api.sql(`update invoices set to_be_reprocessed_at = null where status <> 'FINAL'`)
})

/** A subscription since March 1 with the OPEN invoice of March, worth 15.00. */
async function billed(): Promise<Billed & { invoice: string }> {
  const made = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z' })
  await runBilling(deps, tenant.tenant, made.subscriptionId)
  const url = `/v1/invoices?pricing_plan_subscription_id=${made.subscriptionId}`
  const [invoice]: Row[] = (await succeed(tenant, 'GET', url))['data']
  return { ...made, invoice: invoice?.['id'] }
}
const invoiceOf = (id: string) => succeed(tenant, 'GET', `/v1/invoices/${id}`)
const amountOf = async (id: string) => (await invoiceOf(id))['invoice_amount_excluding_tax'].quantity
const create = (body: object) => succeed(tenant, 'POST', '/v1/reprocess', body)
const read = (id: string) => succeed(tenant, 'GET', `/v1/reprocess/${id}`)
const withProducers = (of: BillingDeps): ReprocessDeps => ({ ...of, producers: invoiceProducers(of) })
const run = (id: string, more: { last?: boolean; deps?: Partial<BillingDeps> } = {}) =>
  runReprocess(withProducers({ ...deps, ...more.deps }), { tenant: tenant.tenant, id, last: more.last ?? false })
const ofCustomer = (of: Pick<Billed, 'customerId'>, more: object = {}) => ({
  type: 'CUSTOMER',
  customer: { customer_id: of.customerId, ...more },
})
const finalize = async (of: Billed & { invoice: string }) => {
  api.clock.set(Date.parse('2026-04-02T00:00:00Z'))
  await runBilling(deps, tenant.tenant, of.subscriptionId)
  expect((await invoiceOf(of.invoice))['status']).toBe('FINAL')
}

describe('a reprocess', () => {
  test('of a customer marks its invoices, computes them again, and leaves those of others', async () => {
    const [own, other] = [await billed(), await billed()]
    tokens = '2000000'
    const made = await create(ofCustomer(own))
    expect(made).toMatchObject({
      object_type: 'REPROCESS',
      type: 'CUSTOMER',
      status: 'SCHEDULED',
      percentage: 0,
      automatic: false,
      customer: { customer_id: own.customerId },
      invoice: null,
      not_matched: null,
      scheduled_at: NOW,
      finished_at: null,
    })
    expect(await invoiceOf(own.invoice)).toMatchObject({
      ...{ to_be_reprocessed: true, to_be_reprocessed_at: NOW },
      reprocess: { to_be_reprocessed_at: NOW, reprocess_status: 'SCHEDULED', reprocess_id: made['id'] },
      meter_values: [{ object_type: 'METER_VALUE', name: 'Tokens' }],
    })
    expect(await invoiceOf(other.invoice)).not.toHaveProperty('reprocess')
    expect(await invoiceOf(other.invoice)).toMatchObject({ to_be_reprocessed: false, to_be_reprocessed_at: null })
    await run(made['id'])
    expect(await read(made['id'])).toMatchObject({ status: 'DONE', percentage: 100, message: null, finished_at: NOW })
    expect(await amountOf(own.invoice)).toBe('30.00')
    expect(await amountOf(other.invoice)).toBe('15.00')
    expect(await invoiceOf(own.invoice)).toMatchObject({ to_be_reprocessed: false, to_be_reprocessed_at: null })
    const events = await api.sql('select type, data from outbox where object_id = $1 order by seq', [made['id']])
    expect(events.map(event => [event['type'], event['data'].status])).toEqual([
      ['REPROCESS.CREATED', 'SCHEDULED'],
      ['REPROCESS.UPDATED', 'IN_PROGRESS'],
      ['REPROCESS.UPDATED', 'DONE'],
    ])
    await expectPayloads(api, made['id'], ['REPROCESS.UPDATED'])
    // The reprocess has ended: running its job again does nothing.
    tokens = '3000000'
    await run(made['id'])
    expect(await amountOf(own.invoice)).toBe('30.00')
    const expanded = await succeed(tenant, 'GET', `/v1/reprocess/${made['id']}?expand[]=customer`)
    expect(expanded['customer']).toMatchObject({ customer: { object_type: 'CUSTOMER', id: own.customerId } })
  })

  test('of unmatched usage takes every customer, or one; of an invoice only that one', async () => {
    const [first, second] = [await billed(), await billed()]
    tokens = '2000000'
    const one = await create({ type: 'NOT_MATCHED', not_matched: { customer_id: first.customerId } })
    await run(one['id'])
    expect([await amountOf(first.invoice), await amountOf(second.invoice)]).toEqual(['30.00', '15.00'])
    const single = await create({ type: 'INVOICE', invoice: { invoice_id: second.invoice } })
    await run(single['id'])
    expect([await amountOf(first.invoice), await amountOf(second.invoice)]).toEqual(['30.00', '30.00'])
    tokens = '4000000'
    const all = await create({ type: 'NOT_MATCHED' })
    await run(all['id'])
    expect([await amountOf(first.invoice), await amountOf(second.invoice)]).toEqual(['60.00', '60.00'])
    const listed = async (query: string) =>
      (await succeed(tenant, 'GET', `/v1/reprocess?${query}`))['data'].map((row: Row) => row['id'])
    expect((await listed('type=NOT_MATCHED')).toSorted()).toEqual([one['id'], all['id']].toSorted())
    expect(await listed('type=INVOICE&status=DONE')).toEqual([single['id']])
    expect(await listed('status=ERROR')).toEqual([])
  })

  test('never changes a FINAL invoice, and skips one that closes before its turn', async () => {
    const [closed, open, closing] = [await billed(), await billed(), await billed()]
    await finalize(closed)
    const refused = await tenant.call('POST', '/v1/reprocess', {
      type: 'INVOICE',
      invoice: { invoice_id: closed.invoice },
    })
    expect([refused.status, refused.body['code'], refused.body['field']]).toEqual([
      400,
      'INVALID_OPERATION',
      'invoice.invoice_id',
    ])
    const final = await invoiceOf(closed.invoice)
    tokens = '2000000'
    const made = await create({ type: 'NOT_MATCHED' })
    let items = 0
    const failpoint = async (name: string) => {
      if (name === 'reprocess.after-item') items += 1
      if (name === 'reprocess.after-item' && items === 1) await finalizeRest()
    }
    const finalizeRest = async () => {
      for (const each of [open, closing]) {
        const [item] = await api.sql('select status from reprocess_items where invoice_id = $1', [each.invoice])
        if (item?.['status'] === 'SCHEDULED') await runBilling(deps, tenant.tenant, each.subscriptionId)
      }
    }
    await run(made['id'], { deps: { failpoint } })
    expect(await invoiceOf(closed.invoice)).toEqual(final)
    expect(await read(made['id'])).toMatchObject({ status: 'DONE', percentage: 100 })
    const skipped = await api.sql(
      `select v.status, v.to_be_reprocessed_at as marked from reprocess_items i join invoices v on v.id = i.invoice_id where i.status = 'SKIPPED'`,
    )
    expect(skipped).toContainEqual({ status: 'FINAL', marked: null })
  })

  test('a range leaves out what ends before it and what starts after it', async () => {
    const own = await billed()
    const marked = async (start_at: string, end_at: string) => {
      await api.sql(`update invoices set to_be_reprocessed_at = null where status <> 'FINAL'`)
      await create(ofCustomer(own, { start_at, end_at }))
      return (await invoiceOf(own.invoice))['to_be_reprocessed']
    }
    const { period_start: start } = await invoiceOf(own.invoice)
    const later = start.replace(':00Z', ':01Z')
    expect(await marked('2026-04-01T00:00:00Z', '2026-07-01T00:00:00Z')).toBe(false)
    expect(await marked('2026-03-31T23:59:59Z', '2026-07-01T00:00:00Z')).toBe(true)
    expect(await marked('2025-01-01T00:00:00Z', start)).toBe(false)
    expect(await marked('2025-01-01T00:00:00Z', later)).toBe(true)
    // A price that rates time before the period of its invoice is reached there.
    await api.sql('update invoices set usage_from = $2 where id = $1', [own.invoice, '2026-01-01T00:00:00Z'])
    expect(await marked('2025-01-01T00:00:00Z', start)).toBe(true)
    expect(await marked('2025-01-01T00:00:00Z', '2026-01-01T00:00:00Z')).toBe(false)
  })

  test('a range of closed time reaches only the invoice that takes late usage', async () => {
    const own = await billed()
    await finalize(own)
    await runBilling(deps, tenant.tenant, own.subscriptionId)
    const url = `/v1/invoices?pricing_plan_subscription_id=${own.subscriptionId}`
    const ids = async () => (await succeed(tenant, 'GET', url))['data'].map((row: Row) => [row['status'], row['id']])
    await create(ofCustomer(own, { start_at: '2026-03-02T00:00:00Z', end_at: '2026-03-03T00:00:00Z' }))
    for (const [status, id] of await ids())
      expect([status, (await invoiceOf(id))['to_be_reprocessed']]).toEqual([status, status === 'OPEN'])
  })

  test('of a customer reaches the parents that are billed for its usage, and a change of parents starts one', async () => {
    const [parent, other, stranger] = [await billed(), await billed(), await billed()]
    const body = { reference: tenant.seed.unique('child'), type: 'INDIVIDUAL', roles: ['PROCESSING_ONLY'] }
    const reprocessed = async (): Promise<boolean[]> =>
      await Promise.all(
        [parent, other, stranger].map(async ({ invoice }) => (await invoiceOf(invoice))['to_be_reprocessed'] === true),
      )
    const clear = async () => {
      await api.sql('truncate reprocess_items, reprocesses')
      await api.sql(`update invoices set to_be_reprocessed_at = null where status <> 'FINAL'`)
    }
    const child = await succeed(tenant, 'POST', '/v1/customers', { ...body, parent_customer_ids: [parent.customerId] })
    expect(await reprocessed()).toEqual([true, false, false])
    await clear()
    await create(ofCustomer({ customerId: child['id'] }))
    expect(await reprocessed()).toEqual([true, false, false])
    await clear()
    const path = `/v1/customers/${child['id']}`
    await succeed(tenant, 'PATCH', path, { parent_customer_ids: [other.customerId] })
    expect(await reprocessed()).toEqual([true, true, false])
    await clear()
    await succeed(tenant, 'PATCH', path, { email: 'child@example.com' })
    expect(await reprocessed()).toEqual([false, false, false])
    const filters = [{ field: 'PRICING_PLAN_REFERENCE', type: 'EQUALS', value: 'gold' }]
    const selector = { pricing_plan_subscription_selector: { filters } }
    await succeed(tenant, 'PATCH', `/v1/customers/${stranger.customerId}`, selector)
    expect(await reprocessed()).toEqual([false, false, true])
  })

  test('that is stopped half-way shows its progress, and continues there', async () => {
    const some = [await billed(), await billed(), await billed(), await billed()]
    tokens = '2000000'
    const made = await create({ type: 'NOT_MATCHED' })
    const others = await api.sql(`select count(*)::int as n from invoices where status in ('OPEN', 'DRAFT')`)
    const total: number = others[0]?.['n']
    let left = 2
    const failpoint = async (name: string) => {
      if (name === 'reprocess.after-item') left -= 1
      if (left === 0) throw new Error('killed')
    }
    await expect(run(made['id'], { deps: { failpoint } })).rejects.toThrow('killed')
    const percentage = Math.floor(200 / total)
    expect(await read(made['id'])).toMatchObject({ status: 'IN_PROGRESS', percentage })
    const facts = await succeed(tenant, 'GET', `/v1/platforms/${tenant.tenant.platformId}/up-to-date`)
    expect(facts).toMatchObject({
      invoices_to_be_reprocessed: total - 2,
      reprocess: { in_progress: true, in_error: false, items_scheduled: total - 2 },
    })
    const done = await api.sql(`select invoice_id from reprocess_items where status = 'DONE'`)
    tokens = '3000000'
    await run(made['id'])
    expect(await read(made['id'])).toMatchObject({ status: 'DONE', percentage: 100 })
    // The invoices done before the stop were not computed again.
    for (const { invoice } of some) {
      const before = done.some(row => row['invoice_id'] === invoice)
      expect(await amountOf(invoice)).toBe(before ? '30.00' : '45.00')
    }
  })

  test('waits for accepted usage; when it never arrives the last try ends the reprocess', async () => {
    const own = await billed()
    tokens = '2000000'
    complete = false
    const made = await create(ofCustomer(own))
    await expect(run(made['id'])).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(await read(made['id'])).toMatchObject({ status: 'IN_PROGRESS', percentage: 0 })
    await expect(run(made['id'], { last: true })).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(await read(made['id'])).toMatchObject({ status: 'ERROR', percentage: 0, finished_at: NOW })
    expect((await read(made['id']))['message']).toMatch(/usage/)
    expect(await invoiceOf(own.invoice)).toMatchObject({
      to_be_reprocessed: false,
      invoice_amount_excluding_tax: { quantity: '15.00' },
    })
    const { reprocess } = await succeed(tenant, 'GET', `/v1/platforms/${tenant.tenant.platformId}/up-to-date`)
    expect(reprocess).toMatchObject({ in_progress: false, in_error: true })
  })

  test('an invoice that cannot be computed is named, and delays no other', async () => {
    const [broken, sound] = [await billed(), await billed()]
    tokens = '2000000'
    faults.set(broken.customerId, new AppError('INVALID_OPERATION', 'The price cannot be read.'))
    const made = await create({ type: 'NOT_MATCHED' })
    await run(made['id'])
    const ended = await read(made['id'])
    expect(ended).toMatchObject({ status: 'ERROR', percentage: 100 })
    expect(ended['message']).toBe(`1 could not be computed; ${broken.invoice}: The price cannot be read.`)
    expect([await amountOf(broken.invoice), await amountOf(sound.invoice)]).toEqual(['15.00', '30.00'])
  })

  test('starts after the delay of the platform', async () => {
    const own = await billed()
    const url = `/v1/platforms/${tenant.tenant.platformId}`
    const settings = { reprocessing_settings: { default_delay: { type: 'MINUTE', value: 90 } } }
    expect(await succeed(tenant, 'PATCH', url, settings)).toMatchObject(settings)
    const made = await create(ofCustomer(own))
    expect(made['scheduled_at']).toBe('2026-03-20T01:30:00Z')
    expect((await invoiceOf(own.invoice))['to_be_reprocessed_at']).toBe('2026-03-20T01:30:00Z')
    await succeed(tenant, 'PATCH', url, { reprocessing_settings: null })
    const refused = await tenant.call('PATCH', url, {
      reprocessing_settings: { default_delay: { type: 'DAY', value: 1 } },
    })
    expect(refused.body).toMatchObject({ code: 'INVALID_FIELD', field: 'reprocessing_settings.default_delay.type' })
  })

  test('is started by a new end of a live schedule, once for any number of changes', async () => {
    const own = await billed()
    const { data } = await succeed(
      tenant,
      'GET',
      `/v1/pricing-plan-schedules?pricing_plan_subscription_id=${own.subscriptionId}`,
    )
    const url = `/v1/pricing-plan-schedules/${data[0].id}`
    for (const end_at of ['2026-06-01T00:00:00Z', '2026-05-01T00:00:00Z'])
      await succeed(tenant, 'PATCH', url, { end_at })
    await succeed(tenant, 'PATCH', url, { end_at: '2026-05-01T00:00:00Z' })
    const { data: waiting } = await succeed(tenant, 'GET', '/v1/reprocess')
    expect(waiting).toMatchObject([
      {
        type: 'CUSTOMER',
        automatic: true,
        status: 'SCHEDULED',
        customer: { customer_id: own.customerId },
        scheduled_at: '2026-03-20T00:00:10Z',
      },
    ])
  })

  test('is started by the next schedule when it ends the live one', async () => {
    const own = await billed()
    const of = `pricing_plan_subscription_id=${own.subscriptionId}`
    const { data } = await succeed(tenant, 'GET', `/v1/pricing-plan-schedules?${of}`)
    await succeed(tenant, 'POST', '/v1/pricing-plan-schedules?set_previous_end_at=true', {
      pricing_plan_subscription_id: own.subscriptionId,
      pricing_plan_version_id: data[0].pricing_plan_version_id,
      start_at: '2026-03-25T00:00:00Z',
    })
    const { data: waiting } = await succeed(tenant, 'GET', '/v1/reprocess')
    expect(waiting).toMatchObject([{ type: 'CUSTOMER', automatic: true, customer: { customer_id: own.customerId } }])
  })
})

describe('what is refused', () => {
  test.each<[string, object, string, string]>([
    ['no type', {}, 'MISSING_FIELD', 'type'],
    ['another type', { type: 'ALL' }, 'INVALID_FIELD', 'type'],
    ['CUSTOMER without a customer', { type: 'CUSTOMER' }, 'MISSING_FIELD', 'customer'],
    ['INVOICE without an invoice', { type: 'INVOICE' }, 'MISSING_FIELD', 'invoice'],
    ['the part of another type', { type: 'NOT_MATCHED', customer: { customer_id: 'x' } }, 'INVALID_FIELD', 'customer'],
    [
      'a customer that is not there',
      { type: 'CUSTOMER', customer: { customer_id: 'cust_x' } },
      'RESOURCE_NOT_FOUND',
      'customer.customer_id',
    ],
    [
      'an invoice that is not there',
      { type: 'INVOICE', invoice: { invoice_id: 'invo_x' } },
      'RESOURCE_NOT_FOUND',
      'invoice.invoice_id',
    ],
    [
      'a range that ends before it starts',
      { type: 'NOT_MATCHED', not_matched: { start_at: '2026-03-02T00:00:00+01:00', end_at: '2026-03-01T23:00:00Z' } },
      'INVALID_FIELD',
      'not_matched.end_at',
    ],
    ['a status', { type: 'NOT_MATCHED', status: 'DONE' }, 'INVALID_FIELD', 'status'],
    ['automatic', { type: 'NOT_MATCHED', automatic: true }, 'INVALID_FIELD', 'automatic'],
  ])('%s', async (_name, body, code, field) => {
    const answer = await tenant.call('POST', '/v1/reprocess', body)
    expect([answer.body['code'], answer.body['field']]).toEqual([code, field])
  })
})

describe('GET /v1/platforms/{id}/up-to-date', () => {
  const url = () => `/v1/platforms/${tenant.tenant.platformId}/up-to-date`

  test('says until when usage is counted, and how many invoices of how many customers wait', async () => {
    upToDate = async () => Date.parse('2026-03-19T23:59:58Z')
    expect(await succeed(tenant, 'GET', url())).toEqual({
      timestamp: NOW,
      event_processing_up_to_date_until: '2026-03-19T23:59:58Z',
      invoices_to_be_reprocessed: 0,
      customers_to_be_reprocessed: 0,
      reprocess: { in_progress: false, in_error: false, items_scheduled: 0 },
      billing: expect.objectContaining({ in_progress: false, in_error: false, subscriptions_in_error: 0 }),
    })
    for (const each of [await billed(), await billed()]) await create(ofCustomer(each))
    expect(await succeed(tenant, 'GET', url())).toMatchObject({
      invoices_to_be_reprocessed: 2,
      customers_to_be_reprocessed: 2,
    })
    expect((await succeed(api.tenants.aTest, 'GET', url()))['invoices_to_be_reprocessed']).toBe(0)
  })

  test('says how many subscriptions are due to be billed, and which of them a run left', async () => {
    const facts = async (by = tenant) =>
      (await succeed(by, 'GET', `/v1/platforms/${by.tenant.platformId}/up-to-date`))['billing']
    const set = (id: string, due: string | null, claim: string | null) =>
      api.sql('update pricing_plan_subscriptions set next_billing_at = $2, billing_claimed_until = $3 where id = $1', [
        id,
        due,
        claim,
      ])
    const before = await facts()
    const [waiting, held, left, later] = [await billed(), await billed(), await billed(), await billed()]
    const [past, future] = ['2026-03-01T00:00:00Z', '2026-03-20T12:01:00Z']
    await set(waiting.subscriptionId, past, null)
    await set(held.subscriptionId, '2026-02-28T00:00:00Z', future)
    await set(left.subscriptionId, past, past)
    await set(later.subscriptionId, '2027-01-01T00:00:00Z', null)
    expect(await facts()).toMatchObject({
      in_progress: true,
      in_error: true,
      subscriptions_due: before.subscriptions_due + 3,
      subscriptions_in_error: 1,
      oldest_due_at: '2026-02-28T00:00:00Z',
    })
    expect(await facts(api.tenants.aTest)).toMatchObject({ subscriptions_in_error: 0, in_error: false })
    for (const each of [waiting, held, left]) await set(each.subscriptionId, null, null)
    expect(await facts()).toEqual(before)
  })

  test('of another platform is 404; while usage cannot be read it is 503', async () => {
    expect((await api.tenants.bLive.call('GET', url())).body).toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
    upToDate = () => Promise.reject(new Error('away'))
    const answer = await tenant.call('GET', url())
    expect([answer.status, answer.body['code']]).toEqual([503, 'SERVICE_UNAVAILABLE'])
  })
})
