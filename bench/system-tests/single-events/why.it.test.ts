// Where the figures of an invoice come from: each line explained down to its events, and a FINAL invoice priced again from the log.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { billedSubscription, succeed } from '../../../api/modules/billing/testing/billed-subscription.ts'
import type { TestTenant } from '../../../api/testing/harness.ts'
import type { Row } from '../../../api/testing/wire.ts'
import { billAt, closedMarch, eur, marchOf } from './closed-march.ts'
import { type EventsRig, ms, NOW, openEventsRig, START, tokensOf } from './rig.ts'

let rig: EventsRig
let tenant: TestTenant
beforeAll(async () => {
  rig = await openEventsRig()
  tenant = rig.tenant
})
afterAll(() => rig?.close())

const linesOf = (invoice: Row): Row[] =>
  invoice['periods'].flatMap((period: Row) => period['groups'].flatMap((group: Row) => group['lines']))
const usageLine = (invoice: Row): Row => {
  const found = linesOf(invoice).find(({ meter_value }) => meter_value !== undefined)
  if (!found) throw new Error('the invoice has a line of usage')
  return found
}
const get = (invoice: Row, path: string) => succeed(tenant, 'GET', `/v1/invoices/${invoice['id']}/${path}`)
const verify = (invoice: Row) => succeed(tenant, 'POST', `/v1/invoices/${invoice['id']}/verify`)

test('money in other currencies is converted by the rate of each event; without one the invoice waits for it', async () => {
  rig.api.clock.set(NOW)
  const bands = [{ percentage: '2' }]
  const of = await billedSubscription(tenant, { start_at: START, valueType: 'AMOUNT', bands })
  const paid = (quantity: string, currency: string, day: string) =>
    rig.send({ ...tokensOf(of, rig.reference()), timestampMs: ms(`2026-03-${day}T12:00:00Z`), quantity, currency })
  const rateOf = (rate: string, day: string) =>
    succeed(tenant, 'POST', '/v1/exchange-rates', {
      ...{ base_currency: 'USD', currency: 'EUR', rate, rate_timestamp: `2026-03-${day}T00:00:00Z`, source: 'ECB' },
    })
  await rateOf('0.9', '03')
  await paid('1000', 'EUR', '04')
  await paid('100', 'USD', '02')
  await paid('1000', 'USD', '04')
  await paid('1000', 'USD', '06')
  const preview = await tenant.call('POST', '/v1/invoices/preview', {
    pricing_plan_subscription_id: of.subscriptionId,
    start_at: START,
  })
  expect([preview.status, preview.body['code']]).toEqual([400, 'INVALID_OPERATION'])
  expect(preview.body['message']).toContain(
    'Usage in USD cannot be priced in EUR: there is no exchange rate of 2026-03-01',
  )
  await billAt(rig, of, '2026-04-01T01:00:00Z')
  // The grace period is over: it stays DRAFT, and bills what it can.
  await billAt(rig, of, '2026-04-02T00:00:00Z')
  const waiting = await marchOf(rig, of)
  expect([waiting['status'], usageLine(waiting)['amount_excluding_tax']]).toEqual(['DRAFT', eur('56.00')])
  expect(waiting['validation_result']).toMatchObject([{ status: 'ERROR' }])
  await rateOf('0.8', '01')
  await rateOf('0.95', '05')
  await billAt(rig, of, '2026-04-02T01:00:00Z')
  const invoice = await marchOf(rig, of)
  const line = usageLine(invoice)
  // 2 % of 1,000 + 100 x 0.8 + 1,000 x 0.9 + 1,000 x 0.95.
  expect([invoice['status'], line['amount_excluding_tax']]).toEqual(['FINAL', eur('58.60')])
  expect(line['details'].meter_values).toEqual([
    { amount: eur('1000'), amount_in_pricing_currency: eur('1000'), ratio: '0.341296928328', count: 1 },
    {
      ...{ amount: { quantity: '2100', currency: 'USD' }, amount_in_pricing_currency: eur('1930') },
      ...{ ratio: '0.658703071672', count: 3 },
    },
  ])
  expect(invoice['used_exchange_rates'].map(({ rate }: Row) => rate)).toEqual(['0.8', '0.9', '0.95'])
  // It keeps the rates that it used.
  const { data } = await succeed(tenant, 'GET', '/v1/exchange-rates?base_currency=USD&currency=EUR')
  await succeed(tenant, 'PATCH', `/v1/exchange-rates/${data[0].id}`, { rate: '0.5' })
  expect(await verify(invoice)).toMatchObject({ identical: true })
})

