// What the end of a subscription does to its invoices: advance charges are refunded when the request says so, and a
// VOID subscription voids its open invoices.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTenant, SERVICE } from '../../../../shared/database/database.ts'
import { idOf } from '../../../../shared/ids.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { insertCorrection } from '../late/corrected/store-corrections.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import { runBilling } from '../run/run-billing.ts'
import { type Billed, billedSubscription, succeed } from '../testing/billed-subscription.ts'
import { NO_USAGE } from '../testing/no-usage.ts'

let api: ApiHarness
let tenant: TestTenant
let deps: BillingDeps
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.aLive
  deps = { database: api.database, usage: NO_USAGE }
})
afterAll(() => api.close())

const PATH = '/v1/pricing-plan-subscriptions'
const setTime = (text: string): void => api.clock.set(Date.parse(text))
const run = (billed: Billed) => runBilling(deps, tenant.tenant, billed.subscriptionId)
const cancel = (billed: Billed, body: object) =>
  succeed(tenant, 'POST', `${PATH}/${billed.subscriptionId}/cancel`, body)
async function invoicesOf(billed: Billed): Promise<Row[]> {
  const url = `/v1/invoices?pricing_plan_subscription_id=${billed.subscriptionId}&include_lines=true`
  const data: Row[] = (await succeed(tenant, 'GET', url))['data']
  return data.toSorted((a, b) => (a['created_at'] < b['created_at'] ? -1 : 1))
}
const amounts = (invoice: Row | undefined): string[] =>
  (invoice?.['periods'] ?? []).flatMap((period: Row) =>
    period['groups'].flatMap((group: Row) => group['lines'].map((line: Row) => line['amount_excluding_tax'].quantity)),
  )

/** A fee of 100 a month ahead since April, whose invoice for April is FINAL. */
async function feeOfApril(schedule: Record<string, unknown> = {}): Promise<Billed> {
  setTime('2026-04-02T01:00:00Z')
  const start_at = '2026-04-01T00:00:00Z'
  const billed = await billedSubscription(tenant, { start_at, fee: '100', schedule: async () => schedule })
  await run(billed)
  setTime('2026-04-03T01:00:00Z')
  await run(billed)
  return billed
}

