// The log of events: complete and in order whatever the order of commits, delivery states, attempts, and events sent by
// hand.

import { sql } from 'drizzle-orm'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ReadUow, readTenant } from '../../../../shared/database/database.ts'
import { createFailpoints } from '../../../../shared/failpoint.ts'
import { runJob } from '../../../jobs/testing/run-job.ts'
import { expectPayloads } from '../../../testing/event-payloads.ts'
import type { Row } from '../../../testing/wire.ts'
import { relayBatch } from '../../../workers/outbox-relay.ts'
import { webhookJobs } from '../delivery/jobs.ts'
import type { Post, PostOutcome } from '../request/post.ts'
import { type DeliveryRig, openDeliveryRig } from '../testing/delivery-rig.ts'
import { type Receiver, startReceiver, status } from '../testing/receiver.ts'
import { EXAMINED_MAX, listEvents } from './list-events.ts'

let rig: DeliveryRig
let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
  rig = await openDeliveryRig()
})
afterAll(async () => {
  await rig?.close()
  await receiver?.close()
})
const START = Date.parse('2026-03-11T10:00:00Z')
beforeEach(async () => {
  rig.api.clock.set(START)
  await rig.api.sql('delete from webhooks; delete from outbox')
  receiver.received.length = 0
  receiver.answer(status(200))
})

const tenant = () => rig.api.tenants.aLive
const call = async (method: string, url: string, body?: object): Promise<Row> =>
  (await tenant().call(method, url, body)).body
const list = (query = '') => call('GET', `/v1/webhook-events?${query}`)
async function webhook(more: object = {}): Promise<Row> {
  const made = await tenant().call('POST', '/v1/webhooks', {
    reference: tenant().seed.unique('hook'),
    name: 'Hook',
    url: receiver.urlOf('/hook'),
    included_actions: ['CUSTOMER.CREATED', 'CUSTOMER.UPDATED'],
    ...more,
  })
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  await rig.relay()
  return made.body
}
async function customer(email: string, of = tenant()): Promise<Row> {
  const made = await of.call('POST', '/v1/customers', { type: 'INDIVIDUAL', email: `${email}@example.com` })
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  return made.body
}
const FAILED: PostOutcome = { succeeded: false, responseCode: 503, cause: 'The endpoint answered 503.', durationMs: 5 }
const OK: PostOutcome = { succeeded: true, responseCode: 204, cause: null, durationMs: 5 }
const answering =
  (outcome: PostOutcome): Post =>
  async () =>
    outcome
const emails = (body: Row): string[] => body['data'].map((event: Row) => event['payload'].data.email?.split('@')[0])

