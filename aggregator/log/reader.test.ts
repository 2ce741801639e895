import type { ConsumeOptions, JetStreamClient } from '@nats-io/jetstream'
import { expect, test } from 'vitest'
import { silentLogger } from '../../shared/process/logger.ts'
import { openReader } from './reader.ts'

test('asks a broker that was restarted again within seconds, not after the half minute of the client', async () => {
  const asked: ConsumeOptions[] = []
  let answer: () => void = () => undefined
  const consuming = new Promise<void>(resolve => (answer = resolve))
  const none = Object.assign((async function* () {})(), { stop: () => undefined, close: async () => undefined })
  const consume = async (options: ConsumeOptions) => {
    asked.push(options)
    answer()
    return none
  }
  const js = { consumers: { get: async () => ({ consume }) } } as unknown as JetStreamClient
  const reader = openReader({ js, logger: silentLogger, onMessage: () => undefined }, 0, 0)
  await consuming
  await reader.close()
  // The client waits for twice this when the broker is silent.
  expect(asked[0]?.expires).toBeLessThanOrEqual(5_000)
})
