// Invoices that are not to be issued: VOID, ARCHIVED, and what billing then does with their period.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal, succeed } from '../../../testing/calls.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { noticesOf } from '../../../testing/notices.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import { type Billed, billedSubscription } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'

let api: ApiHarness
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
})
afterAll(async () => await api?.close())

const setTime = (text: string): void => api.clock.set(Date.parse(text))
const run = (tenant: TestTenant, billed: Billed) =>
  runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, billed.subscriptionId)

async function invoicesOf(tenant: TestTenant, billed: Billed): Promise<Row[]> {
  const url = `/v1/invoices?pricing_plan_subscription_id=${billed.subscriptionId}&include_lines=true`
  const data: Row[] = (await succeed(tenant, 'GET', url))['data']
  return data.toSorted((a, b) => (a['delivery_date'] < b['delivery_date'] ? -1 : 1))
}

/** A subscription of 100 a month in advance, at 20 March: the DRAFT of March's fee, and the OPEN one that has April's. */
async function drafted(tenant: TestTenant): Promise<{ billed: Billed; draft: Row; open: Row }> {
  setTime('2026-03-20T10:00:00Z')
  const billed = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z', fee: '100' })
  await run(tenant, billed)
  const all = await invoicesOf(tenant, billed)
  const [draft, open] = ['DRAFT', 'OPEN'].map(status => all.find(each => each['status'] === status))
  if (!draft || !open) throw new Error('a fee in advance makes a DRAFT and an OPEN invoice')
  return { billed, draft, open }
}

const fees = (invoices: readonly Row[]): string[] =>
  invoices
    .flatMap(({ status, periods }) =>
      periods.flatMap((period: Row) => period['groups'].map(() => `${period['start_at'].slice(0, 7)} ${status}`)),
    )
    .toSorted()

