// Leases of customers who live in the time of a test clock: they end in that time, and not in that of the day.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiHarness, startOwnApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { openWorker, type TestWorker } from '../../../testing/worker.ts'
import { succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { walletsOf } from '../testing/wallets-of.ts'
import { leaseJobs } from './jobs.ts'

let api: ApiHarness
let tenant: TestTenant
let worker: TestWorker
let of: Awaited<ReturnType<typeof walletsOf>>
const post = (url: string, body: object): Promise<Row> => succeed(tenant, 'POST', `/v1/${url}`, body)

beforeAll(async () => {
  api = await startOwnApi({ usage: NO_USAGE })
  tenant = api.tenants.aTest
  worker = await openWorker(api)
  of = await walletsOf(tenant)
})
afterAll(async () => {
  await worker?.close()
  await api?.close()
})

/**
 * The wallet of a customer on a test clock at `frozen_time`. It has 100 credits, which expire on 1 February 2031; 30 of them are reserved for
 * an hour.
 */
async function reserved(frozen_time: string) {
  const { id: customer } = await tenant.seed.make(customerResource)
  const clock = (await post('test-clocks', { frozen_time, customer_ids: [customer] }))['id']
  const wallet = await of.wallet(of.CREDITS, customer)
  expect((await of.grant(wallet, '100', { expire_at: '2031-02-01T00:00:00Z' })).status).toBe(201)
  const credits = { quantity: '30', credit_type_id: of.creditType['id'] }
  const lease = { type: 'HOUR', value: 1 }
  const url = `wallets/${wallet['id']}/reservations`
  const made = await post(url, { reference: 'a', credits, lease })
  const status = async () => (await succeed(tenant, 'GET', `/v1/${url}/a`))['status']
  const advance = async (to: string) =>
    expect((await post(`test-clocks/${clock}/advance`, { frozen_time: to }))['complete']).toBe(true)
  return { wallet, made, url, status, advance }
}
const runJobs = () => worker.run(leaseJobs, 'find-ended-wallet-leases')

test('a lease is not over because the clock is behind the time of the day', async () => {
  const { wallet, made, url, status } = await reserved('2025-01-01T00:00:00Z')
  expect(made['lease_until']).toBe('2025-01-01T01:00:00Z')
  await runJobs()
  expect([await status(), await of.balance(wallet)]).toEqual(['ACTIVE', '100 / 30 / 70'])
  await post(`${url}/a/commit`, {})
  expect([await status(), await of.balance(wallet)]).toEqual(['COMMITTED', '70 / 0 / 70'])
})

test('nor because the lease of a customer without a clock is over', async () => {
  const { wallet, status } = await reserved('2025-01-01T00:00:00Z')
  const other = await of.wallet(of.CREDITS)
  await of.grant(other, '10')
  const credits = { quantity: '4', credit_type_id: of.creditType['id'] }
  await post(`wallets/${other['id']}/reservations`, { reference: 'b', credits, lease: { type: 'MINUTE', value: 1 } })
  const now = api.clock.now()
  api.clock.set(now + 61_000)
  try {
    expect(await runJobs()).toEqual(['find-ended-wallet-leases', 'end-wallet-leases'])
  } finally {
    api.clock.set(now)
  }
  expect(await of.balance(other)).toBe('10 / 0 / 10')
  expect([await status(), await of.balance(wallet)]).toEqual(['ACTIVE', '100 / 30 / 70'])
})

test('a lease ends when the clock is advanced past it, and what it held expires with its grant', async () => {
  const { wallet, status, advance } = await reserved('2031-01-01T00:00:00Z')
  await advance('2031-01-01T00:59:59Z')
  expect([await status(), await of.balance(wallet)]).toEqual(['ACTIVE', '100 / 30 / 70'])
  await advance('2031-01-01T01:00:00Z')
  expect([await status(), await of.balance(wallet)]).toEqual(['EXPIRED', '100 / 0 / 100'])
  const late = await reserved('2031-01-01T00:00:00Z')
  await late.advance('2031-02-01T00:00:00Z')
  expect([await late.status(), await of.balance(late.wallet)]).toEqual(['EXPIRED', '0 / 0 / 0'])
})
