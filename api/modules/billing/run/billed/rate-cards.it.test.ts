// Rate cards by the API, down to the lines of invoices: what a plan of this kind takes, which version prices a schedule, and what its
// past keeps from changing (semantics 3.1; contract: rate card plans).
import { describe, expect, test } from 'vitest'
import { refusal } from '../../../../testing/catalog.ts'
import type { Row } from '../../../../testing/wire.ts'
import { invoiceLines } from '../../testing/sales.ts'
import { salesRig } from '../../testing/sales-rig.ts'

const { bill, get, patch, post, sales, setTime, tenant, unique } = salesRig()

const MARCH = '2026-03-01T00:00:00Z'
const activate = (versionId: string) =>
  tenant.call('PATCH', `/v1/pricing-plan-versions/${versionId}`, { status: 'ACTIVE' })

type Card = { readonly planId: string; readonly reference: string; readonly item: Row }

async function newCard(model_type = 'RECURRING'): Promise<Card> {
  const product = await post('products', { reference: unique('support'), name: 'Support', status: 'ACTIVE' })
  const item = await sales.item(product, model_type)
  const reference = unique('card')
  const plan = await post('pricing-plans', { reference, variant: 'RATE_CARD' })
  return { planId: plan['id'], reference, item }
}

/** A DRAFT version that charges this a month, in force from then on. */
async function newVersion({ planId, item }: Card, start_at: string | null, price: string, config: object = {}) {
  const version = await post('pricing-plan-versions', {
    pricing_plan_id: planId,
    ...(start_at ? { rate_card: { start_at } } : {}),
  })
  await post('pricings', {
    pricing_plan_version_id: version['id'],
    product_ids: [item['product_id']],
    items: [
      {
        product_item_ids: [item['id']],
        configs: [
          { pricing_type: 'FIXED', bands: [{ fixed_amount: { quantity: price, currency: 'EUR' } }], ...config },
        ],
      },
    ],
  })
  return version['id'] as string
}

async function subscribe(card: Card, start_at = MARCH): Promise<Row> {
  const subscription = await sales.subscription()
  await post('pricing-plan-schedules', {
    pricing_plan_subscription_id: subscription['id'],
    pricing_plan_version_selector: { pricing_plan_reference: card.reference },
    start_at,
  })
  return subscription
}
const start = ({ id }: Row) => tenant.call('PATCH', `/v1/pricing-plan-subscriptions/${id}`, { status: 'ACTIVE' })
/** The lines of its invoices, oldest first: `2026-03-01..2026-03-11 10.00`. */
async function linesOf({ id }: Row): Promise<string[]> {
  const list = await get(`invoices?pricing_plan_subscription_id=${id}&order_by=created_at&order_direction=ASC`)
  const invoices: Row[] = await Promise.all(list['data'].map((each: Row) => get(`invoices/${each['id']}`)))
  return invoices.flatMap(invoiceLines)
}

describe('a schedule on a rate card', () => {
  test('is priced by the version in force at each moment, with no schedule of its own for a new price', async () => {
    setTime('2026-03-01T01:00:00Z')
    const card = await newCard()
    const first = await newVersion(card, MARCH, '31')
    await activate(first)
    const subscription = await subscribe(card)
    expect((await start(subscription)).status).toBe(200)
    setTime('2026-03-05T00:00:00Z')
    const second = await newVersion(card, '2026-03-11T00:00:00Z', '62')
    expect((await activate(second)).status).toBe(200)
    const infoOf = async () =>
      (await get(`pricing-plan-subscriptions/${subscription['id']}?expand[]=pricing_plan_version`))[
        'pricing_plan_schedule_infos'
      ][0]
    expect((await infoOf())['pricing_plan_version_id']).toBe(first)
    await bill(subscription['id'], '2026-04-02T00:00:00Z')
    expect((await linesOf(subscription)).slice(0, 2)).toEqual([
      '2026-03-01..2026-03-11 10.00',
      '2026-03-11..2026-04-01 42.00',
    ])
    const info = await infoOf()
    expect([info['pricing_plan_version_id'], info['pricing_plan_version'].id]).toEqual([second, second])
    const plan = await get(`pricing-plans/${card.planId}`)
    expect(plan['pricing_plan_version_infos'].map((each: Row) => each['rate_card'])).toEqual([
      { start_at: MARCH },
      { start_at: '2026-03-11T00:00:00Z' },
    ])
  })

  test('charges the seats that it states for the price of each version', async () => {
    setTime('2026-03-01T01:00:00Z')
    const card = await newCard('PER_SEAT')
    const seats = (quantity: string) => ({ pricing_type: 'FLAT', bands: [{ amount: { quantity, currency: 'EUR' } }] })
    const versions = [
      await newVersion(card, MARCH, '31', seats('31')),
      await newVersion(card, '2026-03-11T00:00:00Z', '62', seats('62')),
    ]
    for (const version of versions) expect((await activate(version)).status).toBe(200)
    const subscription = await subscribe(card)
    await start(subscription)
    const [first, second] = await Promise.all(
      versions.map(
        async id =>
          (await get(`pricing-plan-versions/${id}`))['pricing_categories'][0].pricings[0].items[0].configs[0].id,
      ),
    )
    const { pricing_plan_schedule_infos: infos } = await get(`pricing-plan-subscriptions/${subscription['id']}`)
    await patch(`pricing-plan-schedules/${infos[0].id}`, {
      seats_values: [
        { pricing_item_config_id: first, number: '2' },
        { pricing_item_config_id: second, number: '3' },
      ],
    })
    await bill(subscription['id'], '2026-04-02T00:00:00Z')
    expect((await linesOf(subscription)).slice(0, 2)).toEqual([
      '2026-03-01..2026-03-11 20.00',
      '2026-03-11..2026-04-01 126.00',
    ])
  })

  test('is refunded what it paid ahead at the old price, and charged the new one', async () => {
    setTime('2026-03-01T01:00:00Z')
    const card = await newCard()
    await activate(await newVersion(card, MARCH, '31', { billing_in_advance: true }))
    const subscription = await subscribe(card)
    await start(subscription)
    // Closes the invoice that charged March ahead.
    await bill(subscription['id'], '2026-03-01T02:00:00Z', '2026-03-03T00:00:00Z')
    await activate(await newVersion(card, '2026-03-11T00:00:00Z', '62', { billing_in_advance: true }))
    await bill(subscription['id'], '2026-04-03T00:00:00Z')
    expect((await linesOf(subscription)).toSorted()).toEqual([
      '2026-03-01..2026-04-01 31.00',
      '2026-03-11..2026-04-01 -21.00',
      '2026-03-11..2026-04-01 42.00',
      '2026-04-01..2026-05-01 62.00',
      '2026-05-01..2026-06-01 62.00',
    ])
  })
})

