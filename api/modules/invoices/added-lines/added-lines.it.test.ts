// Lines that users add to invoices, and invoices with only such lines.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal, succeed } from '../../../testing/calls.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { noticesOf } from '../../../testing/notices.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import { type Billed, billedSubscription } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import { oneOffParties } from '../testing/one-off-parties.ts'

let api: ApiHarness
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
})
afterAll(async () => await api?.close())

const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const FIXED = { pricing_name: 'Workshop', pricing_type: 'FIXED', pricing_band: { amount: eur('450') } }
const HOURS = {
  pricing_name: 'Hours',
  pricing_type: 'FLAT',
  pricing_band: { amount: eur('80.25') },
  volume: { number: '2.5' },
}
const setTime = (text: string): void => api.clock.set(Date.parse(text))
const run = (tenant: TestTenant, billed: Billed) =>
  runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, billed.subscriptionId)
const linesIn = (invoice: Row): Row[] =>
  invoice['periods'].flatMap((period: Row) => period['groups'].flatMap((group: Row) => group['lines']))
const amounts = (invoice: Row): string[] =>
  linesIn(invoice).map(line => `${line['description']} ${line['amount_excluding_tax'].quantity}`)

/** The DRAFT of March's fee of 100, of a subscription that began in March. */
async function drafted(
  tenant: TestTenant,
  schedule: Record<string, unknown> = {},
): Promise<{ billed: Billed; url: string }> {
  setTime('2026-03-20T10:00:00Z')
  const billed = await billedSubscription(tenant, {
    start_at: '2026-03-01T00:00:00Z',
    fee: '100',
    schedule: async () => schedule,
  })
  await run(tenant, billed)
  const list = `/v1/invoices?pricing_plan_subscription_id=${billed.subscriptionId}&statuses[]=DRAFT`
  const [draft]: Row[] = (await succeed(tenant, 'GET', list))['data']
  return { billed, url: `/v1/invoices/${draft?.['id']}` }
}