describe('the feed', () => {
  test('has every event of its tenant and environment in order, with the body of its delivery, also without a webhook', async () => {
    const made = await customer('a')
    const changed = await tenant().call('PATCH', `/v1/customers/${made['id']}`, { email: 'b@example.com' })
    await customer('test', rig.api.tenants.aTest)
    await customer('other', rig.api.tenants.bLive)
    expect((await list())['data']).toEqual([]) // not yet in its place
    await rig.relay()
    const { data, has_more, links } = await list()
    expect([has_more, links.next, links.previous]).toEqual([false, null, null])
    expect(data).toHaveLength(2)
    expect(data[1]).toEqual({
      object_type: 'WEBHOOK_EVENT',
      id: expect.stringMatching(/^evnt_/),
      created_at: '2026-03-11T10:00:00Z',
      type: 'CUSTOMER.UPDATED',
      environment: 'LIVE',
      original_request_id: changed.headers['x-request-id'],
      payload: {
        created_at: '2026-03-11T10:00:00Z',
        type: 'CUSTOMER.UPDATED',
        original_request_id: changed.headers['x-request-id'],
        environment: 'LIVE',
        previous_data: made,
        data: changed.body,
      },
    })
    expect(await call('GET', `/v1/webhook-events/${data[0].id}`)).toEqual({ ...data[0], deliveries: [] })
    for (const other of [rig.api.tenants.aTest, rig.api.tenants.bLive]) {
      expect((await other.call('GET', `/v1/webhook-events/${data[0].id}`)).status).toBe(404)
      expect((await other.call('GET', `/v1/webhook-events?starting_after=${data[0].id}`)).body).toMatchObject({
        code: 'INVALID_FIELD',
        field: 'starting_after',
      })
    }
  })

  test('misses no change that commits late, and repeats none, wherever a reader is meanwhile', async () => {
    const sessions = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const client = new pg.Client({ connectionString: rig.api.databaseUrl })
        await client.connect()
        return { client, open: [] as string[] }
      }),
    )
    const { platformId } = tenant().tenant
    const read: string[] = []
    const poll = async () => {
      const after = read.at(-1)
      const { data } = await list(`limit=3${after === undefined ? '' : `&starting_after=${after}`}`)
      read.push(...data.map(({ id }: Row) => id))
    }
    const failpoints = createFailpoints('')
    const relay = () => relayBatch({ database: rig.system, reactions: [], failpoints })
    const committed: string[] = []
    let random = 7
    const next = (below: number) => {
      random = (random * 48_271) % 2_147_483_647
      return random % below
    }
    for (let step = 0; step < 160; step += 1) {
      const session = sessions[next(sessions.length)]
      if (!session) throw new Error('no session')
      const { client, open } = session
      if (next(3) === 0 && open.length > 0) {
        await client.query('commit')
        committed.push(...open.splice(0))
      } else {
        if (open.length === 0) await client.query('begin')
        const id = `evnt_late${String(step).padStart(4, '0')}`
        await client.query(
          `insert into outbox (platform_id, environment, id, type, object_type, object_id, data, created_at)
           values ($1, 'LIVE', $2, 'CUSTOMER.CREATED', 'CUSTOMER', $2, '{}', now())`,
          [platformId, id],
        )
        open.push(id)
      }
      if (next(2) === 0) await relay()
      if (next(2) === 0) await poll()
    }
    for (const { client, open } of sessions) {
      if (open.length > 0) await client.query('commit')
      committed.push(...open)
      await client.end()
    }
    await rig.relay()
    while (read.length < committed.length) {
      const before = read.length
      await poll()
      expect(read.length).toBeGreaterThan(before)
    }
    expect(read.toSorted()).toEqual(committed.toSorted())
    const order = await rig.api.sql('select id from outbox where platform_id = $1 order by position', [platformId])
    expect(read).toEqual(order.map(({ id }) => id))
  })

  test('is read by links in both directions, newest first where that is wanted, and by type and time', async () => {
    for (const [index, name] of ['a', 'b', 'c', 'd'].entries()) {
      rig.api.clock.set(START + index * 60_000)
      await customer(name)
    }
    await call('POST', '/v1/products', { reference: tenant().seed.unique('p'), name: 'P' })
    await rig.relay()
    const first = await list('limit=3&types[]=CUSTOMER.CREATED')
    expect(emails(first)).toEqual(['a', 'b', 'c'])
    const second = await call('GET', first['links'].next)
    expect(emails(second)).toEqual(['d'])
    expect(emails(await call('GET', second['links'].previous))).toEqual(['a', 'b', 'c'])
    expect(emails(await list('types[]=CUSTOMER.CREATED&order_direction=desc&limit=2'))).toEqual(['d', 'c'])
    const range = 'created_at=[2026-03-11T10:01:00Z,2026-03-11T10:02:00Z]'
    expect(emails(await list(range))).toEqual(['b', 'c'])
    expect(emails(await list(`${range}&order_direction=desc`))).toEqual(['c', 'b'])
    expect((await list('types[]=PRODUCT.CREATED&types[]=WEBHOOK.CREATED'))['data']).toHaveLength(1)
    expect(await list('types[]=PRODUCT.MADE')).toMatchObject({ code: 'INVALID_FIELD', field: 'types[]' })
    expect(await list('created_at=yesterday')).toMatchObject({ code: 'INVALID_FIELD', field: 'created_at' })
    expect(await list('status=FAILED')).toMatchObject({ code: 'MISSING_FIELD', field: 'webhook_id' })
    expect(await list('page=2')).toMatchObject({ code: 'INVALID_FIELD', field: 'page' })
    expect(await list('webhook_id=nothing')).toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
  })

  test('examines so many events in one answer and no more, by index, and is continued where it stopped', async () => {
    const { platformId } = tenant().tenant
    const rows = EXAMINED_MAX * 2 + 100
    await rig.api.sql(
      `insert into outbox (platform_id, environment, id, type, object_type, object_id, data, created_at, position)
       select $1, 'LIVE', 'evnt_n' || lpad(n::text, 6, '0'), case when n in (15000, 20050) then 'PRODUCT.CREATED' else 'CUSTOMER.CREATED' end,
         'CUSTOMER', 'x', '{}', timestamptz '2026-03-01T00:00:00Z' + n * interval '1 minute', nextval('outbox_positions')
       from generate_series(1, $2::int) n`,
      [platformId, rows],
    )
    await rig.api.sql('analyze outbox')
    const found: string[] = []
    const sizes: number[] = []
    for (let at: string | null = '/v1/webhook-events?types[]=PRODUCT.CREATED'; at !== null; ) {
      const body: Row = await call('GET', at)
      found.push(...body['data'].map(({ id }: Row) => id))
      sizes.push(body['data'].length)
      at = body['links'].next
    }
    expect(found).toEqual(['evnt_n015000', 'evnt_n020050'])
    expect(sizes).toEqual([0, 1, 1])
    const back = await list('types[]=PRODUCT.CREATED&ending_before=evnt_n020100')
    expect(back['data'].map(({ id }: Row) => id)).toEqual(['evnt_n015000', 'evnt_n020050'])
    const hook = await webhook()
    for (const query of [
      {},
      { starting_after: 'evnt_n010000' },
      { created_at: '[2026-03-10T00:00:00Z,2026-03-11T00:00:00Z]' },
      { order_direction: 'desc' },
      { webhook_id: String(hook['id']), status: 'FAILED' },
    ]) {
      const plans = await plansOf(query)
      expect([query, plans.filter(plan => /Seq Scan on outbox|Sort/.test(plan))]).toEqual([query, []])
      expect(plans.join()).toMatch(/outbox_of_tenant|outbox_position|outbox_pkey/)
    }
  })

  async function plansOf(query: Record<string, string>): Promise<string[]> {
    const plans: string[] = []
    await readTenant(rig.api.database, tenant().tenant, async uow => {
      const tx = new Proxy(uow.tx, {
        get: (target, name) =>
          name === 'execute'
            ? async (text: ReturnType<typeof sql>) => {
                plans.push(JSON.stringify((await target.execute(sql`explain ${text}`)).rows))
                return await target.execute(text)
              }
            : Reflect.get(target, name),
      })
      await listEvents({ ...uow, tx } as ReadUow, query)
    })
    return plans
  }

  test('carries what else is known of an event as its metadata', async () => {
    await customer('a')
    await rig.api.sql(`update outbox set metadata = '{"workflow_id":"wflo_1"}'`)
    await rig.relay()
    expect((await list())['data'][0].payload.metadata).toEqual({ workflow_id: 'wflo_1' })
  })
})

