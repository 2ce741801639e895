// Credit and copy: the credit note and the new invoice, both DRAFT or both FINAL.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal, succeed } from '../../../testing/calls.ts'
import { type ApiHarness, startApi } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import { billedSubscription } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import { amounts, eur, finalize, issued, line } from './testing/issued-invoice.ts'

let api: ApiHarness
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  api.clock.set(Date.parse('2026-05-04T10:00:00Z'))
})
afterAll(async () => await api?.close())

describe('credit and copy', () => {
  test('of an invoice of a subscription: both DRAFT, the copy is changed and issued, and billing bills nothing again', async () => {
    const tenant = api.tenants.bLive
    const billed = await billedSubscription(tenant, {
      start_at: '2026-05-01T00:00:00Z',
      fee: '100',
      schedule: async () => ({ discount: { totals: [{ percentage: '10' }] } }),
    })
    const run = () => runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, billed.subscriptionId)
    await run()
    const list = async (): Promise<Row[]> =>
      (await succeed(tenant, 'GET', `/v1/invoices?pricing_plan_subscription_id=${billed.subscriptionId}`))['data']
    const draft = (await list()).find(each => each['status'] === 'DRAFT')
    const url = `/v1/invoices/${draft?.['id']}`
    await succeed(tenant, 'PATCH', url, { status: 'FINAL' })
    const made = await succeed(tenant, 'POST', `${url}/credit_and_copy`, {})
    expect(made['original_invoice_id']).toBe(draft?.['id'])
    const credit = await succeed(tenant, 'GET', `/v1/invoices/${made['credit_invoice_id']}`)
    const copy = await succeed(tenant, 'GET', `/v1/invoices/${made['new_invoice_id']}`)
    expect([credit['status'], credit['type'], credit['invoice_amount_excluding_tax']]).toEqual([
      'DRAFT',
      'CREDIT',
      eur('-90.00'),
    ])
    expect([copy['status'], copy['type'], copy['invoice_amount_excluding_tax']]).toEqual([
      'DRAFT',
      'STANDARD',
      eur('90.00'),
    ])
    expect(copy['linked_invoices']).toMatchObject([{ id: draft?.['id'], link_type: 'ORIGINAL' }])
    const more = await succeed(tenant, 'POST', `/v1/invoices/${copy['id']}/lines`, line('Setup', '15'))
    expect(more['invoice_amount_excluding_tax']).toEqual(eur('105.00'))
    await finalize(tenant, credit['id'])
    expect((await finalize(tenant, copy['id']))['invoice_number']).toMatch(/^INV-/)
    // Who reads the invoices of the subscription sees what took the place of the one that was credited, and of that again.
    const again = await succeed(tenant, 'POST', `/v1/invoices/${copy['id']}/credit_and_copy`, {})
    const made2 = [again['credit_invoice_id'], again['new_invoice_id']]
    const listed = (await list()).map(each => each['id'])
    expect(listed).toEqual(expect.arrayContaining([draft?.['id'], credit['id'], copy['id'], ...made2]))
    expect(new Set(listed).size).toBe(listed.length)
    const before = (await list()).length
    await run()
    expect(await list()).toHaveLength(before)
  })

  test('makes both FINAL at once on request, or neither', async () => {
    const tenant = api.tenants.bLive
    const { url } = await issued(tenant)
    const made = await succeed(tenant, 'POST', `${url}/credit_and_copy`, {
      update_new_invoice_to_final: true,
      update_credit_invoice_to_final: true,
    })
    const statuses = await Promise.all(
      [made['credit_invoice_id'], made['new_invoice_id']].map(
        async id => (await succeed(tenant, 'GET', `/v1/invoices/${id}`))['status'],
      ),
    )
    expect(statuses).toEqual(['FINAL', 'FINAL'])
    const original = await succeed(tenant, 'GET', url)
    expect(original['closed_periods']).toEqual(original['periods'])
    expect(amounts(await succeed(tenant, 'GET', url))).toEqual(['PAID', true, '0.00', '0.00', '145.20', '0.00'])
    expect(await refusal(tenant, 'POST', `${url}/credit_and_copy`, {})).toEqual([400, 'INVALID_OPERATION', 'periods'])
  })
})