describe('an explanation', () => {
  test('leads from the events to what the line prints, step by step', async () => {
    const { invoice } = await closedMarch(rig, ['700', '800.5'])
    const line = usageLine(invoice)
    const answer = await get(invoice, `lines/${line['id']}/explanation`)
    expect(answer).toMatchObject({
      is_current: true,
      usage: { calculation_type: 'SUM', quantity: '1500.5', number_of_events: '2', start_at: START },
      price: { pricing_type: 'TIERED', bands: [{ amount: eur('0.105') }, { amount: eur('0.08') }] },
      taxes: [{ treatment: 'LOCAL_RATE', percentage: '21', country: 'NL' }],
    })
    expect(answer['usage'].log_positions.length).toBeGreaterThan(0)
    expect(answer['taxes'][0].source).toContain('Taxes in Europe')
    expect(answer['steps'].map(({ step, change, amount }: Row) => [step, change?.quantity, amount?.quantity])).toEqual([
      ['USAGE', undefined, undefined],
      ['BAND', '105', undefined],
      ['BAND', '40.04', undefined],
      ['PRICE', undefined, '145.04'],
      ['TOTAL_DISCOUNT', '-14.5', '130.54'],
    ])
    const discount = linesOf(invoice).find(({ type }) => type === 'DISCOUNT')
    expect(answer['steps'].at(-1).line_id).toBe(discount?.['id'])
    const ofDiscount = await get(invoice, `lines/${discount?.['id']}/explanation`)
    expect(ofDiscount['steps'].map(({ step, line_id }: Row) => [step, line_id])).toContainEqual([
      'TOTAL_DISCOUNT',
      line['id'],
    ])
  })

  test('is given of an invoice that is not closed as of now', async () => {
    rig.api.clock.set(NOW)
    const of = await billedSubscription(tenant, { start_at: START, fee: '10' })
    await rig.send({ ...tokensOf(of, rig.reference()), quantity: '1000' })
    await billAt(rig, of, '2026-03-20T00:00:00Z')
    const invoice = (await succeed(tenant, 'GET', `/v1/invoices?pricing_plan_subscription_id=${of.subscriptionId}`))
      .data
    const whole = await Promise.all(invoice.map(({ id }: Row) => succeed(tenant, 'GET', `/v1/invoices/${id}`)))
    const open = whole.find(row => row['status'] === 'OPEN')
    const answer = await get(open, `lines/${usageLine(open)['id']}/explanation`)
    expect(answer).toMatchObject({ is_current: true, usage: { quantity: '1000', log_positions: null } })
    const { data } = await get(open, `lines/${usageLine(open)['id']}/events`)
    expect(data).toHaveLength(1)
    expect(await tenant.call('POST', `/v1/invoices/${open['id']}/verify`)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_OPERATION' },
    })
  })

  test('of a line that is not there is refused', async () => {
    const { invoice } = await closedMarch(rig, ['1'])
    for (const path of ['lines/inli_none/explanation', 'lines/inli_none/events', 'receipt?reference=none'])
      expect((await tenant.call('GET', `/v1/invoices/${invoice['id']}/${path}`)).status, path).toBe(404)
    expect((await tenant.call('GET', '/v1/invoices/invo_none/receipt')).status).toBe(404)
    const cursor = `lines/${usageLine(invoice)['id']}/events?starting_after=meda_${'0'.repeat(32)}`
    expect(await tenant.call('GET', `/v1/invoices/${invoice['id']}/${cursor}`)).toMatchObject({
      status: 400,
      body: { field: 'starting_after' },
    })
  })
})

test('the events of a line are those that it counts, each once, in the order of their time', async () => {
  const { invoice, references, of } = await closedMarch(rig, ['1', '2', '3', '4', '5'])
  const path = `lines/${usageLine(invoice)['id']}/events`
  const seen: Row[] = []
  for (let url: string | null = `/v1/invoices/${invoice['id']}/${path}?limit=2`; url !== null; ) {
    const page: Row = await succeed(tenant, 'GET', url)
    seen.push(...page['data'])
    url = page['links'].next
  }
  expect(seen.map(({ reference }) => reference)).toEqual(references)
  expect(seen.map(({ meter_values: [value] }) => value.number)).toEqual(['1', '2', '3', '4', '5'])
  // One that comes late is not among them.
  await rig.send({ ...tokensOf(of, rig.reference()), quantity: '99' })
  expect((await get(invoice, path))['data']).toHaveLength(5)
})

