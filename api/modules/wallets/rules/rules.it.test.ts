// Grants by the rules of prices, through the api and the billing run (contract: Wallet rules 3 to 5, Wallet grants and
// balances; semantics 6 and worked example K): granted once when the charge falls due, reverted when it is gone, and
// every rule that cannot be applied refused by its field.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import { succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import { walletsOf } from '../testing/wallets-of.ts'

let api: ApiHarness
let tenant: TestTenant
let of: Awaited<ReturnType<typeof walletsOf>>
let credits: Row
let money: Row
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.aTest
  of = await walletsOf(tenant)
  credits = await of.walletType(of.CREDITS)
  money = await of.walletType({
    type: 'CREDIT',
    credit: { grant_type: 'AMOUNT', amount_grant: { default_currency: 'EUR' } },
  })
})
afterAll(() => api?.close())

const setTime = (text: string): void => api.clock.set(Date.parse(text))
const post = (url: string, body: unknown): Promise<Row> => succeed(tenant, 'POST', `/v1/${url}`, body)
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const credit = (quantity: string) => ({ quantity, credit_type_id: of.creditType['id'] })
const rule = (more: object) => ({ wallet_type_id: credits['id'], ...more })
const fixed = (quantity: string, more: object = {}) => rule({ credits_grant: { credits: credit(quantity) }, ...more })
const LUMP = { pricing_type: 'FIXED', bands: [{ fixed_amount: eur('30') }] }
const SEATS = { pricing_type: 'FLAT', bands: [{ amount: eur('10') }] }

type Selling = { readonly model: string; readonly config: object }

/** A version with one item for each price. */
async function sold(all: readonly Selling[]) {
  const { unique } = tenant.seed
  const product = await post('products', { reference: unique('product'), name: 'Editor', status: 'ACTIVE' })
  const items: Row[] = []
  for (const { model } of all)
    items.push(
      await post('product-items', {
        reference: unique('item'),
        product_id: product['id'],
        name: model,
        status: 'ACTIVE',
        model_type: model,
      }),
    )
  const plan = await post('pricing-plans', { reference: unique('plan'), name: 'Team' })
  const version = await post('pricing-plan-versions', { pricing_plan_id: plan['id'] })
  const pricing = (from = 0, to = all.length) =>
    tenant.call('POST', '/v1/pricings', {
      pricing_plan_version_id: version['id'],
      name: 'Team',
      product_ids: [product['id']],
      items: all
        .slice(from, to)
        .map(({ config }, index) => ({ product_item_ids: [items[from + index]?.['id']], configs: [config] })),
    })
  return { version, items, pricing }
}

type Subscribed = {
  readonly id: string
  readonly customerId: string
  readonly items: readonly Row[]
  readonly scheduleId: string
}

