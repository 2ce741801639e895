// What money wallets pay of invoices before tax (contract: Wallet rules 1; semantics 6 and 10 J): reserved while an
// invoice is OPEN or DRAFT, spent when it becomes FINAL, released when it is computed again or becomes VOID.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { type Billed, succeed } from '../../billing/testing/billed-subscription.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { expireGrants } from '../expiry/expire-grants.ts'
import { type AprilSales, aprilSales, usageOfApril } from '../testing/april.ts'
import { linesOf, MONEY, shown, walletsOf } from '../testing/wallets-of.ts'

const { usage, use } = usageOfApril()
let api: ApiHarness
let tenant: TestTenant
let of: Awaited<ReturnType<typeof walletsOf>>
let april: AprilSales

beforeAll(async () => {
  api = await startApi({ usage })
  tenant = api.tenants.aTest
  of = await walletsOf(tenant)
  april = aprilSales(api, tenant, usage)
})
afterAll(() => api?.close())

describe('an invoice', () => {
  test('is paid as far as the balance goes: reserved, shown on the lines, without tax, and spent when it goes FINAL', async () => {
    use('200')
    const billed = await april.billedIn('2026-04-10T00:00:00Z')
    const wallet = await of.wallet(MONEY, billed.customerId)
    await of.grant(wallet, '30')
    await april.run(billed)
    const open = await april.invoiceOf(billed)
    expect([open['status'], ...shown(open)]).toEqual([
      'OPEN',
      'REVENUE 200.00',
      'WALLET -30.00',
      '170.00',
      '35.70',
      '205.70',
    ])
    const [charge, paid] = linesOf(open)
    const balances = [
      {
        wallet_id: wallet['id'],
        used_balance: { amount: { quantity: '30', currency: 'EUR' } },
        left_balance: { amount: { quantity: '0', currency: 'EUR' } },
        available_balance: { amount: { quantity: '30', currency: 'EUR' } },
      },
    ]
    expect(charge?.['details'].wallet_balances).toEqual(balances)
    expect(paid?.['details'].wallet_balances).toEqual(balances)
    expect(open['periods'].at(-1).groups.at(-1)).toMatchObject({ type: 'WALLET', description: 'Paid by wallets' })
    expect(await of.balance(wallet)).toBe('30 / 30 / 0')
    await april.run(billed)
    april.setTime('2026-05-01T00:10:00Z')
    await april.run(billed)
    expect((await april.invoiceOf(billed))['status']).toBe('DRAFT')
    expect(await of.balance(wallet)).toBe('30 / 30 / 0')
    april.setTime('2026-05-02T09:00:00Z')
    await april.run(billed)
    const final = await april.invoiceOf(billed)
    expect([final['status'], ...shown(final)]).toEqual([
      'FINAL',
      'REVENUE 200.00',
      'WALLET -30.00',
      '170.00',
      '35.70',
      '205.70',
    ])
    expect(await of.balance(wallet)).toBe('0 / 0 / 0')
    expect(await of.entries(wallet)).toEqual(['GRANTED 30 REQUEST', 'RESERVED 30 INVOICE', 'SPENT 30 INVOICE'])
    expect((await succeed(tenant, 'PATCH', `/v1/invoices/${final['id']}`, { payment_status: 'PAID' }))['status']).toBe(
      'FINAL',
    )
    expect(await of.balance(wallet)).toBe('0 / 0 / 0')
    const pdf = await tenant.call('GET', `/v1/invoices/${final['id']}/pdf`)
    expect(pdf.status).toBe(200)
  })

  test('of FORWARD_BILLING is paid by wallets of the customer that gets it, and by none of the one that uses', async () => {
    use('200')
    const { id: payer } = await tenant.seed.make(customerResource)
    const subscription = { variant: 'FORWARD_BILLING', forward_customer_id: payer }
    const billed = await april.billedIn('2026-04-10T00:00:00Z', { subscription })
    const own = await of.wallet(MONEY, billed.customerId)
    await of.grant(own, '50')
    const theirs = await of.wallet(MONEY, payer)
    await of.grant(theirs, '30')
    await april.run(billed)
    expect(shown(await april.invoiceOf(billed)).slice(0, 2)).toEqual(['REVENUE 200.00', 'WALLET -30.00'])
    expect([await of.balance(own), await of.balance(theirs)]).toEqual(['50 / 0 / 50', '30 / 30 / 0'])
  })

  test('J: 80 of April take 50 that expire first and 30 of the rest; VOID gives 150 again; only FINAL settles it', async () => {
    use('80')
    const billed = await april.billedIn('2026-04-10T00:00:00Z')
    const other = await april.billedIn('2026-04-10T00:00:00Z', { subscription: { customer_id: billed.customerId } })
    const wallet = await of.wallet(MONEY, billed.customerId)
    const grants: string[] = []
    for (const [quantity, expire_at] of [
      ['50', '2026-04-30T00:00:00Z'],
      ['100', '2026-05-31T00:00:00Z'],
    ] as const)
      grants.push(
        (await of.grant(wallet, quantity, { start_at: '2026-04-01T00:00:00Z', expire_at })).body['id'] as string,
      )
    // Ended early, so that its last invoice is a DRAFT while both grants are alive.
    const draftOf = async (each: Billed): Promise<Row> => {
      const url = `/v1/pricing-plan-subscriptions/${each.subscriptionId}/cancel`
      await succeed(tenant, 'POST', url, { type: 'DATE', cancel_at: '2026-04-21T00:00:00Z' })
      april.setTime('2026-04-21T01:00:00Z')
      await april.run(each)
      return await april.invoiceOf(each)
    }
    const draft = await draftOf(billed)
    expect([draft['status'], ...shown(draft).slice(1)]).toEqual(['DRAFT', 'WALLET -80.00', '0.00', '0.00', '0.00'])
    expect(await of.balance(wallet)).toBe('150 / 80 / 70')
    await succeed(tenant, 'POST', `/v1/invoices/${draft['id']}/void`)
    expect(await of.balance(wallet)).toBe('150 / 0 / 150')

    april.setTime('2026-04-10T00:00:00Z')
    const { id } = await draftOf(other)
    expect(await of.balance(wallet)).toBe('150 / 80 / 70')
    const final = await succeed(tenant, 'PATCH', `/v1/invoices/${id}`, { status: 'FINAL' })
    expect([final['status'], await of.balance(wallet)]).toEqual(['FINAL', '70 / 0 / 70'])
    const url = `/v1/wallets/${wallet['id']}/transactions?types[]=SPENT`
    const spent: Row[] = (await succeed(tenant, 'GET', url))['data']
    expect(new Map(spent.map(row => [row['wallet_grant_id'], row['value'].amount.quantity]))).toEqual(
      new Map([
        [grants[0], '50'],
        [grants[1], '30'],
      ]),
    )
    expect(spent.map(({ cause }) => cause)).toEqual([1, 2].map(() => ({ type: 'INVOICE', id, reason: null })))
  })

  test('keeps what it has reserved beyond its expiry; what it gives up then has expired', async () => {
    use('80')
    const billed = await april.billedIn('2026-04-20T00:00:00Z')
    const wallet = await of.wallet(MONEY, billed.customerId)
    await of.grant(wallet, '50', { start_at: '2026-04-01T00:00:00Z', expire_at: '2026-04-30T00:00:00Z' })
    await of.grant(wallet, '100', { start_at: '2026-04-01T00:00:00Z', expire_at: '2026-05-31T00:00:00Z' })
    await april.run(billed)
    april.setTime('2026-05-01T00:10:00Z')
    await expireGrants(api.database, tenant.tenant)
    await april.run(billed)
    const draft = await april.invoiceOf(billed)
    expect([draft['status'], await of.balance(wallet)]).toEqual(['DRAFT', '150 / 80 / 70'])
    await succeed(tenant, 'POST', `/v1/invoices/${draft['id']}/void`)
    expect(await of.balance(wallet)).toBe('100 / 0 / 100')
    await expireGrants(api.database, tenant.tenant)
    expect(await of.balance(wallet)).toBe('100 / 0 / 100')
  })

  test('that is made late still spends what had not expired in its time', async () => {
    use('80')
    const billed = await april.billedIn('2026-05-01T09:00:00Z')
    const wallet = await of.wallet(MONEY, billed.customerId)
    await of.grant(wallet, '50', { start_at: '2026-04-01T00:00:00Z', expire_at: '2026-04-30T00:00:00Z' })
    await of.grant(wallet, '100', { start_at: '2026-04-01T00:00:00Z', expire_at: '2026-05-31T00:00:00Z' })
    await of.grant(wallet, '9', { start_at: '2026-05-01T00:00:00Z' })
    await expireGrants(api.database, tenant.tenant)
    expect(await of.balance(wallet)).toBe('109 / 0 / 109')
    await april.run(billed)
    expect(await of.balance(wallet)).toBe('159 / 80 / 79')
    expect(await of.balance(wallet, '2026-04-30T23:59:59Z')).toBe('150 / 80 / 70')
    april.setTime('2026-05-03T09:00:00Z')
    await april.run(billed)
    expect([(await april.invoiceOf(billed))['status'], await of.balance(wallet)]).toEqual(['FINAL', '79 / 0 / 79'])
  })

  test('that is computed again releases what it no longer takes, and takes what has come', async () => {
    use('80')
    const billed = await april.billedIn('2026-04-20T00:00:00Z')
    const wallet = await of.wallet(MONEY, billed.customerId)
    await of.grant(wallet, '50')
    await april.run(billed)
    const { id } = await april.invoiceOf(billed)
    expect(await of.balance(wallet)).toBe('50 / 50 / 0')
    const refresh = () => succeed(tenant, 'POST', `/v1/invoices/${id}/refresh`, { types: ['FULL'] })
    use('20')
    await refresh()
    expect(await of.balance(wallet)).toBe('50 / 20 / 30')
    use('60')
    await of.grant(wallet, '5')
    await refresh()
    expect(await of.balance(wallet)).toBe('55 / 55 / 0')
    await tenant.call('POST', `/v1/wallets/${wallet['id']}/deactivate`)
    await refresh()
    expect(await of.balance(wallet)).toBe('55 / 0 / 55')
    expect(shown(await april.invoiceOf(billed))).toEqual(['REVENUE 60.00', '60.00', '12.60', '72.60'])
  })

  test('gives up what it held of a grant that was reverted', async () => {
    use('80')
    const billed = await april.billedIn('2026-04-20T00:00:00Z')
    const wallet = await of.wallet(MONEY, billed.customerId)
    const { body } = await of.grant(wallet, '50')
    await april.run(billed)
    await tenant.call('POST', `/v1/wallet-grants/${body['id']}/revert`)
    await april.run(billed)
    expect(await of.balance(wallet)).toBe('0 / 0 / 0')
    expect(await of.entries(wallet)).toEqual([
      'GRANTED 50 REQUEST',
      'RELEASED 50 INVOICE',
      'RESERVED 50 INVOICE',
      'REVERTED 50 INVOICE',
    ])
  })

  test('is not paid by a wallet of another tax category, another currency, another kind, or another customer', async () => {
    use('80')
    const billed = await april.billedIn('2026-04-20T00:00:00Z')
    const money = (terms: object) => ({ type: 'CREDIT', credit: { grant_type: 'AMOUNT', amount_grant: terms } })
    const others = [
      await of.wallet(money({ default_currency: 'EUR', tax_category: 'EXEMPT' }), billed.customerId),
      await of.wallet(money({ default_currency: 'USD' }), billed.customerId),
      await of.wallet(of.CREDITS, billed.customerId),
      await of.wallet(MONEY),
    ]
    for (const wallet of others) expect((await of.grant(wallet, '50')).status).toBe(201)
    await april.run(billed)
    expect(shown(await april.invoiceOf(billed))).toEqual(['REVENUE 80.00', '80.00', '16.80', '96.80'])
  })

  test('is paid by two wallets, the one that expires first before the other, each with its line', async () => {
    use('80')
    const billed = await april.billedIn('2026-04-20T00:00:00Z')
    const late = await of.wallet(MONEY, billed.customerId)
    const soon = await of.wallet(MONEY, billed.customerId)
    await of.grant(late, '100')
    await of.grant(soon, '30', { expire_at: '2026-12-31T00:00:00Z' })
    await april.run(billed)
    const invoice = await april.invoiceOf(billed)
    expect(shown(invoice)).toEqual(['REVENUE 80.00', 'WALLET -30.00', 'WALLET -50.00', '0.00', '0.00', '0.00'])
    expect(
      linesOf(invoice)[0]?.['details'].wallet_balances.map((each: Row) => [
        each['wallet_id'],
        each['used_balance'].amount.quantity,
      ]),
    ).toEqual([
      [soon['id'], '30'],
      [late['id'], '50'],
    ])
    expect([await of.balance(soon), await of.balance(late)]).toEqual(['30 / 30 / 0', '100 / 50 / 50'])
  })

  test('is previewed as it will be paid, one after the other, and nothing is reserved by that', async () => {
    use('80')
    const billed = await april.billedIn('2026-04-20T00:00:00Z', { fee: '30' })
    const wallet = await of.wallet(MONEY, billed.customerId)
    await of.grant(wallet, '120')
    const body = { pricing_plan_subscription_id: billed.subscriptionId, invoices_per_schedule: 2 }
    const preview = async (): Promise<Row[]> =>
      (await succeed(tenant, 'POST', '/v1/invoices/preview', body))['invoice_infos'][0].invoices
    const paid = (invoices: Row[]) =>
      invoices.map(invoice => [invoice['period_start'], ...shown(invoice).filter(text => text.startsWith('WALLET'))])
    const expected = [
      ['2026-04-01T00:00:00Z', 'WALLET -110.00'],
      ['2026-05-01T00:00:00Z', 'WALLET -10.00'],
    ]
    expect(paid(await preview())).toEqual(expected)
    expect(await of.balance(wallet)).toBe('120 / 0 / 120')
    await april.run(billed)
    // The invoice of April's fee now holds 30 of it; the preview shows it paying again with what it already holds.
    expect(await of.balance(wallet)).toBe('120 / 120 / 0')
    expect(paid(await preview())).toEqual([['2026-04-01T00:00:00Z', 'WALLET -90.00'], ['2026-05-01T00:00:00Z']])
    expect(await of.balance(wallet)).toBe('120 / 120 / 0')
  })

  test('of two subscriptions of one customer, computed at once: together they take what there is', async () => {
    use('80')
    const billed = await april.billedIn('2026-04-20T00:00:00Z')
    const others = await Promise.all(
      [1, 2].map(() => april.billedIn('2026-04-20T00:00:00Z', { subscription: { customer_id: billed.customerId } })),
    )
    const wallet = await of.wallet(MONEY, billed.customerId)
    await of.grant(wallet, '100')
    const all = [billed, ...others]
    await Promise.all([...all, ...all].map(april.run))
    expect(await of.balance(wallet)).toBe('100 / 100 / 0')
    const totals = await Promise.all(
      all.map(async each => (await april.invoiceOf(each))['tax_summary'].base_amount.quantity),
    )
    expect(plain(sum(totals.map(text => decimal(text))))).toBe('140')
  })
})