describe('what became of events', () => {
  const statuses = async (hook: Row) =>
    (await list(`webhook_id=${hook['id']}`))['data'].map(({ payload, deliveries: [delivery, ...others] }: Row) => {
      expect(others).toEqual([])
      return [payload.data.email.split('@')[0], delivery.status, delivery.attempt_count, delivery.last_response_code]
    })

  test('is shown for each webhook: received, waiting, or neither', async () => {
    await customer('before')
    await rig.relay()
    const hook = await webhook()
    await customer('a')
    await rig.relay()
    await rig.send({ post: answering(OK) })
    for (const name of ['b', 'c']) await customer(name)
    await rig.relay()
    await rig.send({ post: answering(FAILED) })
    expect(await statuses(hook)).toEqual([
      ['a', 'SUCCEEDED', 1, 204],
      ['b', 'PENDING', 1, 503],
      ['c', 'PENDING', 0, null],
    ])
    // What waits, and what happens while the webhook is off, is skipped.
    await call('PATCH', `/v1/webhooks/${hook['id']}`, { active: false })
    await customer('d')
    await rig.relay()
    await call('PATCH', `/v1/webhooks/${hook['id']}`, { active: true })
    await customer('e')
    await rig.relay()
    const skipped = [
      ['b', 'FAILED', 1, 503],
      ['c', 'FAILED', 0, null],
      ['d', 'FAILED', 0, null],
    ]
    expect(await statuses(hook)).toEqual([['a', 'SUCCEEDED', 1, 204], ...skipped, ['e', 'PENDING', 0, null]])
    const failed = await list(`webhook_id=${hook['reference']}&status=FAILED`)
    expect(emails(failed)).toEqual(['b', 'c', 'd'])
    expect(emails(await list(`webhook_id=${hook['id']}&status=PENDING`))).toEqual(['e'])
    expect(emails(await list(`webhook_id=${hook['id']}&status=SUCCEEDED`))).toEqual(['a'])
    // For an event: one entry for each webhook that gets it.
    const [other] = [await webhook({ included_actions: ['PRODUCT.CREATED'] })]
    const read = await call('GET', `/v1/webhook-events/${failed['data'][0].id}`)
    expect(read['deliveries'].map((delivery: Row) => delivery['webhook_id'])).toEqual([hook['id']])
    expect((await list(`webhook_id=${other['id']}`))['data']).toEqual([])
  })

  test('is kept attempt by attempt, with the reason of each failure', async () => {
    const hook = await webhook()
    await customer('a')
    await rig.relay()
    await rig.send({ post: answering(FAILED) })
    rig.api.clock.set(START + 120_000)
    await rig.send({ post: answering(OK) })
    const [event] = (await list(`webhook_id=${hook['id']}`))['data']
    const attempts = await call('GET', `/v1/webhook-events/${event.id}/attempts`)
    const about = {
      object_type: 'WEBHOOK_ATTEMPT',
      webhook_id: hook['id'],
      event_id: event.id,
      kind: 'QUEUE',
      duration_ms: 5,
    }
    expect(attempts['data']).toMatchObject([
      { ...about, created_at: '2026-03-11T10:00:00Z', succeeded: false, response_code: 503, cause: FAILED.cause },
      { ...about, created_at: '2026-03-11T10:02:00Z', succeeded: true, response_code: 204, cause: null },
    ])
    const [first, second] = attempts['data']
    const page = await call('GET', `/v1/webhook-events/${event.id}/attempts?limit=1&webhook_id=${hook['id']}`)
    expect(page['data']).toEqual([first])
    expect((await call('GET', page['links'].next))['data']).toEqual([second])
    const foreign = await webhook()
    expect((await call('GET', `/v1/webhook-events/${event.id}/attempts?webhook_id=${foreign['id']}`))['data']).toEqual(
      [],
    )
    expect(await call('GET', '/v1/webhook-events/evnt_0/attempts')).toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
  })
})

