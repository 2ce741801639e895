// The rate limit and the batch limit over real gateways: what the platform sets acts at once, and several gateways share it.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type GatewayRig, type Reply, startGatewayRig } from './testing/gateway-rig.ts'

const LIST = '/v1/events/ingest-list'
const event = (reference: string) => ({
  reference,
  customer_reference: 'acme',
  meter_reference: 'requests',
  timestamp: '2026-01-31T10:00:00Z',
  meter_values: [{ reference: 'requests_tokens', number: '1' }],
})
let names = 0
const batch = (size: number) =>
  Array.from({ length: size }, () => {
    names += 1
    return event(`e-${names}`)
  })

let rig: GatewayRig
beforeEach(async () => {
  rig = await startGatewayRig({ INGEST_RATE_LIVE: '60', INGEST_RATE_TEST: '10', INGEST_RATE_MAX: '5000' })
  await rig.addMeter('LIVE', 'requests')
  await rig.addMeter('TEST', 'requests')
})
afterEach(() => rig.stop())

const set = (environment: 'LIVE' | 'TEST', settings: object): Promise<void> =>
  rig.sql('update platforms set ingest_settings = $1 where platform_id = $2 and environment = $3', [
    settings,
    rig.platform.id,
    environment,
  ])
const send = (size: number, options: { url?: string; environment?: 'LIVE' | 'TEST' } = {}): Promise<Reply> =>
  rig.postTo((options.url ?? rig.url) + LIST, batch(size), {
    'X-API-KEY': rig.platform.environments[options.environment ?? 'LIVE'].api_key,
  })

/** Sends more at once than the limit allows, until its second and what a slow machine lets grow back meanwhile are used up. */
const untilRefused = (size: number, options: Parameters<typeof send>[1] = {}) =>
  expect
    .poll(async () => {
      const replies = await Promise.all(Array.from({ length: 10 }, () => send(size, options)))
      return replies.map(({ status }) => status)
    })
    .toContain(429)

/** Sends a new batch again and again until it is answered so. */
const untilAnswered = (size: number, status: number, options: Parameters<typeof send>[1] = {}) =>
  expect.poll(async () => (await send(size, options)).status, { timeout: 60_000 }).toBe(status)

/** Sends batches to a gateway for a while, one after the other; resolves with the events that were taken. */
async function flood(url: string, size: number, forMs: number): Promise<number> {
  const until = performance.now() + forMs
  let taken = 0
  while (performance.now() < until) {
    const { status } = await send(size, { url })
    if (status === 201) taken += size
    else if (status === 429) await sleep(5)
    else throw new Error(`answered ${status}`)
  }
  return taken
}

describe('what a platform sets', () => {
  test('its own rate and batch limit act, and the defaults again when it clears them', async () => {
    expect((await send(51)).status).toBe(400)
    expect((await send(50)).status).toBe(201)
    await untilRefused(50)
    await set('LIVE', { events_per_second: 4_000, batch_limit: 200 })
    await untilAnswered(200, 201)
    for (let turn = 0; turn < 8; turn += 1) await untilAnswered(200, 201)
    expect(await send(201)).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } })
    await set('LIVE', {})
    await untilAnswered(51, 400)
    await untilAnswered(50, 201)
    await untilRefused(50)
  })

  test('TEST and LIVE have limits of their own', async () => {
    await set('TEST', { batch_limit: 7 })
    await set('LIVE', { events_per_second: 4_000, batch_limit: 200 })
    await untilAnswered(8, 400, { environment: 'TEST' })
    expect((await send(8, { environment: 'TEST' })).body['message']).toContain('8 events were sent')
    // More than a second of the default, so the rate of LIVE acts once these are taken.
    await untilAnswered(200, 201)
    expect((await send(8)).status).toBe(201)
    // The first batches of 8 may have been taken before the limit acted: what they used grows back.
    await untilAnswered(7, 201, { environment: 'TEST' })
    await untilRefused(7, { environment: 'TEST' })
    await untilAnswered(200, 201)
  })

  test('not more than the operator allows', async () => {
    await set('LIVE', { events_per_second: 1_000_000, batch_limit: 5_000 })
    await untilAnswered(51, 201)
    expect((await send(1_001)).status).toBe(400)
    const startedAt = performance.now()
    let taken = 0
    while (taken < 5_000) {
      const replies = await Promise.all(Array.from({ length: 10 }, () => send(1_000)))
      taken += replies.filter(({ status }) => status === 201).length * 1_000
    }
    // A slow machine only makes more of it right.
    expect(taken).toBeLessThanOrEqual(5_000 * (1 + (performance.now() - startedAt) / 1_000))
  })

  test('acts by itself when PostgreSQL loses the notice', async () => {
    await rig.sql('alter table platforms disable trigger platforms_changed')
    await set('LIVE', { batch_limit: 60 })
    await untilAnswered(60, 201)
  })
})

describe('several gateways', () => {
  // Low, so that the limit is what limits on a machine that is busy with other tests.
  const RATE = 300
  const SECONDS = 3
  /** Until it is so: a machine that is busy with other tests keeps the senders from it for a while. */
  const sooner = (is: () => Promise<boolean>): Promise<void> => expect.poll(is, { timeout: 120_000 }).toBe(true)

  // The upper bounds grow with the time that passed, so they hold on any machine; how shares follow demand: limits/shares.test.ts.
  test.each([2, 3])('%i of them take together what one would: the limit, and one second more at once', async count => {
    await set('LIVE', { events_per_second: RATE })
    const urls = [rig.url]
    while (urls.length < count) urls.push((await rig.addGateway()).url)
    const beyond: number[] = []
    const isAsOne = async (): Promise<boolean> => {
      const startedAt = performance.now()
      const taken = await Promise.all(urls.map(url => flood(url, 20, SECONDS * 1_000)))
      const seconds = (performance.now() - startedAt) / 1_000
      const all = taken.reduce((sum, each) => sum + each, 0)
      if (all > RATE * (seconds + 1) + count * 20) beyond.push(all)
      return all > RATE * SECONDS * 0.6 && taken.every(each => each > all / count / 2)
    }
    await sooner(isAsOne)
    // Never more, however busy the machine is.
    expect(beyond).toEqual([])
  })

  test('the limit follows the senders: all of it at one gateway, and all of it again when the other is gone', async () => {
    await set('LIVE', { events_per_second: RATE })
    const other = await rig.addGateway()
    const beyond: number[] = []
    /** More than half of the limit, which is what a gateway has that shares it. */
    const hasAll = async (url: string): Promise<boolean> => {
      const startedAt = performance.now()
      const taken = await flood(url, 20, 2_000)
      if (taken > RATE * ((performance.now() - startedAt) / 1_000 + 1) + 40) beyond.push(taken)
      return taken > RATE * 2 * 0.6
    }
    const gateways = async () =>
      /^millrace_ingest_gateways (\d+)$/m.exec(await (await fetch(`${rig.metricsUrl}/metrics`)).text())?.[1]
    await sooner(() => hasAll(other.url))
    await expect.poll(gateways).toBe('2')
    await other.stop()
    await expect.poll(gateways).toBe('1')
    await sooner(() => hasAll(rig.url))
    expect(beyond).toEqual([])
  })
})
