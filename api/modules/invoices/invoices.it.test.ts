// What is read of invoices: previews, a refresh, lists, the PDF.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal } from '../../testing/catalog.ts'
import { succeed, useTokens } from '../billing/testing/billed-subscription.ts'
import { openInvoiceRig } from '../billing/testing/invoice-rig.ts'

let rig: Awaited<ReturnType<typeof openInvoiceRig>>
beforeAll(async () => {
  rig = await openInvoiceRig()
})
afterAll(() => rig?.close())

describe('reading', () => {
  test('a preview of a DRAFT subscription is the invoice that follows, and saves nothing', async () => {
    const tenant = rig.api.tenants.aLive
    rig.setTime('2026-03-20T00:00:00Z')
    const billed = await rig.subscribe(tenant, { fee: '100', activate: false })
    await useTokens(rig.client, tenant, { billed, tokens: '3450', timestamp: '2026-03-15 12:00:00.000' })
    const body = { pricing_plan_subscription_id: billed.subscriptionId, invoices_per_schedule: 2 }
    const preview = await succeed(tenant, 'POST', '/v1/invoices/preview', body)
    expect(await rig.invoicesOf(tenant, billed)).toEqual([])
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${billed.subscriptionId}`, { status: 'ACTIVE' })
    await rig.run(tenant, billed)
    const [first, open] = await rig.invoicesOf(tenant, billed)
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

  test('a billing period of a hundred years is billed and previewed as far as times can be written; a longer one is refused', async () => {
    const tenant = rig.api.tenants.aLive
    rig.setTime('2026-03-20T00:00:00Z')
    const lasting = (value: number) => ({ billing_period: { type: 'YEAR', value }, billing_time: 'EXACT' })
    const billed = await rig.subscribe(tenant, { fee: '100', subscription: lasting(100) })
    await rig.run(tenant, billed)
    const [first] = await rig.invoicesOf(tenant, billed)
    expect(first).toMatchObject({ status: 'DRAFT', invoice_amount_excluding_tax: { quantity: '100.00' } })
    const preview = (start_at: string) =>
      tenant.call('POST', '/v1/invoices/preview', { pricing_plan_subscription_id: billed.subscriptionId, start_at })
    expect((await preview('2026-04-01T00:00:00Z')).body['invoice'].billing_period_date).toMatch(/^2126-/)
    const beyond = await preview('2126-05-01T00:00:00Z')
    expect([beyond.status, beyond.body['message']]).toEqual([400, expect.stringMatching(/ends after the year 2199/)])
    const longer = await tenant.call('POST', '/v1/pricing-plan-subscriptions', lasting(101))
    expect(refusal(longer)).toEqual([400, 'INVALID_FIELD', 'billing_period.value'])
  })

  test('a refresh computes a DRAFT from usage that came since', async () => {
    const tenant = rig.api.tenants.aLive
    const { billed, invoice } = await rig.draftInvoice(tenant)
    await useTokens(rig.client, tenant, { billed, tokens: '1000000', timestamp: '2026-03-20 00:00:00.000' })
    const fresh = await succeed(tenant, 'POST', `/v1/invoices/${invoice['id']}/refresh`, { types: ['FULL'] })
    expect(fresh['tax_summary'].base_amount.quantity).toBe('15.05')
    const wrong = await tenant.call('POST', `/v1/invoices/${invoice['id']}/refresh`, { types: ['NOTHING'] })
    expect(wrong.body['code']).toBe('INVALID_FIELD')
  })

  test('lists filter, page and leave out what was not requested', async () => {
    const tenant = rig.api.tenants.bTest
    const { billed } = await rig.draftInvoice(tenant)
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
    // A bound with a part of a second matches the second that contains it.
    expect((await get('&invoice_date=[2026-03-31T00:00:00.900Z,2026-03-31T00:00:00.100Z]'))['data']).toHaveLength(1)
    const pages = await Promise.all([get('&limit=1&page=1'), get('&limit=1&page=2')])
    expect(new Set(pages.map(page => page['data'][0]['id'])).size).toBe(2)
    const found = await succeed(tenant, 'POST', '/v1/invoices/search', {
      filter_fields: [
        { name: 'customer_id', value: billed.customerId },
        { name: 'invoice_date', value: '[2026-01-01T00:00:00Z,2026-03-31T23:59:59Z]' },
      ],
    })
    expect(found['data']).toHaveLength(1)
    const inSecond = await succeed(tenant, 'POST', '/v1/invoices/search', {
      filter_fields: [
        { name: 'customer_id', value: billed.customerId },
        { name: 'invoice_date', value: '[2026-03-31T00:00:00.500Z,2026-03-31T00:00:00.500Z]' },
      ],
    })
    expect(inSecond['data']).toHaveLength(1)
    const unknown = await tenant.call('POST', '/v1/invoices/search', {
      filter_fields: [{ name: 'content', value: 'x' }],
    })
    expect(unknown.body).toMatchObject({ code: 'INVALID_FIELD', field: 'filter_fields.0.name' })
  })

  test('the PDF has the number, and is the same file every time', async () => {
    const tenant = rig.api.tenants.aLive
    const { invoice } = await rig.draftInvoice(tenant)
    await succeed(tenant, 'PATCH', `/v1/invoices/${invoice['id']}`, { status: 'FINAL' })
    const fetch = () =>
      rig.api.app.inject({
        method: 'GET',
        url: `/v1/invoices/${invoice['id']}/pdf`,
        headers: { 'x-api-key': tenant.key },
      })
    const [first, second] = [await fetch(), await fetch()]
    expect([first.statusCode, first.headers['content-type']]).toEqual([200, 'application/pdf'])
    expect(first.headers['content-disposition']).toMatch(/^inline; filename="INV-2026-[0-9]{5}\.pdf"$/)
    expect(first.rawPayload.subarray(0, 5).toString()).toBe('%PDF-')
    expect(first.rawPayload.equals(second.rawPayload)).toBe(true)
  })

  test("another tenant's invoice does not exist", async () => {
    const { invoice } = await rig.draftInvoice(rig.api.tenants.aLive)
    for (const tenant of [rig.api.tenants.aTest, rig.api.tenants.bLive]) {
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
