import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestNats, type TestNats } from '../testing/nats.ts'
import { brokerAddress } from './address.ts'
import { ensureStreams, logEnds, streamState } from './streams.ts'

let server: TestNats
let nats: NatsConnection
beforeAll(async () => {
  server = await startTestNats()
  nats = await connect(brokerAddress(server.url))
})
afterAll(async () => {
  await nats.close()
  await server.stop()
})

test('makes the streams once, finishes what a killed start began, and refuses another number of partitions', async () => {
  const jsm = await jetstreamManager(nats)
  const shape = { partitions: 3, replicas: 1 }
  // Two processes that start together.
  await Promise.all([ensureStreams(jsm, shape), ensureStreams(jsm, shape)])
  await jetstream(nats).publish('usage.2', 'a')
  await jetstream(nats).publish('usage.2', 'b')
  await jsm.streams.delete('USAGE_1')
  await ensureStreams(jsm, shape)
  expect(await logEnds(jsm, 3)).toEqual(
    new Map([
      [0, 0],
      [1, 0],
      [2, 2],
    ]),
  )
  expect(await streamState(jsm, 2)).toMatchObject({ partition: 2, lastSeq: 2 })
  const { config } = await jsm.streams.info('USAGE_2')
  expect(config).toMatchObject({ retention: 'limits', storage: 'file', discard: 'new', num_replicas: 1 })
  await expect(ensureStreams(jsm, { partitions: 2, replicas: 1 })).rejects.toThrow(/PARTITIONS=2 does not match/)
  await expect(ensureStreams(jsm, { partitions: 4, replicas: 1 })).rejects.toThrow(/PARTITIONS=4 does not match/)
})

test('brings settings an operator changed back to those the promise needs', async () => {
  const jsm = await jetstreamManager(nats)
  await jsm.streams.update('USAGE_0', { max_age: 1_000_000_000_000 })
  await ensureStreams(jsm, { partitions: 3, replicas: 1 })
  expect((await jsm.streams.info('USAGE_0')).config.max_age).toBe(14 * 86_400 * 1_000_000_000)
})

test('the embedded broker takes nobody without its password', async () => {
  const { servers } = brokerAddress(server.url)
  await expect(connect({ servers, reconnect: false })).rejects.toThrow(/authorization/i)
})
