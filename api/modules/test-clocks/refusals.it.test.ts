// Who may live by a test clock, and who may advance it: what is refused, and who has the clock meanwhile.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal } from '../../testing/catalog.ts'
import type { ApiHarness, TestTenant } from '../../testing/harness.ts'
import type { Row } from '../../testing/wire.ts'
import { type Billed, billedSubscription, succeed } from '../billing/testing/billed-subscription.ts'
import { customerResource } from '../parties/customers/resource.ts'
import { amountOf, CLOCKS, type ClockRig, openClockRig, SUBSCRIPTIONS, start } from './testing/clock-rig.ts'

let rig: ClockRig
let api: ApiHarness
let tenant: TestTenant
/** Whether usage is there when a run waits for it. */
let settle = async (): Promise<boolean> => true
beforeAll(async () => {
  rig = await openClockRig(() => settle())
  ;({ api, tenant } = rig)
})
afterAll(() => api.close())

const living: ClockRig['living'] = options => rig.living(options)
const advance: ClockRig['advance'] = (clock, time) => rig.advance(clock, time)
const invoicesOf: ClockRig['invoicesOf'] = billed => rig.invoicesOf(billed)

describe('refusals', () => {
  test('name what is wrong', async () => {
    const { billed, clock } = await living()
    const create = (body: object, by = tenant) => by.call('POST', CLOCKS, { frozen_time: start, ...body })
    expect(refusal(await create({}, api.tenants.aLive)).slice(0, 2)).toEqual([400, 'INVALID_OPERATION'])
    expect(refusal(await create({ frozen_time: 'soon' }))).toEqual([400, 'INVALID_FIELD', 'frozen_time'])
    expect(refusal(await create({ customer_ids: ['nobody'] }))).toEqual([404, 'RESOURCE_NOT_FOUND', 'customer_ids.0'])
    expect(refusal(await create({ customer_ids: [billed.customerId] }))).toEqual([
      400,
      'INVALID_FIELD',
      'customer_ids.0',
    ])
    const before = await billedSubscription(tenant, { start_at: start })
    const attach = (ids: string[]) => tenant.call('POST', `${CLOCKS}/${clock}/customers`, { customer_ids: ids })
    expect(refusal(await attach([before.customerId]))).toEqual([400, 'INVALID_FIELD', 'customer_ids.0'])
    expect((await attach([billed.customerId])).status).toBe(200)
    for (const time of ['2024-12-31T00:00:00Z', '2028-01-01T00:00:00Z'])
      expect(refusal(await advance(clock, time))).toEqual([400, 'INVALID_FIELD', 'frozen_time'])
    expect((await advance('tclk_0000000000000000000000', start)).status).toBe(404)
    const clocks: Row[] = (await succeed(tenant, 'GET', CLOCKS))['data']
    expect(clocks.map(({ id }) => id)).toContain(clock)
    expect((await api.tenants.bTest.call('GET', `${CLOCKS}/${clock}`)).status).toBe(404)
  })

  test('hold a clock to a hundred customers', async () => {
    const { billed, clock } = await living()
    await api.sql(
      `insert into customers select made.* from customers c cross join generate_series(1, 100) n cross join lateral
         jsonb_populate_record(c, jsonb_build_object('id', 'cust_' || lpad(n::text, 22, '0'), 'reference', 'crowd-' || n)) as made
       where c.id = $1`,
      [billed.customerId],
    )
    const crowd = Array.from({ length: 100 }, (_, place) => `crowd-${place + 1}`)
    const attach = (customer_ids: string[]) => tenant.call('POST', `${CLOCKS}/${clock}/customers`, { customer_ids })
    expect(refusal(await attach(crowd))).toEqual([400, 'INVALID_FIELD', 'customer_ids.99'])
    expect((await attach(crowd.slice(1))).status).toBe(200)
  })

  test('when two advances come at once, one is refused; one that was cut off can be continued', async () => {
    const { billed, clock } = await living()
    const to = '2025-04-01T12:00:00Z'
    const answers = await Promise.all([advance(clock, to), advance(clock, to)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400])
    const until = 'update test_clocks set advancing_until = $2 where id = $1'
    await api.sql(until, [clock, '2026-11-22T10:00:30Z'])
    expect((await succeed(tenant, 'GET', `${CLOCKS}/${clock}`))['status']).toBe('ADVANCING')
    expect(refusal(await advance(clock, '2025-05-01T12:00:00Z')).slice(0, 2)).toEqual([400, 'INVALID_OPERATION'])
    await api.sql(until, [clock, '2026-11-22T09:59:59Z'])
    expect((await advance(clock, '2025-05-01T12:00:00Z')).status).toBe(200)
    expect((await invoicesOf(billed)).filter(({ status }) => status === 'FINAL')).toHaveLength(5)
  })

  test('an advance has the clock for seconds at a time, renews that while it works, and stops where another has it', async () => {
    const { clock } = await living()
    const atFirst = api.clock.now()
    let goOn = (): void => undefined
    const isHeld = new Promise<void>(resolve => {
      settle = async () => {
        resolve()
        await new Promise<void>(on => {
          goOn = on
        })
        return true
      }
    })
    try {
      const cutOff = tenant.call('POST', `${CLOCKS}/${clock}/advance`, { frozen_time: '2025-03-01T12:00:00Z' })
      await isHeld
      const until = async () =>
        Date.parse(
          (await api.sql('select advancing_until from test_clocks where id = $1', [clock]))[0]?.['advancing_until'],
        )
      // One that is killed leaves it behind for so long.
      expect((await until()) - atFirst).toBe(12_000)
      api.clock.set(atFirst + 11_000)
      await expect.poll(async () => (await until()) - atFirst).toBe(23_000)
      expect(refusal(await advance(clock, '2025-03-01T12:00:00Z')).slice(0, 2)).toEqual([400, 'INVALID_OPERATION'])
      // As if it had been held up, and another call had begun meanwhile and come further.
      await api.sql(
        `update test_clocks set advancing_until = advancing_until + interval '1 minute', frozen_time = '2025-05-01T00:00:00Z' where id = $1`,
        [clock],
      )
      settle = async () => true
      goOn()
      expect(refusal(await cutOff).slice(0, 2)).toEqual([400, 'INVALID_OPERATION'])
      expect(await succeed(tenant, 'GET', `${CLOCKS}/${clock}`)).toMatchObject({
        status: 'ADVANCING',
        frozen_time: '2025-05-01T00:00:00Z',
      })
    } finally {
      settle = async () => true
      goOn()
      api.clock.set(atFirst)
    }
  })
})

