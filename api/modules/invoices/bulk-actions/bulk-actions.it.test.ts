// Bulk actions: check, creation, two workers at once, a worker that is killed, and the result of each invoice.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { idOf } from '../../../../shared/ids.ts'
import { expectPayloads } from '../../../testing/event-payloads.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { noticesOf } from '../../../testing/notices.ts'
import type { Row } from '../../../testing/wire.ts'
import { succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import { invoiceProducers } from '../../modules.ts'
import { billingEntityResource } from '../../parties/billing-entities/billing-entity.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { type BulkDeps, runBulkAction } from './run-bulk-action.ts'

let api: ApiHarness
let tenant: TestTenant
let deps: BulkDeps
let parties: { customer_id: string; billing_entity_id: string }
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.bLive
  deps = { database: api.database, producers: invoiceProducers({ database: api.database, usage: NO_USAGE }) }
  parties = {
    customer_id: (await tenant.seed.make(customerResource)).id,
    billing_entity_id: (await tenant.seed.make(billingEntityResource)).id,
  }
})
afterAll(() => api?.close())

const BAND = { amount: { quantity: '450', currency: 'EUR' } }
const LINE = { pricing_name: 'Workshop', pricing_type: 'FIXED', pricing_band: BAND }
const draftOn = async (day: string, more: object = {}): Promise<string> =>
  (
    await succeed(tenant, 'POST', '/v1/invoices', {
      ...parties,
      lines: [LINE],
      invoice_date: `${day}T00:00:00Z`,
      ...more,
    })
  )['id']
const actionOn = (day: string) => ({ type: 'FINALIZE_INVOICES', finalize_invoices: { invoice_date: day } })
const itemsOf = async (id: string, query = ''): Promise<Row[]> =>
  (await succeed(tenant, 'GET', `/v1/bulk-actions/${id}/items?order_direction=asc${query}`))['data']
const runOf = (id: string, more: Partial<BulkDeps> = {}) =>
  runBulkAction({ ...deps, ...more }, { tenant: tenant.tenant, id: idOf('bulk', id), last: false })

test('makes every DRAFT of a date FINAL once, beside another worker, and says which could not', async () => {
  const day = '2031-05-07'
  const ids = [await draftOn(day), await draftOn(day), await draftOn(day), await draftOn(day)]
  const others = [await draftOn(day, { on_hold: true }), await draftOn('2031-05-08'), await draftOn('2031-05-06')]
  const checked = await succeed(tenant, 'POST', '/v1/bulk-actions/check', actionOn(day))
  expect(checked).toMatchObject({ type: 'FINALIZE_INVOICES', number_of_resources: 4 })
  expect(checked['included_example_resources'].map(({ id }: Row) => id).toSorted()).toEqual(ids.toSorted())
  const created = await succeed(tenant, 'POST', '/v1/bulk-actions', actionOn(day))
  expect(created).toMatchObject({ status: 'SCHEDULED', number_of_resources: 4, percentage: 0 })
  const id = created['id']
  const [voided = '', held = '', ...rest] = ids
  await succeed(tenant, 'POST', `/v1/invoices/${voided}/void`)
  await succeed(tenant, 'PATCH', `/v1/invoices/${held}`, { on_hold: true })
  const late = await draftOn(day)
  await Promise.all([runOf(id), runOf(id)])
  await runOf(id)
  expect(await succeed(tenant, 'GET', `/v1/bulk-actions/${id}`)).toMatchObject({
    status: 'DONE',
    percentage: 100,
    executed_at: expect.any(String),
  })
  const outcome = Object.fromEntries(
    (await itemsOf(id)).map(({ target_resource, status, message }) => [target_resource.id, `${status} ${message}`]),
  )
  expect(outcome[voided]).toContain('FAILED An invoice that is VOID cannot become FINAL.')
  expect(outcome[held]).toContain('FAILED The invoice was put on hold')
  for (const each of rest) {
    expect(outcome[each]).toBe('SUCCEEDED null')
    const types = (await noticesOf(api, each)).map(({ type }) => type)
    expect(types.filter(type => type === 'INVOICE.STATUS_TO_FINAL')).toHaveLength(1)
  }
  expect(await itemsOf(id, '&statuses[]=FAILED')).toHaveLength(2)
  for (const each of [...others, late])
    expect(await succeed(tenant, 'GET', `/v1/invoices/${each}`)).toMatchObject({ status: 'DRAFT' })
})