describe('refund_advance_charges', () => {
  test('credits the days left once, and a preview shows it before', async () => {
    const billed = await feeOfApril()
    setTime('2026-04-10T00:00:00Z')
    await cancel(billed, { type: 'DATE', cancel_at: '2026-04-16T00:00:00Z', refund_advance_charges: true })
    const preview = await tenant.call('POST', '/v1/invoices/preview', {
      pricing_plan_subscription_id: billed.subscriptionId,
    })
    setTime('2026-04-16T01:00:00Z')
    await run(billed)
    const last = (await invoicesOf(billed)).find(invoice => amounts(invoice).includes('-50.00'))
    expect(last).toMatchObject({ status: 'DRAFT', invoice_amount_including_tax: { quantity: '-60.50' } })
    expect(amounts(preview.body['invoice'])).toEqual(['-50.00'])
    await run(billed)
    expect((await invoicesOf(billed)).flatMap(amounts).filter(each => each.startsWith('-'))).toEqual(['-50.00'])
  })

  test('gives back what was paid after a discount on the total, not the price', async () => {
    const discount = { totals: [{ percentage: '10' }, { amount: { quantity: '30', currency: 'EUR' } }] }
    const billed = await feeOfApril({ discount })
    // The invoice for May covers the time from April on, and so does its discount.
    for (const time of ['2026-05-01T01:00:00Z', '2026-05-02T01:00:00Z']) {
      setTime(time)
      await run(billed)
    }
    await cancel(billed, { type: 'DATE', cancel_at: '2026-05-16T00:00:00Z', refund_advance_charges: true })
    setTime('2026-05-16T01:00:00Z')
    await run(billed)
    const invoices = await invoicesOf(billed)
    const may = invoices.find(({ period_start }) => period_start === '2026-04-01T00:00:00Z')
    expect(invoices.filter(({ status }) => status === 'FINAL').map(amounts)).toEqual([
      ['100.00', '-10.00', '-30.00'],
      ['100.00', '-10.00', '-30.00'],
    ])
    expect(may?.['status']).toBe('FINAL')
    // 16 of 31 days of 60.
    const last = invoices.filter(({ status }) => status !== 'FINAL')
    expect(last.map(amounts)).toEqual([['-30.97']])
    expect(last).toMatchObject([{ invoice_amount_including_tax: { quantity: '-37.47' } }])
  })

  test('refunds nothing that a credit note already credited', async () => {
    const line = { line_order: 0, amount: { quantity: '40.00', currency: 'EUR' } }
    const part = { periods: [{ period_order: 0, groups: [{ group_order: 0, lines: [line] }] }] }
    for (const [credit, expected] of [
      [part, [['-30.00']]],
      [{}, []],
    ] as const) {
      const billed = await feeOfApril()
      const final = (await invoicesOf(billed)).find(({ status }) => status === 'FINAL')
      setTime('2026-04-10T00:00:00Z')
      const { id } = await succeed(tenant, 'POST', `/v1/invoices/${final?.['id']}/credit`, credit)
      await cancel(billed, { type: 'DATE', cancel_at: '2026-04-16T00:00:00Z', refund_advance_charges: true })
      setTime('2026-04-16T01:00:00Z')
      await run(billed)
      const others = (await invoicesOf(billed)).filter(each => each['id'] !== id && each['id'] !== final?.['id'])
      expect(others.map(amounts).filter(each => each.length > 0)).toEqual(expected)
    }
  })

  test('refunds what only the draft of a correction credits: that charges it again when it is issued', async () => {
    const billed = await feeOfApril()
    const final = (await invoicesOf(billed)).find(({ status }) => status === 'FINAL')
    const original = idOf('invo', String(final?.['id']))
    setTime('2026-04-10T00:00:00Z')
    const note = await succeed(tenant, 'POST', `/v1/invoices/${original}/credit`, {})
    await inTenant(api.database, tenant.tenant, SERVICE, uow =>
      insertCorrection(uow, {
        original_invoice_id: original,
        credit_invoice_id: note['id'],
        // Any invoice: it is not read.
        new_invoice_id: original,
        pricing_plan_subscription_id: billed.subscriptionId,
        positions: [],
      }),
    )
    await cancel(billed, { type: 'DATE', cancel_at: '2026-04-16T00:00:00Z', refund_advance_charges: true })
    setTime('2026-04-16T01:00:00Z')
    await run(billed)
    const last = (await invoicesOf(billed)).filter(each => ![original, note['id']].includes(each['id']))
    expect(last.flatMap(amounts)).toEqual(['-50.00'])
  })

  test('where the issued invoice ends it is previewed and dated at the end, and nothing can follow there', async () => {
    const billed = await feeOfApril()
    setTime('2026-05-01T00:00:00Z')
    await run(billed)
    const [draft] = (await invoicesOf(billed)).filter(({ status }) => status === 'DRAFT')
    await succeed(tenant, 'PATCH', `/v1/invoices/${draft?.['id']}`, { status: 'FINAL' })
    await cancel(billed, { type: 'NOW', refund_advance_charges: true })

    const preview = () =>
      tenant.call('POST', '/v1/invoices/preview', { pricing_plan_subscription_id: billed.subscriptionId })
    const { body } = await preview()
    expect([amounts(body['invoice']), body['invoice'].invoice_date]).toEqual([['-100.00'], '2026-05-01T00:00:00Z'])
    expect(body['invoice_infos'].map((info: Row) => info['invoices'].map(amounts))).toEqual([[['-100.00']]])
    await run(billed)
    expect(amounts((await preview()).body['invoice'])).toEqual(['-100.00'])
    const [refund] = (await invoicesOf(billed)).filter(({ status }) => status === 'DRAFT')
    expect(refund).toMatchObject({ invoice_date: '2026-05-01T00:00:00Z', due_date: '2026-05-31T00:00:00Z' })
    await succeed(tenant, 'PATCH', `/v1/invoices/${refund?.['id']}`, { status: 'FINAL' })
    expect(await preview()).toMatchObject({ status: 400, body: { code: 'INVALID_OPERATION' } })

    // It would have the time of the refund, which has an invoice already.
    const url = `/v1/pricing-plan-schedules?pricing_plan_subscription_id=${billed.subscriptionId}`
    const [{ pricing_plan_version_id, pricing_plan_id }] = (await succeed(tenant, 'GET', url))['data']
    const start_at = '2026-05-01T00:00:00Z'
    for (const [path, given] of [
      [`${PATH}/${billed.subscriptionId}/cancel`, { type: 'UNDO' }],
      [`${PATH}/${billed.subscriptionId}/change-plan`, { pricing_plan_id }],
      [
        '/v1/pricing-plan-schedules?set_previous_end_at=true',
        { pricing_plan_subscription_id: billed.subscriptionId, pricing_plan_version_id, start_at },
      ],
    ] as const)
      expect(await tenant.call('POST', path, given), path).toMatchObject({
        status: 400,
        body: { code: 'INVALID_OPERATION' },
      })
    await run(billed)
    expect((await invoicesOf(billed)).filter(({ status }) => status !== 'FINAL')).toEqual([])
  })

  test.each([
    ['EXCLUDING_TAX', '100', []],
    ['INCLUDING_TAX', '121', []],
    // The discount is as much as the charge without its tax, so that the tax is left to give back.
    ['INCLUDING_TAX', '100', [['-17.36']]],
  ])(
    'with prices %s and a discount of %s, a cancellation at the end of an issued invoice refunds %j',
    async (amount_type, off, back) => {
      setTime('2026-04-02T01:00:00Z')
      const fee = amount_type === 'INCLUDING_TAX' ? '121' : '100'
      const discount = { totals: [{ amount: { quantity: off, currency: 'EUR' } }] }
      const start_at = '2026-04-01T00:00:00Z'
      const billed = await billedSubscription(tenant, {
        start_at,
        fee,
        plan: { amount_type },
        schedule: async () => ({ discount }),
      })
      await run(billed)
      setTime('2026-05-01T00:00:00Z')
      await run(billed)
      for (const { id } of (await invoicesOf(billed)).filter(({ status }) => status === 'DRAFT'))
        await succeed(tenant, 'PATCH', `/v1/invoices/${id}`, { status: 'FINAL' })
      await cancel(billed, { type: 'NOW', refund_advance_charges: true })
      await run(billed)
      expect((await invoicesOf(billed)).filter(({ status }) => status === 'DRAFT').map(amounts)).toEqual(back)
    },
  )

  test('refunds nothing by default, nor when the cancellation is revoked', async () => {
    const [kept, undone] = [await feeOfApril(), await feeOfApril()]
    setTime('2026-04-10T00:00:00Z')
    await cancel(kept, { type: 'DATE', cancel_at: '2026-04-16T00:00:00Z' })
    await cancel(undone, { type: 'DATE', cancel_at: '2026-04-16T00:00:00Z', refund_advance_charges: true })
    await run(undone)
    await cancel(undone, { type: 'UNDO' })
    setTime('2026-05-01T01:00:00Z')
    for (const billed of [kept, undone]) {
      await run(billed)
      expect((await invoicesOf(billed)).flatMap(amounts).filter(each => each.startsWith('-'))).toEqual([])
    }
    expect((await invoicesOf(undone)).flatMap(amounts)).toContain('100.00')
  })
})

