// Invoices that become overdue: what a read shows, and the event, which is emitted once. Real PostgreSQL; the test sets
// the time.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createFailpoints } from '../../../../shared/failpoint.ts'
import { succeed } from '../../../testing/calls.ts'
import { expectPayloads } from '../../../testing/event-payloads.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { noticesOf } from '../../../testing/notices.ts'
import type { Row } from '../../../testing/wire.ts'
import { openWorkerDatabase } from '../../../testing/worker.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import { announceOverdue } from './announce-overdue.ts'
import { findOverdue } from './jobs.ts'

let api: ApiHarness
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
})
afterAll(async () => await api?.close())

const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const setTime = (text: string): void => api.clock.set(Date.parse(text))
const announce = (tenant: TestTenant, more: object = {}) =>
  announceOverdue({ database: api.database, ...more }, tenant.tenant, null)
const announced = async (id: unknown): Promise<string[]> =>
  (await noticesOf(api, id)).map(({ type }) => type).filter(type => type === 'INVOICE.OVERDUE')

type Issued = { readonly id: string; readonly url: string; readonly customer: string }
/** An invoice of 121.00 that is due on 14 June in UTC. */
async function issued(
  tenant: TestTenant,
  { status = 'FINAL', price = '100', clock = null }: { status?: string; price?: string; clock?: string | null } = {},
): Promise<Issued> {
  const customer = await succeed(tenant, 'POST', '/v1/customers', {
    reference: tenant.seed.unique('acme'),
    type: 'ORGANIZATION',
    status: 'ACTIVE',
    organization: { legal_name: 'Acme', registered_address: { country: 'NL' } },
  })
  if (clock) await succeed(tenant, 'POST', `/v1/test-clocks/${clock}/customers`, { customer_ids: [customer['id']] })
  const entity = await succeed(tenant, 'POST', '/v1/billing-entities', {
    reference: tenant.seed.unique('main'),
    legal_name: 'Millrace',
    registered_address: { country: 'NL' },
  })
  const { id } = await succeed(tenant, 'POST', '/v1/invoices', {
    customer_id: customer['id'],
    billing_entity_id: entity['id'],
    invoice_date: '2026-05-31T00:00:00Z',
    due_date_configuration: { type: 'PERIOD_AFTER_INVOICE_DATE', period: { type: 'DAY', value: 14 } },
    lines: [{ pricing_name: 'Workshop', pricing_type: 'FIXED', pricing_band: { amount: eur(price) } }],
  })
  const url = `/v1/invoices/${id}`
  if (status !== 'DRAFT') await succeed(tenant, 'PATCH', url, { status })
  return { id, url, customer: customer['id'] }
}
const isOverdue = async (tenant: TestTenant, { url, id, customer }: Issued): Promise<boolean[]> => {
  const { data } = await succeed(tenant, 'GET', `/v1/invoices?customer_id=${customer}`)
  const listed: Row | undefined = (data as Row[]).find(row => row['id'] === id)
  return [(await succeed(tenant, 'GET', url))['payment_overdue'], listed?.['payment_overdue']]
}

test('an invoice open after its due date is overdue on every read, and the event is emitted once', async () => {
  const tenant = api.tenants.aLive
  setTime('2026-05-31T10:00:00Z')
  const [unpaid, partly, paid, credited] = [
    await issued(tenant),
    await issued(tenant),
    await issued(tenant),
    await issued(tenant),
  ]
  const others = [paid, credited, await issued(tenant, { status: 'DRAFT' }), await issued(tenant, { price: '0' })]
  await succeed(tenant, 'POST', '/v1/payments', { invoice_id: partly.id, amount: eur('21') })
  await succeed(tenant, 'PATCH', paid.url, { payment_status: 'PAID' })
  const note = await succeed(tenant, 'POST', `${credited.url}/credit`, {})
  await succeed(tenant, 'PATCH', `/v1/invoices/${note['id']}`, { status: 'FINAL' })

  setTime('2026-06-14T23:59:59Z')
  expect(await announce(tenant)).toBe(0)
  expect(await isOverdue(tenant, unpaid)).toEqual([false, false])
  setTime('2026-06-15T00:00:00Z')
  const before = await succeed(tenant, 'GET', unpaid.url)
  expect(await announce(tenant)).toBe(2)
  for (const invoice of [unpaid, partly]) {
    expect(await isOverdue(tenant, invoice)).toEqual([true, true])
    expect(await announced(invoice.id)).toHaveLength(1)
  }
  for (const invoice of others) {
    expect(await isOverdue(tenant, invoice)).toEqual([false, false])
    expect(await announced(invoice.id)).toEqual([])
  }
  // The document does not change.
  expect(await succeed(tenant, 'GET', unpaid.url)).toEqual(before)
  const last = (await noticesOf(api, partly.id)).at(-1)
  expect(last).toMatchObject({
    type: 'INVOICE.OVERDUE',
    data: { id: partly.id, payment_overdue: true, open_invoice_amount: eur('100.00') },
  })
  await expectPayloads(api, unpaid.id, ['INVOICE.OVERDUE'])

  await succeed(tenant, 'PATCH', unpaid.url, { payment_status: 'PAID' })
  expect(await isOverdue(tenant, unpaid)).toEqual([false, false])
  await succeed(tenant, 'PATCH', unpaid.url, { payment_status: 'UNPAID' })
  expect(await isOverdue(tenant, unpaid)).toEqual([true, true])
  setTime('2026-08-01T00:00:00Z')
  expect(await announce(tenant)).toBe(0)
  expect(await announced(unpaid.id)).toHaveLength(1)
})