test('attempts are kept as long as their events, and no longer than the outbox keeps those', async () => {
  const hook = await webhook()
  for (const name of ['a', 'b']) await customer(name)
  await rig.relay()
  await rig.send({ post: answering(OK) })
  const left = () =>
    rig.api.sql('select event_id from webhook_attempts where webhook_id = $1 order by id', [hook['id']])
  const expire = () => runJob(webhookJobs, 'expire-webhook-attempts', rig.jobDeps)
  const [a, b] = (await left()).map(({ event_id }) => event_id)
  await rig.api.sql('delete from outbox where id = $1', [a])
  rig.api.clock.set(START + 30 * 86_400_000 - 1)
  await expire()
  expect(await left()).toHaveLength(2)
  rig.api.clock.set(START + 31 * 86_400_000)
  await expire()
  expect(await left()).toEqual([{ event_id: b }])
  await rig.api.sql('delete from outbox where id = $1', [b])
  await expire()
  expect(await left()).toEqual([])
})

describe('resending', () => {
  const resend = (event: Row, webhookId: unknown) =>
    call('POST', `/v1/webhook-events/${event['id']}/resend`, { webhook_id: webhookId })

  test('sends the same body under the same id, outside the queue, and keeps the attempt', async () => {
    const hook = await webhook({ include_previous_data: true })
    for (const name of ['a', 'b']) await customer(name)
    await rig.relay()
    await rig.send()
    const [event] = (await list(`webhook_id=${hook['id']}`))['data']
    expect(await resend(event, hook['reference'])).toEqual({ successful: true, message: 'The endpoint answered 200.' })
    const [first, , again] = receiver.received
    expect(receiver.received).toHaveLength(3)
    expect(again?.body).toBe(first?.body)
    expect(again?.headers['x-event-id']).toBe(event.id)
    receiver.answer(status(500))
    expect(await resend(event, hook['id'])).toEqual({ successful: false, message: 'The endpoint answered 500.' })
    const { data } = await call('GET', `/v1/webhook-events/${event.id}/attempts`)
    expect(data.map(({ kind, succeeded }: Row) => [kind, succeeded])).toEqual([
      ['QUEUE', true],
      ['RESEND', true],
      ['RESEND', false],
    ])
    // It affects nothing else.
    expect((await call('GET', `/v1/webhooks/${hook['id']}`))['penalty_box_data']).toBeNull()
    // The audit trail shows who did it, and the event shows the webhook.
    await rig.relay()
    const audit = await rig.api.sql(
      `select target_resource_type, action, user_id from audit_records where target_id = $1 order by sequence`,
      [event.id],
    )
    const record = { target_resource_type: 'WEBHOOK_EVENT', action: 'RESENT', user_id: expect.stringMatching(/^akey_/) }
    expect(audit).toEqual([record, record])
    const [noted] = await rig.api.sql(`select data from outbox where object_id = $1`, [event.id])
    expect(noted?.['data']).toMatchObject({ type: 'CUSTOMER.CREATED', webhook_id: hook['id'] })
    await expectPayloads(rig.api, event.id, ['WEBHOOK_EVENT.RESENT'])
  })

  test('is refused for an unknown event, a disabled webhook, and a type that the webhook does not select', async () => {
    const hook = await webhook()
    const event = await customer('a').then(async () => {
      await rig.relay()
      return (await list('types[]=CUSTOMER.CREATED'))['data'][0]
    })
    expect(await resend({ id: 'evnt_0' }, hook['id'])).toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
    expect(await resend(event, 'nothing')).toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
    expect(await call('POST', `/v1/webhook-events/${event.id}/resend`, {})).toMatchObject({ code: 'MISSING_FIELD' })
    const other = await webhook({ included_actions: ['PRODUCT.CREATED'] })
    expect(await resend(event, other['id'])).toMatchObject({ code: 'INVALID_OPERATION', field: 'webhook_id' })
    await rig.api.sql(`update webhooks set active = false, disabled_reason = 'x' where id = $1`, [hook['id']])
    expect(await resend(event, hook['id'])).toMatchObject({ code: 'INVALID_OPERATION', field: 'active' })
    expect(receiver.received).toEqual([])
  })
})
