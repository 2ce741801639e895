// Usage priced in credits, through the api and the billing run (contract: Wallet rules 2 and 4; semantics 6): drawn from
// the wallets of credits in order, reserved until the invoice is FINAL, shown on the line, and what wallets lack charged
// by the CREDITS item.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createFailpoints } from '../../../../shared/failpoint.ts'
import { eur, refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import { succeed } from '../../billing/testing/billed-subscription.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { callsOfApril, creditSales, modelsShown } from '../testing/credit-sales.ts'
import type { Selling } from '../testing/sold-plans.ts'
import { linesOf } from '../testing/wallets-of.ts'

const { usage, use } = callsOfApril()
let api: ApiHarness
let tenant: TestTenant
let sales: Awaited<ReturnType<typeof creditSales>>
beforeAll(async () => {
  api = await startApi({ usage })
  tenant = api.tenants.bTest
  sales = await creditSales(api, tenant, usage)
})
afterAll(() => api?.close())

test('usage that is turned into credits is paid like usage priced in credits, and shows what it was turned into', async () => {
  use({ '': '120' })
  const converting = (config: object): Selling => ({ model: 'USAGE_BASED_CONVERSION', config })
  const inMoney = await sales.version([
    converting({ pricing_type: 'FLAT', bands: [{ amount: eur('1') }] }),
    sales.selling,
  ])
  expect(refusal(inMoney.priced)).toEqual([400, 'MISSING_FIELD', 'items.0.configs.0.bands.0.credits'])
  const price = { pricing_type: 'FLAT', bands: [{ credits: sales.credit('1.5'), block_size: { number: '50' } }] }
  const one = await sales.billed([converting(price), sales.selling], async () => {})
  sales.setTime('2026-05-01T01:00:00Z')
  await one.run()
  const invoice = await one.april()
  expect(modelsShown(invoice)).toEqual(['USAGE_BASED_CONVERSION 0.00', 'CREDITS 0.18'])
  const [line] = linesOf(invoice)
  const conversion = {
    credits: sales.credit('3.6'),
    convert_from_meter_value_id: sales.meter['meter_value_id'],
  }
  expect(line?.['details']).toMatchObject({ conversion, meter_value: { number: '120' } })
  expect(line?.['sub_lines']).toMatchObject([
    {
      type: 'USAGE_BASED_CONVERSION',
      usage_based_conversion: {},
      description: '120 ÷ 50 × 1.5 credits',
      details: { conversion, amount: { quantity: '0' } },
    },
  ])
})

test('a run that dies anywhere between granting and drawing does each once, however often it is repeated', async () => {
  use({ '': '60' })
  const walletType = await sales.of.walletType(sales.of.CREDITS)
  const rule = { wallet_type_id: walletType['id'], credits_grant: { credits: sales.credit('100') } }
  const fee = { pricing_type: 'FIXED', bands: [{ fixed_amount: eur('30') }], wallet_grants: [rule] }
  const one = await sales.billed([sales.usageOf(), sales.selling, { model: 'RECURRING', config: fee }], async () => {})
  const entries = async (): Promise<string[]> => {
    const { data: wallets } = await succeed(tenant, 'GET', `/v1/wallets?customer_id=${one.customerId}`)
    if (wallets.length === 0) return []
    const { data } = await succeed(tenant, 'GET', `/v1/wallets/${wallets[0]['id']}/transactions?limit=100`)
    return data.map((entry: Row) => `${entry['type']} ${entry['value'].credits.quantity}`).toSorted()
  }
  const dies = (point: string) =>
    runBilling(
      { database: api.database, usage, failpoint: createFailpoints(`${point}:error`) },
      tenant.tenant,
      one.id,
    ).catch(() => 'died')
  const points = ['billing.before-invoice', 'invoices.before-numbers', 'invoices.before-commit', 'billing.after-commit']
  /** At each point in turn: what is not committed leaves nothing. */
  const died = async (time: string): Promise<string[][]> => {
    sales.setTime(time)
    const found: string[][] = []
    for (const point of points) {
      expect(await dies(point)).toBe('died')
      found.push(await entries())
    }
    return found
  }
  const granted = ['GRANTED 100']
  expect(await died('2026-04-10T00:00:00Z')).toEqual([[], [], [], granted])
  // What was granted can be drawn by the next computation, which dies as often.
  const drawn = ['GRANTED 100', 'RESERVED 60']
  expect(await died('2026-04-10T00:00:00Z')).toEqual([granted, granted, granted, drawn])
  await one.run()
  expect(await entries()).toEqual(drawn)
  const may = await died('2026-05-03T00:00:00Z')
  expect(may.slice(0, 3)).toEqual([drawn, drawn, drawn])
  await one.run()
  await one.run()
  expect([await entries(), (await one.april())['status']]).toEqual([
    // The invoice of May draws 40 of what April left, and 20 of its own.
    ['GRANTED 100', 'GRANTED 100', 'RESERVED 20', 'RESERVED 40', 'RESERVED 60', 'SPENT 60'],
    'FINAL',
  ])
})

describe('usage priced in credits', () => {
  test('120 needed and 100 there: reserved, shown on the line, 20 charged at 0.05; spent only when it goes FINAL', async () => {
    use({ '': '120' })
    let wallet: Row = {}
    const { run, april, versionId } = await sales.billed([sales.usageOf(), sales.selling], async customerId => {
      wallet = await sales.of.wallet(sales.of.CREDITS, customerId)
      await sales.of.grant(wallet, '100')
    })
    await run()
    const open = await april()
    expect(modelsShown(open)).toEqual(['USAGE_BASED 0.00', 'CREDITS 1.00'])
    const version = await succeed(tenant, 'GET', `/v1/pricing-plan-versions/${versionId}`)
    const invoice = await succeed(tenant, 'GET', `/v1/invoices/${open['id']}`)
    for (const { credit_types: types } of [version, invoice])
      expect(types).toEqual([await succeed(tenant, 'GET', `/v1/credit-types/${sales.of.creditType['id']}`)])
    const [line] = linesOf(open)
    expect(line?.['details']).toMatchObject({
      band: { credits: sales.credit('1') },
      meter_value: { number: '120' },
      wallet_balances: [
        {
          wallet_id: wallet['id'],
          used_balance: { credits: sales.credit('100') },
          left_balance: { credits: sales.credit('0') },
          available_balance: { credits: sales.credit('100') },
        },
      ],
      wallet_balance_details: {
        used_wallet_credits: sales.credit('100'),
        left_wallet_credits: sales.credit('0'),
        available_wallet_credits: sales.credit('100'),
      },
    })
    expect(await sales.of.balance(wallet)).toBe('100 / 100 / 0')
    use({ '': '60' })
    await run()
    expect(await sales.of.balance(wallet)).toBe('100 / 60 / 40')
    expect(modelsShown(await april())).toEqual(['USAGE_BASED 0.00'])
    use({ '': '120' })
    sales.setTime('2026-05-03T00:00:00Z')
    await run()
    await run()
    const final = await april()
    expect([final['status'], ...modelsShown(final)]).toEqual(['FINAL', 'USAGE_BASED 0.00', 'CREDITS 1.00'])
    expect(await sales.of.balance(wallet)).toBe('0 / 0 / 0')
    // Priced again from what it was made of, it is the same.
    expect((await succeed(tenant, 'POST', `/v1/invoices/${final['id']}/verify`))['identical']).toBe(true)
    const why = await tenant.call('GET', `/v1/invoices/${final['id']}/lines/${line?.['id']}/explanation`)
    expect(why.status).toBe(200)
    // A credit note of all of it gives the credits back.
    const note = await sales.post(`invoices/${final['id']}/credit`, {})
    await succeed(tenant, 'PATCH', `/v1/invoices/${note['id']}`, { status: 'FINAL' })
    expect(await sales.of.balance(wallet)).toBe('100 / 0 / 100')
  })

  test('takes what expires first, promotions before others, over two wallets; VOID gives all of it back', async () => {
    use({ '': '45' })
    const wallets: Row[] = []
    const { run, april } = await sales.billed([sales.usageOf()], async customerId => {
      for (const _ of [1, 2]) wallets.push(await sales.of.wallet(sales.of.CREDITS, customerId))
      const [first = {}, second = {}] = wallets
      const may = { expire_at: '2026-05-31T00:00:00Z' }
      await sales.of.grant(first, '30', may)
      await sales.of.grant(second, '30', { ...may, type: 'PROMOTION' })
      await sales.of.grant(first, '10', { expire_at: '2026-05-20T00:00:00Z' })
    })
    await run()
    const invoice = await april()
    const [line] = linesOf(invoice)
    expect(
      line?.['details'].wallet_balances.map((each: Row) => [each['wallet_id'], each['used_balance'].credits.quantity]),
    ).toEqual([
      [wallets[0]?.['id'], '15'],
      [wallets[1]?.['id'], '30'],
    ])
    expect(await Promise.all(wallets.map(wallet => sales.of.balance(wallet)))).toEqual(['40 / 15 / 25', '30 / 30 / 0'])
    await sales.post(`invoices/${invoice['id']}/void`)
    expect(await Promise.all(wallets.map(wallet => sales.of.balance(wallet)))).toEqual(['40 / 0 / 40', '30 / 0 / 30'])
  })

  test('of a plan that sells no credits is counted, and what wallets lack is not charged', async () => {
    use({ '': '5' })
    const { run, april } = await sales.billed([sales.usageOf()], async () => {})
    await run()
    const [line] = linesOf(await april())
    expect(line).toMatchObject({
      amount_excluding_tax: eur('0.00'),
      details: { description: '5 × 1 credits: 5 credits, 0 of them paid by wallets' },
    })
    expect(line?.['details'].wallet_balances).toBeUndefined()
  })

  test('spends what was granted for a seat by the usage of its occupant alone', async () => {
    const rules = (id: string) => [
      { wallet_type_id: id, source: 'PER_SEAT', credits_grant: { credits: sales.credit('100') } },
    ]
    const type = await sales.of.walletType(sales.of.CREDITS)
    const seats = { pricing_type: 'FLAT', bands: [{ amount: eur('10') }], wallet_grants: rules(type['id']) }
    const { id, customerId, items, run, april } = await sales.billed(
      [sales.usageOf(), sales.selling, { model: 'PER_SEAT', config: seats }],
      async () => {},
    )
    const people = [1, 2].map(async () => (await tenant.seed.make(customerResource))['id'] as string)
    const [one = '', two = ''] = await Promise.all(people)
    for (const customer_id of [one, two])
      await sales.post('seat-assignments', {
        pricing_plan_subscription_id: id,
        product_item_id: items[2]?.['id'],
        customer_id,
        start_at: '2026-04-01T00:00:00Z',
      })
    use({ [one]: '130', [two]: '40', [customerId]: '10' })
    await run()
    await run()
    const invoice = await april()
    // 30 of the first and 10 of the customer itself; 60 of the second stay.
    expect(modelsShown(invoice)).toContain('CREDITS 2.00')
    const details = linesOf(invoice).find(line => line['details'].wallet_balances)?.['details']
    const [paid] = details.wallet_balances
    expect(paid.used_balance).toEqual({ credits: sales.credit('140') })
    expect(
      paid.customer_details.toSorted(
        (a: Row, b: Row) => b['used_balance'].credits.quantity - a['used_balance'].credits.quantity,
      ),
    ).toEqual([
      { customer_id: one, used_balance: { credits: sales.credit('100') } },
      { customer_id: two, used_balance: { credits: sales.credit('40') } },
    ])
    const { body } = await tenant.call('POST', `/v1/wallets/${paid.wallet_id}/balance`, {})
    const left = body.customer_details.map((each: Row) => [each['customer_id'], each['open_balance'].credits.quantity])
    expect(new Map(left)).toEqual(
      new Map([
        [one, '0'],
        [two, '60'],
      ]),
    )
    // A reservation has of it what belongs to the customer whose use it is.
    const reserve = (reference: string, more: object = {}) =>
      tenant.call('POST', `/v1/wallets/${paid.wallet_id}/reservations`, {
        reference,
        credits: sales.credit('60'),
        ...more,
      })
    expect((await reserve('call-1')).status).toBe(409)
    expect((await reserve('call-2', { customer_id: one })).status).toBe(409)
    expect((await reserve('call-3', { customer_id: two })).status).toBe(201)
  })

  test('a seat that ends while its usage grows keeps what the invoice has drawn of it', async () => {
    const wallet_grants = [
      {
        wallet_type_id: (await sales.of.walletType(sales.of.CREDITS))['id'],
        source: 'PER_SEAT',
        credits_grant: { credits: sales.credit('100') },
      },
    ]
    const seats = { pricing_type: 'FLAT', bands: [{ amount: eur('10') }], wallet_grants }
    const { id, items, run, april } = await sales.billed(
      [sales.usageOf(), { model: 'PER_SEAT', config: seats }],
      async () => {},
    )
    const person: string = (await tenant.seed.make(customerResource))['id']
    const seat = await sales.post('seat-assignments', {
      pricing_plan_subscription_id: id,
      product_item_id: items[1]?.['id'],
      customer_id: person,
      start_at: '2026-04-01T00:00:00Z',
    })
    use({ [person]: '60' })
    await run()
    await run()
    await succeed(tenant, 'PATCH', `/v1/seat-assignments/${seat['id']}`, { end_at: '2026-04-16T00:00:00Z' })
    use({ [person]: '80' })
    await run()
    const paid = linesOf(await april()).find(line => line['details'].wallet_balances)?.['details'].wallet_balances[0]
    expect(paid.used_balance).toEqual({ credits: sales.credit('80') })
    expect(await sales.of.balance({ id: paid.wallet_id } as Row)).toBe('80 / 80 / 0')
  })
})
