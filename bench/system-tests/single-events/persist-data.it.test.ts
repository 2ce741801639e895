// A state that is persisted: who may persist what, what invoices make of it, and what the traces of the events around it say.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { BillingDeps } from '../../../api/modules/billing/run/compute-invoice.ts'
import { runBilling } from '../../../api/modules/billing/run/run-billing.ts'
import { type Billed, billedSubscription, succeed } from '../../../api/modules/billing/testing/billed-subscription.ts'
import { expectPayloads } from '../../../api/testing/event-payloads.ts'
import type { TestTenant } from '../../../api/testing/harness.ts'
import type { Row } from '../../../api/testing/wire.ts'
import { type EventsRig, ms, NOW, openEventsRig, START, tokensOf } from './rig.ts'

let rig: EventsRig
let tenant: TestTenant
beforeAll(async () => {
  rig = await openEventsRig()
  tenant = rig.tenant
})
afterAll(() => rig?.close())
afterEach(() => rig.api.clock.set(NOW))

const PATH = '/v1/ingest/persist-data'
const APRIL = '2026-04-01T00:00:00Z'
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const SEATS = { start_at: START, bands: [{ amount: eur('1') }], calculation: { persist: true } }
const seats = (over: object = {}): Promise<Billed> => billedSubscription(tenant, { ...SEATS, ...over })

/** What names the price of a subscription, and the state of it. */
async function stateOf(of: Billed, more: Row = {}): Promise<Row> {
  const [price] = await rig.api.sql(
    `select p.id, p.items from pricings p
     join pricing_plan_schedules s on s.platform_id = p.platform_id and s.pricing_plan_version_id = p.pricing_plan_version_id
     where s.pricing_plan_subscription_id = $1`,
    [of.subscriptionId],
  )
  const [item] = price?.['items'] ?? []
  return {
    customer_id: of.customerId,
    pricing_plan_subscription_id: of.subscriptionId,
    pricing_id: price?.['id'],
    pricing_item_id: item.id,
    pricing_item_config_id: item.configs[0].id,
    persist_usage: '37',
    ...more,
  }
}
const tell = async (of: Billed, more: Row = {}): Promise<Row> =>
  await succeed(tenant, 'POST', PATH, await stateOf(of, more))
const send = async (of: Billed, day: string, quantity: string): Promise<string> => {
  const reference = rig.reference()
  await rig.send({ ...tokensOf(of, reference), quantity, timestampMs: ms(day), receivedAtMs: rig.api.clock.now() })
  return reference
}
const linesIn = (invoice: Row | undefined): Row[] =>
  (invoice?.['periods'] ?? []).flatMap((period: Row) => period['groups'].flatMap((group: Row) => group['lines']))
const numbersIn = (invoice: Row | undefined): string[] => linesIn(invoice).map(line => line['meter_value'].number)
const previewed = async (of: Billed): Promise<string[]> => {
  const { invoice } = await succeed(tenant, 'POST', '/v1/invoices/preview', {
    pricing_plan_subscription_id: of.subscriptionId,
  })
  return numbersIn(invoice)
}
const billAt = async (of: Billed, day: string): Promise<Row[]> => {
  rig.api.clock.set(ms(day))
  await runBilling(rig.billing, tenant.tenant, of.subscriptionId)
  const url = `/v1/invoices?pricing_plan_subscription_id=${of.subscriptionId}`
  const { data } = await succeed(tenant, 'GET', url)
  const whole = await Promise.all(data.map((row: Row) => succeed(tenant, 'GET', `/v1/invoices/${row['id']}`)))
  return whole.sort((a, b) => (a['period_start'] < b['period_start'] ? -1 : 1))
}
const linkOf = async (reference: string): Promise<Row | undefined> =>
  (await succeed(tenant, 'GET', `/v1/events/${reference}/event_trace`))['links'][0]
const kept = async (of: Billed): Promise<Row[]> =>
  await rig.api.sql(
    'select id, reference, persist_usage from persist_data where pricing_plan_subscription_id = $1 order by seq',
    [of.subscriptionId],
  )

