// An event that names a subscription: its customer's own is taken, another's refused, one that nobody has yet is taken.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../shared/ids.ts'
import { type GatewayRig, startGatewayRig } from './testing/gateway-rig.ts'

const SINGLE = '/v1/events/ingest'
const LIST = '/v1/events/ingest-list'
const ID = 'pricing_plan_subscription_id'
const REFERENCE = 'pricing_plan_subscription_reference'

let rig: GatewayRig
const entity = newId('bill')
const own = { customerId: newId('cust'), customer: 'acme', id: newId('plsu'), reference: 'acme-gold' }
const foreign = { customerId: newId('cust'), customer: 'globex', id: newId('plsu'), reference: 'globex-gold' }
type Subscribed = typeof own

beforeAll(async () => {
  rig = await startGatewayRig()
  await rig.addMeter('LIVE', 'requests')
  await rig.addMeter('TEST', 'requests')
  await rig.sql(
    `insert into billing_entities (platform_id, environment, id, created_at, updated_at, reference, status)
     values ($1, 'LIVE', $2, now(), now(), 'us', 'ACTIVE')`,
    [rig.platform.id, entity],
  )
  await subscribe(own)
  await subscribe(foreign)
})
afterAll(() => rig?.stop())

async function subscribe({ customerId, customer, id, reference }: Subscribed): Promise<void> {
  await rig.sql(
    `insert into customers (platform_id, environment, id, created_at, updated_at, reference, status, type)
     values ($1, 'LIVE', $2, now(), now(), $3, 'ACTIVE', 'ORGANIZATION')`,
    [rig.platform.id, customerId, customer],
  )
  await rig.sql(
    `insert into pricing_plan_subscriptions (platform_id, environment, id, created_at, updated_at, reference, status,
       customer_id, billing_entity_id, billing_period, billing_currency, billing_time, due_date_configuration, type, variant)
     values ($1, 'LIVE', $2, now(), now(), $3, 'DRAFT', $4, $5, '{}', 'EUR', 'EXACT', '{}', 'BILLING', 'DEFAULT')`,
    [rig.platform.id, id, reference, customerId, entity],
  )
}
const event = (reference: string, changes: object) => ({
  reference,
  customer_reference: 'acme',
  meter_reference: 'requests',
  meter_values: [{ reference: 'requests_tokens', number: '1' }],
  ...changes,
})
const stored = async (reference: string): Promise<boolean> =>
  (await rig.logged()).some(line => line.includes(reference))

describe('an event that names a subscription', () => {
  test.each([
    ['its own by id', { [ID]: own.id }],
    ['its own by reference', { [REFERENCE]: own.reference }],
    ['its own, with its customer by id', { customer_reference: undefined, customer_id: own.customerId, [ID]: own.id }],
    ['one that nobody has', { [REFERENCE]: 'not-yet' }],
    ["another's as a customer that is that other one", { customer_reference: 'globex', [ID]: foreign.id }],
  ])('%s: taken', async (name, changes) => {
    expect(await rig.post(SINGLE, event(`taken ${name}`.replaceAll(' ', '-'), changes))).toMatchObject({ status: 201 })
  })

  test.each([
    ["another customer's by id", { [ID]: foreign.id }, ID],
    ["another customer's by reference", { [REFERENCE]: foreign.reference }, REFERENCE],
    ["another customer's, of a customer nobody knows yet", { customer_reference: 'nobody', [ID]: foreign.id }, ID],
  ])('%s: refused by its field, twice', async (_name, changes, field) => {
    for (const attempt of ['first', 'from-memory']) {
      const reply = await rig.post(SINGLE, event(`refused-${attempt}`, changes))
      expect(reply).toMatchObject({ status: 400, body: { code: 'INVALID_FIELD', field } })
      expect(String(reply.body['message'])).toMatch(/another customer/)
      expect(await stored(`refused-${attempt}`)).toBe(false)
    }
  })

  test('in a batch: the place is named, and nothing of the batch is stored', async () => {
    const batch = [event('whole-1', { [ID]: own.id }), event('whole-2', { [REFERENCE]: foreign.reference })]
    expect(await rig.post(LIST, batch)).toMatchObject({ status: 400, body: { field: `1.${REFERENCE}` } })
    expect(await rig.post(LIST, { meter_datas: batch })).toMatchObject({
      status: 400,
      body: { field: `meter_datas.1.${REFERENCE}` },
    })
    expect(await stored('whole-1')).toBe(false)
  })

  test("another environment's is nobody's here", async () => {
    const headers = { 'X-API-KEY': rig.platform.environments.TEST.api_key }
    expect(await rig.post(SINGLE, event('elsewhere', { [ID]: foreign.id }), headers)).toMatchObject({ status: 201 })
  })

  test('one that is made after its first event is known a second later', async () => {
    const late = { customerId: newId('cust'), customer: 'initech', id: newId('plsu'), reference: 'initech-late' }
    const changes = { [REFERENCE]: late.reference }
    expect(await rig.post(SINGLE, event('before-it-was', changes))).toMatchObject({ status: 201 })
    await subscribe(late)
    await expect
      .poll(async () => (await rig.post(SINGLE, event('after-it-was', changes))).status, { timeout: 60_000 })
      .toBe(400)
  })

  test('while PostgreSQL is away it is taken as it is', async () => {
    await rig.closeDatabase()
    const unknown = event('without-postgresql', { [REFERENCE]: 'never-looked-up' })
    expect(await rig.post(SINGLE, unknown)).toMatchObject({ status: 201 })
    expect(await stored('without-postgresql')).toBe(true)
  })
})
