// A repeat whose reference the gateway does not remember: its 201 shows the event that counts all the same.
import { jetstreamManager } from '@nats-io/jetstream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Aggregator } from '../../../aggregator/aggregator.ts'
import { createTestAggregator, type TestAggregator } from '../../../aggregator/testing.ts'
import { type GatewayRig, PARTITIONS, startGatewayRig } from '../../../ingest/testing/gateway-rig.ts'
import { firstSeenSubject } from '../../../shared/contracts/first-seen.ts'
import { streamName } from '../../../shared/contracts/streams.ts'
import { createTestClickHouse, type TestClickHouse } from '../../../shared/testing/clickhouse.ts'

let rig: GatewayRig
let clickhouse: TestClickHouse
let aggregator: TestAggregator
let running: Aggregator | null = null
/** A gateway that remembers nothing of what the first took: what a gateway is that was started again. */
let other: { readonly url: string }
beforeAll(async () => {
  clickhouse = await createTestClickHouse()
  rig = await startGatewayRig()
  await rig.addMeter('LIVE', 'requests')
  other = await rig.addGateway()
  aggregator = await createTestAggregator({ natsUrl: rig.nats.url, clickhouse, partitions: PARTITIONS })
  running = await aggregator.start()
})
afterAll(async () => {
  await running?.stop()
  await aggregator?.close()
  await rig?.stop()
  await clickhouse?.drop()
})

const event = (reference: string, number: string) => ({
  reference,
  customer_reference: 'acme',
  meter_reference: 'requests',
  timestamp: '2026-01-31T10:00:00Z',
  meter_values: [{ reference: 'requests_tokens', number }],
})
const post = async (url: string, body: unknown): Promise<Record<string, unknown>> => {
  const path = Array.isArray(body) ? '/v1/events/ingest-list' : '/v1/events/ingest'
  const key = { 'X-API-KEY': rig.platform.environments.LIVE.api_key }
  const { status, body: answer } = await rig.postTo(url + path, body, key)
  expect(status).toBe(201)
  return answer
}
/** A busy aggregator may be slower than a sender waits; the next repeat asks again. */
const untilShown = (body: unknown, shown: unknown) =>
  expect.poll(() => post(other.url, body), { timeout: 60_000, interval: 100 }).toEqual(shown)

test('of another gateway, or from before a restart, with the same content and with other', async () => {
  const first = await post(rig.url, event('old', '1'))
  const second = await post(rig.url, event('old-2', '5'))
  await aggregator.settle()
  await untilShown([event('old', '99'), event('old-2', '5')], [first, second])
  await untilShown(event('old', '1'), first)
  // What this gateway remembers now is the repeat, which is not what counts.
  await untilShown(event('old', '99'), first)
})

test('twice in one list with different content: the first counts, and both show it', async () => {
  const list = [event('twin', '1'), event('twin', '2')]
  const answer = await post(other.url, list)
  expect(answer).toMatchObject([{ meter_values: [{ number: '1' }] }, { meter_values: [{ number: '1' }] }])
})

test('no longer in the log: what is stored', async () => {
  const first = await post(rig.url, event('expired', '1'))
  await aggregator.settle()
  const jsm = await jetstreamManager(aggregator.nats)
  for (let partition = 0; partition < PARTITIONS; partition += 1) await jsm.streams.purge(streamName(partition))
  await untilShown(event('expired', '2'), first)
})

test('while no aggregator answers, or one hangs, what was sent, and never a refusal', async () => {
  await running?.stop()
  running = null
  expect(await post(other.url, event('alone', '1'))).toMatchObject({ reference: 'alone' })
  // The subscription of one that hangs: it takes the question and gives no answer.
  for (let partition = 0; partition < PARTITIONS; partition += 1) aggregator.nats.subscribe(firstSeenSubject(partition))
  await aggregator.nats.flush()
  expect(await post(other.url, event('hangs', '4'))).toMatchObject({ meter_values: [{ number: '4' }] })
})
