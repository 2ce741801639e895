// An invoice becomes FINAL once, with one number, and does not change after.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SERVICE } from '../../../../shared/database/database.ts'
import { createFailpoints } from '../../../../shared/failpoint.ts'
import { idOf } from '../../../../shared/ids.ts'
import { noticesOf } from '../../../testing/notices.ts'
import type { Row } from '../../../testing/wire.ts'
import type { BillingDeps } from '../../billing/run/compute-invoice.ts'
import { succeed } from '../../billing/testing/billed-subscription.ts'
import { openInvoiceRig } from '../../billing/testing/invoice-rig.ts'
import { invoiceProducers } from '../../modules.ts'
import { finalizeInvoice } from './finalize-invoice.ts'

let rig: Awaited<ReturnType<typeof openInvoiceRig>>
beforeAll(async () => {
  rig = await openInvoiceRig()
})
afterAll(() => rig?.close())

describe('finalizing', () => {
  test('twenty concurrent finalizations give one number', async () => {
    const tenant = rig.api.tenants.bLive
    const { invoice } = await rig.draftInvoice(tenant)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => tenant.call('PATCH', `/v1/invoices/${invoice['id']}`, { status: 'FINAL' })),
    )
    expect(new Set(answers.map(answer => answer.status))).toEqual(new Set([200]))
    expect(new Set(answers.map(answer => answer.body['invoice_number'])).size).toBe(1)
    const types = (await noticesOf(rig.api, invoice['id'])).map(event => event['type'])
    expect(types.filter(type => type === 'INVOICE.STATUS_TO_FINAL')).toHaveLength(1)
  })

  /** How to pay is not part of the invoice, so its notices leave it out. */
  const asNotice = (read: Row): Row => {
    const { payment_acceptor_ids: _ids, payment_actions: _actions, meter_values: _values, ...invoice } = read
    return invoice
  }

  test('its notice holds the invoice once: of the draft only what differs, and consumers read all of it', async () => {
    const tenant = rig.api.tenants.bLive
    const { invoice } = await rig.draftInvoice(tenant)
    const final = await succeed(tenant, 'PATCH', `/v1/invoices/${invoice['id']}`, { status: 'FINAL' })
    const updated = (await noticesOf(rig.api, invoice['id'])).findLast(({ type }) => type === 'INVOICE.UPDATED')
    expect(updated?.['previous_data']).toEqual({
      ...asNotice(invoice),
      updated_at: updated?.['previous_data'].updated_at,
    })
    expect(updated?.['data']).toEqual(asNotice(final))
    const stored = await rig.api.sql(
      `select type, pg_column_size(data) as whole, pg_column_size(former_values) as former, previous_data from outbox
       where object_id = $1 order by seq`,
      [invoice['id']],
    )
    const [notice, last] = stored.slice(-2)
    expect(notice).toMatchObject({ type: 'INVOICE.UPDATED', whole: null, previous_data: null })
    expect(last).toMatchObject({ type: 'INVOICE.STATUS_TO_FINAL', former: null })
    expect(notice?.['former']).toBeLessThan(last?.['whole'] / 2)
  })

  test('numbers of invoices finalized in parallel, some of which fail, have no gap', async () => {
    const tenant = rig.api.tenants.aTest
    const drafts = await Promise.all(Array.from({ length: 6 }, () => rig.draftInvoice(tenant)))
    const failing = { ...rig.deps, failpoint: createFailpoints('invoices.before-commit:error') }
    const finalize = (which: BillingDeps, id: string) =>
      finalizeInvoice(
        { ...which, producers: invoiceProducers(which) },
        { tenant: tenant.tenant, actor: SERVICE, id: idOf('invo', id) },
      )
    const attempts = await Promise.allSettled(
      drafts.flatMap(({ invoice }) => [finalize(failing, invoice['id']), finalize(rig.deps, invoice['id'])]),
    )
    expect(attempts.filter(attempt => attempt.status === 'fulfilled').length).toBeGreaterThanOrEqual(6)
    const rows = await rig.api.sql(
      `select invoice_number as number from invoices where platform_id = $1 and environment = 'TEST' and status = 'FINAL' order by 1`,
      [tenant.tenant.platformId],
    )
    const numbers = rows.map(row => Number(row['number'].slice(-5)))
    expect(numbers).toEqual(numbers.map((_, index) => index + 1))
    expect(numbers.length).toBeGreaterThanOrEqual(6)
  })

  test('a crash before the commit leaves a DRAFT without a number', async () => {
    const tenant = rig.api.tenants.aLive
    const { invoice } = await rig.draftInvoice(tenant)
    const failing = { ...rig.deps, failpoint: createFailpoints('invoices.before-commit:error') }
    await expect(
      finalizeInvoice(
        { ...failing, producers: invoiceProducers(failing) },
        { tenant: tenant.tenant, actor: SERVICE, id: invoice['id'] },
      ),
    ).rejects.toThrow('failpoint')
    expect(await succeed(tenant, 'GET', `/v1/invoices/${invoice['id']}`)).toMatchObject(invoice)
  })

  test('a FINAL invoice cannot be changed by a call nor by SQL, only its payment can', async () => {
    const tenant = rig.api.tenants.bLive
    const { invoice } = await rig.draftInvoice(tenant)
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
      'nothing_due = true',
    ]) {
      await expect(rig.api.sql(`update invoices set ${change} where id = $1`, [invoice['id']])).rejects.toThrow(
        'cannot change',
      )
    }
    await expect(rig.api.sql('delete from invoices where id = $1', [invoice['id']])).rejects.toThrow('cannot change')
    const paid = await succeed(tenant, 'PATCH', url, { payment_status: 'PAID', paid: true })
    expect(paid).toMatchObject({
      paid: true,
      open_invoice_amount: { quantity: '0.00' },
      paid_invoice_amount: { quantity: '0.06' },
    })
    expect((await noticesOf(rig.api, invoice['id'])).at(-1)?.['type']).toBe('INVOICE.PAID')
    expect(await succeed(tenant, 'PATCH', url, { paid: false })).toMatchObject({ payment_status: 'UNPAID' })
    // Late usage and a second finalization do not change it.
    expect((await succeed(tenant, 'PATCH', url, { status: 'FINAL' }))['periods']).toEqual(final['periods'])
  })

  test('what may not be patched is refused by name', async () => {
    const tenant = rig.api.tenants.bLive
    const { billed, invoice } = await rig.draftInvoice(tenant)
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
    const open = (await rig.invoicesOf(tenant, billed)).find(each => each['status'] === 'OPEN')
    const early = await tenant.call('PATCH', `/v1/invoices/${open?.['id']}`, { status: 'FINAL' })
    expect([early.status, early.body['code']]).toEqual([400, 'INVALID_OPERATION'])
  })

  test('an invoice on hold stays DRAFT; its release restarts the grace period', async () => {
    const tenant = rig.api.tenants.bLive
    const { billed, invoice } = await rig.draftInvoice(tenant)
    const url = `/v1/invoices/${invoice['id']}`
    expect(await succeed(tenant, 'PATCH', url, { on_hold: true })).toMatchObject({ on_hold: true, finalize_at: null })
    rig.setTime('2026-04-05T00:00:00Z')
    await rig.run(tenant, billed)
    expect(await succeed(tenant, 'GET', url)).toMatchObject({ status: 'DRAFT', on_hold: true })
    expect(await succeed(tenant, 'PATCH', url, { on_hold: false })).toMatchObject({
      finalize_at: '2026-04-05T08:00:00Z',
    })
    rig.setTime('2026-04-05T08:00:00Z')
    await rig.run(tenant, billed)
    expect(await succeed(tenant, 'GET', url)).toMatchObject({ status: 'FINAL', on_hold: false })
  })

  test('while usage is still being counted it answers 503 with Retry-After', async () => {
    const tenant = rig.api.tenants.bLive
    const { invoice } = await rig.draftInvoice(tenant)
    rig.said.complete = false
    try {
      const answer = await tenant.call('PATCH', `/v1/invoices/${invoice['id']}`, { status: 'FINAL' })
      expect([answer.status, answer.headers['retry-after']]).toEqual([503, '5'])
    } finally {
      rig.said.complete = true
    }
  })

  test('a sale inside the US without a percentage cannot become FINAL, by hand or by itself', async () => {
    const tenant = rig.api.tenants.bTest
    const { billed, invoice } = await rig.draftInvoice(tenant)
    const { billing_entity_id } = await succeed(tenant, 'GET', `/v1/invoices/${invoice['id']}`)
    const registered_address = { country: 'US', state: 'NY' }
    await succeed(tenant, 'PATCH', `/v1/billing-entities/${billing_entity_id}`, { registered_address })
    await succeed(tenant, 'PATCH', `/v1/customers/${billed.customerId}`, { organization: { registered_address } })
    const answer = await tenant.call('PATCH', `/v1/invoices/${invoice['id']}`, { status: 'FINAL' })
    expect(answer.body['message']).toContain('sales_tax_percentage')
    rig.setTime('2026-04-02T00:00:00Z')
    await rig.run(tenant, billed)
    const kept = await succeed(tenant, 'GET', `/v1/invoices/${invoice['id']}`)
    expect(kept).toMatchObject({ status: 'DRAFT', validation_result: [{ status: 'ERROR' }] })
    const subscription = `/v1/pricing-plan-subscriptions/${billed.subscriptionId}`
    await succeed(tenant, 'PATCH', subscription, { sales_tax_percentage: '8' })
    const final = await succeed(tenant, 'PATCH', `/v1/invoices/${invoice['id']}`, { status: 'FINAL' })
    expect(final).toMatchObject({ status: 'FINAL', sales_tax_percentage: '8' })
  })

  test('a subscription between two parties in the US is not activated without a percentage', async () => {
    const tenant = rig.api.tenants.bTest
    const billed = await rig.subscribe(tenant, { fee: '100', activate: false })
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
