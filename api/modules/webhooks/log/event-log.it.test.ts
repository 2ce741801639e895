// The feed of events: complete and in order whatever the order of commits.
import { sql } from 'drizzle-orm'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ReadUow, readTenant } from '../../../../shared/database/database.ts'
import { createFailpoints } from '../../../../shared/failpoint.ts'
import type { Row } from '../../../testing/wire.ts'
import { relayBatch } from '../../../workers/outbox-relay.ts'
import { emails, openEventLog, START } from '../testing/event-log.ts'
import { EXAMINED_MAX, listEvents } from './list-events.ts'

let log: Awaited<ReturnType<typeof openEventLog>>
beforeAll(async () => {
  log = await openEventLog()
})
afterAll(() => log?.close())
beforeEach(() => log.reset())

describe('the feed', () => {
  test('has every event of its tenant and environment in order, with the body of its delivery, also without a webhook', async () => {
    const made = await log.customer('a')
    const changed = await log.tenant.call('PATCH', `/v1/customers/${made['id']}`, { email: 'b@example.com' })
    await log.customer('test', log.rig.api.tenants.aTest)
    await log.customer('other', log.rig.api.tenants.bLive)
    expect((await log.list())['data']).toEqual([]) // not yet in its place
    await log.rig.relay()
    const { data, has_more, links } = await log.list()
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
    expect(await log.call('GET', `/v1/webhook-events/${data[0].id}`)).toEqual({ ...data[0], deliveries: [] })
    for (const other of [log.rig.api.tenants.aTest, log.rig.api.tenants.bLive]) {
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
        const client = new pg.Client({ connectionString: log.rig.api.databaseUrl })
        await client.connect()
        return { client, open: [] as string[] }
      }),
    )
    const { platformId } = log.tenant.tenant
    const read: string[] = []
    const poll = async () => {
      const after = read.at(-1)
      const { data } = await log.list(`limit=3${after === undefined ? '' : `&starting_after=${after}`}`)
      read.push(...data.map(({ id }: Row) => id))
    }
    const failpoints = createFailpoints('')
    const relay = () => relayBatch({ database: log.rig.system, reactions: [], failpoints })
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
    await log.rig.relay()
    while (read.length < committed.length) {
      const before = read.length
      await poll()
      expect(read.length).toBeGreaterThan(before)
    }
    expect(read.toSorted()).toEqual(committed.toSorted())
    const order = await log.rig.api.sql('select id from outbox where platform_id = $1 order by position', [platformId])
    expect(read).toEqual(order.map(({ id }) => id))
  })

  test('is read by links in both directions, newest first where that is wanted, and by type and time', async () => {
    for (const [index, name] of ['a', 'b', 'c', 'd'].entries()) {
      log.rig.api.clock.set(START + index * 60_000)
      await log.customer(name)
    }
    await log.call('POST', '/v1/products', { reference: log.tenant.seed.unique('p'), name: 'P' })
    await log.rig.relay()
    const first = await log.list('limit=3&types[]=CUSTOMER.CREATED')
    expect(emails(first)).toEqual(['a', 'b', 'c'])
    const second = await log.call('GET', first['links'].next)
    expect(emails(second)).toEqual(['d'])
    expect(emails(await log.call('GET', second['links'].previous))).toEqual(['a', 'b', 'c'])
    expect(emails(await log.list('types[]=CUSTOMER.CREATED&order_direction=desc&limit=2'))).toEqual(['d', 'c'])
    const range = 'created_at=[2026-03-11T10:01:00Z,2026-03-11T10:02:00Z]'
    expect(emails(await log.list(range))).toEqual(['b', 'c'])
    expect(emails(await log.list(`${range}&order_direction=desc`))).toEqual(['c', 'b'])
    expect((await log.list('types[]=PRODUCT.CREATED&types[]=WEBHOOK.CREATED'))['data']).toHaveLength(1)
    expect(await log.list('types[]=PRODUCT.MADE')).toMatchObject({ code: 'INVALID_FIELD', field: 'types[]' })
    expect(await log.list('created_at=yesterday')).toMatchObject({ code: 'INVALID_FIELD', field: 'created_at' })
    expect(await log.list('status=FAILED')).toMatchObject({ code: 'MISSING_FIELD', field: 'webhook_id' })
    expect(await log.list('page=2')).toMatchObject({ code: 'INVALID_FIELD', field: 'page' })
    expect(await log.list('webhook_id=nothing')).toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
  })

  test('examines so many events in one answer and no more, by index, and is continued where it stopped', async () => {
    const { platformId } = log.tenant.tenant
    const rows = EXAMINED_MAX * 2 + 100
    await log.rig.api.sql(
      `insert into outbox (platform_id, environment, id, type, object_type, object_id, data, created_at, position)
       select $1, 'LIVE', 'evnt_n' || lpad(n::text, 6, '0'), case when n in (15000, 20050) then 'PRODUCT.CREATED' else 'CUSTOMER.CREATED' end,
         'CUSTOMER', 'x', '{}', timestamptz '2026-03-01T00:00:00Z' + n * interval '1 minute', nextval('outbox_positions')
       from generate_series(1, $2::int) n`,
      [platformId, rows],
    )
    await log.rig.api.sql('analyze outbox')
    const found: string[] = []
    const sizes: number[] = []
    for (let at: string | null = '/v1/webhook-events?types[]=PRODUCT.CREATED'; at !== null; ) {
      const body: Row = await log.call('GET', at)
      found.push(...body['data'].map(({ id }: Row) => id))
      sizes.push(body['data'].length)
      at = body['links'].next
    }
    expect(found).toEqual(['evnt_n015000', 'evnt_n020050'])
    expect(sizes).toEqual([0, 1, 1])
    const back = await log.list('types[]=PRODUCT.CREATED&ending_before=evnt_n020100')
    expect(back['data'].map(({ id }: Row) => id)).toEqual(['evnt_n015000', 'evnt_n020050'])
    const hook = await log.webhook()
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
    await readTenant(log.rig.api.database, log.tenant.tenant, async uow => {
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
    await log.customer('a')
    await log.rig.api.sql(`update outbox set metadata = '{"workflow_id":"wflo_1"}'`)
    await log.rig.relay()
    expect((await log.list())['data'][0].payload.metadata).toEqual({ workflow_id: 'wflo_1' })
  })
})