describe('lines on an invoice of a subscription', () => {
  test('are priced, taxed, kept by every computation, changed, removed and fixed with FINAL', async () => {
    const tenant = api.tenants.aTest
    const { billed, url } = await drafted(tenant)
    await succeed(tenant, 'POST', `${url}/lines`, FIXED)
    const added = await succeed(tenant, 'POST', `${url}/add-line`, HOURS)
    expect(amounts(added)).toEqual(['Platform fee 100.00', 'Workshop 450.00', 'Hours 200.63'])
    expect(added['tax_summary']).toMatchObject({ base_amount: eur('750.63'), tax_amount: eur('157.63') })
    const [, workshop, hours] = linesIn(added)
    expect(hours).toMatchObject({
      type: 'REVENUE',
      pricing_type: 'FLAT',
      meter_value: { type: 'NUMBER', number: '2.5' },
      details: { description: '2.5 × 80.25 EUR', pricing_amount: eur('200.625') },
    })
    await run(tenant, billed)
    expect(amounts(await succeed(tenant, 'POST', `${url}/refresh`, { types: ['FULL'] }))).toEqual(amounts(added))

    const replaced = await succeed(tenant, 'PUT', `${url}/lines/${workshop?.['id']}`, {
      ...FIXED,
      product_item_type: 'DEDUCTION',
      pricing_band: { amount: eur('20') },
    })
    expect(amounts(replaced)).toEqual(['Platform fee 100.00', 'Workshop -20.00', 'Hours 200.63'])
    const removed = await succeed(tenant, 'DELETE', `${url}/lines/${workshop?.['id']}`)
    expect(amounts(removed)).toEqual(['Platform fee 100.00', 'Hours 200.63'])
    const place = (line_order: number) => ({
      periods: [{ period_order: 0, groups: [{ group_order: 1, lines: [{ line_order }] }] }],
    })
    expect(await refusal(tenant, 'POST', `${url}/delete-line`, place(1))).toEqual([
      400,
      'INVALID_FIELD',
      'periods.0.groups.0.lines.0.line_order',
    ])
    expect(amounts(await succeed(tenant, 'POST', `${url}/delete-line`, place(0)))).toEqual(['Platform fee 100.00'])

    await succeed(tenant, 'POST', `${url}/lines`, FIXED)
    const final = await succeed(tenant, 'PATCH', url, { status: 'FINAL' })
    expect(amounts(final)).toEqual(['Platform fee 100.00', 'Workshop 450.00'])
    const last = linesIn(final).at(-1)
    for (const [method, path] of [
      ['POST', `${url}/lines`],
      ['PUT', `${url}/lines/${last?.['id']}`],
    ] as const)
      expect(await refusal(tenant, method, path, FIXED)).toEqual([400, 'INVALID_OPERATION', 'status'])
    expect(await refusal(tenant, 'DELETE', `${url}/lines/${last?.['id']}`)).toEqual([
      400,
      'INVALID_OPERATION',
      'status',
    ])
    await expect(api.sql(`update invoice_added_lines set position = 7`)).rejects.toThrow(/FINAL/)
  })

  test('take part in discounts on the total where they say so, and in no other', async () => {
    const tenant = api.tenants.bTest
    const discount = { totals: [{ percentage: '10' }] }
    const { url } = await drafted(tenant, { discount })
    await succeed(tenant, 'POST', `${url}/lines`, FIXED)
    const without = await succeed(tenant, 'GET', url)
    expect(amounts(without).toSorted()).toEqual([
      'Discount of 10 % on the total -10.00',
      'Platform fee 100.00',
      'Workshop 450.00',
    ])
    const withClause = await succeed(tenant, 'POST', `${url}/lines`, {
      ...HOURS,
      applicable_for_clauses: ['discount.totals'],
    })
    expect(amounts(withClause).toSorted()).toEqual([
      'Discount of 10 % on the total -30.06',
      'Hours 200.63',
      'Platform fee 100.00',
      'Workshop 450.00',
    ])
    const hours = linesIn(withClause).find(line => line['description'] === 'Hours')
    expect(hours?.['applicable_for_clauses']).toEqual(['discount.totals'])
  })

  test('are refused with the field that is wrong, and nothing is added', async () => {
    const tenant = api.tenants.aTest
    const { url } = await drafted(tenant)
    const cases: readonly (readonly [Record<string, unknown>, string])[] = [
      [{ ...FIXED, pricing_name: undefined }, 'product_item_id'],
      [{ ...FIXED, product_item_id: 'proi_0000000000000000000000' }, 'product_item_id'],
      [{ ...FIXED, pricing_type: 'TIERED' }, 'pricing_type'],
      [{ ...FIXED, pricing_band: {} }, 'pricing_band.fixed_amount'],
      [{ ...FIXED, pricing_band: { amount: { quantity: '1', currency: 'USD' } } }, 'pricing_band.amount.currency'],
      [{ ...FIXED, volume: { number: '2' } }, 'volume'],
      [{ ...HOURS, volume: undefined }, 'volume.number'],
      [{ ...HOURS, volume: { number: '0' } }, 'volume.number'],
      [{ ...HOURS, volume: { number: '-1' } }, 'volume.number'],
      [{ ...FIXED, start_at: '2026-03-02T00:00:00Z', end_at: '2026-03-02T00:00:00Z' }, 'end_at'],
      [{ ...FIXED, pricing_plan_subscription_id: 'ppsu_0000000000000000000000' }, 'pricing_plan_subscription_id'],
      [{ ...FIXED, applicable_for_clauses: ['discount.items'] }, 'applicable_for_clauses.0'],
      [{ ...FIXED, units: '1' }, 'units'],
    ]
    for (const [body, field] of cases)
      expect([field, await refusal(tenant, 'POST', `${url}/lines`, body)]).toEqual([
        field,
        [400, 'INVALID_FIELD', field],
      ])
    const invoice = await succeed(tenant, 'GET', url)
    expect(amounts(invoice)).toEqual(['Platform fee 100.00'])
    const [fee] = linesIn(invoice)
    expect(await refusal(tenant, 'DELETE', `${url}/lines/${fee?.['id']}`)).toEqual([400, 'INVALID_OPERATION', 'lines'])
    expect(await refusal(tenant, 'DELETE', `${url}/lines/inli_none`)).toEqual([404, 'RESOURCE_NOT_FOUND', undefined])
  })

  test('added many at once, and against FINAL: each line is on the invoice whole, or refused', async () => {
    const tenant = api.tenants.bLive
    const { url } = await drafted(tenant)
    const answers = await Promise.all([
      ...Array.from({ length: 6 }, () => tenant.call('POST', `${url}/lines`, FIXED)),
      tenant.call('PATCH', url, { status: 'FINAL' }),
    ])
    const added = answers.slice(0, 6).filter(({ status }) => status === 200).length
    const after = await succeed(tenant, 'GET', url)
    expect(after['status']).toBe('FINAL')
    expect(linesIn(after)).toHaveLength(1 + added)
    expect(after['invoice_amount_excluding_tax']).toEqual(eur(`${100 + 450 * added}.00`))
  })
})