describe('VOID', () => {
  test('a VOID invoice takes no number, and neither its period nor its fee is billed again', async () => {
    const tenant = api.tenants.aTest
    const { billed, draft, open } = await drafted(tenant)
    const voided = await succeed(tenant, 'POST', `/v1/invoices/${draft['id']}/void`)
    expect(voided).toMatchObject({ status: 'VOID', invoice_number: null, finalize_at: null })
    expect((await noticesOf(api, draft['id'])).map(({ type }) => type)).toEqual([
      'INVOICE.CREATED',
      'INVOICE.UPDATED',
      'INVOICE.STATUS_TO_VOID',
    ])
    await run(tenant, billed)
    expect(fees(await invoicesOf(tenant, billed))).toEqual(['2026-03 VOID', '2026-04 OPEN'])

    // The running invoice too: neither its period nor the fee that it charged in advance is billed again.
    await succeed(tenant, 'PATCH', `/v1/invoices/${open['id']}`, { status: 'VOID' })
    await run(tenant, billed)
    setTime('2026-04-02T10:00:00Z')
    await run(tenant, billed)
    expect(fees(await invoicesOf(tenant, billed))).toEqual(['2026-03 VOID', '2026-04 VOID', '2026-05 OPEN'])
    const preview = await succeed(tenant, 'POST', '/v1/invoices/preview', {
      pricing_plan_subscription_id: billed.subscriptionId,
    })
    expect(preview['invoice'].periods.map((period: Row) => period['start_at'])).toEqual(['2026-05-01T00:00:00Z'])
  })

  test('an invoice whose period its subscription no longer has releases the period', async () => {
    const tenant = api.tenants.bTest
    const { billed } = await drafted(tenant)
    setTime('2026-04-01T00:00:00Z')
    await run(tenant, billed)
    await succeed(tenant, 'POST', `/v1/pricing-plan-subscriptions/${billed.subscriptionId}/cancel`, { type: 'NOW' })
    await run(tenant, billed)
    const rows = await api.sql(
      'select period_start, status, holds_period from invoices where pricing_plan_subscription_id = $1 order by 1, 2',
      [billed.subscriptionId],
    )
    expect(rows.at(-1)).toMatchObject({ status: 'VOID', holds_period: false })
  })

  test('what is FINAL or ARCHIVED cannot become VOID, and VOID takes no other change', async () => {
    const tenant = api.tenants.aTest
    const { draft, open } = await drafted(tenant)
    const url = `/v1/invoices/${draft['id']}`
    expect(await refusal(tenant, 'PATCH', url, { status: 'VOID', on_hold: true })).toEqual([
      400,
      'INVALID_FIELD',
      'on_hold',
    ])
    await succeed(tenant, 'PATCH', url, { status: 'FINAL' })
    expect(await refusal(tenant, 'POST', `${url}/void`)).toEqual([400, 'INVALID_OPERATION', 'status'])
    expect(await refusal(tenant, 'POST', `${url}/archive`)).toEqual([400, 'INVALID_OPERATION', 'status'])
    const other = `/v1/invoices/${open['id']}`
    expect(await refusal(tenant, 'POST', `${other}/archive`)).toEqual([400, 'INVALID_OPERATION', 'status'])
    await succeed(tenant, 'POST', `${other}/void`)
    expect(await succeed(tenant, 'POST', `${other}/void`)).toMatchObject({ status: 'VOID' })
    for (const [method, path, body, field] of [
      ['PATCH', other, { on_hold: true }, 'on_hold'],
      ['PATCH', other, { status: 'FINAL' }, 'status'],
      ['PATCH', other, { payment_status: 'PAID' }, 'payment_status'],
      ['PATCH', other, { notes: ['x'] }, 'notes'],
      ['POST', `${other}/refresh`, { types: ['FULL'] }, 'types'],
    ] as const)
      expect(await refusal(tenant, method, path, body)).toEqual([400, 'INVALID_OPERATION', field])
    expect(await succeed(tenant, 'POST', `${other}/archive`)).toMatchObject({ status: 'ARCHIVED' })
    expect(await succeed(tenant, 'POST', `${other}/archive`)).toMatchObject({ status: 'ARCHIVED' })
    expect(await refusal(tenant, 'POST', `${other}/void`)).toEqual([400, 'INVALID_OPERATION', 'status'])
  })

  test('VOID against FINAL, many times at once: one wins, and no number is lost or used twice', async () => {
    const tenant = api.tenants.bLive
    const numbers: number[] = []
    for (let round = 0; round < 6; round += 1) {
      const { draft } = await drafted(tenant)
      const url = `/v1/invoices/${draft['id']}`
      const answers = await Promise.all([
        tenant.call('POST', `${url}/void`),
        tenant.call('PATCH', url, { status: 'FINAL' }),
        tenant.call('PATCH', url, { status: 'FINAL' }),
        tenant.call('POST', `${url}/void`),
      ])
      const after = await succeed(tenant, 'GET', url)
      expect(['VOID', 'FINAL']).toContain(after['status'])
      for (const { status, body } of answers) {
        if (status === 200) expect(body['status']).toBe(after['status'])
        else expect([status, body['code'], body['field']]).toEqual([400, 'INVALID_OPERATION', 'status'])
      }
      if (after['status'] === 'FINAL') numbers.push(Number(after['invoice_number'].split('-').at(-1)))
      else expect(after['invoice_number']).toBeNull()
    }
    const { draft } = await drafted(tenant)
    const last = await succeed(tenant, 'PATCH', `/v1/invoices/${draft['id']}`, { status: 'FINAL' })
    numbers.push(Number(last['invoice_number'].split('-').at(-1)))
    const [first = 0] = numbers
    expect(numbers).toEqual(numbers.map((_, index) => first + index))
  })
})

