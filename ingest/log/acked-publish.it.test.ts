// The gateway's publish against a real broker: what is an ack, what is not, and that nothing is left waiting.
import { jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { streamName, streamSubject } from '../../shared/contracts/streams.ts'
import { brokerAddress } from '../../shared/log/address.ts'
import { ensureStreams } from '../../shared/log/streams.ts'
import { startTestNats, type TestNats } from '../../shared/testing/nats.ts'
import { Output } from '../events/fast-path/bytes.ts'
import { Message } from '../events/message.ts'
import { later } from '../later.ts'
import { createAckedPublish } from './acked-publish.ts'

const TIMEOUT_MS = 2_000
/** A message of one line. */
const messageOf = (line: string): Message => {
  const output = new Output(0)
  output.reserve(0, Buffer.byteLength(line))
  const end = output.bytes.write(line)
  const message = new Message(100_000)
  message.append(output, 0, end, end === line.length)
  return message
}
const aMessage = (): Message => messageOf('["é",1]')

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

const lastSeq = async (partition: number): Promise<number> =>
  (await (await jetstreamManager(connection)).streams.info(streamName(partition))).state.last_seq

test('resolves once the message is stored, many at a time, each by its own ack', async () => {
  const publish = publisher()
  const before = await stored(0)
  await Promise.all(Array.from({ length: 200 }, () => publish(streamSubject(0), streamName(0), aMessage())))
  expect(await stored(0)).toBe(before + 200)
})

test('what is stored is the message, byte for byte: small ones that are sent together, large ones that go alone', async () => {
  const publish = publisher()
  const first = (await lastSeq(0)) + 1
  const sizes = [10, 70_000, 20, 30, 300_000, 500_000, 40, 60_000, 60_000, 50]
  const messages = sizes.map((size, place) => messageOf(`${place} ${'é'.repeat(place)} ${'x'.repeat(size)}`))
  await Promise.all(messages.map(message => publish(streamSubject(0), streamName(0), message)))
  const jsm = await jetstreamManager(connection)
  for (const [place, message] of messages.entries()) {
    const stored = await jsm.streams.getMessage(streamName(0), { seq: first + place })
    expect(Buffer.from(stored?.data ?? []).equals(message.body()), `message ${place}`).toBe(true)
  }
})

test('a message larger than the broker takes is refused here, and the connection goes on', async () => {
  const publish = publisher()
  const most = connection.info?.max_payload ?? 0
  expect(most).toBeGreaterThan(0)
  await expect(publish(streamSubject(0), streamName(0), messageOf('x'.repeat(most)))).rejects.toThrow(/more than the/)
  await publish(streamSubject(0), streamName(0), aMessage())
  expect(connection.isClosed()).toBe(false)
})

test('a subject that no stream takes, or another stream does, is refused and stored nowhere', async () => {
  const publish = publisher()
  const before = [await stored(0), await stored(1)]
  await expect(publish('usage.nowhere', streamName(0), aMessage())).rejects.toThrow(
    'no stream takes messages for USAGE_0',
  )
  await expect(publish(streamSubject(1), streamName(0), aMessage())).rejects.toThrow(
    /USAGE_0 refused a message: .*stream/,
  )
  expect([await stored(0), await stored(1)]).toEqual(before)
})

test('a broker that stands still: no ack in time, and one that comes later is nobody’s', async () => {
  const publish = publisher(200)
  nats.pause()
  await expect(publish(streamSubject(0), streamName(0), aMessage())).rejects.toThrow('no ack of USAGE_0 within 200 ms')
  nats.resume()
  await publisher()(streamSubject(0), streamName(0), aMessage())
})

test('what cannot be sent at all rejects, instead of waiting for an ack', async () => {
  const gone = await connect(brokerAddress(nats.url))
  const publish = createAckedPublish({ connection: gone, timeoutMs: 60_000, later })
  await gone.close()
  await expect(publish(streamSubject(0), streamName(0), aMessage())).rejects.toThrow(/closed/i)
})
