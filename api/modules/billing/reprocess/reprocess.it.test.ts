// Reprocessing through the API and its job: which invoices it reaches. OPEN and DRAFT ones follow current usage, FINAL ones
// never change.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectPayloads } from '../../../testing/event-payloads.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../run/run-billing.ts'
import { succeed } from '../testing/billed-subscription.ts'
import { NOW, ofCustomer, openReprocessRig } from './testing/reprocess-rig.ts'

let rig: Awaited<ReturnType<typeof openReprocessRig>>
beforeAll(async () => {
  rig = await openReprocessRig()
})
afterAll(() => rig?.api.close())
beforeEach(() => rig.reset())

describe('a reprocess', () => {
  test('of a customer marks its invoices, computes them again, and leaves those of others', async () => {
    const [own, other] = [await rig.billed(), await rig.billed()]
    rig.said.tokens = '2000000'
    const made = await rig.create(ofCustomer(own))
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
    expect(await rig.invoiceOf(own.invoice)).toMatchObject({
      ...{ to_be_reprocessed: true, to_be_reprocessed_at: NOW },
      reprocess: { to_be_reprocessed_at: NOW, reprocess_status: 'SCHEDULED', reprocess_id: made['id'] },
      meter_values: [{ object_type: 'METER_VALUE', name: 'Tokens' }],
    })
    expect(await rig.invoiceOf(other.invoice)).not.toHaveProperty('reprocess')
    expect(await rig.invoiceOf(other.invoice)).toMatchObject({ to_be_reprocessed: false, to_be_reprocessed_at: null })
    await rig.run(made['id'])
    expect(await rig.read(made['id'])).toMatchObject({
      status: 'DONE',
      percentage: 100,
      message: null,
      finished_at: NOW,
    })
    expect(await rig.amountOf(own.invoice)).toBe('30.00')
    expect(await rig.amountOf(other.invoice)).toBe('15.00')
    expect(await rig.invoiceOf(own.invoice)).toMatchObject({ to_be_reprocessed: false, to_be_reprocessed_at: null })
    const events = await rig.api.sql('select type, data from outbox where object_id = $1 order by seq', [made['id']])
    expect(events.map(event => [event['type'], event['data'].status])).toEqual([
      ['REPROCESS.CREATED', 'SCHEDULED'],
      ['REPROCESS.UPDATED', 'IN_PROGRESS'],
      ['REPROCESS.UPDATED', 'DONE'],
    ])
    await expectPayloads(rig.api, made['id'], ['REPROCESS.UPDATED'])
    // The reprocess has ended: running its job again does nothing.
    rig.said.tokens = '3000000'
    await rig.run(made['id'])
    expect(await rig.amountOf(own.invoice)).toBe('30.00')
    const expanded = await succeed(rig.tenant, 'GET', `/v1/reprocess/${made['id']}?expand[]=customer`)
    expect(expanded['customer']).toMatchObject({ customer: { object_type: 'CUSTOMER', id: own.customerId } })
  })

  test('of unmatched usage takes every customer, or one; of an invoice only that one', async () => {
    const [first, second] = [await rig.billed(), await rig.billed()]
    rig.said.tokens = '2000000'
    const one = await rig.create({ type: 'NOT_MATCHED', not_matched: { customer_id: first.customerId } })
    await rig.run(one['id'])
    expect([await rig.amountOf(first.invoice), await rig.amountOf(second.invoice)]).toEqual(['30.00', '15.00'])
    const single = await rig.create({ type: 'INVOICE', invoice: { invoice_id: second.invoice } })
    await rig.run(single['id'])
    expect([await rig.amountOf(first.invoice), await rig.amountOf(second.invoice)]).toEqual(['30.00', '30.00'])
    rig.said.tokens = '4000000'
    const all = await rig.create({ type: 'NOT_MATCHED' })
    await rig.run(all['id'])
    expect([await rig.amountOf(first.invoice), await rig.amountOf(second.invoice)]).toEqual(['60.00', '60.00'])
    const listed = async (query: string) =>
      (await succeed(rig.tenant, 'GET', `/v1/reprocess?${query}`))['data'].map((row: Row) => row['id'])
    expect((await listed('type=NOT_MATCHED')).toSorted()).toEqual([one['id'], all['id']].toSorted())
    expect(await listed('type=INVOICE&status=DONE')).toEqual([single['id']])
    expect(await listed('status=ERROR')).toEqual([])
  })

  test('never changes a FINAL invoice, and skips one that closes before its turn', async () => {
    const [closed, open, closing] = [await rig.billed(), await rig.billed(), await rig.billed()]
    await rig.finalize(closed)
    const refused = await rig.tenant.call('POST', '/v1/reprocess', {
      type: 'INVOICE',
      invoice: { invoice_id: closed.invoice },
    })
    expect([refused.status, refused.body['code'], refused.body['field']]).toEqual([
      400,
      'INVALID_OPERATION',
      'invoice.invoice_id',
    ])
    const final = await rig.invoiceOf(closed.invoice)
    rig.said.tokens = '2000000'
    const made = await rig.create({ type: 'NOT_MATCHED' })
    let items = 0
    const failpoint = async (name: string) => {
      if (name === 'reprocess.after-item') items += 1
      if (name === 'reprocess.after-item' && items === 1) await finalizeRest()
    }
    const finalizeRest = async () => {
      for (const each of [open, closing]) {
        const [item] = await rig.api.sql('select status from reprocess_items where invoice_id = $1', [each.invoice])
        if (item?.['status'] === 'SCHEDULED') await runBilling(rig.deps, rig.tenant.tenant, each.subscriptionId)
      }
    }
    await rig.run(made['id'], { deps: { failpoint } })
    expect(await rig.invoiceOf(closed.invoice)).toEqual(final)
    expect(await rig.read(made['id'])).toMatchObject({ status: 'DONE', percentage: 100 })
    const skipped = await rig.api.sql(
      `select v.status, v.to_be_reprocessed_at as marked from reprocess_items i join invoices v on v.id = i.invoice_id where i.status = 'SKIPPED'`,
    )
    expect(skipped).toContainEqual({ status: 'FINAL', marked: null })
  })

  test('a range leaves out what ends before it and what starts after it', async () => {
    const own = await rig.billed()
    const marked = async (start_at: string, end_at: string) => {
      await rig.api.sql(`update invoices set to_be_reprocessed_at = null where status <> 'FINAL'`)
      await rig.create(ofCustomer(own, { start_at, end_at }))
      return (await rig.invoiceOf(own.invoice))['to_be_reprocessed']
    }
    const { period_start: start } = await rig.invoiceOf(own.invoice)
    const later = start.replace(':00Z', ':01Z')
    expect(await marked('2026-04-01T00:00:00Z', '2026-07-01T00:00:00Z')).toBe(false)
    expect(await marked('2026-03-31T23:59:59Z', '2026-07-01T00:00:00Z')).toBe(true)
    expect(await marked('2025-01-01T00:00:00Z', start)).toBe(false)
    expect(await marked('2025-01-01T00:00:00Z', later)).toBe(true)
    // A price that rates time before the period of its invoice is reached there.
    await rig.api.sql('update invoices set usage_from = $2 where id = $1', [own.invoice, '2026-01-01T00:00:00Z'])
    expect(await marked('2025-01-01T00:00:00Z', start)).toBe(true)
    expect(await marked('2025-01-01T00:00:00Z', '2026-01-01T00:00:00Z')).toBe(false)
  })

  test('a range of closed time reaches only the invoice that takes late usage', async () => {
    const own = await rig.billed()
    await rig.finalize(own)
    await runBilling(rig.deps, rig.tenant.tenant, own.subscriptionId)
    const url = `/v1/invoices?pricing_plan_subscription_id=${own.subscriptionId}`
    const ids = async () =>
      (await succeed(rig.tenant, 'GET', url))['data'].map((row: Row) => [row['status'], row['id']])
    await rig.create(ofCustomer(own, { start_at: '2026-03-02T00:00:00Z', end_at: '2026-03-03T00:00:00Z' }))
    for (const [status, id] of await ids())
      expect([status, (await rig.invoiceOf(id))['to_be_reprocessed']]).toEqual([status, status === 'OPEN'])
  })

  test('of a customer reaches the parents that are billed for its usage, and a change of parents starts one', async () => {
    const [parent, other, stranger] = [await rig.billed(), await rig.billed(), await rig.billed()]
    const body = { reference: rig.tenant.seed.unique('child'), type: 'INDIVIDUAL', roles: ['PROCESSING_ONLY'] }
    const reprocessed = async (): Promise<boolean[]> =>
      await Promise.all(
        [parent, other, stranger].map(
          async ({ invoice }) => (await rig.invoiceOf(invoice))['to_be_reprocessed'] === true,
        ),
      )
    const child = await succeed(rig.tenant, 'POST', '/v1/customers', {
      ...body,
      parent_customer_ids: [parent.customerId],
    })
    expect(await reprocessed()).toEqual([true, false, false])
    await rig.clear()
    await rig.create(ofCustomer({ customerId: child['id'] }))
    expect(await reprocessed()).toEqual([true, false, false])
    await rig.clear()
    const path = `/v1/customers/${child['id']}`
    await succeed(rig.tenant, 'PATCH', path, { parent_customer_ids: [other.customerId] })
    expect(await reprocessed()).toEqual([true, true, false])
    await rig.clear()
    await succeed(rig.tenant, 'PATCH', path, { email: 'child@example.com' })
    expect(await reprocessed()).toEqual([false, false, false])
    const filters = [{ field: 'PRICING_PLAN_REFERENCE', type: 'EQUALS', value: 'gold' }]
    const selector = { pricing_plan_subscription_selector: { filters } }
    await succeed(rig.tenant, 'PATCH', `/v1/customers/${stranger.customerId}`, selector)
    expect(await reprocessed()).toEqual([false, false, true])
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
    const answer = await rig.tenant.call('POST', '/v1/reprocess', body)
    expect([answer.body['code'], answer.body['field']]).toEqual([code, field])
  })
})
