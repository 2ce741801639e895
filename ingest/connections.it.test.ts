// The bound on connections, with real sockets: what is beyond it is turned away, what is open goes on.
import { connect, type Socket } from 'node:net'
import { Client } from 'undici'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type GatewayRig, startGatewayRig } from './testing/gateway-rig.ts'

const MAX = 100
/** Few and large: what is silent is closed after some seconds. */
const WAVE = 40
const WAVES = 4

let rig: GatewayRig
let client: Client
const flood: Socket[] = []
beforeAll(async () => {
  rig = await startGatewayRig({ INGEST_CONNECTIONS_MAX: String(MAX) })
  await rig.addMeter('LIVE', 'requests')
  client = new Client(rig.url)
})
afterAll(async () => {
  for (const socket of flood) socket.destroy()
  await client?.close()
  await rig?.stop()
})

async function metric(name: string): Promise<number> {
  const body = await fetch(`${rig.metricsUrl}/metrics`)
  const [, value] = new RegExp(`^millrace_ingest_${name} (\\S+)$`, 'm').exec(await body.text()) ?? []
  return Number(value)
}

async function send(reference: string): Promise<number> {
  const { statusCode, body } = await client.request({
    method: 'POST',
    path: '/v1/events/ingest',
    headers: { 'content-type': 'application/json', 'x-api-key': rig.platform.environments.LIVE.api_key },
    body: JSON.stringify({
      reference,
      customer_reference: 'acme',
      meter_reference: 'requests',
      meter_values: [{ reference: 'requests_tokens', number: '1' }],
    }),
  })
  await body.dump()
  return statusCode
}

/** Opens silent connections. Resolves when each is open, or was turned away. */
async function openWave(): Promise<void> {
  const wave = Array.from({ length: WAVE }, () => connect({ host: '127.0.0.1', port: rig.gateway.port }))
  flood.push(...wave)
  await Promise.all(
    wave.map(socket => {
      socket.on('error', () => undefined) // turned away
      socket.resume()
      return new Promise(resolve => socket.once('connect', resolve).once('close', resolve))
    }),
  )
}
const stillOpen = (): number => flood.filter(socket => !socket.closed).length
const expectCounted = () =>
  vi.waitFor(async () => expect((await metric('connections')) - stillOpen() - 1).toBe(0), {
    timeout: 60_000,
    interval: 20,
  })

test('connections are counted, and beyond the bound they are turned away while those that are open are served', async () => {
  expect(await send('before')).toBe(201)
  expect(await metric('connections_max')).toBe(MAX)
  let refusedAt = 0
  for (let wave = 0; wave < WAVES; wave += 1) {
    await openWave()
    await expectCounted()
    expect(await send(`wave-${wave}`)).toBe(201)
    if (refusedAt === 0 && (await metric('connections_refused_total')) > 0) refusedAt = stillOpen()
  }
  expect(refusedAt).toBe(MAX - 1)
  expect(stillOpen()).toBe(MAX - 1)
  await expect(fetch(`${rig.url}/health/ready`)).rejects.toThrow()

  for (const socket of flood.splice(0)) socket.destroy()
  await vi.waitFor(async () => expect((await fetch(`${rig.url}/health/ready`)).status).toBe(200), {
    timeout: 60_000,
    interval: 20,
  })
  expect(await send('after')).toBe(201)
  expect(await rig.logged()).toHaveLength(2 + WAVES)
})
