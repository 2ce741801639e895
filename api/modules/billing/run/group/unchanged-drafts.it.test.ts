// A DRAFT without new usage in its period is not computed again: only its `usage_counted_until` moves. It is computed when anything else may
// change it.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { SERVICE } from '../../../../../shared/database/database.ts'
import { decimal } from '../../../../../shared/decimal.ts'
import type { Failpoints } from '../../../../../shared/failpoint.ts'
import { idOf } from '../../../../../shared/ids.ts'
import { at, type Interval } from '../../../../../shared/time.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import { refreshInvoice } from '../../../invoices/changes/refresh-invoice.ts'
import { BALANCE, walletsOf } from '../../../wallets/testing/wallets-of.ts'
import { type Billed, billedSubscription, succeed } from '../../testing/billed-subscription.ts'
import { NO_USAGE } from '../../testing/no-usage.ts'
import type { BillingDeps } from '../compute-invoice.ts'
import { subscriptionProducer } from '../subscription-producer.ts'
import { runGroup } from './run-group.ts'

const APRIL = at('2026-04-01T00:00:00Z')
let api: ApiHarness
let tenant: TestTenant
let billed: Billed
/** The tokens of each month, the month whose usage changed since the last run, and the last position of the log. */
let usage: { march: string; april: string; changed: 'nothing' | 'march'; position: number; complete: boolean }
/** The months whose usage the last run read. */
let read: string[]
/** Called after a month's usage was read, before it is used. */
let afterReading: (month: string) => Promise<void>
/** The positions after which the last run looked for changes. */
let checkedAfter: number[]

const monthOf = ({ start }: Interval): string => (start < APRIL ? 'march' : 'april')
const deps = (): BillingDeps => ({
  database: api.database,
  usage: {
    ...NO_USAGE,
    positions: async () => [usage.position],
    settle: async () => usage.complete,
    read: async (_tenant, _parts, { interval }) => {
      read.push(monthOf(interval))
      const number = interval.start < APRIL ? usage.march : usage.april
      await afterReading(monthOf(interval))
      return [{ currency: null, number: decimal(number), count: 1 }]
    },
    changedSince: async (_tenant, questions) =>
      questions.map(({ pieces }) =>
        pieces.map(({ interval, positions }) => {
          checkedAfter.push(...positions)
          return usage.changed === monthOf(interval)
        }),
      ),
  },
})

beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api?.close())
beforeEach(async () => {
  tenant = api.tenants.aLive
  afterReading = async () => {}
  usage = { march: '4000', april: '1000', changed: 'nothing', position: 10, complete: true }
  api.clock.set(Date.parse('2026-04-01T01:00:00Z'))
  billed = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z', fee: '10' })
  await run('2026-04-01T01:00:00Z')
})

/** A run at this time, after an event of April. */
async function run(time: string, of: Partial<BillingDeps> = {}): Promise<void> {
  api.clock.set(Date.parse(time))
  usage.position += 1
  usage.april = String(Number(usage.april) + 1_000)
  read = []
  checkedAfter = []
  const outcomes = await runGroup({ ...deps(), ...of }, tenant.tenant, [billed.subscriptionId])
  expect([...outcomes.values()].map(({ kind }) => kind)).toEqual(['DONE'])
}

async function invoice(status: string): Promise<Row> {
  const url = `/v1/invoices?pricing_plan_subscription_id=${billed.subscriptionId}&include_lines=true`
  const found = (await succeed(tenant, 'GET', url))['data'].find((each: Row) => each['status'] === status)
  if (!found) throw new Error(`no invoice is ${status}`)
  return found
}
const noticesOf = async ({ id }: Row): Promise<number> =>
  (await api.sql('select count(*)::int as count from outbox where object_id = $1', [id]))[0]?.['count']

test('the usage of a DRAFT is not read again where only that of the next month moved', async () => {
  const [draft, open] = [await invoice('DRAFT'), await invoice('OPEN')]
  const notices = await noticesOf(draft)
  expect(draft['usage_counted_until']).toBe('2026-04-01T01:00:00Z')
  await run('2026-04-01T01:01:00Z')
  expect(read).toEqual(['april'])
  // Since the run before.
  expect(new Set(checkedAfter)).toEqual(new Set([11]))
  expect(await invoice('DRAFT')).toEqual({ ...draft, usage_counted_until: '2026-04-01T01:01:00Z' })
  expect(await noticesOf(draft)).toBe(notices)
  const next = await invoice('OPEN')
  expect(next['usage_counted_until']).toBe('2026-04-01T01:01:00Z')
  expect(next['invoice_amount_excluding_tax']).not.toEqual(open['invoice_amount_excluding_tax'])
})