test('a run that is killed after an invoice continues with the next, and no number is lost', async () => {
  const day = '2031-06-07'
  await Promise.all([1, 2, 3].map(() => draftOn(day)))
  const { id } = await succeed(tenant, 'POST', '/v1/bulk-actions', actionOn(day))
  const start = api.clock.now()
  let done = 0
  const killed = async (name: string): Promise<void> => {
    if (name !== 'bulk-actions.after-item') return
    done += 1
    if (done === 2) throw new Error('killed')
    api.clock.set(start + 3_600_000)
  }
  await expect(runOf(id, { failpoint: killed })).rejects.toThrow('killed')
  const left = await succeed(tenant, 'GET', `/v1/bulk-actions/${id}`)
  expect(left).toMatchObject({ status: 'IN_PROGRESS', percentage: 66 })
  // Each invoice moves it: that is how a run that is at work differs from one that is lost.
  expect(Date.parse(left['updated_at']) - Date.parse(left['executed_at'])).toBe(3_600_000)
  api.clock.set(start)
  await runOf(id)
  expect((await itemsOf(id)).map(({ status }) => status)).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED'])
  const types = (await noticesOf(api, id)).map(({ type }) => type)
  expect(types).toEqual(['BULK_ACTION.CREATED', 'BULK_ACTION.UPDATED', 'BULK_ACTION.UPDATED'])
  await expectPayloads(api, id, ['BULK_ACTION.CREATED', 'BULK_ACTION.UPDATED'])
})

test('invoices of a customer on a test clock become FINAL in its time', async () => {
  const own = api.tenants.bTest
  const customer_id = (await own.seed.make(customerResource)).id
  const billing_entity_id = (await own.seed.make(billingEntityResource)).id
  await succeed(own, 'POST', '/v1/test-clocks', { frozen_time: '2025-01-01T00:00:00Z', customer_ids: [customer_id] })
  const body = { customer_id, billing_entity_id, lines: [LINE], invoice_date: '2025-01-01T00:00:00Z' }
  const { id } = await succeed(own, 'POST', '/v1/invoices', body)
  const action = await succeed(own, 'POST', '/v1/bulk-actions', actionOn('2025-01-01'))
  await runBulkAction(deps, { tenant: own.tenant, id: idOf('bulk', action['id']), last: false })
  expect(await succeed(own, 'GET', `/v1/invoices/${id}`)).toMatchObject({
    status: 'FINAL',
    updated_to_final_at: '2025-01-01T00:00:00Z',
    invoice_number: expect.stringContaining('2025'),
  })
})

test('refuses what it cannot do with the field, and belongs to its tenant', async () => {
  for (const [body, code, field] of [
    [{ type: 'FINALIZE_INVOICES' }, 'MISSING_FIELD', 'finalize_invoices'],
    [actionOn('2031-02-30'), 'INVALID_FIELD', 'finalize_invoices.invoice_date'],
    [actionOn('9999-12-31'), 'INVALID_FIELD', 'finalize_invoices.invoice_date'],
    [actionOn('tomorrow'), 'INVALID_FIELD', 'finalize_invoices.invoice_date'],
    [actionOn('2031-05-071'), 'INVALID_FIELD', 'finalize_invoices.invoice_date'],
    [{ type: 'REQUEST_USAGE_REPORTS' }, 'INVALID_FIELD', 'type'],
  ] as const)
    for (const url of ['/v1/bulk-actions', '/v1/bulk-actions/check']) {
      const { status, body: fault } = await tenant.call('POST', url, body)
      expect([status, fault['code'], fault['field']], JSON.stringify(body)).toEqual([400, code, field])
    }
  const { id } = await succeed(tenant, 'POST', '/v1/bulk-actions', actionOn('2031-07-07'))
  expect((await api.tenants.aLive.call('GET', `/v1/bulk-actions/${id}/items`)).status).toBe(404)
  await runOf(id)
  expect(await succeed(tenant, 'GET', `/v1/bulk-actions/${id}`)).toMatchObject({ status: 'DONE', percentage: 100 })
})