describe('refused by name', () => {
  let own: Billed
  let other: Billed
  let body: Row
  beforeAll(async () => {
    own = await seats()
    other = await seats()
    body = await stateOf(own)
  })
  const NOBODYS = 'cust_0000000000000000000000'
  const refusal = async (over: Row): Promise<unknown[]> => {
    const answer = await tenant.call('POST', PATH, { ...body, ...over })
    expect(await kept(own)).toEqual([])
    return [answer.status, answer.body['code'], answer.body['field']]
  }

  test.each<[string, Row | (() => Row), string, string]>([
    ['no customer', { customer_id: undefined }, 'MISSING_FIELD', 'customer_id'],
    ['no subscription', { pricing_plan_subscription_id: undefined }, 'MISSING_FIELD', 'pricing_plan_subscription_id'],
    ['no pricing', { pricing_id: undefined }, 'MISSING_FIELD', 'pricing_id'],
    ['no item', { pricing_item_id: undefined }, 'MISSING_FIELD', 'pricing_item_id'],
    ['no config', { pricing_item_config_id: undefined }, 'MISSING_FIELD', 'pricing_item_config_id'],
    ['no state', { persist_usage: undefined }, 'MISSING_FIELD', 'persist_usage'],
    ['a number that is none', { persist_usage: '1e5' }, 'INVALID_FIELD', 'persist_usage'],
    ['a field there is not', { usage: '5' }, 'INVALID_FIELD', 'usage'],
    ['a selector', { pricing_plan_subscription_selector: {} }, 'INVALID_FIELD', 'pricing_plan_subscription_selector'],
    ['included volume', { included_volume: { number: '1' } }, 'INVALID_FIELD', 'included_volume'],
    ['included volume kept', { persist_included_volume: '1' }, 'INVALID_FIELD', 'persist_included_volume'],
    ['a charge', { persist_charged_volume: true }, 'INVALID_FIELD', 'persist_charged_volume'],
    ['a roll-over', { persist_rollover_volume: true }, 'INVALID_FIELD', 'persist_rollover_volume'],
    ['a roll-over set', { set_rollover_volume: true }, 'INVALID_FIELD', 'set_rollover_volume'],
    ['a reprocess', { reprocess_id: 'x' }, 'INVALID_FIELD', 'reprocess_id'],
    ['the end of a reprocess', { is_last_reprocess_item: true }, 'INVALID_FIELD', 'is_last_reprocess_item'],
    ['a ratio', { period: { ratio: '1' } }, 'INVALID_FIELD', 'period.ratio'],
    ['two moments', { timestamp: START, period: { start_at: APRIL } }, 'INVALID_FIELD', 'timestamp'],
    ['a moment far ahead', { timestamp: '2026-03-20T00:30:01Z' }, 'INVALID_FIELD', 'timestamp'],
    ['a moment before the plan', { timestamp: '2026-02-28T23:59:59Z' }, 'INVALID_FIELD', 'timestamp'],
    [
      'half a period',
      { period: { start_at: START, end_at: '2026-03-16T00:00:00Z' } },
      'INVALID_FIELD',
      'period.end_at',
    ],
    [
      'a period of no price',
      { timestamp: '2026-03-02T00:00:00Z', period: { end_at: APRIL } },
      'INVALID_FIELD',
      'period.end_at',
    ],
    ['another reference', { customer_reference: 'somebody' }, 'INVALID_FIELD', 'customer_reference'],
    [
      'another name',
      { pricing_plan_subscription_reference: 'x' },
      'INVALID_FIELD',
      'pricing_plan_subscription_reference',
    ],
    ['no such customer', { customer_id: NOBODYS }, 'RESOURCE_NOT_FOUND', 'customer_id'],
    [
      'no such subscription',
      { pricing_plan_subscription_id: NOBODYS },
      'RESOURCE_NOT_FOUND',
      'pricing_plan_subscription_id',
    ],
    ['no such pricing', { pricing_id: NOBODYS }, 'RESOURCE_NOT_FOUND', 'pricing_id'],
    ['no such item', { pricing_item_id: NOBODYS }, 'RESOURCE_NOT_FOUND', 'pricing_item_id'],
    ['no such config', { pricing_item_config_id: NOBODYS }, 'RESOURCE_NOT_FOUND', 'pricing_item_config_id'],
    [
      'a stranger’s subscription',
      () => ({ pricing_plan_subscription_id: other.subscriptionId }),
      'INVALID_FIELD',
      'pricing_plan_subscription_id',
    ],
  ])('%s', async (_, over, code, field) => {
    const expected = code === 'RESOURCE_NOT_FOUND' ? 404 : 400
    expect(await refusal(typeof over === 'function' ? over() : over)).toEqual([expected, code, field])
  })

  test('what asks for nothing is taken, and so is what agrees', async () => {
    const agreeing = await seats()
    const nothing = { included_volume: null, persist_charged_volume: false, reprocess_id: null }
    const names = { customer_reference: agreeing.customerReference, period: { start_at: START, end_at: APRIL } }
    expect(await tell(agreeing, { ...nothing, ...names, timestamp: START })).toMatchObject({
      object_type: 'PERSIST_DATA',
      id: expect.stringMatching(/^prda_/),
      ...names,
      timestamp: START,
      persist_usage: '37',
    })
    expect(await tell(agreeing)).toMatchObject({
      timestamp: '2026-03-20T00:00:00Z',
      reference: expect.stringMatching(/^prda_/),
    })
  })

  test.each<[string, object, string, RegExp]>([
    ['a price that starts anew', { calculation: {} }, 'pricing_item_id', /only a calculation with persist/],
    [
      'a mean',
      { calculation: { persist: true, calculation_type: 'AVERAGE' } },
      'pricing_item_id',
      /AVERAGE cannot be set/,
    ],
    ['a subscription that is a draft', { activate: false }, 'pricing_plan_subscription_id', /is DRAFT/],
  ])('%s', async (_, over, field, message) => {
    const of = await seats(over)
    const { status, body: answer } = await tenant.call('POST', PATH, await stateOf(of))
    expect([status, answer['field']]).toEqual([400, field])
    expect(answer['message']).toMatch(message)
    expect(await kept(of)).toEqual([])
  })
})