describe('what is refused', () => {
  test('versions that do not say, or wrongly say, when they come into force', async () => {
    setTime('2026-03-01T01:00:00Z')
    const card = await newCard()
    expect(refusal(await activate(await newVersion(card, null, '1')))).toEqual([
      400,
      'MISSING_FIELD',
      'rate_card.start_at',
    ])
    expect((await activate(await newVersion(card, MARCH, '1'))).status).toBe(200)
    const same = await newVersion(card, '2026-03-01T01:00:00+01:00', '2')
    expect(refusal(await activate(same))).toEqual([400, 'INVALID_FIELD', 'rate_card.start_at'])
    const plan = await post('pricing-plans', { reference: tenant.seed.unique('plain') })
    const plain = await tenant.call('POST', '/v1/pricing-plan-versions', {
      pricing_plan_id: plan['id'],
      rate_card: { start_at: MARCH },
    })
    expect(refusal(plain)).toEqual([400, 'INVALID_FIELD', 'rate_card'])
    const moved = await tenant.call('PATCH', `/v1/pricing-plans/${plan['id']}`, { variant: 'RATE_CARD' })
    expect(refusal(moved)).toEqual([400, 'INVALID_FIELD', 'variant'])
  })

  test('schedules that no version prices from the start, and a version by its number', async () => {
    setTime('2026-03-01T01:00:00Z')
    const card = await newCard()
    await activate(await newVersion(card, '2026-03-10T00:00:00Z', '1'))
    const subscription = await subscribe(card)
    expect(refusal(await start(subscription))).toEqual([400, 'INVALID_FIELD', 'start_at'])
    const numbered = await tenant.call('POST', '/v1/pricing-plan-schedules', {
      pricing_plan_subscription_id: subscription['id'],
      pricing_plan_version_selector: { pricing_plan_id: card.planId, type: 'VERSION', version: 1 },
      start_at: '2027-01-01T00:00:00Z',
    })
    expect(refusal(numbered)).toEqual([400, 'INVALID_FIELD', 'pricing_plan_version_selector.version'])
  })

  test('changes of what has priced a schedule', async () => {
    setTime('2026-03-01T01:00:00Z')
    const card = await newCard()
    const first = await newVersion(card, MARCH, '31')
    await activate(first)
    await start(await subscribe(card))
    const past = await newVersion(card, '2026-03-01T00:30:00Z', '62')
    expect(refusal(await activate(past))).toEqual([400, 'INVALID_FIELD', 'rate_card.start_at'])
    const retired = await tenant.call('PATCH', `/v1/pricing-plan-versions/${first}`, { status: 'DEPRECATED' })
    expect(refusal(retired)).toEqual([400, 'INVALID_OPERATION', 'status'])
    const dollars = await newVersion(card, '2026-04-01T00:00:00Z', '1', {
      bands: [{ fixed_amount: { quantity: '1', currency: 'USD' } }],
    })
    expect(refusal(await activate(dollars))).toEqual([400, 'INVALID_FIELD', 'pricing_currency'])
    await patch(`pricing-plan-versions/${past}`, { rate_card: { start_at: '2026-05-01T00:00:00Z' } })
    expect((await activate(past)).status).toBe(200)
  })
})