describe('a verification', () => {
  test('finds the same, byte for byte, whatever the parties have become and came late', async () => {
    const { invoice, of } = await closedMarch(rig, ['700', '800.5'])
    await succeed(tenant, 'PATCH', `/v1/customers/${of.customerId}`, {
      organization: { legal_name: 'Acme of another name', registered_address: { country: 'FR' } },
    })
    await rig.send({ ...tokensOf(of, rig.reference()), quantity: '5' })
    const answer = await verify(invoice)
    expect(answer).toMatchObject({ identical: true, number_of_differences: 0, differences: [], changed_events: [] })
    expect(answer['computed_sha256']).toBe(answer['issued_sha256'])
    // The next one bills the late event; it too is priced again as it was.
    await billAt(rig, of, '2026-05-01T01:00:00Z')
    await billAt(rig, of, '2026-05-02T00:00:00Z')
    const { data } = await succeed(tenant, 'GET', `/v1/invoices?pricing_plan_subscription_id=${of.subscriptionId}`)
    const april = data.find((row: Row) => row['period_start'] === '2026-04-01T00:00:00Z')
    expect(april.status).toBe('FINAL')
    const whole = await succeed(tenant, 'GET', `/v1/invoices/${april.id}`)
    const late = linesOf(whole).find(({ late_for_invoice_id: id }) => id !== undefined)
    expect(late?.['late_for_invoice_id']).toBe(invoice['id'])
    expect(await verify(whole)).toMatchObject({ identical: true, differences: [] })
    const { data: events } = await get(whole, `lines/${late?.['id']}/events`)
    expect(events.map((event: Row) => event['previously_billed']).sort()).toEqual([false, true, true])
  })

  test('says what differs, and which events were changed since', async () => {
    const { invoice, references } = await closedMarch(rig, ['700', '800.5'])
    const [first = ''] = references
    await succeed(tenant, 'POST', `/v1/events/${first}/delete`)
    const answer = await verify(invoice)
    expect(answer).toMatchObject({ identical: false, changed_events: [{ reference: first, change: 'DELETED' }] })
    expect(answer['differences']).toContainEqual({
      field: 'content.periods.0.groups.0.lines.0.meter_value.number',
      issued: '1500.5',
      computed: '800.5',
    })
    expect(answer['computed_sha256']).not.toBe(answer['issued_sha256'])
  })

  test('of an invoice with an added line that was made FINAL by hand finds the same', async () => {
    rig.api.clock.set(NOW)
    const of = await billedSubscription(tenant, { start_at: START, fee: '10' })
    await rig.send({ ...tokensOf(of, rig.reference()), quantity: '1000' })
    await billAt(rig, of, '2026-04-01T01:00:00Z')
    const draft = await marchOf(rig, of)
    await succeed(tenant, 'POST', `/v1/invoices/${draft['id']}/lines`, {
      pricing_name: 'Workshop',
      pricing_type: 'FIXED',
      pricing_band: { amount: eur('450') },
    })
    await succeed(tenant, 'PATCH', `/v1/invoices/${draft['id']}`, { status: 'FINAL' })
    expect(await verify(draft)).toMatchObject({ identical: true })
  })

  test('of a one-off invoice and of its copy finds the same; their credit note is refused', async () => {
    const { of } = await closedMarch(rig, ['1'])
    const entity = (await succeed(tenant, 'GET', '/v1/billing-entities')).data[0].id
    const line = { pricing_name: 'Workshop', pricing_type: 'FIXED', pricing_band: { amount: eur('450') } }
    const oneOff = await succeed(tenant, 'POST', '/v1/invoices', {
      customer_id: of.customerId,
      billing_entity_id: entity,
      lines: [line],
    })
    const refusal = (id: string) => tenant.call('POST', `/v1/invoices/${id}/verify`)
    const refused = { status: 400, body: { code: 'INVALID_OPERATION' } }
    expect(await refusal(oneOff['id'])).toMatchObject(refused)
    const answer = await get(oneOff, `lines/${linesOf(oneOff)[0]?.['id']}/explanation`)
    expect(answer).toMatchObject({ usage: null, price: null, steps: [{ step: 'LINE', amount: eur('450.00') }] })
    await succeed(tenant, 'PATCH', `/v1/invoices/${oneOff['id']}`, { status: 'FINAL' })
    const both = { update_new_invoice_to_final: true, update_credit_invoice_to_final: true }
    const made = await succeed(tenant, 'POST', `/v1/invoices/${oneOff['id']}/credit_and_copy`, both)
    for (const id of [oneOff['id'], made['new_invoice_id']])
      expect(await verify({ id })).toMatchObject({ identical: true, differences: [], changed_events: [] })
    expect(await refusal(made['credit_invoice_id'])).toMatchObject(refused)
  })
})
