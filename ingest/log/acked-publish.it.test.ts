// The gateway's publish against a real broker: what is an ack, what is not, and that nothing is left waiting.
import { jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { streamName, streamSubject } from '../../shared/contracts/streams.ts'
import { brokerAddress } from '../../shared/log/address.ts'
import { ensureStreams } from '../../shared/log/streams.ts'
import { startTestNats, type TestNats } from '../../shared/testing/nats.ts'
import { later } from '../later.ts'
import { createAckedPublish } from './acked-publish.ts'

const TIMEOUT_MS = 2_000
const BODY = Buffer.from('a message')

let nats: TestNats
let connection: NatsConnection
beforeAll(async () => {
  nats = await startTestNats()
  connection = await connect(brokerAddress(nats.url))
  await ensureStreams(await jetstreamManager(connection), { partitions: 2, replicas: 1 })
})
afterAll(async () => {
  await connection.close()
  await nats.stop()
})

const publisher = (timeoutMs = TIMEOUT_MS) => createAckedPublish({ connection, timeoutMs, later })
const stored = async (partition: number): Promise<number> =>
  (await (await jetstreamManager(connection)).streams.info(streamName(partition))).state.messages

test('resolves once the message is stored, many at a time, each by its own ack', async () => {
  const publish = publisher()
  const before = await stored(0)
  await Promise.all(Array.from({ length: 200 }, () => publish(streamSubject(0), streamName(0), BODY)))
  expect(await stored(0)).toBe(before + 200)
})

test('a subject that no stream takes, or another stream does, is refused and stored nowhere', async () => {
  const publish = publisher()
  const before = [await stored(0), await stored(1)]
  await expect(publish('usage.nowhere', streamName(0), BODY)).rejects.toThrow('no stream takes messages for USAGE_0')
  await expect(publish(streamSubject(1), streamName(0), BODY)).rejects.toThrow(/USAGE_0 refused a message: .*stream/)
  expect([await stored(0), await stored(1)]).toEqual(before)
})

test('a broker that stands still: no ack in time, and one that comes later is nobody’s', async () => {
  const publish = publisher(200)
  nats.pause()
  await expect(publish(streamSubject(0), streamName(0), BODY)).rejects.toThrow('no ack of USAGE_0 within 200 ms')
  nats.resume()
  await publisher()(streamSubject(0), streamName(0), BODY)
})

test('what cannot be sent at all rejects, instead of waiting for an ack', async () => {
  const gone = await connect(brokerAddress(nats.url))
  const publish = createAckedPublish({ connection: gone, timeoutMs: 60_000, later })
  await gone.close()
  await expect(publish(streamSubject(0), streamName(0), BODY)).rejects.toThrow(/closed/i)
})
