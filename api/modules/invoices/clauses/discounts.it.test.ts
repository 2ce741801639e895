// Discounts of a schedule through the API: previews and invoices deduct them, rows sum, and closed periods keep theirs.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readTenant } from '../../../../shared/database/database.ts'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import { idOf } from '../../../../shared/ids.ts'
import { instantOf } from '../../../../shared/time.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import { billedSubscription, succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import type { UsageReader } from '../../billing/usage/usage-reader.ts'
import { linesOfInvoice } from '../lines/store-lines.ts'
import type { InvoiceView } from '../schema.ts'

const usage: UsageReader = { ...NO_USAGE, read: async () => [{ currency: null, number: decimal('200000'), count: 3 }] }
let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi({ usage })
})
beforeEach(() => {
  tenant = api.tenants.aTest
})
afterAll(() => api.close())

const setTime = (text: string): void => api.clock.set(instantOf(Date.parse(text)))
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const run = (id: string) => runBilling({ database: api.database, usage }, tenant.tenant, id)
const SCHEDULES = '/v1/pricing-plan-schedules'
const PREVIEW = '/v1/invoices/preview'

/** A subscription from 1 March 2026 with usage of 200.00 a month, and its schedule. */
async function subscribed(activate = true): Promise<{ subscriptionId: string; schedule: Row; productItem: string }> {
  setTime('2026-03-10T00:00:00Z')
  const { subscriptionId } = await billedSubscription(tenant, {
    start_at: '2026-03-01T00:00:00Z',
    bands: [{ amount: eur('1'), block_size: { number: '1000' } }],
    activate,
  })
  const { data } = await succeed(tenant, 'GET', `${SCHEDULES}?pricing_plan_subscription_id=${subscriptionId}`)
  const schedule: Row = data[0]
  const preview = await succeed(tenant, 'POST', PREVIEW, { pricing_plan_subscription_id: subscriptionId })
  const invoice: InvoiceView = preview['invoice']
  const productItem = invoice.periods?.[0]?.groups[0]?.lines?.[0]?.product_items[0]?.id
  if (!productItem) throw new Error('the preview has a line')
  return { subscriptionId, schedule, productItem }
}
const discountOf = (productItem: string) => ({
  product_items: [{ ids: [productItem], percentage: '10' }],
  totals: [{ amount: eur('15.00') }],
})
const patch = (schedule: Row, discount: unknown) => tenant.call('PATCH', `${SCHEDULES}/${schedule['id']}`, { discount })
const linesOf = (invoice: InvoiceView) =>
  (invoice.periods ?? []).flatMap(({ groups }) =>
    groups.flatMap(group =>
      (group.lines ?? []).map(line => [line.type, line.discount_type ?? null, line.amount_excluding_tax.quantity]),
    ),
  )
async function invoicesOf(subscriptionId: string): Promise<InvoiceView[]> {
  const url = `/v1/invoices?pricing_plan_subscription_id=${subscriptionId}&include_lines=true`
  const data: InvoiceView[] = (await succeed(tenant, 'GET', url))['data']
  return data.toSorted((a, b) => ((a.period_start ?? '') < (b.period_start ?? '') ? -1 : 1))
}

const DISCOUNTED = [
  ['REVENUE', null, '200.00'],
  ['DISCOUNT', 'PRODUCT_ITEM', '-20.00'],
  ['DISCOUNT', 'TOTAL', '-15.00'],
]

