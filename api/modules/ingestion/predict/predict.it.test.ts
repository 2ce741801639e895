// What an event will cost, through POST /v1/events/calculate and through ingestion with the real gateway (semantics 1.4). Figures of
// usage are the test's own.
import { Pool } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ingestConfig } from '../../../../ingest/config.ts'
import { type Gateway, startGateway } from '../../../../ingest/gateway.ts'
import { eventHash } from '../../../../shared/contracts/usage-event.ts'
import { decimal } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { silentLogger } from '../../../../shared/process/logger.ts'
import { loginOf } from '../../../../shared/testing/database-logins.ts'
import { startTestNats, type TestNats } from '../../../../shared/testing/nats.ts'
import { refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import {
  type Billed,
  type BilledOptions,
  billedSubscription,
  succeed,
} from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import type { UsageReader } from '../../billing/usage/usage-reader.ts'
import { MONEY, walletsOf } from '../../wallets/testing/wallets-of.ts'
import { NO_EVENTS } from '../events/testing/no-events.ts'

const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const TIERS = [{ amount: eur('0.10'), tier_top_bound: { number: '1000' } }, { amount: eur('0.08') }]
const START = '2026-03-01T00:00:00Z'

/** What the customers of a subscription have used, by their references. */
const used = new Map<string, string | AppError>()
/** How many reads of usage failed. */
let failures = 0
const storedIds = new Set<string>()
const usage: UsageReader = {
  ...NO_USAGE,
  read: async (_tenant, parts, need) => {
    const found = parts.flatMap(part => part.customerKeys.flatMap(key => used.get(key) ?? []))[0]
    if (found instanceof AppError) {
      failures += 1
      throw found
    }
    // Of distinct values, the conditions ask for one.
    const isKnown = need.calculation.calculation_type === 'UNIQUE' && need.condition !== null
    return found === undefined || isKnown ? [] : [{ currency: null, number: decimal(found), count: 7 }]
  },
}

let nats: TestNats
let gateway: Gateway
let pool: Pool
let api: ApiHarness
let tenant: TestTenant
let refused: Billed | null = null
beforeAll(async () => {
  nats = await startTestNats()
  const dispatcher = { request: (...options: Parameters<Pool['request']>) => pool.request(...options) } as Pool
  const events = {
    ...NO_EVENTS,
    used: async (_: unknown, ids: readonly string[]) => new Set(ids.filter(id => storedIds.has(id))),
  }
  api = await startApi({ usage, events, gateway: { dispatcher, bodyBytesMax: 262_144 } })
  const settings = {
    PORT: '0',
    METRICS_PORT: '0',
    DATABASE_URL: loginOf(api.databaseUrl, 'millrace_gateway'),
    NATS_URL: nats.url,
    DURABILITY: 'local',
    PARTITIONS: '2',
  }
  gateway = await startGateway(ingestConfig(settings), silentLogger)
  pool = new Pool(`http://127.0.0.1:${gateway.port}`)
  tenant = api.tenants.aLive
})
afterAll(async () => {
  await api.close()
  await pool.close()
  await gateway.stop()
  await nats.stop()
})

async function billed(quantity: string, options: Partial<BilledOptions> = {}): Promise<Billed> {
  api.clock.set(Date.parse('2026-03-20T00:00:00Z'))
  const made = await billedSubscription(tenant, { start_at: START, pricing_type: 'TIERED', bands: TIERS, ...options })
  used.set(made.customerReference, quantity)
  return made
}
const eventOf = (of: Billed, number: string, more: object = {}) => ({
  reference: tenant.seed.unique('event'),
  customer_reference: of.customerReference,
  meter_reference: of.meterReference,
  timestamp: '2026-03-11T10:00:00Z',
  meter_values: [{ reference: of.valueReference, number }],
  ...more,
})
const calculate = (body: object) => tenant.call('POST', '/v1/events/calculate', body)
const predictionOf = async (body: object): Promise<Row> => {
  const answer = await calculate(body)
  expect([answer.status, answer.body['message']]).toEqual([201, undefined])
  return answer.body['cost_prediction']
}
const amounts = ({ details }: Row) =>
  details.map((each: Row) => [each['amount_excluding_tax'].quantity, each['amount_including_tax'].quantity])

describe('an event that is calculated', () => {
  test('is without tax, and says so, while a tax engine has not said what applies', async () => {
    const of = await billed('998')
    const url = `/v1/pricing-plan-subscriptions/${of.subscriptionId}`
    const { billing_entity_id } = await succeed(tenant, 'GET', url)
    await api.sql(`update billing_entities set tax_settings = '{"provider": "EXTERNAL"}' where id = $1`, [
      billing_entity_id,
    ])
    const prediction = await predictionOf(eventOf(of, '5'))
    expect(amounts(prediction)).toEqual([['0.44', '0.44']])
    expect(prediction['message']).toBe('The tax engine has not said what tax applies; the amounts are without tax.')
  })

  test('costs what the invoice has more with it: over two tiers, with its line and its tax', async () => {
    const of = await billed('998')
    const answer = await calculate(eventOf(of, '5'))
    expect(answer.body).toMatchObject({
      object_type: 'METER_DATA',
      type: 'CALCULATION',
      meter_reference: of.meterReference,
    })
    const { response, details } = answer.body['cost_prediction']
    expect([response, details.length]).toEqual(['OK', 1])
    expect(details[0]).toMatchObject({
      customer_id: of.customerId,
      invoice_id: null,
      amount_excluding_tax: eur('0.44'),
      tax_summary: { base_amount: eur('0.44'), tax_amount: eur('0.09'), total_amount: eur('0.53') },
      pre_wallet_balance: null,
      periods: [
        {
          start_at: START,
          amount_excluding_tax: eur('0.44'),
          groups: [
            { amount_excluding_tax: eur('0.44'), lines: [{ type: 'REVENUE', amount_excluding_tax: eur('0.44') }] },
          ],
        },
      ],
    })
    expect(
      (await api.sql('select count(*)::int as n from invoices where customer_id = $1', [of.customerId]))[0],
    ).toEqual({
      n: 0,
    })
  })

  test.each([
    ['a cheaper tier for all of it costs less than nothing', 'TOP_TIERED', '998', '5', '-19.56'],
    ['below zero gives back', 'FLAT', '10', '-3', '-0.30'],
    ['nothing used before', 'TIERED', '0', '2', '0.20'],
  ])('%s', async (_name, pricing_type, before, number, costs) => {
    const bands = pricing_type === 'FLAT' ? [{ amount: eur('0.10') }] : TIERS
    const of = await billed(before, { pricing_type, bands })
    expect((await predictionOf(eventOf(of, number)))['details'][0].amount_excluding_tax).toEqual(eur(costs))
  })

  test.each([
    ['MAX', '12', '10', '0.00'],
    ['MAX', '12', '15', '0.30'],
    ['MIN', '12', '10', '-0.20'],
    ['AVERAGE', '10', '18', '0.10'],
  ])('%s of %s, and then %s', async (calculation_type, before, number, costs) => {
    const of = await billed(before, { calculation: { calculation_type } })
    expect((await predictionOf(eventOf(of, number)))['details'][0].amount_excluding_tax).toEqual(eur(costs))
  })

  test('that was stored before costs nothing, and says so', async () => {
    const of = await billed('998')
    const event = eventOf(of, '5')
    const { platformId, environment } = tenant.tenant
    storedIds.add(eventHash(platformId, environment, event.reference))
    const found = await predictionOf(event)
    expect([found['response'], amounts(found), found['message']]).toEqual([
      'OK',
      [['0.00', '0.00']],
      `The reference "${event.reference}" was sent before, and is counted once.`,
    ])
  })

  test('is NOT_MATCHED where nothing prices it, with the reason', async () => {
    const of = await billed('1')
    const reasons = [
      { customer_reference: 'nobody' },
      { timestamp: '2025-03-11T10:00:00Z' },
      { pricing_plan_subscription_reference: 'none' },
    ]
    const found = []
    for (const more of reasons) found.push(await predictionOf(eventOf(of, '1', more)))
    expect(found).toEqual(
      ['CUSTOMER_NOT_FOUND', 'NO_SUBSCRIPTION', 'SUBSCRIPTION_NOT_FOUND'].map(message => ({
        response: 'NOT_MATCHED',
        message,
        details: [],
        used_change_rates: [],
      })),
    )
    const unpriced = await billed('1', { pricing_type: 'NONE', bands: [] })
    expect(await predictionOf(eventOf(unpriced, '1'))).toMatchObject({ response: 'NOT_MATCHED', message: 'NO_PRICING' })
  })

  test('FAILED where it cannot be said, with the reason', async () => {
    const of = await billed('1')
    used.set(of.customerReference, new AppError('SERVICE_UNAVAILABLE', 'Usage cannot be read.'))
    expect(await predictionOf(eventOf(of, '1'))).toMatchObject({ response: 'FAILED', message: 'Usage cannot be read.' })
  })

  test('is predicted exactly where the platform wants that', async () => {
    const of = await billed('0', { pricing_type: 'FLAT', bands: [{ amount: eur('0.0001') }] })
    const event = eventOf(of, '3')
    const rounding = (rounding_settings: object[]) =>
      succeed(tenant, 'PATCH', `/v1/platforms/${tenant.tenant.platformId}`, { rounding_settings })
    await rounding([{ rounding_target: 'COST_PREDICTION', rounding_mode: 'UNROUNDED' }])
    expect(amounts(await predictionOf(event))).toEqual([['0.0003', '0.000363']])
    await rounding([])
    api.clock.set(Date.parse('2026-03-20T00:00:02Z'))
    expect(amounts(await predictionOf(event))).toEqual([['0.00', '0.00']])
  })

  test('in another currency is converted, and says by which rate', async () => {
    const rate = { base_currency: 'EUR', currency: 'DKK', rate: '7.5', source: 'ECB' }
    await succeed(tenant, 'POST', '/v1/exchange-rates', { ...rate, rate_timestamp: START })
    const of = await billed('10', {
      pricing_type: 'FLAT',
      bands: [{ amount: eur('0.10') }],
      subscription: { billing_currency: 'DKK' },
    })
    const found = await predictionOf(eventOf(of, '4'))
    expect(amounts(found)).toEqual([['3.00', '3.63']])
    expect(found['used_change_rates']).toEqual([{ ...rate, rate_timestamp: START }])
  })

  test('is billed to the parent of a customer that only processes', async () => {
    const of = await billed('998')
    const child = await succeed(tenant, 'POST', '/v1/customers', {
      reference: tenant.seed.unique('child'),
      type: 'INDIVIDUAL',
      status: 'ACTIVE',
      roles: ['PROCESSING_ONLY'],
      parent_customer_id: of.customerId,
    })
    const found = await predictionOf(eventOf(of, '5', { customer_reference: child['reference'] }))
    expect(found['details']).toMatchObject([{ customer_id: of.customerId, amount_excluding_tax: eur('0.44') }])
  })

  test('paid from a wallet says what the wallet has before and after it', async () => {
    const of = await billed('100', { pricing_type: 'FLAT', bands: [{ amount: eur('0.10') }] })
    const { wallet, grant } = await walletsOf(tenant)
    const own = await wallet(MONEY, of.customerId)
    await grant(own, '30', { start_at: START })
    await runBilling({ database: api.database, usage }, tenant.tenant, of.subscriptionId)
    const [details] = (await predictionOf(eventOf(of, '5')))['details']
    const at = (open: string, reserved: string) => ({
      wallet_id: own['id'],
      wallet_balance: {
        balance: { amount: eur('30') },
        open_balance: { amount: eur(open) },
        reserved_balance: { amount: eur(reserved) },
      },
    })
    expect(details).toMatchObject({
      invoice_id: expect.stringMatching(/^invo_/),
      amount_excluding_tax: eur('0.00'),
      pre_wallet_balance: at('20', '10'),
      post_wallet_balance: at('19.5', '10.5'),
    })
    expect(
      details.periods[0].groups.flatMap(({ lines }: Row) =>
        lines.map((line: Row) => [line['type'], line['amount_excluding_tax'].quantity]),
      ),
    ).toEqual([
      ['REVENUE', '0.50'],
      ['WALLET', '-0.50'],
    ])
  })

  test('paid in credits from two wallets says what each has before and after it', async () => {
    const { wallet, grant, creditType, CREDITS } = await walletsOf(tenant)
    const credit = (quantity: string) => ({ credits: { quantity, credit_type_id: creditType['id'] } })
    const of = await billed('100', { pricing_type: 'FLAT', bands: [credit('1')] })
    const own = [await wallet(CREDITS, of.customerId), await wallet(CREDITS, of.customerId)]
    for (const [index, each] of own.entries()) {
      const expires = index === 0 ? { expire_at: '2026-12-31T00:00:00Z' } : {}
      await grant(each, index === 0 ? '103' : '30', { start_at: START, ...expires })
    }
    const [details] = (await predictionOf(eventOf(of, '5')))['details']
    const open = (name: string) =>
      details[name].map((each: Row) => [
        each['wallet_id'],
        each['wallet_balance'].balance.credits.quantity,
        each['wallet_balance'].open_balance,
      ])
    expect(open('pre_wallet_balances')).toEqual([
      [own[0]?.['id'], '103', credit('3')],
      [own[1]?.['id'], '30', credit('30')],
    ])
    expect(open('post_wallet_balances')).toEqual([
      [own[0]?.['id'], '103', credit('0')],
      [own[1]?.['id'], '30', credit('28')],
    ])
    expect([details.pre_wallet_balance, details.post_wallet_balance]).toEqual([
      details.pre_wallet_balances[0],
      details.post_wallet_balances[0],
    ])
  })

  test.each([
    ['no reference', { reference: undefined }, 'MISSING_FIELD', 'reference'],
    ['no customer', { customer_reference: undefined }, 'MISSING_FIELD', 'customer_reference'],
    ['no meter', { meter_reference: undefined }, 'MISSING_FIELD', 'meter_reference'],
    ['another meter', { meter_reference: 'none' }, 'RESOURCE_NOT_FOUND', 'meter_reference'],
    ['no value', { meter_values: [] }, 'MISSING_FIELD', 'meter_values'],
    [
      'a value that is not listed',
      { meter_values: [{ reference: 'x', number: '1' }] },
      'INVALID_FIELD',
      'meter_values.0.reference',
    ],
    ['a time to come', { timestamp: '2026-03-20T00:31:00Z' }, 'INVALID_FIELD', 'timestamp'],
    ['a time that is none', { timestamp: 'now' }, 'INVALID_FIELD', 'timestamp'],
    [
      'two names of a subscription',
      { pricing_plan_subscription_id: 'ppsu_x', pricing_plan_subscription_reference: 'x' },
      'INVALID_FIELD',
      'pricing_plan_subscription_reference',
    ],
    ['a field that is none', { color: 'red' }, 'INVALID_FIELD', 'color'],
  ])('is refused with %s', async (_name, more, code, field) => {
    refused ??= await billed('1')
    const answer = await calculate(JSON.parse(JSON.stringify(eventOf(refused, '1', more))))
    expect(refusal(answer).slice(1)).toEqual([code, field])
  })
})

describe('cost_prediction=true', () => {
  const PREDICTED = '/v1/events/ingest-list?cost_prediction=true'

  test('stores events and says what each costs, on top of those before it; a repeat is free', async () => {
    const of = await billed('998')
    const [first, second] = [eventOf(of, '2'), eventOf(of, '3')]
    const answer = await tenant.call('POST', PREDICTED, { meter_datas: [first, second, first] })
    expect(answer.status).toBe(201)
    const costs = (list: Row[]) => list.map(each => amounts(each['cost_prediction']).flat()[0])
    expect(costs(answer.body['meter_datas'])).toEqual(['0.20', '0.24', '0.00'])
    const again = await tenant.call('POST', '/v1/events/ingest?cost_prediction=true', first)
    expect([again.status, costs([again.body])]).toEqual([201, ['0.00']])
    const plainly = await tenant.call('POST', '/v1/events/ingest', first)
    expect(plainly.body['cost_prediction']).toBeUndefined()
  })

  test('takes events whose cost cannot be said, and refuses the others as the gateway does', async () => {
    const of = await billed('1')
    used.set(of.customerReference, new AppError('SERVICE_UNAVAILABLE', 'Usage cannot be read.'))
    const answer = await tenant.call('POST', PREDICTED, [eventOf(of, '1')])
    expect([answer.status, answer.body[0]['cost_prediction'].response]).toEqual([201, 'FAILED'])
    const wrong = await tenant.call('POST', PREDICTED, [eventOf(of, '1', { meter_reference: 'none' })])
    expect(refusal(wrong)).toEqual([400, 'RESOURCE_NOT_FOUND', '0.meter_reference'])
    const made = { ...eventOf(of, '1', { meter_reference: tenant.seed.unique('new') }) }
    const dynamic = await tenant.call('POST', '/v1/events/ingest?cost_prediction=true&meter_validation=DYNAMIC', made)
    expect([dynamic.status, dynamic.body['cost_prediction'].response]).toEqual([201, 'NOT_MATCHED'])
  })
  // Each question to a server that hangs takes seconds, so fifty of them took longer than any call may.
  test('of many events asks a usage store that does not answer once, and takes them all', async () => {
    const of = await billed('1')
    used.set(of.customerReference, new AppError('SERVICE_UNAVAILABLE', 'Usage cannot be read.'))
    // Each event in a quarter of an hour of its own, so that none uses what was read for another.
    const at = (hour: number) => `2026-03-11T${String(hour).padStart(2, '0')}:00:00Z`
    const events = Array.from({ length: 12 }, (_, hour) => eventOf(of, '1', { timestamp: at(hour) }))
    failures = 0
    const answer = await tenant.call('POST', PREDICTED, events)
    expect(answer.status).toBe(201)
    const said = answer.body.map((each: Row) => [each['cost_prediction'].response, each['cost_prediction'].message])
    expect(said).toEqual(events.map(() => ['FAILED', 'Usage cannot be read.']))
    expect(failures).toBe(1)
  })
})
