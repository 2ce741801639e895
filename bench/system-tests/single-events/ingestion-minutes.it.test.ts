// GET /v1/usage/ingestion: what the gateways counted, and what the log and the catalog have of it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../../../api/modules/billing/testing/billed-subscription.ts'
import type { TestTenant } from '../../../api/testing/harness.ts'
import type { Row } from '../../../api/testing/wire.ts'
import { type EventsRig, ms, openEventsRig, tokensOf } from './rig.ts'

const FROM = '2026-03-19T12:00:00Z'
const WINDOW = `from=${FROM}&to=2026-03-19T12:03:00Z`
let rig: EventsRig
let tenant: TestTenant
const minutes = async (of: TestTenant, query: string): Promise<Row> =>
  await succeed(of, 'GET', `/v1/usage/ingestion?${query}`)

async function count(of: TestTenant, minute: string, gateway: string, outcome: string, total: number): Promise<void> {
  await rig.api.sql('insert into ingestion_minutes values ($1, $2, $3, $4, $5, $6)', [
    of.tenant.platformId,
    of.tenant.environment,
    minute,
    gateway,
    outcome,
    total,
  ])
}

beforeAll(async () => {
  rig = await openEventsRig()
  tenant = rig.tenant
  const received = (text: string) => ({ receivedAtMs: ms(text) })
  const matched = tokensOf(rig.billed, 'matched')
  await rig.send(
    { ...matched, ...received('2026-03-19T12:00:10Z') },
    { ...tokensOf(rig.billed, 'nobody'), customerKey: 'nobody', ...received('2026-03-19T12:00:20Z') },
    { ...tokensOf(rig.billed, 'nobody-2'), customerKey: 'nobody', ...received('2026-03-19T12:01:00Z') },
    { ...tokensOf(rig.billed, 'other'), meterReference: 'no-price', ...received('2026-03-19T12:01:59Z') },
    { ...tokensOf(rig.billed, 'late'), ...received('2026-03-19T12:03:00Z') },
  )
  // A repeat that reached the log.
  await rig.send({ ...matched, ...received('2026-03-19T12:01:30Z') })
  await count(tenant, FROM, 'a', 'ACCEPTED', 3)
  await count(tenant, FROM, 'b', 'ACCEPTED', 4)
  await count(tenant, FROM, 'a', 'REPEATED', 2)
  await count(tenant, '2026-03-19T12:01:00Z', 'a', 'REPEATED', 5)
  await count(tenant, '2026-03-19T12:01:00Z', 'a', 'INVALID_FIELD', 6)
  await count(tenant, '2026-03-19T12:01:00Z', 'b', 'RATE_LIMIT_EXCEEDED', 7)
  await count(rig.api.tenants.bLive, FROM, 'a', 'ACCEPTED', 1_000)
})
afterAll(() => rig?.close())

test('each minute says what was accepted, repeated, refused and not matched', async () => {
  const answer = await minutes(tenant, WINDOW)
  expect(answer).toMatchObject({ object_type: 'USAGE_INGESTION', from: FROM, not_matched_from: FROM })
  expect(answer['lag_seconds']).toBeGreaterThanOrEqual(0)
  expect(answer['data']).toEqual([
    {
      minute: FROM,
      accepted: 7,
      repeated: 2,
      refused: [],
      not_matched: [{ variant: 'CUSTOMER_NOT_FOUND', events: 1 }],
    },
    {
      minute: '2026-03-19T12:01:00Z',
      accepted: 0,
      repeated: 6,
      refused: [
        { code: 'INVALID_FIELD', requests: 6 },
        { code: 'RATE_LIMIT_EXCEEDED', requests: 7 },
      ],
      not_matched: [
        { variant: 'CUSTOMER_NOT_FOUND', events: 1 },
        { variant: 'NO_PRICING', events: 1 },
      ],
    },
    { minute: '2026-03-19T12:02:00Z', accepted: 0, repeated: 0, refused: [], not_matched: [] },
  ])
})

test('is of one platform and environment alone, and of the last hour unless another time is given', async () => {
  const { bLive, aTest } = rig.api.tenants
  expect((await minutes(bLive, WINDOW))['data'][0]).toMatchObject({ accepted: 1_000, repeated: 0, not_matched: [] })
  expect((await minutes(aTest, WINDOW))['data'][0]).toMatchObject({ accepted: 0, repeated: 0, not_matched: [] })
  expect((await minutes(tenant, ''))['data']).toHaveLength(60)
})

test.each([
  ['from=yesterday', 'from'],
  ['from=2026-03-19T12:00:00Z&to=2026-03-19T11:00:00Z', 'to'],
  ['from=2026-03-17T12:00:00Z&to=2026-03-19T11:00:00Z', 'from'],
  ['from=2100-01-01T00:00:00Z', 'from'],
  ['minutes=5', 'minutes'],
])('%s is refused by the name of the parameter', async (query, field) => {
  const { status, body } = await tenant.call('GET', `/v1/usage/ingestion?${query}`)
  expect([status, body['code'], body['field']]).toEqual([400, 'INVALID_FIELD', field])
})