describe('discounts of a schedule', () => {
  test('are on the preview, and on the invoice from OPEN to FINAL, whose rows sum to it', async () => {
    const { subscriptionId, schedule, productItem } = await subscribed()
    expect(await patch(schedule, discountOf(productItem))).toMatchObject({
      status: 200,
      body: { discount: discountOf(productItem) },
    })
    const preview = await succeed(tenant, 'POST', PREVIEW, { pricing_plan_subscription_id: subscriptionId })
    expect(linesOf(preview['invoice'])).toEqual(DISCOUNTED)
    await run(subscriptionId)
    const [open] = await invoicesOf(subscriptionId)
    expect([open?.status, open && linesOf(open)]).toEqual(['OPEN', DISCOUNTED])
    setTime('2026-04-01T09:00:00Z')
    await run(subscriptionId)
    setTime('2026-04-02T09:00:00Z')
    await run(subscriptionId)
    const [final] = await invoicesOf(subscriptionId)
    if (!final) throw new Error('March is billed')
    expect([final.status, linesOf(final)]).toEqual(['FINAL', DISCOUNTED])
    expect(final.tax_summary).toMatchObject({
      base_amount: eur('165.00'),
      tax_amount: eur('34.65'),
      total_amount: eur('199.65'),
    })
    const rows = await readTenant(api.database, tenant.tenant, uow => linesOfInvoice(uow, idOf('invo', final.id)))
    expect(rows.map(row => [row.kind, row.amount_excluding_tax])).toEqual([
      ['REVENUE', '200'],
      ['DISCOUNT', '-20'],
      ['DISCOUNT', '-15'],
    ])
    expect(plain(sum(rows.map(row => decimal(row.amount_including_tax))))).toBe('199.65')
    expect(rows[1]).toMatchObject({
      pricing_plan_schedule_id: schedule['id'],
      product_item_id: productItem,
      source: { step: 'DISCOUNT', clause: `${schedule['id']} discount.product_items.0` },
    })
  })

  test('start and end in periods that are not FINAL, and those that are keep theirs', async () => {
    const { subscriptionId, schedule } = await subscribed()
    await run(subscriptionId)
    setTime('2026-04-01T01:00:00Z')
    await run(subscriptionId)
    // March is DRAFT: its period is still open.
    expect((await patch(schedule, { totals: [{ percentage: '10' }] })).status).toBe(200)
    setTime('2026-04-02T09:00:00Z')
    await run(subscriptionId)
    const [march] = await invoicesOf(subscriptionId)
    expect([march?.status, march?.tax_summary.base_amount.quantity]).toEqual(['FINAL', '180.00'])
    for (const [totals, field] of [
      [[], 'discount.totals'],
      [[{ percentage: '10' }, { percentage: '5' }], 'discount.totals.1.start_at'],
      [[{ percentage: '10', end_at: '2026-03-20T00:00:00Z' }], 'discount.totals.0.end_at'],
    ] as const)
      expect(await patch(schedule, { totals })).toMatchObject({ status: 400, body: { code: 'INVALID_FIELD', field } })
    const ended = { percentage: '10', end_at: '2026-04-01T00:00:00Z' }
    const next = { percentage: '5', start_at: '2026-04-01T00:00:00Z' }
    expect((await patch(schedule, { totals: [ended, next] })).status).toBe(200)
    await run(subscriptionId)
    const [still, april] = await invoicesOf(subscriptionId)
    expect(still?.tax_summary.base_amount.quantity).toBe('180.00')
    expect(april && linesOf(april)).toEqual([
      ['REVENUE', null, '200.00'],
      ['DISCOUNT', 'TOTAL', '-10.00'],
    ])
  })

  test('of an amount on a fee ahead and on usage afterwards are deducted once a month', async () => {
    setTime('2026-03-01T00:00:00Z')
    const { subscriptionId } = await billedSubscription(tenant, {
      start_at: '2026-03-01T00:00:00Z',
      bands: [{ amount: eur('1'), block_size: { number: '1000' } }],
      fee: '20',
      activate: false,
    })
    const { data } = await succeed(tenant, 'GET', `${SCHEDULES}?pricing_plan_subscription_id=${subscriptionId}`)
    const asked = { pricing_plan_subscription_id: subscriptionId, invoices_per_schedule: 2 }
    const previewed = async (): Promise<InvoiceView[]> =>
      (await succeed(tenant, 'POST', PREVIEW, asked))['invoice_infos'][0].invoices
    const ids = (await previewed()).flatMap(invoice =>
      (invoice.periods ?? []).flatMap(({ groups }) =>
        groups.flatMap(({ lines = [] }) => lines.flatMap(line => line.product_items.map(({ id }) => id))),
      ),
    )
    const discount = { product_items: [{ ids: [...new Set(ids)], amount: eur('30') }] }
    expect((await patch(data[0], discount)).status).toBe(200)
    const ahead = [
      ['REVENUE', null, '20.00'],
      ['DISCOUNT', 'PRODUCT_ITEM', '-20.00'],
    ]
    // The fee takes 20 of the 30, and the usage of its month the other 10.
    const march = [['REVENUE', null, '200.00'], ['DISCOUNT', 'PRODUCT_ITEM', '-10.00'], ...ahead]
    const sorted = (invoices: readonly InvoiceView[]) => invoices.map(invoice => linesOf(invoice).toSorted())
    expect(sorted(await previewed())).toEqual([ahead.toSorted(), march.toSorted()])
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${subscriptionId}`, { status: 'ACTIVE' })
    for (const time of ['2026-03-01T09:00:00Z', '2026-04-01T01:00:00Z', '2026-04-01T10:00:00Z']) {
      setTime(time)
      await run(subscriptionId)
      const shown = sorted((await invoicesOf(subscriptionId)).filter(each => each.period_start?.startsWith('2026-03')))
      // In the run that opens both, in one that computes the other again, and in the one that makes it FINAL.
      expect(shown, time).toContainEqual(march.toSorted())
      expect(shown, time).toContainEqual(ahead.toSorted())
    }
    const final = (await invoicesOf(subscriptionId)).filter(({ status }) => status === 'FINAL')
    const collecting = final.find(invoice => linesOf(invoice).length === march.length)
    expect(final).toHaveLength(2)
    const verified = await succeed(tenant, 'POST', `/v1/invoices/${collecting?.id}/verify`, {})
    expect([verified['identical'], verified['differences']]).toEqual([true, []])
  })

  test('are refused with the field when they cannot be', async () => {
    const { schedule, productItem } = await subscribed(false)
    const item = (of: object) => ({ product_items: [{ ids: [productItem], ...of }] })
    const total = (of: object) => ({ totals: [of] })
    const cases: readonly [object, string, string][] = [
      [total({}), 'MISSING_FIELD', 'totals.0.percentage'],
      [total({ percentage: '10', amount: eur('1') }), 'INVALID_FIELD', 'totals.0.amount'],
      [item({ percentage: '100.01' }), 'INVALID_FIELD', 'product_items.0.percentage'],
      [item({ percentage: '-1' }), 'INVALID_FIELD', 'product_items.0.percentage'],
      [total({ amount: eur('0') }), 'INVALID_FIELD', 'totals.0.amount.quantity'],
      [total({ amount: { quantity: '1', currency: 'USD' } }), 'INVALID_FIELD', 'totals.0.amount.currency'],
      [
        total({ percentage: '1', start_at: '2026-04-01T00:00:00Z', end_at: '2026-04-01T00:00:00Z' }),
        'INVALID_FIELD',
        'totals.0.end_at',
      ],
      [{ products: [{ ids: [productItem], percentage: '1' }] }, 'RESOURCE_NOT_FOUND', 'products.0.ids.0'],
      [{ pricings: [{ ids: ['pric_none'], percentage: '1' }] }, 'RESOURCE_NOT_FOUND', 'pricings.0.ids.0'],
    ]
    for (const [discount, code, field] of cases)
      expect((await patch(schedule, discount)).body, field).toMatchObject({ code, field: `discount.${field}` })
    expect((await patch(schedule, item({ percentage: '100' }))).status).toBe(200)
    expect((await patch(schedule, item({ percentage: '0' }))).status).toBe(200)
    expect((await patch(schedule, null)).body['discount']).toBeNull()
  })
})
