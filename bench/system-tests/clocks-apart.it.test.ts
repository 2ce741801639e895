// One reference sent to two gateways whose clocks are twenty minutes apart: one id, counted once, as the first of the log says.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestAggregator, type TestAggregator } from '../../aggregator/testing.ts'
import { type GatewayRig, PARTITIONS, startGatewayRig } from '../../ingest/testing/gateway-rig.ts'
import { decodeEvent } from '../../shared/contracts/usage-event.ts'
import { createTestClickHouse, type TestClickHouse } from '../../shared/testing/clickhouse.ts'
import { type Clock, instantOf } from '../../shared/time.ts'

const APART_MS = 20 * 60_000
const late: Clock = { now: () => instantOf(Date.now() - APART_MS) }

let rig: GatewayRig
let clickhouse: TestClickHouse
let aggregator: TestAggregator
let urls: [string, string]
beforeAll(async () => {
  rig = await startGatewayRig()
  await rig.addMeter('LIVE', 'requests')
  const other = await rig.addGateway({}, late)
  urls = [rig.url, other.url]
  clickhouse = await createTestClickHouse()
  aggregator = await createTestAggregator({ natsUrl: rig.nats.url, clickhouse, partitions: PARTITIONS })
})
afterAll(async () => {
  await aggregator?.close()
  await rig?.stop()
  await clickhouse?.drop()
})

// No timestamp: each gateway gives its own time, so the copies differ.
const event = (reference: string) => ({
  reference,
  customer_reference: 'acme',
  meter_reference: 'requests',
  meter_values: [{ reference: 'requests_tokens', number: '1' }],
})

test('at once and one after the other, to both: the same id, and counted once', async () => {
  const headers = { 'X-API-KEY': rig.platform.environments.LIVE.api_key }
  const send = (url: string, reference: string) => rig.postTo(`${url}/v1/events/ingest`, event(reference), headers)
  const [first, second] = urls
  const ids = new Map<string, Set<unknown>>()
  for (let each = 0; each < 20; each += 1) {
    const reference = `clock-${each}`
    const copies = [first, second, first, second].map(url => send(url, reference))
    const later = [await send(second, reference), await send(first, reference)]
    const replies = [...(await Promise.all(copies)), ...later]
    for (const { status } of replies) expect(status).toBe(201)
    ids.set(reference, new Set(replies.map(({ body }) => body['id'])))
  }
  for (const seen of ids.values()) expect(seen.size).toBe(1)

  const running = await aggregator.start()
  await aggregator.settle()
  const rows = await aggregator.rows(
    'SELECT reference, count(), sum(value_quantities[1]), min(timestamp) FROM usage_events FINAL GROUP BY reference',
  )
  expect(rows).toHaveLength(20)
  const lines = (await rig.logged()).map(decodeEvent)
  for (const [reference, count, total] of rows) {
    expect([count, Number(total)]).toEqual(['1', 1])
    // Both clocks are in the log, so it was not the gateways that saw the repeat.
    expect(lines.filter(line => line.reference === reference).length).toBeGreaterThan(1)
  }
  const spread = lines.map(({ timestampMs }) => timestampMs)
  expect(Math.max(...spread) - Math.min(...spread)).toBeGreaterThan(APART_MS / 2)
  await running.stop()
})
