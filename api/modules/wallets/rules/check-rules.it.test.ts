// Every rule that cannot be applied is refused by its field.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eur, refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import { grantingPlans, LUMP, SEATS } from '../testing/granting-plans.ts'

let api: ApiHarness
let tenant: TestTenant
let plans: Awaited<ReturnType<typeof grantingPlans>>
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.aTest
  plans = await grantingPlans(api, tenant)
})
afterAll(() => api?.close())

describe('a rule that cannot be applied is refused by its field', () => {
  const PATH = 'items.0.configs.0.wallet_grants.0'
  const refusedOf = async (model: string, config: object, wallet_grants: readonly object[]) =>
    refusal(await (await plans.sold([{ model, config: { ...config, wallet_grants } }])).pricing())
  const usd = { quantity: '5', currency: 'USD' }

  test('in another currency, into a wallet type without one, or of what its wallets do not hold', async () => {
    const into = (more: object) => [plans.rule({ wallet_type_id: plans.money['id'], ...more })]
    const inUsd = { pricing_type: 'FIXED', bands: [{ fixed_amount: { quantity: '30', currency: 'USD' } }] }
    const none = await plans.of.walletType({ type: 'CREDIT', credit: { grant_type: 'AMOUNT', amount_grant: {} } })
    const cases: [object, readonly object[], string, string][] = [
      [LUMP, into({ amount_grant: { amount: usd } }), 'INVALID_FIELD', 'amount_grant.amount.currency'],
      [inUsd, into({ amount_grant: { percentage: '10' } }), 'INVALID_FIELD', 'amount_grant.percentage'],
      [
        LUMP,
        [{ wallet_type_id: none['id'], amount_grant: { percentage: '10' } }],
        'INVALID_OPERATION',
        'wallet_type_id',
      ],
      [LUMP, [plans.rule({ amount_grant: { amount: eur('5') } })], 'INVALID_FIELD', 'amount_grant'],
      [LUMP, into({ credits_grant: { credits: plans.credit('5') } }), 'INVALID_FIELD', 'credits_grant'],
      [LUMP, into({ amount_grant: { amount: eur('0') } }), 'INVALID_FIELD', 'amount_grant.amount.quantity'],
      [LUMP, into({ amount_grant: { amount: eur('5'), percentage: '5' } }), 'INVALID_FIELD', 'amount_grant.percentage'],
      [LUMP, into({}), 'MISSING_FIELD', 'amount_grant'],
      [
        LUMP,
        [{ wallet_type_id: 'wtyp_none', amount_grant: { amount: eur('5') } }],
        'RESOURCE_NOT_FOUND',
        'wallet_type_id',
      ],
      [LUMP, [plans.fixed('5', { source: 'PER_SEAT' })], 'INVALID_FIELD', 'source'],
    ]
    for (const [config, rules, code, field] of cases)
      expect((await refusedOf('RECURRING', config, rules)).slice(1)).toEqual([code, `${PATH}.${field}`])
  })

  test('by what is paid for a ONE_OFF item priced FLAT, or PER_SEAT without fixed credits', async () => {
    const conversion = [plans.rule({ credits_grant: { conversion: '2' } })]
    const percentage = [plans.rule({ wallet_type_id: plans.money['id'], amount_grant: { percentage: '10' } })]
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
    const perSeat = plans.fixed('100', { source: 'PER_SEAT' })
    const twice = await plans.sold([{ model: 'PER_SEAT', config: { ...SEATS, wallet_grants: [perSeat, perSeat] } }])
    const same = await twice.pricing()
    expect(refusal(same).slice(1)).toEqual(['INVALID_FIELD', 'items.0.configs.0.wallet_grants.1.wallet_type_id'])
    expect(JSON.stringify(same.body)).toContain('one rule has this key')
    const beside = await plans.sold([
      { model: 'PER_SEAT', config: { ...SEATS, wallet_grants: [perSeat] } },
      { model: 'RECURRING', config: { ...LUMP, wallet_grants: [plans.fixed('1')] } },
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
    const change = { credit: { grant_type: 'CREDITS', credits_grant: { credit_type_id: plans.of.creditType['id'] } } }
    const patched = await tenant.call('PATCH', `/v1/wallet-types/${plans.money['id']}`, change)
    expect(patched.status).toBe(400)
  })
})

test('a second rule beside PER_SEAT is refused where one of them is a price of the schedule and the other of its plan', async () => {
  const seats = { model: 'PER_SEAT', config: { ...SEATS, wallet_grants: [plans.fixed('100', { source: 'PER_SEAT' })] } }
  const fee = { model: 'RECURRING', config: { ...LUMP, wallet_grants: [plans.fixed('5')] } }
  const post = (url: string, body: object) => tenant.call('POST', `/v1/${url}`, body)
  for (const [ofPlan, ofSchedule] of [
    [seats, fee],
    [fee, seats],
  ] as const) {
    const { id } = await plans.subscribed([ofPlan])
    const { items } = await plans.sold([ofSchedule])
    const item = items[0] as Row
    const own = {
      product_ids: [item['product_id']],
      items: [{ product_item_ids: [item['id']], configs: [ofSchedule.config] }],
    }
    const { body } = await tenant.call('GET', `/v1/pricing-plan-schedules?pricing_plan_subscription_id=${id}`)
    const sold = { pricing_plan_version_id: body.data[0].pricing_plan_version_id }
    const schedule = {
      pricing_plan_subscription_id: id,
      start_at: '2027-03-01T00:00:00Z',
      pricing_categories: [{ pricings: [own] }],
    }
    const answer = await post('pricing-plan-schedules', { ...schedule, ...sold })
    expect(refusal(answer)).toEqual([400, 'INVALID_FIELD', 'pricing_categories'])
    expect((await post('pricing-plan-schedules', schedule)).status).toBe(201)
  }
})

test('a second rule beside PER_SEAT is refused where one of them is in a new version of the rate card of a schedule', async () => {
  plans.setTime('2026-04-01T00:00:00Z')
  const seats = { model: 'PER_SEAT', config: { ...SEATS, wallet_grants: [plans.fixed('100', { source: 'PER_SEAT' })] } }
  const fee = { model: 'RECURRING', config: { ...LUMP, wallet_grants: [plans.fixed('5')] } }
  for (const [ofCard, ofSchedule] of [
    [seats, fee],
    [fee, seats],
  ] as const) {
    const [sold, own] = (await plans.sold([ofCard, ofSchedule])).items as [Row, Row]
    const priced = (item: Row, config: object) => ({
      product_ids: [item['product_id']],
      items: [{ product_item_ids: [item['id']], configs: [config] }],
    })
    const card = await plans.post('pricing-plans', { reference: tenant.seed.unique('card'), variant: 'RATE_CARD' })
    const versionFrom = async (start_at: string, config: object) => {
      const version = await plans.post('pricing-plan-versions', {
        pricing_plan_id: card['id'],
        rate_card: { start_at },
      })
      await plans.post('pricings', {
        pricing_plan_version_id: version['id'],
        name: 'Team',
        ...priced(sold, config),
      })
      return await tenant.call('PATCH', `/v1/pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
    }
    const plain = { ...ofCard.config, wallet_grants: [] }
    expect((await versionFrom('2026-01-01T00:00:00Z', plain)).status).toBe(200)
    const { id } = await plans.post('pricing-plan-subscriptions', {
      customer_id: await plans.customer(),
      billing_entity_id: plans.of.billingEntity['id'],
      billing_currency: 'EUR',
    })
    const schedule = await plans.post('pricing-plan-schedules', {
      pricing_plan_subscription_id: id,
      pricing_plan_version_selector: { pricing_plan_id: card['id'] },
      start_at: '2026-04-01T00:00:00Z',
      pricing_categories: [{ pricings: [priced(own, ofSchedule.config)] }],
    })
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${id}`, { status: 'ACTIVE' })
    const refused = await versionFrom('2026-07-01T00:00:00Z', ofCard.config)
    expect(refusal(refused)).toEqual([400, 'INVALID_FIELD', 'status'])
    expect(refused.body).toMatchObject({ resource_id: schedule['id'], resource_type: 'PRICING_PLAN_SCHEDULE' })
    expect((await versionFrom('2026-07-01T00:00:00Z', plain)).status).toBe(200)
  }
})
