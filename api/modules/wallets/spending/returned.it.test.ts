// What credit notes give back to the wallets that paid their invoice, and the tax on it (docs/decisions/0024).
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../../../shared/database/database.ts'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import { refusal } from '../../../testing/calls.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { openWorkerDatabase } from '../../../testing/worker.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import { type Billed, billedSubscription, succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import type { UsageReader } from '../../billing/usage/usage-reader.ts'
import { expireGrants } from '../expiry/expire-grants.ts'
import { compareLedger } from '../ledger/compare-ledger.ts'
import { linesOf, MONEY, shown, walletsOf } from '../testing/wallets-of.ts'

/** 200.00 of usage in April, at 1 for 1,000. */
const usage: UsageReader = {
  ...NO_USAGE,
  read: async (_tenant, parts) =>
    parts.some(({ interval }) => interval.start >= Date.parse('2026-05-01T00:00:00Z'))
      ? []
      : [{ currency: null, number: decimal('200000'), count: 1 }],
}
let api: ApiHarness
let tenant: TestTenant
let system: Database
let of: Awaited<ReturnType<typeof walletsOf>>

beforeAll(async () => {
  api = await startApi({ usage })
  tenant = api.tenants.bTest
  of = await walletsOf(tenant)
  system = await openWorkerDatabase(api, 1)
})
afterAll(async () => {
  await system?.close()
  await api?.close()
})
// As `npm run reconcile` compares it.
afterEach(async () => expect(await compareLedger(system)).toMatchObject({ sum: '0', differences: [] }))

const setTime = (text: string): void => api.clock.set(Date.parse(text))
const run = (billed: Billed) => runBilling({ database: api.database, usage }, tenant.tenant, billed.subscriptionId)
const bands = [{ amount: { quantity: '1', currency: 'EUR' }, block_size: { number: '1000' } }]
const START = '2026-04-01T00:00:00Z'

/** A FINAL invoice of 200.00 for April, and the wallet with these grants, which expire one after the other, that paid of it. */
async function paid(grants: readonly (readonly [quantity: string, expire_at: string])[]) {
  setTime('2026-04-10T00:00:00Z')
  const billed = await billedSubscription(tenant, { start_at: START, bands })
  const wallet = await of.wallet(MONEY, billed.customerId)
  const ids: string[] = []
  for (const [quantity, expire_at] of grants)
    ids.push((await of.grant(wallet, quantity, { start_at: START, expire_at })).body['id'])
  setTime('2026-05-01T00:10:00Z')
  await run(billed)
  setTime('2026-05-02T09:00:00Z')
  await run(billed)
  const url = `/v1/invoices?pricing_plan_subscription_id=${billed.subscriptionId}&include_lines=true&limit=100`
  const data: Row[] = (await succeed(tenant, 'GET', url))['data']
  const invoice = data.find(each => each['period_start'] === START && each['status'] === 'FINAL')
  if (!invoice) throw new Error('April is billed')
  return { wallet, ids, url: `/v1/invoices/${invoice['id']}`, invoice }
}

const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
/** The groups of the usage and of the wallet, with an amount of each, or the whole. */
const parts = (...amounts: readonly (string | null)[]) => ({
  periods: [
    {
      period_order: 0,
      groups: amounts.flatMap((quantity, group_order) =>
        quantity === '' ? [] : [{ group_order, ...(quantity === null ? {} : { amount: eur(quantity) }) }],
      ),
    },
  ],
})
const finalize = (id: string) => succeed(tenant, 'PATCH', `/v1/invoices/${id}`, { status: 'FINAL' })
/** What came back of each grant. */
async function backOf({ wallet, ids }: { readonly wallet: Row; readonly ids: readonly string[] }): Promise<string[]> {
  const { body } = await tenant.call('GET', `/v1/wallets/${wallet['id']}/transactions?types[]=RELEASED&limit=100`)
  const back: Row[] = body['data'].filter((row: Row) => row['debit_account'] === 'SPENT')
  const ofGrant = (id: string) =>
    back.filter(row => row['wallet_grant_id'] === id).map(row => decimal(row['value'].amount.quantity))
  return ids.map(id => plain(sum(ofGrant(id))))
}