describe('one-off invoices', () => {
  test('one is created as a DRAFT, changed, made FINAL and dated on that day', async () => {
    const tenant = api.tenants.aLive
    setTime('2026-05-04T10:00:00Z')
    const created = await succeed(tenant, 'POST', '/v1/invoices', {
      ...(await oneOffParties(tenant)),
      purchase_order_number: 'PO-9',
      notes: ['Thank you.'],
      lines: [FIXED, { ...HOURS, start_at: '2026-04-01T00:00:00Z', end_at: '2026-05-01T00:00:00Z' }],
    })
    expect(created).toMatchObject({
      type: 'ONE_OFF',
      status: 'DRAFT',
      invoice_date: null,
      finalize_at: null,
      purchase_order_number: 'PO-9',
      notes: ['Thank you.'],
      pricing_plan_subscription_id: null,
      invoice_amount_including_tax: eur('787.26'),
    })
    expect(created['periods'].map((period: Row) => [period['start_at'], period['groups'][0].type])).toEqual([
      ['2026-04-01T00:00:00Z', 'ONE_OFF'],
      ['2026-05-04T00:00:00Z', 'ONE_OFF'],
    ])
    const url = `/v1/invoices/${created['id']}`
    // On hold and released: nothing but a user makes it FINAL.
    await succeed(tenant, 'PATCH', url, { on_hold: true })
    expect(await succeed(tenant, 'PATCH', url, { on_hold: false })).toMatchObject({ on_hold: false, finalize_at: null })
    await succeed(tenant, 'POST', `${url}/lines`, {
      ...FIXED,
      pricing_name: 'Travel',
      pricing_band: { amount: eur('50') },
    })
    setTime('2026-05-06T10:00:00Z')
    const [first, second] = await Promise.all([
      succeed(tenant, 'PATCH', url, { status: 'FINAL' }),
      succeed(tenant, 'PATCH', url, { status: 'FINAL' }),
    ])
    expect(first).toMatchObject({
      status: 'FINAL',
      invoice_date: '2026-05-06T00:00:00Z',
      due_date: '2026-06-05T00:00:00Z',
      invoice_amount_excluding_tax: eur('700.63'),
    })
    expect(second['invoice_number']).toBe(first['invoice_number'])
    expect((await noticesOf(api, created['id'])).map(({ type }) => type)).toContain('INVOICE.STATUS_TO_FINAL')
    const pdf = await tenant.call('GET', `${url}/pdf`)
    expect(pdf.status).toBe(200)
  })

  test('takes the customer by reference, the entity of the platform, dates and due date as given; is archived unissued', async () => {
    const tenant = api.tenants.bLive
    setTime('2026-05-04T10:00:00Z')
    const { customer_id, billing_entity_id } = await oneOffParties(tenant)
    const customer = await succeed(tenant, 'GET', `/v1/customers/${customer_id}`)
    const body = {
      customer_reference: customer['reference'],
      invoice_date: '2026-01-31T00:00:00Z',
      delivery_date: '2026-01-15T00:00:00Z',
      due_date_configuration: { type: 'PERIOD_AFTER_INVOICE_DATE', period: { type: 'MONTH', value: 1 } },
      lines: [FIXED],
    }
    expect(await refusal(tenant, 'POST', '/v1/invoices', body)).toEqual([400, 'MISSING_FIELD', 'billing_entity_id'])
    const platform = tenant.tenant.platformId
    await succeed(tenant, 'PATCH', `/v1/platforms/${platform}`, { default_billing_entity_id: billing_entity_id })
    const created = await succeed(tenant, 'POST', '/v1/invoices', body)
    expect(created).toMatchObject({
      customer_id,
      billing_entity_id,
      invoice_date: '2026-01-31T00:00:00Z',
      delivery_date: '2026-01-15T00:00:00Z',
      due_date: '2026-02-28T00:00:00Z',
    })
    const [line] = linesIn(created)
    const url = `/v1/invoices/${created['id']}`
    expect(await refusal(tenant, 'DELETE', `${url}/lines/${line?.['id']}`)).toEqual([400, 'INVALID_OPERATION', 'lines'])
    expect(await succeed(tenant, 'POST', `${url}/archive`)).toMatchObject({ status: 'ARCHIVED', invoice_number: null })
    await succeed(tenant, 'PATCH', `/v1/platforms/${platform}`, { default_billing_entity_id: null })
  })

  test('is refused whole, with the field', async () => {
    const tenant = api.tenants.aLive
    const both = await oneOffParties(tenant)
    const other = await oneOffParties(api.tenants.bTest)
    const cases: readonly (readonly [Record<string, unknown>, number, string, string])[] = [
      [{ ...both, customer_id: undefined, lines: [FIXED] }, 400, 'MISSING_FIELD', 'customer_id'],
      [{ ...both, customer_id: other.customer_id, lines: [FIXED] }, 404, 'RESOURCE_NOT_FOUND', 'customer_id'],
      [{ ...both, customer_reference: 'someone', lines: [FIXED] }, 400, 'INVALID_FIELD', 'customer_reference'],
      [
        { ...both, billing_entity_id: other.billing_entity_id, lines: [FIXED] },
        404,
        'RESOURCE_NOT_FOUND',
        'billing_entity_id',
      ],
      [{ ...both, lines: [] }, 400, 'INVALID_FIELD', 'lines'],
      [
        { ...both, lines: [FIXED, { ...HOURS, volume: { number: '0' } }] },
        400,
        'INVALID_FIELD',
        'lines.1.volume.number',
      ],
      [
        { ...both, billing_currency: 'USD', lines: [FIXED] },
        400,
        'INVALID_FIELD',
        'lines.0.pricing_band.amount.currency',
      ],
      [
        { ...both, lines: [{ ...FIXED, applicable_for_clauses: ['discount.totals'] }] },
        400,
        'INVALID_FIELD',
        'lines.0.applicable_for_clauses',
      ],
      [
        { ...both, due_date_configuration: { type: 'PERIOD_AFTER_INVOICE_DATE' }, lines: [FIXED] },
        400,
        'MISSING_FIELD',
        'due_date_configuration.period',
      ],
    ]
    const counted = () => api.sql(`select count(*)::int as n from invoices where type = 'ONE_OFF'`)
    const before = await counted()
    for (const [body, ...expected] of cases)
      expect([expected[2], await refusal(tenant, 'POST', '/v1/invoices', body)]).toEqual([expected[2], expected])
    expect(await counted()).toEqual(before)
  })
})
