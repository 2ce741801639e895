// Calculates prices through the API: with the code and the figures of billing, and without storing anything.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { catalogOf, eur, FLAT, refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { creditTypeResource } from '../../catalog/credit-types/credit-type.ts'
import { configOf, TIERED } from './testing/tiered.ts'

let api: ApiHarness
let a: TestTenant
let catalog: ReturnType<typeof catalogOf>
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
  catalog = catalogOf(a)
})
afterAll(() => api?.close())

const calculate = (body: object) => a.call('POST', '/v1/prices/calculate', body)

describe('a price that is sent', () => {
  test('is explained band by band, and rounded beside the exact amount', async () => {
    const { status, body } = await calculate({
      pricing_item_config: { ...TIERED, default_included_volume: { number: '1000' } },
      meter_values: [{ number: '12001.5' }, { number: '0' }],
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({ object_type: 'PRICE_CALCULATION', pricing_type: 'TIERED', pricing_currency: 'EUR' })
    expect(body['calculations'][0]).toEqual({
      meter_value: { type: 'NUMBER', number: '12001.5', count: '0' },
      billable_meter_value: { type: 'NUMBER', number: '11001.5', count: '0' },
      amount: eur('870.075'),
      rounded_amount: eur('870.08'),
      rollover_number: '0',
      description: '1000 × 0.1 EUR; 9000 × 0.08 EUR; 1001.5 × 0.05 EUR, 1000 of 12001.5 included',
      bands: [
        {
          band: { amount: eur('0.1'), tier_lower_bound: { number: '0' }, tier_top_bound: { number: '1000' } },
          meter_value: { type: 'NUMBER', number: '1000', count: '0' },
          amount: eur('100'),
          description: '1000 × 0.1 EUR',
        },
        {
          band: { amount: eur('0.08'), tier_lower_bound: { number: '1000' }, tier_top_bound: { number: '10000' } },
          meter_value: { type: 'NUMBER', number: '9000', count: '0' },
          amount: eur('720'),
          description: '9000 × 0.08 EUR',
        },
        {
          band: { amount: eur('0.05'), tier_lower_bound: { number: '10000' } },
          meter_value: { type: 'NUMBER', number: '1001.5', count: '0' },
          amount: eur('50.075'),
          description: '1001.5 × 0.05 EUR',
        },
      ],
    })
    expect(body['calculations'][1]).toMatchObject({ amount: eur('0'), rounded_amount: eur('0') })
  })

  test.each([
    [
      'money',
      { pricing_type: 'FLAT', bands: [{ percentage: '1.4', amount: eur('0.25') }] },
      { amount: eur('3000'), count: '12' },
      '45',
    ],
    [
      'a limit',
      { pricing_type: 'FLAT', bands: [{ amount: eur('1'), minimum_amount: eur('10') }] },
      { number: '3' },
      '10',
    ],
    [
      'blocks that were left',
      {
        pricing_type: 'FLAT_TOP_UP',
        bands: [{ amount: eur('10'), block_size: { number: '1000' } }],
        top_up: { rollover: true },
      },
      { number: '1200', rollover_number: '550' },
      '10',
    ],
    [
      'another metric',
      { pricing_type: 'TOP_TIERED', bands: TIERED.bands },
      { number: '10', tiering_number: '5000' },
      '0.8',
    ],
    [
      'the number of events',
      {
        pricing_type: 'TIERED',
        bands: [
          { percentage: '2', tier_top_bound: { count: '100' } },
          { percentage: '1', amount: eur('0.10') },
        ],
      },
      { amount: eur('5000'), count: '200' },
      '85',
    ],
    [
      'parts of metered money',
      { pricing_type: 'FLAT', bands: [{ amount: eur('0.30'), block_size: { amount: eur('100') } }] },
      { amount: eur('250') },
      '0.75',
    ],
    [
      'steps',
      {
        pricing_type: 'STAIR_STEP',
        step_accumulation: 'STEPS_REACHED',
        bands: [{ fixed_amount: eur('25'), tier_top_bound: { number: '100' } }, { fixed_amount: eur('20') }],
      },
      { number: '200' },
      '45',
    ],
    [
      'each event',
      { pricing_type: 'FLAT', rate_per: 'EVENT', bands: [{ percentage: '1', maximum_amount: eur('5') }] },
      { amount: eur('4000'), count: '4' },
      '20',
    ],
    [
      'no event, and so no minimum',
      { pricing_type: 'FLAT', rate_per: 'EVENT', bands: [{ percentage: '1', minimum_amount: eur('5') }] },
      { amount: eur('0'), count: '0' },
      '0',
    ],
    [
      'a fee ahead',
      { pricing_type: 'FIXED', billing_in_advance: true, bands: [{ fixed_amount: eur('20') }] },
      { number: '1' },
      '20',
    ],
    [
      'seats ahead',
      { pricing_type: 'FLAT', billing_in_advance: true, bands: [{ amount: eur('8') }] },
      { number: '3' },
      '24',
    ],
    [
      'units of what is sold once',
      { pricing_type: 'FLAT', default_units: { number: '2' }, bands: [{ fixed_amount: eur('5'), amount: eur('20') }] },
      { number: '3' },
      '65',
    ],
    ['a chosen amount', { pricing_type: 'FLEXIBLE', bands: [{ minimum_amount: eur('5') }] }, { number: '7' }, '7'],
  ])('%s', async (_name, pricing_item_config, quantity, cost) => {
    const value_type = 'amount' in quantity ? 'AMOUNT' : 'NUMBER'
    const { body } = await calculate({ pricing_item_config, value_type, meter_values: [quantity] })
    expect(body['calculations'][0].amount).toEqual(eur(cost))
  })

  test('of the same whatever the usage needs none', async () => {
    const { body } = await calculate({
      pricing_item_config: { pricing_type: 'FIXED', bands: [{ fixed_amount: eur('20') }] },
    })
    expect(body['calculations']).toMatchObject([{ amount: eur('20'), description: 'fixed 20 EUR' }])
  })

  test.each<[string, object, number, string, string]>([
    ['nothing to price', {}, 400, 'MISSING_FIELD', 'pricing_item_config_id'],
    [
      'two prices',
      { pricing_item_config_id: 'pico_1', pricing_item_config: FLAT },
      400,
      'INVALID_FIELD',
      'pricing_item_config',
    ],
    [
      'a price that does not exist',
      { pricing_item_config_id: 'pico_1', meter_values: [{ number: '1' }] },
      404,
      'RESOURCE_NOT_FOUND',
      'pricing_item_config_id',
    ],
    [
      'a price in no currency',
      { pricing_item_config: { pricing_type: 'NONE' }, meter_values: [{ number: '5' }] },
      400,
      'MISSING_FIELD',
      'pricing_currency',
    ],
    [
      'a credit type that does not exist',
      {
        pricing_item_config: {
          pricing_type: 'FLAT',
          bands: [{ credits: { quantity: '1', credit_type_id: 'ctyp_1' } }],
        },
        meter_values: [{ number: '5' }],
      },
      404,
      'RESOURCE_NOT_FOUND',
      'pricing_item_config.bands.0.credits.credit_type_id',
    ],
    [
      'a chosen amount in credits',
      {
        pricing_item_config: {
          pricing_type: 'FLEXIBLE',
          bands: [{ credits: { quantity: '1', credit_type_id: 'ctyp_1' } }],
        },
        pricing_currency: 'EUR',
        meter_values: [{ number: '5' }],
      },
      400,
      'INVALID_FIELD',
      'pricing_item_config.bands.0.credits',
    ],
    ['no quantity', { pricing_item_config: FLAT }, 400, 'MISSING_FIELD', 'meter_values'],
    ['an empty one', { pricing_item_config: FLAT, meter_values: [{}] }, 400, 'MISSING_FIELD', 'meter_values.0.number'],
    [
      'money for numbers',
      { pricing_item_config: FLAT, meter_values: [{ amount: eur('1') }] },
      400,
      'INVALID_FIELD',
      'meter_values.0.amount',
    ],
    [
      'other money',
      {
        pricing_item_config: FLAT,
        value_type: 'AMOUNT',
        meter_values: [{ amount: { quantity: '1', currency: 'USD' } }],
      },
      400,
      'INVALID_FIELD',
      'meter_values.0.amount.currency',
    ],
    [
      'events below none',
      { pricing_item_config: FLAT, meter_values: [{ number: '1', count: '-1' }] },
      400,
      'INVALID_FIELD',
      'meter_values.0.count',
    ],
    [
      'a tier without tiers',
      { pricing_item_config: FLAT, meter_values: [{ number: '1', tiering_number: '1' }] },
      400,
      'INVALID_FIELD',
      'meter_values.0.tiering_number',
    ],
    [
      'a rest that is not kept',
      { pricing_item_config: FLAT, meter_values: [{ number: '1', rollover_number: '1' }] },
      400,
      'INVALID_FIELD',
      'meter_values.0.rollover_number',
    ],
    [
      'a chosen amount too low',
      {
        pricing_item_config: { pricing_type: 'FLEXIBLE', bands: [{ minimum_amount: eur('5') }] },
        meter_values: [{ number: '4' }],
      },
      400,
      'INVALID_FIELD',
      'meter_values.0.number',
    ],
    [
      'another currency',
      { pricing_item_config: FLAT, pricing_currency: 'USD', meter_values: [{ number: '1' }] },
      400,
      'INVALID_FIELD',
      'pricing_item_config.bands.0.amount.currency',
    ],
    [
      'bands that fall',
      { pricing_item_config: { ...TIERED, bands: TIERED.bands.toReversed() }, meter_values: [{ number: '1' }] },
      400,
      'INVALID_FIELD',
      'pricing_item_config.bands.0.tier_top_bound',
    ],
    [
      'events that are not said',
      {
        pricing_item_config: {
          pricing_type: 'TIERED',
          bands: [{ amount: eur('1'), tier_top_bound: { count: '5' } }, { amount: eur('2') }],
        },
        meter_values: [{ number: '1' }],
      },
      400,
      'MISSING_FIELD',
      'meter_values.0.count',
    ],
    [
      'a group',
      { pricing_item_config: { ...TIERED, volume_group_reference: 'x' }, meter_values: [{ number: '1' }] },
      400,
      'INVALID_FIELD',
      'pricing_item_config.volume_group_reference',
    ],
    [
      'no price in it',
      { pricing_item_config: { pricing_type: 'FLAT', bands: [{}] }, meter_values: [{ number: '1' }] },
      400,
      'MISSING_FIELD',
      'pricing_item_config.bands.0.amount',
    ],
  ])('%s is refused', async (_name, body, status, code, field) => {
    expect(refusal(await calculate(body))).toEqual([status, code, field])
  })
})

test('a stored price is calculated by its id, for its own tenant only, and nothing is saved', async () => {
  const { answer } = await catalog.draft(TIERED)
  const id = configOf(answer.body)
  const before = await api.sql('select count(*)::int as n from outbox')
  const { body } = await calculate({ pricing_item_config_id: id, meter_values: [{ number: '5000' }] })
  expect(body['calculations'][0]).toMatchObject({ amount: eur('420') })
  expect(await api.sql('select count(*)::int as n from outbox')).toEqual(before)
  const stranger = await api.tenants.bLive.call('POST', '/v1/prices/calculate', {
    pricing_item_config_id: id,
    meter_values: [{ number: '1' }],
  })
  expect(refusal(stranger)).toEqual([404, 'RESOURCE_NOT_FOUND', 'pricing_item_config_id'])
})

test('a price that names no currency is in that of the request, or of the platform', async () => {
  const nothing = { pricing_item_config: { pricing_type: 'NONE' }, meter_values: [{ number: '5' }] }
  const asked = await calculate({ ...nothing, pricing_currency: 'USD' })
  expect(asked.body['calculations'][0]).toMatchObject({ rounded_amount: { quantity: '0', currency: 'USD' } })
  const { answer } = await catalog.draft({ pricing_type: 'NONE' })
  const stored = { pricing_item_config_id: configOf(answer.body), meter_values: [{ number: '5' }] }
  expect(refusal(await calculate(stored))).toEqual([400, 'MISSING_FIELD', 'pricing_currency'])
  await a.call('PATCH', `/v1/platforms/${a.tenant.platformId}`, { default_pricing_currency: 'CHF' })
  const { body } = await calculate(stored)
  expect(body).toMatchObject({ pricing_currency: 'CHF', calculations: [{ amount: { quantity: '0' }, bands: [] }] })
  const version = `/v1/pricing-plan-versions/${answer.body['pricing_plan_version_id']}`
  await a.call('PATCH', version, { pricing_currency_settings: { pricing_currencies: ['JPY'] } })
  const drawn = await a.call('GET', `${version}/curve`)
  expect(drawn.body['curves']).toMatchObject([{ pricing_currency: 'JPY' }])
})

test('a price in credits of an ARCHIVED type is refused as when it is saved', async () => {
  const { id: credit_type_id } = await a.seed.make(creditTypeResource)
  expect((await a.call('POST', `/v1/credit-types/${credit_type_id}/archive`, {})).status).toBe(200)
  const price = { pricing_type: 'FLAT', bands: [{ credits: { quantity: '1', credit_type_id } }] }
  const answer = await calculate({ pricing_item_config: price, meter_values: [{ number: '5' }] })
  const field = 'pricing_item_config.bands.0.credits.credit_type_id'
  expect(refusal(answer)).toEqual([400, 'INVALID_FIELD', field])
})

test('a price in credits is calculated and drawn in credits, sent or stored', async () => {
  const { id: credit_type_id } = await a.seed.make(creditTypeResource)
  const credits = (quantity: string) => ({ quantity, credit_type_id })
  const price = {
    pricing_type: 'TIERED',
    bands: [
      { credits: credits('1.5'), block_size: { number: '50' }, tier_top_bound: { number: '100' } },
      { credits: credits('0.02') },
    ],
  }
  const meter_values = [{ number: '120' }]
  const { body } = await calculate({ pricing_item_config: price, meter_values })
  expect(body).toMatchObject({ credit_type_id, calculations: [{ credits: credits('3.4') }] })
  expect(body).not.toHaveProperty('pricing_currency')
  expect(body['calculations'][0]).not.toHaveProperty('rounded_amount')
  expect(body['calculations'][0].bands).toMatchObject([
    { band: { credits: credits('1.5') }, credits: credits('3'), description: '100 ÷ 50 × 1.5 credits' },
    { band: { credits: credits('0.02') }, credits: credits('0.4'), description: '20 × 0.02 credits' },
  ])
  const { answer } = await catalog.draft(price)
  const pricing_item_config_id = configOf(answer.body)
  const stored = await calculate({ pricing_item_config_id, meter_values })
  expect(stored.body['calculations']).toEqual(body['calculations'])
  const inMoney = await calculate({ pricing_item_config_id, meter_values, pricing_currency: 'EUR' })
  expect(refusal(inMoney)).toEqual([400, 'INVALID_FIELD', 'pricing_currency'])
  const version = `/v1/pricing-plan-versions/${answer.body['pricing_plan_version_id']}`
  const drawn = await a.call('GET', `${version}/curve?to=120`)
  expect(drawn.body['curves']).toMatchObject([
    {
      credit_type_id,
      pieces: [
        { from: { number: '0', credits: credits('0') }, to: { number: '100', credits: credits('3') } },
        { to: { number: '120', credits: credits('3.4') } },
      ],
    },
  ])
  expect(refusal(await a.call('POST', `${version}/calculate`, {}))).toEqual([400, 'MISSING_FIELD', 'pricing_currency'])
})