describe('a credit note', () => {
  test('over all of the invoice gives the wallet all that it paid, without tax, once it is FINAL', async () => {
    const { wallet, url, invoice } = await paid([['30', '2027-01-01T00:00:00Z']])
    expect([...shown(invoice), await of.balance(wallet)]).toEqual([
      'REVENUE 200.00',
      'WALLET -30.00',
      '170.00',
      '35.70',
      '205.70',
      '0 / 0 / 0',
    ])
    const credit = await succeed(tenant, 'POST', `${url}/credit`, {})
    expect(shown(credit)).toEqual(['REVENUE -200.00', 'WALLET 30.00', '-170.00', '-35.70', '-205.70'])
    expect(await of.balance(wallet)).toBe('0 / 0 / 0')
    await Promise.all([finalize(credit['id']), finalize(credit['id'])])
    expect(await of.balance(wallet)).toBe('30 / 0 / 30')
    await finalize(credit['id'])
    expect(await of.entries(wallet)).toEqual([
      'GRANTED 30 REQUEST',
      'RELEASED 30 INVOICE',
      'RESERVED 30 INVOICE',
      'SPENT 30 INVOICE',
    ])
  })

  test('in parts gives back in parts, what was spent last first; one that is VOID gives nothing', async () => {
    const funded = await paid([
      ['50', '2027-01-01T00:00:00Z'],
      ['100', '2027-02-01T00:00:00Z'],
    ])
    const { wallet, url } = funded
    const credit = (body: object) => succeed(tenant, 'POST', `${url}/credit`, body)
    const other = await credit(parts('40', '-40'))
    expect(shown(other)).toEqual(['REVENUE -40.00', 'WALLET 40.00', '0.00', '0.00', '0.00'])
    await succeed(tenant, 'POST', `/v1/invoices/${other['id']}/void`)
    expect(await of.balance(wallet)).toBe('0 / 0 / 0')
    // In proportion, where the period is credited by an amount: 10 of the 50 that are due, so a fifth of each line.
    const fifth = await credit({ periods: [{ period_order: 0, amount: eur('10') }] })
    expect(shown(fifth)).toEqual(['REVENUE -40.00', 'WALLET 30.00', '-10.00', '-2.10', '-12.10'])
    const more = await credit(parts('90', '-90'))
    const [first, second] = await Promise.all([finalize(fifth['id']), finalize(more['id'])])
    expect([first['status'], second['status'], await of.balance(wallet)]).toEqual(['FINAL', 'FINAL', '120 / 0 / 120'])
    expect(await backOf(funded)).toEqual(['20', '100'])
    await finalize((await credit({}))['id'])
    expect(await of.balance(wallet)).toBe('150 / 0 / 150')
    expect(await backOf(funded)).toEqual(['50', '100'])
    expect(await refusal(tenant, 'POST', `${url}/credit`, {})).toEqual([400, 'INVALID_OPERATION', 'periods'])
  })

  test('over a line that a wallet paid all of is refused without what the wallet paid: no tax was charged on it', async () => {
    const { wallet, url } = await paid([['200', '2027-01-01T00:00:00Z']])
    expect(await refusal(tenant, 'POST', `${url}/credit`, parts('200', ''))).toEqual([400, 'INVALID_FIELD', 'periods'])
    await finalize((await succeed(tenant, 'POST', `${url}/credit`, parts(null, null)))['id'])
    expect(await of.balance(wallet)).toBe('200 / 0 / 200')
  })

  test('gives back into the grants that were spent: what has expired or was reverted cannot be spent again', async () => {
    const funded = await paid([
      ['50', '2026-04-30T00:00:00Z'],
      ['20', '2027-01-01T00:00:00Z'],
      ['10', '2027-02-01T00:00:00Z'],
    ])
    const { wallet, ids, url } = funded
    await succeed(tenant, 'POST', `/v1/wallet-grants/${ids[2]}/revert`)
    await finalize((await succeed(tenant, 'POST', `${url}/credit`, {}))['id'])
    expect(await of.balance(wallet)).toBe('20 / 0 / 20')
    expect(await backOf(funded)).toEqual(['50', '20', '10'])
    await expireGrants(api.database, tenant.tenant)
    expect(await of.balance(wallet)).toBe('20 / 0 / 20')
    expect((await of.entries(wallet)).filter(each => /^(EXPIRED|REVERTED)/.test(each))).toEqual([
      'EXPIRED 50 EXPIRY',
      'REVERTED 10 INVOICE',
    ])
  })

  test('with a copy gives the wallet back what it paid, and the copy charges all of it', async () => {
    const { wallet, url } = await paid([['30', '2027-01-01T00:00:00Z']])
    const made = await succeed(tenant, 'POST', `${url}/credit_and_copy`, { update_credit_invoice_to_final: true })
    const copy = await succeed(tenant, 'GET', `/v1/invoices/${made['new_invoice_id']}`)
    expect(linesOf(copy).map(line => line['amount_excluding_tax'].quantity)).toEqual(['200.00'])
    expect(await of.balance(wallet)).toBe('30 / 0 / 30')
  })
})

describe('days of a fee that a wallet paid', () => {
  test('are given back as money with the tax of the fee, and not to the wallet', async () => {
    setTime('2026-06-01T00:00:00Z')
    const start_at = '2026-06-01T00:00:00Z'
    const billed = await billedSubscription(tenant, { start_at, bands, fee: '100' })
    const wallet = await of.wallet(MONEY, billed.customerId)
    await of.grant(wallet, '100', { start_at })
    await run(billed)
    setTime('2026-06-03T01:00:00Z')
    await run(billed)
    expect(await of.balance(wallet)).toBe('0 / 0 / 0')
    const url = `/v1/pricing-plan-subscriptions/${billed.subscriptionId}/cancel`
    await succeed(tenant, 'POST', url, {
      type: 'DATE',
      cancel_at: '2026-06-16T00:00:00Z',
      refund_advance_charges: true,
    })
    setTime('2026-06-16T01:00:00Z')
    await run(billed)
    const list = `/v1/invoices?pricing_plan_subscription_id=${billed.subscriptionId}&include_lines=true`
    const data: Row[] = (await succeed(tenant, 'GET', list))['data']
    expect(data.map(shown)).toContainEqual(['REVENUE -50.00', '-50.00', '-10.50', '-60.50'])
    expect(await of.balance(wallet)).toBe('0 / 0 / 0')
  })
})