test('a run that dies before its commit emits nothing; two concurrent runs and a payment emit at most one event per invoice', async () => {
  const tenant = api.tenants.bLive
  setTime('2026-05-31T10:00:00Z')
  const all = [await issued(tenant), await issued(tenant), await issued(tenant)]
  const [racing] = all
  setTime('2026-06-20T10:00:00Z')
  const failpoint = createFailpoints('invoices.before-overdue-commit:error')
  await expect(announce(tenant, { failpoint })).rejects.toThrow('failpoint')
  for (const { id } of all) expect(await announced(id)).toEqual([])

  const [first, second] = await Promise.all([
    announce(tenant),
    announce(tenant),
    succeed(tenant, 'PATCH', String(racing?.url), { payment_status: 'PAID' }),
  ])
  const counts = await Promise.all(all.map(async ({ id }) => (await announced(id)).length))
  expect(counts.slice(1)).toEqual([1, 1])
  expect(first + second).toBe(counts.reduce((sum, each) => sum + each, 0))
  // If it was paid first it was never overdue; otherwise the event was emitted before the payment.
  const types = (await noticesOf(api, racing?.id)).map(({ type }) => type)
  expect(types.indexOf('INVOICE.OVERDUE')).toBeLessThan(types.indexOf('INVOICE.PAID'))
  expect(await announce(tenant)).toBe(0)
})

test('the search finds a tenant until its event is emitted; advancing a test clock emits the events of its customers', async () => {
  const tenant = api.tenants.aTest
  setTime('2026-05-31T10:00:00Z')
  const system = await openWorkerDatabase(api, 1)
  const isFound = async (): Promise<boolean> =>
    (await findOverdue(system)).some(
      ({ platform_id, environment }) => platform_id === tenant.tenant.platformId && environment === 'TEST',
    )
  try {
    const frozen_time = '2026-05-31T10:00:00Z'
    const clock = await succeed(tenant, 'POST', '/v1/test-clocks', { frozen_time })
    const living = await issued(tenant, { clock: clock['id'] })
    setTime('2026-07-01T00:00:00Z')
    expect([await isFound(), await announce(tenant)]).toEqual([false, 0])
    expect(await isOverdue(tenant, living)).toEqual([false, false])
    const mixed: Row[] = (await succeed(tenant, 'GET', '/v1/invoices'))['data']
    expect(mixed.find(({ id }) => id === living.id)).toMatchObject({ payment_overdue: false })

    const plain = await issued(tenant)
    expect(await isFound()).toBe(true)
    expect(await announce(tenant)).toBe(1)
    expect(await isFound()).toBe(false)
    expect([await announced(plain.id), await announced(living.id)]).toEqual([['INVOICE.OVERDUE'], []])

    const advance = (time: string) =>
      succeed(tenant, 'POST', `/v1/test-clocks/${clock['id']}/advance`, { frozen_time: time })
    await advance('2026-06-14T12:00:00Z')
    expect(await announced(living.id)).toEqual([])
    await advance('2026-06-15T00:00:00Z')
    await advance('2026-06-20T00:00:00Z')
    expect(await announced(living.id)).toEqual(['INVOICE.OVERDUE'])
    expect(await isOverdue(tenant, living)).toEqual([true, true])
  } finally {
    await system.close()
  }
})