describe('change-plan', () => {
  /** The invoice on 1 May, after a change from a fee of 100 a month to one of 200 on 11 April. */
  async function changedTo(upgrade_type: string): Promise<Row[]> {
    const billed = await feeOfApril()
    const planOf = async ({ subscriptionId }: Billed): Promise<string> => {
      const url = `/v1/pricing-plan-schedules?pricing_plan_subscription_id=${subscriptionId}`
      return (await succeed(tenant, 'GET', url))['data'][0].pricing_plan_id
    }
    const other = { start_at: '2026-04-01T00:00:00Z', fee: '200', activate: false }
    const pricing_plan_id = await planOf(await billedSubscription(tenant, other))
    await succeed(tenant, 'POST', '/v1/pricing-plan-groups', {
      reference: tenant.seed.unique('tiers'),
      status: 'ACTIVE',
      pricing_plan_ids: [await planOf(billed), pricing_plan_id],
      upgrade_type,
    })
    setTime('2026-04-11T10:00:00Z')
    await succeed(tenant, 'POST', `${PATH}/${billed.subscriptionId}/change-plan`, { pricing_plan_id })
    setTime('2026-05-01T01:00:00Z')
    await run(billed)
    return (await invoicesOf(billed)).filter(({ status }) => status === 'DRAFT')
  }

  test('IMMEDIATE_PRO_RATA credits the days left, and charges them of the new plan', async () => {
    const [due] = await changedTo('IMMEDIATE_PRO_RATA')
    // 20 of 30 days of 200, and of 100 back; May of 200.
    expect(amounts(due).toSorted()).toEqual(['-66.67', '133.33', '200.00'])
    expect(due?.['invoice_amount_excluding_tax'].quantity).toBe('266.66')
  })

  test('IMMEDIATE credits nothing', async () => {
    const [due] = await changedTo('IMMEDIATE')
    expect(amounts(due).toSorted()).toEqual(['133.33', '200.00'])
  })

  test('NEXT_BILLING_PERIOD changes the price from the next period on', async () => {
    const [due] = await changedTo('NEXT_BILLING_PERIOD')
    expect(amounts(due)).toEqual(['200.00'])
  })
})