test('a state persisted inside a period is on its preview, its OPEN and its FINAL invoice, and is carried on', async () => {
  const own = await seats()
  const [before, after] = [await send(own, '2026-03-04T00:00:00Z', '5'), await send(own, '2026-03-12T00:00:00Z', '2')]
  expect(await previewed(own)).toEqual(['7'])
  const [open] = await billAt(own, '2026-03-20T00:00:00Z')
  expect(numbersIn(open)).toEqual(['7'])
  const persisted = await tell(own, { timestamp: '2026-03-10T00:00:00Z' })
  expect(await previewed(own)).toEqual(['39'])
  const [next] = await rig.api.sql(
    'select next_billing_at <= $2 as due from pricing_plan_subscriptions where id = $1',
    [own.subscriptionId, new Date(NOW)],
  )
  expect(next).toEqual({ due: true })
  const events = await rig.api.sql('select type, data from outbox where object_id = $1', [persisted['id']])
  expect(events).toEqual([{ type: 'PERSIST_DATA.CREATED', data: persisted }])
  await expectPayloads(rig.api, persisted['id'], ['PERSIST_DATA.CREATED'])

  const [march] = await billAt(own, '2026-04-02T00:00:00Z')
  await billAt(own, '2026-04-03T00:00:00Z')
  await send(own, '2026-04-02T00:00:00Z', '-1')
  const [final, april] = await billAt(own, '2026-04-03T02:00:00Z')
  expect([march?.['id'], final?.['status'], numbersIn(final), numbersIn(april)]).toEqual([
    open?.['id'],
    'FINAL',
    ['39'],
    ['38'],
  ])
  expect(linesIn(april)[0]?.['details'].persisted_usage).toEqual({
    persist_data_id: persisted['id'],
    start_at: '2026-03-10T00:00:00Z',
    meter_value: { number: '37' },
  })
  // Nothing counts what came before it in its period; what came after it is counted where it was.
  expect([await rig.variantOf(before), await linkOf(before)]).toEqual(['SUPERSEDED_BY_PERSIST_DATA', undefined])
  expect([await rig.variantOf(after), (await linkOf(after))?.['invoice_id']]).toEqual(['DEFAULT', final?.['id']])
  // It stays so for what comes now, before the moment and after it.
  const [early, late] = [await send(own, '2026-03-05T00:00:00Z', '100'), await send(own, '2026-03-15T00:00:00Z', '1')]
  expect([await rig.variantOf(early), await rig.variantOf(late)]).toEqual(['SUPERSEDED_BY_PERSIST_DATA', 'DEFAULT'])
  const [same, next2] = await billAt(own, '2026-04-03T04:00:00Z')
  expect([same, numbersIn(next2)]).toEqual([final, ['1', '39']])
  expect((await linkOf(late))?.['invoice_id']).toBe(next2?.['id'])
})

