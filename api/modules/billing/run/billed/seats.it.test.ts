// Seats charged by their assignments, with a real database: the lines of invoices, what is billed once, and which
// changes billed time refuses (semantics 4.4).
import { describe, expect, test } from 'vitest'
import { refusal } from '../../../../testing/catalog.ts'
import type { Row } from '../../../../testing/wire.ts'
import { succeed } from '../../testing/billed-subscription.ts'
import { invoiceLines } from '../../testing/sales.ts'
import { salesRig } from '../../testing/sales-rig.ts'

const { bill, get, patch, post, sales, setTime, tenant, unique } = salesRig()

/** A subscription since 1 March with seats at 10 a month. */
async function sellSeats(config: object = {}) {
  setTime('2026-03-01T01:00:00Z')
  const product = await post('products', { reference: unique('product'), name: 'Editor', status: 'ACTIVE' })
  const item = await sales.item(product, 'PER_SEAT')
  const plan = await post('pricing-plans', { reference: unique('plan'), name: 'Team' })
  const version = await post('pricing-plan-versions', { pricing_plan_id: plan['id'] })
  const bands = [{ amount: { quantity: '10', currency: 'EUR' } }]
  const pricing = await post('pricings', {
    pricing_plan_version_id: version['id'],
    name: 'Team',
    product_ids: [product['id']],
    items: [{ product_item_ids: [item['id']], configs: [{ pricing_type: 'FLAT', bands, ...config }] }],
  })
  await patch(`pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
  const subscription = await sales.subscription()
  const subscriptionId: string = subscription['id']
  const schedule = await post('pricing-plan-schedules', {
    pricing_plan_subscription_id: subscriptionId,
    pricing_plan_version_id: version['id'],
    start_at: '2026-03-01T00:00:00Z',
  })
  await patch(`pricing-plan-subscriptions/${subscriptionId}`, { status: 'ACTIVE' })
  const itemId: string = item['id']
  const scheduleId: string = schedule['id']
  const configId: string = pricing['items'][0].configs[0].id
  return {
    subscriptionId,
    itemId,
    scheduleId,
    configId,
    planId: plan['id'] as string,
    productId: product['id'] as string,
  }
}
type Sold = Awaited<ReturnType<typeof sellSeats>>

const assign = async ({ subscriptionId, itemId }: Sold, start_at: string, end_at: string | null = null) =>
  tenant.call('POST', '/v1/seat-assignments', {
    pricing_plan_subscription_id: subscriptionId,
    product_item_id: itemId,
    customer_id: await sales.customer(),
    start_at,
    ...(end_at === null ? {} : { end_at }),
  })
const listed = async ({ subscriptionId }: Sold): Promise<Row[]> =>
  (
    await succeed(
      tenant,
      'GET',
      `/v1/invoices?pricing_plan_subscription_id=${subscriptionId}&include_periods=true&include_lines=true`,
    )
  )['data']
/** Each invoice by its status, with the service and the amount of its lines. */
async function invoices(sold: Sold): Promise<string[]> {
  return (await listed(sold))
    .map((invoice): string => {
      const lines = invoiceLines(invoice).map(line => line.replaceAll('2026-', ''))
      return [invoice['status'], ...lines.toSorted()].join(', ')
    })
    .toSorted()
}

/** Repricing every FINAL invoice gives the same, and its lines show the days they are prorated by. */
async function explained(sold: Sold, days: string[]): Promise<void> {
  const found: string[] = []
  for (const { id, status, periods } of await listed(sold)) {
    if (status !== 'FINAL') continue
    expect((await tenant.call('POST', `/v1/invoices/${id}/verify`)).body).toMatchObject({ identical: true })
    const groups = (periods as Row[]).flatMap(period => period['groups'] as Row[])
    for (const line of groups.flatMap(group => group['lines'] as Row[])) {
      const { body } = await tenant.call('GET', `/v1/invoices/${id}/lines/${line['id']}/explanation`)
      const steps: Row[] = body['steps']
      found.push(...steps.flatMap(({ step, description }) => (step === 'PRORATION' ? [description] : [])))
    }
  }
  expect(found.toSorted()).toEqual(days)
}

describe('seats charged by their assignments', () => {
  test('in arrears: a line for each number of seats, prorated by days; billed time keeps its seats', async () => {
    const sold = await sellSeats()
    const first = (await assign(sold, '2026-03-01T00:00:00Z')).body
    await bill(sold.subscriptionId, '2026-03-01T02:00:00Z')
    expect(await invoices(sold)).toEqual(['OPEN, 03-01..04-01 10.00'])
    // Another for ten days of March: the OPEN invoice is computed again.
    const second = (await assign(sold, '2026-03-11T00:00:00Z', '2026-03-21T00:00:00Z')).body
    expect((await listed(sold))[0]?.['to_be_reprocessed']).toBe(true)
    await bill(sold.subscriptionId, '2026-04-01T01:00:00Z', '2026-04-05T00:00:00Z')
    const march = 'FINAL, 03-01..03-11 3.23, 03-11..03-21 6.45, 03-21..04-01 3.55'
    expect(await invoices(sold)).toEqual([march, 'OPEN, 04-01..05-01 10.00'])

    await explained(sold, ['× 10 ÷ 31 days', '× 10 ÷ 31 days', '× 11 ÷ 31 days'])

    const end = (seat: Row, end_at: string) => tenant.call('PATCH', `/v1/seat-assignments/${seat['id']}`, { end_at })
    expect(refusal(await assign(sold, '2026-03-31T00:00:00Z'))).toEqual([400, 'INVALID_FIELD', 'start_at'])
    expect(refusal(await end(first, '2026-03-21T00:00:00Z'))).toEqual([400, 'INVALID_FIELD', 'end_at'])
    expect(refusal(await end(second, '2026-04-21T00:00:00Z'))).toEqual([400, 'INVALID_OPERATION', 'end_at'])
    expect((await end(first, '2026-04-16T00:00:00Z')).status).toBe(200)
    expect((await assign(sold, '2026-04-01T00:00:00Z')).status).toBe(201)
    await bill(sold.subscriptionId, '2026-04-05T01:00:00Z')
    expect(await invoices(sold)).toEqual([march, 'OPEN, 04-01..04-16 10.00, 04-16..05-01 5.00'])
  })

  test('in advance: a rise is billed once, on the next invoice, even one from the start of a billed period', async () => {
    const sold = await sellSeats({ billing_in_advance: true })
    await assign(sold, '2026-03-01T00:00:00Z')
    await bill(sold.subscriptionId, '2026-03-01T02:00:00Z', '2026-03-05T00:00:00Z')
    const first = 'FINAL, 03-01..04-01 10.00'
    expect(await invoices(sold)).toEqual([first, 'OPEN, 04-01..05-01 10.00'])
    await assign(sold, '2026-03-01T00:00:00Z')
    await assign(sold, '2026-03-11T00:00:00Z')
    await bill(sold.subscriptionId, '2026-04-01T01:00:00Z', '2026-04-05T00:00:00Z')
    const second = 'FINAL, 03-01..04-01 10.00, 03-11..04-01 6.77, 04-01..05-01 30.00'
    expect(await invoices(sold)).toEqual([first, second, 'OPEN, 05-01..06-01 30.00'])
    await explained(sold, ['× 21 ÷ 31 days'])
    await bill(sold.subscriptionId, '2026-05-01T01:00:00Z', '2026-05-05T00:00:00Z')
    expect((await invoices(sold)).filter(text => text.startsWith('FINAL'))).toEqual([
      first,
      second,
      'FINAL, 05-01..06-01 30.00',
    ])
  })

  test('a price with a fixed number charges that number whatever the assignments, which may start at any time', async () => {
    const sold = await sellSeats({ default_seats_value: { number: '3' } })
    await bill(sold.subscriptionId, '2026-04-01T01:00:00Z', '2026-04-05T00:00:00Z')
    expect((await assign(sold, '2026-03-11T00:00:00Z')).status).toBe(201)
    await bill(sold.subscriptionId, '2026-04-05T01:00:00Z')
    expect(await invoices(sold)).toEqual(['FINAL, 03-01..04-01 30.00', 'OPEN, 04-01..05-01 30.00'])
  })

  test('a schedule states the seats, with dates, and changes them in time that is not billed', async () => {
    const sold = await sellSeats()
    const { scheduleId, configId: pricing_item_config_id } = sold
    const stating = (...seats_values: object[]) =>
      tenant.call('PATCH', `/v1/pricing-plan-schedules/${scheduleId}`, {
        seats_values: seats_values.map(value => ({ pricing_item_config_id, ...value })),
      })
    const first = { number: '5', end_at: '2026-03-11T00:00:00Z' }
    const { body } = await stating(first, { number: '8', start_at: '2026-03-11T01:00:00+01:00' })
    expect(body['seats_values']).toEqual([
      { pricing_item_config_id, ...first },
      { pricing_item_config_id, number: '8', start_at: '2026-03-11T00:00:00Z' },
    ])
    await bill(sold.subscriptionId, '2026-04-01T01:00:00Z', '2026-04-05T00:00:00Z')
    const march = 'FINAL, 03-01..03-11 16.13, 03-11..04-01 54.19'
    expect(await invoices(sold)).toEqual([march, 'OPEN, 04-01..05-01 80.00'])
    await explained(sold, ['× 10 ÷ 31 days', '× 21 ÷ 31 days'])

    // March is billed; from now on it may change.
    const second = { number: '8', start_at: '2026-03-11T00:00:00Z', end_at: '2026-04-16T00:00:00Z' }
    expect(refusal(await stating({ ...first, number: '6' }, second))).toEqual([
      400,
      'INVALID_FIELD',
      'seats_values.0.start_at',
    ])
    expect(refusal(await stating(second))).toEqual([400, 'INVALID_FIELD', 'seats_values'])
    expect(refusal(await stating(first, { ...second, end_at: '2026-03-21T00:00:00Z' }))).toEqual([
      400,
      'INVALID_FIELD',
      'seats_values.1.end_at',
    ])
    setTime('2026-04-06T00:00:00Z')
    const now = await stating(first, second, { number: '2', start_at: '2026-04-16T00:00:00Z', end_at: null })
    expect(now.status).toBe(200)
    await bill(sold.subscriptionId, '2026-04-06T01:00:00Z')
    expect(await invoices(sold)).toEqual([march, 'OPEN, 04-01..04-16 40.00, 04-16..05-01 10.00'])

    setTime('2026-04-20T00:00:00Z')
    const third = { number: '2', start_at: '2026-04-16T00:00:00Z', end_at: '2026-04-20T00:00:00Z' }
    const started = await stating(first, second, third, { number: '9', set_start_at_to_now: true })
    expect(started.body['seats_values'][3]).toEqual({
      pricing_item_config_id,
      number: '9',
      start_at: '2026-04-20T00:00:00Z',
    })
  })

  test('the seats of a schedule are checked, with the field at fault', async () => {
    const sold = await sellSeats({
      bands: [{ amount: { quantity: '10', currency: 'EUR' }, minimum_number: '2', maximum_number: '9' }],
    })
    const { scheduleId, configId: pricing_item_config_id } = sold
    const value = { pricing_item_config_id, number: '5' }
    const march = '2026-03-11T00:00:00Z'
    const bad: [object[], string][] = [
      [[{ ...value, pricing_item_config_id: 'pico_none' }], 'seats_values.0.pricing_item_config_id'],
      [[{ ...value, number: '-1' }], 'seats_values.0.number'],
      [[{ ...value, number: '1' }], 'seats_values.0.number'],
      [[{ ...value, number: '10' }], 'seats_values.0.number'],
      [[{ ...value, start_at: '2026-02-01T00:00:00Z' }], 'seats_values.0.start_at'],
      [[{ ...value, start_at: march, end_at: march }], 'seats_values.0.end_at'],
      [[value, { ...value, start_at: march }], 'seats_values.1.start_at'],
    ]
    for (const [seats_values, field] of bad)
      expect(refusal(await tenant.call('PATCH', `/v1/pricing-plan-schedules/${scheduleId}`, { seats_values }))[2]).toBe(
        field,
      )
    const units = [{ pricing_item_config_id, number: '3' }]
    const draft = await post('pricing-plan-subscriptions', {
      customer_id: await sales.customer(),
      billing_entity_id: (await get(`pricing-plan-subscriptions/${sold.subscriptionId}`))['billing_entity_id'],
      billing_currency: 'EUR',
    })
    const withUnits = await tenant.call('POST', '/v1/pricing-plan-schedules', {
      pricing_plan_subscription_id: draft['id'],
      pricing_plan_version_id: (await get(`pricing-plan-schedules/${scheduleId}`))['pricing_plan_version_id'],
      start_at: march,
      units,
    })
    expect(refusal(withUnits)).toEqual([400, 'INVALID_FIELD', 'units.0.pricing_item_config_id'])
  })

  test('a copy has the seats that hold at its start, and another version has them for the same item', async () => {
    const sold = await sellSeats()
    const { scheduleId, configId: pricing_item_config_id } = sold
    const [end, later] = ['2026-03-11T00:00:00Z', '2026-05-01T00:00:00Z']
    const entries = [
      { pricing_item_config_id, number: '5', end_at: end },
      { pricing_item_config_id, number: '8', start_at: end, end_at: later },
      { pricing_item_config_id, number: '9', start_at: later },
    ]
    await patch(`pricing-plan-schedules/${scheduleId}`, { seats_values: entries })
    const version = await post('pricing-plan-versions', { pricing_plan_id: sold.planId })
    const pricing = await post('pricings', {
      pricing_plan_version_id: version['id'],
      name: 'Team',
      product_ids: [sold.productId],
      items: [
        {
          product_item_ids: [sold.itemId],
          configs: [{ pricing_type: 'FLAT', bands: [{ amount: { quantity: '12', currency: 'EUR' } }] }],
        },
      ],
    })
    await patch(`pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
    const start_at = '2026-04-01T00:00:00Z'
    const copied = await post(`pricing-plan-schedules/${scheduleId}/copy?set_previous_end_at=true`, { start_at })
    expect(copied['seats_values']).toEqual([{ pricing_item_config_id, number: '8', end_at: later }, entries[2]])
    expect((await tenant.call('DELETE', `/v1/pricing-plan-schedules/${copied['id']}`)).status).toBe(200)
    const migrated = await post(`pricing-plan-schedules/${scheduleId}/migrate?set_previous_end_at=true`, {
      start_at,
      pricing_plan_version_id: version['id'],
    })
    const next: string = pricing['items'][0].configs[0].id
    expect(migrated['seats_values'].map((each: Row) => [each['pricing_item_config_id'], each['number']])).toEqual([
      [next, '8'],
      [next, '9'],
    ])
  })
})
