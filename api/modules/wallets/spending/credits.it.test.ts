// Usage priced in credits, through the api and the billing run (contract: Wallet rules 2 and 4; semantics 6): drawn from
// the wallets of credits in order, reserved until the invoice is FINAL, shown on the line, and what wallets lack charged
// by the CREDITS item.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decimal } from '../../../../shared/decimal.ts'
import { createFailpoints } from '../../../../shared/failpoint.ts'
import { refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import { succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import type { UsageReader } from '../../billing/usage/usage-reader.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { linesOf, walletsOf } from '../testing/wallets-of.ts'

/** Calls in April, by customer; the subscription's own under ''. */
let used: Readonly<Record<string, string>> = {}
const isApril = (parts: readonly { interval: { start: number } }[]) =>
  !parts.some(({ interval }) => interval.start >= Date.parse('2026-05-01T00:00:00Z'))
const figure = (number: string) => ({ currency: null, number: decimal(number), count: 1 })
const total = () => Object.values(used).reduce((sum, each) => sum.plus(each), decimal('0'))
const usage: UsageReader = {
  ...NO_USAGE,
  read: async (_tenant, parts) => (isApril(parts) ? [{ ...figure('0'), number: total() }] : []),
  readByCustomer: async (_tenant, parts) =>
    isApril(parts)
      ? {
          figures: [{ ...figure('0'), number: total() }],
          byCustomer: Object.entries(used).map(([customerId, number]) => ({
            ...figure(number),
            customerId,
            weight: decimal(number),
          })),
        }
      : { figures: [], byCustomer: [] },
}
let api: ApiHarness
let tenant: TestTenant
let of: Awaited<ReturnType<typeof walletsOf>>
let meter: Row
beforeAll(async () => {
  api = await startApi({ usage })
  tenant = api.tenants.bTest
  of = await walletsOf(tenant)
  const { unique } = tenant.seed
  const value = await post('meter-values', {
    reference: unique('calls'),
    name: 'Calls',
    type: 'NUMBER',
    status: 'ACTIVE',
  })
  const made = await post('meters', {
    reference: unique('inference'),
    status: 'ACTIVE',
    meter_values: [{ id: value['id'], required: true }],
  })
  meter = await post('meter-value-calculations', {
    reference: unique('sum'),
    calculation_type: 'SUM',
    meter_id: made['id'],
    meter_value_id: value['id'],
  })
})
afterAll(() => api?.close())

const setTime = (text: string): void => api.clock.set(Date.parse(text))
const post = (url: string, body?: unknown): Promise<Row> => succeed(tenant, 'POST', `/v1/${url}`, body)
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const credit = (quantity: string) => ({ quantity, credit_type_id: of.creditType['id'] })
/** A credit a call. */
const CALL = () => ({ pricing_type: 'FLAT', bands: [{ credits: credit('1') }] })
/** 0.05 for each credit that wallets lack. */
const LACK = { pricing_type: 'FLAT', bands: [{ amount: eur('0.05') }] }
type Selling = { readonly model: string; readonly config: object }

async function version(all: readonly Selling[]) {
  const { unique } = tenant.seed
  const product = await post('products', { reference: unique('product'), name: 'Inference', status: 'ACTIVE' })
  const items: Row[] = []
  for (const { model } of all)
    items.push(
      await post('product-items', {
        reference: unique('item'),
        product_id: product['id'],
        name: model,
        status: 'ACTIVE',
        model_type: model,
        ...(model.startsWith('USAGE_BASED') ? { usage_based: { meter_value_calculation_id: meter['id'] } } : {}),
        ...(model === 'CREDITS' ? { credits: { credit_type_id: of.creditType['id'] } } : {}),
      }),
    )
  const plan = await post('pricing-plans', { reference: unique('plan'), name: 'Credits' })
  const { id } = await post('pricing-plan-versions', { pricing_plan_id: plan['id'] })
  const priced = await tenant.call('POST', '/v1/pricings', {
    pricing_plan_version_id: id,
    name: 'Credits',
    product_ids: [product['id']],
    items: all.map(({ config }, index) => ({ product_item_ids: [items[index]?.['id']], configs: [config] })),
  })
  return { id, items, priced }
}

const usageOf = (config: object = CALL()): Selling => ({ model: 'USAGE_BASED', config })
const selling: Selling = { model: 'CREDITS', config: LACK }

/** Bills April to a new customer, whose wallets `fund` fills. */
async function billed(all: readonly Selling[], fund: (customerId: string) => Promise<void>) {
  setTime('2026-04-01T00:00:00Z')
  const { id: versionId, items, priced } = await version(all)
  expect(priced.status).toBe(201)
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${versionId}`, { status: 'ACTIVE' })
  const customerId: string = (await tenant.seed.make(customerResource))['id']
  await fund(customerId)
  const { id } = await post('pricing-plan-subscriptions', {
    customer_id: customerId,
    billing_entity_id: of.billingEntity['id'],
    billing_currency: 'EUR',
  })
  await post('pricing-plan-schedules', {
    pricing_plan_subscription_id: id,
    pricing_plan_version_id: versionId,
    start_at: '2026-04-01T00:00:00Z',
  })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${id}`, { status: 'ACTIVE' })
  const run = () => runBilling({ database: api.database, usage }, tenant.tenant, id)
  const april = async (): Promise<Row> => {
    const url = `/v1/invoices?pricing_plan_subscription_id=${id}&include_lines=true&limit=100`
    const found = ((await succeed(tenant, 'GET', url))['data'] as Row[]).find(
      each => each['period_end'] <= '2026-05-01',
    )
    if (!found) throw new Error('April is billed')
    return found
  }
  return { id, customerId, versionId, items, run, april }
}

const shown = (invoice: Row): string[] =>
  linesOf(invoice).map(line => `${line['product_items'][0].model_type} ${line['amount_excluding_tax'].quantity}`)

test('usage that is turned into credits is paid like usage priced in credits, and shows what it was turned into', async () => {
  used = { '': '120' }
  const converting = (config: object): Selling => ({ model: 'USAGE_BASED_CONVERSION', config })
  const inMoney = await version([converting({ pricing_type: 'FLAT', bands: [{ amount: eur('1') }] }), selling])
  expect(refusal(inMoney.priced)).toEqual([400, 'MISSING_FIELD', 'items.0.configs.0.bands.0.credits'])
  const price = { pricing_type: 'FLAT', bands: [{ credits: credit('1.5'), block_size: { number: '50' } }] }
  const one = await billed([converting(price), selling], async () => {})
  setTime('2026-05-01T01:00:00Z')
  await one.run()
  const invoice = await one.april()
  expect(shown(invoice)).toEqual(['USAGE_BASED_CONVERSION 0.00', 'CREDITS 0.18'])
  const [line] = linesOf(invoice)
  const conversion = { credits: credit('3.6'), convert_from_meter_value_id: meter['meter_value_id'] }
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
  used = { '': '60' }
  const walletType = await of.walletType(of.CREDITS)
  const rule = { wallet_type_id: walletType['id'], credits_grant: { credits: credit('100') } }
  const fee = { pricing_type: 'FIXED', bands: [{ fixed_amount: eur('30') }], wallet_grants: [rule] }
  const one = await billed([usageOf(), selling, { model: 'RECURRING', config: fee }], async () => {})
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
    setTime(time)
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
    used = { '': '120' }
    let wallet: Row = {}
    const { run, april, versionId } = await billed([usageOf(), selling], async customerId => {
      wallet = await of.wallet(of.CREDITS, customerId)
      await of.grant(wallet, '100')
    })
    await run()
    const open = await april()
    expect(shown(open)).toEqual(['USAGE_BASED 0.00', 'CREDITS 1.00'])
    const version = await succeed(tenant, 'GET', `/v1/pricing-plan-versions/${versionId}`)
    const invoice = await succeed(tenant, 'GET', `/v1/invoices/${open['id']}`)
    for (const { credit_types: types } of [version, invoice])
      expect(types).toEqual([await succeed(tenant, 'GET', `/v1/credit-types/${of.creditType['id']}`)])
    const [line] = linesOf(open)
    expect(line?.['details']).toMatchObject({
      band: { credits: credit('1') },
      meter_value: { number: '120' },
      wallet_balances: [
        {
          wallet_id: wallet['id'],
          used_balance: { credits: credit('100') },
          left_balance: { credits: credit('0') },
          available_balance: { credits: credit('100') },
        },
      ],
      wallet_balance_details: {
        used_wallet_credits: credit('100'),
        left_wallet_credits: credit('0'),
        available_wallet_credits: credit('100'),
      },
    })
    expect(await of.balance(wallet)).toBe('100 / 100 / 0')
    used = { '': '60' }
    await run()
    expect(await of.balance(wallet)).toBe('100 / 60 / 40')
    expect(shown(await april())).toEqual(['USAGE_BASED 0.00'])
    used = { '': '120' }
    setTime('2026-05-03T00:00:00Z')
    await run()
    await run()
    const final = await april()
    expect([final['status'], ...shown(final)]).toEqual(['FINAL', 'USAGE_BASED 0.00', 'CREDITS 1.00'])
    expect(await of.balance(wallet)).toBe('0 / 0 / 0')
    // Priced again from what it was made of, it is the same.
    expect((await succeed(tenant, 'POST', `/v1/invoices/${final['id']}/verify`))['identical']).toBe(true)
    const why = await tenant.call('GET', `/v1/invoices/${final['id']}/lines/${line?.['id']}/explanation`)
    expect(why.status).toBe(200)
    // A credit note of all of it gives the credits back.
    const note = await post(`invoices/${final['id']}/credit`, {})
    await succeed(tenant, 'PATCH', `/v1/invoices/${note['id']}`, { status: 'FINAL' })
    expect(await of.balance(wallet)).toBe('100 / 0 / 100')
  })

  test('takes what expires first, promotions before others, over two wallets; VOID gives all of it back', async () => {
    used = { '': '45' }
    const wallets: Row[] = []
    const { run, april } = await billed([usageOf()], async customerId => {
      for (const _ of [1, 2]) wallets.push(await of.wallet(of.CREDITS, customerId))
      const [first = {}, second = {}] = wallets
      const may = { expire_at: '2026-05-31T00:00:00Z' }
      await of.grant(first, '30', may)
      await of.grant(second, '30', { ...may, type: 'PROMOTION' })
      await of.grant(first, '10', { expire_at: '2026-05-20T00:00:00Z' })
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
    expect(await Promise.all(wallets.map(wallet => of.balance(wallet)))).toEqual(['40 / 15 / 25', '30 / 30 / 0'])
    await post(`invoices/${invoice['id']}/void`)
    expect(await Promise.all(wallets.map(wallet => of.balance(wallet)))).toEqual(['40 / 0 / 40', '30 / 0 / 30'])
  })

  test('of a plan that sells no credits is counted, and what wallets lack is not charged', async () => {
    used = { '': '5' }
    const { run, april } = await billed([usageOf()], async () => {})
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
      { wallet_type_id: id, source: 'PER_SEAT', credits_grant: { credits: credit('100') } },
    ]
    const type = await of.walletType(of.CREDITS)
    const seats = { pricing_type: 'FLAT', bands: [{ amount: eur('10') }], wallet_grants: rules(type['id']) }
    const { id, customerId, items, run, april } = await billed(
      [usageOf(), selling, { model: 'PER_SEAT', config: seats }],
      async () => {},
    )
    const people = [1, 2].map(async () => (await tenant.seed.make(customerResource))['id'] as string)
    const [one = '', two = ''] = await Promise.all(people)
    for (const customer_id of [one, two])
      await post('seat-assignments', {
        pricing_plan_subscription_id: id,
        product_item_id: items[2]?.['id'],
        customer_id,
        start_at: '2026-04-01T00:00:00Z',
      })
    used = { [one]: '130', [two]: '40', [customerId]: '10' }
    await run()
    await run()
    const invoice = await april()
    // 30 of the first and 10 of the customer itself; 60 of the second stay.
    expect(shown(invoice)).toContain('CREDITS 2.00')
    const details = linesOf(invoice).find(line => line['details'].wallet_balances)?.['details']
    const [paid] = details.wallet_balances
    expect(paid.used_balance).toEqual({ credits: credit('140') })
    expect(
      paid.customer_details.toSorted(
        (a: Row, b: Row) => b['used_balance'].credits.quantity - a['used_balance'].credits.quantity,
      ),
    ).toEqual([
      { customer_id: one, used_balance: { credits: credit('100') } },
      { customer_id: two, used_balance: { credits: credit('40') } },
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
      tenant.call('POST', `/v1/wallets/${paid.wallet_id}/reservations`, { reference, credits: credit('60'), ...more })
    expect((await reserve('call-1')).status).toBe(409)
    expect((await reserve('call-2', { customer_id: one })).status).toBe(409)
    expect((await reserve('call-3', { customer_id: two })).status).toBe(201)
  })

  test('a seat that ends while its usage grows keeps what the invoice has drawn of it', async () => {
    const wallet_grants = [
      {
        wallet_type_id: (await of.walletType(of.CREDITS))['id'],
        source: 'PER_SEAT',
        credits_grant: { credits: credit('100') },
      },
    ]
    const seats = { pricing_type: 'FLAT', bands: [{ amount: eur('10') }], wallet_grants }
    const { id, items, run, april } = await billed([usageOf(), { model: 'PER_SEAT', config: seats }], async () => {})
    const person: string = (await tenant.seed.make(customerResource))['id']
    const seat = await post('seat-assignments', {
      pricing_plan_subscription_id: id,
      product_item_id: items[1]?.['id'],
      customer_id: person,
      start_at: '2026-04-01T00:00:00Z',
    })
    used = { [person]: '60' }
    await run()
    await run()
    await succeed(tenant, 'PATCH', `/v1/seat-assignments/${seat['id']}`, { end_at: '2026-04-16T00:00:00Z' })
    used = { [person]: '80' }
    await run()
    const paid = linesOf(await april()).find(line => line['details'].wallet_balances)?.['details'].wallet_balances[0]
    expect(paid.used_balance).toEqual({ credits: credit('80') })
    expect(await of.balance({ id: paid.wallet_id } as Row)).toBe('80 / 80 / 0')
  })
})

test('a price in credits that cannot be billed is refused by its field', async () => {
  const refused = async (all: readonly Selling[]) => refusal((await version(all)).priced).slice(1)
  const config = 'items.0.configs.0'
  const month = { type: 'MONTH', value: 1 }
  const mixed = { ...CALL(), bands: [{ credits: credit('1'), amount: eur('1') }] }
  expect(await refused([usageOf(mixed), selling])).toEqual(['INVALID_FIELD', `${config}.bands.0.amount`])
  for (const name of ['billing_period', 'pricing_period'])
    expect(await refused([usageOf({ ...CALL(), [name]: month }), selling])).toEqual([
      'INVALID_FIELD',
      `${config}.${name}`,
    ])
  expect(await refused([{ model: 'RECURRING', config: { ...CALL(), pricing_type: 'FIXED' } }])).toEqual([
    'INVALID_FIELD',
    `${config}.bands.0.credits`,
  ])
  const wider = { ...LACK, pricing_period: { type: 'MONTH', value: 3 }, billing_period: month }
  expect(await refused([{ model: 'CREDITS', config: wider }])).toEqual(['INVALID_FIELD', `${config}.pricing_period`])
  const other = { model: 'CREDITS', config: { ...LACK, billing_period: { type: 'MONTH', value: 3 } } }
  expect(await refused([selling, other])).toEqual(['INVALID_FIELD', 'items.1.configs.0.billing_period'])
  const item = await tenant.call('POST', '/v1/product-items', {
    reference: tenant.seed.unique('item'),
    product_id: (await post('products', { reference: tenant.seed.unique('p'), name: 'P', status: 'ACTIVE' }))['id'],
    name: 'Credits',
    model_type: 'CREDITS',
  })
  expect(refusal(item)).toEqual([400, 'MISSING_FIELD', 'credits.credit_type_id'])
})

test('a schedule takes no credits by a pricing period that is wider than its billing period', async () => {
  setTime('2026-04-01T00:00:00Z')
  const quarterly = { ...LACK, pricing_period: { type: 'MONTH', value: 3 } }
  const { id: versionId, priced } = await version([usageOf(), { model: 'CREDITS', config: quarterly }])
  expect(priced.status).toBe(201)
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${versionId}`, { status: 'ACTIVE' })
  const { id } = await post('pricing-plan-subscriptions', {
    customer_id: (await tenant.seed.make(customerResource))['id'],
    billing_entity_id: of.billingEntity['id'],
    billing_currency: 'EUR',
  })
  const schedule = {
    pricing_plan_subscription_id: id,
    pricing_plan_version_id: versionId,
    start_at: '2026-04-01T00:00:00Z',
  }
  const monthly = await tenant.call('POST', '/v1/pricing-plan-schedules', schedule)
  expect(refusal(monthly)).toEqual([400, 'INVALID_FIELD', 'billing_period'])
  const period = { type: 'MONTH', value: 6 }
  expect(
    (await tenant.call('POST', '/v1/pricing-plan-schedules', { ...schedule, billing_period: period })).status,
  ).toBe(201)
})
