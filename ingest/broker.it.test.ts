// F12, F14: a broker that is full, slow or gone. Never a 201 for what is not in the log, never memory without a bound, and all
// well again soon after it is.
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { afterEach, describe, expect, test } from 'vitest'
import { BROKER_KILLS } from '../bench/system/scale.ts'
import { streamName } from '../shared/contracts/streams.ts'
import { decodeEvent } from '../shared/contracts/usage-event.ts'
import { brokerAddress } from '../shared/log/address.ts'
import { type GatewayRig, PARTITIONS, type Reply, startGatewayRig } from './testing/gateway-rig.ts'

const LIST = '/v1/events/ingest-list'
/** A batch of about 70 KB: long references, none twice. */
const batch = (name: string) =>
  Array.from({ length: 50 }, (_, index) => ({
    reference: `${name}-${index}-`.padEnd(255, 'x'),
    customer_reference: 'c'.repeat(255),
    meter_reference: 'requests',
    timestamp: '2026-01-31T10:00:00Z',
    meter_values: [{ reference: 'requests_tokens', number: '1' }],
  }))

let rig: GatewayRig
afterEach(() => rig?.stop())
const start = async (broker: { storeBytesMax?: number } = {}): Promise<void> => {
  rig = await startGatewayRig({ INGEST_RATE_LIVE: '1000000' }, broker)
  await rig.addMeter('LIVE', 'requests')
}
const send = (name: string): Promise<Reply> => rig.post(LIST, batch(name))
const isLaterPlease = ({ status, body, headers }: Reply): boolean =>
  status === 503 && body['code'] === 'SERVICE_UNAVAILABLE' && /^[1-9][0-9]*$/.test(headers.get('retry-after') ?? '')
const referencesLogged = async () => new Set((await rig.logged()).map(line => decodeEvent(line).reference))
const untilTaken = (name: string) =>
  expect.poll(async () => (await send(name)).status, { timeout: 60_000, interval: 50 }).toBe(201)
async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${rig.metricsUrl}/metrics`)).text()
  return Number(new RegExp(`^${name} ([0-9.e+]+)$`, 'm').exec(text)?.[1])
}

describe('F14: the broker is full', () => {
  test('503 with Retry-After, no 201 for what is not stored, and well again by itself when there is room', async () => {
    await start({ storeBytesMax: 400_000 })
    const replies: [string, Reply][] = []
    for (let turn = 0; turn < 30; turn += 1) replies.push([`full-${turn}`, await send(`full-${turn}`)])
    const refused = replies.filter(([, { status }]) => status !== 201)
    expect(refused.length).toBeGreaterThan(10)
    for (const [, reply] of refused) expect(isLaterPlease(reply)).toBe(true)
    const stored = await referencesLogged()
    for (const [name, { status }] of replies) {
      if (status === 201) for (const { reference } of batch(name)) expect(stored).toContain(reference)
    }
    // Room, as when old messages expire.
    const connection = await connect(brokerAddress(rig.nats.url))
    const manager = await jetstreamManager(connection)
    for (let partition = 0; partition < PARTITIONS; partition += 1) await manager.streams.purge(streamName(partition))
    await connection.close()
    await untilTaken('room')
    expect(await referencesLogged()).toContain(batch('room')[0]?.reference)
  })
})

describe('F12: the broker is slow or gone', () => {
  test('stopped where it stands: everything is answered 503 in bounded memory, and nothing that was answered 201 is missing after', async () => {
    await start()
    await untilTaken('before')
    rig.nats.pause()
    const before = process.memoryUsage().rss
    const replies: [string, Reply][] = []
    // 32 senders at once, each waiting for its answer: what a bound by bytes lets in besides is tested with the publisher.
    const senders = Array.from({ length: 32 }, async (_, sender) => {
      for (let turn = 0; turn < 4; turn += 1) {
        const name = `paused-${sender}-${turn}`
        replies.push([name, await send(name)])
      }
    })
    await Promise.all(senders)
    expect(replies.every(([, reply]) => isLaterPlease(reply))).toBe(true)
    expect(process.memoryUsage().rss - before).toBeLessThan(256 * 1024 * 1024)
    rig.nats.resume()
    await untilTaken('after')
    const stored = await referencesLogged()
    for (const name of ['before', 'after']) for (const { reference } of batch(name)) expect(stored).toContain(reference)
    expect(await metric('millrace_ingest_bytes_queued')).toBe(0)
  })

  test(
    'killed and started again, several times, under load: every 201 is in the log, and it is well again within seconds',
    async () => {
      await start()
      const taken: string[] = []
      let others = 0
      let isOver = false
      const senders = Array.from({ length: 4 }, async (_, sender) => {
        for (let turn = 0; !isOver; turn += 1) {
          const name = `kill-${sender}-${turn}`
          const reply = await send(name)
          if (reply.status === 201) taken.push(name)
          else if (isLaterPlease(reply)) await sleep(20)
          else others += 1
        }
      })
      for (let kill = 0; kill < BROKER_KILLS; kill += 1) {
        await sleep(300)
        await rig.nats.kill()
        await sleep(200)
        await rig.nats.restart()
        await untilTaken(`well-${kill}`)
      }
      isOver = true
      await Promise.all(senders)
      expect(others).toBe(0)
      expect(taken.length).toBeGreaterThan(0)
      const stored = await referencesLogged()
      const missing = taken.filter(name => batch(name).some(({ reference }) => !stored.has(reference)))
      expect(missing).toEqual([])
    },
    BROKER_KILLS * 80_000,
  )
})