test('usage that falls into its period is on the DRAFT, and on the FINAL invoice', async () => {
  const draft = await invoice('DRAFT')
  Object.assign(usage, { march: '900000', changed: 'march' })
  await run('2026-04-01T01:01:00Z')
  expect(read.toSorted()).toEqual(['april', 'march'])
  const computed = await invoice('DRAFT')
  expect(computed['invoice_amount_excluding_tax']).not.toEqual(draft['invoice_amount_excluding_tax'])
  usage.changed = 'nothing'
  await run('2026-04-01T01:02:00Z')
  expect(read).toEqual(['april'])
  // To become FINAL it is always computed.
  await run('2026-04-02T01:00:00Z')
  expect(read.toSorted()).toEqual(['april', 'march'])
  const final = await invoice('FINAL')
  expect(final['invoice_amount_excluding_tax']).toEqual(computed['invoice_amount_excluding_tax'])
})

test('a DRAFT is computed again when an input changed', async () => {
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${billed.subscriptionId}`, {
    purchase_order_number: 'PO 7',
  })
  await run('2026-04-01T01:01:00Z')
  expect(read.toSorted()).toEqual(['april', 'march'])
  expect((await invoice('DRAFT'))['purchase_order_number']).toBe('PO 7')
})

test('a DRAFT is computed again when a wallet can pay it, also one that is filled while the group is prepared', async () => {
  const of = await walletsOf(tenant)
  const wallet = await of.wallet(BALANCE, billed.customerId)
  // The opening invoice ends first.
  const reserved = async (): Promise<unknown> => {
    const ofDrafts = `select sum(wallet_amount)::float8 as held from invoices where status = 'DRAFT' and pricing_plan_subscription_id = $1`
    return (await api.sql(ofDrafts, [billed.subscriptionId]))[0]?.['held']
  }
  await run('2026-04-01T01:01:00Z')
  expect(read).toEqual(['april'])
  let isFilled = false
  const failpoint: Failpoints = async name => {
    if (isFilled || name !== 'billing.before-invoice') return
    isFilled = true
    await of.grant(wallet, '5', { start_at: '2026-03-01T00:00:00Z' })
  }
  await run('2026-04-01T01:02:00Z', { failpoint })
  expect(isFilled).toBe(true)
  // Once without March, and once more with both.
  expect(read.toSorted()).toEqual(['april', 'april', 'march'])
  expect(await reserved()).toBe(5)
  await run('2026-04-01T01:03:00Z')
  expect(read.toSorted()).toEqual(['april', 'march'])
  expect(await reserved()).toBe(5)
})

test('a refresh does not replace what a run counted after the refresh had read usage', async () => {
  const draft = await invoice('DRAFT')
  const late = async (month: string): Promise<void> => {
    if (month !== 'march') return
    afterReading = async () => {}
    Object.assign(usage, { march: '900000', changed: 'march' })
    await run('2026-04-01T01:01:00Z')
    usage.changed = 'nothing'
  }
  afterReading = late
  const id = idOf('invo', draft['id'])
  await refreshInvoice({ ...deps(), producers: [subscriptionProducer(deps())] }, tenant.tenant, SERVICE, id)
  const refreshed = await invoice('DRAFT')
  expect(refreshed['invoice_amount_excluding_tax']).not.toEqual(draft['invoice_amount_excluding_tax'])
  await run('2026-04-01T01:02:00Z')
  expect(read).toEqual(['april'])
  expect((await invoice('DRAFT'))['invoice_amount_excluding_tax']).toEqual(refreshed['invoice_amount_excluding_tax'])
})

test('a run that could not count all usage leaves the positions as they were', async () => {
  const counted = async (): Promise<unknown> =>
    (
      await api.sql(
        'select to_json(usage_counted_positions) as positions from pricing_plan_subscriptions where id = $1',
        [billed.subscriptionId],
      )
    )[0]?.['positions']
  expect(await counted()).toEqual([11])
  usage.complete = false
  await run('2026-04-02T01:00:00Z')
  expect(await counted()).toEqual([11])
  usage.complete = true
  await run('2026-04-02T01:01:00Z')
  expect(await counted()).toEqual([13])
})