test('a state persisted at the cut: late usage of the time before it is on the next invoice and in no state', async () => {
  const own = await seats()
  const first = await send(own, '2026-03-04T00:00:00Z', '5')
  await billAt(own, '2026-04-01T01:00:00Z')
  const [march] = await billAt(own, '2026-04-02T00:00:00Z')
  expect([march?.['status'], numbersIn(march)]).toEqual(['FINAL', ['5']])

  const refused = await tenant.call('POST', PATH, await stateOf(own, { timestamp: '2026-03-31T23:59:59Z' }))
  expect(refused.body).toMatchObject({ code: 'INVALID_OPERATION', field: 'timestamp', resource_id: march?.['id'] })
  expect(refused.body['message']).toContain(`${march?.['invoice_number']} has billed this price until ${APRIL}`)

  await tell(own, { period: { start_at: APRIL } })
  const late = await send(own, '2026-03-20T00:00:00Z', '100')
  const [same, april] = await billAt(own, '2026-04-03T00:00:00Z')
  expect(same).toEqual(march)
  expect(numbersIn(april)).toEqual(['100', '37'])
  expect([(await linkOf(first))?.['invoice_id'], (await linkOf(late))?.['invoice_id']]).toEqual([
    march?.['id'],
    april?.['id'],
  ])
  await succeed(tenant, 'POST', `/v1/events/${late}/delete`)
  expect(await previewed(own)).toEqual(['37'])
})

test('a reference is used once: whatever comes under it again is answered what was kept, and changes nothing', async () => {
  const own = await seats()
  const reference = rig.reference()
  const first = await tell(own, { reference, timestamp: START })
  const other = await seats()
  const again = await tenant.call(
    'POST',
    PATH,
    await stateOf(other, { reference, persist_usage: '99', reprocess_id: 'x' }),
  )
  expect([again.status, again.body]).toEqual([201, first])
  expect([await kept(other), await previewed(own)]).toEqual([[], ['37']])
  const atOnce = rig.reference()
  const bodies = [await stateOf(own), await stateOf(other)].map(body => ({
    ...body,
    reference: atOnce,
    timestamp: START,
  }))
  const answers = await Promise.all([...bodies, ...bodies].map(body => succeed(tenant, 'POST', PATH, body)))
  expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
})

test('of several for one moment the last holds and the others are kept; two at once are one after the other', async () => {
  const own = await seats()
  await tell(own, { timestamp: START, persist_usage: '10' })
  await tell(own, { timestamp: START, persist_usage: '20' })
  expect(await previewed(own)).toEqual(['20'])
  const body = await stateOf(own, { timestamp: START })
  await Promise.all(['30', '40', '50'].map(persist_usage => succeed(tenant, 'POST', PATH, { ...body, persist_usage })))
  const history = (await kept(own)).map(row => row['persist_usage'])
  expect(history.slice(0, 2)).toEqual(['10', '20'])
  expect(history.slice(2).toSorted()).toEqual(['30', '40', '50'])
  expect(await previewed(own)).toEqual(history.slice(-1))
})