/** An ACTIVE subscription since `start` to a plan with these prices; nothing is billed yet. */
async function subscribed(all: readonly Selling[], start = '2026-03-01T00:00:00Z'): Promise<Subscribed> {
  setTime(start)
  const { version, items, pricing } = await sold(all)
  expect((await pricing()).status).toBe(201)
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
  const customerId = await customer()
  const subscription = await post('pricing-plan-subscriptions', {
    customer_id: customerId,
    billing_entity_id: of.billingEntity['id'],
    billing_currency: 'EUR',
  })
  const schedule = await post('pricing-plan-schedules', {
    pricing_plan_subscription_id: subscription['id'],
    pricing_plan_version_id: version['id'],
    start_at: start,
  })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${subscription['id']}`, { status: 'ACTIVE' })
  return { id: subscription['id'], customerId, items, scheduleId: schedule['id'] }
}

const customer = async (more: object = {}): Promise<string> =>
  (
    await post('customers', {
      reference: tenant.seed.unique('acme'),
      type: 'ORGANIZATION',
      status: 'ACTIVE',
      organization: { legal_name: 'Acme', tax_id: 'NL1', registered_address: { country: 'NL', city: 'Utrecht' } },
      ...more,
    })
  )['id']

const run = ({ id }: Subscribed) => runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, id)
async function billedAt(time: string, subscription: Subscribed): Promise<void> {
  setTime(time)
  await run(subscription)
}
const grantsOf = async ({ customerId }: Subscribed): Promise<Row[]> =>
  (
    await succeed(
      tenant,
      'GET',
      `/v1/wallet-grants?customer_id=${customerId}&limit=100&order_by=start_at&order_direction=ASC`,
    )
  )['data']
const quantity = (grant: Row): string => (grant['grant_credits'] ?? grant['grant_amount']).quantity
const shown = async (subscription: Subscribed): Promise<string[]> =>
  (await grantsOf(subscription)).map(grant =>
    [
      quantity(grant),
      grant['start_at'].slice(0, 10),
      grant['expire_at']?.slice(0, 10) ?? '-',
      grant['revert_reason'] ?? 'live',
    ].join(' '),
  )
const invoicesOf = async ({ id }: Subscribed): Promise<Row[]> =>
  (await succeed(tenant, 'GET', `/v1/invoices?pricing_plan_subscription_id=${id}&limit=100`))['data']

describe('a charge', () => {
  test('of a RECURRING item grants at the start of every period, once, until its expiry, to a wallet made for it', async () => {
    const rules = [
      fixed('100', { expiry_policy: { expiry_period: { type: 'DAY', value: 10 } } }),
      rule({ wallet_type_id: money['id'], amount_grant: { percentage: '50' } }),
      fixed('1'),
    ]
    const subscription = await subscribed([
      { model: 'RECURRING', config: { ...LUMP, billing_in_advance: true, wallet_grants: rules } },
    ])
    await Promise.all([run(subscription), run(subscription), run(subscription)])
    await run(subscription)
    expect((await shown(subscription)).toSorted()).toEqual([
      '1 2026-03-01 - live',
      '100 2026-03-01 2026-03-11 live',
      '15 2026-03-01 - live',
    ])
    const [grant] = (await grantsOf(subscription)).filter(each => quantity(each) === '100')
    expect(grant).toMatchObject({
      source: 'CHARGE',
      type: 'DEFAULT',
      paid_amount: eur('30'),
      customer_id: subscription.customerId,
    })
    const { data: wallets } = await succeed(tenant, 'GET', `/v1/wallets?customer_id=${subscription.customerId}`)
    expect(wallets.map((wallet: Row) => wallet['status'])).toEqual(['ACTIVE', 'ACTIVE'])
    await billedAt('2026-03-20T00:00:00Z', subscription)
    expect(await grantsOf(subscription)).toHaveLength(3)
    await billedAt('2026-04-01T00:10:00Z', subscription)
    expect((await shown(subscription)).filter(text => text.startsWith('100'))).toEqual([
      '100 2026-03-01 2026-03-11 live',
      '100 2026-03-31 2026-04-10 live',
    ])
    // Reverted by a call, it is not granted again.
    await post(`wallet-grants/${grant?.['id']}/revert`, undefined)
    await run(subscription)
    expect((await shown(subscription)).filter(text => text.startsWith('100'))).toEqual([
      '100 2026-03-01 2026-03-11 WALLET_GRANT_REVERTED',
      '100 2026-03-31 2026-04-10 live',
    ])
  })

  test('of a ONE_OFF item priced FLAT grants for each unit; a conversion gives credits for what is paid', async () => {
    const conversion = { conversion: { credit_type_id: of.creditType['id'], rate: '10' } }
    const subscription = await subscribed([
      { model: 'ONE_OFF', config: { ...SEATS, default_units: { number: '3' }, wallet_grants: [fixed('50')] } },
      { model: 'ONE_OFF', config: { ...LUMP, wallet_grants: [rule({ credits_grant: conversion })] } },
      { model: 'RECURRING', config: { ...LUMP, wallet_grants: [rule({ credits_grant: { conversion: '2' } })] } },
    ])
    await run(subscription)
    await run(subscription)
    expect((await grantsOf(subscription)).map(quantity).toSorted()).toEqual(['150', '300', '60'])
  })

  test('grants into a new wallet when the one before it is ARCHIVED', async () => {
    const config = { ...LUMP, billing_in_advance: true, wallet_grants: [fixed('100')] }
    const subscription = await subscribed([{ model: 'RECURRING', config }])
    await run(subscription)
    const walletsNow = async () =>
      (await succeed(tenant, 'GET', `/v1/wallets?customer_id=${subscription.customerId}`))['data'] as Row[]
    const [first] = await walletsNow()
    await post(`wallets/${first?.['id']}/archive`, undefined)
    await billedAt('2026-04-01T00:10:00Z', subscription)
    expect((await walletsNow()).map(wallet => wallet['status']).toSorted()).toEqual(['ACTIVE', 'ARCHIVED'])
  })

  test('that is gone takes its grant back: with its invoice, its subscription, or its time', async () => {
    const selling = [{ model: 'RECURRING', config: { ...LUMP, wallet_grants: [fixed('100')] } }]
    const voided = await subscribed(selling)
    await run(voided)
    const [invoice] = (await invoicesOf(voided)).filter(each => each['status'] === 'OPEN')
    await post(`invoices/${invoice?.['id']}/void`, undefined)
    await run(voided)
    expect(await shown(voided)).toEqual(['100 2026-03-01 - INVOICE_VOIDED'])

    const gone = await subscribed(selling)
    await run(gone)
    await post(`pricing-plan-subscriptions/${gone.id}/void`, undefined)
    expect(await shown(gone)).toEqual(['100 2026-03-01 - SUBSCRIPTION_VOIDED'])
  })
})

describe('a grant whose charge is gone says why, once', () => {
  const seats = (): Selling[] => [
    { model: 'PER_SEAT', config: { ...SEATS, wallet_grants: [fixed('100', { source: 'PER_SEAT' })] } },
  ]
  const assigned = async (subscription: Subscribed, start_at: string): Promise<void> => {
    await post('seat-assignments', {
      pricing_plan_subscription_id: subscription.id,
      product_item_id: subscription.items[0]?.['id'],
      customer_id: await customer(),
      start_at,
    })
    await run(subscription)
  }
  /** `act` in April, with a seat from then on; then billing and a call that reverts come again. */
  async function gone(act: (subscription: Subscribed) => Promise<unknown>): Promise<string[]> {
    const subscription = await subscribed(seats())
    setTime('2026-04-01T00:10:00Z')
    await act(subscription)
    await run(subscription)
    const entries = async () => {
      const wallet = (await grantsOf(subscription))[0]?.['wallet_id']
      const { data } = await succeed(tenant, 'GET', `/v1/wallets/${wallet}/transactions?limit=100`)
      return data.map((entry: Row) => [entry['id'], entry['type'], entry['value'].credits.quantity])
    }
    const [once, before] = [await shown(subscription), await entries()]
    await run(subscription)
    for (const grant of await grantsOf(subscription))
      if (grant['revert_reason']) await post(`wallet-grants/${grant['id']}/revert`, undefined)
    expect([await shown(subscription), await entries()]).toEqual([once, before])
    return once
  }
  const scheduleUrl = ({ scheduleId }: Subscribed) => `/v1/pricing-plan-schedules/${scheduleId}`
  const cancel = ({ id }: Subscribed, body: object) => post(`pricing-plan-subscriptions/${id}/cancel`, body)
  const LATER = '2026-04-21T00:00:00Z'
  /** A third of April. */
  const reverted = (reason: string) => [expect.stringMatching(new RegExp(`^33\\.3\\d+ 2026-04-21 - ${reason}$`))]

  test('SCHEDULE_DATES_CHANGED: its schedule ends before it', async () => {
    const ended = async (subscription: Subscribed) => {
      await assigned(subscription, LATER)
      await succeed(tenant, 'PATCH', scheduleUrl(subscription), { end_at: '2026-04-11T00:00:00Z' })
    }
    expect(await gone(ended)).toEqual(reverted('SCHEDULE_DATES_CHANGED'))
  })

  test('SCHEDULE_DELETED: there is no schedule of it any more', async () => {
    const deleted = async (subscription: Subscribed) => {
      const { pricing_plan_version_id } = await succeed(tenant, 'GET', scheduleUrl(subscription))
      await succeed(tenant, 'PATCH', scheduleUrl(subscription), { end_at: '2026-04-11T00:00:00Z' })
      const body = { pricing_plan_subscription_id: subscription.id, pricing_plan_version_id }
      const second = await post('pricing-plan-schedules', { ...body, start_at: '2026-04-11T00:00:00Z' })
      if (second['status'] === 'DRAFT') await post(`pricing-plan-schedules/${second['id']}/activate`, undefined)
      await assigned(subscription, LATER)
      // The api deletes a DRAFT alone, and that grants nothing.
      await api.sql('delete from pricing_plan_schedules where id = $1', [second['id']])
    }
    expect(await gone(deleted)).toEqual(reverted('SCHEDULE_DELETED'))
  })

  test('SUBSCRIPTION_UPGRADED: the plan gave way to another one before it', async () => {
    const upgraded = async (subscription: Subscribed) => {
      await assigned(subscription, LATER)
      const own = await succeed(tenant, 'GET', scheduleUrl(subscription))
      const { version, pricing } = await sold(seats())
      await pricing()
      await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
      await post('pricing-plan-groups', {
        reference: tenant.seed.unique('tiers'),
        status: 'ACTIVE',
        pricing_plan_ids: [own['pricing_plan_id'], version['pricing_plan_id']],
        upgrade_type: 'IMMEDIATE',
        downgrade_type: 'NOT_ALLOWED',
      })
      const change = { pricing_plan_id: version['pricing_plan_id'] }
      await post(`pricing-plan-subscriptions/${subscription.id}/change-plan`, change)
    }
    expect(await gone(upgraded)).toEqual(reverted('SUBSCRIPTION_UPGRADED'))
  })

  test('SUBSCRIPTION_CANCELLED: the subscription ends before it', async () => {
    const cancelled = async (subscription: Subscribed) => {
      await assigned(subscription, LATER)
      await cancel(subscription, { type: 'DATE', cancel_at: '2026-04-11T00:00:00Z' })
    }
    expect(await gone(cancelled)).toEqual(reverted('SUBSCRIPTION_CANCELLED'))
  })

  test('SUBSCRIPTION_CANCEL_UNDONE: it was for the time until the cancellation, and is granted for the whole anew', async () => {
    const FIRST = '2026-04-01T00:00:00Z'
    const undone = async (subscription: Subscribed) => {
      await assigned(subscription, FIRST)
      await cancel(subscription, { type: 'DATE', cancel_at: '2026-04-16T00:00:00Z' })
      await run(subscription)
      expect(await shown(subscription)).toEqual(['50 2026-04-01 - live'])
      await cancel(subscription, { type: 'UNDO' })
    }
    expect((await gone(undone)).toSorted()).toEqual([
      '100 2026-04-01 - live',
      '50 2026-04-01 - SUBSCRIPTION_CANCEL_UNDONE',
    ])
  })
})

describe('PER_SEAT', () => {
  const perSeat = (quantity: string) => ({ ...SEATS, wallet_grants: [fixed(quantity, { source: 'PER_SEAT' })] })
  const seat = (subscription: Subscribed, start_at: string, customer_id: string) =>
    post('seat-assignments', {
      pricing_plan_subscription_id: subscription.id,
      product_item_id: subscription.items[0]?.['id'],
      customer_id,
      start_at,
    })

  test('K: one grant for each assignment, prorated, for its occupant; beyond the paid seats over_granted', async () => {
    const config = { ...perSeat('100'), default_seats_value: { number: '3' } }
    const subscription = await subscribed([{ model: 'PER_SEAT', config }])
    const people = await Promise.all([1, 2, 3, 4].map(() => customer()))
    for (const person of people) await seat(subscription, '2026-03-01T00:00:00Z', person)
    await run(subscription)
    const grants = await grantsOf(subscription)
    expect(grants.map(quantity)).toEqual(['100', '100', '100', '100'])
    expect(grants.map(grant => grant['source'])).toEqual(['PER_SEAT', 'PER_SEAT', 'PER_SEAT', 'PER_SEAT'])
    expect(grants.map(grant => grant['seat'].customer_id).toSorted()).toEqual(people.toSorted())
    expect(grants.flatMap(grant => grant['over_granted'] ?? [])).toEqual([{ credits: credit('100') }])
    const wallet = { id: grants[0]?.['wallet_id'] }
    const { body } = await tenant.call('POST', `/v1/wallets/${wallet.id}/balance`, {})
    expect(body).toMatchObject({ balance: { credits: credit('400') }, over_granted: { credits: credit('100') } })
    const over = grants.find(grant => grant['over_granted'])
    expect(body.customer_details).toHaveLength(4)
    expect(body.customer_details.find((each: Row) => each['customer_id'] === over?.['seat'].customer_id)).toMatchObject(
      {
        balance: { credits: credit('100') },
        over_granted: { credits: credit('100') },
      },
    )
  })

  test('an assignment since 11 March has 21 of 31 days; one that ends keeps its share, and one that never was nothing', async () => {
    const subscription = await subscribed([{ model: 'PER_SEAT', config: perSeat('100') }])
    await run(subscription)
    setTime('2026-03-11T00:00:00Z')
    const assignment = await seat(subscription, '2026-03-11T00:00:00Z', await customer())
    await run(subscription)
    expect((await grantsOf(subscription)).map(quantity)).toEqual([expect.stringMatching(/^67\.741935/)])
    setTime('2026-03-15T00:00:00Z')
    const until = (end_at: string | null) =>
      succeed(tenant, 'PATCH', `/v1/seat-assignments/${assignment['id']}`, { end_at })
    await until('2026-03-21T00:00:00Z')
    await run(subscription)
    const [shorter] = await grantsOf(subscription)
    expect(shorter && quantity(shorter)).toMatch(/^32\.2580/)
    expect(await of.balance({ id: shorter?.['wallet_id'] } as Row, '2026-03-15T00:00:00Z')).toMatch(/^32\.2580/)
    await until(null)
    await run(subscription)
    expect((await grantsOf(subscription)).map(quantity)).toEqual([expect.stringMatching(/^67\.741935/)])
  })

  test('SEAT_POOL grants for the paid seats together', async () => {
    const config = {
      ...SEATS,
      default_seats_value: { number: '3' },
      wallet_grants: [fixed('100', { source: 'SEAT_POOL' })],
    }
    const subscription = await subscribed([{ model: 'PER_SEAT', config }])
    await run(subscription)
    expect((await grantsOf(subscription)).map(grant => [quantity(grant), grant['source'], grant['seat']])).toEqual([
      ['300', 'SEAT_POOL', null],
    ])
  })
})

test('expand[] shows the wallet type of a rule, in a pricing and in its version', async () => {
  const { pricing } = await sold([{ model: 'RECURRING', config: { ...LUMP, wallet_grants: [fixed('100')] } }])
  const { body: made } = await pricing()
  const get = (url: string) => succeed(tenant, 'GET', `/v1/${url}`)
  const ruleOf = (of: Row) => of['items'][0].configs[0].wallet_grants[0]
  const at = `pricings/${made['id']}`
  expect(ruleOf(await get(at))).not.toHaveProperty('wallet_type')
  const whole = await get(`wallet-types/${credits['id']}`)
  for (const name of ['wallet_type', 'wallet_type_id', 'ALL'])
    expect(ruleOf(await get(`${at}?expand[]=${name}`)).wallet_type, name).toEqual(whole)
  const version = await get(`pricing-plan-versions/${made['pricing_plan_version_id']}?expand[]=wallet_type`)
  expect(ruleOf(version['pricing_categories'][0].pricings[0]).wallet_type).toEqual(whole)
  // Sent back as it was shown, it changes nothing.
  const { items } = await get(`${at}?expand[]=wallet_type`)
  expect((await succeed(tenant, 'PATCH', `/v1/${at}`, { items }))['items']).toEqual(made['items'])
})

describe('a rule that cannot be applied is refused by its field', () => {
  const PATH = 'items.0.configs.0.wallet_grants.0'
  const refusedOf = async (model: string, config: object, wallet_grants: readonly object[]) =>
    refusal(await (await sold([{ model, config: { ...config, wallet_grants } }])).pricing())
  const usd = { quantity: '5', currency: 'USD' }

  test('in another currency, into a wallet type without one, or of what its wallets do not hold', async () => {
    const into = (more: object) => [rule({ wallet_type_id: money['id'], ...more })]
    const inUsd = { pricing_type: 'FIXED', bands: [{ fixed_amount: { quantity: '30', currency: 'USD' } }] }
    const none = await of.walletType({ type: 'CREDIT', credit: { grant_type: 'AMOUNT', amount_grant: {} } })
    const cases: [object, readonly object[], string, string][] = [
      [LUMP, into({ amount_grant: { amount: usd } }), 'INVALID_FIELD', 'amount_grant.amount.currency'],
      [inUsd, into({ amount_grant: { percentage: '10' } }), 'INVALID_FIELD', 'amount_grant.percentage'],
      [
        LUMP,
        [{ wallet_type_id: none['id'], amount_grant: { percentage: '10' } }],
        'INVALID_OPERATION',
        'wallet_type_id',
      ],
      [LUMP, [rule({ amount_grant: { amount: eur('5') } })], 'INVALID_FIELD', 'amount_grant'],
      [LUMP, into({ credits_grant: { credits: credit('5') } }), 'INVALID_FIELD', 'credits_grant'],
      [LUMP, into({ amount_grant: { amount: eur('0') } }), 'INVALID_FIELD', 'amount_grant.amount.quantity'],
      [LUMP, into({ amount_grant: { amount: eur('5'), percentage: '5' } }), 'INVALID_FIELD', 'amount_grant.percentage'],
      [LUMP, into({}), 'MISSING_FIELD', 'amount_grant'],
      [
        LUMP,
        [{ wallet_type_id: 'wtyp_none', amount_grant: { amount: eur('5') } }],
        'RESOURCE_NOT_FOUND',
        'wallet_type_id',
      ],
      [LUMP, [fixed('5', { source: 'PER_SEAT' })], 'INVALID_FIELD', 'source'],
    ]
    for (const [config, rules, code, field] of cases)
      expect((await refusedOf('RECURRING', config, rules)).slice(1)).toEqual([code, `${PATH}.${field}`])
  })

  test('by what is paid for a ONE_OFF item priced FLAT, or PER_SEAT without fixed credits', async () => {
    const conversion = [rule({ credits_grant: { conversion: '2' } })]
    const percentage = [rule({ wallet_type_id: money['id'], amount_grant: { percentage: '10' } })]
    expect((await refusedOf('ONE_OFF', SEATS, conversion)).slice(1)).toEqual([
      'INVALID_FIELD',
      `${PATH}.credits_grant.conversion`,
    ])
    expect((await refusedOf('ONE_OFF', SEATS, percentage)).slice(1)).toEqual([
      'INVALID_FIELD',
      `${PATH}.amount_grant.percentage`,
    ])
    for (const [first] of [conversion, percentage])
      expect((await refusedOf('PER_SEAT', SEATS, [{ ...first, source: 'PER_SEAT' }])).slice(1)).toEqual([
        'INVALID_FIELD',
        `${PATH}.credits_grant.credits`,
      ])
  })

  test('two with one per-seat key, and a second rule beside PER_SEAT, in one pricing or in two', async () => {
    const perSeat = fixed('100', { source: 'PER_SEAT' })
    const twice = await sold([{ model: 'PER_SEAT', config: { ...SEATS, wallet_grants: [perSeat, perSeat] } }])
    const same = await twice.pricing()
    expect(refusal(same).slice(1)).toEqual(['INVALID_FIELD', 'items.0.configs.0.wallet_grants.1.wallet_type_id'])
    expect(JSON.stringify(same.body)).toContain('one rule has this key')
    const beside = await sold([
      { model: 'PER_SEAT', config: { ...SEATS, wallet_grants: [perSeat] } },
      { model: 'RECURRING', config: { ...LUMP, wallet_grants: [fixed('1')] } },
    ])
    expect(refusal(await beside.pricing()).slice(1)).toEqual([
      'INVALID_FIELD',
      'items.1.configs.0.wallet_grants.0.wallet_type_id',
    ])
    expect((await beside.pricing(0, 1)).status).toBe(201)
    expect(refusal(await beside.pricing(1, 2)).slice(1)).toEqual([
      'INVALID_FIELD',
      'items.0.configs.0.wallet_grants.0.wallet_type_id',
    ])
    const change = { credit: { grant_type: 'CREDITS', credits_grant: { credit_type_id: of.creditType['id'] } } }
    const patched = await tenant.call('PATCH', `/v1/wallet-types/${money['id']}`, change)
    expect(patched.status).toBe(400)
  })
})
