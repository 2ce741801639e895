// The worker, killed with -9 between what it saves: what it had in hand is taken up again and done once. Tests of api.fault.test.ts, whose
// installation they share.
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { startReceiver } from '../../../api/modules/webhooks/testing/receiver.ts'
import { type Client, createClient, listAll } from '../../../infra/demo/client.ts'
import { createPlatform } from '../../../shared/access/create-platform.ts'
import { createCatalog } from '../trace/catalog.ts'
import { type ApiRig, bodyOf, callUntil } from './api-rig.ts'
import { createGranting, grantedTo } from './granting.ts'
import { waitingInvoice } from './tax-engine.ts'

/** Of a platform whose catalog is the trace's. */
let billed: Client
let rig: ApiRig

/** As if the claims that a dead worker left, of a minute, were over. */
async function endClaims(): Promise<void> {
  await rig.owner.query(`update pricing_plan_subscriptions set billing_claimed_until = now() - interval '1 second'
    where billing_claimed_until is not null`)
  await rig.queueJob('find-due-billing')
}

type Taxed = { readonly tax_summary: { readonly tax_amount: { readonly quantity: string } } }

export function testKillsOfWorker(opened: () => ApiRig): void {
  beforeAll(() => {
    rig = opened()
  })

  test.each([
    ['tax-engine.after-ask', 'again'],
    ['tax-engine.after-answer', 'no more'],
  ])('the worker killed at %s: the tax engine is asked %s, and the invoice has its tax once', async (point, how) => {
    const { id, customerId } = await waitingInvoice(rig.client, `taxed-${point}-${randomUUID()}`)
    const tax = async () => ((await rig.client.get(`/v1/invoices/${id}`)) as Taxed).tax_summary.tax_amount.quantity
    expect(await tax()).toBe('0.00')
    const dead = rig.system.dieAt('worker', point)
    await callUntil(dead, () => rig.queueJob('find-tax-questions'))
    const stored = async () =>
      (
        await rig.owner.query('select answer is not null as there from tax_answers where customer_id = $1', [
          customerId,
        ])
      ).rows
    expect(await stored()).toEqual([{ there: how === 'no more' }])
    expect(await tax()).toBe('0.00')
    // Once, or twice where two jobs of the tenant were at work when the worker died.
    const before = rig.engine.asked(customerId)
    expect(before).toBeGreaterThan(0)
    await rig.system.restart('worker')
    await rig.queueJob('find-tax-questions')
    await expect.poll(tax, { timeout: 60_000, interval: 250 }).toBe('29.95')
    const asked = rig.engine.asked(customerId)
    if (how === 'again') expect(asked).toBeGreaterThan(before)
    else expect(asked).toBe(before)
    expect(await stored()).toEqual([{ there: true }])
    const { rows: notices } = await rig.owner.query('select type from outbox where object_id = $1', [id])
    expect(notices.map(({ type }) => String(type)).sort()).toEqual(['INVOICE.CREATED', 'INVOICE.UPDATED'])
    const issued = await rig.client.patch(`/v1/invoices/${id}`, { status: 'FINAL' })
    expect(issued['status']).toBe('FINAL')
    expect(await rig.client.post(`/v1/invoices/${id}/verify`, {})).toMatchObject({ identical: true })
    expect(rig.engine.asked(customerId)).toBe(asked)
  })

  test('a billing run killed between invoices continues in another worker, and each invoice exists once', async () => {
    const { environments } = await createPlatform(rig.system.databaseUrl, 'Billed')
    billed = createClient(rig.system.baseUrl, environments.LIVE.api_key)
    const subscriptions = await createCatalog(billed)
    const dead = rig.system.dieAt('worker', 'billing.before-invoice')
    for (const { id } of subscriptions.values()) {
      await billed.patch(`/v1/pricing-plan-subscriptions/${id}`, { status: 'ACTIVE' })
    }
    await dead
    await endClaims()
    await rig.system.restart('worker')
    const owners = async () =>
      (await listAll(billed, '/v1/invoices?limit=100')).map(
        row => (row['pricing_plan_subscription_ids'] as string[])[0],
      )
    const expected = [...subscriptions.values()].map(({ id }) => id).toSorted()
    await expect.poll(async () => (await owners()).toSorted(), { timeout: 140_000, interval: 500 }).toEqual(expected)
  })

  test('a group of a billing run killed between its steps continues in another worker: each period once, with consecutive numbers', async () => {
    const platform = await createPlatform(rig.system.databaseUrl, 'Billed by groups')
    const tester = createClient(rig.system.baseUrl, platform.environments.TEST.api_key)
    // So that what has ended becomes FINAL in the run that makes it, and takes its number.
    await tester.patch(`/v1/platforms/${platform.id}`, {
      invoice_settings: { invoice_grace_period: { type: 'CUSTOM', configuration: { type: 'HOUR', value: 0 } } },
    })
    const subscriptions = await createCatalog(tester)
    const granting = `granting-${randomUUID()}`
    const { id: grantingId } = await createGranting(tester, granting)
    const ids = [...[...subscriptions.values()].map(({ id }) => id), grantingId].toSorted()
    /** All of them due for a group, what a dead one held let go. */
    const due = async () => {
      await rig.owner.query(
        `update pricing_plan_subscriptions set next_billing_at = now() - interval '1 second', billing_claimed_until = null where id = any($1)`,
        [ids],
      )
      await rig.queueJob('find-due-billing')
    }
    const numbers = async (): Promise<string[]> =>
      (await listAll(tester, '/v1/invoices?limit=100'))
        .flatMap(({ invoice_number: text }) => (text === null ? [] : [String(text)]))
        .toSorted()
    const points = [
      'billing.after-claim',
      'billing.before-invoice',
      'invoices.before-numbers',
      'invoices.before-commit',
      'billing.after-commit',
    ]
    await rig.system.kill('worker')
    for (const id of ids) await tester.patch(`/v1/pricing-plan-subscriptions/${id}`, { status: 'ACTIVE' })
    // As if long relayed: else each would be billed by itself, and no group would find them.
    await rig.owner.query(
      `update outbox set position = nextval('outbox_positions') where position is null and platform_id = $1 and environment = 'TEST'`,
      [platform.id],
    )
    for (const point of points) {
      expect(await numbers()).toEqual([])
      await due()
      await rig.system.dieAt('worker', point)
    }
    // What was saved stands.
    expect((await numbers()).length).toBeGreaterThan(0)
    await endClaims()
    await rig.system.restart('worker')
    const waiting = () =>
      rig.owner.query('select from pricing_plan_subscriptions where id = any($1) and next_billing_at <= now()', [ids])
    await expect.poll(async () => (await waiting()).rowCount, { timeout: 140_000, interval: 500 }).toBe(0)
    // Its fee granted once in each of its months, wherever the worker died.
    const granted = await grantedTo(tester, rig.owner, granting)
    expect(granted.addsUp).toBe(true)
    expect(granted.starts.length).toBeGreaterThanOrEqual(3)
    expect(new Set(granted.starts).size).toBe(granted.starts.length)
    // What is charged at the start is of the same period as the invoice at its end, and of another date.
    const periods = (await listAll(tester, '/v1/invoices?limit=100')).map(
      row => `${(row['pricing_plan_subscription_ids'] as string[])[0]} ${row['period_start']} ${row['invoice_date']}`,
    )
    expect(new Set(periods).size).toBe(periods.length)
    expect([...new Set(periods.map(period => period.split(' ')[0]))].toSorted()).toEqual(ids)
    const given = await numbers()
    // Each year has numbers of its own, which end in five digits.
    for (const year of new Set(given.map(text => text.slice(0, -5)))) {
      const own = given.filter(text => text.slice(0, -5) === year).map(text => Number(text.slice(-5)))
      expect(own).toEqual(own.map((_, place) => place + 1))
    }
  }, 400_000)

  test('a reprocess killed between invoices is taken up again and ends', async () => {
    const dead = rig.system.dieAt('worker', 'reprocess.after-item')
    const { id } = await billed.post('/v1/reprocess', { type: 'NOT_MATCHED' })
    await dead
    const read = async () => await billed.find(`/v1/reprocess/${id}`)
    expect(await read()).toMatchObject({ status: 'IN_PROGRESS' })
    // As if it had been silent for the half minute after which it is missed.
    await rig.owner.query(
      `update reprocesses set updated_at = now() - interval '1 minute', scheduled_at = now() - interval '1 minute'
      where id = $1`,
      [id],
    )
    await rig.queueJob('find-lost-reprocesses')
    await rig.system.restart('worker')
    await expect
      .poll(read, { timeout: 150_000, interval: 500 })
      .toMatchObject({ status: 'DONE', percentage: 100, message: null })
  })

  test.each([
    ['webhooks.before-record', true],
    ['webhooks.after-record', false],
  ])(
    'the sender of webhooks killed at %s: repeats with the same id: %s; order is kept and nothing missing',
    async (point, repeats) => {
      const receiver = await startReceiver()
      try {
        const webhook = { name: 'Fault', url: receiver.urlOf('/'), included_actions: ['CUSTOMER.CREATED'] }
        await rig.client.post('/v1/webhooks', { reference: `fault-${randomUUID()}`, ...webhook })
        const made: string[] = []
        const make = async () => {
          const reference = `fault-${randomUUID()}`
          expect((await rig.send(bodyOf({ reference, key: '' }), randomUUID())).status).toBe(201)
          made.push(reference)
        }
        const dead = rig.system.dieAt('worker', point)
        for (let each = 0; each < 3; each += 1) await make()
        await dead
        for (let each = 0; each < 3; each += 1) await make()
        // The lease of the dead ends after a minute; here at once, and before another worker takes one.
        await rig.owner.query(`update webhook_queues set leased_until = '-infinity'`)
        await rig.system.restart('worker')
        const got = () =>
          receiver.received.map(({ headers, body }) => ({
            id: String(headers['x-event-id']),
            nth: made.indexOf(JSON.parse(body).data.reference),
          }))
        await expect.poll(() => got().some(({ nth }) => nth === made.length - 1)).toBe(true)
        let highest = -1
        for (const { nth } of got()) {
          // The next one, or one that was sent before.
          expect(nth).toBeLessThanOrEqual(highest + 1)
          highest = Math.max(highest, nth)
        }
        expect(new Set(got().map(({ id }) => id)).size).toBe(made.length)
        expect(new Set(got().map(({ id, nth }) => `${id} ${nth}`)).size).toBe(made.length)
        expect(got().length > made.length).toBe(repeats)
      } finally {
        await rig.owner.query('delete from webhooks')
        await receiver.close()
      }
    },
  )

  test('what was queued by hand above is queued by the crontab every minute', async () => {
    const minutely = ['find-due-billing', 'find-lost-reprocesses', 'find-unfinished-actions']
    const queued = async () =>
      (
        await rig.owner.query(
          'select identifier from graphile_worker._private_known_crontabs where last_execution is not null and identifier = any($1) order by 1',
          [minutely],
        )
      ).rows.map(({ identifier }) => identifier)
    await expect.poll(queued, { timeout: 150_000, interval: 500 }).toEqual(minutely)
  })
}