describe('everything that changes one invoice, at once', () => {
  const finalize = (tenant: TestTenant, url: string) => tenant.call('PATCH', url, { status: 'FINAL' })
  const CALLS = {
    finalize,
    void: (tenant, url) => tenant.call('POST', `${url}/void`),
    credit: (tenant, url) => tenant.call('POST', `${url}/credit`, {}),
    refresh: (tenant, url) => tenant.call('POST', `${url}/refresh`, { types: ['FULL'] }),
    note: (tenant, url) => tenant.call('PATCH', url, { notes: ['Order 7'] }),
  } as const satisfies Record<string, (tenant: TestTenant, url: string) => Promise<unknown>>
  type Call = keyof typeof CALLS
  const BEFORE_VOID: readonly Call[] = ['finalize', 'credit', 'refresh', 'note', 'finalize', 'credit']
  const numberOf = (row: Row): number => Number(row['invoice_number'].split('-').at(-1))

  /** What became of a DRAFT that all of them were sent for at once. */
  async function changedAtOnce(tenant: TestTenant, calls: readonly Call[]) {
    const { draft } = await drafted(tenant)
    const url = `/v1/invoices/${draft['id']}`
    const answers = await Promise.all(calls.map(async call => ({ call, ...(await CALLS[call](tenant, url)) })))
    const after = await succeed(tenant, 'GET', url)
    const succeeded = answers.filter(({ status }) => status === 200)
    for (const { call, status, body } of answers)
      if (status !== 200) expect([call, status, body['code']]).toEqual([call, 400, 'INVALID_OPERATION'])
    const isNoted = succeeded.some(({ call }) => call === 'note')
    expect(after['notes']).toEqual(isNoted ? ['Order 7'] : [])
    return { url, after, credits: succeeded.filter(({ call }) => call === 'credit').map(({ body }) => body) }
  }

  test('FINAL or VOID, credited once at most, and no number is lost or used twice', async () => {
    const tenant = api.tenants.bTest
    const numbers: number[] = []
    const ofCredits: number[] = []
    // One round without VOID, so that it becomes FINAL for certain.
    for (const calls of [BEFORE_VOID, [...BEFORE_VOID, 'void'], ['void', ...BEFORE_VOID]] as const) {
      const { url, after, credits } = await changedAtOnce(tenant, calls)
      expect(calls === BEFORE_VOID ? ['FINAL'] : ['FINAL', 'VOID']).toContain(after['status'])
      expect(credits.length).toBeLessThanOrEqual(after['status'] === 'FINAL' ? 1 : 0)
      if (after['status'] === 'VOID') {
        expect(after['invoice_number']).toBeNull()
        continue
      }
      numbers.push(numberOf(after))
      const [credit = await succeed(tenant, 'POST', `${url}/credit`, {})] = credits
      const issued = await Promise.all([1, 2].map(() => finalize(tenant, `/v1/invoices/${credit['id']}`)))
      expect(issued.map(({ status }) => status)).toEqual([200, 200])
      ofCredits.push(numberOf(issued[0]?.body ?? {}))
      expect(await refusal(tenant, 'POST', `${url}/credit`, {})).toEqual([400, 'INVALID_OPERATION', 'periods'])
    }
    for (const each of [numbers, ofCredits]) expect(each).toEqual(each.map((_, index) => (each[0] ?? 0) + index))
  })
})

describe('notes', () => {
  test('are printed below those of the tax, survive a refresh, and are fixed with the invoice', async () => {
    const tenant = api.tenants.aTest
    const { draft } = await drafted(tenant)
    const url = `/v1/invoices/${draft['id']}`
    expect((await succeed(tenant, 'PATCH', url, { notes: ['Thank you.'] }))['notes']).toEqual(['Thank you.'])
    expect((await succeed(tenant, 'POST', `${url}/refresh`, { types: ['FULL'] }))['notes']).toEqual(['Thank you.'])
    const final = await succeed(tenant, 'PATCH', url, { status: 'FINAL', notes: ['Thank you.', 'Order 7'] })
    expect([final['status'], final['notes']]).toEqual(['FINAL', ['Thank you.', 'Order 7']])
    expect(await refusal(tenant, 'PATCH', url, { notes: null })).toEqual([400, 'INVALID_OPERATION', 'notes'])
    expect(await refusal(tenant, 'PATCH', url, { notes: [''] })).toEqual([400, 'INVALID_FIELD', 'notes.0'])
  })
})
