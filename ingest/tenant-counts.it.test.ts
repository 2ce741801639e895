// What the gateway tells of each platform's requests, minute by minute, with real servers.
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GatewayRig, startGatewayRig } from './testing/gateway-rig.ts'

let rig: GatewayRig
let database: pg.Client
beforeAll(async () => {
  rig = await startGatewayRig()
  await rig.addMeter('LIVE', 'requests')
  database = new pg.Client({ connectionString: rig.database.url })
  await database.connect()
})
afterAll(async () => {
  await database?.end()
  await rig?.stop()
})

const event = (reference: string, number = '1') => ({
  reference,
  customer_reference: 'acme',
  meter_reference: 'requests',
  // A repeat says the same, also of when it was.
  timestamp: '2026-01-31T10:00:00Z',
  meter_values: [{ reference: 'requests_tokens', number }],
})
/** The totals of LIVE by outcome, over minutes and gateways; what was refused in one. */
async function totals(): Promise<Record<string, number>> {
  const { rows } = await database.query(
    `select case when outcome in ('ACCEPTED', 'REPEATED') then outcome else 'REFUSED' end as name, sum(total)::int as total
     from ingestion_minutes where platform_id = $1 and environment = 'LIVE' group by 1`,
    [rig.platform.id],
  )
  return Object.fromEntries(rows.map(({ name, total }) => [name, total]))
}

test('accepted, repeated and refused are counted by platform and environment, at every gateway', async () => {
  const list = ['a', 'b', 'c'].map(reference => event(reference))
  expect((await rig.post('/v1/events/ingest-list', list)).status).toBe(201)
  // Once more with a new one: three the log was spared. Then all of it again, settled without the log.
  expect((await rig.post('/v1/events/ingest-list', [...list, event('d')])).status).toBe(201)
  expect((await rig.post('/v1/events/ingest-list', list)).status).toBe(201)
  expect((await rig.post('/v1/events/ingest', event('e', 'many'))).status).toBe(400)
  expect((await rig.post('/v1/events/ingest', { ...event('f'), meter_reference: 'unknown' })).status).toBe(400)
  const wrong = await rig.post('/v1/events/ingest', event('g'), { 'x-api-key': 'wrong' })
  expect(wrong.status).toBe(401)
  // What is refused because no platform has the key is counted for none.
  await expect.poll(totals).toEqual({ ACCEPTED: 10, REPEATED: 6, REFUSED: 2 })

  const other = await rig.addGateway()
  const sent = await rig.postTo(`${other.url}/v1/events/ingest`, event('h'), {
    'x-api-key': rig.platform.environments.LIVE.api_key,
  })
  expect(sent.status).toBe(201)
  // What is not written yet is written at the end, and totals that are written again count once.
  await other.stop()
  await expect.poll(totals).toEqual({ ACCEPTED: 11, REPEATED: 6, REFUSED: 2 })
})