describe('void', () => {
  const voided = (billed: Billed) => tenant.call('POST', `${PATH}/${billed.subscriptionId}/void`)

  test('voids what is not FINAL, and nothing is billed any more', async () => {
    setTime('2026-03-20T00:00:00Z')
    const billed = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z', fee: '100' })
    await run(billed)
    expect((await invoicesOf(billed)).map(row => row['status']).toSorted()).toEqual(['DRAFT', 'OPEN'])
    expect(await voided(billed)).toMatchObject({ status: 200, body: { status: 'VOID' } })
    expect((await invoicesOf(billed)).map(row => row['status'])).toEqual(['VOID', 'VOID'])
    setTime('2026-04-05T00:00:00Z')
    expect((await run(billed)).nextBillingAt).toBeNull()
    expect(await invoicesOf(billed)).toHaveLength(2)
    expect((await voided(billed)).status).toBe(200)
    expect(await tenant.call('POST', `${PATH}/${billed.subscriptionId}/archive`)).toMatchObject({ status: 200 })
  })

  test('is refused while an invoice is FINAL, naming its number, and for a DRAFT', async () => {
    const billed = await feeOfApril()
    const [final] = (await invoicesOf(billed)).filter(row => row['status'] === 'FINAL')
    const refused = await voided(billed)
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'INVALID_OPERATION', field: 'status', resource_type: 'INVOICE' },
    })
    expect(final).toBeDefined()
    const draft = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z', activate: false })
    expect((await voided(draft)).body).toMatchObject({ code: 'INVALID_OPERATION', field: 'status' })
  })

  test('beside a run leaves no open invoice of a VOID subscription', async () => {
    setTime('2026-03-20T00:00:00Z')
    const billed = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z', fee: '100' })
    await Promise.all([run(billed), voided(billed)])
    await run(billed)
    const left = (await invoicesOf(billed)).map(row => row['status'])
    expect(left.filter(status => status !== 'VOID')).toEqual([])
  })
})