test('tried out, it answers and keeps nothing', async () => {
  const own = await seats()
  const { status, body } = await tenant.call('POST', PATH, await stateOf(own), { 'x-dry-run': 'true' })
  expect([status, body['persist_usage'], await kept(own)]).toEqual([201, '37', []])
})

describe('persisted in the very moment in which an invoice closes', () => {
  const closing = async (own: Billed, deps: Partial<BillingDeps>): Promise<Row | undefined> => {
    await billAt(own, '2026-04-01T01:00:00Z')
    rig.api.clock.set(ms('2026-04-02T00:00:00Z'))
    await runBilling({ ...rig.billing, ...deps }, tenant.tenant, own.subscriptionId)
    const [march] = await billAt(own, '2026-04-02T00:00:00Z')
    expect(march?.['status']).toBe('FINAL')
    return march
  }
  const inMarch = '2026-03-10T00:00:00Z'

  test('while its usage is read: it is counted', async () => {
    const own = await seats()
    const body = await stateOf(own, { timestamp: inMarch })
    const answers: Promise<unknown>[] = []
    const { usage } = rig.billing
    const read: BillingDeps['usage']['read'] = async (...args) => {
      if (answers.length === 0) answers.push(succeed(tenant, 'POST', PATH, body))
      await answers[0]
      return await usage.read(...args)
    }
    const march = await closing(own, { usage: { ...usage, read } })
    expect([answers.length, numbersIn(march)]).toEqual([1, ['37']])
  })

  test('while it is saved: it is refused, by the number of the invoice', async () => {
    const own = await seats()
    await send(own, '2026-03-04T00:00:00Z', '5')
    const body = await stateOf(own, { timestamp: inMarch })
    const answers: ReturnType<TestTenant['call']>[] = []
    const failpoint = async (name: string): Promise<void> => {
      if (name === 'invoices.before-commit' && answers.length === 0) answers.push(tenant.call('POST', PATH, body))
    }
    const march = await closing(own, { failpoint })
    const [answer] = await Promise.all(answers)
    expect([answer?.status, numbersIn(march), await kept(own)]).toEqual([400, ['5'], []])
    expect(answer?.body['message']).toContain(march?.['invoice_number'])
  })
})

test('a pricing period that goes on: the state takes over where it was persisted, and so says the trace', async () => {
  rig.api.clock.set(ms('2026-02-01T00:00:00Z'))
  const quarter = { pricing_period: { type: 'MONTH', value: 3 } }
  const own = await seats({ start_at: '2026-01-01T00:00:00Z', config: quarter })
  const first = await send(own, '2026-01-05T00:00:00Z', '50')
  await billAt(own, '2026-02-01T01:00:00Z')
  await billAt(own, '2026-02-10T00:00:00Z')
  await tell(own)
  await billAt(own, '2026-03-01T01:00:00Z')
  const [january, february] = await billAt(own, '2026-03-02T00:00:00Z')
  const asked = (invoice: Row | undefined) => linesIn(invoice).map(line => line['amount_excluding_tax'].quantity)
  expect([january, february].map(invoice => [invoice?.['status'], asked(invoice)])).toEqual([
    ['FINAL', ['50.00']],
    ['FINAL', ['-13.00']],
  ])
  const [early, late] = [await send(own, '2026-01-10T00:00:00Z', '100'), await send(own, '2026-02-12T00:00:00Z', '3')]
  const march = (await billAt(own, '2026-03-03T00:00:00Z'))[2]
  // The 3 as late usage of February; of March itself nothing is left to ask.
  expect(asked(march)).toEqual(['3.00', '0.00'])
  expect(await Promise.all([first, early, late].map(rig.variantOf))).toEqual([
    'DEFAULT',
    'SUPERSEDED_BY_PERSIST_DATA',
    'DEFAULT',
  ])
  expect([(await linkOf(first))?.['invoice_id'], (await linkOf(late))?.['invoice_id']]).toEqual([
    january?.['id'],
    march?.['id'],
  ])
})