describe('a customer and the one that gets its invoices', () => {
  const FIELD = 'forward_customer_id'

  /** A DRAFT of FORWARD_BILLING, and who gets its invoices. */
  async function forwarded(): Promise<{ billed: Billed; payer: string }> {
    const { id: payer } = await tenant.seed.make(customerResource)
    const subscription = { variant: 'FORWARD_BILLING', [FIELD]: payer }
    return {
      billed: await billedSubscription(tenant, { start_at: start, fee: '100', activate: false, subscription }),
      payer,
    }
  }
  const attach = (...customer_ids: string[]) => tenant.call('POST', CLOCKS, { frozen_time: start, customer_ids })
  const activate = ({ subscriptionId }: Billed) =>
    tenant.call('PATCH', `${SUBSCRIPTIONS}/${subscriptionId}`, { status: 'ACTIVE' })

  test('live by one clock, or by none', async () => {
    const apart = await forwarded()
    await attach(apart.billed.customerId)
    expect(refusal(await activate(apart.billed))).toEqual([400, 'INVALID_OPERATION', FIELD])
    await attach(apart.payer)
    expect(refusal(await activate(apart.billed))).toEqual([400, 'INVALID_OPERATION', FIELD])
    const paid = await forwarded()
    await attach(paid.payer)
    expect(refusal(await activate(paid.billed))).toEqual([400, 'INVALID_OPERATION', FIELD])
    const none = await forwarded()
    expect((await activate(none.billed)).status).toBe(200)
    // Neither comes to a clock once it is billed in another time.
    for (const id of [none.billed.customerId, none.payer])
      expect(refusal(await attach(id))).toEqual([400, 'INVALID_FIELD', 'customer_ids.0'])
    const together = await forwarded()
    const { body: clock } = await attach(together.billed.customerId, together.payer)
    expect((await activate(together.billed)).status).toBe(200)
    expect((await advance(clock['id'], '2025-03-01T00:00:00Z')).status).toBe(200)
    const final = (await invoicesOf(together.billed)).filter(({ status }) => status === 'FINAL')
    expect(final.map(invoice => [invoice['customer_id'], amountOf(invoice)])).toEqual([
      [together.payer, '100.00'],
      [together.payer, '100.00'],
    ])
  })
})
